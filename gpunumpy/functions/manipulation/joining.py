"""Arrays joined and split. Joined arrays are one buffer, each part of which is written once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy

from ...core import dtypes
from ...core.dtypes import DType
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, checked_axis, normalize_axis
from ...core.graph.node import Node
from ...core.graph.primitives import LibraryCall, Update
from ...core.recording.array import ndarray, wrap, wrap_ordered
from ...core.recording.calls import memoize_inside
from ...core.recording.memo import undisturbed
from ...core.recording.record import as_array, as_dtype, cast_with_warning, leave_function_to_class, transposed
from ..creation.arrays import array, mark_owner_as_array
from ..indexing.getitem import getitem
from ..indexing.keys import check_result_dimensions
from ..ufuncs.output import checked_output, write_to_output
from .shape import atleast_1d, atleast_2d, atleast_3d, expand_dims, moveaxis, ravel, sliced_view

__all__ = [
    "append",
    "array_split",
    "block",
    "column_stack",
    "concat",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "split",
    "stack",
    "unstack",
    "vsplit",
    "vstack",
]

_MOST_PARTS = 16  # of an array that is joined to others part by part


def as_arrays(items: Any) -> list[ndarray]:
    """Return the arrays of a sequence, on one device: host data goes to the device of the first `ndarray`."""
    if not hasattr(items, "__getitem__") or isinstance(items, str):
        raise TypeError(f"the arrays must be in a sequence such as a list or a tuple, not in a {type(items).__name__}")
    parts: list[Any] = [*items]
    device = next((x.device for x in parts if isinstance(x, ndarray)), None)
    return [as_array(x, device) for x in parts]


def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> ndarray:
    """Join arrays along an existing axis. See `numpy.concatenate`."""
    # A dtype may take a warning of lost parts, which is given at each call.
    if out is None and dtype is None and type(arrays) in (list, tuple) and all(type(x) is ndarray for x in arrays):
        return _concatenated(axis, casting, *arrays)
    return _concatenate(arrays, axis, out, dtype, casting)


@memoize_inside
def _concatenated(axis: Any, casting: Any, *arrays: ndarray) -> ndarray:
    """Return the arrays joined along an axis."""
    return _concatenate(arrays, axis, None, None, casting)


def _concatenate(arrays: Any, axis: Any, out: Any, dtype: Any, casting: Any) -> ndarray:
    """Return the arrays joined along an axis, written to an output if there is one."""
    parts = as_arrays(arrays)
    if not parts:
        raise ValueError("need at least one array to concatenate")
    target = checked_output(out)
    if target is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    if axis is None:
        parts, axis = [ravel(x) for x in _with_numbers_cast(arrays, parts)], 0
    _check_parts(parts, axis)
    axis = checked_axis(axis, parts[0].ndim)
    shape = _joined_shape(parts, axis)
    if target is not None and target.shape != shape:
        raise ValueError("Output array is the wrong shape")
    common_dtype = numpy.result_type(*(x.dtype for x in parts))
    target_dtype = target.dtype if target is not None else common_dtype if dtype is None else dtypes.check(dtype)
    for x in parts:
        if not numpy.can_cast(x.dtype, target_dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {x.dtype!r} to {target_dtype!r} according to the rule '{casting}'"
            )
    joined = _joined(parts, axis, target_dtype)
    if target is None:
        return joined
    return write_to_output(target, joined.value())


concat = concatenate


def _with_numbers_cast(items: Any, parts: Sequence[ndarray]) -> Sequence[ndarray]:
    """Return the arrays, those made of Python numbers cast to the dtype that the others decide.

    As in NumPy, the cast is made even if the dtype cannot hold the number.
    """
    is_number = [type(x) in (int, float, complex) for x in items]
    if not any(is_number):
        return parts
    types = [x if number else part.dtype for x, part, number in zip(items, parts, is_number, strict=True)]
    dtype = dtypes.check(numpy.result_type(*types))
    return [
        wrap(as_dtype(part.value(), dtype)) if number else part for part, number in zip(parts, is_number, strict=True)
    ]


def _check_parts(parts: Sequence[ndarray], axis: Any) -> None:
    """Raise NumPy's `ValueError` unless the arrays can be joined along the axis."""
    first = parts[0]
    if not first.ndim:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = checked_axis(axis, first.ndim)
    for k, x in enumerate(parts[1:], 1):
        if x.ndim != first.ndim:
            if not x.ndim:
                raise ValueError("zero-dimensional arrays cannot be concatenated")
            raise ValueError(
                "all the input arrays must have same number of dimensions, but the array at index 0 has "
                f"{first.ndim} dimension(s) and the array at index {k} has {x.ndim} dimension(s)"
            )
        for d, (n, m) in enumerate(zip(first.shape, x.shape, strict=True)):
            if n != m and d != axis:
                raise ValueError(
                    "all the input array dimensions except for the concatenation axis must match exactly, but along "
                    f"dimension {d}, the array at index 0 has size {n} and the array at index {k} has size {m}"
                )


