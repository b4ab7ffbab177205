"""Polynomials by coefficients from the highest degree down: the functions of NumPy's main namespace.

NumPy's class `poly1d` holds its coefficients on the host, and so do all results of that class.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy

from ..core.dtypes import KIND, check
from ..core.recording.array import from_host, ndarray, to_host
from ..core.recording.record import as_array, leave_function_to_class, to_numpy
from ..core.source_location import warn
from ..functions.calculus import convolve
from ..functions.creation.arrays import ones, zeros, zeros_like
from ..functions.creation.ranges import arange, eye, vander
from ..functions.fallback import on_host
from ..functions.manipulation.insert_delete import trim_zeros
from ..functions.manipulation.joining import as_arrays, concatenate, hstack, stack
from ..functions.manipulation.shape import atleast_1d
from ..functions.products.tensor_products import outer
from ..functions.reductions.reductions import all
from ..functions.sorting.sort import sort
from ..functions.ufuncs.ufunc import sqrt
from ..linalg.decompositions import eigvals
from ..linalg.least_squares import lstsq
from ..linalg.solvers import inv
from .fitting import check_points
from .operands import Array
from .roots import real_if_possible

__all__ = ["poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "roots"]


def _keeps_poly1d(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that leaves calls with a `poly1d` to NumPy's function of the same name."""
    by_numpy = on_host(getattr(numpy, function.__name__), "")

    @wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        holds_poly1d = any(isinstance(x, numpy.poly1d) for x in (*args, *options.values()))
        return (by_numpy if holds_poly1d else function)(*args, **options)

    return run


# --- values, roots, fits ----------------------------------------------------------------------------------------------


def polyval(p: Any, x: Any) -> ndarray:
    """Evaluate a polynomial by Horner's rule. See `numpy.polyval`."""
    if isinstance(x, numpy.poly1d):
        return on_host(numpy.polyval, "")(p, x)
    leave_function_to_class(p)
    device = next((a.device for a in (x, p) if isinstance(a, ndarray)), None)
    points: Array = as_array(x, device)
    # Numbers of the host become arguments of the kernel.
    coefficients: Array = p if isinstance(p, ndarray) else to_numpy(p)
    result: Array = zeros_like(points)
    for k in range(coefficients.shape[0]):
        row = coefficients[k]
        result = result * points + (row if isinstance(row, numpy.generic) else as_array(row, device))
    return result


def poly(seq_of_zeros: Any) -> Any:
    """Return the coefficients of the polynomial with given roots, or of a matrix. See `numpy.poly`.

    Complex roots are read by the host, since conjugate pairs make the coefficients real.
    """
    zeros_: Array = atleast_1d(seq_of_zeros)
    if zeros_.ndim == 2 and zeros_.shape[0] == zeros_.shape[1] != 0:
        zeros_ = eigvals(zeros_)
    elif zeros_.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    else:
        zeros_ = zeros_.astype(numpy.mintypecode(check(zeros_.dtype).char), copy=False)
    if not zeros_.size:
        return 1.0
    result: Array = zeros(zeros_.size + 1, zeros_.dtype, device=zeros_.device)
    result[0] = 1
    for k in range(zeros_.size):
        result[1 : k + 2] -= zeros_[k] * result[: k + 1]
    if result.dtype.kind == "c" and all(sort(zeros_) == sort(zeros_.conj())):
        return result.real.copy()
    return result


def roots(p: Any) -> ndarray:
    """Return the roots of a polynomial, the eigenvalues of its companion matrix. See `numpy.roots`.

    The host reads which coefficients are zeros.
    """
    coefficients: Array = atleast_1d(p)
    if coefficients.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    nonzero = numpy.flatnonzero(to_host(coefficients != 0))
    if not nonzero.size:
        return from_host(numpy.zeros(0), coefficients.device)
    zero_count = coefficients.size - int(nonzero[-1]) - 1
    trimmed = coefficients[int(nonzero[0]) : int(nonzero[-1]) + 1]
    if KIND[trimmed.dtype] in "biu":
        trimmed = trimmed.astype(float)
    if trimmed.size > 1:
        first_row = -trimmed[1:] / trimmed[0]  # with the signs of zeros that NumPy has: they order the roots
        below = eye(trimmed.size - 2, trimmed.size - 1, dtype=first_row.dtype, device=first_row.device)
        found = real_if_possible(eigvals(concatenate((first_row[None], below))), trimmed.dtype)
    else:
        found = from_host(numpy.zeros(0), coefficients.device)
    return hstack((found, zeros(zero_count, found.dtype, device=found.device)))


