"""Sets: which elements of an array are in another, and the set operations. They sort, and search what is sorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ...core.dtypes import BOOL, INT64, KIND, DType
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.ops import table
from ...core.recording.array import from_host, ndarray, to_host, wrap
from ...core.recording.record import reshaped
from ...core.runtime.evaluate import compute
from ..creation.arrays import constant, laid_out
from ..creation.ranges import apply_op, scalar_node
from ..indexing.elements import flattened
from ..indexing.masks import MaskSelection
from ..manipulation.joining import as_arrays, concatenate
from ..sorting.searching import places
from ..ufuncs.output import hosted
from .unique import first_ones, in_order, order_of, picked_by, unique

__all__ = ["intersect1d", "isin", "setdiff1d", "setxor1d", "union1d"]


# --- membership -----------------------------------------------------------------------------------------------------

# As many elements to look for are compared with one by one.
_FEW = 8
# The bytes of integers whose whole range is a small table.
_NARROW = 2


def _comparable(x: Node, tests: Node) -> tuple[Node, Node, bool]:
    """Both values in a dtype in which equality is NumPy's, and whether negative elements are equal to none there."""
    mine, theirs, _ = table.resolve("equal", (x.signature.dtype, tests.signature.dtype))
    if mine == theirs:
        return graph.cast(x, mine), graph.cast(tests, mine), False
    # An integer with a sign and one without: what both can be is not negative, and as int64 what only the unsigned one
    # can be is.
    return graph.cast(x, INT64), graph.cast(tests, INT64), True


def _among(x: Node, tests: Node) -> Node:
    """For every element, whether it is among the elements of a one-dimensional value."""
    (count,), queue = tests.signature.shape, x.signature.queue
    assert queue is not None
    if not count:
        return constant(False, x.signature.shape, BOOL, queue)
    x, tests, mixed = _comparable(x, tests)
    if count <= _FEW:
        each = reshaped(tests, (count,) + (1,) * len(x.signature.shape))
        found = graph.reduce("logical_or", (BOOL, BOOL), (0,), (apply_op("equal", each, x),))
    else:
        found = _among_sorted(x, in_order(tests))
    return apply_op("logical_and", found, apply_op("greater_equal", x, scalar_node(0))) if mixed else found


def _among_sorted(x: Node, ordered: Node) -> Node:
    """For every element, whether it is among sorted ones."""
    queue = x.signature.queue
    assert queue is not None
    if not ordered.signature.shape[0]:
        return constant(False, x.signature.shape, BOOL, queue)
    return _found(x, ordered, _near(x, ordered))


def _near(x: Node, ordered: Node) -> Node:
    """Where each element stands, or the next greater one, among sorted ones; a place of those at any rate."""
    return apply_op("minimum", places(ordered, x, "left"), scalar_node(ordered.signature.shape[0] - 1))


