"""Masks and data of operands, and functions that make masks."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy

from ..core.errors import OnHostError
from ..core.recording.array import from_host, ndarray
from ..core.recording.record import as_array
from ..core.runtime.device import Device
from ..functions.creation.arrays import array, asarray, zeros
from ..functions.manipulation.shape import broadcast_to
from ..functions.ufuncs.ufunc import UFUNCS
from .state import MaskedArray, has_kernels, is_ours, masked, new, no_masked_elements, nomask

_or = UFUNCS["logical_or"]


def from_numpy(x: Any, device: Device | None = None) -> Any:
    """Return NumPy's masked array as one on a device. Raise `OnHostError` for a dtype that no kernel computes."""
    if not has_kernels(x.dtype):
        raise OnHostError(f"a masked array of dtype {x.dtype} is on the host")
    mask = nomask if x._mask is nomask else from_host(numpy.asarray(x._mask), device)
    result = new(from_host(numpy.asarray(x._data), device), mask)
    result._fill_value, result._hardmask = None if x._fill_value is None else numpy.array(x._fill_value), x._hardmask
    return result


def taken(x: Any, device: Device | None = None) -> Any:
    """Return an operand with NumPy's masked array moved to a device; `masked` and anything else as it is."""
    return from_numpy(x, device) if isinstance(x, numpy.ma.MaskedArray) and x is not masked else x


def operands(*args: Any) -> list[Any]:
    """Return the operands of an operation with NumPy's masked arrays moved to the device of the first array."""
    device = next((x.device for x in args if is_ours(x) or isinstance(x, ndarray)), None)
    return [taken(x, device) for x in args]


def data_of(x: Any) -> Any:
    """Return the data of an operand: an array, or a NumPy scalar, which kernels take as a constant."""
    if is_ours(x):
        return x._data
    if x is masked:
        return numpy.float64(0)
    if isinstance(x, ndarray):
        return x
    if isinstance(x, numpy.ma.MaskedArray):
        return from_numpy(x)._data
    host = numpy.asarray(x) if isinstance(x, (bool, int, float, complex, numpy.generic)) else None
    if host is not None and has_kernels(host.dtype):
        return host[()]
    return as_array(x) if host is None else _refused(host.dtype)


def data_of_out(out: Any) -> Any:
    """Return the array that an argument `out` stands for."""
    return out._data if is_ours(out) else out


def _refused(dtype: Any) -> Any:
    raise OnHostError(f"a scalar of dtype {dtype} is on the host")


def stored_mask(x: Any) -> tuple[Any, Any]:
    """Return the mask of an operand, and the boolean that decides whether it is kept: None if it is."""
    if is_ours(x):
        return x._stored_mask, x._has_masked
    return (numpy.True_, None) if x is masked else (nomask, None)


def combined_masks(shape: tuple[int, ...], *args: Any) -> tuple[Any, Any]:
    """Return a new mask of a shape that is true where an operand is masked, and what decides whether it is kept."""
    found = [pair for pair in map(stored_mask, args) if pair[0] is not nomask]
    if not found:
        return nomask, None
    mask = reduce(_or, (mask for mask, _ in found))
    if mask.shape != shape or isinstance(mask, numpy.generic):
        mask = array(broadcast_to(as_array(mask), shape))
    elif len(found) == 1:
        mask = mask.copy()
    deciders = [decider for _, decider in found]
    return mask, None if any(decider is None for decider in deciders) else reduce(_or, deciders)


def getdata(a: Any, subok: bool = True) -> Any:
    """Return the data of a masked array, or anything else as an array. See `numpy.ma.getdata`."""
    return taken(a)._data if isinstance(a, MaskedArray) else asarray(a)


def getmask(a: Any) -> Any:
    """Return the mask of a masked array, or `nomask`. See `numpy.ma.getmask`."""
    if is_ours(a):
        return a._mask
    return taken(a)._mask if isinstance(a, numpy.ma.MaskedArray) and has_kernels(a.dtype) else numpy.ma.getmask(a)


