"""Sorting: of values, of positions, by several keys; partitions.

Every sort is stable and every partition is a full sort, which is a right partition for any `kth`. What the two
routines of a device know are rows of real numbers; everything else is composed of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from ...core.dtypes import BOOL, COMPLEX128, INT64, KIND, bfloat16
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.graph.primitives import Leaf
from ...core.recording.array import ndarray, to_host, wrap
from ...core.recording.memo import memoize_recording
from ...core.recording.record import as_array, reshaped, transposed
from ..creation.arrays import axes_in_memory, constant, laid_out
from ..indexing.elements import flattened

__all__ = ["argpartition", "argsort", "lexsort", "partition", "sort", "sort_complex"]

_FLOAT32 = numpy.dtype(numpy.float32)
_COMPLEX64 = numpy.dtype(numpy.complex64)


# --- rows -----------------------------------------------------------------------------------------------------------


def sort_rows(x: Node, descending: bool = False) -> Node:
    """The elements of every row, along the last axis, in order, NaN last; `descending` turns all of that round."""
    dtype = x.signature.dtype
    if not prod(x.signature.shape) or x.signature.shape[-1] == 1:
        return x
    if KIND[dtype] == "c":
        return picked_in_rows(x, argsort_rows(x, descending))
    if dtype == bfloat16:
        return graph.cast(sort_rows(graph.cast(x, _FLOAT32), descending), dtype)
    return graph.library_call("sort", (descending,), (_in_memory(x),))


def argsort_rows(x: Node, descending: bool = False) -> Node:
    """The positions that sort every row, those of equal elements in their order."""
    dtype, shape, queue = x.signature.dtype, x.signature.shape, x.signature.queue
    assert queue is not None
    if not prod(shape) or shape[-1] == 1:
        return constant(0, shape, INT64, queue)
    if KIND[dtype] == "c":
        return lexsort_rows(_complex_keys(x), descending)
    if dtype == bfloat16:
        x = graph.cast(x, _FLOAT32)
    return graph.library_call("argsort", (descending,), (_in_memory(x),))


def lexsort_rows(keys: Sequence[Node], descending: bool = False) -> Node:
    """The positions that sort every row by several keys, of which the last counts most."""
    order = argsort_rows(keys[0], descending)
    for key in keys[1:]:
        order = picked_in_rows(order, argsort_rows(picked_in_rows(key, order), descending))
    return order


def _complex_keys(x: Node) -> tuple[Node, Node, Node]:
    """What complex numbers are sorted by: imaginary part, real part, and where NaN is, as NumPy sorts them.

    Parts that are NaN come last by themselves, but for numbers whose imaginary part alone is NaN: those come after all
    numbers without one, whatever their real part.
    """
    dtype = x.signature.dtype
    part = numpy.empty(0, dtype).real.dtype
    imag, real = (graph.map_node(name, (dtype, part), (x,)) for name in ("imag", "real"))
    kept = [graph.map_node("isnan", (part, BOOL), (p,)) for p in (imag, real)]
    return imag, real, graph.map_node("logical_or", (BOOL, BOOL, BOOL), kept)


def picked_in_rows(x: Node, order: Node) -> Node:
    """The elements of every row at positions of that row."""
    queue, shape = x.signature.queue, x.signature.shape
    assert queue is not None
    flat = (prod(shape[:-1]), shape[-1])
    rows = graph.iota((flat[0], 1), 0, queue)
    return reshaped(graph.gather(reshaped(x, flat), (rows, reshaped(order, flat)), ""), shape)


def _in_memory(x: Node) -> Node:
    """The value as routines take it, its elements in C order one after the other."""
    primitive = x.signature.primitive
    return (
        graph.fresh(x) if isinstance(primitive, Leaf) and not layout.is_c(x.signature.shape, primitive.strides) else x
    )


class Rows:
    """An array as rows along one axis.

    Parameters
    ----------
    array
        It has at least one dimension.
    axis
        Which one, counted from the front.
    order
        The memory order of what is made of the rows: "C", or "K" for that of the array.

    Attributes
    ----------
    value
        The elements, the rows along the last axis.
    """

    def __init__(self, array: ndarray, axis: int, order: str = "C") -> None:
        self._memory = axes_in_memory(order, array.shape, array.layout.strides)
        self._order = (*(d for d in self._memory or range(array.ndim) if d != axis), axis)
        self.value = transposed(array.value(), self._order)

    def back(self, rows: Node) -> Node:
        """Rows as a value of the array's shape."""
        return transposed(rows, [self._order.index(d) for d in range(len(self._order))])

    def array(self, rows: Node) -> ndarray:
        """Rows as a new array."""
        return laid_out(self.back(rows), self._memory)


def _of_values(a: Any, axis: Any) -> Rows:
    """The rows of an argument along its `axis`, None for all elements in C order."""
    array = as_array(a)
    if axis is None:
        array, axis = flattened(array), 0
    return Rows(array, layout.normalize_axis(axis, array.ndim), "K")


