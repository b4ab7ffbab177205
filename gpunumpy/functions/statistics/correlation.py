"""Covariances and correlations between variables."""

from __future__ import annotations

from typing import Any

import numpy

from ...core.dtypes import FLOAT64, check
from ...core.recording.array import from_host, mark_as_array, ndarray, to_host
from ...core.recording.record import as_array, elementwise
from ...core.source_location import warn
from ..creation.ranges import diag
from ..indexing.getitem import getitem
from ..manipulation.joining import concatenate
from ..manipulation.shape import astype, atleast_2d, squeeze, transpose
from ..products.stacked import matmul
from ..reductions.reductions import any
from ..reductions.reductions import sum as total
from ..ufuncs.elementwise import clip, imaginary_parts, real_parts
from ..ufuncs.ufunc import conjugate, divide, less, multiply, not_equal, rint, sqrt, subtract
from .averages import average

__all__ = ["corrcoef", "cov"]

_COLUMN = (slice(None), None)


def cov(
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> ndarray:
    """Estimate the covariance matrix of variables. See `numpy.cov`.

    Weights on a device are read by the host, since they must be checked.
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    variables = _variables(m, y, rowvar, dtype)
    if not variables.shape[0]:
        return from_host(numpy.empty((0, 0)), variables.device)
    freedom = (0 if bias else 1) if ddof is None else int(ddof)
    frequencies, reliabilities = (
        None if weights is None else _weights(weights, name, variables)
        for name, weights in (("fweights", fweights), ("aweights", aweights))
    )
    given = [weights for weights in (frequencies, reliabilities) if weights is not None]
    weight = multiply(*given) if len(given) == 2 else given[0] if given else None
    means, weight_sums = average(variables, 1, weight, True)
    if weight is None:
        degrees = variables.shape[1] - freedom
    else:
        degrees = to_host(_weighted_degrees(getitem(weight_sums, 0), weight, reliabilities, freedom))[()]
    if degrees <= 0:
        warn("Degrees of freedom <= 0 for slice", RuntimeWarning)
        divide(1.0, 0.0)  # of which a program is told that asks
    numpy.subtract.resolve_dtypes((variables.dtype, means.dtype, variables.dtype))  # raises NumPy's error for integers
    deviations = astype(subtract(variables, getitem(means, _COLUMN)), variables.dtype, copy=False)
    weighted = deviations if weight is None else multiply(deviations, weight)
    products = matmul(deviations, transpose(conjugate(weighted) if weighted.dtype.kind == "c" else weighted))
    scale = 1 / float(degrees) if degrees > 0 else numpy.inf
    return mark_as_array(squeeze(multiply(products, scale)))


def _variables(m: Any, y: Any, rowvar: Any, dtype: Any) -> ndarray:
    """Return the variables of both arguments as the rows of a matrix."""
    device = next((x.device for x in (m, y) if isinstance(x, ndarray)), None)
    arrays = {name: as_array(x, device) for name, x in (("m", m), ("y", y)) if x is not None}
    for name, array in arrays.items():
        if array.ndim > 2:
            raise ValueError(f"{name} has more than 2 dimensions")
    common = numpy.result_type(*(x.dtype for x in arrays.values()), FLOAT64) if dtype is None else dtype
    first, *others = (atleast_2d(astype(x, check(common), copy=False)) for x in arrays.values())
    if not rowvar:
        first = transpose(first) if arrays["m"].ndim != 1 else first
        others = [transpose(x) if x.shape[0] != 1 else x for x in others]
    return concatenate((first, *others)) if others and first.shape[0] else first


def _weights(weights: Any, name: str, variables: ndarray) -> ndarray:
    """Return one weight for each observation in float64; raise NumPy's error for another shape, or wrong values."""
    array = astype(as_array(weights, variables.device), FLOAT64, copy=False)
    if name == "fweights" and to_host(any(not_equal(array, rint(array)))):
        raise TypeError("fweights must be integer")
    if array.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if array.shape[0] != variables.shape[1]:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if to_host(any(less(array, 0))):
        raise ValueError(f"{name} cannot be negative")
    return array


def _weighted_degrees(weight_sum: ndarray, weight: ndarray, reliabilities: ndarray | None, freedom: int) -> ndarray:
    """Return the number that the weighted products are divided by."""
    if not freedom:
        return weight_sum
    if reliabilities is None:
        return subtract(weight_sum, freedom)
    return subtract(weight_sum, divide(multiply(freedom, total(multiply(weight, reliabilities))), weight_sum))


def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> ndarray:
    """Return the correlation coefficients of variables. See `numpy.corrcoef`."""
    covariance = cov(x, y, rowvar, dtype=dtype)
    if not covariance.ndim:
        return divide(covariance, covariance)
    deviation = sqrt(real_parts(diag(covariance)))
    result = divide(
        divide(covariance, getitem(deviation, (slice(None), None))), getitem(deviation, (None, slice(None)))
    )
    if result.dtype.kind != "c":
        return clip(result, -1, 1)
    return elementwise("complex", [clip(part(result), -1, 1) for part in (real_parts, imaginary_parts)])
