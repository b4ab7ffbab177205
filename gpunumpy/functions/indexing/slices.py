"""Slices of arrays along an axis, and one-dimensional arrays laid along one."""

from __future__ import annotations

from typing import Any

from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.node import Node
from ...core.recording.array import ndarray, wrap
from ...core.recording.record import reshaped
from ..ufuncs.methods import wrapped_scalar


def sliced_copy(array: ndarray, axis: int, start: int, stop: int) -> ndarray:
    """Return the elements from `start` up to `stop` along an axis, as a new array in C order."""
    return wrap(sliced(array, axis, start, stop))


def sliced(array: ndarray, axis: int, start: int, stop: int) -> Node:
    """Return the elements from `start` up to `stop` along an axis, as a value with the strides of the array."""
    value = array.value()
    shape = value.signature.shape
    strides = layout.c_strides(shape)
    sliced_shape = (*shape[:axis], stop - start if stop > start else 0, *shape[axis + 1 :])
    return graph.view(value, Layout(sliced_shape, strides, 0 if 0 in sliced_shape else start * strides[axis]))


def filled_like(array: ndarray, value: Any, axis: int, length: int) -> ndarray:
    """Return an array filled with one value, in the array's dtype and its shape but for the length along one axis."""
    shape = (*array.shape[:axis], length, *array.shape[axis + 1 :])
    return wrap(graph.fill(wrapped_scalar(value, array.dtype), shape, array.queue))


def flat_array(array: ndarray) -> ndarray:
    """Return the elements in C order in one dimension: the array itself if it has one, a new array otherwise."""
    return array if array.ndim == 1 else wrap(reshaped(array.value(), (array.size,)))


def element(array: ndarray, k: int) -> ndarray:
    """Return element `k` of a one-dimensional array as a 0-d array."""
    return wrap(graph.view(array.value(), Layout((), (), k)))


def laid_along_axis(array: ndarray, axis: int, ndim: int) -> ndarray:
    """Return a one-dimensional array in `ndim` dimensions: its elements along `axis`, size 1 along the others."""
    return wrap(reshaped(array.value(), tuple(array.size if d == axis else 1 for d in range(ndim))))
