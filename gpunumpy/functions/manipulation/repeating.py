"""Elements moved around or repeated: `roll`, `tile`, `repeat`, `resize`."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy

from ...core.dtypes import INT64
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape, checked_axis, normalize_axis
from ...core.graph.node import Node
from ...core.recording.array import is_scalar, ndarray, to_host, wrap
from ...core.recording.calls import memoize_recording
from ...core.recording.memo import shared_generator
from ...core.recording.record import as_array, ndim_of, transposed
from ...core.runtime.numpy_calls import calls_numpy
from ...core.source_location import source_location
from ..creation.arrays import array, array_in_memory_order, as_shape, axes_in_memory, constant, mark_owner_as_array
from ..creation.ranges import apply_op, scalar_node
from .shape import array_in_shape, ravel, reshaped, sliced_view

__all__ = ["repeat", "resize", "roll", "tile"]


def gather_along_axes(x: ndarray, indices: dict[int, Node]) -> Node:
    """Return the value whose element along each axis of `indices` is the array's element at that index.

    The index of an axis is one-dimensional, and within the axis: no error is ever told of it. A gather reads along
    leading axes, so these axes come first in between.
    """
    leading_axes = sorted(indices)
    order = [*leading_axes, *(k for k in range(x.ndim) if k not in indices)]
    broadcast_indices = []
    for position, k in enumerate(leading_axes):
        n = indices[k].signature.shape[0]
        shape = tuple(n if d == position else 1 for d in range(len(leading_axes)))
        strides = tuple(1 if d == position else 0 for d in range(len(leading_axes)))
        broadcast_indices.append(shared_generator(graph.view(indices[k], Layout(shape, strides, 0))))
    gathered = graph.gather(transposed(x.value(), order), broadcast_indices, "")
    return transposed(gathered, [order.index(k) for k in range(x.ndim)])


@partial(memoize_recording, shares_scalars=True)
def roll(a: Any, shift: Any, axis: Any = None) -> ndarray:
    """Move elements along axes; those that leave at one end enter at the other. See `numpy.roll`."""
    x = as_array(a)
    shift = to_host(shift) if isinstance(shift, ndarray) else shift
    if axis is None:
        return reshaped(roll(ravel(x), shift, 0), x.shape)
    shape = x.shape
    shift_of_axis = {
        k: s % shape[k] for k, s in _shift_of_axis(shift, axis, len(shape)).items() if shape[k] and s % shape[k]
    }
    if not shift_of_axis or 0 in shape:
        return array(x)
    return rolled_by_index(x, shift_of_axis)


def rolled_by_index(x: ndarray, shift_of_axis: dict[int, int]) -> ndarray:
    """Return the elements moved along axes by a gather, which fuses with the operations before and after it."""
    indices = {}
    for k, s in shift_of_axis.items():
        n = x.shape[k]
        # What would come from before the first element counts from the end.
        indices[k] = apply_op("subtract", graph.iota((n,), 0, x.queue), scalar_node(s))
    return array_in_memory_order(gather_along_axes(x, indices), axes_in_memory("K", x.shape, x.element_strides))


def _shift_of_axis(shift: Any, axis: Any, ndim: int) -> dict[int, int]:
    """Return how far to move along each axis."""
    if not (isinstance(shift, tuple) and isinstance(axis, tuple) and len(shift) == len(axis)):
        shifts, axes = numpy.broadcast_arrays(shift, axis)
        if shifts.ndim > 1:
            raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
        shift, axis = shifts.ravel().tolist(), axes.ravel().tolist()
    total: dict[int, int] = {}
    for k, s in zip(axis, shift, strict=True):
        k = normalize_axis(k, ndim)
        total[k] = total.get(k, 0) + int(s)  # `int`, since NumPy takes floats too
    return total


def tile(A: Any, reps: Any) -> ndarray:
    """Repeat the whole array along axes. See `numpy.tile`."""
    x = as_array(A)
    reps = to_host(reps) if isinstance(reps, ndarray) else reps
    counts = as_shape(tuple(reps) if ndim_of(reps) else (reps,))
    ndim = max(len(counts), x.ndim)
    if all(n == 1 for n in counts):
        return array(x, ndmin=ndim)
    layout.check_dimension_count(ndim)
    counts = (1,) * (ndim - len(counts)) + counts
    shape = (1,) * (ndim - x.ndim) + x.shape
    strides = (0,) * (ndim - x.ndim) + layout.c_strides(x.shape)
    split_shape = tuple(n for pair in zip(counts, shape, strict=True) for n in pair)
    split_strides = tuple(s for stride in strides for s in (0, stride))
    return array_in_shape(
        _strided_view(x, split_shape, split_strides), tuple(c * n for c, n in zip(counts, shape, strict=True))
    )


def _strided_view(x: ndarray, shape: Shape, strides: tuple[int, ...]) -> Node:
    """Return elements of the array through a shape and strides over its C order."""
    if 0 in shape:
        return constant(0, shape, x.dtype, x.queue)
    return graph.view(x.value(), Layout(shape, strides, 0))


# A kernel on the CPU is a loop of NumPy's that begins anew with each run of equal elements. Up to so many elements that
# takes longer than to write the first element of all runs, then the second.
_MAX_SHORT_RUN = 16


def repeat(a: Any, repeats: Any, axis: Any = None) -> ndarray:
    """Repeat every element. See `numpy.repeat`."""
    x = as_array(a)
    if axis is None or not x.ndim:
        x, axis = ravel(x), 0 if axis is None else axis
    axis = checked_axis(axis, x.ndim)
    if isinstance(repeats, ndarray) and is_scalar(repeats):
        repeats = to_host(repeats)[()]
    if not isinstance(repeats, (ndarray, numpy.ndarray)):
        repeats = numpy.array(repeats, INT64)
    if not numpy.can_cast(repeats.dtype, INT64, "safe"):
        raise TypeError(f"Cannot cast array data from {repeats.dtype!r} to {INT64!r} according to the rule 'safe'")
    if repeats.ndim > 1:
        raise ValueError("object too deep for desired array")
    if repeats.size != 1:
        return _repeated_by(x, as_array(repeats, x.device), axis)
    times = int(to_host(repeats).item() if isinstance(repeats, ndarray) else repeats.item())
    if times < 0 and x.shape[axis]:
        raise ValueError("repeats may not contain negative values.")
    repeated_shape = (*x.shape[:axis], x.shape[axis] * times, *x.shape[axis + 1 :])
    is_of_short_runs = times > 1 and times * prod(x.shape[axis + 1 :]) <= _MAX_SHORT_RUN
    if x.size and is_of_short_runs and calls_numpy(x.device):
        repeated = graph.library_call("repeat", (axis,), (x.value(),), (repeated_shape, x.dtype))
        return array_in_shape(repeated, repeated_shape)
    strides = layout.c_strides(x.shape)
    shape = (*x.shape[: axis + 1], times, *x.shape[axis + 1 :])
    node = _strided_view(x, shape, (*strides[: axis + 1], 0, *strides[axis + 1 :]))
    return array_in_shape(node, repeated_shape)


def _repeated_by(x: ndarray, counts: ndarray, axis: int) -> ndarray:
    """Return the array with every element along an axis repeated as often as its own count says."""
    n = x.shape[axis]
    if counts.size != n:
        raise ValueError(f"operands could not be broadcast together with shape ({n},) ({counts.size},)")
    if not n:
        return array(x)
    int64_counts = graph.cast(counts.value(), INT64)
    ends = graph.scan("add", (INT64, INT64), 0, int64_counts)
    lowest = to_host(wrap(graph.reduce("minimum", (INT64, INT64), (0,), (int64_counts,))))
    if lowest < 0:
        raise ValueError("repeats may not contain negative values.")
    total = int(to_host(wrap(graph.view(ends, Layout((), (), n - 1)))))
    # The element at an output position is the number of elements that end at or before it: a scan of the counted ends.
    zero_counts = constant(0, (total + 1,), INT64, x.queue)
    ones = constant(1, (n,), INT64, x.queue)
    ends_at = graph.scatter(graph.as_new_node(zero_counts), ones, [ends], "add", source_location())
    ends_at_output = graph.view(ends_at, Layout((total,), (1,), 0))
    index = graph.scan("add", (INT64, INT64), 0, ends_at_output)
    return array_in_memory_order(gather_along_axes(x, {axis: index}), None)


def resize(a: Any, new_shape: Any) -> ndarray:
    """Fill a new shape with the elements in C order, starting again when they are used up.

    See `numpy.resize`.
    """
    x = ravel(a)
    shape = as_shape(new_shape)
    size = prod(shape)
    if not x.size or not size:
        return mark_owner_as_array(wrap(constant(0, shape, x.dtype, x.queue)))
    repeated = tile(x, -(-size // x.size))
    return array(reshaped(sliced_view(repeated, 0, 0, size), shape))


def zero_padded_node(x: ndarray, shape: Shape) -> Node:
    """Return the first elements in C order in another shape, with zeros after them."""
    count = min(x.size, prod(shape))
    kept = graph.view(x.value(), Layout((count,), (1,), 0))
    zeros = constant(0, shape, x.dtype, x.queue)
    return graph.update(zeros, Layout((count,), (1,), 0), kept)
