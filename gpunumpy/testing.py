"""NumPy's testing functions, which also accept `gpunumpy` arrays. See `numpy.testing`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy.testing
from numpy.testing import overrides as overrides

from .core.recording.array import is_scalar, ndarray, to_host

__path__: list[str] = []  # a package: `overrides` is NumPy's module

# Functions that call a function of the program, which gets its own arrays.
_CALLERS = frozenset(
    ("assert_no_gc_cycles", "assert_no_warnings", "assert_raises", "assert_raises_regex", "assert_warns")
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
    """Return the public names of `numpy.testing`, its functions with conversion."""
    public = {name: getattr(numpy.testing, name) for name in numpy.testing.__all__}
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
