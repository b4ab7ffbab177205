"""Averages, medians and comparisons of whole masked arrays."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy

from ..core.source_location import warn
from ..functions import calculus
from ..functions.creation.arrays import array as new_array
from ..functions.creation.arrays import empty, zeros
from ..functions.indexing import selection
from ..functions.manipulation.joining import concatenate
from ..functions.manipulation.shape import broadcast_to
from ..functions.reductions import reductions
from ..functions.sets import unique as sets
from ..functions.ufuncs import elementwise
from ..functions.ufuncs.ufunc import UFUNCS
from .construction import array, asarray
from .fill_values import checked_fill_value, minimum_fill_value
from .masks import combined_masks, data_of, getmask, getmaskarray, mask_or, operands, taken
from .operators import apply_ufunc
from .selecting import filled_for
from .shapes import clip_method, round_method
from .sorting import argsort_method, sort
from .state import full_like_data, is_ours, masked, new, nomask, update_from

_NOT_GIVEN: Any = numpy._NoValue
_where: Any = selection.where
_not, _or = UFUNCS["logical_not"], UFUNCS["logical_or"]


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return axes as numbers from 0 on, each once."""
    return numpy.lib.array_utils.normalize_axis_tuple(axis, ndim, argname="axis")


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = _NOT_GIVEN
) -> Any:
    """Return the weighted average of the elements that are not masked. See `numpy.ma.average`."""
    a = asarray(a)
    axes = None if axis is None else _axes(axis, a.ndim)
    options = {} if keepdims is _NOT_GIVEN else {"keepdims": keepdims}
    if weights is None:
        result = a.mean(axes, **options)
        total: Any = new_array(a.count(axes), result.dtype)
        total = total if total.ndim else total[()]
    else:
        weight = _weights_over(a, asarray(weights), axes)
        extra = ("f8",) if a.dtype.kind in "biu" else ()
        dtype = numpy.result_type(a.dtype, weight.dtype, *extra)
        if a._mask is not nomask:
            weight = array(weight * _not(a._mask), mask=a._mask)
        total = weight.sum(axis=axes, dtype=dtype, **options)
        products = apply_ufunc("multiply", (a, weight), {"dtype": dtype})
        result = products.sum(axes, **options) / total
    if not returned:
        return result
    if total.shape != result.shape:
        total = new_array(broadcast_to(data_of(total), result.shape))
    return result, total


