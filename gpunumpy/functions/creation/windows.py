"""Window functions: weights of the samples of a signal."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy

from ...core.dtypes import check
from ...core.floating_errors import silent_unless_asked
from ...core.recording.array import ndarray
from ..ufuncs.elementwise import i0, where
from ..ufuncs.ufunc import add, cos, divide, less_equal, multiply, sqrt, square, subtract
from .arrays import empty, ones
from .ranges import arange, host_scalar

__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]


def bartlett(M: Any) -> ndarray:
    """Return the Bartlett window, a triangle that ends in zeros. See `numpy.bartlett`."""
    length, short = _checked_length(M)
    if short is not None:
        return short
    place = _centered_places(length)
    return where(less_equal(place, 0), add(1, place), subtract(1, place))


def hanning(M: Any) -> ndarray:
    """Return the Hann window, a raised cosine that ends in zeros. See `numpy.hanning`."""
    return _cosine_window(M, (0.5, 0.5))


def hamming(M: Any) -> ndarray:
    """Return the Hamming window, a raised cosine. See `numpy.hamming`."""
    return _cosine_window(M, (0.54, 0.46))


def blackman(M: Any) -> ndarray:
    """Return the Blackman window, a sum of two cosines. See `numpy.blackman`."""
    return _cosine_window(M, (0.42, 0.5, 0.08))


def kaiser(M: Any, beta: Any) -> ndarray:
    """Return the Kaiser window, of Bessel functions. See `numpy.kaiser`."""
    shape = host_scalar(beta)
    length, short = _checked_length(M, shape)
    if short is not None:
        return short
    center = (length - 1) / 2.0
    place = divide(subtract(arange(0, length), center), center)
    with silent_unless_asked():
        largest = float(numpy.i0(shape))
    return divide(i0(multiply(float(shape), sqrt(subtract(1, square(place))))), largest)


def _checked_length(M: Any, *parameters: Any) -> tuple[Any, ndarray | None]:
    """Return the length as a float, and the window of a length below 2 that needs no formula, or None."""
    values = numpy.array([0.0, host_scalar(M), *parameters])
    dtype, length = check(values.dtype), values[1]
    if length < 1:
        return length, empty(0, dtype)
    return length, ones(1, dtype) if length == 1 else None


def _centered_places(length: Any) -> ndarray:
    """Return the places of the samples, from -1 to 1."""
    return divide(arange(1 - length, length, 2), length - 1)


def _cosine_window(M: Any, weights: tuple[float, ...]) -> ndarray:
    """Return the sum of cosines of the multiples of an angle from -pi to pi, with these weights."""
    length, short = _checked_length(M)
    if short is not None:
        return short
    places = arange(1 - length, length, 2)
    result: Any = weights[0]
    for k, weight in enumerate(weights[1:], 1):
        result = add(result, multiply(weight, cos(divide(multiply(k * pi, places), length - 1))))
    return result
