"""Index expressions: what ``a[key]`` selects, derived from the array's layout and the key.

Integers, slices, ``newaxis`` and ``...`` ("basic" indices) select a window: a layout over the array's elements.
Index arrays and masks ("fancy" indices) pick elements of that window.
"""

from __future__ import annotations

from types import EllipsisType, NoneType
from typing import Any, NamedTuple

import numpy

from ...core.graph.layout import MAX_DIMENSIONS, Layout, Shape
from ...core.recording.array import is_scalar, ndarray, to_host
from ...core.recording.record import array_of_protocol

INVALID_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
    "indices"
)
NOT_INTEGER_INDEX = "arrays used as indices must be of integer (or boolean) type"


class FancyIndex(NamedTuple):
    """An index array or a mask, of this package or of NumPy, and the first dimension of the window that it indexes."""

    axis: int
    index: Any

    @property
    def is_mask(self) -> bool:
        """True for a boolean mask, which indexes as many dimensions as it has."""
        return bool(self.index.dtype.kind == "b")


class Selection(NamedTuple):
    """What a key selects: a window of the array, and the fancy indices that pick elements of the window.

    With `index_dimensions_first`, the dimensions of the index arrays come first in the result, because other indices
    stand between them; otherwise they take the place of the dimensions that they index.
    """

    window: Layout
    fancy: tuple[FancyIndex, ...]
    index_dimensions_first: bool


def shape_text(shape: Shape) -> str:
    """Return a shape as NumPy's messages print it."""
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def out_of_bounds_error(index: int, axis: int, size: int) -> IndexError:
    """Return NumPy's error for an index outside of its axis."""
    return IndexError(f"index {index} is out of bounds for axis {axis} with size {size}")


def too_many_indices_error(ndim: int, indexed: int) -> IndexError:
    """Return NumPy's error for a key that indexes more dimensions than the array has."""
    return IndexError(f"too many indices for array: array is {ndim}-dimensional, but {indexed} were indexed")


def check_result_dimensions(count: int) -> None:
    """Raise NumPy's `IndexError` if the result of indexing has too many dimensions."""
    if count > MAX_DIMENSIONS:
        raise IndexError(
            f"number of dimensions must be within [0, {MAX_DIMENSIONS}], indexing result would have {count}"
        )


def basic_window(array_layout: Layout, key: Any) -> Layout | None:
    """Return the window of a key of plain integers, slices, ``None`` and ``...``; None for any other key."""
    if type(key) is int and array_layout.shape and 0 <= key < array_layout.shape[0]:
        shape, strides, offset = array_layout
        return Layout(shape[1:], strides[1:], offset + key * strides[0])
    if type(key) is not tuple:
        key = (key,)
    indexed = ellipses = 0
    for item in key:
        kind = type(item)
        if kind is slice or kind is int or isinstance(item, numpy.integer):
            indexed += 1
        elif kind is EllipsisType:
            ellipses += 1
        elif item is not None:
            return None
    return _window(array_layout, key, indexed, ellipses)


def _window(array_layout: Layout, key: tuple[Any, ...], indexed: int, ellipses: int) -> Layout:
    """Return the window of a key of basic items, which index `indexed` dimensions and hold `ellipses` times ``...``."""
    array_shape, array_strides, offset = array_layout
    ndim = len(array_shape)
    if indexed > ndim:
        raise too_many_indices_error(ndim, indexed)
    if ellipses > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    shape: list[int] = []
    strides: list[int] = []
    axis = 0
    for item in key:
        if type(item) is slice:
            start, stop, step = item.indices(array_shape[axis])
            stride = array_strides[axis]
            count = stop - start if step == 1 else len(range(start, stop, step))
            if count > 0:
                offset += start * stride
                shape.append(count)
            else:
                shape.append(0)
            strides.append(stride * step)
            axis += 1
        elif item is None:
            shape.append(1)
            strides.append(0)
        elif item is Ellipsis:
            stop = axis + ndim - indexed
            shape += array_shape[axis:stop]
            strides += array_strides[axis:stop]
            axis = stop
        else:
            size, index = array_shape[axis], item.__index__()
            if not -size <= index < size:
                raise out_of_bounds_error(index, axis, size) if -(2**63) <= index < 2**63 else IndexError(INVALID_INDEX)
            offset += (index + size if index < 0 else index) * array_strides[axis]
            axis += 1
    if axis < ndim:
        shape += array_shape[axis:]
        strides += array_strides[axis:]
    if len(shape) > MAX_DIMENSIONS:
        check_result_dimensions(len(shape))
    return Layout(tuple(shape), tuple(strides), offset)


