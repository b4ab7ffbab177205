"""Shape and stride arithmetic: pure functions over tuples, strides and offsets in elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import index
from typing import NamedTuple

from numpy.exceptions import AxisError

Shape = tuple[int, ...]


class Layout(NamedTuple):
    """Where the elements of an array lie in its storage."""

    shape: Shape
    strides: tuple[int, ...]
    offset: int

    def low(self) -> int:
        """The lowest element touched."""
        return self.offset + sum(min(0, s * (n - 1)) for n, s in zip(self.shape, self.strides, strict=True) if n)

    def high(self) -> int:
        """The highest element touched."""
        return self.offset + sum(max(0, s * (n - 1)) for n, s in zip(self.shape, self.strides, strict=True) if n)


@lru_cache(1 << 14)
def c_layout(shape: Shape) -> Layout:
    """The layout of a C-ordered array."""
    return Layout(shape, c_strides(shape), 0)


def c_strides(shape: Shape) -> tuple[int, ...]:
    """Strides of a C-ordered array (an empty dimension counts as one, as in NumPy)."""
    strides = []
    step = 1
    for n in reversed(shape):
        strides.append(step)
        step *= n if n > 1 else 1
    return tuple(reversed(strides))


def is_c(shape: Shape, strides: Sequence[int]) -> bool:
    """Whether the strides are those of C order, sizes 0 and 1 not counting."""
    if 0 in shape:
        return True
    step = 1
    for n, s in zip(reversed(shape), reversed(strides), strict=True):
        if n != 1:
            if s != step:
                return False
            step *= n
    return True


def is_f(shape: Shape, strides: Sequence[int]) -> bool:
    """Whether the strides are those of Fortran order."""
    return is_c(shape[::-1], strides[::-1])


def are_distinct(shape: Shape, strides: Sequence[int]) -> bool:
    """Whether no element is met twice, as far as that is seen at once: each step passes all that lies inside it."""
    reach = 0
    for step, n in sorted((abs(s), n) for n, s in zip(shape, strides, strict=True) if n != 1):
        if step <= reach:
            return False
        reach += step * (n - 1)
    return True


def lies_by_lines(shape: Shape, strides: Sequence[int]) -> bool:
    """Whether BLAS reads vectors or matrices as they lie: rows or columns, their elements one after the other."""
    if len(shape) == 1:
        return strides[0] > 0 or shape[0] == 1
    (rows, columns), (down, across) = shape[-2:], strides[-2:]
    by_rows = (across == 1 or columns == 1) and (down >= columns or rows == 1)
    by_columns = (down == 1 or rows == 1) and (across >= rows or columns == 1)
    return all(s >= 0 for s in strides) and (by_rows or by_columns)


# What NumPy's signed sizes hold.
MAX_SIZE = 2**63 - 1


def check_size(shape: Shape, itemsize: int) -> None:
    """Refuse a shape that no memory could have, in NumPy's words; an empty dimension does not make others smaller."""
    nbytes = itemsize
    for n in shape:
        nbytes *= n or 1
    if nbytes > MAX_SIZE:
        check_dimensions(shape)
        raise ValueError("array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.")


def check_dimensions(shape: Shape) -> None:
    """Refuse a dimension beyond NumPy's sizes, in its words."""
    if any(not -MAX_SIZE - 1 <= n <= MAX_SIZE for n in shape):
        raise ValueError("Maximum allowed dimension exceeded")


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The broadcast shape, or a ValueError in NumPy's words."""
    if len(set(shapes)) == 1:
        return shapes[0]
    ndim = max(map(len, shapes), default=0)
    result = [1] * ndim
    for shape in shapes:
        for axis, n in enumerate(shape, ndim - len(shape)):
            if n != 1 and result[axis] != n:
                if result[axis] != 1:
                    words = " ".join("(" + ",".join(map(str, s)) + ("," if len(s) == 1 else "") + ")" for s in shapes)
                    raise ValueError(f"operands could not be broadcast together with shapes {words} ")
                result[axis] = n
    return tuple(result)


def broadcast_strides(shape: Shape, strides: Sequence[int], to: Shape) -> tuple[int, ...]:
    """Strides that repeat an array of `shape` over the shape `to` (the caller checked that it broadcasts)."""
    lead = len(to) - len(shape)
    return (0,) * lead + tuple(0 if n == 1 and m != 1 else s for n, s, m in zip(shape, strides, to[lead:], strict=True))


def reshape_strides(shape: Shape, strides: Sequence[int], to: Shape) -> tuple[int, ...] | None:
    """Strides of the same elements in the shape `to`, or None where only a copy could have it."""
    if 0 in to:
        return c_strides(to)
    old = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    result = [0] * len(to)
    i = j = 0
    while i < len(old) and j < len(to):
        size_old, size_new = old[i][0], to[j]
        first_i, first_j = i, j
        while size_old != size_new:
            if size_new < size_old:
                j += 1
                size_new *= to[j]
            else:
                i += 1
                size_old *= old[i][0]
        for k in range(first_i, i):
            if old[k][1] != old[k + 1][0] * old[k + 1][1]:
                return None
        step = old[i][1]
        for k in range(j, first_j - 1, -1):
            result[k] = step
            step *= to[k]
        i += 1
        j += 1
    last = 1
    for k in range(len(to) - 1, -1, -1):  # the remaining dimensions have size 1: any stride will do
        if to[k] == 1:
            result[k] = last
        last = result[k] * to[k]
    return tuple(result)


