"""A stand-in for CuPy: arrays of its kind over memory of the host, and a `cupyx.scipy` in which SciPy computes.

It refuses what CuPy refuses, arrays of other libraries, and notes what it gets.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from importlib import import_module
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.scipy import counterparts, cupy_library, functions, sparse_formats


class Memory:
    """Memory of the library's own, or of somebody else's."""

    def __init__(self, ptr: int, size: int, owner: object, device_id: int = 0) -> None:
        self.ptr, self.size, self.owner, self.device_id = ptr, size, owner, device_id


class Pointer:
    """A place in memory."""

    def __init__(self, mem: Memory, offset: int) -> None:
        self.mem, self.ptr = mem, mem.ptr + offset


class Array(numpy.ndarray):
    """An array of the library."""

    _pointer: Pointer | None = None

    def __new__(cls, shape: Any, dtype: Any, memptr: Pointer, strides: Any = None) -> Any:
        dtype = numpy.dtype(dtype)
        described = {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str,
            "data": (memptr.ptr, False),
            "strides": strides,
        }
        kept = types.SimpleNamespace(__array_interface__=described, pointer=memptr)
        array = numpy.asarray(kept).view(cls)
        array._pointer = memptr
        return array

    @property
    def data(self) -> Any:
        """The pointer, over the memory of the array that this one is a view of."""
        if self._pointer is None:
            base = self.base
            while isinstance(base, numpy.ndarray) and not (isinstance(base, Array) and base._pointer is not None):
                base = base.base
            mem = base.data.mem if isinstance(base, Array) else Memory(0, self.nbytes, None)
            self._pointer = Pointer(mem, self.ctypes.data - mem.ptr)
        return self._pointer


def as_array(x: Any) -> Any:
    """A NumPy array as one of the library; NumPy's scalars are arrays without dimensions."""
    if isinstance(x, numpy.generic):
        return as_array(numpy.array(x))
    return x.view(Array) if isinstance(x, numpy.ndarray) and not isinstance(x, Array) else x


class Library:
    """What stands for `cupy` and `cupyx.scipy`.

    Attributes
    ----------
    calls : list
        The functions that were called, by their full names, with the arguments.
    streams : list
        The streams that were current in these calls.
    missing : set of str
        Names that `cupyx.scipy` is to lack.
    """

    ndarray = Array
    cuda = types.SimpleNamespace(UnownedMemory=Memory, MemoryPointer=Pointer)

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.streams: list[Any] = []
        self.missing = {"spatial.transform.Rotation", "spatial.transform.Slerp"}
        self._stream: Any = None

    @staticmethod
    def asarray(x: Any) -> Any:
        """An array with the elements of NumPy's."""
        return as_array(numpy.array(x))

    @contextmanager
    def stream_of(self, device: Any) -> Iterator[None]:
        """The context in which the library uses the stream of a device."""
        before, self._stream = self._stream, device
        yield
        self._stream = before

    def cupyx(self, path: str) -> Any:
        """A module of `cupyx.scipy`."""
        module = types.ModuleType(f"cupyx.scipy.{path}")
        module.__getattr__ = lambda name: self._function(path, name)  # type: ignore[method-assign]
        return module

    def _function(self, path: str, name: str) -> Any:
        found = getattr(import_module(f"scipy.{path}"), name)
        if f"{path}.{name}" in self.missing:
            raise AttributeError(name)
        if isinstance(found, type):
            return _class(found, path)
        return found if name == "issparse" else self._noted(found, f"{path}.{name}")

    def _noted(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        @wraps(function, updated=())
        def run(*args: Any, **options: Any) -> Any:
            for x in (*args, *options.values()):
                self._check(x)
            self.calls.append((name, args, options))
            self.streams.append(self._stream)
            return from_scipy(function(*args, **options))

        return run

    def _check(self, x: Any) -> None:
        if isinstance(x, gpunumpy.ndarray) or type(x) is numpy.ndarray:
            raise TypeError(f"Unsupported type {type(x)}")
        if type(x) in (list, tuple):
            for part in x:
                self._check(part)


@cache
def _class(cls: Any, path: str) -> Any:
    """The library's class for one of SciPy's, whose objects say that their arrays are the library's."""
    namespace: dict[str, Any] = {"__module__": f"cupyx.scipy.{path}._own"}
    if path == "sparse":
        namespace |= {"__getattribute__": _sparse_attribute, "get": _on_host}
    return type(cls)(cls.__name__, (cls,), namespace)


def _sparse_attribute(self: Any, name: str) -> Any:
    return as_array(object.__getattribute__(self, name))


def _on_host(self: Any) -> Any:
    cls = type(self).__mro__[1]
    return cls(self)


def from_scipy(x: Any) -> Any:
    """A result of SciPy's as one of the library's."""
    if isinstance(x, numpy.ndarray | numpy.generic):
        return as_array(x)
    if type(x) in (list, tuple):
        return type(x)(map(from_scipy, x))
    if isinstance(x, dict):
        for key, part in x.items():
            dict.__setitem__(x, key, from_scipy(part))
    return x


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """The stand-in, in CuPy's place; it uses the memory of the CPU device."""
    made = Library()
    monkeypatch.setattr(cupy_library, "cupy", lambda: made)
    monkeypatch.setattr(functions, "cupy", lambda: made)
    for module in (cupy_library, counterparts, sparse_formats):
        monkeypatch.setattr(module, "cupyx", made.cupyx)
    monkeypatch.setattr(cupy_library, "shares_memory_of", lambda device: True)
    monkeypatch.setattr(cupy_library, "stream_of", made.stream_of)
    gpunumpy.set_residence("device")
    functions._routes.clear()
    with gpunumpy.Device("cpu"):
        yield made
    functions._routes.clear()
