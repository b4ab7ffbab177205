"""Set operations: membership, union, intersection and differences, by sorting and by searching in sorted values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ...core.dtypes import BOOL, INT64, KIND, ML_DTYPES, DType
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.ops import table
from ...core.recording.array import ndarray, to_host, wrap
from ...core.recording.record import leave_function_to_class, reshaped
from ...core.recording.residence import resident
from ...core.runtime.evaluate import compute
from ...core.runtime.numpy_calls import calls_numpy
from ..creation.arrays import array_in_memory_order, constant
from ..creation.ranges import apply_op, scalar_node
from ..indexing.elements import flattened
from ..indexing.masks import MaskSelection
from ..manipulation.joining import as_arrays, concatenate
from ..sorting.searching import insertion_positions
from ..ufuncs.output import to_numpy_arguments
from .unique import elements_at, first_of_equals, sorted_elements, sorting_positions, unique

__all__ = ["intersect1d", "isin", "setdiff1d", "setxor1d", "union1d"]


# --- membership -----------------------------------------------------------------------------------------------------

# Up to this many test elements, every element is compared with each of them.
_MAX_COMPARED_TESTS = 8
# Test elements of up to this many bytes are looked up in a table of all values of their dtype.
_MAX_TABLE_ITEM_BYTES = 2


def _comparable(x: Node, tests: Node) -> tuple[Node, Node, bool]:
    """Return both values in a dtype in which equality is as in NumPy.

    The third result is True for signed with unsigned integers: an element that is negative as int64 then equals none.
    """
    x_dtype, tests_dtype, _ = table.resolve("equal", (x.signature.dtype, tests.signature.dtype))
    if x_dtype == tests_dtype:
        return graph.cast(x, x_dtype), graph.cast(tests, x_dtype), False
    # Signed and unsigned integers: a value that both dtypes have is not negative, and a value that only the unsigned
    # dtype has is negative when cast to int64.
    return graph.cast(x, INT64), graph.cast(tests, INT64), True


def _is_among(x: Node, tests: Node) -> Node:
    """Return for every element whether it is among the elements of a one-dimensional value."""
    (count,), queue = tests.signature.shape, x.signature.queue
    assert queue is not None
    if not count:
        return constant(False, x.signature.shape, BOOL, queue)
    x, tests, is_mixed = _comparable(x, tests)
    if calls_numpy(queue.device) and x.signature.dtype not in ML_DTYPES:
        is_found = graph.library_call("isin", (), (x, tests))
    elif count <= _MAX_COMPARED_TESTS:
        tests_first = reshaped(tests, (count,) + (1,) * len(x.signature.shape))
        is_found = graph.reduce("logical_or", (BOOL, BOOL), (0,), (apply_op("equal", tests_first, x),))
    else:
        is_found = _is_among_sorted(x, sorted_elements(tests))
    return apply_op("logical_and", is_found, apply_op("greater_equal", x, scalar_node(0))) if is_mixed else is_found


def _is_among_sorted(x: Node, ordered: Node) -> Node:
    """Return for every element whether it is among sorted elements."""
    queue = x.signature.queue
    assert queue is not None
    if not ordered.signature.shape[0]:
        return constant(False, x.signature.shape, BOOL, queue)
    return _is_equal_at(x, ordered, _nearest_position(x, ordered))


def _nearest_position(x: Node, ordered: Node) -> Node:
    """Return for every element the position of the first sorted element that is not smaller, or the last position."""
    return apply_op("minimum", insertion_positions(ordered, x, "left"), scalar_node(ordered.signature.shape[0] - 1))


def _is_equal_at(x: Node, ordered: Node, position: Node) -> Node:
    """Return for every element whether it is equal to the sorted element at its position."""
    return apply_op("equal", graph.gather(ordered, (position,), ""), x)


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    """Return for every element whether it is in the other array. See `numpy.isin`.

    Parameters
    ----------
    assume_unique : bool, optional
        For compatibility with NumPy; it changes nothing.
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    try:
        x, tests = as_arrays((element, test_elements))
    except TypeError:  # text or objects
        leave_function_to_class(element)
        leave_function_to_class(test_elements)
        found = numpy.isin(
            to_numpy_arguments(element), to_numpy_arguments(test_elements), assume_unique, invert, kind=kind
        )
        if isinstance(found, ndarray):  # of masked arrays
            return found
        return resident(found, next((a.device for a in (element, test_elements) if isinstance(a, ndarray)), None))
    tests = flattened(tests)
    integers = all(KIND[a.dtype] in "biu" for a in (x, tests))
    if kind == "table" and not integers:
        raise ValueError(
            "The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind."
        )
    has_small_table = integers and tests.dtype.itemsize <= _MAX_TABLE_ITEM_BYTES and tests.size > _MAX_COMPARED_TESTS
    if tests.size and (kind == "table" or (kind is None and has_small_table)):
        mask = _is_in_table(x.value(), tests.value(), kind == "table")
    else:
        mask = _is_among(x.value(), tests.value())
    return array_in_memory_order(apply_op("logical_not", mask) if invert else mask, None)