def memory_order(layouts: Sequence[tuple[Shape, Sequence[int]]], ndim: int) -> tuple[int, ...] | None:
    """The axes from slowest to fastest that NumPy's order "K" gives a result, or None for C order.

    Every layout has `ndim` dimensions already (stride 0 where broadcast).
    """
    if ndim < 2 or all(is_c(shape, strides) for shape, strides in layouts):
        return None
    order = list(range(ndim))
    # The insertion sort of NumPy's iterator: an axis moves outwards past those whose strides are smaller, judged by
    # the first operand that can tell the two apart; ambiguous pairs keep C order.
    for i in range(1, ndim):
        place = i
        for j in range(i - 1, -1, -1):
            verdict = 0
            for shape, strides in layouts:
                inner, outer = abs(strides[order[i]]), abs(strides[order[j]])
                if shape[order[i]] != 1 and shape[order[j]] != 1 and inner and outer:
                    if inner <= outer:
                        verdict = -1
                        break
                    verdict = 1
            if verdict > 0:
                place = j
            elif verdict < 0:
                break
        if place != i:
            order.insert(place, order.pop(i))
    return None if order == list(range(ndim)) else tuple(order)


def ordered_layout(shape: Shape, order: Sequence[int]) -> Layout:
    """The layout, over C-ordered elements of a shape, of the array whose axis ``order[k]`` their dimension k is."""
    strides = c_strides(shape)
    inverse = [order.index(axis) for axis in range(len(order))]
    return Layout(tuple([shape[k] for k in inverse]), tuple([strides[k] for k in inverse]), 0)


def copied_order(shape: Shape, strides: Sequence[int]) -> tuple[int, ...] | None:
    """The same for a copy of one array, in which NumPy has repeated axes, those of stride 0, vary fastest."""
    if all(stride or extent == 1 for extent, stride in zip(shape, strides, strict=True)) or is_c(shape, strides):
        return memory_order([(shape, strides)], len(shape))
    order = tuple(sorted(range(len(shape)), key=lambda axis: -abs(strides[axis])))
    return None if order == tuple(range(len(shape))) else order


def normalize_axis(axis: int, ndim: int) -> int:
    """The axis counted from the front; NumPy's AxisError where there is none."""
    axis = index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim)
    return axis % ndim if ndim else 0


def normalize_axes(axes: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """All axes for None; otherwise the given ones from the front, no one twice."""
    if axes is None:
        return tuple(range(ndim))
    if not isinstance(axes, (tuple, list)):
        axes = (axes,)  # type: ignore[assignment]
    result = tuple(normalize_axis(a, ndim) for a in axes)  # type: ignore[union-attr]
    if len(set(result)) != len(result):
        raise ValueError("duplicate value in 'axis'")
    return result


def decompose(
    dims: Shape, strides: Sequence[int], offset: int, extent: Shape
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]] | None:
    """Split an affine map over flat C order into one affine map a dimension.

    Returns ``(starts, coefs)`` with ``index[k] = starts[k] + sum(coefs[d][k] * i[d])`` for the element
    ``offset + sum(strides[d] * i[d])`` of a C-ordered array of shape `dims`, ``0 <= i[d] < extent[d]``; None where no
    such map stays inside every dimension.
    """
    flat = c_strides(dims)
    starts = _digits(offset, dims, flat)
    if starts is None:
        return None
    coefs: list[tuple[int, ...]] = []
    low, high = list(starts), list(starts)
    for stride, n in zip(strides, extent, strict=True):
        digits = _digits(abs(stride), dims, flat) if n > 1 else (0,) * len(dims)
        if digits is None:
            return None
        if stride < 0:
            digits = tuple(-d for d in digits)
        coefs.append(digits)
        for k, d in enumerate(digits):
            if d < 0:
                low[k] += d * (n - 1)
            else:
                high[k] += d * (n - 1)
    if any(lo < 0 or hi >= n for lo, hi, n in zip(low, high, dims, strict=True)):
        return None
    return starts, tuple(coefs)


def compose(outer: Layout, inner: Layout) -> Layout | None:
    """The layout of `inner`, which counts the elements of `outer` in C order; None where no layout has it."""
    parts = decompose(outer.shape, inner.strides, inner.offset, inner.shape)
    if parts is None:
        return None
    starts, coefs = parts
    strides = tuple(sum(c * s for c, s in zip(coef, outer.strides, strict=True)) for coef in coefs)
    offset = outer.offset + sum(c * s for c, s in zip(starts, outer.strides, strict=True))
    return Layout(inner.shape, strides, offset)


def _digits(value: int, dims: Shape, flat: Sequence[int]) -> tuple[int, ...] | None:
    digits = []
    for n, s in zip(dims, flat, strict=True):
        if n == 1:
            digits.append(0)
        else:
            digits.append(value // s)
            value %= s
    return None if value else tuple(digits)
