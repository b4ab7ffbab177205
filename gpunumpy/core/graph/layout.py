"""Shape and stride arithmetic: pure functions over tuples. Strides and offsets count elements, not bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from operator import index
from typing import Any, NamedTuple

import numpy
from numpy.exceptions import AxisError

from ..errors import OverlapError

Shape = tuple[int, ...]


class Layout(NamedTuple):
    """Positions of the elements of an array in its storage."""

    shape: Shape
    strides: tuple[int, ...]
    offset: int

    def low(self) -> int:
        """Return the lowest position of any element."""
        low = self.offset
        for n, s in zip(self.shape, self.strides, strict=True):
            if s < 0 and n:
                low += s * (n - 1)
        return low

    def high(self) -> int:
        """Return the highest position of any element."""
        high = self.offset
        for n, s in zip(self.shape, self.strides, strict=True):
            if s > 0 and n:
                high += s * (n - 1)
        return high


@lru_cache(1 << 14)
def c_layout(shape: Shape) -> Layout:
    """Return the layout of a C-ordered array at offset 0."""
    return Layout(shape, c_strides(shape), 0)


@lru_cache(1 << 14)
def permuted(layout: Layout, axes: tuple[int, ...]) -> Layout:
    """Return the layout whose dimension k is axis ``axes[k]``."""
    shape, strides, offset = layout
    return Layout(tuple(shape[k] for k in axes), tuple(strides[k] for k in axes), offset)


@lru_cache(1 << 14)
def reshaped(layout: Layout, to: Shape) -> Layout | None:
    """Return the layout of the same elements in another shape, or None if only a copy can have that shape."""
    strides = reshape_strides(layout.shape, layout.strides, to)
    return None if strides is None else Layout(to, strides, layout.offset)


def c_strides(shape: Shape) -> tuple[int, ...]:
    """Return the strides of a C-ordered array; an empty dimension counts as size 1, as in NumPy."""
    strides = []
    step = 1
    for n in reversed(shape):
        strides.append(step)
        step *= n if n > 1 else 1
    return tuple(reversed(strides))


def place_in_memory(index: int, shape: Shape, strides: Sequence[int]) -> int:
    """Return where memory with these strides has the element of an index in the C order of a shape."""
    place = 0
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        index, k = divmod(index, n)
        place += k * stride
    return place


def is_window(region: Layout, shape: Shape) -> bool:
    """Return whether a region, whose strides are those of a shape in C order, is a range along each axis of the shape.

    The transpose of a column is none: both of its strides are those of the column, and it goes on after a row's end.
    """
    index = region.offset
    for n, length in zip(reversed(shape), reversed(region.shape), strict=True):
        index, start = divmod(index, n)
        if start + length > n:
            return False
    return True


def is_c_contiguous(shape: Shape, strides: Sequence[int]) -> bool:
    """Return whether the strides are those of C order. Dimensions of size 1 and empty arrays fit any order."""
    if 0 in shape:
        return True
    step = 1
    for n, s in zip(reversed(shape), reversed(strides), strict=True):
        if n != 1:
            if s != step:
                return False
            step *= n
    return True


def equal_rows(where: Layout) -> Layout | None:
    """Return a layout in rows for the same elements in the same order, or None if there is none.

    It has two dimensions. Elements of a row have nothing between them, and rows lie one after the other, equally far.
    """
    width = 1
    for n, s in zip(reversed(where.shape), reversed(where.strides), strict=True):
        if n != 1:
            if s != width:
                break
            width *= n
    rows = reshaped(where, (math.prod(where.shape) // width, width))
    return rows if rows is not None and (rows.shape[0] == 1 or rows.strides[0] >= width) else None


def is_f_contiguous(shape: Shape, strides: Sequence[int]) -> bool:
    """Return whether the strides are those of Fortran order. See `is_c_contiguous`."""
    return is_c_contiguous(shape[::-1], strides[::-1])


def is_c_ordered(shape: Shape, strides: Sequence[int]) -> bool:
    """Return whether no stride is longer than one before it. Dimensions of size 1 and repeated ones decide nothing."""
    outer = MAX_SIZE
    for n, s in zip(shape, strides, strict=True):
        if n != 1 and s:
            if abs(s) > outer:
                return False
            outer = abs(s)
    return True


def are_distinct(shape: Shape, strides: Sequence[int]) -> bool:
    """Return True if every index is sure to have an element of its own.

    The test is sufficient, not necessary: each stride must exceed the reach of all dimensions with smaller strides.
    """
    if 0 in shape:
        return True
    reach = 0
    for step, n in sorted((abs(s), n) for n, s in zip(shape, strides, strict=True) if n != 1):
        if step <= reach:
            return False
        reach += step * (n - 1)
    return True


def require_distinct(where: Layout) -> None:
    """Raise `OverlapError` if elements of a layout, which are to be written, may overlap."""
    if not are_distinct(where.shape, where.strides):
        raise OverlapError("a view whose elements overlap is written on the host")


def is_blas_readable(shape: Shape, strides: Sequence[int]) -> bool:
    """Return whether BLAS can read a vector (positive stride) or matrices (contiguous rows or columns) in place."""
    if len(shape) == 1:
        return strides[0] > 0 or shape[0] == 1
    (rows, columns), (down, across) = shape[-2:], strides[-2:]
    by_rows = (across == 1 or columns == 1) and (down >= columns or rows == 1)
    by_columns = (down == 1 or rows == 1) and (across >= rows or columns == 1)
    return (by_rows or by_columns) and min(strides) >= 0


# The largest value of `numpy.intp`: NumPy's bound for a dimension, and for the bytes of an array.
MAX_SIZE = 2**63 - 1
MAX_DIMENSIONS = 64  # of an array; values in between may have more


def check_size(shape: Shape, itemsize: int) -> None:
    """Raise NumPy's ValueError if an array of this shape exceeds `MAX_SIZE` bytes; an empty dimension counts as 1."""
    nbytes = itemsize
    for n in shape:
        nbytes *= n or 1
    if nbytes > MAX_SIZE:
        check_dimensions(shape)
        raise ValueError("array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.")


