"""NumPy's functions on the host, for names that have no device implementation: never silently.

A wrapped function gets NumPy arrays in place of ours and gives ours in place of NumPy's. What it writes into its
arguments is written into ours. What it gives as a view of an argument is a view of ours, and read-only where there is
no such view: a write that an argument would not see is refused.
"""

from __future__ import annotations

import os
import sys
import types
import warnings
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import Any, NamedTuple

import numpy

from ..core import dtypes
from ..core.errors import HostFallbackWarning, allowed
from ..core.graph import layout
from ..core.graph.layout import Layout
from ..core.recording.array import BOX, READ_ONLY, from_host, is_scalar, make_view, ndarray, to_host
from ..core.recording.record import source_location

__all__ = ["host_fallback"]

_ACTIONS = ("warn", "error", "ignore")
_action = os.environ.get("GPUNUMPY_HOST_FALLBACK", "warn")
_told: set[str] = set()

# What neither takes nor makes arrays of ours, so that nothing is said of it.
_SILENT = frozenset(
    (
        *("base_repr", "binary_repr", "format_float_positional", "format_float_scientific", "format_parser"),
        *("get_printoptions", "printoptions", "set_printoptions", "getbufsize", "setbufsize", "geterr", "seterr"),
        *("geterrcall", "seterrcall", "get_include", "info", "issubdtype", "show_config", "show_runtime"),
        "typename",
    )
)
# Classes that hold arrays: theirs are NumPy's.
_HOLDERS = frozenset(("broadcast", "chararray", "matrix", "memmap", "ndenumerate", "poly1d", "recarray"))
# What rooms above have in place of functions in NumPy's inner modules, by NumPy's full name.
NATIVE: dict[str, Callable[..., Any]] = {}
# Modules in which nothing takes an array.
_PLAIN_MODULES = frozenset(("ctypeslib", "dtypes", "exceptions", "version"))


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
        text = f"{name} runs through NumPy on the host: it has no device implementation yet (from {source_location()})"
        warnings.warn(text, HostFallbackWarning, stacklevel=_frames())
        _told.add(name)  # not before: where the warning is made an error it is one every time


def _frames() -> int:
    """How far the user's program is from the caller, as `warnings.warn` counts."""
    frame: types.FrameType | None = sys._getframe(1)
    count = 1
    package = __name__.partition(".")[0]
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, count = frame.f_back, count + 1
    return count


class _Visitor(NamedTuple):
    """An array of ours, and what stands for it on the host."""

    ours: Any
    host: Any
    before: bytes | None  # None: it is not written
    stored: Layout  # where the elements are that the host's array has in its memory, in the order of that memory


class _Visit:
    """One call: NumPy's arrays in place of ours, and back."""

    def __init__(self) -> None:
        self.seen: list[_Visitor] = []
        self.device: Any = None

    def to_host(self, x: Any) -> Any:
        if isinstance(x, ndarray):
            for visitor in self.seen:
                if visitor.ours is x:
                    return visitor.host
            self.device = self.device or x.device
            if is_scalar(x):
                return to_host(x)[()]
            host, stored = _as_it_lies(x)
            host.flags.writeable = x.writeable
            self.seen.append(_Visitor(x, host, host.tobytes() if x.writeable else None, stored))
            return host
        if type(x) in (list, tuple):
            return type(x)(map(self.to_host, x))
        if type(x) is dict:
            return {key: self.to_host(value) for key, value in x.items()}
        if isinstance(x, numpy.ndarray):
            self.seen.append(_Visitor(x, x, None, layout.c_layout(())))
        return x

    def write_back(self) -> None:
        for ours, host, before, _ in self.seen:
            if before is not None and host.tobytes() != before:
                ours.assign(from_host(host, ours.device).value())

    def from_host(self, x: Any) -> Any:
        if isinstance(x, numpy.ndarray):
            given = next((visitor for visitor in self.seen if visitor.host is x), None)
            return self._taken(x) if given is None else given.ours
        if isinstance(x, numpy.generic) and self.device is not None and x.dtype in dtypes.KIND:
            made = from_host(numpy.asarray(x), self.device)
            made._flags &= ~BOX  # as the 0-d result of an operation
            return made
        if type(x) in (list, tuple):
            return type(x)(map(self.from_host, x))
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return type(x)(*map(self.from_host, x))
        return x

    def _taken(self, x: Any) -> Any:
        """An array of the host as ours, where its class and its dtype allow."""
        mine = (visitor for visitor in self.seen if isinstance(visitor.ours, ndarray))
        source = next((visitor for visitor in mine if numpy.may_share_memory(x, visitor.host)), None)
        ours = type(x) is numpy.ndarray and x.dtype in dtypes.KIND
        if source is not None:
            seen = _view_of(source, x) if ours else None
            if seen is not None:
                return seen
            x.flags.writeable = False
        if not ours:
            return x
        made = from_host(x, self.device)
        if not x.flags.writeable:
            made._flags |= READ_ONLY
        return made


