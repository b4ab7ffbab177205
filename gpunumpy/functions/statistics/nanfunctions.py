"""Reductions that pass over NaN.

Where NumPy warns of a slice without numbers, nothing is said here unless the shape alone tells: the values are not
known yet. The results are NumPy's.
"""

from __future__ import annotations

from typing import Any

import numpy

from ...core.dtypes import BOOL, INT64, KIND, check
from ...core.recording.array import ndarray, to_host
from ...core.recording.record import as_array, elementwise
from ..reductions.reductions import NOT_GIVEN, all, any, axes_of, deliver, kept, position, prod, sum
from ..reductions.scans import cumprod, cumsum
from ..ufuncs.errstate import ignoring
from ..ufuncs.methods import NO_VALUE, reduce_ufunc, reduction_loop
from ..ufuncs.output import output
from .averages import converted, divided, freedom, mask_over, mean, std, var


def _numbers(array: ndarray) -> ndarray | None:
    """Where the elements are not NaN; None for types that have none."""
    if KIND[array.dtype] in "biu":
        return None
    return elementwise("logical_not", (elementwise("isnan", (array,)),))


def _filled(a: Any, value: float) -> tuple[ndarray, ndarray | None]:
    """The array with NaN replaced, and where it was not NaN."""
    array = as_array(a)
    numbers = _numbers(array)
    if numbers is None:
        return array, None
    dtype = array.dtype
    return elementwise("where", (numbers, array, value), (BOOL, dtype, dtype, dtype)), numbers


def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NOT_GIVEN,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> ndarray:
    """Sum over axes, NaN counted as zero; see `numpy.nansum`."""
    return sum(_filled(a, 0)[0], axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NOT_GIVEN,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> ndarray:
    """Product over axes, NaN counted as one; see `numpy.nanprod`."""
    return prod(_filled(a, 1)[0], axis, dtype, out, keepdims, initial, where)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
    """Cumulative sum, NaN counted as zero; see `numpy.nancumsum`."""
    return cumsum(_filled(a, 0)[0], axis, dtype, out)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
    """Cumulative product, NaN counted as one; see `numpy.nancumprod`."""
    return cumprod(_filled(a, 1)[0], axis, dtype, out)


def nanmax(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = NOT_GIVEN,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> ndarray:
    """Greatest number over axes, NaN where there is none; see `numpy.nanmax`."""
    return reduce_ufunc("fmax", a, axis, None, out, kept(keepdims), initial, where)


def nanmin(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = NOT_GIVEN,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> ndarray:
    """Least number over axes, NaN where there is none; see `numpy.nanmin`."""
    return reduce_ufunc("fmin", a, axis, None, out, kept(keepdims), initial, where)


def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NOT_GIVEN) -> ndarray:
    """Where the greatest number is; see `numpy.nanargmax`. A slice without numbers is refused at once."""
    return _nan_position("argmax", a, -numpy.inf, axis, out, kept(keepdims))


def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NOT_GIVEN) -> ndarray:
    """Where the least number is; see `numpy.nanargmin`. A slice without numbers is refused at once."""
    return _nan_position("argmin", a, numpy.inf, axis, out, kept(keepdims))


def _nan_position(op: str, a: Any, worst: float, axis: Any, out: Any, keepdims: bool) -> ndarray:
    array, numbers = _filled(a, worst)
    if numbers is not None and numbers.size and not to_host(all(any(numbers, axis))):
        raise ValueError("All-NaN slice encountered")
    return position(op, array, axis, out, keepdims)


@ignoring(divide="ignore", invalid="ignore")
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NOT_GIVEN, *, where: Any = True
) -> ndarray:
    """Mean of the numbers over axes; see `numpy.nanmean`."""
    array, numbers = _filled(a, 0)
    if numbers is None:
        return mean(array, axis, dtype, out, keepdims, where=where)
    out = output(out)
    _check_inexact(dtype, out)
    count = sum(numbers, axis, INT64, None, keepdims, where=where)
    into = None if out is None else out.dtype
    wanted = reduction_loop("add", array.dtype, None if dtype is None else check(dtype), into)[-1]
    total = sum(array, axis, wanted, None, keepdims, where=where)
    average = divided(total, count, total.dtype)
    return average if out is None else deliver(average, out, "add")


def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = NOT_GIVEN,
    *,
    where: Any = True,
    mean: Any = NOT_GIVEN,
    correction: Any = NOT_GIVEN,
) -> ndarray:
    """Variance of the numbers over axes; see `numpy.nanvar`."""
    array, out = as_array(a), output(out)
    if _numbers(array) is None:
        return var(array, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    result = _nan_variance(array, axis, dtype, out, freedom(ddof, correction), keepdims, where, mean)
    return result if out is None else deliver(result, out, "add")


def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = NOT_GIVEN,
    *,
    where: Any = True,
    mean: Any = NOT_GIVEN,
    correction: Any = NOT_GIVEN,
) -> ndarray:
    """Standard deviation of the numbers over axes; see `numpy.nanstd`."""
    array, out = as_array(a), output(out)
    if _numbers(array) is None:
        return std(array, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    result = _nan_variance(array, axis, dtype, out, freedom(ddof, correction), keepdims, where, mean)
    result = converted(elementwise("sqrt", (result,)), result.dtype)
    return result if out is None else deliver(result, out, "add")


@ignoring(divide="ignore", invalid="ignore")
def _nan_variance(
    array: ndarray, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: Any, where: Any, mean: Any
) -> ndarray:
    _check_inexact(dtype, out)
    numbers = _numbers(array)
    mask = numbers if where is True else elementwise("logical_and", (numbers, mask_over(where, array)))
    axis = axes_of(axis, array.ndim)
    result = var(array, axis, dtype, None, ddof, keepdims, where=mask, mean=mean)
    count = sum(mask, axis, INT64, None, keepdims)
    # Without degrees of freedom NumPy's nanvar is NaN, where var may be infinite.
    enough = elementwise("greater", (count, ddof))
    made = result.dtype
    return elementwise("where", (enough, result, numpy.nan), (BOOL, made, made, made))


def _check_inexact(dtype: Any, out: Any) -> None:
    """Refuse results of inexact data in an exact type, as NumPy does."""
    if dtype is not None and KIND[check(dtype)] in "biu":
        raise TypeError("If a is inexact, then dtype must be inexact")
    if out is not None and KIND[out.dtype] in "biu":
        raise TypeError("If a is inexact, then out must be inexact")


__all__ = [
    *("nansum", "nanprod", "nancumsum", "nancumprod", "nanmax", "nanmin", "nanargmax", "nanargmin"),
    *("nanmean", "nanvar", "nanstd"),
]
