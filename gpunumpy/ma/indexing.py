"""Reading and writing parts of masked arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from ..core.recording.array import is_scalar
from ..functions.creation.arrays import array as new_array
from ..functions.manipulation.insert_delete import copyto
from ..functions.manipulation.repeating import resize
from ..functions.ufuncs.errstate import ignoring
from ..functions.ufuncs.ufunc import UFUNCS
from .masks import data_of, data_of_out, getmask, getmaskarray, make_mask, stored_mask, taken
from .selecting import filled_for
from .state import MaskedArray, is_ours, masked, new, no_masked_elements, nomask, set_mask


def plain_key(key: Any) -> Any:
    """Return an index with the data of masked arrays in it."""
    if isinstance(key, MaskedArray):
        return taken(key)._data if key is not masked else key
    return tuple(map(plain_key, key)) if type(key) is tuple else key


def get_item(x: Any, key: Any) -> Any:
    """Return ``x[key]``: a masked array, `masked`, or an element."""
    key = plain_key(key)
    data = x._data[key]
    mask = x._stored_mask
    if mask is nomask:
        return data if is_scalar(data) else new(data, nomask, x)
    part = mask[key]
    if is_scalar(part):
        return masked if bool(part) and x._mask is not nomask else data
    result = new(data, part, x, x._has_masked)
    result._sharedmask = True
    return result


@ignoring(over="ignore", invalid="ignore")
def set_item(x: Any, key: Any, value: Any) -> None:
    """Write ``x[key] = value``; `masked` masks the elements, and any other value unmasks them if the mask is soft."""
    is_masked_key = isinstance(key, MaskedArray)
    key = plain_key(key)
    if value is masked:
        if x._mask is nomask:
            x._mask = no_masked_elements(x._data)
        x._mask[key] = True
        return
    value = taken(value, x._data.device)
    elements, mask = (value._data, value._mask) if is_ours(value) else (value, nomask)
    if x._mask is nomask:
        x._data[key] = elements
        if mask is not nomask:
            x._mask = no_masked_elements(x._data)
            x._mask[key] = mask
    elif not x._hardmask:
        x._data[key] = elements
        if not is_masked_key or is_ours(value):
            x._mask[key] = mask
    elif getattr(key, "dtype", None) == numpy.bool:
        x._data[UFUNCS["logical_and"](key, UFUNCS["logical_not"](x._mask))] = elements
    else:
        _set_unmasked(x, key, elements, mask)


def _set_unmasked(x: Any, key: Any, elements: Any, mask: Any) -> None:
    """Write to elements of an array with a hard mask: to those that are not masked."""
    together = UFUNCS["logical_or"](x._mask[key], mask)
    part: Any = new_array(x._data[key])
    if part.size > 1:
        copyto(part, elements, where=UFUNCS["logical_not"](together))
    elif not together.any():
        part = elements
    x._data[key] = part
    x._mask[key] = together


def put_method(self: Any, indices: Any, values: Any, mode: str = "raise") -> None:
    """Write elements at positions of the flattened array. See `numpy.ma.MaskedArray.put`."""
    indices, values = plain_key(indices), taken(values)
    if self._hardmask and self._mask is not nomask:
        positions: Any = new_array(indices)
        free = UFUNCS["logical_not"](self._mask.ravel()[positions])
        data: Any = resize(values._data if is_ours(values) else new_array(values), positions.shape)
        mask = stored_mask(values)[0]
        indices = positions[free]
        if mask is not nomask:
            resized: Any = resize(mask, positions.shape)
            mask = resized[free]
        values = new(data[free], mask)
    self._data.put(indices, values._data if is_ours(values) else values, mode=mode)
    mask = getmask(values)
    if self._mask is nomask and mask is nomask:
        return
    together = getmaskarray(self)
    together.put(indices, False if mask is nomask else mask, mode=mode)
    self._mask = make_mask(together)


def put(a: Any, indices: Any, values: Any, mode: str = "raise") -> None:
    """Write elements at positions of the flattened array. See `numpy.ma.put`."""
    target: Any = a if hasattr(a, "put") else new_array(a)
    target.put(indices, values, mode=mode)


def putmask(a: Any, mask: Any, values: Any) -> None:
    """Write elements where a mask is true. See `numpy.ma.putmask`."""
    if a is masked:
        raise ValueError("assignment destination is read-only")
    mask, values = data_of_out(taken(mask)), taken(values)
    data, own = (values._data, values._mask) if is_ours(values) or values is masked else (values, nomask)
    if not is_ours(a):
        a = new(a)
    if a._mask is nomask:
        if own is not nomask:
            a._sharedmask, a._mask = True, no_masked_elements(a._data)
            copyto(a._mask, own, where=mask)
    elif a._hardmask:
        if own is not nomask:
            together = a._mask.copy()
            copyto(together, own, where=mask)
            a._mask |= together
    else:
        copyto(a._mask, False if own is nomask else own, where=mask)
    copyto(a._data, data, where=mask)


def take_method(self: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """Return the elements at some positions along an axis. See `numpy.ma.MaskedArray.take`."""
    indices = taken(indices)
    masked_indices = getmask(indices)
    if masked_indices is not nomask:
        indices = filled_for(indices, 0)
    indices = plain_key(indices)
    mask = self._mask
    if mask is not nomask:
        mask = mask.take(indices, axis=axis, mode=mode)
        mask = mask if masked_indices is nomask else UFUNCS["logical_or"](mask, masked_indices)
    else:
        mask = masked_indices
    if out is None:
        data = self._data.take(indices, axis=axis, mode=mode)
        if not data.ndim:
            return masked if mask is not nomask and bool(mask) else data
        return new(data, mask, cls=type(self))
    self._data.take(indices, axis=axis, mode=mode, out=data_of_out(out))
    if is_ours(out):
        set_mask(out, mask)
    return out


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """Return the elements at some positions along an axis. See `numpy.ma.take`."""
    a = taken(a)
    return take_method(a if is_ours(a) else new(new_array(a, copy=None)), indices, axis, out, mode)


def compress_method(self: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    """Return the slices along an axis for which a condition is true. See `numpy.ma.MaskedArray.compress`."""
    condition = plain_key(condition)
    data = self._data.compress(condition, axis=axis, out=data_of_out(out))
    mask = self._stored_mask
    mask = mask if mask is nomask else mask.compress(condition, axis=axis)
    return new(data, mask, self, self._has_masked)


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """Return the slices along an axis for which a condition is true. See `numpy.ma.compress`."""
    a = taken(a)
    return compress_method(a if is_ours(a) else new(new_array(a, copy=None)), condition, axis, out)


def item_method(self: Any, *args: Any) -> Any:
    """Return an element as a Python scalar, whether it is masked or not. See `numpy.ma.MaskedArray.item`."""
    return self._data.item(*args)


def fill_method(self: Any, value: Any) -> None:
    """Write a value into all elements of the data. See `numpy.ndarray.fill`."""
    self._data.fill(value)


def iterate(self: Any) -> Iterator[Any]:
    """Return an iterator over the first axis."""
    if not self.ndim:
        raise TypeError("iteration over a 0-d array")
    return (get_item(self, k) for k in range(self.shape[0]))


class MaskedIterator:
    """The elements of a masked array in C order, as one dimension. See `numpy.ma.MaskedArray.flat`."""

    def __init__(self, ma: Any) -> None:
        self.ma = ma
        self._position = 0

    def __iter__(self) -> MaskedIterator:
        """Return the iterator itself."""
        return self

    def __next__(self) -> Any:
        """Return the next element."""
        if self._position >= self.ma.size:
            raise StopIteration
        self._position += 1
        return get_item(_raveled(self.ma), self._position - 1)

    def __len__(self) -> int:
        """Return the number of elements."""
        return int(self.ma.size)

    def __getitem__(self, key: Any) -> Any:
        """Return elements of the flattened array: a copy, with the default fill value."""
        result = get_item(_raveled(self.ma), key)
        if not is_ours(result):
            return result
        result = result.copy()
        result._fill_value = None
        return result

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write to elements of the flattened array."""
        value = taken(value)
        self.ma._data.flat[key] = data_of(value) if is_ours(value) or value is masked else value
        if self.ma._mask is not nomask:
            self.ma._mask.flat[key] = getmaskarray(value)


def flat(x: Any) -> Any:
    """Return an iterator over the elements. See `numpy.ma.MaskedArray.flat`."""
    return MaskedIterator(x)


def set_flat(x: Any, value: Any) -> None:
    """Write values into all elements, in C order."""
    set_item(_raveled(x), slice(None), value)


def _raveled(x: Any) -> Any:
    """Return a masked array with one dimension, in C order."""
    mask = x._stored_mask
    return new(x._data.ravel(), mask if mask is nomask else mask.ravel(), x, x._has_masked)


def to_list(self: Any, fill_value: Any = None) -> Any:
    """Return nested lists of the elements, with None where they are masked. See `numpy.ma.MaskedArray.tolist`."""
    mask = self._mask
    if mask is nomask:
        return self._data.tolist()
    if fill_value is not None:
        return filled_for(self, fill_value).tolist()
    host = numpy.array(self._data.get(), dtype=object)
    host[mask.get()] = None
    return host.tolist()