def _joined_shape(parts: Sequence[ndarray], axis: int) -> tuple[int, ...]:
    """Return the shape of arrays joined along an axis."""
    shape = parts[0].shape
    return (*shape[:axis], sum(x.shape[axis] for x in parts), *shape[axis + 1 :])


def _joined(parts: Sequence[ndarray], axis: int, dtype: DType) -> ndarray:
    """Return the arrays joined along an axis, with the axes in memory in the order that the arrays have."""

    def written(values: tuple[Node, ...]) -> ndarray:
        return _written(parts, values, axis, dtype, _parts_of)

    joined = undisturbed(written, _values(parts))
    return _written(parts, _values(parts), axis, dtype, lambda value: [(0, value)]) if joined is None else joined


def _values(arrays: Sequence[ndarray]) -> tuple[Node, ...]:
    return tuple([x.value() for x in arrays])


def _written(
    parts: Sequence[ndarray],
    values: Sequence[Node],
    axis: int,
    dtype: DType,
    parts_of: Callable[[Node], list[tuple[int, Node]]],
) -> ndarray:
    """Return a new array to which arrays are written side by side, each by its parts as `_parts_of` gives them."""
    ndim = parts[0].ndim
    order = layout.memory_order([(x.shape, x.layout.strides) for x in parts], ndim)
    axes = tuple(range(ndim)) if order is None else order
    dimension = axes.index(axis)
    shape = [parts[0].shape[k] for k in axes]
    shape[dimension] = sum(x.shape[axis] for x in parts)
    strides = layout.c_strides(tuple(shape))
    node = graph.uninitialized(tuple(shape), dtype, parts[0].queue)
    start = 0
    for x, given in zip(parts, values, strict=True):
        if x.size:
            value = cast_with_warning(given if order is None else transposed(given, order), dtype)
            for first, part in parts_of(value):
                offset = start * strides[dimension] + layout.place_in_memory(first, value.signature.shape, strides)
                node = graph.update(node, Layout(part.signature.shape, strides, offset), part)
        start += x.shape[axis]
    return mark_owner_as_array(wrap_ordered(node, order))


def _parts_of(value: Node) -> list[tuple[int, Node]]:
    """Return what a pending array is joined of, with the place of each in its C order; else the array itself.

    So what is joined along several axes is written once. An array that grows in a loop is not taken apart for ever.
    """
    shape = value.signature.shape
    strides = layout.c_strides(shape)
    parts: list[tuple[int, Node]] = []
    node = value
    while isinstance(primitive := node.signature.primitive, Update) and len(parts) < _MOST_PARTS:
        region, args = primitive.region, node.args
        if len(args) != 2:  # another thread may compute it at this moment
            break
        if region.strides != strides or not layout.is_window(region, shape):
            break
        parts.append((region.offset, args[1]))
        node = args[0]
    is_joined = isinstance(primitive, LibraryCall) and primitive.name == "empty"
    return parts[::-1] if parts and is_joined else [(0, value)]


def stack(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind") -> ndarray:
    """Join arrays of one shape along a new axis. See `numpy.stack`."""
    parts = as_arrays(arrays)
    if not parts:
        raise ValueError("need at least one array to stack")
    if len({x.shape for x in parts}) != 1:
        raise ValueError("all input arrays must have the same shape")
    axis = normalize_axis(axis, parts[0].ndim + 1)
    check_result_dimensions(parts[0].ndim + 1)
    return concatenate([expand_dims(x, axis) for x in parts], axis, out, dtype=dtype, casting=casting)


def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> ndarray:
    """Stack arrays along the first axis, vectors as rows. See `numpy.vstack`."""
    return concatenate([atleast_2d(x) for x in as_arrays(tup)], 0, dtype=dtype, casting=casting)


def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> ndarray:
    """Stack arrays along the second axis, vectors along their only one. See `numpy.hstack`."""
    parts = [atleast_1d(x) for x in as_arrays(tup)]
    return concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup: Any) -> ndarray:
    """Stack arrays along the third axis. See `numpy.dstack`."""
    return concatenate([atleast_3d(x) for x in as_arrays(tup)], 2)


