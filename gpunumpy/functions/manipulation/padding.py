"""`pad`: an array with a border. A border of the array's own elements is a gather with computed indices.

Other borders are in `computed_borders`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ...core.graph import node as graph
from ...core.graph.layout import Layout, c_strides
from ...core.graph.node import Node
from ...core.recording.array import ndarray, to_host, wrap_ordered
from ...core.recording.record import as_array, placed_array, transposed
from ...core.runtime.numpy_calls import calls_numpy
from ..creation.arrays import array_in_memory_order, axes_in_memory, constant, mark_owner_as_array
from ..creation.ranges import apply_op, scalar_node
from ..every_dtype import as_called
from ..indexing.getitem import node_to_assign
from .computed_borders import STATISTICS, with_odd_reflections, with_ramps, with_statistic, write_borders
from .repeating import gather_along_axes

__all__ = ["pad"]

Widths = list[tuple[int, int]]

# The keyword arguments of each mode.
_KEYWORDS: dict[str, frozenset[str]] = {
    "constant": frozenset(("constant_values",)),
    "edge": frozenset(),
    "empty": frozenset(),
    "linear_ramp": frozenset(("end_values",)),
    "reflect": frozenset(("reflect_type",)),
    "symmetric": frozenset(("reflect_type",)),
    "wrap": frozenset(),
    **dict.fromkeys(STATISTICS, frozenset(("stat_length",))),
}


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> ndarray:
    """Pad an array with a border. See `numpy.pad`."""
    if callable(mode):
        x = placed_array(array)
        widths = _widths(pad_width, x.ndim)
        padded = pad_as_called(x, pad_width)
        write_borders(padded, widths, mode, kwargs)
        return padded
    x = as_array(array)
    widths = _widths(pad_width, x.ndim)
    order = axes_in_memory("A", x.shape, x.element_strides)
    if mode not in _KEYWORDS:
        raise ValueError(f"mode '{mode}' is not supported")
    if kwargs.keys() - _KEYWORDS[mode]:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {set(kwargs) - _KEYWORDS[mode]}")
    if mode in ("constant", "empty"):
        return array_in_memory_order(_bordered(x, widths, kwargs.get("constant_values", 0), mode), order)
    for k, (n, width) in enumerate(zip(x.shape, widths, strict=True)):
        if not n and any(width):
            raise ValueError(f"can't extend empty axis {k} using modes other than 'constant' or 'empty'")
    is_odd = kwargs.get("reflect_type", "even") == "odd"
    if x.size and (is_odd or mode not in _SOURCE_INDEX):
        if is_odd:
            padded = with_odd_reflections(x, widths, mode)
        elif mode == "linear_ramp":
            padded = with_ramps(x, widths, kwargs.get("end_values", 0))
        else:
            padded = with_statistic(x, widths, mode, kwargs.get("stat_length"))
        return array_in_memory_order(graph.as_new_node(padded.value()), order)
    if x.size and any(map(any, widths)) and calls_numpy(x.device):
        return _padded_by_numpy(x, widths, mode, order)
    source_index = _SOURCE_INDEX.get(mode, _edge)  # of no elements any will do
    indices = {
        k: source_index(_position(x, n, width), n, max(width))
        for k, (n, width) in enumerate(zip(x.shape, widths, strict=True))
        if any(width)
    }
    return array_in_memory_order(gather_along_axes(x, indices) if indices else graph.as_new_node(x.value()), order)


def _padded_by_numpy(x: ndarray, widths: Widths, mode: str, order: tuple[int, ...] | None) -> ndarray:
    """Return the array with a border of its elements, by a library call that copies blocks in the result's order."""
    node = x.value() if order is None else transposed(x.value(), order)
    widths_in_order = tuple(widths[k] for k in (range(x.ndim) if order is None else order))
    shape = tuple(a + n + b for n, (a, b) in zip(node.signature.shape, widths_in_order, strict=True))
    padded = graph.library_call("pad", (widths_in_order, mode), (node,), (shape, x.dtype))
    return mark_owner_as_array(wrap_ordered(padded, order))


