"""Frequencies of transforms, and the order of a spectrum."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy

from ..core import dtypes
from ..core.recording.array import ndarray
from ..core.recording.record import as_array
from ..functions.creation.ranges import arange
from ..functions.manipulation.repeating import roll
from ..functions.manipulation.shape import astype
from ..functions.ufuncs.elementwise import where
from ..functions.ufuncs.ufunc import less, multiply, subtract

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def fftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> ndarray:
    """Return the sample frequencies of a transform. See `numpy.fft.fftfreq`.

    Parameters
    ----------
    n : int
        The length of the transform.
    d : float, optional
        The distance between samples.
    device : Device, str, int or None, optional
        Device of the result.
    dtype : dtype, optional
        A real floating dtype; float64 by default.
    """
    if _checked_length(n) < 0:
        raise ValueError("negative dimensions are not allowed")
    positions = arange(int(n), device=device)
    signed = where(less(positions, (n + 1) // 2), positions, subtract(positions, n))
    return _as_frequencies(signed, n, d, dtype)


def rfftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> ndarray:
    """Return the sample frequencies of a transform of real numbers. See `numpy.fft.rfftfreq`.

    Parameters
    ----------
    n : int
        The length of the transform.
    d : float, optional
        The distance between samples.
    device : Device, str, int or None, optional
        Device of the result.
    dtype : dtype, optional
        A real floating dtype; float64 by default.
    """
    return _as_frequencies(arange(_checked_length(n) // 2 + 1, device=device), n, d, dtype)


def _checked_length(n: Any) -> int:
    """Return the length as an int; raise `ValueError` for anything but an integer."""
    try:
        return operator.index(n)
    except TypeError:
        raise ValueError("n should be an integer") from None


def _as_frequencies(positions: ndarray, n: int, d: Any, dtype: Any) -> ndarray:
    """Return positions in a transform as frequencies; raise `TypeError` unless the dtype is a real floating one."""
    frequencies = multiply(positions, 1.0 / (n * d))
    if dtype is None:
        return frequencies
    checked_dtype = dtypes.check(dtype)
    if dtypes.KIND[checked_dtype] not in "ef":
        raise TypeError(f"frequencies are real floating numbers, and cannot be of dtype {str(checked_dtype)!r}")
    return astype(frequencies, checked_dtype, copy=False)


def fftshift(x: Any, axes: int | Sequence[int] | None = None) -> ndarray:
    """Shift the zero frequency to the middle of the spectrum. See `numpy.fft.fftshift`."""
    return _roll_by_half(as_array(x), axes, 1)


def ifftshift(x: Any, axes: int | Sequence[int] | None = None) -> ndarray:
    """Shift the zero frequency back to the front: the inverse of `fftshift`. See `numpy.fft.ifftshift`."""
    return _roll_by_half(as_array(x), axes, -1)


def _roll_by_half(x: ndarray, axes: int | Sequence[int] | None, direction: int) -> ndarray:
    """Roll the elements by half the length of each axis, forward if `direction` is 1 and back if it is -1."""
    if axes is None:
        axes = range(x.ndim)
    rolled_axes = tuple(axes) if numpy.iterable(axes) else (axes,)
    steps = tuple(direction * (x.shape[axis] // 2) for axis in rolled_axes)  # raises NumPy's `IndexError`
    if not x.ndim:
        raise ValueError("not enough values to unpack (expected 2, got 0)")
    return roll(x, steps, rolled_axes)
