"""NumPy's protocols: its functions, called on our arrays, run ours on the arrays' device."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import reduce
from types import ModuleType
from typing import Any

import numpy

from ..core.recording.array import ndarray, to_host
from ..functions.fallback import on_host
from ..functions.ufuncs.ufunc import UFUNCS
from . import exchange
from .namespace_info import EDITIONS


def _package() -> ModuleType:
    return sys.modules[__name__.partition(".")[0]]


def priority(x: ndarray) -> float:
    """Above other classes of arrays, where they decide by number whose operators run."""
    return 1000.0


def array_namespace(x: ndarray, *, api_version: str | None = None) -> ModuleType:
    """The module of the array API standard's functions."""
    if api_version is not None and api_version not in EDITIONS:
        raise ValueError(f"edition {api_version!r} of the array API is not supported; allowed: {', '.join(EDITIONS)}")
    return _package()


def array(x: ndarray, dtype: Any = None, copy: bool | None = None) -> Any:
    """The elements as a NumPy array: a copy, or, with ``copy=False`` on the CPU device, the very memory."""
    if copy is not False:
        host = to_host(x)
        return host if dtype is None else host.astype(dtype, copy=False)
    if not x.device.shares_host_memory or dtype not in (None, x.dtype):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return exchange.host_window(x)


def array_ufunc(x: ndarray, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """A ufunc of NumPy's on our arrays. What is not in NumPy's own namespace runs on the host, and says so."""
    given = options.get("out", ())
    if any(_foreign(a) for a in (*inputs, *given)):
        return NotImplemented
    call = _called(ufunc, method)
    if not given:
        if "where" in options and method == "__call__":
            options["out"] = None  # NumPy takes a None out of the options: whether it was given cannot be known
        return call(*inputs, **options)
    return call(*inputs, **options | {"out": given if method == "__call__" else given[0]})


def _called(ufunc: Any, method: str) -> Callable[..., Any]:
    """Our function for a ufunc of NumPy's, or for a method of one."""
    name = ufunc.__name__
    if getattr(numpy, name, None) is ufunc:
        if method == "__call__":
            return getattr(_package(), name)
        if name in UFUNCS:
            return getattr(UFUNCS[name], method)
    run = ufunc if method == "__call__" else getattr(ufunc, method)
    return on_host(lambda *args, **options: run(*args, **options), f"numpy ufunc {name}")


def _foreign(a: Any) -> bool:
    """Whether it is an array of a class that should decide itself."""
    if isinstance(a, (ndarray, numpy.ndarray, numpy.generic)):
        return False
    override = getattr(type(a), "__array_ufunc__", None)
    return override is not None and override is not ndarray.__array_ufunc__  # type: ignore[attr-defined]


def array_function(
    x: ndarray, function: Any, types: Iterable[type], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """A function of NumPy's on our arrays: ours of that name, which may run on the host and then says so."""
    if not all(issubclass(kind, (ndarray, numpy.ndarray)) for kind in types):
        return NotImplemented
    root, _, rest = function.__module__.partition(".")
    if root != "numpy":
        return NotImplemented
    path = [*filter(None, rest.split(".")), function.__name__]
    ours: Any
    try:
        ours = reduce(getattr, path, _package())
    except AttributeError:
        ours = on_host(function, f"{function.__module__}.{function.__name__}")
    return ours(*args, **options)
