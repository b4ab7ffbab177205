"""Fill values: the values that stand in for masked elements. They are NumPy arrays of no dimension, on the host."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.dtypes import KIND
from ..core.floating_errors import silent_unless_asked
from ..core.numpy_release import RELEASE
from ..core.recording.array import ndarray, to_host

# What `numpy.ma` fills with, by the kind of the dtype.
_DEFAULTS = {"b": True, "i": 999999, "u": 999999, "f": 1e20, "e": 1e20, "c": 1e20 + 0j}


def default_fill_value(obj: Any) -> Any:
    """Return the default fill value of a dtype, or of the dtype of an object. See `numpy.ma.default_fill_value`."""
    dtype = dtype_of(obj)
    return _DEFAULTS[KIND[dtype]] if dtype in KIND else numpy.ma.default_fill_value(dtype)


def minimum_fill_value(obj: Any) -> Any:
    """Return the largest value of a dtype, which leaves a minimum as it is. See `numpy.ma.minimum_fill_value`."""
    dtype = dtype_of(obj)
    return float("inf") if KIND.get(dtype) == "e" else numpy.ma.minimum_fill_value(dtype)


def maximum_fill_value(obj: Any) -> Any:
    """Return the smallest value of a dtype, which leaves a maximum as it is. See `numpy.ma.maximum_fill_value`."""
    dtype = dtype_of(obj)
    return float("-inf") if KIND.get(dtype) == "e" else numpy.ma.maximum_fill_value(dtype)


def dtype_of(obj: Any) -> Any:
    """Return an object that is a dtype, the dtype that it has, or that of an array of it."""
    if isinstance(obj, numpy.dtype):
        return obj
    return obj.dtype if hasattr(obj, "dtype") else numpy.asanyarray(obj).dtype


def checked_fill_value(value: Any, dtype: Any) -> Any:
    """Return a fill value as a NumPy array of a dtype; the default fill value for None.

    Raises
    ------
    TypeError
        If the value cannot be converted to the dtype.
    """
    with silent_unless_asked():
        return _fill_value_of(value, dtype)


def _fill_value_of(value: Any, dtype: Any) -> Any:
    if value is None:
        default = default_fill_value(dtype)
        return numpy.array(numpy.uint(default) if dtype.kind == "u" else default)
    if isinstance(value, str):
        raise TypeError(f"Cannot set fill value of string with array of dtype {dtype}")
    if isinstance(value, ndarray):
        value = to_host(value)
    try:
        return numpy.array(numpy.asarray(value, dtype))
    except (OverflowError, ValueError) as error:
        raise TypeError(f"Cannot convert fill_value {value} to dtype {dtype}") from error


def converted_fill_value(value: Any, dtype: Any) -> Any:
    """Return a fill value of another dtype as one of `dtype`; None if it has no such value.

    Before 2.5.4 NumPy takes a float that is out of range for the integer that the cast makes of it.
    """
    try:
        with numpy.errstate(all="ignore", invalid="raise" if RELEASE >= "2.5.4" else "ignore"):
            return _fill_value_of(value, dtype)
    except (TypeError, ValueError, OverflowError, FloatingPointError):
        return None