def _widths(pad_width: Any, ndim: int) -> Widths:
    """Return how many elements to add before and after, for every axis."""
    if isinstance(pad_width, dict):
        pairs: list[Any] = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            pairs[axis] = width if numpy.ndim(width) else (width, width)
        pad_width = pairs
    host_widths = numpy.asarray(to_host(pad_width) if isinstance(pad_width, ndarray) else pad_width)
    if host_widths.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    if host_widths.size and host_widths.min() < 0:
        raise ValueError("index can't contain negative values")
    return [(int(a), int(b)) for a, b in numpy.broadcast_to(host_widths, (ndim, 2))]


def _bordered(x: ndarray, widths: Widths, constants: Any, mode: str) -> Node:
    """Return the array inside a border of constants, or of memory that is not set."""
    shape = tuple(a + n + b for n, (a, b) in zip(x.shape, widths, strict=True))
    strides = c_strides(shape)
    inside = Layout(x.shape, strides, sum(a * s for (a, _), s in zip(widths, strides, strict=True)))
    if mode == "empty":
        return graph.update(graph.uninitialized(shape, x.dtype, x.queue), inside, x.value())
    if not x.ndim:
        return graph.as_new_node(x.value())
    host_constants = numpy.asarray(to_host(constants) if isinstance(constants, ndarray) else constants)
    pairs = numpy.broadcast_to(host_constants, (x.ndim, 2))
    # NumPy writes one constant, or two for the two sides, as its own scalars, and more as numbers of Python.
    few = host_constants.size <= 2 and host_constants.ndim < 3 and host_constants.shape != (2, 1)
    numbers: Any = pairs if few else pairs.tolist()
    values = [tuple(node_to_assign(v, x.dtype, x.queue) for v in pair) for pair in numbers]
    node = constant(0, shape, x.dtype, x.queue)
    if (pairs == pairs[0, 0]).all():
        node = graph.fill(values[0][0], shape, x.queue)
    else:
        for k, ((before, after), (low, high)) in enumerate(zip(widths, values, strict=True)):
            index = graph.iota(shape, k, x.queue)
            if before:
                node = apply_op("where", apply_op("less", index, scalar_node(before)), low, node)
            if after:
                node = apply_op("where", apply_op("greater_equal", index, scalar_node(shape[k] - after)), high, node)
    return graph.update(node, inside, x.value())


def _position(x: ndarray, n: int, width: tuple[int, int]) -> Node:
    """Return the position along an axis of the result, counted from the first element of the array."""
    before, after = width
    index = graph.iota((before + n + after,), 0, x.queue)
    return apply_op("subtract", index, scalar_node(before))


# Each function maps a position, which may be outside of the array, to the index of the element to place there. `reach`
# is how far outside a position can be: up to an array's size no division is needed.


def _edge(position: Node, n: int, reach: int) -> Node:
    """Return the index of the nearest element."""
    return apply_op("minimum", apply_op("maximum", position, scalar_node(0)), scalar_node(n - 1))


def _wrap(position: Node, n: int, reach: int) -> Node:
    """Return the index in the array repeated as a whole."""
    if reach > n:
        return apply_op("remainder", position, scalar_node(n))
    nonnegative = apply_op(
        "where", apply_op("less", position, scalar_node(0)), apply_op("add", position, scalar_node(n)), position
    )
    return apply_op(
        "where",
        apply_op("greater_equal", position, scalar_node(n)),
        apply_op("subtract", position, scalar_node(n)),
        nonnegative,
    )


def _mirror(position: Node, n: int, reach: int, repeated: int) -> Node:
    """Return the index in the array mirrored again and again, its end elements occurring `repeated` more times."""
    period = 2 * (n - 1 + repeated)
    if not period:
        return apply_op("multiply", position, scalar_node(0))
    if reach > n - 1 + repeated:
        position = apply_op("remainder", position, scalar_node(period))
    # A position p before the start mirrors to -p - repeated, one after the end to period - repeated - p.
    mirrored_before = apply_op("subtract", scalar_node(-repeated), position)
    position = apply_op("where", apply_op("less", position, scalar_node(0)), mirrored_before, position)
    mirrored_after = apply_op("subtract", scalar_node(period - repeated), position)
    return apply_op("where", apply_op("greater_equal", position, scalar_node(n)), mirrored_after, position)


_SOURCE_INDEX: dict[str, Callable[[Node, int, int], Node]] = {
    "edge": _edge,
    "wrap": _wrap,
    "reflect": lambda position, n, reach: _mirror(position, n, reach, 0),
    "symmetric": lambda position, n, reach: _mirror(position, n, reach, 1),
}

(pad_as_called,) = as_called(pad)
