"""Elements written, inserted and deleted: `copyto`, `insert`, `delete`, `trim_zeros`."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from ...core.dtypes import BOOL, INT64
from ...core.floating_errors import silent_unless_asked
from ...core.graph import node as graph
from ...core.graph.layout import Shape, normalize_axes, normalize_axis
from ...core.graph.node import Node
from ...core.recording.array import from_host, ndarray, to_host, wrap
from ...core.recording.record import array_of_protocol, as_array, cast_with_warning, leave_function_to_class
from ...core.runtime.device import Device
from ..creation.arrays import array_in_memory_order, axes_in_memory, ones
from ..creation.ranges import apply_op, scalar_node
from ..indexing.getitem import cast_integer, fit_to_shape, node_to_assign, setitem
from ..indexing.masks import MaskSelection
from ..ufuncs.output import is_writable_array, mask_node, write_to_output
from .joining import concatenate
from .repeating import gather_along_axes
from .shape import broadcast_to, moveaxis, ravel, reshaped, sliced_view

__all__ = ["copyto", "delete", "insert", "trim_zeros"]


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Copy the elements of one array into another. See `numpy.copyto`."""
    for x in (dst, src, where):
        leave_function_to_class(x)
    if not isinstance(dst, ndarray):
        src, where = (to_host(x) if isinstance(x, ndarray) else x for x in (src, where))
        return numpy.copyto(dst, src, casting, where)
    if not is_writable_array(dst):
        raise TypeError("copyto() argument 1 must be an array, not the 0-d result of an operation")
    if not dst.writeable:
        raise ValueError("assignment destination is read-only")
    if numpy.isscalar(src):
        cell: Any = numpy.empty((), dst.dtype)
        scalar: Any = src
        with silent_unless_asked():
            numpy.copyto(cell, scalar, casting)  # NumPy refuses the cast, or makes it
        value = graph.typed_scalar(cell[()], dst.dtype)
    else:
        array = as_array(src, dst.device)
        if not numpy.can_cast(array.dtype, dst.dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {array.dtype!r} to {dst.dtype!r} according to the rule {casting!r}"
            )
        value = fit_to_shape(array.value(), dst.shape)
    mask = None if where is True else mask_node(where, dst.queue)
    if mask is not None and not _broadcasts_to(mask.signature.shape, dst.shape):
        raise ValueError(f"could not broadcast where mask from shape {mask.signature.shape} into shape {dst.shape}")
    write_to_output(dst, value, mask)
    return None


def _broadcasts_to(shape: Shape, to: Shape) -> bool:
    """Return True if a shape broadcasts to another."""
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape[::-1], to[::-1], strict=False))


def _on_axis(arr: Any, obj: Any, axis: Any) -> tuple[ndarray, Any, int]:
    """Return the array, the indices `obj` and the axis; for axis None, the raveled array and axis 0."""
    x = as_array(arr)
    if axis is None:
        x, axis = ravel(x), 0
    leave_function_to_class(obj)
    held = array_of_protocol(obj) if not isinstance(obj, (ndarray, numpy.ndarray)) else None
    return x, obj if held is None else held, normalize_axis(axis, x.ndim)


def _is_integer(obj: Any) -> bool:
    """Return True for a single integer: a scalar, or a 0-d array of integers."""
    if isinstance(obj, (bool, numpy.bool_)) or not hasattr(obj, "__index__"):
        return False
    return not isinstance(obj, numpy.ndarray) or (not obj.ndim and obj.dtype.kind in "iu")


def _position(obj: Any, size: int, axis: int, max_position: int) -> int:
    """Return the position that a single integer denotes."""
    position = operator.index(obj)
    if not -size <= position <= max_position:
        raise IndexError(f"index {position} is out of bounds for axis {axis} with size {size}")
    return position + size if position < 0 else position


def delete(arr: Any, obj: Any, axis: Any = None) -> ndarray:
    """Delete sub-arrays along an axis. See `numpy.delete`."""
    x, obj, axis = _on_axis(arr, obj, axis)
    n = x.shape[axis]
    if isinstance(obj, ndarray) and (obj.dtype != BOOL or n <= _MOST_POSITIONS):
        obj = to_host(obj)  # it decides the result's shape
    if not isinstance(obj, (slice, ndarray)) and not _is_integer(obj):
        given, obj = obj, numpy.asarray(obj)
        if not obj.size and not isinstance(given, numpy.ndarray):
            obj = obj.astype(numpy.intp)  # an empty list is float64 in NumPy, and valid
        elif obj.size == 1 and obj.dtype.kind in "iu":
            obj = obj.item()
    if not isinstance(obj, ndarray) and _is_integer(obj):
        position = _position(obj, n, axis, n - 1)
        return concatenate((sliced_view(x, axis, 0, position), sliced_view(x, axis, position + 1, n)), axis)
    if isinstance(obj, slice) and abs((deleted := range(n)[obj]).step) == 1:
        first, last = sorted((deleted[0], deleted[-1])) if deleted else (0, -1)
        return concatenate((sliced_view(x, axis, 0, first), sliced_view(x, axis, last + 1, n)), axis)
    if n <= _MOST_POSITIONS:
        # NumPy deletes from the array of positions; the rest is gathered.
        return _sub_arrays_at(x, _indices(numpy.delete(numpy.arange(n), obj), x), axis)
    rest = MaskSelection(_rest(obj, n, x.device))
    if x.ndim == 1:
        return array_in_memory_order(rest.elements(x.value()), None)
    return _sub_arrays_at(x, rest.positions(), axis)


