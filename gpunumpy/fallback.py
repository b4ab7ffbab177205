"""NumPy's functions on the host, for names that have no device implementation: never silently.

A wrapped function gets NumPy arrays in place of ours and gives ours in place of NumPy's. What it writes into its
arguments is written into ours.
"""

from __future__ import annotations

import os
import types
import warnings
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import Any

import numpy

from .core import dtypes
from .core.array import from_host, is_scalar, ndarray, to_host
from .core.errors import HostFallbackWarning, allowed
from .core.record import caller

__all__ = ["host_fallback"]

_ACTIONS = ("warn", "error", "ignore")
_action = os.environ.get("GPUNUMPY_HOST_FALLBACK", "warn")
_told: set[str] = set()

# What neither takes nor makes arrays of ours, so that nothing is said of it.
_SILENT = frozenset(
    (
        *("base_repr", "binary_repr", "format_float_positional", "format_float_scientific", "format_parser"),
        *("get_printoptions", "printoptions", "set_printoptions", "getbufsize", "setbufsize", "geterr", "seterr"),
        *("geterrcall", "seterrcall", "get_include", "info", "isdtype", "issubdtype", "show_config", "show_runtime"),
        "typename",
    )
)
# Classes that hold arrays: theirs are NumPy's.
_HOLDERS = frozenset(
    ("broadcast", "chararray", "matrix", "memmap", "ndenumerate", "nditer", "nested_iters", "poly1d", "recarray")
)
# Modules in which nothing takes an array.
_PLAIN_MODULES = frozenset(("ctypeslib", "dtypes", "exceptions", "typing", "version"))


def host_fallback(action: str | None = None) -> str:
    """What happens when a function runs through NumPy on the host, and, with an argument, set it.

    Parameters
    ----------
    action : {"warn", "error", "ignore"}, optional
        "warn" issues a `HostFallbackWarning` once per function, "error" raises it. The environment variable
        ``GPUNUMPY_HOST_FALLBACK`` sets it from outside.
    """
    global _action
    if action is not None:
        if action not in _ACTIONS:
            raise ValueError(f"{action!r} is no action; {allowed(_ACTIONS)}")
        _action = action
    return _action


def tell(name: str) -> None:
    """Say, once, that a function runs on the host."""
    if _action == "error":
        raise HostFallbackWarning(f"{name} has no device implementation and would run through NumPy on the host")
    if _action == "warn" and name not in _told:
        text = f"{name} runs through NumPy on the host: it has no device implementation yet (from {caller()})"
        warnings.warn(text, HostFallbackWarning, stacklevel=3)
        _told.add(name)  # not before: where the warning is made an error it is one every time


class _Visit:
    """One call: NumPy's arrays in place of ours, and back."""

    def __init__(self) -> None:
        self.seen: list[tuple[ndarray, Any, bytes]] = []
        self.device: Any = None

    def to_host(self, x: Any) -> Any:
        if isinstance(x, ndarray):
            for ours, host, _ in self.seen:
                if ours is x:
                    return host
            host = to_host(x)
            self.device = self.device or x.device
            if is_scalar(x):
                return host[()]
            host.flags.writeable = x.writeable
            self.seen.append((x, host, host.tobytes()))
            return host
        if type(x) in (list, tuple):
            return type(x)(map(self.to_host, x))
        if type(x) is dict:
            return {key: self.to_host(value) for key, value in x.items()}
        return x

    def write_back(self) -> None:
        for ours, host, before in self.seen:
            if host.tobytes() != before:
                ours.assign(from_host(host, ours.device).value())

    def from_host(self, x: Any) -> Any:
        if isinstance(x, numpy.ndarray):
            for ours, host, _ in self.seen:
                if host is x:
                    return ours
            return from_host(x, self.device) if type(x) is numpy.ndarray and x.dtype in dtypes.KIND else x
        if type(x) in (list, tuple):
            return type(x)(map(self.from_host, x))
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return type(x)(*map(self.from_host, x))
        return x


def on_host(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function of NumPy, over our arrays; `name` is what messages call it."""

    @wraps(function, updated=())
    def run(*args: Any, **options: Any) -> Any:
        tell(name)
        visit = _Visit()
        result = function(*visit.to_host(args), **visit.to_host(options))
        visit.write_back()
        return visit.from_host(result)

    return run


# The methods of NumPy's arrays that run on the host.
HOST_METHODS = (
    *("argpartition", "argsort", "byteswap", "dump", "dumps", "getfield"),
    *("partition", "searchsorted", "sort", "tofile"),
)


def on_host_method(name: str) -> Callable[..., Any]:
    """The method of NumPy's arrays, for ours."""
    return on_host(getattr(numpy.ndarray, name), f"ndarray.{name}")


@cache
def lookup(module: str, name: str) -> Any:
    """What a module of NumPy's has under a name, its functions run on the host.

    Raises
    ------
    AttributeError
        If it has nothing of that name, or the name is private.
    """
    theirs = import_module(module)
    ours = "gpunumpy" + module.removeprefix("numpy")
    if name.startswith("_") or name not in dir(theirs):
        raise AttributeError(f"module {ours!r} has no attribute {name!r}")
    found = getattr(theirs, name)
    if isinstance(found, types.ModuleType):
        return found if name in _PLAIN_MODULES else namespace(found.__name__)
    if isinstance(found, type):
        if name in _HOLDERS:
            tell(f"{ours}.{name}")
        return found
    return on_host(found, f"{ours}.{name}") if callable(found) and name not in _SILENT else found


def namespace(module: str) -> types.ModuleType:
    """A module like one of NumPy's, whose functions take and give our arrays, on the host."""
    ours = types.ModuleType("gpunumpy" + module.removeprefix("numpy"))
    ours.__getattr__ = lambda name: lookup(module, name)  # type: ignore[method-assign]
    ours.__dir__ = lambda: public(module)  # type: ignore[method-assign]
    return ours


def public(module: str) -> list[str]:
    """The public names of a module of NumPy's."""
    return [name for name in dir(import_module(module)) if not name.startswith("_")]
