"""The frequencies of transforms, and the order of a spectrum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from ..core import dtypes
from ..core.graph import layout
from ..core.recording.array import ndarray
from ..core.recording.record import as_array
from ..functions.creation.ranges import arange
from ..functions.manipulation.repeating import roll
from ..functions.manipulation.shape import astype
from ..functions.ufuncs.elementwise import where
from ..functions.ufuncs.ufunc import less, multiply, subtract

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def fftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> ndarray:
    """The frequencies of a transform's results. See `numpy.fft.fftfreq`.

    Parameters
    ----------
    n : int
        The length of the transform.
    d : float, optional
        The distance between samples.
    device : Device, str, int or None, optional
        Where to make the result.
    dtype : dtype, optional
        A real floating dtype; float64 by default.
    """
    if _length(n) < 0:
        raise ValueError("negative dimensions are not allowed")
    positions = arange(int(n), device=device)
    signed = where(less(positions, (n + 1) // 2), positions, subtract(positions, n))
    return _per_length(signed, n, d, dtype)


def rfftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> ndarray:
    """The frequencies of a real transform's results. See `numpy.fft.rfftfreq`.

    Parameters
    ----------
    n : int
        The length of the transform.
    d : float, optional
        The distance between samples.
    device : Device, str, int or None, optional
        Where to make the result.
    dtype : dtype, optional
        A real floating dtype; float64 by default.
    """
    return _per_length(arange(_length(n) // 2 + 1, device=device), n, d, dtype)


def _length(n: Any) -> int:
    if not isinstance(n, (int, numpy.integer)):
        raise ValueError("n should be an integer")
    return int(n)


def _per_length(positions: ndarray, n: int, d: Any, dtype: Any) -> ndarray:
    """Positions in a transform as frequencies."""
    frequencies = multiply(positions, 1.0 / (n * d))
    if dtype is None:
        return frequencies
    wanted = dtypes.check(dtype)
    if dtypes.KIND[wanted] not in "ef":
        raise TypeError(f"frequencies are real floating numbers, and cannot be of dtype {str(wanted)!r}")
    return astype(frequencies, wanted, copy=False)


def fftshift(x: Any, axes: int | Sequence[int] | None = None) -> ndarray:
    """A spectrum with the zero frequency in the middle. See `numpy.fft.fftshift`."""
    return _turned(as_array(x), axes, 1)


def ifftshift(x: Any, axes: int | Sequence[int] | None = None) -> ndarray:
    """A spectrum with the zero frequency first, which undoes `fftshift`. See `numpy.fft.ifftshift`."""
    return _turned(as_array(x), axes, -1)


def _turned(x: ndarray, axes: int | Sequence[int] | None, way: int) -> ndarray:
    """The elements rolled by half the size of each axis, one way or the other."""
    if not x.ndim:
        raise ValueError("an array of no dimensions has no axis to shift")
    if axes is None:
        axes = range(x.ndim)
    turned = tuple(axes) if isinstance(axes, Iterable) else (axes,)
    return roll(x, tuple(way * (x.shape[layout.normalize_axis(axis, x.ndim)] // 2) for axis in turned), turned)
