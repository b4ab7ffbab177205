"""Index arrays of a pattern: diagonals, triangles, open grids; and positions in C order from indices and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy

from ...core.dtypes import BOOL, INT64
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.node import Node
from ...core.recording import record
from ...core.recording.array import from_host, make_view, ndarray, wrap
from ...core.runtime import evaluate
from ...core.runtime.device import Device, default_device
from .keys import words
from .masks import Picked, unravelled
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

_INTS = (INT64, INT64, INT64)


def diag_indices(n: int, ndim: int = 2) -> tuple[ndarray, ...]:
    """The indices of the main diagonal of an array of `ndim` dimensions of size `n`. See `numpy.diag_indices`."""
    queue = evaluate.queue_of(default_device())
    return (wrap(graph.fresh(graph.iota((n,), 0, queue))),) * ndim


def diag_indices_from(arr: ndarray) -> tuple[ndarray, ...]:
    """The indices of the main diagonal of an array. See `numpy.diag_indices_from`."""
    shape = record.as_array(arr).shape
    if len(shape) < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(shape[0], len(shape))


def _triangle(n: int, k: int, m: int | None, op: str) -> tuple[ndarray, ...]:
    """The indices where ``column - row`` compares so with `k`."""
    shape = (n, n if m is None else m)
    queue = evaluate.queue_of(default_device())
    distance = graph.map_node("subtract", _INTS, (graph.iota(shape, 1, queue), graph.iota(shape, 0, queue)))
    inside = wrap(graph.map_node(op, (INT64, INT64, BOOL), (distance, graph.scalar(int(k)))))
    return tuple(wrap(index) for index in Picked(inside).indices())


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """The indices of the lower triangle of an (n, m) array. See `numpy.tril_indices`."""
    return _triangle(n, k, m, "less_equal")


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """The indices of the upper triangle of an (n, m) array. See `numpy.triu_indices`."""
    return _triangle(n, k, m, "greater_equal")


def tril_indices_from(arr: Any, k: int = 0) -> tuple[ndarray, ...]:
    """The indices of the lower triangle of an array. See `numpy.tril_indices_from`."""
    return tril_indices(*_sides(arr, k))


def triu_indices_from(arr: Any, k: int = 0) -> tuple[ndarray, ...]:
    """The indices of the upper triangle of an array. See `numpy.triu_indices_from`."""
    return triu_indices(*_sides(arr, k))


def _sides(arr: Any, k: int) -> tuple[int, int, int]:
    shape = record.as_array(arr).shape
    if len(shape) != 2:
        raise ValueError("input array must be 2-d")
    return shape[0], k, shape[1]


def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0) -> tuple[ndarray, ...]:
    """The indices of an (n, n) array of ones that `mask_func` leaves non-zero. See `numpy.mask_indices`."""
    queue = evaluate.queue_of(default_device())
    return nonzero(mask_func(wrap(graph.fill(graph.typed_scalar(1, INT64), (n, n), queue)), k))


def ix_(*args: Any) -> tuple[ndarray, ...]:
    """One-dimensional indices, each along a dimension of its own. See `numpy.ix_`."""
    found = []
    for k, sequence in enumerate(args):
        index = record.as_array(numpy.asarray(sequence, numpy.intp) if _empty(sequence) else sequence)
        if len(index.shape) != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if index.dtype == BOOL:
            (index,) = nonzero(index)
        where = index.layout
        shape = (1,) * k + where.shape + (1,) * (len(args) - k - 1)
        strides = layout.reshape_strides(where.shape, where.strides, shape)
        assert strides is not None
        found.append(make_view(index, Layout(shape, strides, where.offset)))
    return tuple(found)


def _empty(sequence: Any) -> bool:
    """Whether it is an empty sequence without a dtype, which NumPy takes for indices."""
    return not isinstance(sequence, (ndarray, numpy.ndarray)) and hasattr(sequence, "__len__") and not len(sequence)


def unravel_index(indices: Any, shape: int | Sequence[int], order: str = "C") -> Any:
    """Indices along each dimension of elements by their position. See `numpy.unravel_index`.

    A position on the device that is out of bounds raises IndexError where the host next looks.
    """
    sizes = _shape(shape)
    if not isinstance(indices, ndarray):
        checked = numpy.unravel_index(indices, sizes, order)  # type: ignore[call-overload]
        if not numpy.ndim(indices):
            return checked
        return tuple(record.as_array(numpy.asarray(index)) for index in checked)
    _require_integers(indices)
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    position = _checked(graph.cast(indices.value(), INT64), prod(sizes), indices.device)
    if order == "C":
        found = unravelled(position, sizes)
    else:
        found = unravelled(position, sizes[::-1])[::-1]
    return tuple(wrap(graph.fresh(index)) for index in found)


def ravel_multi_index(multi_index: Any, dims: int | Sequence[int], mode: Any = "raise", order: str = "C") -> Any:
    """Positions of elements by their indices along each dimension. See `numpy.ravel_multi_index`.

    An index on the device that is out of bounds raises IndexError where the host next looks.
    """
    sizes = _shape(dims)
    parts = list(multi_index)
    if not any(isinstance(part, ndarray) for part in parts):
        found = numpy.ravel_multi_index(multi_index, sizes, mode, order)  # type: ignore[call-overload]
        return found if not numpy.ndim(found) else record.as_array(found)
    modes = (mode,) * len(sizes) if isinstance(mode, str) else tuple(mode)
    if len(parts) != len(sizes):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(sizes)}")
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    strides = layout.c_strides(sizes) if order == "C" else layout.c_strides(sizes[::-1])[::-1]
    position: Node | None = None
    for part, size, stride, how in zip(parts, sizes, strides, modes, strict=True):
        array = record.as_array(part)
        _require_integers(array)
        index = _limited(graph.cast(array.value(), INT64), size, how, array.device)
        term = graph.map_node("multiply", _INTS, (index, graph.scalar(stride)))
        position = term if position is None else graph.map_node("add", _INTS, (position, term))
    assert position is not None
    return wrap(graph.fresh(position))


def _limited(index: Node, size: int, mode: str, device: Device) -> Node:
    if mode == "wrap":
        return graph.map_node("remainder", _INTS, (index, graph.scalar(size)))
    if mode == "clip":
        low = graph.map_node("maximum", _INTS, (index, graph.scalar(0)))
        return graph.map_node("minimum", _INTS, (low, graph.scalar(size - 1)))
    if mode == "raise":
        return _checked(index, size, device)
    raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")


def _checked(index: Node, size: int, device: Device) -> Node:
    """The index plus zeros that are gathered with it, which tells where it is out of bounds."""
    zeros = graph.view(from_host(numpy.zeros(1, INT64), device).value(), Layout((max(size, 1),), (0,), 0))
    bad = graph.map_node("less", (INT64, INT64, BOOL), (index, graph.scalar(0)))  # which would count from the end
    if not size:
        bad = graph.map_node("logical_or", (BOOL, BOOL, BOOL), (bad, graph.typed_scalar(True, BOOL)))
    place = graph.map_node("where", (BOOL, *_INTS), (bad, graph.scalar(max(size, 1)), index))
    return graph.map_node("add", _INTS, (index, graph.gather(zeros, (place,), record.source_location())))


def _require_integers(array: ndarray) -> None:
    if array.dtype.kind not in "iu":
        raise TypeError(f"only int indices permitted, not {array.dtype} of shape {words(array.shape)}")


def _shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(shape, (int, numpy.integer)):
        return (int(shape),)
    return tuple(n.__index__() for n in shape)
