"""Indexed loads of the CPU executor: elements, runs of elements, rows and columns that indices pick, by NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from .index_errors import index_errors


def _positions(
    base: Any, index: Sequence[Any], dims: Sequence[int], strides: Sequence[int], source_location: int
) -> Any:
    """Return ``base + sum(wrap(index[k], dims[k]) * strides[k])``; an index out of bounds is clamped and reported."""
    at = base
    for values, n, stride in zip(index, dims, strides, strict=True):
        values, low = _in_bounds(numpy.asarray(values), n, source_location)
        if low < 0:
            values = numpy.where(values < 0, values + n, values)
        # As few arrays as can be are made: to be given their memory takes as long as to gather.
        offsets = values if stride == 1 else values * stride
        at = offsets if type(at) is not numpy.ndarray and at == 0 else at + offsets
    return at


def _in_bounds(values: Any, n: int, source_location: int) -> tuple[Any, int]:
    """Return the indices of an axis of size `n`, clamped and reported if they are out of bounds, and the smallest."""
    if not values.size:
        return values, 0
    low, high = values.min(), values.max()
    if low < -n or high >= n:
        invalid = low if low < -n else high
        index_errors.append((f"index {invalid} is out of bounds for axis with size {n}", int(source_location)))
        values = values.clip(-n, n - 1)
    return values, low


def gather(
    source: Any,
    base: Any,
    index: Sequence[Any],
    dims: Sequence[int],
    strides: Sequence[int],
    source_location: int,
    out: Any = None,
) -> Any:
    """Return the elements of `source` at the positions that the indices give."""
    rows = _rows_of_columns(source, base, index, dims, strides, out)
    if rows is not None:
        at, _ = _in_bounds(index[1].reshape(-1), dims[1], source_location)
        return rows.take(at, 1, out, "wrap")
    if strides == (1,) and dims[0] and type(base) is not numpy.ndarray:
        source = source[base : base + dims[0]]
        at, _ = _in_bounds(numpy.asarray(index[0]), dims[0], source_location)
    else:
        at = _positions(base, index, dims, strides, source_location)
    # Every position is in bounds, if perhaps counted from the end: "wrap" takes less time than NumPy's own check.
    return source.take(at, mode="wrap", out=out)


def _rows_of_columns(
    source: Any, base: Any, index: Sequence[Any], dims: Sequence[int], strides: Sequence[int], out: Any
) -> Any:
    """Return the rows of which the second index picks columns into `out`; None if the indices do no such thing."""
    if len(index) != 2 or out is None or out.ndim != 2 or not out.flags.c_contiguous or 0 in dims:
        return None
    rows, columns = index
    if numpy.shape(rows) != (len(out), 1) or numpy.shape(columns) != (1, out.shape[1]):
        return None
    first, last = int(rows[0, 0]), int(rows[-1, 0])
    are_consecutive = last - first == len(rows) - 1 and (rows[1:] - rows[:-1] == 1).all()
    if not are_consecutive or first < 0 or last >= dims[0] or strides[1] != 1 or type(base) is numpy.ndarray:
        return None
    if out.shape[1] * 2 < dims[1] and strides[0] != dims[1]:  # NumPy copies rows that are not side by side
        return None
    pitch, itemsize = strides[0], source.itemsize
    start = (base + first * pitch) * itemsize
    return numpy.ndarray((len(rows), dims[1]), source.dtype, source, start, (pitch * itemsize, itemsize))


def gather_runs(
    source: Any,
    base: Any,
    index: Sequence[Any],
    dims: Sequence[int],
    strides: Sequence[int],
    source_location: int,
    shape: tuple[int, ...],
    steps: tuple[int, ...],
    out: Any = None,
) -> Any:
    """Gather a run of elements at every position, with this shape and these strides in bytes (`steps`)."""
    itemsize = source.itemsize
    if out is not None and out.flags.c_contiguous and len(index) == 1 and type(base) is not numpy.ndarray:
        (n,), (pitch,), length = dims, strides, prod(shape)
        # NumPy copies rows that are not side by side before it picks of them: of more than it picks, in vain.
        is_of_rows = length == pitch or n * length <= out.size
        if n and is_of_rows and _is_contiguous(shape, steps, itemsize):
            at, _ = _in_bounds(numpy.asarray(index[0]), n, source_location)
            rows = numpy.ndarray((n, length), source.dtype, source, base * itemsize, (pitch * itemsize, itemsize))
            rows.take(at.reshape(-1), 0, out.reshape(-1, length), "wrap")
            return out
    at = _positions(base, index, dims, strides, source_location)
    count = max(0, source.size - sum((n - 1) * step for n, step in zip(shape, steps, strict=True)) // itemsize)
    runs = numpy.ndarray((count, *shape), source.dtype, source, 0, (itemsize, *steps))
    gathered = runs[numpy.reshape(at, -1)]
    gathered = gathered.reshape(at.shape[: at.ndim - len(shape)] + shape) if at.ndim else gathered[0]
    if out is None:
        return gathered
    out[...] = gathered
    return out


def _is_contiguous(shape: tuple[int, ...], steps: tuple[int, ...], itemsize: int) -> bool:
    """Return whether elements of these strides in bytes are side by side, in C order."""
    for n, step in zip(reversed(shape), reversed(steps), strict=True):
        if n != 1 and step != itemsize:
            return False
        itemsize *= n
    return True


def gather_run(
    source: Any,
    base: Any,
    index: Sequence[Any],
    dims: Sequence[int],
    strides: Sequence[int],
    source_location: int,
    shape: tuple[int, ...],
    steps: tuple[int, ...],
) -> Any:
    """Return the run at the only position, as `gather_runs` but without a copy: a view of `source`."""
    at = base
    for value, n, stride in zip(index, dims, strides):
        i = value.item()
        if not -n <= i < n:
            index_errors.append((f"index {i} is out of bounds for axis with size {n}", int(source_location)))
            i = 0 if i < 0 else max(0, n - 1)
        at += (i + n if i < 0 else i) * stride
    return numpy.ndarray(shape, source.dtype, source, at * source.itemsize, steps)
