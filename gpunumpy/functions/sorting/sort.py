"""Sorting of values and of positions, by one key or several, and partitions.

Every sort is stable. A partition is NumPy's on the CPU device, and a full sort on a GPU, which is a valid partition for
any `kth`. The library calls "sort" and "argsort" take rows of real numbers; everything else is composed of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy

from ...core.dtypes import BOOL, COMPLEX128, INT64, KIND, ML_DTYPES
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.graph.primitives import Leaf
from ...core.recording.array import ndarray, one_step, to_host, wrap
from ...core.recording.calls import memoize_recording
from ...core.recording.record import as_array, leave_function_to_class, reshaped, transposed
from ...core.runtime.numpy_calls import calls_numpy
from ..creation.arrays import array_in_memory_order, axes_in_memory, constant
from ..indexing.elements import flattened

__all__ = ["argpartition", "argsort", "lexsort", "partition", "sort", "sort_complex"]

_FLOAT32 = numpy.dtype(numpy.float32)
_COMPLEX64 = numpy.dtype(numpy.complex64)


# --- rows -----------------------------------------------------------------------------------------------------------


def sort_rows(x: Node, descending: bool = False) -> Node:
    """Return every row, along the last axis, sorted with NaN last, also in `descending` order."""
    dtype = x.signature.dtype
    if not prod(x.signature.shape) or x.signature.shape[-1] == 1:
        return x
    if KIND[dtype] == "c":
        return elements_in_rows(x, argsort_rows(x, descending))
    if dtype in ML_DTYPES:
        return graph.cast(sort_rows(graph.cast(x, _FLOAT32), descending), dtype)
    return graph.library_call("sort", (descending,), (_contiguous(x),))


def argsort_rows(x: Node, descending: bool = False) -> Node:
    """Return the positions that sort every row, NaN last; equal elements keep their order."""
    dtype, shape, queue = x.signature.dtype, x.signature.shape, x.signature.queue
    assert queue is not None
    if not prod(shape) or shape[-1] == 1:
        return constant(0, shape, INT64, queue)
    if KIND[dtype] == "c":
        return lexsort_rows(_complex_keys(x, descending), descending)
    if dtype in ML_DTYPES:
        x = graph.cast(x, _FLOAT32)
    return graph.library_call("argsort", (descending,), (_contiguous(x),))


def lexsort_rows(keys: Sequence[Node], descending: bool = False) -> Node:
    """Return the positions that sort every row by several keys, the last of which is the primary key."""
    order = argsort_rows(keys[0], descending)
    for key in keys[1:]:
        order = elements_in_rows(order, argsort_rows(elements_in_rows(key, order), descending))
    return order


def _complex_keys(x: Node, descending: bool) -> tuple[Node, Node, Node]:
    """Return the keys by which complex numbers are sorted: imaginary part, real part, and whether either is NaN.

    As in NumPy, numbers with a NaN come last. A NaN part comes last by its own value; the third key moves numbers whose
    imaginary part alone is NaN behind all numbers without NaN, whatever their real part. In descending order it is
    whether neither part is NaN.
    """
    dtype = x.signature.dtype
    part_dtype = numpy.empty(0, dtype).real.dtype
    imag, real = (graph.map_node(name, (dtype, part_dtype), (x,)) for name in ("imag", "real"))
    is_nan = [graph.map_node("isnan", (part_dtype, BOOL), (part,)) for part in (imag, real)]
    last = graph.map_node("logical_or", (BOOL, BOOL, BOOL), is_nan)
    return imag, real, graph.map_node("logical_not", (BOOL, BOOL), (last,)) if descending else last


def elements_in_rows(x: Node, order: Node) -> Node:
    """Return the elements of every row at positions in that row."""
    queue, shape = x.signature.queue, x.signature.shape
    assert queue is not None
    matrix_shape = (prod(shape[:-1]), shape[-1])
    rows = graph.iota((matrix_shape[0], 1), 0, queue)
    return reshaped(graph.gather(reshaped(x, matrix_shape), (rows, reshaped(order, matrix_shape)), ""), shape)


def _contiguous(x: Node) -> Node:
    """Return the value as library calls take it, its elements contiguous in C order."""
    primitive = x.signature.primitive
    return (
        graph.as_new_node(x)
        if isinstance(primitive, Leaf) and not layout.is_c_contiguous(x.signature.shape, primitive.strides)
        else x
    )


class Rows:
    """An array as rows along one axis.

    Parameters
    ----------
    array
        The array, of at least one dimension.
    axis
        The axis of the rows, counted from the front.
    order
        The memory order of arrays made of the rows: "C", or "K" for that of `array`.

    Attributes
    ----------
    value
        The elements, with the rows along the last axis.
    """

    def __init__(self, array: ndarray, axis: int, order: str = "C") -> None:
        """Put the rows of an array along the last axis."""
        self._memory = axes_in_memory(order, array.shape, array.element_strides)
        self._order = (*(d for d in self._memory or range(array.ndim) if d != axis), axis)
        self.value = transposed(array.value(), self._order)

    def back(self, rows: Node) -> Node:
        """Return rows as a value of the array's shape."""
        return transposed(rows, [self._order.index(d) for d in range(len(self._order))])

    def array(self, rows: Node) -> ndarray:
        """Return rows as a new array."""
        return array_in_memory_order(self.back(rows), self._memory)


