"""Reductions of masked arrays: methods. A result without dimensions is `masked` if every element is masked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..core.dtypes import KIND
from ..functions.manipulation.insert_delete import copyto
from ..functions.manipulation.shape import expand_dims
from ..functions.ufuncs.ufunc import UFUNCS
from .fill_values import maximum_fill_value, minimum_fill_value
from .masks import data_of_out, getmask, mask_or
from .operations import FUNCTIONS, outside_of_domain
from .selecting import filled_for, where_masked
from .state import is_ours, masked, new, no_masked_elements, nomask, set_mask, update_from

_NOT_GIVEN: Any = numpy._NoValue


def _keywords(keepdims: Any) -> dict[str, Any]:
    return {} if keepdims is _NOT_GIVEN else {"keepdims": keepdims}


def _reduced_mask(x: Any, axis: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Return where all elements along an axis are masked, and what decides whether that is a mask at all."""
    mask = x._stored_mask
    return (mask, None) if mask is nomask else (mask.all(axis=axis, **options), x._has_masked)


def _result(data: Any, mask: Any, decider: Any, x: Any) -> Any:
    """Return the result of a reduction of `x`, which has no fill value yet; that of objects may be no array."""
    if getattr(data, "ndim", 0):
        return new(data, mask, None, decider, type(x))
    is_masked = mask is not nomask and bool(mask) and (decider is None or bool(decider))
    return masked if is_masked else data


def _set_mask_of_output(out: Any, mask: Any) -> None:
    """Write the mask of a result into that of the masked array that was given for it."""
    if out._mask is nomask:
        out._mask = no_masked_elements(out._data)
    out._mask.flat = mask


def _summing(name: str, neutral: int) -> Callable[..., Any]:
    """Return the method of a sum or a product."""

    def method(self: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NOT_GIVEN) -> Any:
        options = _keywords(keepdims)
        mask, decider = _reduced_mask(self, axis, options)
        reduce = getattr(filled_for(self, neutral), name)
        if out is None:
            return _result(reduce(axis, dtype=dtype, **options), mask, decider, self)
        reduce(axis, dtype=dtype, out=data_of_out(out), **options)
        if is_ours(out):
            _set_mask_of_output(out, mask)
        return out

    method.__name__ = name
    method.__doc__ = f"Return the {name} of the elements that are not masked. See `numpy.ma.MaskedArray.{name}`."
    return method


def _logical(name: str, neutral: bool) -> Callable[..., Any]:
    """Return the method `all` or `any`."""

    def method(self: Any, axis: Any = None, out: Any = None, keepdims: Any = _NOT_GIVEN) -> Any:
        options = _keywords(keepdims)
        mask, decider = _reduced_mask(self, axis, options)
        reduce = getattr(filled_for(self, neutral), name)
        if out is None:
            return _result(reduce(axis=axis, **options), mask, decider, self)
        reduce(axis=axis, out=data_of_out(out), **options)
        if is_ours(out) and (out.ndim or (mask is not nomask and bool(mask))):
            set_mask(out, mask)
        return out

    method.__name__ = name
    method.__doc__ = (
        f"Return whether {name} of the elements that are not masked are true. See `numpy.ma.MaskedArray.{name}`."
    )
    return method


