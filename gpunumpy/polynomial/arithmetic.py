"""Sums, products, quotients and powers of polynomials by their coefficients, from the lowest degree.

How many coefficients a result has, the values decide: the host reads which of the last are zeros.
"""

from __future__ import annotations

from typing import Any

import numpy

from ..core.dtypes import COMPLEX128, FLOAT64, DType
from ..core.recording.array import ndarray, to_host
from ..core.recording.record import as_array
from ..functions.calculus import convolve
from ..functions.creation.arrays import ones
from ..functions.manipulation.joining import concatenate, stack
from ..functions.sorting.sort import sort
from .bases import CHEBYSHEV, POWERS, Basis
from .operands import Array, as_series, combined, is_zero, real_dtype, shifted, trimmed


def add(basis: Basis, c1: Any, c2: Any) -> ndarray:
    """Return the coefficients of a sum."""
    x, y = as_series(c1, c2)
    length = max(x.shape[0], y.shape[0])
    return trimmed(shifted(x, 0, length) + shifted(y, 0, length))


def subtract(basis: Basis, c1: Any, c2: Any) -> ndarray:
    """Return the coefficients of a difference."""
    x, y = as_series(c1, c2)
    length = max(x.shape[0], y.shape[0])
    return trimmed(shifted(x, 0, length) - shifted(y, 0, length))


def times_x(basis: Basis, c: Any) -> ndarray:
    """Return the coefficients of the product with x."""
    (series,) = as_series(c)
    count: int = series.shape[0]
    return series if is_zero(series) else combined(series, *basis.times_x(count), count + 1)


def multiply(basis: Basis, c1: Any, c2: Any) -> ndarray:
    """Return the coefficients of a product."""
    x, y = as_series(c1, c2)
    return trimmed(_product(basis, x, y))


def _product(basis: Basis, x: Array, y: Array) -> Array:
    """Return the product of polynomials of one dtype."""
    if basis is POWERS:
        return convolve(x, y)
    shorter, longer = (x, y) if x.shape[0] <= y.shape[0] else (y, x)
    return _evaluated(basis, shorter, basis, longer)


def _evaluated(source: Basis, c: Array, target: Basis, unit: Array) -> Array:
    """Return `unit` times a polynomial of the basis `source`, in the basis `target`, by Clenshaw's recurrence.

    The recurrence for values, with multiplication by x as a matrix that is applied to coefficients.
    """
    length = c.shape[0] + unit.shape[0] - 1
    matrix, unit = _matrix_of_x(target, length, unit), shifted(unit, 0, length)
    latest = unit * c[-1]
    before: Array = None
    for n in range(c.shape[0] - 2, -1, -1):
        term = _linear_times(source, n, matrix, latest) / source.d(n) + unit * c[n]
        if before is not None and source.g(n + 1):
            term = term - before * (source.g(n + 1) / source.d(n + 1))
        latest, before = term, latest
    return latest


def _matrix_of_x(basis: Basis, size: int, like: Array) -> Array:
    """Return the matrix that multiplies coefficients by x, in the precision of an array."""
    return as_array(basis.matrix_of_x(size).astype(real_dtype(like.dtype)), like.device)


def _linear_times(basis: Basis, n: int, matrix: Array, c: Array) -> Array:
    """Return the product with ``a[n] x + b[n]`` by numbers of a basis, for a matrix that multiplies by x."""
    product = (matrix * c).sum(1) * basis.a(n)
    return product + c * basis.b(n) if basis.b(n) else product


def converted(source: Basis, target: Basis, c: Any) -> ndarray:
    """Return the coefficients of a polynomial in another basis; from powers of x in double precision, as NumPy does."""
    (series,) = as_series(c)
    if source is POWERS:
        series = series.astype(_in_double_precision(series.dtype))
    return _evaluated(source, series, target, ones(1, series.dtype, device=series.device))


def divide(basis: Basis, c1: Any, c2: Any) -> tuple[ndarray, ndarray]:
    """Return the coefficients of quotient and remainder."""
    dividend, divisor = as_series(c1, c2)
    if is_zero(divisor):
        raise ZeroDivisionError
    degree = dividend.shape[0] - divisor.shape[0]
    if degree < 0:
        return dividend[:1] * 0, dividend
    if divisor.shape[0] == 1:
        return dividend / divisor[-1], dividend[:1] * 0
    # NumPy multiplies the divisor by each basis polynomial, in double precision but for these two bases.
    products = [divisor if basis in (POWERS, CHEBYSHEV) else divisor.astype(_in_double_precision(divisor.dtype))]
    products[0] = shifted(products[0], 0, dividend.shape[0])
    matrix = _matrix_of_x(basis, dividend.shape[0], products[0])
    for n in range(degree):
        product = _linear_times(basis, n, matrix, products[n])
        if n and basis.g(n):
            product = product - products[n - 1] * basis.g(n)
        products.append(product / basis.d(n))
    remainder, digits = dividend, []
    for product in reversed(products):
        last = remainder.shape[0] - 1
        digits.append(remainder[last] / product[last])
        remainder = remainder[:last] - digits[-1] * product[:last]
    return stack(digits[::-1], dtype=dividend.dtype), trimmed(remainder)


def _in_double_precision(dtype: DType) -> DType:
    """Return float64 for a real dtype, complex128 for a complex one."""
    return COMPLEX128 if dtype.kind == "c" else FLOAT64


def power(basis: Basis, c: Any, pow: Any, maxpower: Any = None) -> ndarray:
    """Return the coefficients of a power, by repeated products."""
    (series,) = as_series(c)
    exponent = int(pow)
    if exponent != pow or exponent < 0:
        raise ValueError("Power must be a non-negative integer.")
    if maxpower is not None and exponent > maxpower:
        raise ValueError("Power is too large")
    if exponent == 0:
        return ones(1, series.dtype, device=series.device)
    result = series
    for _ in range(exponent - 1):
        result = _product(basis, result, series)
    return trimmed(result) if exponent > 1 else result


def from_roots(basis: Basis, roots: Any) -> ndarray:
    """Return the coefficients of the polynomial with given roots, multiplied pair by pair."""
    values: Array = as_array(roots)
    if not values.size:
        return ones(1, device=values.device)
    (values,) = as_series(values, trim=False)
    values = sort(values)
    values = values.astype(_in_double_precision(values.dtype))
    a, b = basis.a(0), basis.b(0)
    factors = [concatenate((-values[k : k + 1] - b / a, values[k : k + 1] * 0 + 1 / a)) for k in range(values.size)]
    while len(factors) > 1:
        half, rest = divmod(len(factors), 2)
        products = [_product(basis, factors[k], factors[k + half]) for k in range(half)]
        if rest:
            products[0] = _product(basis, products[0], factors[-1])
        factors = products
    return factors[0]


def trim(c: Any, tol: float = 0) -> ndarray:
    """Return coefficients without small ones at their end."""
    if tol < 0:
        raise ValueError("tol must be non-negative")
    (series,) = as_series(c)
    above = numpy.flatnonzero(to_host(abs(series) > tol))
    return series[: int(above[-1]) + 1] if above.size else series[:1] * 0
