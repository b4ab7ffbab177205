"""NumPy's own tests of its random numbers, of the NumPy that is installed, held against `gpunumpy.random`."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy

import gpunumpy


class _Numpy(ModuleType):
    """NumPy with `gpunumpy.random` as its `random`."""

    def __getattr__(self, name: str) -> Any:
        return gpunumpy.random if name == "random" else getattr(numpy, name)


class _Looking(ModuleType):
    """A module whose functions look at NumPy arrays: a gpunumpy argument is converted."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self.__name__), name)
        return _with_numpy_arguments(found) if isinstance(found, (FunctionType, BuiltinFunctionType)) else found


def _with_numpy_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        return function(*map(_as_numpy, args), **{key: _as_numpy(value) for key, value in options.items()})

    return call


def _as_numpy(x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(map(_as_numpy, x))
    return gpunumpy.asnumpy(x) if isinstance(x, gpunumpy.ndarray) else x


_REPLACED_MODULES = {
    "numpy": _Numpy("numpy"),
    "numpy.random": gpunumpy.random,
    "numpy.testing": _Looking("numpy.testing"),
    "hashlib": _Looking("hashlib"),
}


def _import(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    found = builtins.__import__(name, globals, locals, fromlist, level)
    return _REPLACED_MODULES.get(name if fromlist else name.split(".")[0], found)


def load(name: str) -> dict[str, Any]:
    """What a module of `numpy.random.tests` defines when it is run with `gpunumpy.random` for `numpy.random`."""
    spec = find_spec(f"numpy.random.tests.{name}")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin)
    made = ModuleType(f"{__package__}.loaded_{name}")
    vars(made).update({"__file__": str(path), "__builtins__": {**vars(builtins), "__import__": _import}})
    sys.modules[made.__name__] = made
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), vars(made))
    return {key: value for key, value in vars(made).items() if not key.startswith("__")}