# The longest axis whose positions the host deletes from: for longer ones it takes less time to wait for a count.
_MOST_POSITIONS = 1 << 14


def _rest(obj: Any, n: int, device: Device) -> ndarray:
    """Return a mask of the positions along an axis of some size that are not deleted."""
    if not isinstance(obj, slice) and obj.dtype == BOOL:
        if obj.shape != (n,):
            raise ValueError(
                f"boolean array argument obj to delete must be one dimensional and match the axis length of {n}"
            )
        return wrap(apply_op("logical_not", as_array(obj, device).value()))
    if not isinstance(obj, slice):
        numpy.broadcast_to(False, (n,))[obj,]  # raises NumPy's errors of indices
    rest = ones(n, bool, device=device)
    setitem(rest, obj, False)
    return rest


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> ndarray:
    """Insert values before the given indices along an axis. See `numpy.insert`."""
    x, obj, axis = _on_axis(arr, obj, axis)
    n = x.shape[axis]
    node = cast_with_warning(node_to_assign(cast_integer(values, x.dtype), x.dtype, x.queue), x.dtype)
    new_values = array_in_memory_order(graph.fill(node, (), x.queue) if node.signature.queue is None else node, None)
    if isinstance(obj, ndarray):
        obj = to_host(obj)  # it decides the result's shape
    positions = numpy.arange(*obj.indices(n)) if isinstance(obj, slice) else numpy.asarray(obj)
    if positions.ndim > 1 or (positions.dtype == bool and not positions.ndim):
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if positions.dtype == bool:
        positions = numpy.flatnonzero(positions)
    if not positions.size and isinstance(obj, (list, tuple)):
        positions = positions.astype(numpy.int64)  # an empty list is float64 in NumPy, and valid
    if positions.size == 1:  # one position takes several sub-arrays too
        position = _position(positions.item(), n, axis, n)
        if new_values.ndim < x.ndim:
            new_values = reshaped(new_values, (1,) * (x.ndim - new_values.ndim) + new_values.shape)
        if not positions.ndim:
            new_values = moveaxis(new_values, 0, axis)
        shape = (*x.shape[:axis], new_values.shape[axis], *x.shape[axis + 1 :])
        return concatenate(
            (sliced_view(x, axis, 0, position), broadcast_to(new_values, shape), sliced_view(x, axis, position, n)),
            axis,
        )
    shape = (*x.shape[:axis], positions.size, *x.shape[axis + 1 :])
    # NumPy inserts into the array of positions the numbers of the new sub-arrays, which are joined behind the old ones.
    order = numpy.insert(numpy.arange(n), positions, n + numpy.arange(positions.size))
    return _sub_arrays_at(concatenate((x, broadcast_to(new_values, shape)), axis), _indices(order, x), axis)


def _indices(index: Any, x: ndarray) -> Node:
    """Return indices, given on the host, as a value of the device of an array."""
    return from_host(index.astype(numpy.int64), x.device).value()


def _sub_arrays_at(x: ndarray, index: Node, axis: int) -> ndarray:
    """Return the sub-arrays at indices along an axis."""
    node = gather_along_axes(x, {axis: index})
    return array_in_memory_order(node, axes_in_memory("A", x.shape, x.element_strides))


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """Return a view without the zeros at the ends of axes, or a part of a list. See `numpy.trim_zeros`."""
    if isinstance(filt, (list, tuple)):
        return numpy.trim_zeros(filt, trim, axis)  # type: ignore[arg-type]
    ends = trim.lower()
    if ends not in ("f", "b", "fb", "bf"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    x = as_array(filt)
    axes = normalize_axes(axis, x.ndim)
    untrimmed = x
    for k in axes:
        start, stop = _ends_of_nonzeros(untrimmed, k)
        if start >= stop:  # all are zeros: nothing is left, whichever end is trimmed
            x = sliced_view(x, k, 0, 0)
        else:
            x = sliced_view(x, k, start if "f" in ends else 0, stop if "b" in ends else untrimmed.shape[k])
    return x


def _ends_of_nonzeros(x: ndarray, axis: int) -> tuple[int, int]:
    """Return the first index along an axis where an element is not zero, and the one after the last."""
    n = x.shape[axis]
    if 0 in x.shape:
        return n, 0
    position, is_nonzero = graph.iota((n,), 0, x.queue), _has_nonzero(x, axis)
    first, last = (
        wrap(graph.reduce(op, (INT64, INT64), (0,), (apply_op("where", is_nonzero, position, scalar_node(none)),)))
        for op, none in (("minimum", n), ("maximum", -1))
    )
    return int(to_host(first)), int(to_host(last)) + 1


def _has_nonzero(x: ndarray, axis: int) -> Node:
    """Return for every index along an axis whether an element there is not zero."""
    mask = apply_op("not_equal", x.value(), scalar_node(0, x.dtype))
    others = tuple(k for k in range(x.ndim) if k != axis)
    return graph.reduce("logical_or", (BOOL, BOOL), others, (mask,)) if others else graph.as_new_node(mask)
