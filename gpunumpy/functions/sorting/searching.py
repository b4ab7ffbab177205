"""Where values belong in what is sorted: `searchsorted`, and the bins of `digitize`."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ...core import dtypes
from ...core.dtypes import BOOL, FLOAT64, INT64, DType, bfloat16
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.node import Node
from ...core.recording import record
from ...core.recording.array import ndarray, to_host, wrap
from ...core.recording.memo import memoize_recording
from ..indexing.masks import flat
from .sort import SCRATCH_ARRAY

__all__ = ["digitize", "searchsorted"]

_LEAST, _GREATEST = int(numpy.iinfo(numpy.int64).min), int(numpy.iinfo(numpy.uint64).max)
_FLOAT32 = numpy.dtype(numpy.float32)


@memoize_recording
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> ndarray:
    """Where values belong in a sorted array, as int64. See `numpy.searchsorted`.

    An element of `sorter` that is out of bounds raises ValueError if `sorter` is on the host, and else IndexError where
    the host next looks.
    """
    array, values = _pair(a, _within(v, a))
    check_vector(array)
    place = ("left", "right")[int(numpy.searchsorted(SCRATCH_ARRAY, 0, side=side))]  # NumPy raises for any other side
    ordered = array.value()
    if sorter is not None:
        ordered = graph.gather(ordered, (_positions(sorter, array),), record.source_location())
    return wrap(places(ordered, values.value(), place))


def _within(v: Any, a: Any) -> Any:
    """A Python integer that no dtype holds as the infinity that has its place among the integers of an array."""
    if type(v) is int and not _LEAST <= v <= _GREATEST and isinstance(a, ndarray) and dtypes.KIND[a.dtype] in "biu":
        return math.inf if v > 0 else -math.inf
    return v


def _pair(a: Any, v: Any) -> tuple[ndarray, ndarray]:
    """Both arguments as arrays, data of the host where the other one is."""
    array = record.as_array(a, v.device if isinstance(v, ndarray) else None)
    return array, record.as_array(v, array.device)


def check_vector(array: Any) -> None:
    """Refuse what has not exactly one dimension."""
    if array.ndim != 1:
        raise ValueError(f"object {'too deep' if array.ndim else 'of too small depth'} for desired array")


def common_dtype(one: DType, two: DType) -> DType:
    """In which dtype numbers are compared; bfloat16, which NumPy cannot sort, as float32."""
    return dtypes.check(numpy.result_type(*(_FLOAT32 if dtype == bfloat16 else dtype for dtype in (one, two))))


def places(ordered: Node, values: Node, side: str) -> Node:
    """Where values belong in sorted ones, which have NaN at the end."""
    dtype = common_dtype(ordered.signature.dtype, values.signature.dtype)
    args = [flat(graph.cast(node, dtype)) for node in (ordered, values)]
    return record.reshaped(graph.library_call("searchsorted", (side,), args), values.signature.shape)


def _positions(sorter: Any, array: ndarray) -> Node:
    """The positions that sort an array, checked; those that NumPy would find out of bounds are so here."""
    given = sorter if isinstance(sorter, ndarray) else numpy.asarray(sorter)
    if given.dtype.kind not in "iu":
        raise TypeError("sorter must only contain integers")
    if given.ndim != 1:
        raise TypeError("could not parse sorter argument")
    if not numpy.can_cast(given.dtype, INT64, "safe"):
        raise ValueError("could not parse sorter argument")
    if given.size != array.size:
        raise ValueError("sorter.size must equal a.size")
    if not isinstance(given, ndarray):
        if given.size and not 0 <= given.min() <= given.max() < array.size:
            raise ValueError("Sorter index out of range.")
        given = record.as_array(given, array.device)
    index = graph.cast(given.value(), INT64)
    # A negative one would count from the end: it is moved out of bounds.
    negative = graph.map_node("less", (INT64, INT64, BOOL), (index, graph.scalar(0)))
    return graph.map_node("where", (BOOL, INT64, INT64, INT64), (negative, graph.scalar(array.size), index))


def digitize(x: Any, bins: Any, right: bool = False) -> ndarray:
    """The number of the bin that each value is in. See `numpy.digitize`.

    Bins on a device are looked at, since they must be monotonic.
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
        return wrap(places(ordered, array.value(), side))
    n = edges.size
    found = places(graph.view(ordered, Layout((n,), (-1,), n - 1)), array.value(), side)
    return wrap(graph.map_node("subtract", (INT64,) * 3, (graph.scalar(n), found)))


def _direction(bins: Any) -> int:
    """1 for bins that increase, -1 for those that decrease, 0 for others.

    The first two that differ decide which of the two is asked of the others, as in NumPy; NaN there is no increase.
    """
    bins = bins.astype(float)
    different = numpy.flatnonzero(bins[1:] != bins[:1]) + 1
    if not different.size:
        return 1
    if bins[0] < bins[different[0]]:
        return int(not (bins[:-1] > bins[1:]).any())
    return -int(not (bins[different[0] :][:-1] < bins[different[0] :][1:]).any())
