"""The distinct elements of an array: `unique` and its forms.

Equal elements of a sorted array are neighbours, and a kernel compares every element with the one before it: the first
ones of equal elements are a mask, and what it picks is the set. How many there are is all that is looked at.
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
from ..creation.arrays import constant, laid_out
from ..creation.ranges import apply_op
from ..indexing.elements import flattened
from ..indexing.masks import MaskSelection
from ..manipulation.shape import moveaxis
from ..sorting.row_keys import order_of_rows
from ..sorting.sort import argsort_rows, sort_rows

__all__ = ["unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


# --- order ----------------------------------------------------------------------------------------------------------


def in_order(x: Node) -> Node:
    """The elements of a one-dimensional value in order, computed."""
    return _row(sort_rows(_as_row(x)))


def order_of(x: Node) -> Node:
    """The positions that sort a one-dimensional value, those of equal elements in their order; computed."""
    return _row(argsort_rows(_as_row(x)))


# A view of what is in memory is no copy, so values are computed first.
def _as_row(x: Node) -> Node:
    return reshaped(compute(x), (1, *x.signature.shape))


def _row(x: Node) -> Node:
    return reshaped(compute(x), x.signature.shape[1:])


def picked_by(x: Node, order: Node) -> Node:
    return compute(graph.gather(x, (order,), ""))


def _without_first(x: Node) -> Node:
    return graph.view(x, Layout((x.signature.shape[0] - 1,), (1,), 1))


def _without_last(x: Node) -> Node:
    return graph.view(x, Layout((x.signature.shape[0] - 1,), (1,), 0))


def _all(x: Node) -> Node:
    """A mask of all elements."""
    queue = x.signature.queue
    assert queue is not None
    return constant(True, x.signature.shape, BOOL, queue)


def first_ones(x: Node, mask: Node | None = None, equal_nan: bool = True) -> Node:
    """The mask (or one of all), over sorted elements, without those that are equal to the one before them."""
    base = _all(x) if mask is None else mask
    if x.signature.shape[0] < 2:
        return base
    now, before = _without_first(x), _without_last(x)
    differs = apply_op("not_equal", now, before)
    if equal_nan and KIND[x.signature.dtype] in "efc":
        # NaN comes last and differs from all, itself too: what comes after one is no other value.
        differs = apply_op("logical_and", differs, apply_op("equal", before, before))
    if mask is not None:
        differs = apply_op("logical_and", differs, _without_first(mask))
    return _from_second(base, differs)


def _firsts_of_rows(rows: Node, order: Node) -> Node:
    """The mask, over sorted positions of rows, of those that differ from the one before; NaN is equal to none."""
    if order.signature.shape[0] < 2:
        return _all(order)
    now, before = (graph.gather(rows, (part(order),), "") for part in (_without_first, _without_last))
    differs = graph.reduce("logical_or", (BOOL, BOOL), (1,), (apply_op("not_equal", now, before),))
    return _from_second(_all(order), differs)


def _from_second(mask: Node, differs: Node) -> Node:
    return graph.update(mask, Layout(differs.signature.shape, (1,), 1), differs)


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
        self._firsts = MaskSelection(self._mask)
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
        last = apply_op("subtract", self._constant(size, self.count), starts)
        others = apply_op("subtract", _without_first(starts), _without_last(starts))
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
        order = order_of(flat) if return_index or return_inverse else None
        ordered = in_order(flat) if order is None else picked_by(flat, order)
        groups = _Groups(first_ones(ordered, None, equal_nan), order, return_counts)
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
