"""The NumPy function of each op, as the CPU executor calls it: ``f(*args, out=None)``."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy

from ...core.dtypes import FLOAT32, FLOAT64, KIND, ML_DTYPES, DType
from ...core.numpy_ufuncs import UFUNCS
from ...core.ops.made import MadeOp
from ...core.ops.special import SPECIAL
from ...core.ops.table import UFUNC_OUTPUTS, ufunc_of
from ...core.runtime.executors import implementation
from ..random import host_philox32, host_words
from .selection import where


def _result(ufunc: numpy.ufunc, number: int) -> Callable[..., Any]:
    """Return a function that returns one result, 0 or 1, of a ufunc that has two."""

    def result(x: Any, out: Any = None) -> Any:
        return ufunc(x, out=(out, None) if number == 0 else (None, out))[number]

    return result


def _cast(loop: tuple[DType, ...]) -> Callable[..., Any]:
    """Return a conversion into the output. It does not warn of a dropped imaginary part: the recording has warned."""
    dtype = loop[1]
    discards = KIND[loop[0]] == "c" and KIND[dtype] not in "bc"

    def cast(x: Any, out: Any = None) -> Any:
        if discards:
            x = x.real.copy()  # NumPy's contiguous and strided loops convert out-of-range values differently
        if out is None:
            return x.astype(dtype)
        numpy.copyto(out, x, casting="unsafe")
        return out

    return cast


def _complex(loop: tuple[DType, ...]) -> Callable[..., Any]:
    """Return a function that makes complex numbers from real and imaginary parts."""

    def from_parts(real: Any, imag: Any, out: Any = None) -> Any:
        if out is None:
            out = numpy.empty(numpy.broadcast_shapes(numpy.shape(real), numpy.shape(imag)), loop[-1])
        out.real, out.imag = real, imag
        return out

    return from_parts


def _scaled(x: Any, factor: Any, out: Any = None) -> Any:
    """Multiply a complex number by a real one, part by part."""
    if out is None:
        out = numpy.empty(numpy.broadcast_shapes(numpy.shape(x), numpy.shape(factor)), x.dtype)
    for part in ("real", "imag"):
        numpy.multiply(getattr(x, part), factor, out=getattr(out, part))
    return out


def _component(read: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function that copies real or imaginary parts, as `read` gives them."""

    def component(x: Any, out: Any = None) -> Any:
        if out is None:
            return numpy.array(read(x))
        numpy.copyto(out, read(x))
        return out

    return component


def _clip(x: Any, low: Any, high: Any, out: Any = None) -> Any:
    """Clip numbers of ml_dtypes, for which `numpy.clip` has no loop."""
    return numpy.minimum(numpy.maximum(x, low), high, out=out)


def _filled(ufunc: numpy.ufunc) -> Callable[..., Any]:
    """Return a test of floats that writes every element of its output.

    NumPy's vector loops of these tests leave elements of an output with steps unwritten (up to 2.5 at least).
    """

    def test(x: Any, out: Any = None) -> Any:
        if out is None or (out.flags.c_contiguous and x.flags.c_contiguous):
            return ufunc(x, out=out)
        numpy.copyto(out, ufunc(x))
        return out

    return test


_FILLED = {name: _filled(UFUNCS[name]) for name in ("isfinite", "isinf", "isnan", "signbit")}


