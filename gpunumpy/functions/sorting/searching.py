"""Positions of values among sorted elements: `searchsorted`, and the bins of `digitize`."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ...core import dtypes
from ...core.dtypes import BOOL, FLOAT64, INT64, ML_DTYPES, DType
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.node import Node
from ...core.recording import record
from ...core.recording.array import ndarray, to_host, wrap
from ...core.recording.calls import memoize_recording
from ...core.source_location import source_location
from ..indexing.masks import contiguous_vector
from .sort import SCRATCH_ARRAY

__all__ = ["digitize", "searchsorted"]

_MIN_INTEGER, _MAX_INTEGER = int(numpy.iinfo(numpy.int64).min), int(numpy.iinfo(numpy.uint64).max)
_FLOAT32 = numpy.dtype(numpy.float32)


@memoize_recording
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> ndarray:
    """Return the positions in a sorted array at which values belong, as int64. See `numpy.searchsorted`.

    An element of `sorter` that is out of bounds raises `ValueError` if `sorter` is on the host, and otherwise
    `IndexError` when the host next reads a result.
    """
    array, values = _on_one_device(a, _infinity_if_out_of_range(v, a))
    check_vector(array)
    # NumPy returns 0 or 1, or raises for any other side.
    checked_side = ("left", "right")[int(numpy.searchsorted(SCRATCH_ARRAY, 0, side=side))]
    ordered = array.value()
    if sorter is not None:
        ordered = graph.gather(ordered, (_checked_sorter(sorter, array),), source_location())
    return wrap(insertion_positions(ordered, values.value(), checked_side))


def _infinity_if_out_of_range(v: Any, a: Any) -> Any:
    """Return infinity for a Python integer that no dtype holds, as it sorts alike among integers; else return `v`."""
    if (
        type(v) is int
        and not _MIN_INTEGER <= v <= _MAX_INTEGER
        and isinstance(a, ndarray)
        and dtypes.KIND[a.dtype] in "biu"
    ):
        return math.inf if v > 0 else -math.inf
    return v


def _on_one_device(a: Any, v: Any) -> tuple[ndarray, ndarray]:
    """Return both arguments as arrays; host data goes to the device of the other argument."""
    array = record.as_array(a, v.device if isinstance(v, ndarray) else None)
    return array, record.as_array(v, array.device)


def check_vector(array: Any) -> None:
    """Raise `ValueError` unless the array has exactly one dimension."""
    if array.ndim != 1:
        raise ValueError(f"object {'too deep' if array.ndim else 'of too small depth'} for desired array")


def common_dtype(one: DType, two: DType) -> DType:
    """Return the dtype in which numbers are compared; what NumPy cannot sort, of ml_dtypes, counts as float32."""
    return dtypes.check(numpy.result_type(*(_FLOAT32 if dtype in ML_DTYPES else dtype for dtype in (one, two))))


def insertion_positions(ordered: Node, values: Node, side: str) -> Node:
    """Return the positions at which values belong among sorted ones, which have NaN at the end."""
    dtype = common_dtype(ordered.signature.dtype, values.signature.dtype)
    args = [contiguous_vector(graph.cast(node, dtype)) for node in (ordered, values)]
    return record.reshaped(graph.library_call("searchsorted", (side,), args), values.signature.shape)


def _checked_sorter(sorter: Any, array: ndarray) -> Node:
    """Return the positions that sort an array, as a node.

    Raise NumPy's errors for a wrong dtype or shape, and for host positions out of bounds. Device positions out of
    bounds are reported by the gather that reads them.
    """
    positions = sorter if isinstance(sorter, ndarray) else numpy.asarray(sorter)
    if positions.dtype.kind not in "iu":
        raise TypeError("sorter must only contain integers")
    if positions.ndim != 1:
        raise TypeError("could not parse sorter argument")
    if not numpy.can_cast(positions.dtype, INT64, "safe"):
        raise ValueError("could not parse sorter argument")
    if positions.size != array.size:
        raise ValueError("sorter.size must equal a.size")
    if not isinstance(positions, ndarray):
        if positions.size and not 0 <= positions.min() <= positions.max() < array.size:
            raise ValueError("Sorter index out of range.")
        positions = record.as_array(positions, array.device)
    index = graph.cast(positions.value(), INT64)
    # A gather counts negative positions from the end, so they are replaced by one that is out of bounds.
    negative = graph.map_node("less", (INT64, INT64, BOOL), (index, graph.scalar(0)))
    return graph.map_node("where", (BOOL, INT64, INT64, INT64), (negative, graph.scalar(array.size), index))


def digitize(x: Any, bins: Any, right: bool = False) -> ndarray:
    """Return the number of the bin that each value is in. See `numpy.digitize`.

    Bins on a device are read by the host, since they must be monotonic.
    """
    array = record.as_array(x, bins.device if isinstance(bins, ndarray) else None)
    edges = record.as_array(bins, array.device)
    if array.dtype.kind == "c":
        raise TypeError("x may not be complex")
    check_vector(edges)
    if edges.dtype.kind == "c":
        raise TypeError(f"Cannot cast array data from {edges.dtype!r} to {FLOAT64!r} according to the rule 'safe'")
    direction = _direction(to_host(bins) if isinstance(bins, ndarray) else numpy.asarray(bins))
    if not direction:
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    ordered = edges.value()
    if direction > 0:
        return wrap(insertion_positions(ordered, array.value(), side))
    n = edges.size
    reversed_places = insertion_positions(graph.view(ordered, Layout((n,), (-1,), n - 1)), array.value(), side)
    return wrap(graph.map_node("subtract", (INT64,) * 3, (graph.scalar(n), reversed_places)))


def _direction(bins: Any) -> int:
    """Return 1 for increasing bins, -1 for decreasing bins, 0 for others.

    As in NumPy, the first two bins that differ decide which direction is checked, and NaN never breaks it.
    """
    bins = bins.astype(float)
    different = numpy.flatnonzero(bins[1:] != bins[:1]) + 1
    if not different.size:
        return 1
    if bins[0] < bins[different[0]]:
        return int(not (bins[:-1] > bins[1:]).any())
    return -int(not (bins[different[0] :][:-1] < bins[different[0] :][1:]).any())