def column_stack(tup: Any) -> ndarray:
    """Join vectors, as columns, and matrices along the second axis. See `numpy.column_stack`."""
    return concatenate([atleast_2d(x).T if x.ndim < 2 else x for x in as_arrays(tup)], 1)


def append(arr: Any, values: Any, axis: Any = None) -> ndarray:
    """Append values to the end of an array. See `numpy.append`."""
    x, y = as_arrays((arr, values))
    return concatenate((ravel(x), ravel(y)), 0) if axis is None else concatenate((x, y), axis)


def block(arrays: Any) -> ndarray:
    """Assemble an array from nested lists of blocks. See `numpy.block`."""
    depth = _nesting_depth(arrays, "arrays")
    for leaf in _leaves(arrays) if depth else (arrays,):
        leave_function_to_class(leaf)
    if not depth:
        return array(arrays, order="C", subok=True)
    ndim = max(depth, *(x.ndim for x in map(as_array, _leaves(arrays))))
    return _concatenated_blocks(arrays, depth, ndim, ndim - depth)


def _nesting_depth(arrays: Any, name: str) -> int:
    """Return how deep the lists are nested; raise `ValueError` unless it is the same everywhere."""
    if isinstance(arrays, tuple):
        raise TypeError(
            f"{name} is a tuple. Only lists can be used to arrange blocks, and np.block does not allow "
            "implicit conversion from tuple to ndarray."
        )
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError(f"List at {name} cannot be empty")
    depths = [_nesting_depth(part, f"{name}[{k}]") for k, part in enumerate(arrays)]
    if len(set(depths)) > 1:
        k = next(k for k, d in enumerate(depths) if d != depths[0])
        raise ValueError(
            f"List depths are mismatched. First element was at depth {depths[0] + 1}, but there is an "
            f"element at depth {depths[k] + 1} ({name}[{k}])"
        )
    return depths[0] + 1


def _leaves(arrays: Any) -> list[Any]:
    """Return the blocks of nested lists in order."""
    return [leaf for part in arrays for leaf in _leaves(part)] if isinstance(arrays, list) else [arrays]


def _concatenated_blocks(arrays: Any, depth: int, ndim: int, axis: int) -> ndarray:
    """Return the array of nested lists: the outer list is joined along `axis`, lists inside along the next axes."""
    if not depth:
        x = as_array(arrays)
        return getitem(x, (None,) * (ndim - x.ndim) + (...,))
    return concatenate([_concatenated_blocks(part, depth - 1, ndim, axis + 1) for part in arrays], axis)


# --- split ----------------------------------------------------------------------------------------------------------


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Split an array along an axis into views of nearly equal size, or at indices. See `numpy.array_split`."""
    x = as_array(ary)
    axis = normalize_axis(axis, x.ndim)
    total = x.shape[axis]
    if numpy.iterable(indices_or_sections):
        bounds = [0, *map(operator.index, indices_or_sections), total]
    else:
        count = int(indices_or_sections)
        if count <= 0:
            raise ValueError("number sections must be larger than 0.")
        section_size, longer_sections = divmod(total, count)
        bounds = [k * section_size + min(k, longer_sections) for k in range(count + 1)]
    ranges = (slice(start, stop).indices(total) for start, stop in pairwise(bounds))
    return [sliced_view(x, axis, start, stop) for start, stop, _ in ranges]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Split an array along an axis into views of equal size, or at indices. See `numpy.split`."""
    x = as_array(ary)
    if not numpy.iterable(indices_or_sections):
        size = x.shape[normalize_axis(axis, x.ndim)]
        if size % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
    return array_split(x, indices_or_sections, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Split an array along the second axis, or its only one. See `numpy.hsplit`."""
    x = as_array(ary)
    if x.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Split an array along the first axis. See `numpy.vsplit`."""
    x = as_array(ary)
    if x.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(x, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Split an array along the third axis. See `numpy.dsplit`."""
    x = as_array(ary)
    if x.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(x, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """Return views of the sub-arrays along an axis. See `numpy.unstack`."""
    x = as_array(x)
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    rows = moveaxis(x, axis, 0)
    return tuple(getitem(rows, k) for k in range(rows.shape[0]))
