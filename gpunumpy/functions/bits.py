"""Bits packed into bytes and unpacked; the order of bytes; parts of elements."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from ..core.dtypes import BOOL, KIND, DType, check
from ..core.graph import node as graph
from ..core.graph.layout import Layout, Shape, checked_axis
from ..core.graph.node import Node
from ..core.recording.array import (
    READ_ONLY,
    is_scalar,
    make_view,
    ndarray,
    one_step,
    owner_of,
    require_device,
    scalar_of,
    wrap,
)
from ..core.recording.record import as_array, reshaped
from ..core.runtime.numpy_calls import calls_numpy
from .creation.arrays import array
from .indexing.getitem import getitem, setitem
from .indexing.slices import filled_like, sliced_copy
from .manipulation.joining import concatenate, stack
from .manipulation.shape import ravel, reshape, view_at_bytes, viewed_as_dtype

__all__ = ["packbits", "unpackbits"]

_BYTE = numpy.dtype(numpy.uint8)
_BITS = 8


def packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> ndarray:
    """Pack truth values into the bits of bytes, along an axis or flattened. See `numpy.packbits`."""
    array = as_array(a)
    if KIND[array.dtype] not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    is_big = _is_big(bitorder)
    array, axis = _along(array, axis)
    n = array.shape[axis]
    if array.size and calls_numpy(array.device):
        packed_shape = (*array.shape[:axis], -(-n // _BITS), *array.shape[axis + 1 :])
        return _by_numpy("packbits", array, axis, is_big, packed_shape)
    if n % _BITS:
        array = concatenate((array, filled_like(array, 0, axis, -n % _BITS)), axis)
    value = array.value()
    shape = value.signature.shape
    grouped = reshaped(graph.cast(value, BOOL), (*shape[:axis], shape[axis] // _BITS, _BITS, *shape[axis + 1 :]))
    shifts = _shifts(len(shape) - axis - 1, array, is_big)
    placed = graph.map_node("left_shift", (_BYTE,) * 3, (graph.cast(grouped, _BYTE), shifts))
    return wrap(graph.reduce("bitwise_or", (_BYTE, _BYTE), (axis + 1,), (placed,)))


def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> ndarray:
    """Unpack bytes into their bits, along an axis or flattened. See `numpy.unpackbits`."""
    array = as_array(a)
    if array.dtype != _BYTE:
        raise TypeError("Expected an input array of unsigned byte data type")
    is_big = _is_big(bitorder)
    array, axis = _along(array, axis)
    shape = array.shape
    bit_count = shape[axis] * _BITS
    wanted = bit_count if count is None else operator.index(count)
    if wanted < 0:
        if -wanted > bit_count:
            raise ValueError(f"-count larger than number of elements ({-wanted} > {bit_count})")
        wanted += bit_count
    if array.size and calls_numpy(array.device):
        return _by_numpy("unpackbits", array, axis, is_big, (*shape[:axis], wanted, *shape[axis + 1 :]))
    byte = reshaped(array.value(), (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    shifted = graph.map_node("right_shift", (_BYTE,) * 3, (byte, _shifts(len(shape) - axis - 1, array, is_big)))
    bits = graph.map_node("bitwise_and", (_BYTE,) * 3, (shifted, graph.typed_scalar(1, _BYTE)))
    result = wrap(reshaped(bits, (*shape[:axis], bit_count, *shape[axis + 1 :])))
    if wanted <= bit_count:
        return result if wanted == bit_count else sliced_copy(result, axis, 0, wanted)
    return concatenate((result, filled_like(result, 0, axis, wanted - bit_count)), axis)


def _by_numpy(name: str, array: ndarray, axis: int, is_big: bool, shape: Shape) -> ndarray:
    """Return the bytes of this shape that NumPy's function of this name packs or unpacks."""
    return wrap(graph.library_call(name, (axis, "big" if is_big else "little"), (array.value(),), (shape, _BYTE)))


