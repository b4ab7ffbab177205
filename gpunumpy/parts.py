"""Parts of values along an axis: taken out, filled, put one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .core import layout
from .core import node as graph
from .core.array import ndarray, wrap
from .core.dtypes import check
from .core.layout import Layout
from .core.record import as_dtype, reshaped
from .ufunc_methods import typed


def sliced(array: ndarray, axis: int, start: int, stop: int) -> ndarray:
    """The elements from `start` up to `stop` along an axis, as a value."""
    value = array.value()
    shape = value.form.shape
    strides = layout.c_strides(shape)
    part = (*shape[:axis], stop - start if stop > start else 0, *shape[axis + 1 :])
    return wrap(graph.view(value, Layout(part, strides, 0 if 0 in part else start * strides[axis])))


def filled_like(array: ndarray, value: Any, axis: int, length: int) -> ndarray:
    """One value in the array's dtype and shape, of another length along one axis."""
    shape = (*array.shape[:axis], length, *array.shape[axis + 1 :])
    return wrap(graph.fill(typed(value, array.dtype), shape, array.queue))


def joined(arrays: Sequence[ndarray], axis: int) -> ndarray:
    """The arrays one after the other along an axis, in their common dtype."""
    if len({a.ndim for a in arrays}) > 1:
        raise ValueError("all the input arrays must have same number of dimensions")
    dtype = check(numpy.result_type(*(a.dtype for a in arrays)))
    shape = list(arrays[0].shape)
    for a in arrays[1:]:
        shape[axis] += a.shape[axis]
        if any(n != m for d, (n, m) in enumerate(zip(shape, a.shape, strict=True)) if d != axis):
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
    result = graph.fill(typed(0, dtype), tuple(shape), arrays[0].queue)
    strides = layout.c_strides(tuple(shape))
    start = 0
    for a in arrays:
        if a.size:
            result = graph.update(result, Layout(a.shape, strides, start), as_dtype(a.value(), dtype))
        start += a.shape[axis] * strides[axis]
    return wrap(result)


def flat(array: ndarray) -> ndarray:
    """The elements in C order, as a value of one dimension."""
    return array if array.ndim == 1 else wrap(reshaped(array.value(), (array.size,)))


def along(array: ndarray, axis: int, ndim: int) -> ndarray:
    """A one-dimensional value laid along one of several axes."""
    return wrap(reshaped(array.value(), tuple(array.size if d == axis else 1 for d in range(ndim))))
