"""Values of polynomials at points, and the matrices of the values of basis polynomials."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

import numpy

from ..core.recording.array import ndarray
from ..core.recording.record import as_array, check_class
from ..functions.manipulation.joining import as_arrays, stack
from ..functions.manipulation.shape import atleast_1d, moveaxis
from ..functions.reductions.reductions import prod
from .bases import Basis
from .operands import Array, as_float_coefficients, device_of


def values(basis: Basis, x: Any, c: Any, tensor: bool = True) -> ndarray:
    """Return the values of polynomials at points, by Clenshaw's recurrence.

    Coefficients on the host become arguments of the kernel, if they are those of one polynomial.
    """
    device = device_of(x, c)
    coefficients = as_float_coefficients(c)
    points = _as_points(x, device)
    if not isinstance(coefficients, ndarray) and (coefficients.ndim > 1 or not isinstance(points, ndarray)):
        coefficients = as_array(coefficients, device)
    if isinstance(coefficients, ndarray) and isinstance(points, ndarray) and tensor:
        rows: Array = coefficients
        coefficients = rows.reshape(rows.shape + (1,) * points.ndim)
    count = coefficients.shape[0]
    latest = coefficients[count - 1] + points * 0
    before: Array = None
    for n in range(count - 2, -1, -1):
        term = coefficients[n]
        if before is not None and basis.g(n + 1):
            term = term - before * _ratio(basis.g(n + 1), basis.d(n + 1))
        if basis.b(n):
            factor = latest * basis.linear(n, points) / basis.d(n)
        else:
            factor = latest * points * _ratio(basis.a(n), basis.d(n))
        latest, before = term + factor, latest
    return latest


def _as_points(x: Any, device: Any) -> Array:
    """Return points as an array; a number, or another object that knows arithmetic, stays as it is."""
    if isinstance(x, (ndarray, numpy.ndarray, list, tuple)):
        return as_array(x, device)
    check_class(x)
    return x


def _ratio(numerator: int, denominator: int) -> Any:
    """Return the quotient of integers, an integer if it is one."""
    return numerator // denominator if numerator % denominator == 0 else numerator / denominator


def values_at_tuples(basis: Basis, points: tuple[Any, ...], c: Any) -> ndarray:
    """Return the values of a polynomial in several variables at points, given by arrays of their coordinates."""
    arrays = as_arrays(points) if device_of(c) is None else [as_array(x, device_of(*points, c)) for x in points]
    if any(x.shape != arrays[0].shape for x in arrays):
        names = {2: "x, y", 3: "x, y, z"}.get(len(arrays), "ordinates")
        raise ValueError(f"{names} are incompatible")
    result = values(basis, arrays[0], c)
    for x in arrays[1:]:
        result = values(basis, x, result, tensor=False)
    return result


def values_on_grid(basis: Basis, axes: tuple[Any, ...], c: Any) -> ndarray:
    """Return the values of a polynomial in several variables on the grid of the axes' points."""
    return reduce(lambda result, x: values(basis, x, result), axes, c)


def values_from_roots(x: Any, r: Any, tensor: bool = True) -> ndarray:
    """Return the values at points of the polynomials with given roots."""
    device = device_of(x, r)
    roots: Array = as_array(as_float_coefficients(r), device)
    points = _as_points(x, device)
    if isinstance(points, ndarray):
        if tensor:
            roots = roots.reshape(roots.shape + (1,) * points.ndim)
        elif points.ndim >= roots.ndim:
            raise ValueError("x.ndim must be < r.ndim when tensor == False")
    return prod(points - roots, 0)


def vander(basis: Basis, x: Any, deg: Any) -> ndarray:
    """Return the values of the basis polynomials up to a degree, along a new last axis."""
    degree = as_degree(deg, "deg")
    if degree < 0:
        raise ValueError("deg must be non-negative")
    points: Array = atleast_1d(x) + 0.0
    columns: list[Array] = [points * 0 + 1]
    for n in range(degree):
        column = columns[n] * basis.linear(n, points)
        if n and basis.g(n):
            column = column - columns[n - 1] * basis.g(n)
        columns.append(column if basis.d(n) == 1 else column / basis.d(n))
    return moveaxis(stack(columns), 0, -1)


def vander_of_products(basis: Basis, points: tuple[Any, ...], degrees: Any) -> ndarray:
    """Return the values of all products of basis polynomials, one in each variable, along a new last axis."""
    if len(points) != len(degrees):
        raise ValueError(f"Expected {len(points)} dimensions of degrees, got {len(degrees)}")
    count = len(points)
    arrays: list[Array] = as_arrays(points)
    if len({x.shape for x in arrays}) > 1:
        raise ValueError("the points' coordinates are arrays of different shapes")
    dtype = numpy.result_type(*(x.dtype for x in arrays))
    product: Array = None
    for k, (x, degree) in enumerate(zip(arrays, degrees, strict=True)):
        matrix: Array = vander(basis, x.astype(dtype), degree)
        own_axis = (..., *(slice(None) if j == k else None for j in range(count)))
        product = matrix[own_axis] if product is None else product * matrix[own_axis]
    return product.reshape(product.shape[:-count] + (-1,))


def as_degree(x: Any, name: str) -> int:
    """Return a number as an int; raise NumPy's `TypeError` unless it is an integer."""
    try:
        return operator.index(x)
    except TypeError as error:
        raise TypeError(f"{name} must be an integer, received {x}") from error
