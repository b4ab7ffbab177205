"""Sets: the distinct elements of an array, and which elements of one are in another.

All of it is sorting. Equal elements are neighbours then, and a kernel compares every element with the one before it:
the first ones of equal elements are a mask, and what it picks is the set. How many there are is all that is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy

from .core import layout
from .core import node as graph
from .core.array import ndarray, to_host, wrap
from .core.dtypes import BOOL, INT64, KIND
from .core.evaluate import compute
from .core.layout import Layout
from .core.node import DType, Node
from .core.record import as_array, reshaped
from .creation import constant, laid_out
from .indexing_elements import flattened
from .indexing_masks import Picked
from .joining import as_arrays, concatenate
from .kernels import table
from .ranges import applied, number
from .searching import places
from .shape import moveaxis
from .sorting import argsort_rows, sort_rows
from .sorting_keys import order_of_rows

__all__ = [
    "intersect1d",
    "isin",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


# --- order ----------------------------------------------------------------------------------------------------------


def _sorted(x: Node) -> Node:
    """The elements of a one-dimensional value in order, computed."""
    return _row(sort_rows(_as_row(x)))


def _order(x: Node) -> Node:
    """The positions that sort a one-dimensional value, those of equal elements in their order; computed."""
    return _row(argsort_rows(_as_row(x)))


# A view of what is in memory is no copy, so values are computed first.
def _as_row(x: Node) -> Node:
    return reshaped(compute(x), (1, *x.form.shape))


def _row(x: Node) -> Node:
    return reshaped(compute(x), x.form.shape[1:])


def _in_order(x: Node, order: Node) -> Node:
    return compute(graph.gather(x, (order,), ""))


def _without_first(x: Node) -> Node:
    return graph.view(x, Layout((x.form.shape[0] - 1,), (1,), 1))


def _without_last(x: Node) -> Node:
    return graph.view(x, Layout((x.form.shape[0] - 1,), (1,), 0))


def _all(x: Node) -> Node:
    """A mask of all elements."""
    queue = x.form.queue
    assert queue is not None
    return constant(True, x.form.shape, BOOL, queue)


def _firsts(x: Node, mask: Node | None = None, equal_nan: bool = True) -> Node:
    """The mask (or one of all), over sorted elements, without those that are equal to the one before them."""
    base = _all(x) if mask is None else mask
    if x.form.shape[0] < 2:
        return base
    now, before = _without_first(x), _without_last(x)
    differs = applied("not_equal", now, before)
    if equal_nan and KIND[x.form.dtype] in "efc":
        # NaN comes last and differs from all, itself too: what comes after one is no other value.
        differs = applied("logical_and", differs, applied("equal", before, before))
    if mask is not None:
        differs = applied("logical_and", differs, _without_first(mask))
    return _from_second(base, differs)


def _firsts_of_rows(rows: Node, order: Node) -> Node:
    """The mask, over sorted positions of rows, of those that differ from the one before; NaN is equal to none."""
    if order.form.shape[0] < 2:
        return _all(order)
    now, before = (graph.gather(rows, (part(order),), "") for part in (_without_first, _without_last))
    differs = graph.reduce("logical_or", (BOOL, BOOL), (1,), (applied("not_equal", now, before),))
    return _from_second(_all(order), differs)


def _from_second(mask: Node, differs: Node) -> Node:
    return graph.update(mask, Layout(differs.form.shape, (1,), 1), differs)


# --- unique ---------------------------------------------------------------------------------------------------------


class _Groups:
    """Equal elements next to each other, in the order of their values.

    Parameters
    ----------
    mask
        The first ones of the groups.
    order
        Where the elements are in the array, if that was worked out.
    counted
        Whether the groups are to be counted.

    Attributes
    ----------
    count
        How many groups there are.
    """

    def __init__(self, mask: Node, order: Node | None, counted: bool) -> None:
        self._mask = wrap(mask)
        self._order = order
        self._firsts = Picked(self._mask)
        self._starts = compute(self._firsts.positions()) if counted else None
        self.count = self._firsts.count

    def firsts(self, x: Node) -> Node:
        """The elements of a value where the groups begin."""
        return self._firsts.elements(x) if self._starts is None else graph.gather(x, (self._starts,), "")

    def indices(self) -> Node:
        """Where the first one of every group is in the array; the order keeps equal elements in theirs."""
        assert self._order is not None
        return self.firsts(self._order)

    def inverse(self) -> Node:
        """For every element of the array, the number of its group."""
        assert self._order is not None
        counted = graph.scan("add", (INT64, INT64), 0, graph.cast(self._mask.value(), INT64))
        # Every place is written once: sums, whose order then does not matter, are the quickest way to write.
        return graph.scatter(self._constant(-1, self._mask.size), counted, (self._order,), "add", "")

    def counts(self) -> Node:
        """How many elements every group has."""
        starts, size = self._starts, self._mask.size
        assert starts is not None
        if not self.count:
            return starts
        last = applied("subtract", self._constant(size, self.count), starts)
        others = applied("subtract", _without_first(starts), _without_last(starts))
        return graph.update(last, Layout((self.count - 1,), (1,), 0), others)

    def _constant(self, value: int, size: int) -> Node:
        return constant(value, (size,), INT64, self._mask.queue)


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """The distinct elements, or sub-arrays along an axis, in order. See `numpy.unique`.

    Parameters
    ----------
    sorted : bool, optional
        For NumPy's sake: they are sorted always.
    """
    x = as_array(ar)
    if axis is not None:
        axis = layout.normalize_axis(axis, x.ndim)
    if axis is None or x.ndim == 1:
        flat = flattened(x).value()
        order = _order(flat) if return_index or return_inverse else None
        ordered = _sorted(flat) if order is None else _in_order(flat, order)
        groups = _Groups(_firsts(ordered, None, equal_nan), order, return_counts)
        values = laid_out(groups.firsts(ordered), None)
    else:
        moved = moveaxis(x, axis, 0)
        n, rest = moved.shape[0], moved.shape[1:]
        rows = compute(reshaped(moved.value(), (n, prod(rest))))
        order = order_of_rows(rows)
        groups = _Groups(_firsts_of_rows(rows, order), order, return_counts)
        first = graph.gather(rows, (groups.indices(),), "")
        values = moveaxis(laid_out(reshaped(first, (groups.count, *rest)), None), 0, axis)
    results = [values]
    if return_index:
        results.append(laid_out(groups.indices(), None))
    if return_inverse:
        inverse = groups.inverse()
        results.append(laid_out(reshaped(inverse, x.shape) if axis is None else inverse, None))
    if return_counts:
        results.append(laid_out(groups.counts(), None))
    return tuple(results) if len(results) > 1 else values


class UniqueAllResult(NamedTuple):
    """What `unique_all` returns."""

    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` returns."""

    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` returns."""

    values: ndarray
    inverse_indices: ndarray


def unique_all(x: Any, /) -> UniqueAllResult:
    """The distinct elements, where each is first, which one each element is, and how many. See `numpy.unique_all`."""
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x: Any, /) -> UniqueCountsResult:
    """The distinct elements, and how many there are of each. See `numpy.unique_counts`."""
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: Any, /) -> UniqueInverseResult:
    """The distinct elements, and which of them each element is. See `numpy.unique_inverse`."""
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: Any, /) -> ndarray:
    """The distinct elements, which are in order here. See `numpy.unique_values`."""
    values: ndarray = unique(x, equal_nan=False)
    return values


# --- membership -----------------------------------------------------------------------------------------------------

# As many elements to look for are compared with one by one.
_FEW = 8
# The bytes of integers whose whole range is a small table.
_NARROW = 2


def _comparable(x: Node, tests: Node) -> tuple[Node, Node, bool]:
    """Both values in a dtype in which equality is NumPy's, and whether negative elements are equal to none there."""
    mine, theirs, _ = table.resolve("equal", (x.form.dtype, tests.form.dtype))
    if mine == theirs:
        return graph.cast(x, mine), graph.cast(tests, mine), False
    # An integer with a sign and one without: what both can be is not negative, and as int64 what only the unsigned one
    # can be is.
    return graph.cast(x, INT64), graph.cast(tests, INT64), True


def _among(x: Node, tests: Node) -> Node:
    """For every element, whether it is among the elements of a one-dimensional value."""
    (count,), queue = tests.form.shape, x.form.queue
    assert queue is not None
    if not count:
        return constant(False, x.form.shape, BOOL, queue)
    x, tests, mixed = _comparable(x, tests)
    if count <= _FEW:
        each = reshaped(tests, (count,) + (1,) * len(x.form.shape))
        found = graph.reduce("logical_or", (BOOL, BOOL), (0,), (applied("equal", each, x),))
    else:
        found = _among_sorted(x, _sorted(tests))
    return applied("logical_and", found, applied("greater_equal", x, number(0))) if mixed else found


def _among_sorted(x: Node, ordered: Node) -> Node:
    """For every element, whether it is among sorted ones."""
    queue = x.form.queue
    assert queue is not None
    if not ordered.form.shape[0]:
        return constant(False, x.form.shape, BOOL, queue)
    return _found(x, ordered, _near(x, ordered))


def _near(x: Node, ordered: Node) -> Node:
    """Where each element stands, or the next greater one, among sorted ones; a place of those at any rate."""
    return applied("minimum", places(ordered, x, "left"), number(ordered.form.shape[0] - 1))


def _found(x: Node, ordered: Node, near: Node) -> Node:
    return applied("equal", graph.gather(ordered, (near,), ""), x)


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
    x, tests = as_arrays((element, test_elements))
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
    return laid_out(applied("logical_not", mask) if invert else mask, None)


def _in_table(x: Node, tests: Node, wide: bool) -> Node:
    """As `_among`, for integers, by a table of all values of their dtype or, `wide`, between the extreme ones."""
    queue = x.form.queue
    assert queue is not None
    if wide:
        low, high = _extremes(tests)
        if high - low > numpy.iinfo(tests.form.dtype if tests.form.dtype != BOOL else numpy.uint8).max:
            raise RuntimeError(
                "You have specified kind='table', but the range of values in `ar2` or `ar1` exceed the maximum integer "
                "of the datatype. Please set `kind` to None or 'sort'."
            )
    else:
        low, high = _limits(tests.form.dtype)
    # A number less the lowest one is right as int64 wherever it is inside, uint64 too: both wrap round.
    inside = _within(x, low, high)
    start = number((low + 2**63) % 2**64 - 2**63)
    at, of = (applied("subtract", graph.cast(value, INT64), start) for value in (tests, x))
    false = constant(False, (high - low + 1,), BOOL, queue)
    held = graph.scatter(false, number(True, BOOL), (at,), "logical_or", "")
    place = graph.map_node("where", (BOOL, INT64, INT64, INT64), (inside, of, number(0)))
    return applied("logical_and", inside, graph.gather(held, (place,), ""))


def _extremes(x: Node) -> tuple[int, int]:
    """The least and the greatest of integers."""
    dtype = x.form.dtype
    least, most = (wrap(graph.reduce(row, (dtype, dtype), (0,), (x,))) for row in ("minimum", "maximum"))
    return int(to_host(least)), int(to_host(most))


def _limits(dtype: DType) -> tuple[int, int]:
    if dtype == BOOL:
        return 0, 1
    limits = numpy.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _within(x: Node, low: int, high: int) -> Node:
    """Whether integers are in a range, whose ends may be beyond what their dtype holds."""
    dtype = x.form.dtype
    least, most = _limits(dtype)
    if low > most or high < least:
        queue = x.form.queue
        assert queue is not None
        return constant(False, x.form.shape, BOOL, queue)
    ends = number(max(low, least), dtype), number(min(high, most), dtype)
    return applied("logical_and", applied("greater_equal", x, ends[0]), applied("less_equal", x, ends[1]))


# --- set operations -------------------------------------------------------------------------------------------------


def _flat(arrays: Sequence[Any]) -> tuple[Node, Node]:
    """The elements of two arrays, in their common dtype."""
    parts = as_arrays(arrays)
    dtype = numpy.result_type(*(x.dtype for x in parts))
    first, second = (graph.cast(flattened(x).value(), dtype) for x in parts)
    return first, second


def _distinct(mask: Node, values: Node, assume_unique: bool) -> Node:
    return mask if assume_unique else _firsts(values, mask)


def _picked(mask: Node, values: Node) -> ndarray:
    return laid_out(Picked(wrap(mask)).elements(values), None)


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
    if not second.form.shape[0]:
        first = second
    if not return_indices:
        values = _sorted(first)
        return _picked(_distinct(_among(values, second), values, assume_unique), values)
    orders = [_order(x) for x in (first, second)]
    values, others = (_in_order(x, order) for x, order in zip((first, second), orders, strict=True))
    near = compute(_near(values, others))
    picked = Picked(wrap(_distinct(_found(values, others, near), values, assume_unique)))
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
    values = x if assume_unique else _sorted(x)
    mask = applied("logical_not", _among(values, tests))
    return _picked(_distinct(mask, values, assume_unique), values)


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> ndarray:
    """The distinct elements that one array has and the other does not, in order. See `numpy.setxor1d`.

    Parameters
    ----------
    assume_unique : bool, optional
        For speed alone: the arrays are not searched for equal elements.
    """
    arrays = [_sorted(x) for x in _flat((ar1, ar2))]
    masks = []
    for x, others in (arrays, arrays[::-1]):
        masks.append(_distinct(applied("logical_not", _among_sorted(x, others)), x, assume_unique))
    mask, values = (concatenate([wrap(part) for part in parts]).value() for parts in (masks, arrays))
    return laid_out(_sorted(_picked(mask, values).value()), None)