def _is_in_table(x: Node, tests: Node, by_extremes: bool) -> Node:
    """Return what `_is_among` does, for integers, from a table with an entry for every value in a range.

    The range is that of the dtype of `tests` or, with `by_extremes`, from the smallest test to the largest.
    """
    queue = x.signature.queue
    assert queue is not None
    if by_extremes:
        low, high = _extremes(tests)
        if high - low > numpy.iinfo(tests.signature.dtype if tests.signature.dtype != BOOL else numpy.uint8).max:
            raise RuntimeError(
                "You have specified kind='table', but the range of values in `ar2` or `ar1` exceed the maximum integer "
                "of the datatype. Please set `kind` to None or 'sort'."
            )
    else:
        low, high = _integer_limits(tests.signature.dtype)
    # Offsets in int64 arithmetic are right for every number inside the range, uint64 included, since both wrap around.
    is_inside = _is_within(x, low, high)
    start = scalar_node((low + 2**63) % 2**64 - 2**63)
    test_offsets, offsets = (apply_op("subtract", graph.cast(value, INT64), start) for value in (tests, x))
    false_table = constant(False, (high - low + 1,), BOOL, queue)
    is_test = graph.scatter(false_table, scalar_node(True, BOOL), (test_offsets,), "logical_or", "")
    table_index = graph.map_node("where", (BOOL, INT64, INT64, INT64), (is_inside, offsets, scalar_node(0)))
    return apply_op("logical_and", is_inside, graph.gather(is_test, (table_index,), ""))


def _extremes(x: Node) -> tuple[int, int]:
    """Return the smallest and the largest of integers."""
    dtype = x.signature.dtype
    lowest, highest = (wrap(graph.reduce(op, (dtype, dtype), (0,), (x,))) for op in ("minimum", "maximum"))
    return int(to_host(lowest)), int(to_host(highest))


def _integer_limits(dtype: DType) -> tuple[int, int]:
    """Return the smallest and the largest value of an integer dtype, or of bool."""
    if dtype == BOOL:
        return 0, 1
    limits = numpy.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _is_within(x: Node, low: int, high: int) -> Node:
    """Return for every integer whether it is in a range, which may be beyond the limits of its dtype."""
    dtype = x.signature.dtype
    dtype_min, dtype_max = _integer_limits(dtype)
    if low > dtype_max or high < dtype_min:
        queue = x.signature.queue
        assert queue is not None
        return constant(False, x.signature.shape, BOOL, queue)
    bounds = scalar_node(max(low, dtype_min), dtype), scalar_node(min(high, dtype_max), dtype)
    return apply_op("logical_and", apply_op("greater_equal", x, bounds[0]), apply_op("less_equal", x, bounds[1]))


# --- set operations -------------------------------------------------------------------------------------------------


def _flat_in_common_dtype(arrays: Sequence[Any]) -> tuple[Node, Node]:
    """Return the elements of two arrays, each in one dimension, in their common dtype."""
    parts = as_arrays(arrays)
    dtype = numpy.result_type(*(x.dtype for x in parts))
    first, second = (graph.cast(flattened(x).value(), dtype) for x in parts)
    return first, second


def _distinct_mask(mask: Node, values: Node, assume_unique: bool) -> Node:
    """Return the mask without elements that are equal to the one before, unless they are assumed to be unique."""
    return mask if assume_unique else first_of_equals(values, mask)


def _elements_where(mask: Node, values: Node) -> ndarray:
    """Return the elements that a mask picks, as a new array."""
    return array_in_memory_order(MaskSelection(wrap(mask)).elements(values), None)


def union1d(ar1: Any, ar2: Any) -> ndarray:
    """Return the sorted distinct elements of two arrays. See `numpy.union1d`."""
    values: ndarray = unique(concatenate((ar1, ar2), axis=None))
    return values


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Return the sorted distinct elements that both arrays have. See `numpy.intersect1d`.

    Parameters
    ----------
    assume_unique : bool, optional
        For speed alone: True leaves out the search for equal elements.
    """
    first, second = _flat_in_common_dtype((ar1, ar2))
    if not second.signature.shape[0]:
        first = second
    if not return_indices:
        values = sorted_elements(first)
        return _elements_where(_distinct_mask(_is_among(values, second), values, assume_unique), values)
    orders = [sorting_positions(x) for x in (first, second)]
    values, others = (elements_at(x, order) for x, order in zip((first, second), orders, strict=True))
    nearest = compute(_nearest_position(values, others))
    selection = MaskSelection(wrap(_distinct_mask(_is_equal_at(values, others, nearest), values, assume_unique)))
    second_indices = graph.gather(orders[1], (selection.elements(nearest),), "")
    return tuple(
        array_in_memory_order(x, None)
        for x in (selection.elements(values), selection.elements(orders[0]), second_indices)
    )


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> ndarray:
    """Return the distinct elements of the first array that the second array does not have. See `numpy.setdiff1d`.

    Parameters
    ----------
    assume_unique : bool, optional
        True keeps the elements in their order, and equal ones too; False sorts them.
    """
    x, tests = (flattened(a).value() for a in as_arrays((ar1, ar2)))
    values = x if assume_unique else sorted_elements(x)
    mask = apply_op("logical_not", _is_among(values, tests))
    return _elements_where(_distinct_mask(mask, values, assume_unique), values)


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> ndarray:
    """Return the sorted distinct elements that exactly one of the arrays has. See `numpy.setxor1d`.

    Parameters
    ----------
    assume_unique : bool, optional
        For speed alone: True leaves out the search for equal elements.
    """
    arrays = [sorted_elements(x) for x in _flat_in_common_dtype((ar1, ar2))]
    masks = []
    for x, others in (arrays, arrays[::-1]):
        masks.append(_distinct_mask(apply_op("logical_not", _is_among_sorted(x, others)), x, assume_unique))
    mask, values = (concatenate([wrap(part) for part in parts]).value() for parts in (masks, arrays))
    return array_in_memory_order(sorted_elements(_elements_where(mask, values).value()), None)