def getmaskarray(arr: Any) -> Any:
    """Return the mask of a masked array, or one with no true element. See `numpy.ma.getmaskarray`."""
    if is_ours(arr):
        mask = arr._stored_mask
        return no_masked_elements(arr._data) if mask is nomask else mask
    if isinstance(arr, ndarray):
        return no_masked_elements(arr)
    mask = numpy.ma.getmaskarray(arr)
    return asarray(mask)


def make_mask_none(newshape: Any, dtype: Any = None) -> Any:
    """Return a mask of a shape with no true element. See `numpy.ma.make_mask_none`."""
    return zeros(newshape, numpy.bool if dtype is None else numpy.ma.make_mask_descr(dtype))


def is_mask(m: Any) -> bool:
    """Return whether an object is a mask: an array of booleans. See `numpy.ma.is_mask`."""
    return getattr(getattr(m, "dtype", None), "type", None) is numpy.bool


def shrunk(mask: Any) -> Any:
    """Return a mask, or `nomask` if it has no true element."""
    return mask if mask is nomask or mask.any() else nomask


def make_mask(m: Any, copy: bool = False, shrink: bool = True, dtype: Any = numpy.bool) -> Any:
    """Return a mask of anything that is true or false. See `numpy.ma.make_mask`."""
    if m is nomask:
        return nomask
    if numpy.ma.make_mask_descr(dtype) != numpy.bool:
        raise OnHostError("masks of records are on the host")
    data = _true_where_masked(taken(m)) if isinstance(m, MaskedArray) and m is not masked else m
    mask = array(data, numpy.bool, copy=copy or None)
    return shrunk(mask) if shrink else mask


def _true_where_masked(m: Any) -> Any:
    """Return booleans of a masked array, true where it is masked."""
    return m._data if m._stored_mask is nomask else _or(m._data, m._stored_mask)


def mask_or(m1: Any, m2: Any, copy: bool = False, shrink: bool = True) -> Any:
    """Return the logical or of two masks. See `numpy.ma.mask_or`."""
    for one, other in ((m1, m2), (m2, m1)):
        if one is nomask or one is False:
            return make_mask(other, copy, shrink, getattr(other, "dtype", numpy.bool))
    if m1 is m2 and is_mask(m1):
        return shrunk(m1) if shrink else m1
    dtypes = getattr(m1, "dtype", None), getattr(m2, "dtype", None)
    if dtypes[0] != dtypes[1]:
        raise ValueError(f"Incompatible dtypes '{dtypes[0]}'<>'{dtypes[1]}'")
    return make_mask(_or(m1, m2), copy, shrink)


def is_masked(x: Any) -> bool:
    """Return whether an object has a masked element. See `numpy.ma.is_masked`."""
    if is_ours(x) and x._has_masked is not None:
        return bool(x._has_masked)
    mask = getmask(x)
    return mask is not nomask and bool(mask.any())


def ndim(obj: Any) -> int:
    """Return the number of dimensions. See `numpy.ma.ndim`."""
    return int(numpy.ndim(obj)) if not hasattr(obj, "ndim") else obj.ndim


def shape(obj: Any) -> tuple[int, ...]:
    """Return the shape. See `numpy.ma.shape`."""
    return tuple(obj.shape) if hasattr(obj, "shape") else numpy.shape(obj)


def size(obj: Any, axis: Any = None) -> int:
    """Return the number of elements, or that along an axis. See `numpy.ma.size`."""
    return int(numpy.size(numpy.broadcast_to(0, shape(obj)), axis))


def isMaskedArray(x: Any) -> bool:
    """Return whether an object is a masked array. See `numpy.ma.isMaskedArray`."""
    return isinstance(x, MaskedArray)


isMA = isarray = isMaskedArray
