"""Reductions that ignore NaN.

Where NumPy warns of a slice with nothing but NaN, these functions warn if the shape shows it, as the values are not
known yet, or if the program asks for the category "invalid" by `errstate`. The results equal NumPy's results.
"""

from __future__ import annotations

from typing import Any

import numpy

from ...core.dtypes import BOOL, INT64, KIND, check
from ...core.recording.array import ndarray, to_host
from ...core.recording.record import as_array, elementwise
from ...core.source_location import warn
from ..reductions.reductions import (
    NOT_GIVEN,
    all,
    any,
    axes_of,
    keeps_dims,
    keeps_dims_if_true,
    position,
    prod,
    sum,
    write_result_to_out,
)
from ..reductions.scans import cumprod, cumsum
from ..ufuncs.errstate import ignoring, is_checking, warn_of_slices
from ..ufuncs.methods import NO_VALUE, reduce_ufunc, reduction_loop
from ..ufuncs.output import checked_output, is_true_anywhere, only_output
from .averages import converted, count_of, divided, freedom, mask_over, mean, std, var


def _is_number(array: ndarray) -> ndarray | None:
    """Return where the elements are not NaN; None for dtypes without NaN."""
    if KIND[array.dtype] in "biu":
        return None
    return elementwise("logical_not", (elementwise("isnan", (array,)),))


def _replace_nan(a: Any, value: float) -> tuple[ndarray, ndarray | None]:
    """Return the array with NaN replaced by `value`, and where it was not NaN (None for dtypes without NaN)."""
    array = as_array(a)
    is_number = _is_number(array)
    if is_number is None:
        return array, None
    dtype = array.dtype
    return elementwise("where", (is_number, array, value), (BOOL, dtype, dtype, dtype)), is_number


def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NOT_GIVEN,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> ndarray:
    """Sum the elements over axes, with NaN as zero. See `numpy.nansum`."""
    return sum(_replace_nan(a, 0)[0], axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NOT_GIVEN,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> ndarray:
    """Multiply the elements over axes, with NaN as one. See `numpy.nanprod`."""
    return prod(_replace_nan(a, 1)[0], axis, dtype, out, keepdims, initial, where)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
    """Return the cumulative sum, with NaN as zero. See `numpy.nancumsum`."""
    return cumsum(_replace_nan(a, 0)[0], axis, dtype, out)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
    """Return the cumulative product, with NaN as one. See `numpy.nancumprod`."""
    return cumprod(_replace_nan(a, 1)[0], axis, dtype, out)


def nanmax(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = NOT_GIVEN,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> ndarray:
    """Return the maximum over axes, ignoring NaN; NaN for a slice with nothing else. See `numpy.nanmax`."""
    return _extreme("fmax", a, axis, out, keepdims, initial, where)


def nanmin(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = NOT_GIVEN,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> ndarray:
    """Return the minimum over axes, ignoring NaN; NaN for a slice with nothing else. See `numpy.nanmin`."""
    return _extreme("fmin", a, axis, out, keepdims, initial, where)


def _extreme(op: str, a: Any, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any) -> ndarray:
    """Return the extreme over axes by a ufunc that ignores NaN."""
    result = reduce_ufunc(op, a, axis, None, only_output(out), keeps_dims(keepdims), initial, where)
    warn_of_slices("All-NaN slice encountered", lambda: elementwise("isnan", (result,)))
    return result


def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NOT_GIVEN) -> ndarray:
    """Return the index of the maximum along an axis, ignoring NaN. See `numpy.nanargmax`.

    Whether a slice is all NaN is computed at once, and raises `ValueError` here.
    """
    return _nan_position("argmax", a, -numpy.inf, axis, out, keeps_dims_if_true(keepdims))


def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NOT_GIVEN) -> ndarray:
    """Return the index of the minimum along an axis, ignoring NaN. See `numpy.nanargmin`.

    Whether a slice is all NaN is computed at once, and raises `ValueError` here.
    """
    return _nan_position("argmin", a, numpy.inf, axis, out, keeps_dims_if_true(keepdims))


def _nan_position(op: str, a: Any, replacement: float, axis: Any, out: Any, keepdims: bool) -> ndarray:
    """Return the index of an extreme, with NaN replaced by the infinity at the other end."""
    array, is_number = _replace_nan(a, replacement)
    if is_number is None or not is_number.size:
        return position(op, array, axis, out, keepdims)
    is_valid = all(any(is_number, axis))
    # Recorded before the host looks, the positions are computed in the same kernel; the operands are then let go of, so
    # that it writes neither to memory.
    result = position(op, array, axis, None, keepdims) if out is None else None
    if result is not None:
        del array
    del is_number
    if not to_host(is_valid):
        raise ValueError("All-NaN slice encountered")
    return position(op, array, axis, out, keepdims) if result is None else result


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NOT_GIVEN, *, where: Any = True
) -> ndarray:
    """Compute the arithmetic mean over axes, ignoring NaN. See `numpy.nanmean`."""
    array, is_number = _replace_nan(a, 0)
    if is_number is None:
        return mean(array, axis, dtype, out, keepdims, where=where)
    out = checked_output(out)
    _check_inexact(dtype, out)
    if where is True and count_of(array, axes_of(axis, array.ndim), False, True) == 0:
        warn("Mean of empty slice", RuntimeWarning)
    count = sum(is_number, axis, INT64, None, keepdims, where=where)
    out_dtype = None if out is None else out.dtype
    sum_dtype = reduction_loop("add", array.dtype, None if dtype is None else check(dtype), out_dtype)[-1]
    total = sum(array, axis, sum_dtype, None, keepdims, where=where)
    warn_of_slices("Mean of empty slice", lambda: elementwise("equal", (count, 0)))
    result = _divided_quietly(total, count, total.dtype)
    return result if out is None else write_result_to_out(result, out, "add")


