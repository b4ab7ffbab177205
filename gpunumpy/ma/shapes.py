"""Shapes of masked arrays: methods and functions that do the same to the data and to the mask."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy

from ..core.graph.layout import normalize_axis
from ..core.recording.array import ndarray
from ..core.recording.record import as_array
from ..functions.creation import ranges
from ..functions.creation.arrays import array as new_array
from ..functions.manipulation import joining, repeating
from ..functions.manipulation import shape as shape_functions
from ..functions.ufuncs.ufunc import UFUNCS
from .fill_values import checked_fill_value, default_fill_value
from .masks import combined_masks, data_of, data_of_out, getmaskarray, operands, stored_mask, taken
from .state import MaskedArray, full_like_data, is_ours, masked, new, nomask, set_mask, store_mask, update_from


def _both(name: str, function: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return a method that does the same to the data and to the mask."""

    def method(self: Any, *args: Any, **params: Any) -> Any:
        mask = self._stored_mask
        data = getattr(self._data, name)(*args, **params)
        return new(data, mask if mask is nomask else getattr(mask, name)(*args, **params), self, self._has_masked)

    method.__name__ = name
    method.__doc__ = f"Do what the method does to the data and to the mask. See `numpy.ma.MaskedArray.{name}`."
    return method


def ravel_method(self: Any, order: str = "C") -> Any:
    """Return a masked array with one dimension, a view if it can be. See `numpy.ma.MaskedArray.ravel`."""
    if order in ("k", "K", "a", "A"):
        order = "F" if self._data.f_contiguous and not self._data.c_contiguous else "C"
    mask = self._stored_mask
    return new(self._data.ravel(order), mask if mask is nomask else mask.ravel(order), self, self._has_masked)


def astype_method(
    self: Any,
    dtype: Any,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
    **options: Any,
) -> Any:
    """Return a copy of another dtype, without `subok` one of the data. See `numpy.ma.MaskedArray.astype`."""
    data = self._data.astype(dtype, order, casting, subok, copy, **options)
    if not subok:
        return data
    if data is self._data:
        return self
    mask = self._stored_mask
    return new(data, mask if mask is nomask else mask.copy(), self, self._has_masked)


def view_method(self: Any, dtype: Any = None, type: Any = None, fill_value: Any = None) -> Any:
    """Return a masked array that shares data and mask; with another dtype of the same size too.

    See `numpy.ma.MaskedArray.view`.
    """
    if type is None and isinstance(dtype, _Type) and not issubclass(dtype, (numpy.generic, int, float, complex)):
        type, dtype = dtype, None
    if type is not None and issubclass(type, numpy.ma.MaskedArray):  # as functions of `numpy.ma` ask
        type = None
    if type is not None and not issubclass(type, MaskedArray):
        data = self._data if dtype is None else self._data.view(dtype)
        return data.view(type) if issubclass(type, ndarray) and type is not ndarray else data
    data = self._data if dtype is None else self._data.view(dtype)
    mask = self._stored_mask
    if mask is not nomask and data.size != self._data.size:
        raise ValueError(f"cannot reshape array of size {mask.size} into shape {data.shape}")
    if mask is not nomask and mask.shape != data.shape:
        mask = nomask
    cls = self.__class__ if type is None else type
    result = update_from(new(data, mask, None, None if mask is nomask else self._has_masked, cls), self)
    if fill_value is not None:
        result._fill_value = checked_fill_value(fill_value, result.dtype)
    elif dtype is not None:
        result._fill_value = None
    return result


_Type = type


def round_method(self: Any, decimals: int = 0, out: Any = None) -> Any:
    """Round the elements. See `numpy.ma.MaskedArray.round`."""
    data = self._data.round(decimals, out=data_of_out(out))
    if out is not None:
        if is_ours(out):
            set_mask(out, self._mask)
        return out
    if data.ndim:
        return new(data, self._stored_mask, self, self._has_masked)
    return masked if self._mask is not nomask and bool(self._mask) else data


