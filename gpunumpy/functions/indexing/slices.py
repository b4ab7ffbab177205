"""Parts of values along an axis, and values laid along one."""

from __future__ import annotations

from typing import Any

from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.recording.array import ndarray, wrap
from ...core.recording.record import reshaped
from ..ufuncs.methods import typed


def sliced(array: ndarray, axis: int, start: int, stop: int) -> ndarray:
    """The elements from `start` up to `stop` along an axis, as a value."""
    value = array.value()
    shape = value.signature.shape
    strides = layout.c_strides(shape)
    part = (*shape[:axis], stop - start if stop > start else 0, *shape[axis + 1 :])
    return wrap(graph.view(value, Layout(part, strides, 0 if 0 in part else start * strides[axis])))


def filled_like(array: ndarray, value: Any, axis: int, length: int) -> ndarray:
    """One value in the array's dtype and shape, of another length along one axis."""
    shape = (*array.shape[:axis], length, *array.shape[axis + 1 :])
    return wrap(graph.fill(typed(value, array.dtype), shape, array.queue))


def flat(array: ndarray) -> ndarray:
    """The elements in C order, as a value of one dimension."""
    return array if array.ndim == 1 else wrap(reshaped(array.value(), (array.size,)))


def along(array: ndarray, axis: int, ndim: int) -> ndarray:
    """A one-dimensional value laid along one of several axes."""
    return wrap(reshaped(array.value(), tuple(array.size if d == axis else 1 for d in range(ndim))))
