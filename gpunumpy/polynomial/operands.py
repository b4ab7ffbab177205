"""Coefficients as arrays: checked, in one dtype, without zeros at the end."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy

from ..core.dtypes import DType, check
from ..core.recording.array import ndarray, to_host
from ..core.recording.record import to_numpy
from ..functions.creation.ranges import arange
from ..functions.indexing.selection import take
from ..functions.manipulation.joining import as_arrays
from ..functions.manipulation.shape import atleast_1d
from ..functions.ufuncs.elementwise import where

# An `ndarray` whose operators and methods are used: the layer `arrays` binds them at run time.
Array: TypeAlias = Any


def as_series(*coefficients: Any, trim: bool = True) -> list[Array]:
    """Return one-dimensional arrays of coefficients in their common inexact dtype, on one device.

    With `trim`, zeros at their end are left out; the host reads where these begin.
    """
    arrays: list[Array] = [atleast_1d(x) for x in as_arrays(coefficients)]
    for x in arrays:
        if not x.size:
            raise ValueError("Coefficient array is empty")
        if x.ndim != 1:
            raise ValueError("Coefficient array is not 1-d")
    try:
        dtype = check(numpy.common_type(*(numpy.empty(0, x.dtype) for x in arrays)))
    except TypeError as error:
        raise ValueError("Coefficient arrays have no common type") from error
    return [trimmed(x).astype(dtype) if trim else x.astype(dtype) for x in arrays]


def trimmed(c: Array) -> Array:
    """Return the coefficients up to the last one that is not zero, or the first one if there is none."""
    nonzero = numpy.flatnonzero(to_host(c != 0))
    return c[: int(nonzero[-1]) + 1 if nonzero.size else 1]


def is_zero(c: Array) -> bool:
    """Return whether trimmed coefficients are those of the zero polynomial."""
    return c.shape[0] == 1 and not to_host(c[0])


def shifted(c: Array, by: int, length: int) -> Array:
    """Return `length` rows of which row k is row ``k - by`` of `c`, or zeros if there is none."""
    if not by and length == c.shape[0]:
        return c
    place: Array = arange(-by, length - by, device=c.device)
    is_row = (place >= 0) & (place < c.shape[0])
    return where(is_row.reshape(-1, *(1,) * (c.ndim - 1)), take(c, place, 0, mode="clip"), c.dtype.type(0))


def combined(c: Array, up: Any, same: Any, down: Any, length: int) -> Array:
    """Return the sum of `c` times `up` moved on by a row, times `same` as it is, and times `down` moved back.

    The factors are NumPy arrays of a number for each row.
    """
    result: Array = None
    for factors, by in ((up, 1), (same, 0), (down, -1)):
        row = numpy.arange(length) - by
        moved = numpy.where((row >= 0) & (row < c.shape[0]), factors[row.clip(0, c.shape[0] - 1)], 0)
        if moved.any():
            term = shifted(c, by, length) * along_first_axis(moved, c)
            result = term if result is None else result + term
    return result


def along_first_axis(constants: Any, c: Array) -> Array:
    """Return numbers, one for each row of `c`, in the precision of `c` and a shape that broadcasts against it."""
    return numpy.asarray(constants, real_dtype(c.dtype)).reshape(-1, *(1,) * (c.ndim - 1))


def real_dtype(dtype: DType) -> DType:
    """Return the dtype of the real part of numbers of a dtype."""
    return check(dtype.type(0).real.dtype) if dtype.kind == "c" else dtype


def as_float_coefficients(c: Any) -> Array:
    """Return coefficients in at least one dimension, integers as float64; data of the host as a NumPy array."""
    array: Any = c if isinstance(c, ndarray) else to_numpy(c)
    if not array.ndim:
        array = array.reshape(1)
    return array.astype(numpy.float64) if array.dtype.kind in "biu" else array


def device_of(*arguments: Any) -> Any:
    """Return the device of the first array of this package among arguments and lists of them; None without any."""
    for x in arguments:
        if isinstance(x, ndarray):
            return x.device
        if isinstance(x, (list, tuple)) and (device := device_of(*x)) is not None:
            return device
    return None
