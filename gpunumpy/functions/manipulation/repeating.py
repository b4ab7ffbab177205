"""Elements moved round or repeated: `roll`, `tile`, `repeat`, `resize`."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from ...core.dtypes import BOOL, INT64
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape, normalize_axis
from ...core.graph.node import Node
from ...core.recording.array import ndarray, to_host, wrap, wrap_ordered
from ...core.recording.memo import memoize_recording
from ...core.recording.record import as_array, source_location, transposed
from ...core.runtime.evaluate import traits_of
from ..creation.arrays import array, as_shape, axes_in_memory, constant, laid_out, made
from ..creation.ranges import applied, number
from .shape import ravel, reshaped, sliced, stored

__all__ = ["repeat", "resize", "roll", "tile"]


def picked(x: ndarray, indices: dict[int, Node]) -> Node:
    """The value whose element along each axis of `indices` is at that index of the array.

    The index of an axis is one-dimensional. Gathers read along leading axes, so those axes come first meanwhile.
    """
    lead = sorted(indices)
    order = [*lead, *(k for k in range(x.ndim) if k not in indices)]
    index = []
    for place, k in enumerate(lead):
        n = indices[k].signature.shape[0]
        shape = tuple(n if d == place else 1 for d in range(len(lead)))
        index.append(graph.view(indices[k], Layout(shape, tuple(1 if d == place else 0 for d in range(len(lead))), 0)))
    found = graph.gather(transposed(x.value(), order), index, source_location())
    return transposed(found, [order.index(k) for k in range(x.ndim)])


@memoize_recording
def roll(a: Any, shift: Any, axis: Any = None) -> ndarray:
    """Elements moved along axes, those that leave at one end entering at the other. See `numpy.roll`."""
    x = as_array(a)
    shift = to_host(shift) if isinstance(shift, ndarray) else shift
    if axis is None:
        return reshaped(roll(ravel(x), shift, 0), x.shape)
    shape = x.shape
    moved = {k: s % shape[k] for k, s in _shifts(shift, axis, len(shape)).items() if shape[k] and s % shape[k]}
    if not moved or 0 in shape:
        return array(x)
    if traits_of(x.device).copies_blocks_faster_than_elements:
        return _rolled_by_blocks(x, moved)
    return rolled_by_index(x, moved)


def rolled_by_index(x: ndarray, moved: dict[int, int]) -> ndarray:
    """The elements moved along axes: one kernel, which what comes before and after can be part of."""
    indices = {}
    for k, s in moved.items():
        n = x.shape[k]
        here = graph.iota((n,), 0, x.queue)
        wrapped, plain = applied("add", here, number(n - s)), applied("subtract", here, number(s))
        indices[k] = graph.map_node(
            "where", (BOOL, INT64, INT64, INT64), (applied("less", here, number(s)), wrapped, plain)
        )
    return laid_out(picked(x, indices), axes_in_memory("K", x.shape, x.layout.strides))


def _rolled_by_blocks(x: ndarray, moved: dict[int, int]) -> ndarray:
    """The elements moved along axes by copies of blocks, in the memory order that they have."""
    order = None if x.base is None else axes_in_memory("K", x.shape, x.layout.strides)
    node = x.value() if order is None else transposed(x.value(), order)
    shifts = tuple(moved.get(k, 0) for k in (range(x.ndim) if order is None else order))
    return made(wrap_ordered(graph.library_call("roll", shifts, (node,)), order))


def _shifts(shift: Any, axis: Any, ndim: int) -> dict[int, int]:
    """How far to move along each axis."""
    if not (isinstance(shift, tuple) and isinstance(axis, tuple) and len(shift) == len(axis)):
        shifts, axes = numpy.broadcast_arrays(shift, axis)
        if shifts.ndim > 1:
            raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
        shift, axis = shifts.ravel().tolist(), axes.ravel().tolist()
    total: dict[int, int] = {}
    for k, s in zip(axis, shift, strict=True):
        k = normalize_axis(k, ndim)
        total[k] = total.get(k, 0) + int(s)  # as NumPy does, which takes floats too
    return total


def tile(A: Any, reps: Any) -> ndarray:
    """The array repeated as a whole along axes. See `numpy.tile`."""
    x = as_array(A)
    reps = to_host(reps) if isinstance(reps, ndarray) else reps
    counts = as_shape(tuple(reps) if numpy.ndim(reps) else (reps,))
    ndim = max(len(counts), x.ndim)
    if all(n == 1 for n in counts):
        return array(x, ndmin=ndim)
    counts = (1,) * (ndim - len(counts)) + counts
    shape = (1,) * (ndim - x.ndim) + x.shape
    strides = (0,) * (ndim - x.ndim) + layout.c_strides(x.shape)
    doubled = tuple(n for pair in zip(counts, shape, strict=True) for n in pair)
    steps = tuple(s for stride in strides for s in (0, stride))
    return stored(_seen(x, doubled, steps), tuple(c * n for c, n in zip(counts, shape, strict=True)))


def _seen(x: ndarray, shape: Shape, strides: tuple[int, ...]) -> Node:
    """The elements of a value through strides over its C order."""
    if 0 in shape:
        return constant(0, shape, x.dtype, x.queue)
    return graph.view(x.value(), Layout(shape, strides, 0))


def repeat(a: Any, repeats: Any, axis: Any = None) -> ndarray:
    """Every element repeated. See `numpy.repeat`."""
    x = as_array(a)
    if axis is None or not x.ndim:
        x, axis = ravel(x), 0 if axis is None else axis
    axis = normalize_axis(axis, x.ndim)
    if not isinstance(repeats, (ndarray, numpy.ndarray, numpy.generic)):
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
    strides = layout.c_strides(x.shape)
    shape = (*x.shape[: axis + 1], times, *x.shape[axis + 1 :])
    node = _seen(x, shape, (*strides[: axis + 1], 0, *strides[axis + 1 :]))
    return stored(node, (*x.shape[:axis], x.shape[axis] * times, *x.shape[axis + 1 :]))


def _repeated_by(x: ndarray, counts: ndarray, axis: int) -> ndarray:
    """Every element along an axis repeated as often as its own count says."""
    n = x.shape[axis]
    if counts.size != n:
        raise ValueError(f"operands could not be broadcast together with shape ({n},) ({counts.size},)")
    if not n:
        return array(x)
    each = graph.cast(counts.value(), INT64)
    ends = graph.scan("add", (INT64, INT64), 0, each)
    least = to_host(wrap(graph.reduce("minimum", (INT64, INT64), (0,), (each,))))
    if least < 0:
        raise ValueError("repeats may not contain negative values.")
    total = int(to_host(wrap(graph.view(ends, Layout((), (), n - 1)))))
    # Where an element ends the next begins: the number of ends so far is the index of the element.
    marks = constant(0, (total + 1,), INT64, x.queue)
    one = constant(1, (n,), INT64, x.queue)
    marked = graph.scatter(graph.fresh(marks), one, [ends], "add", source_location())
    begun = graph.view(marked, Layout((total,), (1,), 0))
    index = graph.scan("add", (INT64, INT64), 0, begun)
    return laid_out(picked(x, {axis: index}), None)


def resize(a: Any, new_shape: Any) -> ndarray:
    """As many of the elements, in C order and again from the start, as a shape needs. See `numpy.resize`."""
    x = ravel(a)
    shape = as_shape(new_shape)
    size = prod(shape)
    if not x.size or not size:
        return made(wrap(constant(0, shape, x.dtype, x.queue)))
    repeated = tile(x, -(-size // x.size))
    return array(reshaped(sliced(repeated, 0, 0, size), shape))


def grown(x: ndarray, shape: Shape) -> Node:
    """The first elements in C order in another shape, zeros after them."""
    count = min(x.size, prod(shape))
    flat = graph.view(x.value(), Layout((count,), (1,), 0))
    base = constant(0, shape, x.dtype, x.queue)
    return graph.update(base, Layout((count,), (1,), 0), flat)