def _corrected(ufunc: numpy.ufunc, special: Callable[[Any], Any], correct: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a complex ufunc whose results are replaced by `correct(z)` wherever `special(z)` is true."""

    def corrected(z: Any, out: Any = None) -> Any:
        out = numpy.empty_like(z) if out is None else out
        is_special = special(z)
        special_values = z[is_special]  # before anything is written: the output may be the argument
        ufunc(z, out=out)
        if special_values.size:
            out[is_special] = correct(special_values)
        return out

    return corrected


def _complex_of(real: Any, imag: Any) -> Any:
    """Return new complex numbers with these parts."""
    out = numpy.empty(real.shape, numpy.result_type(real, numpy.complex64))
    out.real, out.imag = real, imag
    return out


def _expm1(z: Any) -> Any:
    """Return ``exp(z) - 1`` of a real or non-finite `z`; where it is not finite, by C's rules for `exp`."""
    power = numpy.exp(z)
    return _complex_of(numpy.where(z.imag == 0, numpy.expm1(z.real) + 0, power.real - 1), power.imag)


# Complex functions for which NumPy's ufunc lacks the special values of the array API standard.
CORRECTED: dict[str, Callable[..., Any]] = {
    "expm1": _corrected(numpy.expm1, lambda z: (z.imag == 0) | ~numpy.isfinite(z), _expm1),
    "tanh": _corrected(
        numpy.tanh,
        lambda z: numpy.isinf(z.real),
        lambda z: _complex_of(numpy.copysign(1, z.real), numpy.copysign(0, z.imag)),
    ),
    "tan": _corrected(
        numpy.tan,
        lambda z: numpy.isinf(z.imag),
        lambda z: _complex_of(numpy.copysign(0, z.real), numpy.copysign(1, z.imag)),
    ),
}


# The ops that are not ufuncs in NumPy.
_NOT_UFUNCS: dict[str, Callable[[tuple[DType, ...]], Callable[..., Any]]] = {
    "cast": _cast,
    "where": lambda loop: where,
    "complex": _complex,
    "scaled": lambda loop: _scaled,
    "real": lambda loop: _component(numpy.real),
    "imag": lambda loop: _component(numpy.imag),
    **host_words.OP_FUNCTIONS,
    **host_philox32.OP_FUNCTIONS,
}


@lru_cache(maxsize=4096)
def function(op: str, loop: tuple[DType, ...]) -> Callable[..., Any]:
    """Return the NumPy callable of `op`, ``f(*args, out=None)`` over arrays of the loop's dtypes."""
    if isinstance(op, MadeOp):
        # Few programs make ops, so what makes loops of them is imported late.
        made: Callable[..., Any] = implementation("kernels.custom.host_loops:function")(op, loop)
        return made
    if op in SPECIAL:
        special: Callable[..., Any] = implementation("kernels.special.host:function")(op, loop)
        return special
    if op in _NOT_UFUNCS:
        return _NOT_UFUNCS[op](loop)
    ufunc = ufunc_of(op)
    assert ufunc is not None, op
    if op in UFUNC_OUTPUTS:
        return _result(ufunc, UFUNC_OUTPUTS[op][1])
    if op in CORRECTED and KIND[loop[0]] == "c":
        return CORRECTED[op]
    if op in _FILLED and KIND[loop[0]] == "f":
        return _FILLED[op]
    return _clip if op == "clip" and loop[0] in ML_DTYPES else ufunc


# The output of `numpy.divmod` that each of these ops is.
_DIVMOD_OUTPUTS = {"floor_divide": 0, "remainder": 1}


def output_of(op: str, loop: tuple[DType, ...]) -> tuple[numpy.ufunc, int] | None:
    """Return the ufunc with two outputs, one of which an op is to the bit, and the number of that output.

    Two calls of one output each take NumPy twice as long as one of both; of unsigned integers less.
    """
    if op in UFUNC_OUTPUTS:
        name, number = UFUNC_OUTPUTS[op]
        return UFUNCS[name], number
    if op in _DIVMOD_OUTPUTS and loop[0].kind in "fi":
        return numpy.divmod, _DIVMOD_OUTPUTS[op]
    return None


# Rows of up to so many elements are scanned column by column: NumPy takes as long to begin a row as for many elements.
# So many rows are worth a call for each column.
_MAX_SCANNED_COLUMNS = 32
_MIN_SCANNED_ROWS = 512


def accumulator(op: str, dtype: DType) -> Callable[[Any, int | None], Any]:
    """Return the inclusive scan by `op`, ``f(values, axis)``. If `axis` is None each row is one value, its own scan."""
    ufunc = UFUNCS[op]
    # NumPy's loops over many of these numbers and over one have the same bits; not of float16 and complex numbers.
    has_exact_columns = op in ("add", "multiply") and (dtype.kind in "biu" or dtype in (FLOAT32, FLOAT64))

    def scan(x: Any, axis: int | None) -> Any:
        if axis is None:
            return x.astype(dtype)
        if has_exact_columns and axis == x.ndim - 1 and _has_many_short_rows(x):
            return _scanned_by_columns(ufunc, x.astype(dtype, "C"))
        return ufunc.accumulate(x, axis, dtype)

    return scan


def _has_many_short_rows(x: Any) -> bool:
    columns = x.shape[-1]
    return bool(1 < columns <= _MAX_SCANNED_COLUMNS and x.size >= _MIN_SCANNED_ROWS * columns)


def _scanned_by_columns(ufunc: numpy.ufunc, x: Any) -> Any:
    """Write the scan of every row over the row."""
    for k in range(1, x.shape[-1]):
        ufunc(x[..., k - 1], x[..., k], out=x[..., k])
    return x
