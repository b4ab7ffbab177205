"""NumPy's testing functions, which also accept `gpunumpy` arrays. See `numpy.testing`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy.testing
import numpy.testing.overrides

from .core.recording.array import is_scalar, ndarray, to_host
from .core.recording.record import array_of_protocol
from .functions.fallback import OWN_FUNCTIONS, namespace
from .functions.ufuncs.ufunc import ufunc

__path__: list[str] = []  # a package


def allows_array_ufunc_override(func: Any) -> bool:
    """Return whether a function asks classes for their ``__array_ufunc__``. See `numpy.testing.overrides`."""
    return isinstance(func, (ufunc, numpy.ufunc))


def allows_array_function_override(func: Any) -> bool:
    """Return whether a function asks classes for their ``__array_function__``. See `numpy.testing.overrides`."""
    names = {f"{f.__module__}.{f.__name__}" for f in numpy.testing.overrides.get_overridable_numpy_array_functions()}
    module = str(getattr(func, "__module__", "")).replace(__name__.partition(".")[0], "numpy", 1)
    return f"{module}.{getattr(func, '__name__', '')}" in names


for _function in (allows_array_ufunc_override, allows_array_function_override):
    OWN_FUNCTIONS[f"numpy.testing.overrides.{_function.__name__}"] = _function
overrides = namespace("numpy.testing.overrides")

# Functions that run code of the program, which gets its own arrays.
_CALLERS = frozenset(
    ("assert_no_gc_cycles", "assert_no_warnings", "assert_raises", "assert_raises_regex", "assert_warns", "runstring")
)


def _convert(x: Any) -> Any:
    """Replace `gpunumpy` arrays by NumPy arrays and scalars, also inside sequences and dictionaries.

    Of subclasses of lists, tuples and dictionaries NumPy compares the elements alone.
    """
    if isinstance(x, ndarray):
        host = to_host(x)
        return host[()] if is_scalar(x) else host
    if hasattr(type(x), "is_masked_array"):
        return x.get()
    if hasattr(type(x), "__array__") and not isinstance(x, (numpy.ndarray, numpy.generic)):
        held = array_of_protocol(x)
        return to_host(held) if isinstance(held, ndarray) else x
    if isinstance(x, (list, tuple)):
        return (list if isinstance(x, list) else tuple)(map(_convert, x))
    return {key: _convert(value) for key, value in x.items()} if isinstance(x, dict) else x


def _with_conversion(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with a conversion of its arguments."""

    @wraps(function)
    def convert_and_call(*args: Any, **options: Any) -> Any:
        __tracebackhide__ = True  # pytest shows the caller's line, as for NumPy's functions
        return function(*map(_convert, args), **_convert(options))

    return convert_and_call


def _names() -> dict[str, Any]:
    """Return the public names of `numpy.testing`, its functions with conversion, but for the module `overrides`."""
    public = {name: getattr(numpy.testing, name) for name in numpy.testing.__all__ if name != "overrides"}
    return {
        name: _with_conversion(value) if inspect.isfunction(value) and name not in _CALLERS else value
        for name, value in public.items()
    }


if TYPE_CHECKING:
    from numpy.testing import *
else:
    globals().update(_names())


def __dir__() -> list[str]:
    """Return the public names only."""
    return sorted(numpy.testing.__all__)
