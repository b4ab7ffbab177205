"""Roots as eigenvalues of companion matrices."""

from __future__ import annotations

from functools import cache

import numpy

from ..core.dtypes import DType
from ..core.late_imports import import_late
from ..core.recording.array import from_host, ndarray, to_host
from ..core.recording.record import as_array
from ..functions.manipulation.joining import concatenate
from ..functions.reductions.reductions import any
from ..functions.sorting.sort import sort
from ..linalg.decompositions import eigvals
from .bases import Basis
from .operands import Array, as_series, real_dtype


def companion(basis: Basis, c: Array) -> ndarray:
    """Return the matrix whose characteristic polynomial has the given trimmed coefficients.

    Multiplication by x in the basis, scaled to be symmetric, with a last column that holds the coefficients.
    """
    if c.shape[0] < 2:
        raise ValueError("Series must have maximum degree of at least 1.")
    n = c.shape[0] - 1
    up, _, down = basis.times_x(n)
    scale = numpy.ones(n)
    if down[1:].any():
        scale[1:] = numpy.cumprod(numpy.sqrt(down[1:] / up[:-1]))
    multiplication = basis.matrix_of_x(n) * scale[:, None] / scale
    real = real_dtype(c.dtype)
    matrix: Array = as_array(multiplication.astype(real), c.device)
    last = matrix[:, -1] - c[:-1] / c[-1] * (scale / scale[-1] * up[-1]).astype(real)
    return concatenate((matrix[:, :-1], last[:, None]), 1)


def roots(basis: Basis, c: Array) -> ndarray:
    """Return the roots of a polynomial, sorted."""
    (series,) = as_series(c)
    if series.shape[0] < 2:
        return from_host(numpy.empty(0, series.dtype), series.device)
    if series.shape[0] == 2:
        root = -(series[:1] / series[1:] + basis.b(0)) / basis.a(0)
        return root
    matrix: Array = companion(basis, series)
    found: Array = sort(eigvals(matrix[::-1, ::-1]))
    return real_if_possible(found, series.dtype) if _has_real_roots(basis) else found


def real_if_possible(found: Array, dtype: DType) -> Array:
    """Return roots as real numbers if the coefficients are of a real dtype and no root has an imaginary part."""
    if found.dtype.kind != "c" or dtype.kind == "c" or to_host(any(found.imag != 0)):
        return found
    return found.real.copy()


@cache
def _has_real_roots(basis: Basis) -> bool:
    """Return whether NumPy's function returns real roots as real numbers; releases and bases differ in that."""
    module = import_late(f"numpy.polynomial.{basis.module}")
    return bool(getattr(module, f"{basis.prefix}roots")([-1, 0, 1]).dtype.kind == "f")