def clip_method(self: Any, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """Limit the elements to an interval. See `numpy.ma.MaskedArray.clip`.

    Of an array that is not masked, whose limits are, the result is like the first one of these.
    """
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    given = operands(self, min, max)
    limits = [x if x is None or isinstance(x, (bool, int, float, complex)) else data_of(x) for x in given[1:]]
    own = as_array(data_of(given[0]))
    data = own.clip(*limits, out=data_of_out(out), **kwargs)  # type: ignore[attr-defined]
    mask = combined_masks(data.shape, *given)[0]
    decider = None if mask is nomask else mask.any()
    if mask is nomask and limits == [None, None] and is_ours(self):  # NumPy's ufunc of one argument makes a mask
        mask = getmaskarray(self)
    if out is None:
        like = next(filter(is_ours, given), None)
        return data if like is None and mask is nomask else new(data, mask, like, decider)
    if is_ours(out):
        store_mask(out, mask, decider)
    return out


def conjugate_method(self: Any) -> Any:
    """Return the complex conjugate, or the array itself if it is not complex. See `numpy.ma.MaskedArray.conjugate`."""
    if self.dtype.kind != "c":
        return self
    return new(self._data.conj(), getmaskarray(self), self, self._has_masked)


def resize_method(self: Any, newshape: Any, refcheck: bool = True, order: bool = False) -> None:
    """Raise `ValueError`: a masked array does not own its data."""
    raise ValueError(
        "A masked array does not own its data and therefore cannot be resized.\n"
        "Use the numpy.ma.resize function instead."
    )


def part(name: str) -> Callable[[Any], Any]:
    """Return the getter of the real or the imaginary part, whose mask is a copy."""

    def read(x: Any) -> Any:
        mask = x._mask
        return new(getattr(x._data, name), mask if mask is nomask else mask.copy(), cls=type(x))

    return read


def set_part(name: str) -> Callable[[Any, Any], None]:
    """Return the setter of the real or the imaginary part."""
    return lambda x, value: setattr(x._data, name, data_of(value))


def matrix_transpose_of(x: Any) -> Any:
    """Return the array with its last two axes exchanged."""
    if x.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    mask = x._stored_mask
    return new(x._data.mT, mask if mask is nomask else mask.mT, None, x._has_masked)


def copy_method(self: Any, order: str = "C") -> Any:
    """Return a copy of data and mask. See `numpy.ma.MaskedArray.copy`."""
    return COPY(self, order)


COPY = _both("copy")

METHODS: dict[str, Callable[..., Any]] = {
    **{name: _both(name) for name in ("diagonal", "flatten", "repeat", "reshape", "squeeze", "swapaxes", "transpose")},
    "astype": astype_method,
    "clip": clip_method,
    "copy": copy_method,
    "ravel": ravel_method,
    "resize": resize_method,
    "round": round_method,
    "view": view_method,
}


# --- functions --------------------------------------------------------------------------------------------------------


def _masked_like(x: Any, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return a function of the data and of the mask of an object, in a new masked array."""
    x = taken(x)
    data = function(data_of(x) if isinstance(x, MaskedArray) else new_array(x, copy=None), *args, **options)
    mask, decider = stored_mask(x)
    return new(data, mask if mask is nomask else function(mask, *args, **options), x if is_ours(x) else None, decider)


def _of_its_class(a: Any, function: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a function of shapes: masked for a masked array, as the methods of arrays have it."""
    x = taken(a)
    return _masked_like(x, function, *args) if is_ours(x) else function(x, *args)


def _as_method(a: Any, function: Callable[..., Any], *args: Any) -> Any:
    """Return `_of_its_class`; what has no such method becomes a masked array."""
    result = _of_its_class(a, function, *args)
    return result if hasattr(a, function.__name__) else new(result, nomask)


def expand_dims(a: Any, axis: Any) -> Any:
    """Return an array with new dimensions of size 1. See `numpy.ma.expand_dims`."""
    return _of_its_class(a, shape_functions.expand_dims, axis)


def reshape(a: Any, new_shape: Any, order: str = "C") -> Any:
    """Return an array in another shape. See `numpy.ma.reshape`."""
    return _as_method(a, shape_functions.reshape, new_shape, order)


def transpose(a: Any, axes: Any = None) -> Any:
    """Return an array with its axes in another order. See `numpy.ma.transpose`."""
    return _as_method(a, shape_functions.transpose, axes)


def resize(x: Any, new_shape: Any) -> Any:
    """Return an array of another size, whose elements are repeated. See `numpy.ma.resize`."""
    result = _masked_like(x, repeating.resize, new_shape)
    result._fill_value = None
    return result


def squeeze(a: Any, axis: Any = None, *, fill_value: Any = None, hardmask: bool = False) -> Any:
    """Return an array without dimensions of size 1. See `numpy.ma.squeeze`."""
    result = _masked_like(a, shape_functions.squeeze, axis)
    if fill_value is not None:
        result._fill_value = checked_fill_value(fill_value, result.dtype)  # not that of `a` as well
    result._hardmask = bool(hardmask) or result._hardmask
    return result


def diag(v: Any, k: int = 0) -> Any:
    """Return a diagonal, or a matrix with one. See `numpy.ma.diag`."""
    result = _masked_like(v, ranges.diag, k)
    if result.ndim == 2:
        result._fill_value = None
    return result


def _with_mask_array(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return a function of the data and of the whole masks of its arguments, which may be in a sequence."""
    data = function(*(_converted(x, data_of) for x in args), **options)
    mask = function(*(_converted(x, getmaskarray) for x in args), **options)
    if isinstance(data, list):
        return new(new_array(data), new_array(mask))
    return new(data, mask.astype(bool, copy=False))  # a dtype that is asked for is the data's


def _converted(x: Any, convert: Callable[[Any], Any]) -> Any:
    if isinstance(x, (tuple, list)):
        return tuple(convert(part) for part in operands(*x))
    return convert(taken(x))


def _joining(name: str) -> Callable[..., Any]:
    """Return a function that joins arrays and their masks."""
    join: Any = getattr(joining, name)
    signature = inspect.signature(join)
    first = next(iter(signature.parameters))

    def run(*args: Any, **options: Any) -> Any:
        given = signature.bind(*args, **options)
        arrays = given.arguments.pop(first)
        return _with_mask_array(lambda x: join(x, **given.arguments), tuple(arrays))

    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__name__ = name
    run.__doc__ = f"{(join.__doc__ or '').partition(' See ')[0]} See `numpy.ma.{name}`."
    return run


def _at_least(name: str) -> Callable[..., Any]:
    """Return a function that gives arrays more dimensions."""
    function = getattr(shape_functions, name)

    def run(*arys: Any) -> Any:
        results = tuple(_with_mask_array(function, new_array(x) if isinstance(x, list) else x) for x in arys)
        return results[0] if len(results) == 1 else results

    run.__name__ = name
    run.__doc__ = f"{(function.__doc__ or '').partition(' See ')[0]} See `numpy.ma.{name}`."
    return run


def concatenate(arrays: Any, axis: Any = 0) -> Any:
    """Join arrays along an axis. See `numpy.ma.concatenate`."""
    arrays = operands(*arrays)
    data = joining.concatenate([data_of(x) for x in arrays], axis)
    cls: type = MaskedArray
    for x in arrays:
        cls = type(x) if is_ours(x) and issubclass(type(x), cls) else cls
    pairs = [pair for pair in map(stored_mask, arrays) if pair[0] is not nomask]
    if not pairs:
        return new(data, cls=cls)
    mask: Any = joining.concatenate([getmaskarray(x) for x in arrays], axis)
    return new(data, mask, None, mask.any(), cls)


def append(a: Any, b: Any, axis: Any = None) -> Any:
    """Append one array to another. See `numpy.ma.append`."""
    return concatenate([a, b], axis)


def shift(name: str) -> Callable[..., Any]:
    """Return the function of a shift of bits."""

    def run(a: Any, n: Any) -> Any:
        a, n = operands(a, n)
        own = stored_mask(a)[0]
        data = UFUNCS[name](data_of(a) if own is nomask else _zero_where(own, a), data_of(n))
        mask, decider = combined_masks(data.shape, a, n)
        decider = mask.any() if own is nomask and mask is not nomask else stored_mask(a)[1]
        return new(data, mask, None, decider)

    run.__name__ = name
    run.__doc__ = f"Shift the bits of integers. See `numpy.ma.{name}`."
    return run


def _zero_where(mask: Any, a: Any) -> Any:
    return UFUNCS["multiply"](a._data, UFUNCS["logical_not"](mask))


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a function to every vector along an axis. See `numpy.ma.apply_along_axis`.

    The function is called with a view for each vector, one after the other.
    """
    x = taken(arr)
    x = x if is_ours(x) else new(new_array(x, copy=None))
    axis = normalize_axis(axis, x.ndim)
    vectors = x.transpose([k for k in range(x.ndim) if k != axis] + [axis])
    loop_shape = vectors.shape[:-1]
    results = [func1d(vectors[index], *args, **kwargs) for index in product(*map(range, loop_shape))]
    parts = [result if is_ours(result) else _number(result) for result in results]
    stacked = FUNCTIONS["stack"](parts)
    stacked = stacked.reshape((*loop_shape, *stacked.shape[1:]))
    axes = [*range(axis), *range(len(loop_shape), stacked.ndim), *range(axis, len(loop_shape))]
    data, mask = (part.transpose(axes) for part in (stacked._data, stacked._stored_mask))
    has_mask = any(is_ours(result) and result._mask is not nomask for result in results)
    result = new(data, mask, None, None if has_mask else mask.any())
    result.fill_value = default_fill_value(result)
    return result


def _number(x: Any) -> Any:
    """Return a result as a masked array."""
    return new(as_array(0.0), full_like_data(as_array(0.0), True)) if x is masked else new(as_array(x))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _joining(name) for name in ("vstack", "hstack", "column_stack", "dstack", "stack")},
    **{name: _at_least(name) for name in ("atleast_1d", "atleast_2d", "atleast_3d")},
    **{name: shift(name) for name in ("left_shift", "right_shift")},
    "append": append,
    "apply_along_axis": apply_along_axis,
    "concatenate": concatenate,
    "diag": diag,
    "diagflat": lambda v, k=0: _with_mask_array(lambda x: ranges.diagflat(x, k), v),
    "expand_dims": expand_dims,
    "hsplit": lambda ary, indices_or_sections: _with_mask_array(lambda x: joining.hsplit(x, indices_or_sections), ary),
    "reshape": reshape,
    "resize": resize,
    "squeeze": squeeze,
    "transpose": transpose,
}
FUNCTIONS["row_stack"] = FUNCTIONS["vstack"]
