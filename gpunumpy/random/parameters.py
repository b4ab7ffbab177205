"""Parameters of draws: sizes as shapes, and numbers and arrays in float64, with NumPy's checks.

Where the device does not handle parameters these functions raise TypeError or return None (or an empty tuple). The
caller then leaves the draw to NumPy, which draws on the host or raises its own exception.
"""

from __future__ import annotations

import operator
from math import isfinite
from typing import Any

import numpy

from ..core.dtypes import FLOAT64
from ..core.graph import layout
from ..core.graph.layout import Shape
from ..core.recording.array import ndarray, to_host
from ..core.recording.record import as_array, elementwise
from ..functions.reductions.reductions import all as all_of
from ..functions.reductions.reductions import any as any_of

# Scratch generators: NumPy validates parameters by drawing from them.
SCRATCH_GENERATOR = numpy.random.Generator(numpy.random.PCG64(0))
SCRATCH_STATE = numpy.random.RandomState(0)

# Smallest parameter whose half is still a normal number.
_SMALLEST_HALVABLE = 1e-300


def shape_of(size: Any) -> Shape | None:
    """Return the shape that a `size` means; None if it is not valid or NumPy is to decide."""
    try:
        lengths = (size,) if hasattr(size, "__index__") else tuple(size[:])
        shape = tuple(map(operator.index, lengths))
    except (TypeError, LookupError):
        return None
    return None if bool in map(type, lengths) or any(n < 0 for n in shape) else shape


def shape_of_rows(size: Any) -> Shape | None:
    """Return the shape that a `size` means where each sample is a row: NumPy then refuses a 0-d array."""
    return None if isinstance(size, (ndarray, numpy.ndarray)) and not size.ndim else shape_of(size)


def broadcast_shape(*shapes: Shape) -> Shape | None:
    """Return the shape that all shapes broadcast to; None if there is none."""
    try:
        return layout.broadcast_shapes(*shapes)
    except ValueError:
        return None


def is_number(x: Any) -> bool:
    """Return whether a parameter is a real scalar of Python or NumPy, as opposed to an array."""
    return isinstance(x, (bool, int, float, numpy.generic)) and not isinstance(x, numpy.complexfloating)


def float64_parameter(x: Any) -> Any:
    """Return a parameter in float64: as a Python float, or as an array on the device.

    Raises
    ------
    TypeError
        If NumPy must decide: for subclasses of `numpy.ndarray`, None, and dtypes that do not cast safely to float64.
    """
    if is_number(x):
        return float(x)
    if isinstance(x, numpy.ndarray) and type(x) is not numpy.ndarray:
        raise TypeError("NumPy must handle subclasses of numpy.ndarray")
    array = None if x is None else as_array(x)
    if array is None or not numpy.can_cast(array.dtype, FLOAT64):
        raise TypeError("NumPy must report why the parameter does not cast to float64")
    return array if array.dtype == FLOAT64 else elementwise("cast", [array], (array.dtype, FLOAT64))


def float64_row(x: Any) -> Any:
    """Return a parameter that is a row of numbers as a float64 array on the host.

    Raises
    ------
    TypeError
        If the dtype does not cast safely to float64.
    """
    array = numpy.asarray(to_host(x) if isinstance(x, ndarray) else x)
    if not numpy.can_cast(array.dtype, FLOAT64):
        raise TypeError("NumPy must report why the parameter does not cast to float64")
    return array.astype(FLOAT64)


def finite_parameters(scratch: Any, name: str, *params: Any) -> tuple[float, ...]:
    """Return a method's parameters as floats if all are finite scalars; else an empty tuple.

    Parameters
    ----------
    scratch
        The scratch generator, whose method `name` raises NumPy's exception if the parameters are not valid.
    name
        The name of the method.
    *params
        Its parameters. A nonzero one below 1e-300 yields the empty tuple, since its half would be subnormal or zero.
    """
    if not all(is_number(x) and isfinite(x) and not 0 < abs(x) < _SMALLEST_HALVABLE for x in params):
        return ()
    getattr(scratch, name)(*params)
    return tuple(map(float, params))


def is_valid_scale(x: Any) -> bool:
    """Return whether NumPy accepts a parameter as a scale: no element is negative, nor a negative zero."""
    if is_number(x):
        return not numpy.signbit(float(x)) or x != x
    x = float64_parameter(x)
    negative = elementwise("logical_and", [elementwise("signbit", [x]), elementwise("equal", [x, x])])
    return not bool(any_of(negative))


def all_positive(x: Any) -> bool:
    """Return whether all elements of a parameter are greater than zero."""
    return all_true(float64_parameter(x) > 0)


def all_true(condition: Any) -> bool:
    """Return whether a condition, a scalar or an array, holds everywhere."""
    return bool(condition if is_number(condition) else all_of(condition))
