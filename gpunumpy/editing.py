"""Elements put in and taken out: `insert`, `delete`, `trim_zeros`."""

from __future__ import annotations

from typing import Any

import numpy

from .core import node as graph
from .core.array import from_host, ndarray, to_host, wrap
from .core.dtypes import BOOL
from .core.layout import normalize_axes, normalize_axis
from .core.node import Node
from .core.record import as_array, as_dtype
from .creation import axes_in_memory, laid_out
from .joining import concatenate
from .ranges import applied, number
from .repeating import picked
from .shape import broadcast_to, moveaxis, ravel, sliced

__all__ = ["delete", "insert", "trim_zeros"]


def _prepared(arr: Any, obj: Any, axis: Any) -> tuple[ndarray, Any, int]:
    """The array, what is chosen of it (on the host, since it decides the shape), and the axis."""
    x = as_array(arr)
    if axis is None:
        x, axis = ravel(x), x.ndim if x.ndim == 1 else 0
        axis = 0
    return x, to_host(obj) if isinstance(obj, ndarray) else obj, normalize_axis(axis, x.ndim)


def _single(obj: Any, n: int, axis: int, highest: int) -> int | None:
    """The position that a single integer names, or None for anything else."""
    if isinstance(obj, (bool, numpy.bool_)) or not hasattr(obj, "__index__"):
        return None
    if isinstance(obj, numpy.ndarray) and (obj.ndim or obj.dtype == bool):
        return None
    k = obj.__index__()
    if not -n <= k <= highest:
        raise IndexError(f"index {k} is out of bounds for axis {axis} with size {n}")
    return k + n if k < 0 else k


def delete(arr: Any, obj: Any, axis: Any = None) -> ndarray:
    """Without the sub-arrays at some indices along an axis. See `numpy.delete`."""
    x, obj, axis = _prepared(arr, obj, axis)
    n = x.shape[axis]
    k = _single(obj, n, axis, n - 1)
    if k is not None:
        return concatenate((sliced(x, axis, 0, k), sliced(x, axis, k + 1, n)), axis)
    # What stays is decided by NumPy, over the indices.
    return _taken(x, numpy.delete(numpy.arange(n), obj), axis)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> ndarray:
    """With values put in before some indices along an axis. See `numpy.insert`."""
    x, obj, axis = _prepared(arr, obj, axis)
    n = x.shape[axis]
    new = as_array(values, x.device)
    new = laid_out(as_dtype(new.value(), x.dtype), None)
    k = _single(obj, n, axis, n)
    if k is not None:
        if new.ndim < x.ndim:
            new = _with_leading(new, x.ndim)
        new = moveaxis(new, 0, axis)
        shape = (*x.shape[:axis], new.shape[axis], *x.shape[axis + 1 :])
        return concatenate((sliced(x, axis, 0, k), broadcast_to(new, shape), sliced(x, axis, k, n)), axis)
    places = numpy.arange(*obj.indices(n)) if isinstance(obj, slice) else numpy.asarray(obj)
    count = int(places.sum()) if places.dtype == bool else places.size
    if count == 1 and new.ndim and new.shape[-x.ndim + axis if new.ndim >= x.ndim else 0] > 1 and x.ndim == 1:
        return insert(x, int(numpy.flatnonzero(places)[0] if places.dtype == bool else places.ravel()[0]), new, axis)
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    order = numpy.insert(numpy.arange(n), places, n + numpy.arange(count))
    return _taken(concatenate((x, broadcast_to(new, shape)), axis), order, axis)


def _with_leading(x: ndarray, ndim: int) -> ndarray:
    return broadcast_to(x, (1,) * (ndim - x.ndim) + x.shape)


def _taken(x: ndarray, index: Any, axis: int) -> ndarray:
    """The sub-arrays at host-known indices along an axis."""
    node = picked(x, {axis: from_host(index.astype(numpy.int64), x.device).value()})
    return laid_out(node, axes_in_memory("K", x.shape, x.layout.strides))


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> ndarray:
    """Without the zeros at the ends of axes: a view. See `numpy.trim_zeros`."""
    ends = trim.lower()
    if ends not in ("f", "b", "fb", "bf"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    x = as_array(filt)
    axes = normalize_axes(axis, x.ndim)
    full = x
    for k in axes:
        flags = to_host(wrap(_occupied(full, k)))
        held = numpy.flatnonzero(flags)
        n = full.shape[k]
        start, stop = (int(held[0]), int(held[-1]) + 1) if held.size else (n, n)
        x = sliced(x, k, start if "f" in ends else 0, stop if "b" in ends else n)
    return x


def _occupied(x: ndarray, axis: int) -> Node:
    """For every index along an axis, whether a value there is not zero."""
    mask = applied("not_equal", x.value(), number(0, x.dtype))
    others = tuple(k for k in range(x.ndim) if k != axis)
    return graph.reduce("logical_or", (BOOL, BOOL), others, (mask,)) if others else graph.fresh(mask)
