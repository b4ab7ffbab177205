"""Filling masked elements, and choosing elements by a condition."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.recording.array import ndarray
from ..core.recording.record import as_array
from ..functions.creation.arrays import array as new_array
from ..functions.indexing import selection
from ..functions.manipulation.shape import astype
from ..functions.ufuncs.ufunc import UFUNCS
from .fill_values import checked_fill_value, converted_fill_value
from .masks import data_of, data_of_out, getmaskarray, operands, shrunk, stored_mask, taken
from .state import MaskedArray, is_ours, masked, new, nomask

_where: Any = selection.where


def where_masked(mask: Any, value: Any, data: Any) -> Any:
    """Return `data` with elements of `value`, in the dtype of the data, where a mask is true."""
    if value.dtype != data.dtype:
        with numpy.errstate(all="ignore"):
            value = value.astype(data.dtype)
    return _where(mask, value, data)


def filled(a: Any, fill_value: Any = None) -> Any:
    """Return an array with a value in the place of masked elements. See `numpy.ma.filled`.

    Of an array without masked elements it may be the data itself.
    """
    a = taken(a)
    if is_ours(a):
        return filled_method(a, fill_value)
    if a is masked:
        return as_array(a.filled(fill_value))
    return a if isinstance(a, ndarray) else new_array(a)


def filled_method(a: Any, fill_value: Any = None) -> Any:
    """Return the data with a value in the place of masked elements. See `numpy.ma.MaskedArray.filled`."""
    mask = a._mask
    if mask is nomask:
        return a._data
    if fill_value is None:
        fill_value = a.fill_value
        if fill_value.dtype != a.dtype:  # that of an operand
            fill_value = converted_fill_value(fill_value, a.dtype)
    return filled_for(a, fill_value)


def filled_for(a: Any, fill_value: Any) -> Any:
    """Return the data to compute with: masked elements have a value, and nobody looks whether there are any."""
    if not is_ours(a):
        return filled(a, fill_value)
    mask = a._stored_mask
    if mask is nomask:
        return a._data
    if isinstance(fill_value, ndarray):
        return _where(mask, astype(fill_value, a.dtype), a._data)
    value = checked_fill_value(fill_value, a.dtype)
    return _where(mask, value[()] if not value.ndim else value, a._data)


def where(condition: Any, x: Any = numpy._NoValue, y: Any = numpy._NoValue) -> Any:
    """Return elements of one array or another, masked where they or the condition are. See `numpy.ma.where`."""
    if (x is numpy._NoValue) != (y is numpy._NoValue):
        raise ValueError("Must provide both 'x' and 'y' or neither.")
    if x is numpy._NoValue:
        return filled(condition, 0).nonzero()
    condition, x, y = operands(condition, x, y)
    chosen = filled_for(condition, False)
    left, right = data_of(x), data_of(y)
    if x is masked and y is not masked:
        left = right.dtype.type(0)
    elif y is masked and x is not masked:
        right = left.dtype.type(0)
    data = _where(chosen, left, right)
    pairs = [stored_mask(part) for part in (condition, x, y)]
    masks = [numpy.False_ if mask is nomask else mask for mask, _ in pairs]
    if all(mask is nomask for mask, _ in pairs):
        return new(data)
    mask = UFUNCS["logical_or"](masks[0], _where(chosen, masks[1], masks[2]))
    if mask.shape != data.shape:
        mask = mask | numpy.zeros(data.shape, bool)
    return new(data, mask, None, mask.any())


def choose(indices: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Return for each index the element of the array of that number. See `numpy.ma.choose`."""
    (indices, *choices) = operands(indices, *choices)
    index = filled_for(indices, 0)
    data = selection.choose(
        index, [True if x is masked else filled(x) for x in choices], out=data_of_out(out), mode=mode
    )
    chosen = selection.choose(index, [True if x is masked else _mask_to_choose(x) for x in choices], mode=mode)
    own = stored_mask(indices)[0]
    mask = shrunk(chosen if own is nomask else UFUNCS["logical_or"](chosen, own))
    result = new(data) if out is None else out
    if is_ours(result):
        result.mask = mask
    return result


def choose_method(self: Any, *choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Return for each index the element of the array of that number, masked where the index is. See `numpy.choose`."""
    if len(choices) == 1:
        (choices,) = choices
    arrays = [x._data if is_ours(x) else x for x in operands(*choices)]
    data = selection.choose(self._data, arrays, out=data_of_out(out), mode=mode)
    if out is not None:
        return out
    mask, decider = stored_mask(self)
    return new(data) if data.shape != self.shape else new(data, mask, self, decider)


def _mask_to_choose(x: Any) -> Any:
    mask = stored_mask(x)[0]
    return False if mask is nomask else mask


def nonzero_method(a: Any) -> tuple[Any, ...]:
    """Return the indices of elements that are neither masked nor zero. See `numpy.ma.MaskedArray.nonzero`."""
    return filled_for(a, 0).nonzero()


def compressed_method(a: Any) -> Any:
    """Return the elements that are not masked, as a vector. See `numpy.ma.MaskedArray.compressed`."""
    data: Any = a._data
    mask = a._mask
    return data.ravel() if mask is nomask else data.ravel()[UFUNCS["logical_not"](mask.ravel())]


def count_masked(arr: Any, axis: Any = None) -> Any:
    """Return the number of masked elements along an axis. See `numpy.ma.count_masked`."""
    return getmaskarray(taken(arr)).sum(axis)


def is_masked_array(x: Any) -> bool:
    """Return whether an object is a masked array of either package."""
    return isinstance(x, MaskedArray)
