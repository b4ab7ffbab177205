"""Elements put in and taken out: `copyto`, `insert`, `delete`, `trim_zeros`."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from ...core.dtypes import BOOL
from ...core.graph import node as graph
from ...core.graph.layout import Shape, normalize_axes, normalize_axis
from ...core.graph.node import Node
from ...core.recording.array import from_host, ndarray, to_host, wrap
from ...core.recording.record import as_array, as_dtype
from ..creation.arrays import axes_in_memory, laid_out
from ..creation.ranges import applied, number
from ..indexing.getitem import fitted
from ..ufuncs.output import is_array, mask_node, write
from .joining import concatenate
from .repeating import picked
from .shape import broadcast_to, moveaxis, ravel, reshaped, sliced

__all__ = ["copyto", "delete", "insert", "trim_zeros"]


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Write the elements of one array to another. See `numpy.copyto`."""
    if not isinstance(dst, ndarray):
        src, where = (to_host(x) if isinstance(x, ndarray) else x for x in (src, where))
        return numpy.copyto(dst, src, casting, where)
    if not is_array(dst):
        raise TypeError("copyto() argument 1 must be an array, not the 0-d result of an operation")
    if not dst.writeable:
        raise ValueError("assignment destination is read-only")
    if numpy.isscalar(src):
        probe: Any = numpy.empty((), dst.dtype)
        scalar: Any = src
        numpy.copyto(probe, scalar, casting)  # NumPy says what may be cast, and what it becomes
        value = graph.typed_scalar(probe[()], dst.dtype)
    else:
        array = as_array(src, dst.device)
        if not numpy.can_cast(array.dtype, dst.dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {array.dtype!r} to {dst.dtype!r} according to the rule {casting!r}"
            )
        value = fitted(array.value(), dst.shape)
    mask = None if where is True else mask_node(where, dst.queue)
    if mask is not None and not _broadcasts(mask.signature.shape, dst.shape):
        raise ValueError(f"could not broadcast where mask from shape {mask.signature.shape} into shape {dst.shape}")
    write(dst, value, mask)
    return None


def _broadcasts(shape: Shape, to: Shape) -> bool:
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape[::-1], to[::-1], strict=False))


def _prepared(arr: Any, obj: Any, axis: Any) -> tuple[ndarray, Any, int]:
    """The array, what is chosen of it (on the host, since it decides the shape), and the axis."""
    x = as_array(arr)
    if axis is None:
        x, axis = ravel(x), 0
    return x, to_host(obj) if isinstance(obj, ndarray) else obj, normalize_axis(axis, x.ndim)


def _is_integer(obj: Any) -> bool:
    """Whether it is a single integer, and no array but a 0-d one."""
    if isinstance(obj, (bool, numpy.bool_)) or not hasattr(obj, "__index__"):
        return False
    return not isinstance(obj, numpy.ndarray) or (not obj.ndim and obj.dtype.kind in "iu")


def _position(obj: Any, n: int, axis: int, highest: int) -> int:
    """The position that a single integer names."""
    k = operator.index(obj)
    if not -n <= k <= highest:
        raise IndexError(f"index {k} is out of bounds for axis {axis} with size {n}")
    return k + n if k < 0 else k


def delete(arr: Any, obj: Any, axis: Any = None) -> ndarray:
    """Without the sub-arrays at some indices along an axis. See `numpy.delete`."""
    x, obj, axis = _prepared(arr, obj, axis)
    n = x.shape[axis]
    if _is_integer(obj):
        k = _position(obj, n, axis, n - 1)
        return concatenate((sliced(x, axis, 0, k), sliced(x, axis, k + 1, n)), axis)
    # What stays is decided by NumPy, over the indices.
    return _taken(x, numpy.delete(numpy.arange(n), obj), axis)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> ndarray:
    """With values put in before some indices along an axis. See `numpy.insert`."""
    x, obj, axis = _prepared(arr, obj, axis)
    n = x.shape[axis]
    new = as_array(values, x.device)
    new = laid_out(as_dtype(new.value(), x.dtype), None)
    places = numpy.arange(*obj.indices(n)) if isinstance(obj, slice) else numpy.asarray(obj)
    if places.ndim > 1 or (places.dtype == bool and not places.ndim):
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if places.dtype == bool:
        places = numpy.flatnonzero(places)
    if not places.size and isinstance(obj, (list, tuple)):
        places = places.astype(numpy.int64)  # an empty list is one of integers too
    if places.size == 1:  # anything may stand there, several sub-arrays too
        k = _position(places.item(), n, axis, n)
        if new.ndim < x.ndim:
            new = reshaped(new, (1,) * (x.ndim - new.ndim) + new.shape)
        if not places.ndim:
            new = moveaxis(new, 0, axis)
        shape = (*x.shape[:axis], new.shape[axis], *x.shape[axis + 1 :])
        return concatenate((sliced(x, axis, 0, k), broadcast_to(new, shape), sliced(x, axis, k, n)), axis)
    shape = (*x.shape[:axis], places.size, *x.shape[axis + 1 :])
    # The order of old and new ones is decided by NumPy, over the indices.
    order = numpy.insert(numpy.arange(n), places, n + numpy.arange(places.size))
    return _taken(concatenate((x, broadcast_to(new, shape)), axis), order, axis)


def _taken(x: ndarray, index: Any, axis: int) -> ndarray:
    """The sub-arrays at host-known indices along an axis."""
    node = picked(x, {axis: from_host(index.astype(numpy.int64), x.device).value()})
    return laid_out(node, axes_in_memory("K", x.shape, x.layout.strides))


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """Without the zeros at the ends of axes: a view, or a part of a list. See `numpy.trim_zeros`."""
    if isinstance(filt, (list, tuple)):
        return numpy.trim_zeros(filt, trim, axis)  # type: ignore[arg-type]
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
        if not held.size:  # of zeros alone nothing is left, from whichever end they go
            x = sliced(x, k, 0, 0)
            continue
        start, stop = int(held[0]), int(held[-1]) + 1
        x = sliced(x, k, start if "f" in ends else 0, stop if "b" in ends else n)
    return x


def _occupied(x: ndarray, axis: int) -> Node:
    """For every index along an axis, whether a value there is not zero."""
    mask = applied("not_equal", x.value(), number(0, x.dtype))
    others = tuple(k for k in range(x.ndim) if k != axis)
    return graph.reduce("logical_or", (BOOL, BOOL), others, (mask,)) if others else graph.fresh(mask)
