"""Functions that mask elements by a condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..core.recording.record import as_array
from ..functions.ufuncs.elementwise import isclose
from ..functions.ufuncs.ufunc import UFUNCS
from .construction import array
from .masks import getmask, make_mask, mask_or, shrunk, stored_mask, taken
from .operations import FUNCTIONS
from .selecting import filled, where_masked
from .state import is_ours, no_masked_elements, nomask, store_mask


def masked_where(condition: Any, a: Any, copy: bool = True) -> Any:
    """Return an array masked where a condition is true. See `numpy.ma.masked_where`."""
    mask = make_mask(condition, shrink=False)
    mask = numpy.False_ if mask is nomask else mask
    a = taken(a)
    shape = a.shape if is_ours(a) else as_array(a).shape
    if mask.shape and mask.shape != shape:
        raise IndexError(f"Inconsistent shape between the condition and the input (got {mask.shape} and {shape})")
    result = array(a, copy=copy)
    is_without_mask = is_ours(a) and a._stored_mask is nomask
    own = result._mask
    if own is not nomask:
        own |= mask  # which `a` has too, unless it was to be copied
        return result
    mask = as_mask(mask, result)
    has_masked, result._sharedmask = mask.any(), False
    store_mask(result, mask, has_masked)
    if not copy and is_without_mask:
        store_mask(a, mask, has_masked)
    return result


def as_mask(mask: Any, x: Any) -> Any:
    """Return a new mask of the shape of a masked array."""
    return UFUNCS["logical_or"](mask, numpy.zeros(x.shape, bool)) if mask.shape != x.shape else as_array(mask).copy()  # type: ignore[attr-defined]


def _comparing(name: str, compare: str) -> Callable[..., Any]:
    """Return a function that masks the elements for which a comparison with a value is true."""

    def run(x: Any, value: Any, copy: bool = True) -> Any:
        return masked_where(FUNCTIONS[compare](x, value), x, copy=copy)

    run.__name__ = name
    run.__doc__ = f"Mask the elements for which `{compare}` with a value is true. See `numpy.ma.{name}`."
    return run


def masked_equal(x: Any, value: Any, copy: bool = True) -> Any:
    """Mask the elements that equal a value, which becomes the fill value. See `numpy.ma.masked_equal`."""
    result = masked_where(FUNCTIONS["equal"](x, value), x, copy=copy)
    result.fill_value = value
    return result


def masked_inside(x: Any, v1: Any, v2: Any, copy: bool = True) -> Any:
    """Mask the elements in an interval, with its ends. See `numpy.ma.masked_inside`."""
    low, high = (v2, v1) if v2 < v1 else (v1, v2)
    data = filled(x)
    return masked_where((data >= low) & (data <= high), x, copy=copy)


def masked_outside(x: Any, v1: Any, v2: Any, copy: bool = True) -> Any:
    """Mask the elements outside of an interval. See `numpy.ma.masked_outside`."""
    low, high = (v2, v1) if v2 < v1 else (v1, v2)
    data = filled(x)
    return masked_where((data < low) | (data > high), x, copy=copy)


def masked_object(x: Any, value: Any, copy: bool = True, shrink: bool = True) -> Any:
    """Mask the elements whose data equals a value. See `numpy.ma.masked_object`."""
    x = taken(x)
    condition = UFUNCS["equal"](x._data if is_ours(x) else as_array(x), value)
    mask = mask_or(getmask(x), make_mask(condition, shrink=shrink), shrink=shrink)
    return array(x, mask=mask, copy=copy, fill_value=value)


def masked_values(
    x: Any, value: Any, rtol: float = 1e-5, atol: float = 1e-8, copy: bool = True, shrink: bool = True
) -> Any:
    """Mask the elements that are close to a value. See `numpy.ma.masked_values`."""
    data = filled(x, value)
    is_float = numpy.issubdtype(data.dtype, numpy.floating)
    mask = isclose(data, value, atol=atol, rtol=rtol) if is_float else UFUNCS["equal"](data, value)
    result = array(data, mask=mask, copy=copy, fill_value=value)
    if shrink:
        store_mask(result, result._stored_mask, result._stored_mask.any())
    return result


def masked_invalid(a: Any, copy: bool = True) -> Any:
    """Mask the elements that are not finite. See `numpy.ma.masked_invalid`."""
    a = taken(a)
    result = masked_where(UFUNCS["logical_not"](UFUNCS["isfinite"](a._data if is_ours(a) else as_array(a))), a, copy)
    mask = result._stored_mask
    store_mask(result, no_masked_elements(result._data) if mask is nomask else mask, None)
    return result


def fix_invalid(a: Any, mask: Any = nomask, copy: bool = True, fill_value: Any = None) -> Any:
    """Mask the elements that are not finite, and replace them by a fill value. See `numpy.ma.fix_invalid`."""
    result = array(a, copy=copy, mask=mask)
    invalid = UFUNCS["logical_not"](UFUNCS["isfinite"](result._data))
    own, _ = stored_mask(result)
    if result.dtype.kind not in "fc":
        return result
    value = numpy.asarray(result.fill_value if fill_value is None else fill_value)[()]
    result._data[...] = where_masked(invalid, value, result._data)
    if own is nomask:
        store_mask(result, invalid, invalid.any())
    else:
        result._mask = UFUNCS["logical_or"](result._stored_mask, invalid)
    return result


def shrink_mask_method(self: Any) -> Any:
    """Drop a mask that has no true element. See `numpy.ma.MaskedArray.shrink_mask`."""
    self._mask = shrunk(self._mask)
    return self


FUNCTIONS_BY_NAME: dict[str, Callable[..., Any]] = {
    **{
        f"masked_{name}": _comparing(f"masked_{name}", name)
        for name in ("greater", "greater_equal", "less", "less_equal", "not_equal")
    },
    **{
        f.__name__: f for f in (masked_where, masked_equal, masked_inside, masked_outside, masked_object, masked_values)
    },
    "masked_invalid": masked_invalid,
    "fix_invalid": fix_invalid,
}
