"""What methods do with the memory of a masked array: they leave its mask as it is, or see the data alone."""

from __future__ import annotations

from collections.abc import Callable
from types import GenericAlias
from typing import Any, NoReturn

from .state import new, nomask


def _of_data(name: str) -> Callable[..., Any]:
    """Return a method that is the data's."""

    def method(self: Any, *args: Any, **options: Any) -> Any:
        return getattr(self._data, name)(*args, **options)

    method.__name__ = name
    method.__doc__ = f"Do with the data what the method of an array does. See `numpy.ndarray.{name}`."
    return method


def byteswap(self: Any, inplace: bool = False) -> Any:
    """Return the elements with their bytes in the other order. See `numpy.ndarray.byteswap`."""
    data, mask = self._data.byteswap(inplace), self._stored_mask
    return self if data is self._data else new(data, mask if mask is nomask else mask.copy(), self, self._has_masked)


def getfield(self: Any, dtype: Any, offset: Any = 0) -> Any:
    """Return a part of every element as another dtype, with the same mask. See `numpy.ndarray.getfield`."""
    return new(self._data.getfield(dtype, offset), self._stored_mask, self, self._has_masked)


def to_device(self: Any, device: Any, /, *, stream: Any = None) -> Any:
    """Return the array on a device. See `numpy.ndarray.to_device`."""
    data = self._data.to_device(device, stream=stream)
    mask = self._stored_mask
    if data is self._data:
        return self
    has_masked = self._has_masked if self._has_masked is None else self._has_masked.to_device(device)
    return new(data, mask if mask is nomask else mask.to_device(device), self, has_masked)


def _delete_item(self: Any, key: Any) -> NoReturn:
    """Raise the error of ``del x[key]``."""
    raise ValueError("cannot delete array elements")


METHODS: dict[str, Callable[..., Any]] = {
    "__delitem__": _delete_item,
    **{
        name: _of_data(name)
        for name in (
            *("__array_namespace__", "__buffer__", "__bytes__", "__dlpack__", "__dlpack_device__"),
            *("setfield", "setflags"),
        )
    },
    "byteswap": byteswap,
    "getfield": getfield,
    "iscontiguous": lambda self: self.flags.c_contiguous,
    "to_device": to_device,
    "__class_getitem__": classmethod(GenericAlias),  # type: ignore[dict-item]
}
