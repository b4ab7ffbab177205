"""Parameters of draws: sizes as shapes, and numbers and arrays in float64, with NumPy's checks of them.

A function raises TypeError, or returns None or nothing, where NumPy is to take the parameters: it draws, or raises.
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
    """Return the shape that a `size` asks for; None where NumPy is to judge it."""
    try:
        given = (size,) if hasattr(size, "__index__") else tuple(size[:])
        shape = tuple(map(operator.index, given))
    except (TypeError, LookupError):
        return None
    return None if bool in map(type, given) or any(n < 0 for n in shape) else shape


def shape_of_rows(size: Any) -> Shape | None:
    """Return the same where numbers are rows, for which NumPy takes no array without dimensions."""
    return None if isinstance(size, (ndarray, numpy.ndarray)) and not size.ndim else shape_of(size)


def broadcast_shape(*shapes: Shape) -> Shape | None:
    """Return the shape that all broadcast to; None if there is none."""
    try:
        return layout.broadcast_shapes(*shapes)
    except ValueError:
        return None


def is_number(x: Any) -> bool:
    """Whether a parameter is a real number of Python or NumPy, and no array."""
    return isinstance(x, (bool, int, float, numpy.generic)) and not isinstance(x, numpy.complexfloating)


def float64_parameter(x: Any) -> Any:
    """Return a parameter in float64: a number of Python, or an array of the device."""
    if is_number(x):
        return float(x)
    if isinstance(x, numpy.ndarray) and type(x) is not numpy.ndarray:
        raise TypeError("what an array of another class stands for, NumPy knows")
    array = None if x is None else as_array(x)
    if array is None or not numpy.can_cast(array.dtype, FLOAT64):
        raise TypeError("NumPy says what is wrong with it")
    return array if array.dtype == FLOAT64 else elementwise("cast", [array], (array.dtype, FLOAT64))


def float64_row(x: Any) -> Any:
    """Return a parameter that is a row of numbers in float64, on the host."""
    given = numpy.asarray(to_host(x) if isinstance(x, ndarray) else x)
    if not numpy.can_cast(given.dtype, FLOAT64):
        raise TypeError("NumPy says what is wrong with it")
    return given.astype(FLOAT64)


def finite_parameters(scratch: Any, name: str, *params: Any) -> tuple[float, ...]:
    """Return a method's parameters if all are finite numbers, once the scratch generator took them; else nothing."""
    if not all(is_number(x) and isfinite(x) and not 0 < abs(x) < _SMALLEST_HALVABLE for x in params):
        return ()
    getattr(scratch, name)(*params)
    return tuple(map(float, params))


def is_scale(x: Any) -> bool:
    """Whether NumPy takes a parameter for a scale: none is negative, not even a zero."""
    if is_number(x):
        return not numpy.signbit(float(x)) or x != x
    x = float64_parameter(x)
    negative = elementwise("logical_and", [elementwise("signbit", [x]), elementwise("equal", [x, x])])
    return not bool(any_of(negative))


def all_positive(x: Any) -> bool:
    """Whether all numbers of a parameter are greater than zero."""
    return all_true(float64_parameter(x) > 0)


def all_true(condition: Any) -> bool:
    """Whether a condition holds everywhere: one of numbers, or of arrays."""
    return bool(condition if is_number(condition) else all_of(condition))