def _as_it_lies(x: ndarray) -> tuple[Any, Layout]:
    """The elements on the host, the axes in memory in the order that the array's are in; and where those elements are.

    The layout counts the dimensions in that order.
    """
    shape, strides, offset = where = x.layout
    order = layout.copied_order(shape, strides)
    if order is None:
        return to_host(x), where
    stored = Layout(tuple(shape[k] for k in order), tuple(strides[k] for k in order), offset)
    return to_host(make_view(x, stored)).transpose([order.index(axis) for axis in range(len(order))]), stored


def _view_of(source: _Visitor, x: Any) -> ndarray | None:
    """The view of our array that a view `x` of its elements on the host is; None if there is no such view."""
    unit = x.itemsize
    start = x.__array_interface__["data"][0] - source.host.__array_interface__["data"][0]
    if x.dtype != source.host.dtype or any(s % unit for s in (start, *x.strides)):
        return None
    where = layout.compose(source.stored, Layout(x.shape, tuple(s // unit for s in x.strides), start // unit))
    if where is None:
        return None
    view = make_view(source.ours, where)
    if not x.flags.writeable or not layout.are_distinct(where.shape, where.strides):
        view._flags |= READ_ONLY
    return view


def on_host(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function of NumPy, over our arrays; `name` is what messages call it, and nothing is said without one."""

    @wraps(function, updated=())
    def run(*args: Any, **options: Any) -> Any:
        if name:
            tell(name)
        visit = _Visit()
        result = function(*visit.to_host(args), **visit.to_host(options))
        visit.write_back()
        return visit.from_host(result)

    return run


def refuse_writes(name: str, op: Any, op_flags: Any) -> None:
    """Raise TypeError where an iterator of NumPy's would write to a copy of an array of ours."""
    operands = list(op) if isinstance(op, (list, tuple)) else [op]
    flags = list(op_flags or ())
    each = [flags] * len(operands) if all(isinstance(flag, str) for flag in flags) else flags
    for operand, its in zip(operands, each, strict=False):
        if isinstance(operand, ndarray) and any(flag in ("readwrite", "writeonly") for flag in its):
            raise TypeError(
                f"{name} reads arrays on the host and cannot write to them: let it run over asnumpy(x) and assign "
                "x[...] afterwards, or write with operations on whole arrays"
            )


class _Iterators(type):
    """The class of `nditer`: NumPy's iterators are its instances."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, numpy.nditer)


class nditer(metaclass=_Iterators):
    """NumPy's iterator, over copies on the host of what is ours; it cannot write to those. See `numpy.nditer`."""

    def __new__(cls, op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **options: Any) -> Any:
        """Make one of NumPy's."""
        refuse_writes("nditer", op, op_flags)
        tell("gpunumpy.nditer")
        return numpy.nditer(_Visit().to_host(op), flags, op_flags, *args, **options)


def nested_iters(op: Any, axes: Any, flags: Any = None, op_flags: Any = None, *args: Any, **options: Any) -> Any:
    """Iterators for nested loops, which cannot write to what is ours. See `numpy.nested_iters`."""
    refuse_writes("nested_iters", op, op_flags)
    tell("gpunumpy.nested_iters")
    return numpy.nested_iters(_Visit().to_host(op), axes, flags, op_flags, *args, **options)


_vectorized = on_host(numpy.vectorize.__call__, "gpunumpy.vectorize")


class vectorize(numpy.vectorize):
    """A function of Python's over every element, on the host. See `numpy.vectorize`."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call it for every element of the arrays."""
        return _vectorized(self, *args, **options)


NATIVE |= {"numpy.nditer": nditer, "numpy.nested_iters": nested_iters, "numpy.vectorize": vectorize}


# The methods of NumPy's arrays that run on the host.
HOST_METHODS = ("byteswap", "dump", "dumps", "getfield", "tofile")


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
    if name.startswith("_") or (name not in dir(theirs) and name not in _PLAIN_MODULES):
        raise AttributeError(f"module {ours!r} has no attribute {name!r}")
    native = NATIVE.get(f"{module}.{name}")
    if native is not None:
        return native
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

    def find(name: str) -> Any:
        return import_module(module).__all__ if name == "__all__" else lookup(module, name)

    ours = types.ModuleType("gpunumpy" + module.removeprefix("numpy"))
    ours.__getattr__ = find  # type: ignore[method-assign]
    ours.__dir__ = lambda: public(module)  # type: ignore[method-assign]
    ours.__path__ = []  # it may have modules in it, none of which is a file
    return ours


def public(module: str) -> list[str]:
    """The public names of a module of NumPy's."""
    return [name for name in dir(import_module(module)) if not name.startswith("_")]
