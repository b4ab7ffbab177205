"""Python functions applied along and over axes: their calls record, and what they record is computed together."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any

import numpy

from ..core.graph.layout import normalize_axis
from ..core.recording.array import ndarray, to_host
from ..core.recording.record import as_array
from .indexing.getitem import getitem
from .manipulation.joining import stack
from .manipulation.shape import astype, expand_dims, moveaxis, reshaped

__all__ = ["apply_along_axis", "apply_over_axes"]


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> ndarray:
    """Apply a function to every vector along an axis. See `numpy.apply_along_axis`.

    The function is called with a view for each vector, one after the other.
    """
    array = as_array(arr)
    axis = normalize_axis(axis, array.ndim)
    vectors = moveaxis(array, axis, -1)
    loop_shape = vectors.shape[:-1]
    if not prod(loop_shape):
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results: list[ndarray] = []
    for index in product(*map(range, loop_shape)):
        result = as_array(func1d(getitem(vectors, (*index, ...)), *args, **kwargs), array.device)
        # As where NumPy assigns the later results to an array like the first one.
        results.append(astype(result, results[0].dtype, copy=False) if results else result)
    stacked = stack(results)
    ndim = results[0].ndim
    stacked = reshaped(stacked, (*loop_shape, *results[0].shape))
    return moveaxis(stacked, tuple(range(-ndim, 0)), tuple(range(axis, axis + ndim)))


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> ndarray:
    """Apply a function over one axis after the other, keeping the number of dimensions. See `numpy.apply_over_axes`."""
    value = as_array(a)
    ndim = value.ndim
    for axis in numpy.atleast_1d(to_host(axes) if isinstance(axes, ndarray) else axes).tolist():
        axis = axis + ndim if axis < 0 else axis
        result = as_array(func(value, axis), value.device)
        if result.ndim != value.ndim:
            result = expand_dims(result, axis)
            if result.ndim != value.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        value = result
    return value
