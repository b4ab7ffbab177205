"""How arguments of a call become a library's, and results this package's: what transfers to both libraries share.

What a transfer does with an array itself is in `host_transfer` and `cupy_transfer`. Here are functions that the library
calls, and results with several parts.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import Any, Protocol

import numpy

from ..core.recording.array import ON_HOST, is_scalar, ndarray
from ..core.runtime.device import Device
from . import cupy_library


class Transfer(Protocol):
    """The arguments of one call of a library on the way there, and the results on the way back.

    Attributes
    ----------
    has_called_back : bool
        Whether the library has called a function of the program's.
    """

    has_called_back: bool

    @property
    def gpu(self) -> Device | None:
        """The GPU that has the library's arrays; None for the host."""

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call a function of the library, and return its result."""

    def to_library(self, x: Any) -> Any:
        """Return an argument with the library's objects in place of this package's."""

    def from_library(self, x: Any) -> Any:
        """Return a result with this package's objects in place of the library's."""

    def attribute(self, x: Any) -> Any:
        """Return an attribute of an object as a result; an array shows the object's memory, or is read-only."""

    def original(self, x: Any) -> ndarray | None:
        """Return the array that an array of the library stands for in this call; None if it stands for none."""

    def anew(self) -> Transfer:
        """Return a transfer for another call, to the same library and device."""


class TwoDevicesError(ValueError):
    """Raised for arrays of two devices in one call, which no other library is asked about."""


def require_device(x: ndarray, device: Device | None) -> None:
    """Raise `TwoDevicesError` unless an array is on a device, if there is one; scalars may be anywhere."""
    if device is not None and x.device is not device and not is_scalar(x):
        raise TwoDevicesError(f"arguments are on two devices, {device} and {x.device}; move one with to_device()")


def gpu_of(values: Iterable[Any]) -> Device | None:
    """Return the GPU whose memory holds an array among some arguments, also inside lists, tuples and dicts; or None."""
    for x in values:
        kind = type(x)
        if kind in _HOLD_NOTHING:
            continue
        found: Device | None = None
        if kind is ndarray or isinstance(x, ndarray):
            queue = x._node.signature.queue
            if not x._flags & ON_HOST and queue is not None and cupy_library.shares_memory_of(queue.device):
                return queue.device
        elif kind is list or kind is tuple or kind is dict:
            found = gpu_of(x.values() if kind is dict else x)
        elif hasattr(kind, "scipy_class"):
            found = x._gpu
        if found is not None:
            return found
    return None


_HOLD_NOTHING = frozenset((int, float, complex, bool, str, types.NoneType))


class Callback:
    """A function of the program's as a library calls it: it gets arrays of this package, and may return them."""

    def __init__(self, function: Callable[..., Any], transfer: Transfer) -> None:
        self.function = function
        self._transfer = transfer
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__wrapped__ = function  # by which `inspect` tells its parameters

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function."""
        self._transfer.has_called_back = True
        transfer = self._transfer.anew()
        given = [self._argument(x, transfer) for x in args]
        result = self.function(*given, **{name: self._argument(x, transfer) for name, x in options.items()})
        return transfer.to_library(result)

    def _argument(self, x: Any, transfer: Transfer) -> Any:
        """Return an argument for the function. NumPy's scalars stay what they are."""
        if isinstance(x, numpy.generic):
            return x
        original = self._transfer.original(x)
        return transfer.from_library(x) if original is None else original


class LibraryFunction:
    """A function that a library returned, for arrays of this package."""

    def __init__(self, function: Callable[..., Any], transfer: Transfer) -> None:
        self.function = function
        self._transfer = transfer.anew()
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function."""
        return self._transfer.anew().call(self.function, args, options)


def is_function(x: Any) -> bool:
    """Return whether an argument or a result is a function, which may take arrays."""
    return callable(x) and not isinstance(x, (type, numpy.ufunc, types.ModuleType, ndarray))


def converted(x: Any, transfer: Transfer) -> Any:
    """Return a result that is a tuple or a dict of a class of SciPy's, with converted parts."""
    result: Any
    if isinstance(x, dict):
        result = type(x).__new__(type(x))
        dict.update(result, {key: transfer.from_library(part) for key, part in x.items()})
        return result
    cls: Any = type(x)
    result = tuple.__new__(_result_class(cls), map(transfer.from_library, x))
    if hasattr(x, "__dict__"):
        fields = vars(x).items()
        public = {name: transfer.from_library(part) for name, part in fields if not name.startswith("_")}
        vars(result).update({**vars(x), **public, "_original": x, "_transfer": transfer.anew()})
    return result


@cache
def _result_class(cls: Any) -> Any:
    """Return the class of results that stands for one of SciPy's: a subclass, whose methods ask SciPy's result."""
    methods = {
        name: _result_method(method)
        for name in dir(cls)
        if not name.startswith("_") and isinstance(method := getattr(cls, name), types.FunctionType)
    }
    if not methods:
        return cls
    described = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    return type(cls.__name__, (cls,), {**described, **methods})


def _result_method(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def run(self: Any, *args: Any, **options: Any) -> Any:
        return self._transfer.anew().call(method, (self._original, *args), options)

    return run
