"""Derivatives and integrals of polynomials by their coefficients, from the lowest degree, along an axis."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.graph.layout import normalize_axis
from ..core.recording.array import ndarray, to_host
from ..core.recording.record import as_array
from ..functions.manipulation.joining import concatenate
from ..functions.manipulation.shape import flip, moveaxis
from ..functions.reductions.reductions import all
from ..functions.reductions.scans import cumsum
from .bases import Basis
from .evaluation import as_degree, values
from .operands import Array, along_first_axis, as_float_coefficients, combined, device_of, shifted


def derivative(basis: Basis, c: Any, m: Any = 1, scl: Any = 1, axis: Any = 0) -> ndarray:
    """Return the coefficients of a derivative."""
    coefficients: Array = as_array(as_float_coefficients(c), device_of(c, scl))
    order, axis = as_degree(m, "the order of derivation"), as_degree(axis, "the axis")
    if order < 0:
        raise ValueError("The order of derivation must be non-negative")
    axis = normalize_axis(axis, coefficients.ndim)
    if not order:
        return coefficients.copy()
    rows: Array = moveaxis(coefficients, axis, 0)
    if order >= rows.shape[0]:
        return moveaxis(rows[:1] * 0, 0, axis)
    for _ in range(order):
        rows = _derivative(basis, _scaled(rows, scl))
    return moveaxis(rows, 0, axis)


def _derivative(basis: Basis, c: Array) -> Array:
    """Return the coefficients of the first derivative along the first axis."""
    factor, factor_of_sum, step = basis.derivative
    n = numpy.arange(1, c.shape[0])
    terms = c[1:] * along_first_axis(factor(n), c)
    if step:
        terms = _sums_of_later(terms, step)
    return terms * along_first_axis(factor_of_sum(n - 1), c)


def _sums_of_later(terms: Array, step: int) -> Array:
    """Return the sum of each row with those that come `step`, twice `step`, ... rows later."""
    count, shape = terms.shape[0], terms.shape[1:]
    groups = shifted(terms, 0, count + -count % step).reshape(-1, step, *shape)
    sums: Array = flip(cumsum(flip(groups, 0), 0), 0)
    return sums.reshape(-1, *shape)[:count]


def integral(basis: Basis, c: Any, m: Any = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: Any = 0) -> ndarray:
    """Return the coefficients of an integral that has given values at the lower bound."""
    coefficients: Array = as_array(as_float_coefficients(c), device_of(c, k, lbnd, scl))
    constants = list(k) if numpy.iterable(k) else [k]
    order, axis = as_degree(m, "the order of integration"), as_degree(axis, "the axis")
    if order < 0:
        raise ValueError("The order of integration must be non-negative")
    if len(constants) > order:
        raise ValueError("Too many integration constants")
    for name, number in (("lbnd", lbnd), ("scl", scl)):
        if numpy.ndim(number) != 0:
            raise ValueError(f"{name} must be a scalar.")
    axis = normalize_axis(axis, coefficients.ndim)
    if not order:
        return coefficients.copy()
    rows: Array = moveaxis(coefficients, axis, 0)
    constants += [0] * (order - len(constants))
    for constant in constants:
        rows = _scaled(rows, scl)
        if rows.shape[0] == 1 and to_host(all(rows == 0)):
            rows = rows + constant
            continue
        rows = _antiderivative(basis, rows)
        first = rows[0] + (constant - values(basis, lbnd, rows))
        rows = concatenate((first[None], rows[1:]))
    return moveaxis(rows, 0, axis)


def _antiderivative(basis: Basis, c: Array) -> Array:
    """Return the coefficients of an antiderivative along the first axis."""
    n = numpy.arange(c.shape[0])
    up, same, down = (f(n) for f in basis.integral)
    return combined(c, up, same, down, c.shape[0] + 1)


def _scaled(c: Array, scl: Any) -> Array:
    """Return the coefficients times a number, in their own dtype; raise NumPy's error for a product of a wider kind."""
    product = c * scl
    numpy.multiply.resolve_dtypes((product.dtype, product.dtype, c.dtype))
    return product.astype(c.dtype, copy=False)