def byteswap(a: ndarray, inplace: bool = False) -> ndarray:
    """Return the elements with their bytes in the other order. See `numpy.ndarray.byteswap`."""
    with one_step(a):
        copied = array(a, order="K")
        unit = a.itemsize // (2 if a.dtype.kind == "c" else 1)
        if unit > 1 and a.size:
            memory = owner_of(copied)
            flat = make_view(memory, Layout((memory.size,), (1,), 0))
            swapped = reshape(viewed_as_dtype(flat, _BYTE), (-1, unit))
            setitem(swapped, ..., getitem(swapped, (slice(None), slice(None, None, -1))))
        if inplace:
            setitem(a, ..., copied)
            return a
    return scalar_of(copied, a)


def getfield(a: ndarray, dtype: Any, offset: Any = 0) -> ndarray:
    """Return a view of a part of every element as another dtype. See `numpy.ndarray.getfield`.

    Where the parts are no whole elements of that dtype apart, the result is a read-only copy.
    """
    target, offset = _field(a, dtype, offset)
    view = _view_of_field(a, target, offset)
    if view is not None:
        return scalar_of(view, a)
    parts = [_byte_of(a, offset + k) for k in range(target.itemsize)]
    field = reshape(viewed_as_dtype(stack(parts, -1), target), a.shape)
    field._flags |= READ_ONLY
    return scalar_of(field, a)


def setfield(a: ndarray, val: Any, /, dtype: Any, offset: Any = 0) -> None:
    """Write a part of every element as another dtype. See `numpy.ndarray.setfield`."""
    if is_scalar(a):
        raise TypeError("Can't set fields in a non-void array scalar.")
    target, offset = _field(a, dtype, offset)
    view = _view_of_field(a, target, offset)
    if view is not None:
        setitem(view, ..., val)
        return
    field = getfield(a, target, offset)
    field._flags &= ~READ_ONLY
    setitem(field, ..., val)
    with one_step(a):
        for k in range(target.itemsize):
            setitem(_byte_of(a, offset + k), ..., _byte_of(field, k))


def _field(a: ndarray, dtype: Any, offset: Any) -> tuple[DType, int]:
    """Return the dtype and the offset of a part of elements; NumPy refuses what is none."""
    require_device(a)
    field = numpy.empty((), a.dtype).getfield(dtype, offset)
    return check(field.dtype), operator.index(offset)


def _view_of_field(a: ndarray, target: DType, offset: int) -> ndarray | None:
    """Return a view of a part of every element; None if its layout would not count whole elements."""
    if target == a.dtype:
        return make_view(a, a.layout)
    try:
        return view_at_bytes(a, a.shape, a.strides, offset, target)
    except ValueError:
        return None


def _byte_of(a: ndarray, offset: int) -> ndarray:
    """Return a view of one byte of every element."""
    return view_at_bytes(a, a.shape, a.strides, offset, _BYTE)


def _is_big(bitorder: Any) -> bool:
    """Return True if a byte's first bit is its highest; raise `ValueError` for an unknown order."""
    if not isinstance(bitorder, str):
        raise TypeError(f"a bit order must be str, not {type(bitorder).__name__}")
    if bitorder[:1] not in ("b", "l"):
        raise ValueError("'order' must be either 'little' or 'big'")
    return bitorder[0] == "b"


def _along(array: ndarray, axis: Any) -> tuple[ndarray, int]:
    """Return the array and the axis; for no axis, or an array of no dimensions, the flat array and axis 0."""
    if axis is None or not array.ndim:
        if axis is not None:
            checked_axis(axis, 1)
        return ravel(array), 0
    return array, checked_axis(axis, array.ndim)


def _shifts(trailing: int, array: ndarray, is_big: bool) -> Node:
    """Return how far each bit of a byte is shifted, along an axis that `trailing` others follow."""
    index = graph.iota((_BITS, *(1,) * trailing), 0, array.queue)
    if is_big:
        index = graph.map_node("subtract", (index.signature.dtype,) * 3, (graph.scalar(_BITS - 1), index))
    return graph.cast(index, _BYTE)