def _rows_of_values(a: Any, axis: Any) -> Rows:
    """Return the rows of an argument along its `axis`; for None, all elements in C order as one row."""
    array = as_array(a)
    if axis is None:
        array, axis = flattened(array), 0
    return Rows(array, layout.normalize_axis(axis, array.ndim), "K")


def _rows_for_positions(a: Any, axis: Any) -> Rows:
    """Return rows as `_rows_of_values` does, for results in C order; a 0-d argument is a row of one element."""
    array = as_array(a)
    if axis is None or not array.ndim:
        array, axis = flattened(array), axis or 0
    return Rows(array, layout.checked_axis(axis, array.ndim))


# --- sort -----------------------------------------------------------------------------------------------------------

# Scratch array: NumPy validates options by sorting it, or by searching in it.
SCRATCH_ARRAY = numpy.zeros(1)


def _check_options(kind: Any, order: Any, stable: Any, descending: Any) -> None:
    """Raise what NumPy raises for these options.

    `descending` excludes `kind` as `stable` does, and stands in for it: NumPy takes `descending` itself from 2.5 on.
    """
    if not (kind is order is stable is descending is None):
        SCRATCH_ARRAY.argsort(kind=kind, order=order, stable=stable if descending is None else bool(descending))


@memoize_recording
def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: bool | None = None
) -> ndarray:
    """Return a sorted copy; equal elements always keep their order. See `numpy.sort`.

    Parameters
    ----------
    descending : bool, optional
        True sorts the largest element first. NaN is last in either order.
    """
    _check_options(kind, order, stable, descending)
    rows = _rows_of_values(a, axis)
    return rows.array(sort_rows(rows.value, bool(descending)))


def sort_in_place(
    x: ndarray,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: bool | None = None,
) -> None:
    """Sort the array in place. See `numpy.ndarray.sort`."""
    _check_options(kind, order, stable, descending)
    axis = layout.normalize_axis(axis, x.ndim)
    if not x.writeable:
        raise ValueError("sort array is read-only")
    with one_step(x):
        rows = Rows(x, axis, "K")
        x.assign(rows.back(sort_rows(rows.value, bool(descending))))


@memoize_recording
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: bool | None = None
) -> ndarray:
    """Return the positions that would sort an array; equal elements always keep their order. See `numpy.argsort`.

    Parameters
    ----------
    descending : bool, optional
        True sorts the largest element first. NaN is last in either order.
    """
    _check_options(kind, order, stable, descending)
    rows = _rows_for_positions(a, axis)
    return rows.array(argsort_rows(rows.value, bool(descending)))


def sort_complex(a: Any) -> ndarray:
    """Return the elements as complex numbers, sorted by the real part first. See `numpy.sort_complex`."""
    rows = _rows_of_values(a, -1)
    dtype = rows.value.signature.dtype
    if KIND[dtype] != "c":
        dtype = _COMPLEX64 if KIND[dtype] in "iu" and dtype.itemsize <= 2 else COMPLEX128
    return rows.array(graph.cast(sort_rows(rows.value), dtype))