def check_dimension_count(count: int) -> None:
    """Raise NumPy's ValueError if there are more than `MAX_DIMENSIONS` dimensions."""
    if count > MAX_DIMENSIONS:
        raise ValueError(f"maximum supported dimension for an ndarray is currently {MAX_DIMENSIONS}, found {count}")


def check_dimensions(shape: Shape) -> None:
    """Raise NumPy's ValueError if a dimension does not fit `numpy.intp`."""
    if any(not -MAX_SIZE - 1 <= n <= MAX_SIZE for n in shape):
        raise ValueError("Maximum allowed dimension exceeded")


def broadcast_shapes(*shapes: Shape) -> Shape:
    """Return the broadcast shape. Raise NumPy's ValueError if the shapes do not broadcast."""
    if len(set(shapes)) == 1:
        return shapes[0]
    ndim = max(map(len, shapes), default=0)
    result = [1] * ndim
    for shape in shapes:
        for axis, n in enumerate(shape, ndim - len(shape)):
            if n != 1 and result[axis] != n:
                if result[axis] != 1:
                    listed = " ".join("(" + ",".join(map(str, s)) + ("," if len(s) == 1 else "") + ")" for s in shapes)
                    raise ValueError(f"operands could not be broadcast together with shapes {listed} ")
                result[axis] = n
    return tuple(result)


def broadcast_strides(shape: Shape, strides: Sequence[int], to: Shape) -> tuple[int, ...]:
    """Return strides that repeat an array of `shape` over the shape `to`, to which it must broadcast."""
    lead = len(to) - len(shape)
    return (0,) * lead + tuple(0 if n == 1 and m != 1 else s for n, s, m in zip(shape, strides, to[lead:], strict=True))


def reshape_strides(shape: Shape, strides: Sequence[int], to: Shape) -> tuple[int, ...] | None:
    """Return strides that give the same elements the shape `to`, or None if only a copy can have that shape."""
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
    """Return the axes, slowest first, in NumPy's order "K" of a result, or None for C order.

    Every layout must have `ndim` dimensions already (stride 0 where broadcast).
    """
    if ndim < 2 or all(is_c_contiguous(shape, strides) for shape, strides in layouts):
        return None
    order = list(range(ndim - 1, -1, -1))
    # The insertion sort of NumPy's iterator, fastest axis first: an axis moves inwards past axes with longer strides.
    # Where operands disagree about two axes, C order wins. Two axes that no operand can compare (size 1, stride 0)
    # decide nothing, so that the result depends on the order in which axes are compared.
    for i in range(1, ndim):
        position, moved = i, order[i]
        for j in range(i - 1, -1, -1):
            verdict, other = 0, order[j]
            for shape, strides in layouts:
                outer, inner = abs(strides[moved]), abs(strides[other])
                if shape[moved] != 1 and shape[other] != 1 and inner and outer:
                    if inner <= outer:
                        verdict = -1
                        break
                    verdict = 1
            if verdict > 0:
                position = j
            elif verdict < 0:
                break
        if position != i:
            order.insert(position, order.pop(i))
    order.reverse()
    return None if order == list(range(ndim)) else tuple(order)