def _found(x: Node, ordered: Node, near: Node) -> Node:
    return apply_op("equal", graph.gather(ordered, (near,), ""), x)


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    """For every element, whether it is in the other array. See `numpy.isin`.

    Parameters
    ----------
    assume_unique : bool, optional
        For NumPy's sake: it changes nothing.
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    try:
        x, tests = as_arrays((element, test_elements))
    except TypeError:  # text or objects
        found = numpy.isin(hosted(element), hosted(test_elements), assume_unique, invert, kind=kind)
        return from_host(found, next((a.device for a in (element, test_elements) if isinstance(a, ndarray)), None))
    tests = flattened(tests)
    integers = all(KIND[a.dtype] in "biu" for a in (x, tests))
    if kind == "table" and not integers:
        raise ValueError(
            "The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind."
        )
    narrow = integers and tests.dtype.itemsize <= _NARROW and tests.size > _FEW
    if tests.size and (kind == "table" or (kind is None and narrow)):
        mask = _in_table(x.value(), tests.value(), kind == "table")
    else:
        mask = _among(x.value(), tests.value())
    return laid_out(apply_op("logical_not", mask) if invert else mask, None)


def _in_table(x: Node, tests: Node, wide: bool) -> Node:
    """As `_among`, for integers, by a table of all values of their dtype or, `wide`, between the extreme ones."""
    queue = x.signature.queue
    assert queue is not None
    if wide:
        low, high = _extremes(tests)
        if high - low > numpy.iinfo(tests.signature.dtype if tests.signature.dtype != BOOL else numpy.uint8).max:
            raise RuntimeError(
                "You have specified kind='table', but the range of values in `ar2` or `ar1` exceed the maximum integer "
                "of the datatype. Please set `kind` to None or 'sort'."
            )
    else:
        low, high = _limits(tests.signature.dtype)
    # A number less the lowest one is right as int64 wherever it is inside, uint64 too: both wrap round.
    inside = _within(x, low, high)
    start = scalar_node((low + 2**63) % 2**64 - 2**63)
    at, of = (apply_op("subtract", graph.cast(value, INT64), start) for value in (tests, x))
    false = constant(False, (high - low + 1,), BOOL, queue)
    held = graph.scatter(false, scalar_node(True, BOOL), (at,), "logical_or", "")
    place = graph.map_node("where", (BOOL, INT64, INT64, INT64), (inside, of, scalar_node(0)))
    return apply_op("logical_and", inside, graph.gather(held, (place,), ""))


def _extremes(x: Node) -> tuple[int, int]:
    """The least and the greatest of integers."""
    dtype = x.signature.dtype
    least, most = (wrap(graph.reduce(op, (dtype, dtype), (0,), (x,))) for op in ("minimum", "maximum"))
    return int(to_host(least)), int(to_host(most))


def _limits(dtype: DType) -> tuple[int, int]:
    if dtype == BOOL:
        return 0, 1
    limits = numpy.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _within(x: Node, low: int, high: int) -> Node:
    """Whether integers are in a range, whose ends may be beyond what their dtype holds."""
    dtype = x.signature.dtype
    least, most = _limits(dtype)
    if low > most or high < least:
        queue = x.signature.queue
        assert queue is not None
        return constant(False, x.signature.shape, BOOL, queue)
    ends = scalar_node(max(low, least), dtype), scalar_node(min(high, most), dtype)
    return apply_op("logical_and", apply_op("greater_equal", x, ends[0]), apply_op("less_equal", x, ends[1]))


# --- set operations -------------------------------------------------------------------------------------------------


def _flat(arrays: Sequence[Any]) -> tuple[Node, Node]:
    """The elements of two arrays, in their common dtype."""
    parts = as_arrays(arrays)
    dtype = numpy.result_type(*(x.dtype for x in parts))
    first, second = (graph.cast(flattened(x).value(), dtype) for x in parts)
    return first, second


def _distinct(mask: Node, values: Node, assume_unique: bool) -> Node:
    return mask if assume_unique else first_ones(values, mask)


def _picked(mask: Node, values: Node) -> ndarray:
    return laid_out(MaskSelection(wrap(mask)).elements(values), None)


def union1d(ar1: Any, ar2: Any) -> ndarray:
    """The distinct elements of two arrays together, in order. See `numpy.union1d`."""
    values: ndarray = unique(concatenate((ar1, ar2), axis=None))
    return values


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The distinct elements that both arrays have, in order. See `numpy.intersect1d`.

    Parameters
    ----------
    assume_unique : bool, optional
        For speed alone: the arrays are not searched for equal elements.
    """
    first, second = _flat((ar1, ar2))
    if not second.signature.shape[0]:
        first = second
    if not return_indices:
        values = in_order(first)
        return _picked(_distinct(_among(values, second), values, assume_unique), values)
    orders = [order_of(x) for x in (first, second)]
    values, others = (picked_by(x, order) for x, order in zip((first, second), orders, strict=True))
    near = compute(_near(values, others))
    picked = MaskSelection(wrap(_distinct(_found(values, others, near), values, assume_unique)))
    there = graph.gather(orders[1], (picked.elements(near),), "")
    return tuple(laid_out(x, None) for x in (picked.elements(values), picked.elements(orders[0]), there))


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> ndarray:
    """The distinct elements of the first array that the second one does not have. See `numpy.setdiff1d`.

    Parameters
    ----------
    assume_unique : bool, optional
        Whether to leave the elements as they are, in their order.
    """
    x, tests = (flattened(a).value() for a in as_arrays((ar1, ar2)))
    values = x if assume_unique else in_order(x)
    mask = apply_op("logical_not", _among(values, tests))
    return _picked(_distinct(mask, values, assume_unique), values)


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> ndarray:
    """The distinct elements that one array has and the other does not, in order. See `numpy.setxor1d`.

    Parameters
    ----------
    assume_unique : bool, optional
        For speed alone: the arrays are not searched for equal elements.
    """
    arrays = [in_order(x) for x in _flat((ar1, ar2))]
    masks = []
    for x, others in (arrays, arrays[::-1]):
        masks.append(_distinct(apply_op("logical_not", _among_sorted(x, others)), x, assume_unique))
    mask, values = (concatenate([wrap(part) for part in parts]).value() for parts in (masks, arrays))
    return laid_out(in_order(_picked(mask, values).value()), None)