def lexsort(keys: Any, axis: Any = -1) -> ndarray:
    """Return the positions that sort by several keys, the last of which is the primary key. See `numpy.lexsort`."""
    leave_function_to_class(keys)
    is_sequence = hasattr(keys, "__getitem__") and not isinstance(keys, Mapping) and getattr(keys, "shape", True)
    parts = [keys[k] for k in range(len(keys))] if is_sequence else []
    if not parts:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    device = next((key.device for key in parts if isinstance(key, ndarray)), None)
    arrays = [as_array(key, device) for key in parts]
    shape = arrays[0].shape
    if any(key.shape != shape for key in arrays):
        raise ValueError("all keys need to be the same shape")
    axis = layout.normalize_axis(axis, len(shape) or 1)
    if not shape:
        return wrap(constant(0, (), INT64, arrays[0].queue))
    rows = [_rows_for_positions(key, axis) for key in arrays]
    return rows[0].array(lexsort_rows([r.value for r in rows]))


# --- partition ------------------------------------------------------------------------------------------------------


# Of more positions a sort does not take longer than a partition.
_MAX_PARTITION_POSITIONS = 8
# NumPy sorts shorter rows on vectors in less time than it partitions them.
_MIN_PARTITIONED_LENGTH = 8192


def _check_partition_options(kind: Any, order: Any) -> None:
    """Raise what NumPy raises for these options."""
    SCRATCH_ARRAY.partition(0, kind=kind, order=order)


def _checked_kth(kth: Any, rows: Rows) -> list[Node]:
    """Return the positions `kth` as scalars, or raise NumPy's errors for wrong ones."""
    positions = to_host(kth) if isinstance(kth, ndarray) else numpy.asarray(kth)
    if positions.dtype.kind == "b":
        raise ValueError("Booleans unacceptable as partition index")
    if positions.dtype.kind not in "iu":
        raise TypeError("Partition index must be integer")
    if positions.ndim > 1:
        raise ValueError("object too deep for desired array")
    row_length = rows.value.signature.shape[-1]
    for k in positions.flat if prod(rows.value.signature.shape) else ():
        if not -row_length <= k < row_length:
            raise ValueError(f"kth(={k + row_length if k < 0 else k}) out of bounds ({row_length})")
    return list(map(graph.scalar, positions.ravel().tolist()))


def _partitioned(name: str, x: Node, kth: Sequence[Node]) -> Node:
    """Return rows partitioned by NumPy's function of this name or, as any `kth` is satisfied by that, sorted."""
    sort_all = sort_rows if name == "partition" else argsort_rows
    queue, shape, dtype = x.signature.queue, x.signature.shape, x.signature.dtype
    assert queue is not None
    count = sum(prod(k.signature.shape) for k in kth)
    if not prod(shape) or not 0 < count <= _MAX_PARTITION_POSITIONS or dtype in ML_DTYPES:
        return sort_all(x)
    return graph.library_call(name, (), (x, *kth)) if calls_numpy(queue.device) else sort_all(x)


def partition_or_sort_rows(x: Node, positions: Sequence[Node]) -> Node:
    """Return rows that have at these positions, and perhaps at all, the elements that a sort puts there.

    The positions are scalars, or vectors of some.
    """
    return _partitioned("partition", x, positions) if are_long_rows(x) else sort_rows(x)


def are_long_rows(x: Node) -> bool:
    """Return whether NumPy partitions rows of this length in less time than it sorts them, and does either here."""
    queue = x.signature.queue
    assert queue is not None
    return x.signature.shape[-1] >= _MIN_PARTITIONED_LENGTH and calls_numpy(queue.device)


def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> ndarray:
    """Return a copy in which the elements at `kth` are where a sort puts them. See `numpy.partition`."""
    _check_partition_options(kind, order)
    rows = _rows_of_values(a, axis)
    return rows.array(_partitioned("partition", rows.value, _checked_kth(kth, rows)))


def partition_in_place(x: ndarray, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> None:
    """Partition the array in place. See `numpy.ndarray.partition`."""
    _check_partition_options(kind, order)
    axis = layout.normalize_axis(axis, x.ndim)
    if not x.writeable:
        raise ValueError("partition array is read-only")
    positions = _checked_kth(kth, Rows(x, axis))
    with one_step(x):
        rows = Rows(x, axis, "K")
        x.assign(rows.back(_partitioned("partition", rows.value, positions)))


def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> ndarray:
    """Return the positions that would partition an array. See `numpy.argpartition`."""
    _check_partition_options(kind, order)
    rows = _rows_for_positions(a, axis)
    return rows.array(_partitioned("argpartition", rows.value, _checked_kth(kth, rows)))
