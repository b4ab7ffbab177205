"""Reductions for the CPU executor: whole rows by NumPy's reduction, long rows in parts that are merged in order."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

import numpy

from ...core.dtypes import FLOAT64, KIND, ML_DTYPES, DType
from ...core.late_dataclasses import dataclass
from ...core.numpy_ufuncs import UFUNCS
from ...core.ops.made import MadeReduction
from ...core.ops.table import WIDER
from ...core.runtime.executors import implementation

State = tuple[Any, ...]

_ADDITIVE = frozenset({"add", "multiply"})
# Rows of fewer elements are added column by column: NumPy takes as long to begin a row as to add many elements. It adds
# so few one after the other too, so the bits are the same. So many rows are worth a call for each column.
_PAIRWISE_ELEMENTS = 8
_MIN_SHORT_ROWS = 128
# Reductions whose NumPy ufunc has another name.
_UFUNC = {"any": "logical_or", "all": "logical_and"}


@dataclass(frozen=True, slots=True)
class Reducer:
    """One reduction over fixed axes, which every result keeps with size 1.

    Attributes
    ----------
    whole
        ``whole(block, *extra)``: the result for a block that holds whole rows. `extra` are row-level values (a ddof).
    partial
        ``partial(block, start)``: the state of a block of a row, whose first point has position `start` in the row.
    merge
        The state of two consecutive parts.
    finish
        ``finish(state, *extra)``: the result of the state of a whole row.
    """

    whole: Callable[..., Any]
    partial: Callable[..., State]
    merge: Callable[[State, State], State]
    finish: Callable[..., Any]


def wide(dtype: DType) -> DType:
    """Return the dtype in which sums and moments of parts are carried and merged: they are sums of rounded values."""
    return WIDER.get(dtype, dtype)


def reducer(op: str, loop: tuple[DType, ...], axes: tuple[int, ...], count: int) -> Reducer:
    """Return the reduction `op` over `axes` of blocks. A whole row has `count` points."""
    if isinstance(op, MadeReduction):
        return Reducer(*implementation("kernels.custom.host_reductions:reducer_functions")(op, loop, axes))
    make = _MAKERS.get(op)
    return make(op, loop, axes, count) if make else _by_ufunc(op, loop, axes)


@cache
def _by_ufunc(op: str, loop: tuple[DType, ...], axes: tuple[int, ...]) -> Reducer:
    """Return the reduction by a ufunc's `reduce`."""
    ufunc = UFUNCS[_UFUNC.get(op, op)]
    over = axes[0] if len(axes) == 1 else axes
    reduce, result = ufunc.reduce, loop[-1]
    # ml_dtypes rounds a sum after each addition; NumPy's float16 sums do not.
    rounds_each_step = op in _ADDITIVE and result in ML_DTYPES
    carried = wide(result) if op in _ADDITIVE else result

    # The loops of logical ufuncs take numbers of every dtype, but have one result dtype.
    inner = None if ufunc.__name__.startswith("logical") else carried if KIND[result] == "e" else result
    is_plain_sum = op == "add" and result.kind in "iuf" and KIND[result] != "e"

    def whole(x: Any) -> Any:
        if is_plain_sum and over == x.ndim - 1 and _has_short_rows(x):
            return _sums_of_columns(x, result)
        if rounds_each_step:
            return reduce(x, over, carried, None, True).astype(result)
        return reduce(x, over, result if inner else None, None, True)

    def partial(x: Any, start: int) -> State:
        return (reduce(x, over, inner, None, True).astype(carried, copy=False),)

    def merge(s: State, t: State) -> State:
        return (ufunc(s[0], t[0]),)

    def finish(s: State) -> Any:
        return s[0].astype(result, copy=False)

    return Reducer(whole, partial, merge, finish)


def _has_short_rows(x: Any) -> bool:
    length = x.shape[-1]
    return bool(1 < length < _PAIRWISE_ELEMENTS and x.size >= _MIN_SHORT_ROWS * length)


def _sums_of_columns(x: Any, dtype: DType) -> Any:
    """Return the sums of rows, each in its row."""
    sums = numpy.add(x[..., 0], x[..., 1], dtype=dtype)
    for k in range(2, x.shape[-1]):
        numpy.add(sums, x[..., k], out=sums, dtype=dtype)
    if dtype.kind == "f":
        numpy.add(sums, 0, out=sums)  # NumPy adds to 0: a sum of negative zeros is none
    return sums[..., None]


