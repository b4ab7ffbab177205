"""Reductions for the CPU executor: whole rows as NumPy does them, and long rows in parts that are merged in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy

from ...core.dtypes import FLOAT64, KIND, DType

State = tuple[Any, ...]

# Parts of these are sums of many rounded values, so they are carried and merged in a wider type.
_WIDE: dict[str, str] = {"float16": "float32", "bfloat16": "float32", "float32": "float64", "complex64": "complex128"}
_ADDITIVE = frozenset({"add", "multiply"})
# Rows whose NumPy ufunc has another name.
_UFUNC = {"any": "logical_or", "all": "logical_and"}


@dataclass(frozen=True, slots=True)
class Reducer:
    """One reduction over fixed axes; every result keeps them, with size 1.

    `whole` is the result for one block that holds all of the row. `part` is the state of a block of it, whose first
    point is number `start` of the row; `merge` joins two states, and `finish` turns one into the result.
    """

    whole: Callable[..., Any]
    part: Callable[..., State]
    merge: Callable[[State, State], State]
    finish: Callable[..., Any]


def wide(dtype: DType) -> DType:
    """The type that sums of `dtype` are carried in."""
    return numpy.dtype(_WIDE.get(dtype.name, dtype))


def reducer(op: str, loop: tuple[DType, ...], axes: tuple[int, ...], count: int) -> Reducer:
    """The reduction `row` over `axes` of blocks; the whole row has `count` points."""
    make = _MAKERS.get(op)
    return make(op, loop, axes, count) if make else _by_ufunc(op, loop, axes)


def _by_ufunc(op: str, loop: tuple[DType, ...], axes: tuple[int, ...]) -> Reducer:
    ufunc = getattr(numpy, _UFUNC.get(op, op))
    over = axes[0] if len(axes) == 1 else axes
    reduce, result = ufunc.reduce, loop[-1]
    # ml_dtypes adds bfloat16 one after the other with a rounding each time; NumPy's own half sums do not.
    narrow = op in _ADDITIVE and result.name == "bfloat16"
    carried = wide(result) if op in _ADDITIVE else result

    # The truth of numbers is found by a loop of their own type, which has one result type alone.
    inner = None if ufunc.__name__.startswith("logical") else carried if KIND[result] == "e" else result

    def whole(x: Any) -> Any:
        if narrow:
            return reduce(x, over, carried, None, True).astype(result)
        return reduce(x, over, result if inner else None, None, True)

    def part(x: Any, start: int) -> State:
        return (reduce(x, over, inner, None, True).astype(carried, copy=False),)

    def merge(s: State, t: State) -> State:
        return (ufunc(s[0], t[0]),)

    def finish(s: State) -> Any:
        return s[0].astype(result, copy=False)

    return Reducer(whole, part, merge, finish)


def _counting(op: str, loop: tuple[DType, ...], axes: tuple[int, ...], count: int) -> Reducer:
    reduce: Any = numpy.add.reduce
    result = loop[-1]

    def whole(x: Any) -> Any:
        return reduce(x if x.dtype == bool else x != 0, axes, result, None, True)

    return Reducer(whole, lambda x, start: (whole(x),), lambda s, t: (s[0] + t[0],), lambda s: s[0])


def _position(op: str, loop: tuple[DType, ...], axes: tuple[int, ...], count: int) -> Reducer:
    find = getattr(numpy, op)
    better = numpy.greater if op == "argmax" else numpy.less

    def rows(x: Any) -> tuple[Any, tuple[int, ...]]:
        """`x` with the reduced dimensions made one, the last; and the shape of the result."""
        keep = [d for d in range(x.ndim) if d not in axes]
        shape = tuple(1 if d in axes else n for d, n in enumerate(x.shape))
        lengths = [x.shape[d] for d in keep]
        return x.transpose(*keep, *axes).reshape(*lengths, prod(x.shape[d] for d in axes)), shape

    def whole(x: Any) -> Any:
        flat, shape = rows(x)
        return find(flat, axis=-1).reshape(shape).astype(loop[-1], copy=False)

    def part(x: Any, start: int) -> State:
        flat, shape = rows(x)
        at = find(flat, axis=-1, keepdims=True)
        return numpy.take_along_axis(flat, at, -1).reshape(shape), at.reshape(shape) + start

    def merge(s: State, t: State) -> State:
        # A NaN beats a number, and between equals the first position wins: parts may come in any order.
        s_nan, t_nan = s[0] != s[0], t[0] != t[0]
        tie = (s[0] == t[0]) | (s_nan & t_nan)
        right = numpy.where(tie, t[1] < s[1], (better(t[0], s[0]) & ~s_nan) | (t_nan & ~s_nan))
        return numpy.where(right, t[0], s[0]), numpy.where(right, t[1], s[1])

    return Reducer(whole, part, merge, lambda s: s[1].astype(loop[-1], copy=False))


def _moments(op: str, loop: tuple[DType, ...], axes: tuple[int, ...], count: int) -> Reducer:
    """The variance: the mean square of what is left when the mean is taken away, over ``count - ddof``."""
    add: Any = numpy.add.reduce
    result = loop[-1]
    # Halves are averaged and squared as float32: their squares would soon overflow.
    inner = FLOAT64 if KIND[loop[0]] in "biu" else wide(loop[0]) if KIND[loop[0]] == "e" else loop[0]

    def squares(x: Any, mean: Any) -> Any:
        rest = numpy.subtract(x, mean)
        if KIND[inner] == "c":
            return numpy.multiply(rest, rest.conj()).real
        return numpy.multiply(rest, rest, rest)

    def centred(x: Any, n: int) -> tuple[Any, Any]:
        x = x.astype(inner, copy=False)
        mean = add(x, axes, None, None, True) / inner.type(n)
        return mean, add(squares(x, mean), axes, None, None, True)

    def over(total: Any, ddof: Any) -> Any:
        return (total / numpy.maximum(count - numpy.asarray(ddof, numpy.float64), 0)).astype(result)

    def whole(x: Any, ddof: Any = 0) -> Any:
        return over(centred(x, count)[1], ddof)

    def part(x: Any, start: int) -> State:
        n = prod(x.shape[d] for d in axes)
        mean, total = centred(x, n)
        return n, mean.astype(wide(mean.dtype), copy=False), total.astype(wide(total.dtype), copy=False)

    def merge(s: State, t: State) -> State:
        n = s[0] + t[0]
        gap = t[1] - s[1]
        return n, s[1] + gap * (t[0] / n), s[2] + t[2] + squares(gap, 0) * (s[0] / n * t[0])

    return Reducer(whole, part, merge, lambda s, ddof=0: over(s[2], ddof))


_MAKERS: dict[str, Callable[..., Reducer]] = {
    "argmax": _position,
    "argmin": _position,
    "count_nonzero": _counting,
    "moments": _moments,
}