def _of_positions(a: Any, axis: Any) -> Rows:
    """As `_of_values`, for results in C order; a number has one position, 0."""
    array = as_array(a)
    if axis is None or not array.ndim:
        array, axis = flattened(array), axis or 0
    return Rows(array, layout.normalize_axis(axis, array.ndim))


# --- sort -----------------------------------------------------------------------------------------------------------

# Scratch array: NumPy validates options by sorting it, or by searching in it.
SCRATCH_ARRAY = numpy.zeros(1)


def _check_options(kind: Any, order: Any, stable: Any) -> None:
    """Raise what NumPy raises for these options; none of them changes the result."""
    if not (kind is order is stable is None):
        SCRATCH_ARRAY.argsort(kind=kind, order=order, stable=stable)


@memoize_recording
def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: bool = False
) -> ndarray:
    """A sorted copy; equal elements always keep their order. See `numpy.sort`.

    Parameters
    ----------
    descending : bool, optional
        Whether the greatest element comes first, and NaN before it.
    """
    _check_options(kind, order, stable)
    rows = _of_values(a, axis)
    return rows.array(sort_rows(rows.value, bool(descending)))


def sort_in_place(
    x: ndarray, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: bool = False
) -> None:
    """Sort the array itself. See `numpy.ndarray.sort`."""
    _check_options(kind, order, stable)
    axis = layout.normalize_axis(axis, x.ndim)
    if not x.writeable:
        raise ValueError("sort array is read-only")
    rows = Rows(x, axis, "K")
    x.assign(rows.back(sort_rows(rows.value, bool(descending))))


@memoize_recording
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: bool = False
) -> ndarray:
    """The positions that would sort an array; those of equal elements always keep their order. See `numpy.argsort`.

    Parameters
    ----------
    descending : bool, optional
        Whether the greatest element comes first, and NaN before it.
    """
    _check_options(kind, order, stable)
    rows = _of_positions(a, axis)
    return rows.array(argsort_rows(rows.value, bool(descending)))


def sort_complex(a: Any) -> ndarray:
    """The elements as complex numbers, sorted by the real part first. See `numpy.sort_complex`."""
    rows = _of_values(a, -1)
    dtype = rows.value.signature.dtype
    if KIND[dtype] != "c":
        dtype = _COMPLEX64 if KIND[dtype] in "iu" and dtype.itemsize <= 2 else COMPLEX128
    return rows.array(graph.cast(sort_rows(rows.value), dtype))


def lexsort(keys: Any, axis: Any = -1) -> ndarray:
    """The positions that sort by several keys, of which the last counts most. See `numpy.lexsort`."""
    several = isinstance(keys, Sequence) or bool(getattr(keys, "shape", None))
    parts = list(keys) if several else []
    if not parts:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    device = next((key.device for key in parts if isinstance(key, ndarray)), None)
    arrays = [as_array(key, device) for key in parts]
    shape = arrays[0].shape
    if any(key.shape != shape for key in arrays):
        raise ValueError("all keys need to be the same shape")
    layout.normalize_axis(axis, len(shape) or 1)
    if not shape:
        return wrap(constant(0, (), INT64, arrays[0].queue))
    rows = [_of_positions(key, axis) for key in arrays]
    return rows[0].array(lexsort_rows([r.value for r in rows]))


# --- partition ------------------------------------------------------------------------------------------------------


def _check_partition_options(kind: Any, order: Any) -> None:
    """Raise what NumPy raises for these options."""
    SCRATCH_ARRAY.partition(0, kind=kind, order=order)


def _check_places(kth: Any, rows: Rows) -> None:
    """Refuse what NumPy refuses; what is left asks for nothing that sorted rows do not have."""
    places = to_host(kth) if isinstance(kth, ndarray) else numpy.asarray(kth)
    if places.dtype.kind == "b":
        raise ValueError("Booleans unacceptable as partition index")
    if places.dtype.kind not in "iu":
        raise TypeError("Partition index must be integer")
    if places.ndim > 1:
        raise ValueError("object too deep for desired array")
    n = rows.value.signature.shape[-1]
    for k in places.flat if prod(rows.value.signature.shape) else ():
        if not -n <= k < n:
            raise ValueError(f"kth(={k + n if k < 0 else k}) out of bounds ({n})")


def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> ndarray:
    """A copy with the element at `kth` where sorting would put it; here all of them are. See `numpy.partition`."""
    _check_partition_options(kind, order)
    rows = _of_values(a, axis)
    _check_places(kth, rows)
    return rows.array(sort_rows(rows.value))


def partition_in_place(x: ndarray, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> None:
    """Partition the array itself, by sorting it. See `numpy.ndarray.partition`."""
    _check_partition_options(kind, order)
    rows = Rows(x, layout.normalize_axis(axis, x.ndim), "K")
    if not x.writeable:
        raise ValueError("partition array is read-only")
    _check_places(kth, rows)
    x.assign(rows.back(sort_rows(rows.value)))


def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> ndarray:
    """The positions that would partition an array; here they sort it. See `numpy.argpartition`."""
    _check_partition_options(kind, order)
    rows = _of_positions(a, axis)
    _check_places(kth, rows)
    return rows.array(argsort_rows(rows.value))