def ordered_layout(shape: Shape, order: Sequence[int]) -> Layout:
    """Return the layout of an array stored in another axis order: dimension k of `shape` is the axis ``order[k]``.

    `shape` and the elements under the layout are in memory order, slowest dimension first.
    """
    strides = c_strides(shape)
    inverse = [order.index(axis) for axis in range(len(order))]
    return Layout(tuple([shape[k] for k in inverse]), tuple([strides[k] for k in inverse]), 0)


def copied_order(shape: Shape, strides: Sequence[int]) -> tuple[int, ...] | None:
    """Return the axes, slowest first, of NumPy's copy of an array in order "K", or None for C order.

    Unlike in `memory_order`, strides of dimensions of size 1 count, and axes of stride 0 (repeated elements) vary
    fastest.
    """
    if is_c_contiguous(shape, strides):
        return None
    axes = range(len(shape))
    if is_f_contiguous(shape, strides):
        return tuple(reversed(axes))
    order = tuple(sorted(axes, key=lambda axis: -abs(strides[axis])))
    return None if order == tuple(axes) else order


def normalize_axis(axis: int, ndim: int) -> int:
    """Return the axis counted from the front. Raise NumPy's AxisError if it is out of range."""
    axis = index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim)
    return axis % ndim if ndim else 0


def normalize_axes(axes: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Return the axes counted from the front, all of them for None. Raise ValueError if an axis is given twice."""
    if axes is None:
        return tuple(range(ndim))
    if not isinstance(axes, (tuple, list)):
        axes = (axes,)  # type: ignore[assignment]
    result = tuple(normalize_axis(a, ndim) for a in axes)  # type: ignore[union-attr]
    if len(set(result)) != len(result):
        raise ValueError("duplicate value in 'axis'")
    return result


def checked_axis(axis: Any, ndim: int) -> int:
    """Return `normalize_axis`, but refuse truth values: so NumPy's functions written in C take an axis."""
    if isinstance(axis, (bool, numpy.bool)):
        raise TypeError("an integer is required for the axis")
    return normalize_axis(axis, ndim)


def checked_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """Return `normalize_axes`, but refuse lists and truth values: so NumPy's functions written in C take axes."""
    if isinstance(axes, list):
        raise TypeError("'list' object cannot be interpreted as an integer")
    if any(isinstance(axis, (bool, numpy.bool)) for axis in (axes if isinstance(axes, tuple) else (axes,))):
        raise TypeError("an integer is required")
    return normalize_axes(axes, ndim)


def decompose(
    dims: Shape, strides: Sequence[int], offset: int, extent: Shape
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]] | None:
    """Split an affine map into the flat C order of `dims` into one affine map for each dimension.

    Return ``(starts, coefs)``: with ``0 <= i[d] < extent[d]``, the element ``offset + sum(strides[d] * i[d])`` of a
    C-ordered array of shape `dims` has the index ``starts[k] + sum(coefs[d][k] * i[d])`` in dimension k. Return None
    if no such map stays inside every dimension.
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
    """Return the layout of `inner`, which indexes the elements of `outer` in C order; None if it is not affine."""
    index_map = decompose(outer.shape, inner.strides, inner.offset, inner.shape)
    if index_map is None:
        return None
    starts, coefs = index_map
    strides = tuple(sum(c * s for c, s in zip(coef, outer.strides, strict=True)) for coef in coefs)
    offset = outer.offset + sum(c * s for c, s in zip(starts, outer.strides, strict=True))
    return Layout(inner.shape, strides, offset)


def _digits(value: int, dims: Shape, flat: Sequence[int]) -> tuple[int, ...] | None:
    """Return the index, over all dimensions, of a flat position, or None if all dimensions have size 1.

    The index in the first dimension is not bounded by its size. Position 0 always has an index.
    """
    digits = []
    for n, s in zip(dims, flat, strict=True):
        if n == 1:
            digits.append(0)
        else:
            digits.append(value // s)
            value %= s
    return None if value else tuple(digits)
