"""Fits of polynomials by least squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..core.late_imports import import_late
from ..core.recording.array import ndarray, to_host
from ..core.source_location import warn
from ..functions.creation.arrays import asarray, zeros
from ..functions.manipulation.joining import as_arrays
from ..functions.ufuncs.elementwise import where
from ..functions.ufuncs.ufunc import sqrt
from ..linalg.least_squares import lstsq
from .bases import Basis
from .evaluation import vander
from .operands import Array


def interpolate(
    chebvander: Callable[..., Array], func: Callable[..., Any], deg: Any, args: tuple[Any, ...] = ()
) -> Array:
    """Return the Chebyshev series that equals a function at the Chebyshev points of the first kind.

    The function is called with an array of this package, and so is `chebvander`, as programs call it. See
    `numpy.polynomial.chebyshev.chebinterpolate`.
    """
    degree = numpy.asarray(deg)
    if degree.ndim or degree.dtype.kind not in "iu":
        raise TypeError("deg must be an int")
    if degree < 0:
        raise ValueError("expected deg >= 0")
    order = int(degree) + 1
    points: Array = asarray(import_late("numpy.polynomial.chebyshev").chebpts1(order))
    matrix = chebvander(points, order - 1)
    values: Array = asarray(func(points, *args))
    scale: Array = asarray(numpy.where(numpy.arange(order), 2.0, 1.0) / order)
    return (matrix.T @ values) * scale.reshape((-1,) + (1,) * (values.ndim - 1))


def check_points(points: Array, values: Array) -> None:
    """Raise TypeError unless there are points, and as many values, in one column or several."""
    if points.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if not points.size:
        raise TypeError("expected non-empty vector for x")
    if values.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if points.shape[0] != values.shape[0]:
        raise TypeError("expected x and y to have same length")


def fit(basis: Basis, x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None) -> Any:
    """Return the coefficients of the polynomial that fits values at points best in the sense of least squares."""
    arrays: list[Array] = as_arrays([x, y] if w is None else [x, y, w])
    points, values, *weights = (a + 0.0 for a in arrays)
    degrees = numpy.asarray(to_host(deg) if isinstance(deg, ndarray) else deg)
    if degrees.ndim > 1 or degrees.dtype.kind not in "iu" or not degrees.size:
        raise TypeError("deg must be an int or non-empty 1-D array of int")
    if degrees.min() < 0:
        raise ValueError("expected deg >= 0")
    check_points(points, values)
    highest = int(degrees.max())
    matrix: Array = vander(basis, points, highest)
    if degrees.ndim:
        degrees = numpy.sort(degrees)
        matrix = matrix[:, degrees]
    for weight in weights:
        if weight.ndim != 1:
            raise TypeError("expected 1D vector for w")
        if points.shape[0] != weight.shape[0]:
            raise TypeError("expected x and w to have same length")
        matrix = matrix * weight[:, None]
        values = values * (weight[:, None] if values.ndim == 2 else weight)
    if rcond is None:
        rcond = points.size * numpy.finfo(points.dtype).eps
    parts = (matrix.real, matrix.imag) if matrix.dtype.kind == "c" else (matrix,)
    norm: Array = sqrt(sum((part * part).sum(0) for part in parts))
    norm = where(norm == 0, 1, norm)
    solution: Array
    solution, residuals, rank, singular_values = lstsq(matrix / norm, values, rcond)
    solution = (solution.T / norm).T
    if degrees.ndim:
        every: Array = zeros((highest + 1, *solution.shape[1:]), solution.dtype, device=solution.device)
        every[degrees] = solution
        solution = every
    if full:
        return solution, [residuals, rank, singular_values, rcond]
    if rank != matrix.shape[1]:
        warn("The fit may be poorly conditioned", numpy.exceptions.RankWarning)
    return solution
