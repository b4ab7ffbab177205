"""The NumPy functions behind the table's rows, as the CPU executor calls them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy

from ...core.dtypes import KIND, DType, bfloat16
from ...core.ops.table import PARTS, ufunc_of
from ..random import host_philox32, host_words


def _part(ufunc: numpy.ufunc, which: int) -> Callable[..., Any]:
    """One result of a ufunc that has two."""

    def part(x: Any, out: Any = None) -> Any:
        return ufunc(x, out=(out, None) if which == 0 else (None, out))[which]

    return part


def _cast(loop: tuple[DType, ...]) -> Callable[..., Any]:
    """A conversion straight into the output, silent about an imaginary part lost: that was told when recorded."""
    dtype = loop[1]
    discards = KIND[loop[0]] == "c" and KIND[dtype] not in "bc"

    def cast(x: Any, out: Any = None) -> Any:
        if discards:
            x = x.real.copy()  # out of range, NumPy's loops over contiguous and strided values differ
        if out is None:
            return x.astype(dtype)
        numpy.copyto(out, x, casting="unsafe")
        return out

    return cast


def _where(condition: Any, x: Any, y: Any, out: Any = None) -> Any:
    """As ``numpy.where``, with no temporary when there is an output."""
    if out is None:
        return numpy.where(condition, x, y)
    numpy.copyto(out, y)
    numpy.copyto(out, x, where=condition)
    return out


def _complex(loop: tuple[DType, ...]) -> Callable[..., Any]:
    """A complex number from its parts."""

    def pair(real: Any, imag: Any, out: Any = None) -> Any:
        if out is None:
            out = numpy.empty(numpy.broadcast_shapes(numpy.shape(real), numpy.shape(imag)), loop[-1])
        out.real, out.imag = real, imag
        return out

    return pair


def _scaled(x: Any, factor: Any, out: Any = None) -> Any:
    """A multiple of a complex number by a real one, each part of it alone."""
    if out is None:
        out = numpy.empty(numpy.broadcast_shapes(numpy.shape(x), numpy.shape(factor)), x.dtype)
    for part in ("real", "imag"):
        numpy.multiply(getattr(x, part), factor, out=getattr(out, part))
    return out


def _component(read: Callable[[Any], Any]) -> Callable[..., Any]:
    """A fresh array of the real or the imaginary parts."""

    def component(x: Any, out: Any = None) -> Any:
        if out is None:
            return numpy.array(read(x))
        numpy.copyto(out, read(x))
        return out

    return component


def _clip(x: Any, low: Any, high: Any, out: Any = None) -> Any:
    """``numpy.clip`` for bfloat16, which has no such loop."""
    return numpy.minimum(numpy.maximum(x, low), high, out=out)


def _mended(ufunc: numpy.ufunc, special: Callable[[Any], Any], mend: Callable[[Any], Any]) -> Callable[..., Any]:
    """A complex ufunc with results of our own for special arguments."""

    def mended(z: Any, out: Any = None) -> Any:
        out = numpy.empty_like(z) if out is None else out
        here = special(z)
        at = z[here]  # before anything is written: the output may be the argument
        ufunc(z, out=out)
        if at.size:
            out[here] = mend(at)
        return out

    return mended


def _paired(real: Any, imag: Any) -> Any:
    made = numpy.empty(real.shape, numpy.result_type(real, numpy.complex64))
    made.real, made.imag = real, imag
    return made


def _expm1(z: Any) -> Any:
    """``exp(z) - 1`` on the real axis, and by C's rules for `exp` where it is not finite."""
    power = numpy.exp(z)
    return _paired(numpy.where(z.imag == 0, numpy.expm1(z.real) + 0, power.real - 1), power.imag)


# Where NumPy's complex functions do not give the special values of the array API standard.
MENDED: dict[str, Callable[..., Any]] = {
    "expm1": _mended(numpy.expm1, lambda z: (z.imag == 0) | ~numpy.isfinite(z), _expm1),
    "tanh": _mended(
        numpy.tanh,
        lambda z: numpy.isinf(z.real),
        lambda z: _paired(numpy.copysign(1, z.real), numpy.copysign(0, z.imag)),
    ),
    "tan": _mended(
        numpy.tan,
        lambda z: numpy.isinf(z.imag),
        lambda z: _paired(numpy.copysign(0, z.real), numpy.copysign(1, z.imag)),
    ),
}


# The rows that are no ufunc in NumPy.
_OTHERS: dict[str, Callable[[tuple[DType, ...]], Callable[..., Any]]] = {
    "cast": _cast,
    "where": lambda loop: _where,
    "complex": _complex,
    "scaled": lambda loop: _scaled,
    "real": lambda loop: _component(numpy.real),
    "imag": lambda loop: _component(numpy.imag),
    **host_words.ROWS,
    **host_philox32.ROWS,
}


@lru_cache(maxsize=4096)
def function(op: str, loop: tuple[DType, ...]) -> Callable[..., Any]:
    """The NumPy callable of `row`, ``f(*args, out=None)`` over arrays of the loop's dtypes."""
    if op in _OTHERS:
        return _OTHERS[op](loop)
    ufunc = ufunc_of(op)
    assert ufunc is not None, op
    if op in PARTS:
        return _part(ufunc, PARTS[op][1])
    if op in MENDED and KIND[loop[0]] == "c":
        return MENDED[op]
    return _clip if op == "clip" and loop[0] == bfloat16 else ufunc


def accumulator(op: str, dtype: DType) -> Callable[[Any, int | None], Any]:
    """The inclusive scan by `row`: ``f(values, axis)``; with no axis there is one value a row, its own scan."""
    accumulate = getattr(numpy, op).accumulate

    def scan(x: Any, axis: int | None) -> Any:
        return x.astype(dtype) if axis is None else accumulate(x, axis, dtype)

    return scan