_divided_quietly = ignoring(divide="ignore", invalid="ignore")(divided)


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
    """Compute the variance over axes, ignoring NaN. See `numpy.nanvar`."""
    array, out = as_array(a), checked_output(out)
    if _is_number(array) is None:
        return var(array, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    result = _nan_variance(array, axis, dtype, out, freedom(ddof, correction), keepdims, where, mean)
    return result if out is None else write_result_to_out(result, out, "add")


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
    """Compute the standard deviation over axes, ignoring NaN. See `numpy.nanstd`."""
    array, out = as_array(a), checked_output(out)
    if _is_number(array) is None:
        return std(array, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    result = _nan_variance(array, axis, dtype, out, freedom(ddof, correction), keepdims, where, mean)
    result = converted(elementwise("sqrt", (result,)), result.dtype)
    return result if out is None else write_result_to_out(result, out, "add")


def _nan_variance(
    array: ndarray, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: Any, where: Any, mean: Any
) -> ndarray:
    """Return the variance of the elements that are not NaN, of an inexact array."""
    _check_inexact(dtype, out)
    is_number = _is_number(array)
    mask = is_number if where is True else elementwise("logical_and", (is_number, mask_over(where, array)))
    axis = axes_of(axis, array.ndim)
    if where is True and count_of(array, axis, False, True) <= ddof:
        warn("Degrees of freedom <= 0 for slice.", RuntimeWarning)
    if mean is not NOT_GIVEN:
        mean = converted(as_array(mean, array.device), array.dtype)
    count = sum(mask, axis, INT64, None, keepdims)

    def lacks_freedom() -> ndarray:
        return elementwise("less_equal", (count, ddof))

    warn_of_slices("Degrees of freedom <= 0 for slice.", lacks_freedom)
    # NumPy is silent about slices without degrees of freedom alone.
    is_checked = is_checking() and not is_true_anywhere(lacks_freedom().value())
    variance = var if is_checked else _variance_quietly
    result = variance(array, axis, dtype, None, ddof, keepdims, where=mask, mean=mean)
    # Without degrees of freedom `numpy.nanvar` gives NaN, where `numpy.var` may give infinity.
    has_freedom = elementwise("greater", (count, ddof))
    result_dtype = result.dtype
    loop = (BOOL, result_dtype, result_dtype, result_dtype)
    return elementwise("where", (has_freedom, result, numpy.nan), loop)


_variance_quietly = ignoring(divide="ignore", invalid="ignore")(var)


def _check_inexact(dtype: Any, out: Any) -> None:
    """Raise `TypeError` if results of inexact data are to be integers or booleans."""
    if dtype is not None and KIND[check(dtype)] in "biu":
        raise TypeError("If a is inexact, then dtype must be inexact")
    if out is not None and KIND[out.dtype] in "biu":
        raise TypeError("If a is inexact, then out must be inexact")


__all__ = [
    *("nansum", "nanprod", "nancumsum", "nancumprod", "nanmax", "nanmin", "nanargmax", "nanargmin"),
    *("nanmean", "nanvar", "nanstd"),
]
