"""Making masked arrays: the class called with data, a mask and keywords, and functions that make them."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any

import numpy

from ..core.errors import OnHostError
from ..core.recording.array import ndarray
from ..functions.creation import arrays, ranges
from ..functions.manipulation import strides
from ..functions.manipulation.repeating import resize
from ..functions.ufuncs.ufunc import UFUNCS
from .fill_values import checked_fill_value, converted_fill_value
from .masks import from_numpy, getmaskarray, taken
from .state import MaskedArray, as_data, full_like_data, has_kernels, is_ours, masked, new, nomask, take_attributes


def create(
    cls: type[Any],
    data: Any = None,
    mask: Any = nomask,
    dtype: Any = None,
    copy: bool = False,
    subok: bool = True,
    ndmin: int = 0,
    fill_value: Any = None,
    keep_mask: bool = True,
    hard_mask: bool | None = None,
    shrink: bool = True,
    order: str | None = None,
) -> Any:
    """Make a masked array of data and a mask. See `numpy.ma.MaskedArray`."""
    if dtype is not None and not has_kernels(numpy.dtype(dtype)):
        raise OnHostError(f"a masked array of dtype {dtype} is on the host")
    data = from_numpy(data) if data is masked else taken(data)
    source = data if is_ours(data) else None
    elements = _elements(data, source, dtype, copy, order, ndmin)
    if not has_kernels(elements.dtype):
        raise OnHostError(f"a masked array of dtype {elements.dtype} is on the host")
    copy = bool(copy) or (source is not None and source.shape != elements.shape)
    result = new(elements, cls=type(source) if source is not None and subok and issubclass(type(source), cls) else cls)
    if source is not None:
        own = source._stored_mask
        result._stored_mask = own if own is nomask or own.shape == elements.shape else own.reshape(elements.shape)
        result._has_masked = source._has_masked
        take_attributes(result, source)
    else:
        _take_held_mask(result, data)
    if mask is nomask:
        _keep_mask(result, data, copy, keep_mask, shrink)
    else:
        _add_mask(result, mask, copy, keep_mask)
    if fill_value is not None:
        result._fill_value = checked_fill_value(fill_value, result.dtype)
    elif source is not None and source._fill_value is not None:
        convert = checked_fill_value if source.dtype == result.dtype else converted_fill_value
        result._fill_value = convert(source._fill_value, result.dtype)
    result._hardmask = getattr(data, "_hardmask", False) if hard_mask is None else hard_mask
    return result


def _elements(data: Any, source: Any, dtype: Any, copy: Any, order: str | None, ndmin: int) -> ndarray:
    """Return the data as an array: the array itself if it is as asked for and no copy is."""
    given = data if source is None else source._data
    if isinstance(given, (list, tuple)) and any(map(_is_masked_array, given)):
        given = [x if x is masked or not _is_masked_array(x) else taken(x)._data for x in given]
    return as_data(arrays.array(given, dtype, copy=True if copy else None, order=order or "K", ndmin=ndmin))


def _take_held_mask(result: Any, data: Any) -> None:
    """Give an array the mask of an object that is no array but has one, as one that stands for a masked array."""
    held = nomask if isinstance(data, (ndarray, numpy.ndarray)) else getattr(data, "_mask", nomask)
    if held is nomask or held is numpy.ma.nomask:
        return
    result._mask = as_data(arrays.array(taken(held), numpy.bool, device=result._data.device))
    result._fill_value = checked_fill_value(getattr(data, "_fill_value", None), result.dtype)


def _is_masked_array(x: Any) -> bool:
    return isinstance(x, MaskedArray)


def _keep_mask(result: Any, data: Any, copy: bool, keep_mask: bool, shrink: bool) -> None:
    """Give an array that is made without a mask the mask of its data."""
    if not keep_mask:
        result._mask = nomask if shrink else full_like_data(result._data, False)
    elif isinstance(data, (list, tuple)):
        if any(map(_is_masked_array, data)) or _holds_masked(data):
            mask: Any = arrays.array([_mask_of_part(x, result.dtype) for x in data], numpy.bool)
            if mask.shape == result.shape and mask.any():
                result._mask = mask
    else:
        result._sharedmask = not copy
        if copy and result._stored_mask is not nomask:
            result._stored_mask = result._stored_mask.copy()


def _holds_masked(data: Any) -> bool:
    """Return whether a masked array is an element of nested sequences, however deep."""
    kinds = set(map(type, data))
    if not any(issubclass(kind, (list, tuple, MaskedArray, numpy.ma.MaskedArray)) for kind in kinds):
        return False
    return any(_is_masked_array(x) or (isinstance(x, (list, tuple)) and _holds_masked(x)) for x in data)


def _mask_of_part(x: Any, dtype: Any) -> Any:
    """Return the mask of an element of a sequence that becomes a masked array."""
    if isinstance(x, (list, tuple)):
        return [_mask_of_part(part, dtype) for part in x]
    return True if x is masked else getmaskarray(x) if _is_masked_array(x) else numpy.zeros(numpy.shape(x), bool)


def _add_mask(result: Any, mask: Any, copy: bool, keep_mask: bool) -> None:
    """Give an array a mask, beside the one that its data has."""
    if mask is None or isinstance(mask, (bool, numpy.bool)):
        mask = full_like_data(result._data, bool(mask))
    else:
        mask = getattr(mask, "_data", mask) if is_ours(mask) else mask
        mask = as_data(arrays.array(mask, numpy.bool, copy=True if copy else None, device=result._data.device))
    if mask.shape != result.shape:
        if mask.size == 1:
            mask = resize(mask, result.shape)
        elif mask.size == result.size:
            mask = mask.reshape(result.shape)
        else:
            raise numpy.ma.MaskError(
                f"Mask and data not compatible: data size is {result.size}, mask size is {mask.size}."
            )
        copy = True
    if result._stored_mask is nomask or not keep_mask or result._mask is nomask:
        result._mask, result._sharedmask = mask, not copy
    else:
        result._mask, result._sharedmask = UFUNCS["logical_or"](mask, result._mask), False


def array(
    data: Any,
    dtype: Any = None,
    copy: bool = False,
    order: str | None = None,
    mask: Any = nomask,
    fill_value: Any = None,
    keep_mask: bool = True,
    hard_mask: bool = False,
    shrink: bool = True,
    subok: bool = True,
    ndmin: int = 0,
) -> Any:
    """Make a masked array of data and a mask. See `numpy.ma.array`."""
    return create(
        MaskedArray, data, mask, dtype, copy, subok, ndmin, fill_value, keep_mask, hard_mask, shrink, order=order
    )


def asarray(a: Any, dtype: Any = None, order: str | None = None) -> Any:
    """Return an object as a masked array, without a copy if it can be. See `numpy.ma.asarray`."""
    return create(MaskedArray, a, dtype=dtype, subok=False, order=order or "C")


def asanyarray(a: Any, dtype: Any = None, order: str | None = None) -> Any:
    """Return a masked array as it is, and any other object as one. See `numpy.ma.asanyarray`."""
    is_masked = is_ours(a) or a is masked
    if is_masked and (dtype is None or numpy.dtype(dtype) == a.dtype) and order in (None, "A", "K"):
        return a
    return create(MaskedArray, a, dtype=dtype, order=order)


def masked_all(shape: Any, dtype: Any = float) -> Any:
    """Return an array whose elements are not set and all masked. See `numpy.ma.masked_all`."""
    data = arrays.empty(shape, dtype)
    return new(data, full_like_data(data, True))


def masked_all_like(arr: Any) -> Any:
    """Return an array like another, whose elements are not set and all masked. See `numpy.ma.masked_all_like`."""
    like = taken(arr)
    data = arrays.empty_like(like._data if is_ours(like) else arr)
    return new(data, full_like_data(data, True), like if is_ours(like) else None)


_KEYWORDS = (
    Parameter("fill_value", Parameter.KEYWORD_ONLY, default=None),
    Parameter("hardmask", Parameter.KEYWORD_ONLY, default=False),
)


def _maker(make: Callable[..., Any], name: str, has_keywords: bool) -> Callable[..., Any]:
    """Return a function that makes an array, for masked arrays; some take a fill value and the kind of the mask."""

    def run(*args: Any, **options: Any) -> Any:
        chosen = {key: options.pop(key) for key in ("fill_value", "hardmask") if has_keywords and key in options}
        made = make(*args, **options)
        results = [new(x) for x in (made if isinstance(made, tuple) else (made,))]
        for result in results:
            if chosen.get("fill_value") is not None:
                result.fill_value = chosen["fill_value"]
            result._hardmask = bool(chosen.get("hardmask", False))
        return tuple(results) if isinstance(made, tuple) else results[0]

    return _described(run, make, name, _KEYWORDS if has_keywords else ())


def _like(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes an array like another, for one like a masked array: it has its mask too."""
    parameters = signature(make)
    first = next(iter(parameters.parameters))

    def run(*args: Any, **options: Any) -> Any:
        given = parameters.bind(*args, **options).arguments
        x = taken(given.pop(first))
        data = make(x._data if is_ours(x) else x, **given)
        if not is_ours(x) or not given.get("subok", True):
            return new(data)
        mask = x._stored_mask
        fits = mask is not nomask and mask.size == data.size
        return new(data, mask.copy().reshape(data.shape) if fits else nomask, x, x._has_masked if fits else None)

    return _described(run, make, make.__name__)


def _described(run: Any, make: Callable[..., Any], name: str, keywords: tuple[Parameter, ...] = ()) -> Any:
    """Return a function for masked arrays with the name, text and parameters of that for arrays."""
    run.__name__ = run.__qualname__ = name
    run.__doc__ = f"{(make.__doc__ or '').partition(' See ')[0]} See `numpy.ma.{name}`."
    run.__signature__ = Signature([*signature(make).parameters.values(), *keywords])
    return run


arange = _maker(ranges.arange, "arange", True)
empty = _maker(arrays.empty, "empty", True)
identity = _maker(ranges.identity, "identity", True)
indices = _maker(ranges.indices, "indices", True)
ones = _maker(arrays.ones, "ones", True)
zeros = _maker(arrays.zeros, "zeros", True)
frombuffer = _maker(strides.frombuffer, "frombuffer", False)
fromfunction = _maker(ranges.fromfunction, "fromfunction", False)
empty_like, ones_like, zeros_like = map(_like, (arrays.empty_like, arrays.ones_like, arrays.zeros_like))
