"""Masked arrays as text, as pickles, and as NumPy's masked arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..arrays.numpy_protocols import is_asked_for_memory
from ..core.recording.array import ndarray, to_host
from ..core.recording.lending import window_of_storage
from ..functions.creation.arrays import empty
from .masks import getmaskarray
from .selecting import filled_method
from .state import as_data, is_ours, new, nomask, store_mask


def to_numpy(x: Any) -> Any:
    """Copy a masked array to NumPy's masked array."""
    return hosted(x, to_host)


def hosted(x: Any, convert: Callable[[Any], Any]) -> Any:
    """Return a masked array as NumPy's masked array, of what `convert` makes of the data and of the mask."""
    mask = x._mask
    data = numpy.asarray(convert(x._data))
    host: Any = numpy.ma.MaskedArray(data, nomask if mask is nomask else numpy.asarray(convert(mask)), copy=False)
    host._hardmask, host._sharedmask = x._hardmask, x._sharedmask
    if x._fill_value is not None:
        host._fill_value = numpy.array(x._fill_value)
    host._optinfo.update(vars(x).get("_stored_info", {}))
    return host


def on_device(host: Any, convert: Callable[[Any], Any], like: Any = None) -> Any:
    """Return NumPy's masked array as one of this package, of the class of `like`, if given.

    `convert` makes arrays of this package of NumPy's.
    """
    data, mask = convert(numpy.asarray(host._data)), nomask
    if not isinstance(data, ndarray):
        return host
    if host._mask is not nomask:
        mask = convert(numpy.asarray(host._mask))
    result = new(data, mask, like)
    take_state(result, host)
    return result


def take_state(x: Any, host: Any) -> None:
    """Give a masked array the fill value and the kind of mask of NumPy's."""
    x._fill_value = None if host._fill_value is None else numpy.array(host._fill_value)
    x._hardmask, x._sharedmask = host._hardmask, host._sharedmask
    if host._optinfo:
        x._optinfo.update(host._optinfo)


def written_back(x: Any, host: Any, convert: Callable[[Any], Any]) -> None:
    """Give a masked array the mask that a function on the host has made for it, and the rest of its state."""
    if host._mask is nomask:
        x._mask = nomask
    elif x._mask is nomask or x._mask.shape != host._mask.shape:
        x._mask = as_data(convert(numpy.array(host._mask)))
    take_state(x, host)


def to_text(x: Any) -> str:
    """Return ``str(x)``."""
    return str(to_numpy(x))


def representation(x: Any) -> str:
    """Return ``repr(x)``. It shows the fill value, which arrays that are made of `x` have from then on."""
    _ = x.fill_value
    return repr(to_numpy(x))


def formatted(x: Any, spec: str) -> str:
    """Return ``format(x, spec)``."""
    return format(to_numpy(x), spec)


def to_bytes(self: Any, fill_value: Any = None, order: str = "C") -> bytes:
    """Return the bytes of the elements, filled. See `numpy.ma.MaskedArray.tobytes`."""
    return filled_method(self, fill_value).tobytes(order)


def as_numpy_array(x: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """Return NumPy's masked array, of whose mask `numpy.asarray` and the like take none."""
    if copy is None and is_asked_for_memory():
        return hosted(x, window_of_storage)
    return hosted(x, lambda part: part.__array__(dtype if part is x._data else None, copy=copy))


def reduce_for_pickle(x: Any) -> tuple[Any, ...]:
    """Return what `pickle` stores: the class, and what `set_state` takes. A subclass may add to that."""
    extra = {name: value for name, value in vars(x).items() if name not in _STATE}
    return empty_of_class, (type(x),), (x._data, getmaskarray(x), x._fill_value, x._hardmask, extra)


_STATE = frozenset(("_data", "_stored_mask", "_has_masked", "_fill_value", "_hardmask", "_sharedmask"))


def empty_of_class(cls: type) -> Any:
    """Return a masked array that `set_state` gives its elements. Pickles refer to this function by name."""
    return new(empty(0), cls=cls)


def set_state(x: Any, state: tuple[Any, ...]) -> None:
    """Have a masked array be what was stored. See `numpy.ma.MaskedArray.__setstate__`."""
    x._data, mask, x._fill_value, x._hardmask, extra = state
    store_mask(x, mask, None)
    x.__dict__.update(extra)


def deep_copy(x: Any, memo: dict[int, Any]) -> Any:
    """Return ``copy.deepcopy(x)``."""
    return x.copy()


def converted(x: Any) -> Any:
    """Return the data of a masked array, for functions that make arrays of any object; None for another object."""
    return x._data if is_ours(x) else None