def _count(op: str, loop: tuple[DType, ...], axes: tuple[int, ...], count: int) -> Reducer:
    """Return the reduction `count_nonzero`."""
    reduce: Any = UFUNCS["add"].reduce
    result = loop[-1]

    def whole(x: Any) -> Any:
        if len(axes) == x.ndim:
            return numpy.full((1,) * x.ndim, numpy.count_nonzero(x), result)
        return reduce(x if x.dtype == bool else x != 0, axes, result, None, True)

    return Reducer(whole, lambda x, start: (whole(x),), lambda s, t: (s[0] + t[0],), lambda s: s[0])


def _position(op: str, loop: tuple[DType, ...], axes: tuple[int, ...], count: int) -> Reducer:
    """Return `argmax` or `argmin`. A state is the best values and their positions in the row."""
    find = getattr(numpy, op)
    better = numpy.greater if op == "argmax" else numpy.less

    def flatten_reduced(x: Any) -> tuple[Any, tuple[int, ...]]:
        """Return `x` with the reduced dimensions merged into the last one, and the shape of the result."""
        keep = [d for d in range(x.ndim) if d not in axes]
        shape = tuple(1 if d in axes else n for d, n in enumerate(x.shape))
        lengths = [x.shape[d] for d in keep]
        return x.transpose(*keep, *axes).reshape(*lengths, prod(x.shape[d] for d in axes)), shape

    def whole(x: Any) -> Any:
        flat, shape = flatten_reduced(x)
        return find(flat, axis=-1).reshape(shape).astype(loop[-1], copy=False)

    def partial(x: Any, start: int) -> State:
        flat, shape = flatten_reduced(x)
        at = find(flat, axis=-1, keepdims=True)
        return numpy.take_along_axis(flat, at, -1).reshape(shape), at.reshape(shape) + start

    def merge(s: State, t: State) -> State:
        # A NaN is better than a number, and of equal values the first position wins, so the order of parts is free.
        s_nan, t_nan = s[0] != s[0], t[0] != t[0]
        tie = (s[0] == t[0]) | (s_nan & t_nan)
        takes_t = numpy.where(tie, t[1] < s[1], (better(t[0], s[0]) & ~s_nan) | (t_nan & ~s_nan))
        return numpy.where(takes_t, t[0], s[0]), numpy.where(takes_t, t[1], s[1])

    return Reducer(whole, partial, merge, lambda s: s[1].astype(loop[-1], copy=False))


def _moments(op: str, loop: tuple[DType, ...], axes: tuple[int, ...], count: int) -> Reducer:
    """Return the variance: the sum of squared differences from the mean, over ``count - ddof``.

    A state is the count, the mean, and the sum of squared differences.
    """
    add: Any = UFUNCS["add"].reduce
    result = loop[-1]
    # Low-precision floats are averaged and squared as float32, as their squares would overflow.
    inner = FLOAT64 if KIND[loop[0]] in "biu" else wide(loop[0]) if KIND[loop[0]] == "e" else loop[0]

    def squares(x: Any, mean: Any) -> Any:
        difference = numpy.subtract(x, mean)
        if KIND[inner] == "c":
            return numpy.multiply(difference, difference.conj()).real
        return numpy.multiply(difference, difference, difference)

    def centred(x: Any, n: int) -> tuple[Any, Any]:
        x = x.astype(inner, copy=False)
        mean = add(x, axes, None, None, True) / inner.type(n)
        return mean, add(squares(x, mean), axes, None, None, True)

    def variance(total: Any, ddof: Any) -> Any:
        return (total / numpy.maximum(count - numpy.asarray(ddof, numpy.float64), 0)).astype(result)

    def whole(x: Any, ddof: Any = 0) -> Any:
        return variance(centred(x, count)[1], ddof)

    def partial(x: Any, start: int) -> State:
        n = prod(x.shape[d] for d in axes)
        mean, total = centred(x, n)
        return n, mean.astype(wide(mean.dtype), copy=False), total.astype(wide(total.dtype), copy=False)

    def merge(s: State, t: State) -> State:
        n = s[0] + t[0]
        gap = t[1] - s[1]
        return n, s[1] + gap * (t[0] / n), s[2] + t[2] + squares(gap, 0) * (s[0] / n * t[0])

    return Reducer(whole, partial, merge, lambda s, ddof=0: variance(s[2], ddof))


_MAKERS: dict[str, Callable[..., Reducer]] = {
    "argmax": _position,
    "argmin": _position,
    "count_nonzero": _count,
    "moments": _moments,
}