def _extremum(name: str, default: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return the method `min` or `max`."""

    def method(self: Any, axis: Any = None, out: Any = None, fill_value: Any = None, keepdims: Any = _NOT_GIVEN) -> Any:
        options = _keywords(keepdims)
        mask, decider = _reduced_mask(self, axis, options)
        reduce = getattr(filled_for(self, default(self) if fill_value is None else fill_value), name)
        if out is None:
            result = _result(reduce(axis=axis, **options), mask, decider, self)
            if is_ours(result) and mask is not nomask:
                result._data = where_masked(mask, result.fill_value, result._data)
            return result
        reduce(axis=axis, out=data_of_out(out), **options)
        if is_ours(out):
            _set_mask_of_output(out, mask)
        elif out.dtype.kind in "biu":
            raise numpy.ma.MaskError("Masked data information would be lost in one or more location.")
        else:
            copyto(out, numpy.nan, where=mask)
        return out

    method.__name__ = name
    method.__doc__ = f"Return the {name} of the elements that are not masked. See `numpy.ma.MaskedArray.{name}`."
    return method


def _index_of(name: str, default: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return the method `argmin` or `argmax`."""

    def method(
        self: Any, axis: Any = None, fill_value: Any = None, out: Any = None, *, keepdims: Any = _NOT_GIVEN
    ) -> Any:
        data = filled_for(self, default(self) if fill_value is None else fill_value)
        return getattr(data, name)(axis, out=out, keepdims=keepdims is not _NOT_GIVEN and bool(keepdims))

    method.__name__ = name
    method.__doc__ = f"Return the {name} of the elements that are not masked. See `numpy.ma.MaskedArray.{name}`."
    return method


def _scan(name: str, neutral: int) -> Callable[..., Any]:
    """Return the method of a cumulative sum or product."""

    def method(self: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        scan = getattr(filled_for(self, neutral), name)
        if out is not None:
            scan(axis=axis, dtype=dtype, out=data_of_out(out))
            if is_ours(out):
                set_mask(out, self._mask)
            return out
        data = scan(axis=axis, dtype=dtype)
        mask = self._stored_mask
        return new(
            data, mask if mask is nomask else mask.reshape(data.shape).copy(), None, self._has_masked, type(self)
        )

    method.__name__ = name
    method.__doc__ = f"Return the {name}, with masked elements left out. See `numpy.ma.MaskedArray.{name}`."
    return method


def count(self: Any, axis: Any = None, keepdims: Any = _NOT_GIVEN) -> Any:
    """Return the number of elements that are not masked. See `numpy.ma.MaskedArray.count`."""
    options = _keywords(keepdims)
    mask = self._mask
    if mask is not nomask:
        return UFUNCS["logical_not"](mask).sum(axis=axis, dtype=numpy.intp, **options)
    if not self.ndim:
        if axis not in (None, 0):
            raise numpy.exceptions.AxisError(axis=axis, ndim=self.ndim)
        return 1
    if axis is None and not options.get("keepdims"):
        return self.size
    return UFUNCS["logical_not"](no_masked_elements(self._data)).sum(axis=axis, dtype=numpy.intp, **options)


def mean(self: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NOT_GIVEN) -> Any:
    """Return the mean of the elements that are not masked. See `numpy.ma.MaskedArray.mean`."""
    options = _keywords(keepdims)
    if self._mask is nomask:
        data = self._data.mean(axis=axis, dtype=dtype, **options)
        result = update_from(new(data, cls=type(self)), self) if data.ndim else data
    else:
        kind = KIND[self.dtype]
        target = numpy.dtype("f8" if kind in "biu" else "f4") if dtype is None and kind in "biue" else None
        if dtype is None and kind == "f" and self.dtype == numpy.float16:
            target = numpy.dtype("f4")
        mask, _ = _reduced_mask(self, axis, options)
        sums = filled_for(self, 0).sum(axis, dtype=dtype if target is None else target, **options)
        counts = count(self, axis=axis, **options)
        if getattr(sums, "ndim", 0):
            result = FUNCTIONS["divide"](FUNCTIONS["multiply"](new(sums, mask, cls=type(self)), 1.0), counts)
        else:
            result = _result(_quotient(sums * 1.0, counts), mask, None, self)  # one look computes all of it
        if result is not masked and dtype is None and self.dtype.itemsize == 2 and kind not in "iu":
            result = result.astype(self.dtype)
    if out is not None:
        out.flat = result
        if is_ours(out):
            _set_mask_of_output(out, getmask(result))
        return out
    return result


@outside_of_domain
def _quotient(total: Any, count: Any) -> Any:
    return total / count


def anom(self: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Return the deviations from the mean. See `numpy.ma.MaskedArray.anom`."""
    average = mean(self, axis, dtype)
    return FUNCTIONS["subtract"](self, expanded(average, axis) if axis else average)


def expanded(x: Any, axis: Any) -> Any:
    """Return a masked array with a dimension of size 1."""
    if not is_ours(x):
        return x if x is masked else expand_dims(x, axis)
    mask = x._stored_mask
    return new(expand_dims(x._data, axis), mask if mask is nomask else expand_dims(mask, axis), x, x._has_masked)


def var(
    self: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = _NOT_GIVEN,
    mean: Any = _NOT_GIVEN,
) -> Any:
    """Return the variance of the elements that are not masked. See `numpy.ma.MaskedArray.var`."""
    options = _keywords(keepdims)
    if self._mask is nomask:
        given = {} if mean is _NOT_GIVEN else {"mean": mean._data if is_ours(mean) else mean}
        data = self._data.var(axis=axis, dtype=dtype, ddof=ddof, **options, **given)
        result = update_from(new(data, cls=type(self)), self) if data.ndim else data
        return result if out is None else _stored(result, nomask, out)
    center = mean_method(self, axis, dtype, keepdims=True) if mean is _NOT_GIVEN else mean
    deviations = FUNCTIONS["subtract"](self, center)
    magnitudes = FUNCTIONS["absolute"](deviations) if self.dtype.kind == "c" else deviations
    squares = FUNCTIONS["multiply"](magnitudes, magnitudes)
    freedom = count(self, axis=axis, **options) - ddof
    result = FUNCTIONS["divide"](squares if squares is masked else sum_method(squares, axis, **options), freedom)
    if is_ours(result):
        result._mask = mask_or(self._mask.all(axis=axis, **options), freedom <= 0)
        update_from(result, self)
    return result if out is None else _stored(result, getmask(result), out)


def _stored(result: Any, mask: Any, out: Any) -> Any:
    """Write a result into an output, and return that."""
    if result is masked and not is_ours(out):
        if out.dtype.kind in "biu":
            raise numpy.ma.MaskError("Masked data information would be lost in one or more location.")
        result = numpy.nan
    out.flat = 0 if result is masked else result
    if is_ours(out):
        set_mask(out, mask)
    return out


def std(
    self: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = _NOT_GIVEN,
    mean: Any = _NOT_GIVEN,
) -> Any:
    """Return the standard deviation of the elements that are not masked. See `numpy.ma.MaskedArray.std`."""
    variance = var(self, axis, dtype, None, ddof, keepdims, mean)
    result = variance if variance is masked else FUNCTIONS["sqrt"](variance)
    return result if out is None else _stored(result, getmask(result), out)


def ptp(self: Any, axis: Any = None, out: Any = None, fill_value: Any = None, keepdims: Any = False) -> Any:
    """Return the difference of the largest and the smallest element. See `numpy.ma.MaskedArray.ptp`."""
    largest = METHODS["max"](self, axis=axis, out=out, fill_value=fill_value, keepdims=keepdims)
    smallest = METHODS["min"](self, axis=axis, fill_value=fill_value, keepdims=keepdims)
    if out is not None:
        return _stored(largest - smallest, getmask(largest), out)
    if largest is masked:
        result = masked
    elif is_ours(largest):
        result = largest
        result -= smallest
    else:
        result = largest - smallest
    return result


def trace(self: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """Return the sum of a diagonal. See `numpy.ma.MaskedArray.trace`."""
    if self._mask is nomask:
        return self._data.trace(offset, axis1, axis2, out=out).astype(dtype)
    diagonal = filled_for(self, 0).diagonal(offset, axis1, axis2)
    return diagonal.astype(dtype).sum(axis=-1, out=out)


METHODS: dict[str, Callable[..., Any]] = {
    "sum": _summing("sum", 0),
    "prod": _summing("prod", 1),
    "product": _summing("prod", 1),
    "all": _logical("all", True),
    "any": _logical("any", False),
    "min": _extremum("min", minimum_fill_value),
    "max": _extremum("max", maximum_fill_value),
    "argmin": _index_of("argmin", minimum_fill_value),
    "argmax": _index_of("argmax", maximum_fill_value),
    "cumsum": _scan("cumsum", 0),
    "cumprod": _scan("cumprod", 1),
    "count": count,
    "mean": mean,
    "anom": anom,
    "var": var,
    "std": std,
    "ptp": ptp,
    "trace": trace,
}
sum_method, mean_method = METHODS["sum"], mean
