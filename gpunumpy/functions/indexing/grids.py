"""Index arrays of a pattern: diagonals, triangles, open grids; conversion between indices and positions in C order."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy

from ...core.arguments import whole_number
from ...core.dtypes import BOOL, INT64
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.node import Node
from ...core.recording import record
from ...core.recording.array import from_host, make_view, ndarray, to_host, wrap
from ...core.runtime import evaluate
from ...core.runtime.device import Device, default_device
from ...core.source_location import source_location
from ..creation import arrays
from ..every_dtype import as_called
from ..ufuncs.output import is_true_anywhere
from .keys import shape_text
from .masks import MaskSelection, unravelled
from .selection import nonzero

__all__ = [
    "diag_indices",
    "diag_indices_from",
    "ix_",
    "mask_indices",
    "ravel_multi_index",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "unravel_index",
]

ones, nonzero_as_called = as_called(arrays.ones, nonzero)

_INT64_LOOP = (INT64, INT64, INT64)


def diag_indices(n: int, ndim: int = 2) -> tuple[ndarray, ...]:
    """Return the indices of the main diagonal of an array of `ndim` dimensions of size `n`.

    See `numpy.diag_indices`.
    """
    queue = evaluate.queue_of(default_device())
    return (wrap(graph.as_new_node(graph.iota((operator.index(n),), 0, queue))),) * ndim


def diag_indices_from(arr: ndarray) -> tuple[ndarray, ...]:
    """Return the indices of the main diagonal of an array. See `numpy.diag_indices_from`."""
    shape = record.as_array(arr).shape
    if len(shape) < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(shape[0], len(shape))


def _triangle(n: int, k: int, m: int | None, comparison: str) -> tuple[ndarray, ...]:
    """Return the indices of an (n, m) array where ``column - row`` compares as the op says with `k`."""
    rows = operator.index(n)
    shape = (max(rows, 0), max(rows if m is None else operator.index(m), 0))
    queue = evaluate.queue_of(default_device())
    distance = graph.map_node("subtract", _INT64_LOOP, (graph.iota(shape, 1, queue), graph.iota(shape, 0, queue)))
    inside = wrap(graph.map_node(comparison, (INT64, INT64, BOOL), (distance, graph.scalar(whole_number(k)))))
    return tuple(wrap(index) for index in MaskSelection(inside).indices())


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """Return the indices of the lower triangle of an (n, m) array. See `numpy.tril_indices`."""
    return _triangle(n, k, m, "less_equal")


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """Return the indices of the upper triangle of an (n, m) array. See `numpy.triu_indices`."""
    return _triangle(n, k, m, "greater_equal")


def tril_indices_from(arr: Any, k: int = 0) -> tuple[ndarray, ...]:
    """Return the indices of the lower triangle of an array. See `numpy.tril_indices_from`."""
    return tril_indices(*_triangle_arguments(arr, k))


def triu_indices_from(arr: Any, k: int = 0) -> tuple[ndarray, ...]:
    """Return the indices of the upper triangle of an array. See `numpy.triu_indices_from`."""
    return triu_indices(*_triangle_arguments(arr, k))


def _triangle_arguments(arr: Any, k: int) -> tuple[int, int, int]:
    """Return the arguments of `tril_indices` and `triu_indices` for a matrix."""
    shape = record.as_array(arr).shape
    if len(shape) != 2:
        raise ValueError("input array must be 2-d")
    return shape[0], k, shape[1]


def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0) -> tuple[ndarray, ...]:
    """Return the indices of an (n, n) array of ones that `mask_func` leaves non-zero. See `numpy.mask_indices`."""
    size = operator.index(n)
    return nonzero_as_called(mask_func(ones((size, size), int), k))


def ix_(*args: Any) -> tuple[ndarray, ...]:
    """Return an open grid: each one-dimensional index along a dimension of its own. See `numpy.ix_`."""
    indices = []
    for k, sequence in enumerate(args):
        index = record.as_array(numpy.asarray(sequence, numpy.intp) if _is_empty_sequence(sequence) else sequence)
        if len(index.shape) != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if index.dtype == BOOL:
            (index,) = nonzero(index)
        index_layout = index.layout
        shape = (1,) * k + index_layout.shape + (1,) * (len(args) - k - 1)
        strides = layout.reshape_strides(index_layout.shape, index_layout.strides, shape)
        assert strides is not None
        indices.append(make_view(index, Layout(shape, strides, index_layout.offset)))
    return tuple(indices)


def _is_empty_sequence(sequence: Any) -> bool:
    """Return True for an empty sequence that is not an array, which NumPy takes for integers."""
    return not isinstance(sequence, (ndarray, numpy.ndarray)) and hasattr(sequence, "__len__") and not len(sequence)


def unravel_index(indices: Any, shape: int | Sequence[int], order: str = "C") -> Any:
    """Convert positions of elements to indices along each dimension. See `numpy.unravel_index`.

    A position on the device that is out of bounds raises `IndexError` when the host next reads a result.
    """
    if not isinstance(indices, ndarray):
        record.leave_function_to_class(indices)
        host_indices = numpy.unravel_index(indices, shape, order)  # type: ignore[call-overload]
        if not numpy.ndim(indices):
            return host_indices
        return tuple(record.as_array(numpy.asarray(index)) for index in host_indices)
    # NumPy raises what dtype and shapes decide, of one position that is 0.
    probe = numpy.zeros([min(n, 1) for n in indices.shape], indices.dtype)
    numpy.unravel_index(probe, shape, order)  # type: ignore[call-overload]
    sizes = _as_shape(shape)
    if not sizes:
        return numpy.unravel_index(to_host(indices), sizes)  # no index, but a check of the position
    position = _index_in_bounds(graph.cast(indices.value(), INT64), prod(sizes), indices.device)
    if order == "F":
        index_arrays = unravelled(position, sizes[::-1])[::-1]
    else:
        index_arrays = unravelled(position, sizes)
    return tuple(wrap(graph.as_new_node(index)) for index in index_arrays)


def ravel_multi_index(multi_index: Any, dims: int | Sequence[int], mode: Any = "raise", order: str = "C") -> Any:
    """Convert indices along each dimension to positions of elements. See `numpy.ravel_multi_index`.

    Indices on the device are computed, so that one out of bounds raises `ValueError` at once.
    """
    sizes = _as_shape(dims)
    indices = list(multi_index)
    if not any(isinstance(axis_indices, ndarray) for axis_indices in indices):
        host_positions = numpy.ravel_multi_index(multi_index, sizes, mode, order)  # type: ignore[call-overload]
        return host_positions if not numpy.ndim(host_positions) else record.as_array(host_positions)
    modes = (mode,) * len(sizes) if isinstance(mode, str) else tuple(mode)
    if len(indices) != len(sizes):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(sizes)}")
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    strides = layout.c_strides(sizes) if order == "C" else layout.c_strides(sizes[::-1])[::-1]
    position: Node | None = None
    invalid: list[Node] = []
    for axis_indices, size, stride, axis_mode in zip(indices, sizes, strides, modes, strict=True):
        array = record.as_array(axis_indices)
        _require_integers(array)
        index = graph.cast(array.value(), INT64)
        if axis_mode == "raise":
            invalid += (_compared("less", index, 0), _compared("greater_equal", index, size))
        else:
            index = _index_by_mode(index, size, axis_mode)
        term = graph.map_node("multiply", _INT64_LOOP, (index, graph.scalar(stride)))
        position = term if position is None else graph.map_node("add", _INT64_LOOP, (position, term))
    assert position is not None
    if 0 in sizes and 0 not in position.signature.shape:
        raise ValueError("cannot unravel if shape has zero entries.")
    if invalid and is_true_anywhere(
        reduce(lambda a, b: graph.map_node("logical_or", (BOOL, BOOL, BOOL), (a, b)), invalid)
    ):
        raise ValueError("invalid entry in coordinates array")
    return wrap(graph.as_new_node(position))


def _compared(op: str, index: Node, bound: int) -> Node:
    """Record a comparison of indices with an integer."""
    return graph.map_node(op, (INT64, INT64, BOOL), (index, graph.scalar(bound)))


def _index_by_mode(index: Node, size: int, mode: str) -> Node:
    """Return the indices wrapped or clipped, as the mode says."""
    if mode == "wrap":
        return graph.map_node("remainder", _INT64_LOOP, (index, graph.scalar(size)))
    if mode == "clip":
        low = graph.map_node("maximum", _INT64_LOOP, (index, graph.scalar(0)))
        return graph.map_node("minimum", _INT64_LOOP, (low, graph.scalar(size - 1)))
    raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")


def _index_in_bounds(index: Node, size: int, device: Device) -> Node:
    """Return the index plus zero, gathered from `size` zeros with it: the gather reports an index out of bounds.

    A negative index, which a gather counts from the end, is replaced by one that is out of bounds.
    """
    zeros = graph.view(from_host(numpy.zeros(1, INT64), device).value(), Layout((max(size, 1),), (0,), 0))
    is_invalid = graph.map_node("less", (INT64, INT64, BOOL), (index, graph.scalar(0)))
    checked_index = graph.map_node("where", (BOOL, *_INT64_LOOP), (is_invalid, graph.scalar(max(size, 1)), index))
    return graph.map_node("add", _INT64_LOOP, (index, graph.gather(zeros, (checked_index,), source_location())))


def _require_integers(array: ndarray) -> None:
    """Raise `TypeError` unless an index array holds integers or booleans."""
    if array.dtype.kind not in "biu":
        raise TypeError(f"only int indices permitted, not {array.dtype} of shape {shape_text(array.shape)}")


def _as_shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    """Return a shape, given as an integer or a sequence, as a tuple."""
    if isinstance(shape, (int, numpy.integer)):
        return (int(shape),)
    return tuple(n.__index__() for n in shape)
