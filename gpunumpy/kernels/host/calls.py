"""The library routines of the CPU device: ``CALLS[name](options, out, *arguments)`` over NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import Any

import numpy

from ...core.schedule.batch import SMALL, SUFFIX, Batch
from ..fft import host as host_fft
from ..histogram import host as host_histogram
from ..linalg import host_decompositions, host_solvers
from ..products import host as host_products
from ..random import host_bounded, host_mt19937, host_words
from .text import failures

CALLS: dict[str, Callable[..., None]] = {
    **host_bounded.CALLS,
    **host_words.CALLS,
    **host_mt19937.CALLS,
    "bincount": host_histogram.bincount,
    "cholesky": host_solvers.cholesky,
    "det": host_solvers.det,
    "eig": host_decompositions.eig,
    "eigh": host_decompositions.eigh,
    "fft": host_fft.fft,
    "fft_scaled": host_fft.fft_scaled,
    "histogram": host_histogram.histogram,
    "inv": host_solvers.inv,
    "matmul": host_products.matmul,
    "qr": host_decompositions.qr,
    "slogdet": host_solvers.slogdet,
    "solve": host_solvers.solve,
    "svd": host_decompositions.svd,
}


def _several(function: Callable[..., None]) -> Callable[..., None]:
    """The calls that are one: see `gpunumpy.core.schedule.batch`."""

    def run(options: Batch, *values: Any) -> None:
        results, args = values[: options.calls], values[options.calls :]
        each = len(args) // options.calls
        for k, out in enumerate(results):
            function(options.options, out, *args[k * each : (k + 1) * each])

    return run


CALLS |= {f"{name}{SUFFIX}": _several(CALLS[name]) for name in SMALL}


def _call(function: Callable[..., None]) -> Callable[..., None]:
    CALLS[function.__name__.strip("_")] = function
    return function


@_call
def empty(options: tuple[Any, ...], out: Any) -> None:
    """Memory alone."""


@_call
def roll(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Blocks of `x` moved along every axis by that many places, each less than the axis is long."""
    for to, start in _moves(options, x.shape):
        out[to] = x[start]


@lru_cache(maxsize=1024)
def _moves(shifts: tuple[int, ...], shape: tuple[int, ...]) -> list[tuple[tuple[slice, ...], ...]]:
    """Where every block of a rolled array goes, and where it comes from."""
    halves = [
        [(slice(s, None), slice(0, n - s)), (slice(0, s), slice(n - s, None))] if s else [(slice(None), slice(None))]
        for s, n in zip(shifts, shape, strict=True)
    ]
    return [tuple(zip(*block, strict=True)) for block in product(*halves)]


@_call
def scatter(options: tuple[Any, ...], out: Any, value: Any, *rest: Any) -> None:
    """``out[indices] = value``, or ``row.at(out, indices, value)``; nothing is written if an index is out of bounds."""
    _, op, _ = options
    *indices, source_location = rest
    try:
        if op:
            function = getattr(numpy, op)
            # NumPy's quick loop for one index array reads past the end of values that broadcast.
            shape = numpy.broadcast_shapes(*(i.shape for i in indices)) + out.shape[len(indices) :]
            operands = (numpy.broadcast_to(value, shape),) if function.nin == 2 else ()
            function.at(out, tuple(indices), *operands)
        else:
            out[tuple(indices)] = value
    except IndexError as error:
        failures.append((str(error), source_location))


@_call
def fold(options: tuple[Any, ...], out: Any, x: Any, *masks: Any) -> None:
    """The left fold by a ufunc along an axis; the first element always takes part, the others where the mask says."""
    op, _, axis = options
    reduce = getattr(numpy, op).reduce
    if not masks:
        reduce(x, axis, out.dtype, out)
        return
    first, *_ = x.flat
    rest = (slice(None),) * axis + (slice(1, None),)
    reduce(x[rest], axis, out.dtype, out, initial=first, where=masks[0][rest])


@_call
def accumulate(options: tuple[Any, ...], out: Any, x: Any) -> None:
    op, _, axis = options
    getattr(numpy, op).accumulate(x, axis, out.dtype, out)


@_call
def reduceat(options: tuple[Any, ...], out: Any, x: Any, starts: Any) -> None:
    op, _, axis = options
    getattr(numpy, op).reduceat(x, starts, axis, out.dtype, out)


@_call
def mask_offsets(options: tuple[Any, ...], out: Any, mask: Any) -> None:
    """How many elements the tiles before each one pick; here the total alone, since NumPy needs no tiles."""
    out[:-1] = 0
    out[-1] = numpy.count_nonzero(mask)


@_call
def mask_positions(options: tuple[Any, ...], out: Any, mask: Any, offsets: Any) -> None:
    out[...] = numpy.flatnonzero(mask)


@_call
def mask_elements(options: tuple[Any, ...], out: Any, values: Any, mask: Any, offsets: Any) -> None:
    numpy.compress(mask, values, out=out)


@_call
def sort(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Every row in order, as a stable sort leaves it.

    Only zeros of two signs and NaNs of several kinds tell a stable sort of values from NumPy's quick one, which is ten
    times as fast for wide types; they are put in their order afterwards.
    """
    (descending,) = options
    numpy.copyto(out, x)
    out.sort(kind="stable" if x.itemsize < 4 and x.dtype.kind != "f" else None)
    if descending:
        out[...] = out[..., ::-1]
    if x.dtype.kind == "f":
        for alike in (lambda values: values == 0, numpy.isnan):
            places = alike(out)
            if places.any():
                out[places] = x[alike(x)]


@_call
def argsort(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """The positions that sort every row; of the reversed row, counted from its end, in descending order."""
    (descending,) = options
    if descending:
        numpy.subtract(x.shape[-1] - 1, _stable_order(x[..., ::-1])[..., ::-1], out=out)
    else:
        out[...] = _stable_order(x)


def _stable_order(x: Any) -> Any:
    """The positions that sort every row, those of equal elements in their order.

    Of wide types NumPy's quick sort is so much faster than its stable one that it is worth to set it right: where some
    elements are equal, the numbers of the groups of equal ones, with the positions as their lower halves, are sorted.
    """
    if x.itemsize < 4 or x.shape[-1] >= 2**31:
        return x.argsort(kind="stable")
    order = x.argsort()
    ordered = numpy.take_along_axis(x, order, -1)
    left, right = ordered[..., :-1], ordered[..., 1:]
    differs = left != right
    if x.dtype.kind == "f":
        differs &= ~numpy.isnan(left)  # NaNs are at the end, and one group
    if differs.all():
        return order
    key = numpy.zeros(x.shape, numpy.int64)
    numpy.cumsum(differs, axis=-1, out=key[..., 1:])
    key <<= 32
    key |= order
    key.sort()
    key &= 2**32 - 1
    return key


@_call
def searchsorted(options: tuple[Any, ...], out: Any, ordered: Any, values: Any) -> None:
    out[...] = numpy.searchsorted(ordered, values, options[0])