def _weights_over(a: Any, weight: Any, axes: Any) -> Any:
    """Return weights in a shape that broadcasts to the array."""
    if a.shape == weight.shape:
        return weight
    if axes is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weight.shape != tuple(a.shape[k] for k in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    ordered = weight.transpose(tuple(sorted(range(len(axes)), key=axes.__getitem__)))
    return ordered.reshape(tuple(n if k in axes else 1 for k, n in enumerate(a.shape)))


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """Return the median of the elements that are not masked. See `numpy.ma.median`."""
    x = asarray(taken(a))
    axes = tuple(range(x.ndim)) if axis is None else _axes(axis, x.ndim)
    kept = tuple(k for k in range(x.ndim) if k not in axes)
    rows = x.transpose(kept + axes).reshape(*(x.shape[k] for k in kept), prod(x.shape[k] for k in axes))
    result = _median_of_rows(rows)
    if keepdims:
        shape = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
        if result is masked:
            result = new(zeros(shape), full_like_data(zeros(shape), True))
        elif not result.ndim and not is_ours(taken(a)):
            result = new(result)
        result = result.reshape(shape)
    if out is None:
        return result
    is_filled = x.dtype.kind not in "fc"  # an output of any shape is, in NumPy
    if not is_filled and getattr(out, "shape", result.shape) != result.shape:
        raise ValueError(f"`out` has shape {out.shape}, the result {result.shape}")
    out[...] = result
    return out


def _median_of_rows(rows: Any) -> Any:
    """Return the median along the last axis."""
    is_float = rows.dtype.kind in "fc"
    if not rows.shape[-1]:
        return rows.mean(axis=-1)
    ordered = sort(rows, axis=-1, fill_value=numpy.inf if is_float else None)
    mask = getmaskarray(ordered)
    counts = _not(mask).sum(axis=-1, keepdims=True)
    half = counts // 2
    index = concatenate([_where(counts % 2 == 1, half, half - 1), half], axis=-1)
    data = selection.take_along_axis(ordered._data, index, -1)
    is_empty = counts[..., 0] == 0
    # Infinite elements sort among the masked ones, which then stand for them.
    data = _where(selection.take_along_axis(mask, index, -1), data.dtype.type(minimum_fill_value(data)), data)
    middle = data.sum(axis=-1) / data.dtype.type(2) if is_float else data.mean(axis=-1)
    if is_float:
        has_nan = UFUNCS["logical_and"](UFUNCS["isnan"](ordered._data), _not(mask)).any(axis=-1)
        middle = _where(has_nan, data.dtype.type(numpy.nan), middle)
    if middle.ndim:
        own = ordered._mask
        return new(middle, nomask if own is nomask else is_empty, cls=type(rows))
    return masked if bool(is_empty) else middle[()]


def allequal(a: Any, b: Any, fill_value: bool = True) -> Any:
    """Return whether all elements are equal; masked ones are, if `fill_value` is true. See `numpy.ma.allequal`."""
    a, b = operands(a, b)
    equal = UFUNCS["equal"](data_of(a), data_of(b))
    mask = mask_or(getmask(a), getmask(b))
    if mask is nomask:
        return equal.all()
    return UFUNCS["logical_or"](equal, mask).all() if fill_value else False


def allclose(a: Any, b: Any, masked_equal: bool = True, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    """Return whether all elements are close; masked ones are, if `masked_equal` is true. See `numpy.ma.allclose`."""
    a, b = operands(a, b)
    close = elementwise.isclose(data_of(a), data_of(b), rtol, atol)
    mask = combined_masks(close.shape, a, b)[0]
    if mask is nomask:
        return reductions.all(close)
    return reductions.all(_where(mask, bool(masked_equal), close))


def diff(a: Any, /, n: int = 1, axis: int = -1, prepend: Any = _NOT_GIVEN, append: Any = _NOT_GIVEN) -> Any:
    """Return differences of neighbours, masked where one is. See `numpy.ma.diff`."""
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    x = asarray(taken(a))
    if not x.ndim:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = numpy.lib.array_utils.normalize_axis_index(axis, x.ndim)
    parts = [prepend, x, append]
    parts = [_along(part, x, axis) for part in parts if part is not _NOT_GIVEN]
    x = _concatenated(parts, axis) if len(parts) > 1 else x
    op = "not_equal" if x.dtype == numpy.bool else "subtract"
    before = (slice(None),) * axis
    for _ in range(n):
        x = apply_ufunc(op, (x[(*before, slice(1, None))], x[(*before, slice(None, -1))]), {})
    return x


def _along(part: Any, x: Any, axis: int) -> Any:
    """Return what goes before or after an array: a scalar becomes an array of one element along the axis."""
    part = asarray(part)
    if part.ndim:
        return part
    shape = [*x.shape]
    shape[axis] = 1
    return new(new_array(broadcast_to(part._data, shape)))


def _concatenated(parts: list[Any], axis: int) -> Any:
    data = concatenate([part._data for part in parts], axis)
    return new(data, concatenate([getmaskarray(part) for part in parts], axis))


def unique(ar1: Any, return_index: bool = False, return_inverse: bool = False) -> Any:
    """Return the distinct elements, with one masked element for all of them. See `numpy.ma.unique`."""
    x = asarray(taken(ar1))
    if return_index or return_inverse or x._mask is nomask:
        found, *indices = _unique_with_indices(x, return_index, return_inverse)
        return (update_from(found, x), *indices) if indices else update_from(found, x)
    mask = x._mask.ravel()
    data: Any = sets.unique(x._data.ravel()[_not(mask)])
    if not bool(mask.any()):
        return update_from(new(data, getmaskarray(data)), x)
    first = x._data.ravel()[mask][:1]
    flags = concatenate([getmaskarray(data), mask[mask][:1]])
    return update_from(new(concatenate([data, first]), flags), x)


def _unique_with_indices(x: Any, return_index: bool, return_inverse: bool) -> tuple[Any, ...]:
    """Return the distinct elements, and indices; where nothing is masked these are the data's."""
    if x._mask is nomask:
        found: Any = sets.unique(x._data, return_index=return_index, return_inverse=return_inverse)
        return (new(found[0]), *found[1:]) if isinstance(found, tuple) else (new(found),)
    flat = x.ravel()
    order = argsort_method(flat, -1, "stable")
    data, mask = flat._data[order], flat._mask[order]
    later, earlier = mask[1:], mask[:-1]
    differs = _where(_or(later, earlier), later != earlier, data[1:] != data[:-1])
    is_first: Any = concatenate([numpy.ones(1, bool)[: data.size], differs])
    indices = [order[is_first]] if return_index else []
    if return_inverse:
        inverse: Any = empty(order.shape, order.dtype, device=x.device)
        inverse[order] = is_first.cumsum() - 1
        indices.append(inverse.reshape(x.shape))
    return (new(data[is_first], mask[is_first]), *indices)


def _convolving(name: str) -> Callable[..., Any]:
    """Return the function of a convolution or a correlation."""
    function = getattr(calculus, name)

    def run(a: Any, v: Any, mode: str = "full" if name == "convolve" else "valid", propagate_mask: bool = True) -> Any:
        a, v = operands(a, v)
        masks = [getmaskarray(x) for x in (a, v)]
        if propagate_mask:
            ones = [_not(x) | True for x in masks]
            mask = function(masks[0], ones[1], mode=mode) | function(ones[0], masks[1], mode=mode)
            return array(function(data_of(a), data_of(v), mode=mode), mask=mask)
        mask = _not(function(*map(_not, masks), mode=mode))
        return array(function(filled_for(a, 0), filled_for(v, 0), mode=mode), mask=mask)

    run.__name__ = name
    run.__doc__ = f"Return the {name[:-1]}ion of two vectors. See `numpy.ma.{name}`."
    return run


def mask_rowcols(a: Any, axis: Any = None) -> Any:
    """Mask the rows and columns of a matrix that have a masked element. See `numpy.ma.mask_rowcols`."""
    x = array(a, subok=False)
    if x.ndim != 2:
        raise NotImplementedError("mask_rowcols works for 2D arrays only.")
    mask = x._mask
    if mask is nomask or not bool(mask.any()):
        return x
    rows = mask.any(axis=1, keepdims=True) if not axis else mask
    columns = mask.any(axis=0, keepdims=True) if axis in (None, 1, -1) else mask
    x._mask = UFUNCS["logical_or"](UFUNCS["logical_or"](rows, columns), mask)
    return x


def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Round the elements. See `numpy.ma.round`."""
    a = taken(a)
    if not is_ours(a):
        return elementwise.round(a, decimals, out)
    return round_method(a, decimals, out)


def limited(
    a: Any,
    a_min: Any = _NOT_GIVEN,
    a_max: Any = _NOT_GIVEN,
    out: Any = None,
    *,
    min: Any = _NOT_GIVEN,
    max: Any = _NOT_GIVEN,
    **kwargs: Any,
) -> Any:
    """Limit elements to an interval, which may be masked as its limits may be. See `numpy.clip`."""
    if a_min is _NOT_GIVEN and a_max is _NOT_GIVEN:
        a_min, a_max = (None if limit is _NOT_GIVEN else limit for limit in (min, max))
    elif a_min is _NOT_GIVEN or a_max is _NOT_GIVEN:
        missing = "a_min" if a_min is _NOT_GIVEN else "a_max"
        raise TypeError(f"clip() missing 1 required positional argument: '{missing}'")
    elif min is not _NOT_GIVEN or max is not _NOT_GIVEN:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    x = taken(a)
    return clip_method(x if is_ours(x) or x is masked else asarray(x)._data, a_min, a_max, out, **kwargs)


def clip(
    a: Any,
    a_min: Any = _NOT_GIVEN,
    a_max: Any = _NOT_GIVEN,
    out: Any = None,
    *,
    min: Any = _NOT_GIVEN,
    max: Any = _NOT_GIVEN,
    fill_value: Any = None,
    hardmask: bool = False,
    **kwargs: Any,
) -> Any:
    """Limit the elements to an interval. See `numpy.ma.clip`."""
    result = limited(a, a_min, a_max, out, min=min, max=max, **kwargs)
    if not is_ours(result):
        result = new(result) if result.ndim else result
    if fill_value is not None:
        result._fill_value = checked_fill_value(fill_value, result.dtype)  # not that of `a` as well
    if hardmask:
        result._hardmask = True
    return result


def _mask_along(own_axis: int) -> Callable[..., Any]:
    """Return `mask_rowcols` for one axis; as in NumPy its argument `axis` has no effect."""

    def run(a: Any, axis: Any = _NOT_GIVEN) -> Any:
        if axis is not _NOT_GIVEN:
            text = "The axis argument has always been ignored, in future passing it will raise TypeError"
            warn(text, DeprecationWarning)
        return mask_rowcols(a, own_axis)

    return run


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f.__name__: f for f in (allclose, allequal, average, clip, diff, mask_rowcols, median, round, unique)},
    **{name: _convolving(name) for name in ("convolve", "correlate")},
    "amax": reductions.amax,
    "amin": reductions.amin,
    "mask_cols": _mask_along(1),
    "mask_rows": _mask_along(0),
}
