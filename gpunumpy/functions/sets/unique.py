"""Distinct elements of an array: `unique` and the functions of the Array API standard.

Equal elements of a sorted array are neighbours, and a kernel compares every element with the one before it: the mask
of elements that differ picks the distinct ones. The host reads only how many there are.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from ...core.dtypes import BOOL, INT64, KIND
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.node import Node
from ...core.recording.array import ndarray, wrap
from ...core.recording.record import as_array, reshaped
from ...core.runtime.evaluate import compute
from ..creation.arrays import array_in_memory_order, constant
from ..creation.ranges import apply_op
from ..indexing.elements import flattened
from ..indexing.masks import MaskSelection
from ..manipulation.shape import moveaxis
from ..sorting.row_keys import order_of_rows
from ..sorting.sort import argsort_rows, sort_rows

__all__ = ["unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


# --- order ----------------------------------------------------------------------------------------------------------


def sorted_elements(x: Node) -> Node:
    """Return the sorted elements of a one-dimensional value, computed."""
    return _as_vector(sort_rows(_as_row(x)))


def sorting_positions(x: Node) -> Node:
    """Return the positions that sort a one-dimensional value, computed; equal elements keep their order."""
    return _as_vector(argsort_rows(_as_row(x)))


# A reshaped view of a computed value costs no copy, so values are computed first.
def _as_row(x: Node) -> Node:
    """Return a one-dimensional value as one row, computed."""
    return reshaped(compute(x), (1, *x.signature.shape))


def _as_vector(x: Node) -> Node:
    """Return one row as a one-dimensional value, computed."""
    return reshaped(compute(x), x.signature.shape[1:])


def elements_at(x: Node, order: Node) -> Node:
    """Return the elements at positions, computed."""
    return compute(graph.gather(x, (order,), ""))


def _without_first(x: Node) -> Node:
    """Return all elements of a vector but the first."""
    return graph.view(x, Layout((x.signature.shape[0] - 1,), (1,), 1))


def _without_last(x: Node) -> Node:
    """Return all elements of a vector but the last."""
    return graph.view(x, Layout((x.signature.shape[0] - 1,), (1,), 0))


def _true_everywhere(x: Node) -> Node:
    """Return a mask of all elements."""
    queue = x.signature.queue
    assert queue is not None
    return constant(True, x.signature.shape, BOOL, queue)


def first_of_equals(x: Node, mask: Node | None = None, equal_nan: bool = True) -> Node:
    """Return a mask (default: of all) over sorted elements, without those that are equal to the element before them."""
    base = _true_everywhere(x) if mask is None else mask
    if x.signature.shape[0] < 2:
        return base
    later, earlier = _without_first(x), _without_last(x)
    differs = apply_op("not_equal", later, earlier)
    if equal_nan and KIND[x.signature.dtype] in "efc":
        # NaN comes last and differs even from itself: an element after a NaN is a NaN too, and no new value.
        differs = apply_op("logical_and", differs, apply_op("equal", earlier, earlier))
    if mask is not None:
        differs = apply_op("logical_and", differs, _without_first(mask))
    return _with_rest(base, differs)


def _first_of_equal_rows(rows: Node, order: Node) -> Node:
    """Return the mask, over sorted positions of rows, of rows that differ from the row before; NaN is equal to none."""
    if order.signature.shape[0] < 2:
        return _true_everywhere(order)
    later, earlier = (graph.gather(rows, (part(order),), "") for part in (_without_first, _without_last))
    differs = graph.reduce("logical_or", (BOOL, BOOL), (1,), (apply_op("not_equal", later, earlier),))
    return _with_rest(_true_everywhere(order), differs)


def _with_rest(mask: Node, differs: Node) -> Node:
    """Return the mask, with `differs` for all elements but the first."""
    return graph.update(mask, Layout(differs.signature.shape, (1,), 1), differs)


# --- unique ---------------------------------------------------------------------------------------------------------


class _Groups:
    """Groups of equal elements, which are neighbours in the order of their values.

    Parameters
    ----------
    mask
        The first elements of the groups.
    order
        The positions of the ordered elements in the array, if they are known.
    has_counts
        True if the groups are to be counted.

    Attributes
    ----------
    count
        The number of groups.
    """

    def __init__(self, mask: Node, order: Node | None, has_counts: bool) -> None:
        """Count the groups."""
        self._mask = wrap(mask)
        self._order = order
        self._first_selection = MaskSelection(self._mask)
        self._starts = compute(self._first_selection.positions()) if has_counts else None
        self.count = self._first_selection.count

    def first_elements(self, x: Node) -> Node:
        """Return the elements of a value where the groups begin."""
        return self._first_selection.elements(x) if self._starts is None else graph.gather(x, (self._starts,), "")

    def indices(self) -> Node:
        """Return the array's position of each group's first element, which comes first in the array too."""
        assert self._order is not None
        return self.first_elements(self._order)

    def inverse(self) -> Node:
        """Return for every element of the array the number of its group."""
        assert self._order is not None
        group_numbers = graph.scan("add", (INT64, INT64), 0, graph.cast(self._mask.value(), INT64))
        # Every position is written once, so the order of the sums does not matter, and sums are the fastest scatter.
        return graph.scatter(self._constant(-1, self._mask.size), group_numbers, (self._order,), "add", "")

    def counts(self) -> Node:
        """Return the number of elements in every group."""
        starts, size = self._starts, self._mask.size
        assert starts is not None
        if not self.count:
            return starts
        last = apply_op("subtract", self._constant(size, self.count), starts)
        others = apply_op("subtract", _without_first(starts), _without_last(starts))
        return graph.update(last, Layout((self.count - 1,), (1,), 0), others)

    def _constant(self, value: int, size: int) -> Node:
        """Return an int64 vector of one value."""
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
    """Return the distinct elements, or sub-arrays along an axis, in order. See `numpy.unique`.

    Parameters
    ----------
    sorted : bool, optional
        For compatibility with NumPy: the result is always sorted.
    """
    x = as_array(ar)
    if axis is not None:
        if isinstance(axis, tuple) and x.ndim > 1:
            raise ValueError("`axis` is one axis, not a tuple")
        axis = layout.normalize_axis(axis, x.ndim)
    if axis is None or x.ndim == 1:
        flat = flattened(x).value()
        order = sorting_positions(flat) if return_index or return_inverse else None
        ordered = sorted_elements(flat) if order is None else elements_at(flat, order)
        groups = _Groups(first_of_equals(ordered, None, equal_nan), order, return_counts)
        values = array_in_memory_order(groups.first_elements(ordered), None)
    else:
        axis_first = moveaxis(x, axis, 0)
        n, sub_array_shape = axis_first.shape[0], axis_first.shape[1:]
        rows = compute(reshaped(axis_first.value(), (n, prod(sub_array_shape))))
        order = order_of_rows(rows)
        groups = _Groups(_first_of_equal_rows(rows, order), order, return_counts)
        first_rows = graph.gather(rows, (groups.indices(),), "")
        values = moveaxis(array_in_memory_order(reshaped(first_rows, (groups.count, *sub_array_shape)), None), 0, axis)
    results = [values]
    if return_index:
        results.append(array_in_memory_order(groups.indices(), None))
    if return_inverse:
        inverse = groups.inverse()
        results.append(array_in_memory_order(reshaped(inverse, x.shape) if axis is None else inverse, None))
    if return_counts:
        results.append(array_in_memory_order(groups.counts(), None))
    return tuple(results) if len(results) > 1 else values


class UniqueAllResult(NamedTuple):
    """The result of `unique_all`."""

    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    """The result of `unique_counts`."""

    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    """The result of `unique_inverse`."""

    values: ndarray
    inverse_indices: ndarray


def unique_all(x: Any, /) -> UniqueAllResult:
    """Return the distinct elements, their first positions, the index of each element's value, and the counts.

    See `numpy.unique_all`.
    """
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x: Any, /) -> UniqueCountsResult:
    """Return the distinct elements, and how often each occurs. See `numpy.unique_counts`."""
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: Any, /) -> UniqueInverseResult:
    """Return the distinct elements, and for each element the index of its value. See `numpy.unique_inverse`."""
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: Any, /) -> ndarray:
    """Return the distinct elements, in order. See `numpy.unique_values`."""
    values: ndarray = unique(x, equal_nan=False)
    return values