def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    """Fit a polynomial by least squares. See `numpy.polyfit`."""
    terms = int(deg) + 1
    arrays: list[Array] = as_arrays([x, y] if w is None else [x, y, w])
    points, values, *weights = (a + 0.0 for a in arrays)
    if deg < 0:
        raise ValueError("expected deg >= 0")
    check_points(points, values)
    if rcond is None:
        rcond = points.size * numpy.finfo(points.dtype).eps
    matrix: Array = vander(points, terms)
    for weight in weights:
        if weight.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if weight.shape[0] != values.shape[0]:
            raise TypeError("expected w and y to have the same length")
        matrix *= weight[:, None]
        values *= weight[:, None] if values.ndim == 2 else weight
    scale: Array = sqrt((matrix * matrix).sum(0))
    matrix = matrix / scale
    solution: Array
    solution, residuals, rank, singular_values = lstsq(matrix, values, rcond)
    solution = (solution.T / scale).T
    if full:
        return solution, residuals, rank, singular_values, rcond
    if rank != terms:
        warn("Polyfit may be poorly conditioned", numpy.exceptions.RankWarning)
    if not cov:
        return solution
    covariance: Array = inv(matrix.T @ matrix)
    covariance = covariance / outer(scale, scale)
    factor: Any = 1
    if not (isinstance(cov, str) and cov == "unscaled"):
        if points.size <= terms:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = residuals / (points.size - terms)
    return solution, (covariance if values.ndim == 1 else covariance[:, :, None]) * factor


# --- arithmetic -------------------------------------------------------------------------------------------------------


@_keeps_poly1d
def polyadd(a1: Any, a2: Any) -> Any:
    """Return the sum of two polynomials. See `numpy.polyadd`."""
    x, y = _of_one_length(a1, a2)
    return x + y


@_keeps_poly1d
def polysub(a1: Any, a2: Any) -> Any:
    """Return the difference of two polynomials. See `numpy.polysub`."""
    x, y = _of_one_length(a1, a2)
    return x - y


def _of_one_length(a1: Any, a2: Any) -> list[Array]:
    """Return both arguments as arrays, the shorter one with zeros before it."""
    arrays: list[Array] = [atleast_1d(x) for x in as_arrays((a1, a2))]
    length = max(len(x) for x in arrays)
    return [
        concatenate((zeros(length - len(x), x.dtype, device=x.device), x)) if len(x) < length else x for x in arrays
    ]


@_keeps_poly1d
def polymul(a1: Any, a2: Any) -> Any:
    """Return the product of two polynomials, without zeros before the factors. See `numpy.polymul`."""
    return convolve(*(_without_leading_zeros(x) for x in as_arrays((a1, a2))))


def _without_leading_zeros(x: ndarray) -> ndarray:
    """Return the coefficients from the first that is not zero; one zero if all are."""
    coefficients = atleast_1d(x)
    if coefficients.ndim > 1:
        raise ValueError("Polynomial must be 1d only.")
    trimmed: ndarray = trim_zeros(coefficients, "f")
    return trimmed if trimmed.size else zeros(1, trimmed.dtype, device=x.device)


@_keeps_poly1d
def polydiv(u: Any, v: Any) -> Any:
    """Return quotient and remainder of two polynomials. See `numpy.polydiv`.

    The host reads how many leading coefficients of the remainder are zero.
    """
    arrays: list[Array] = as_arrays((u, v))
    dividend, divisor = (atleast_1d(x) + 0.0 for x in arrays)
    dtype = (dividend[0] + divisor[0]).dtype
    m, n = len(dividend) - 1, len(divisor) - 1
    scale = 1.0 / divisor[0]
    remainder = dividend.astype(dtype)
    digits = []
    for k in range(m - n + 1):
        digits.append(scale * remainder[k])
        remainder[k : k + n + 1] -= digits[k] * divisor
    quotient = stack(digits, dtype=dtype) if digits else zeros(1, dtype, device=remainder.device)
    is_zero = to_host(abs(remainder) <= _ZERO_TOLERANCE)
    kept = numpy.flatnonzero(~is_zero[:-1])
    return quotient, remainder[int(kept[0]) if kept.size else len(is_zero) - 1 :]


# Leading coefficients of a remainder up to this are taken for zeros, as NumPy's `allclose` has it.
_ZERO_TOLERANCE = 1e-8


# --- calculus ---------------------------------------------------------------------------------------------------------


@_keeps_poly1d
def polyder(p: Any, m: Any = 1) -> Any:
    """Return a derivative of a polynomial. See `numpy.polyder`."""
    order = int(m)
    if order < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    result: Array = as_array(p)
    for _ in range(order):
        result = result[:-1] * arange(len(result) - 1, 0, -1, device=result.device)
    return result


@_keeps_poly1d
def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    """Return an antiderivative of a polynomial. See `numpy.polyint`."""
    order = int(m)
    if order < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    result: Array = as_array(p)
    constants: Array = atleast_1d(as_array(numpy.zeros(order) if k is None else k, result.device))
    if len(constants) == 1 and order > 1:
        constants = constants * ones(order, device=result.device)
    if len(constants) < order:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for j in range(order):
        result = concatenate((result / arange(len(result), 0, -1, device=result.device), constants[j : j + 1]))
    return result