def resolve_key(array_layout: Layout, key: Any, is_read: bool) -> Selection:
    """Return the selection of any key.

    `is_read`: the key is read, not written, and the result may have to be a view.
    """
    items = [_normalized(item) for item in (key if isinstance(key, tuple) else (key,))]
    ndim = len(array_layout.shape)
    arrays = [item for item in items if _is_index_array(item)]
    indexed = sum(map(_dimensions_indexed, items))
    selects_element = indexed == ndim and not any(isinstance(item, (slice, EllipsisType, NoneType)) for item in items)
    if is_read and not selects_element and all(isinstance(a, ndarray) and is_scalar(a) for a in arrays):
        # The 0-d result of an operation acts as a NumPy integer: it selects a view, whose offset has to be known now.
        items = [int(to_host(item)) if isinstance(item, ndarray) else item for item in items]
    elif selects_element or not is_read:
        # A 0-d integer array acts as an integer: NumPy's copy in place of a view shows only where a part is read.
        items = [int(i) if isinstance(i, numpy.ndarray) and not i.shape and i.dtype.kind != "b" else i for i in items]
    if indexed > ndim:
        raise too_many_indices_error(ndim, indexed)
    window_key: list[Any] = []
    fancy: list[FancyIndex] = []
    positions: list[int] = []  # of integers and index arrays in the key
    window_axis = array_axis = 0
    for position, item in enumerate(items):
        dimensions = ndim - indexed if item is Ellipsis else _dimensions_indexed(item)
        if _is_index_array(item):
            width = dimensions
            if dimensions == 0:
                # A truth value indexes a new dimension of size 1: True picks its element, False none.
                window_key.append(None)
                item, width = numpy.zeros(1 if item else 0, numpy.int64), 1
            else:
                _check_mask(item, array_layout.shape, array_axis)
                window_key += [slice(None)] * dimensions
            fancy.append(FancyIndex(window_axis, item))
            window_axis += width
        else:
            window_key.append(item)
            if not isinstance(item, int):
                window_axis += 1 if item is None else dimensions
        if _is_index_array(item) or isinstance(item, int):
            positions.append(position)
        array_axis += dimensions
    window = _window(array_layout, tuple(window_key), indexed, sum(item is Ellipsis for item in items))
    index_dimensions_first = bool(positions) and positions[-1] - positions[0] + 1 != len(positions)
    if fancy:
        indexed_dimensions = sum(_dimensions_indexed(item) for _, item in fancy)
        index_dimensions = max(1 if one.is_mask else len(one.index.shape) for one in fancy)
        check_result_dimensions(len(window.shape) - indexed_dimensions + index_dimensions)
    return Selection(window, tuple(fancy), index_dimensions_first)


def _is_index_array(item: Any) -> bool:
    """Return True for an index array or a mask."""
    return isinstance(item, (ndarray, numpy.ndarray))


def _dimensions_indexed(item: Any) -> int:
    """Return how many dimensions an item of a key indexes."""
    if item is None or item is Ellipsis:
        return 0
    if _is_index_array(item) and item.dtype.kind == "b":
        return len(item.shape)
    return 1


def _normalized(item: Any) -> Any:
    """Return an item of a key as an integer, a slice, ``None``, ``...``, an integer array or a mask."""
    if item is None or isinstance(item, (slice, EllipsisType)):
        return item
    if isinstance(item, (bool, numpy.bool_)):
        return numpy.asarray(bool(item))
    if isinstance(item, (int, numpy.integer)):
        return int(item)
    if isinstance(item, ndarray):
        kind = item.dtype.kind
        if kind not in "iub":
            raise IndexError(NOT_INTEGER_INDEX)
        # A 0-d boolean decides the shape of the result, so its value is read now.
        return numpy.asarray(bool(item)) if kind == "b" and not item.shape else item
    if isinstance(item, (numpy.ndarray, list, tuple)) or _is_sequence(item):
        array = numpy.asarray(item)
        if not isinstance(item, numpy.ndarray) and array.size == 0:
            array = array.astype(numpy.int64)
        if array.dtype.kind not in "iub":
            raise IndexError(NOT_INTEGER_INDEX if isinstance(item, numpy.ndarray) else INVALID_INDEX)
        return array
    try:
        return item.__index__()
    except (AttributeError, TypeError):
        pass
    held = array_of_protocol(item)
    if held is not None:
        return _normalized(held)
    raise IndexError(INVALID_INDEX)


def _is_sequence(x: Any) -> bool:
    """Return whether NumPy makes an array of the elements of an object, such as a ``range`` or a ``deque``."""
    return hasattr(x, "__len__") and hasattr(x, "__getitem__") and not hasattr(x, "__array__")


def _check_mask(index: Any, shape: Shape, axis: int) -> None:
    """Raise `IndexError` if `index` is a mask whose sizes differ from the dimensions that it indexes.

    As in NumPy, a size of 0 fits any dimension.
    """
    if index.dtype.kind != "b":
        return
    for array_axis, (mask_size, size) in enumerate(zip(index.shape, shape[axis:], strict=False), axis):
        if mask_size not in (size, 0):
            raise IndexError(
                f"boolean index did not match indexed array along axis {array_axis}; size of axis is {size} "
                f"but size of corresponding boolean axis is {mask_size}"
            )
