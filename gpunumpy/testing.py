"""NumPy's testing functions, which also accept `gpunumpy` arrays. See `numpy.testing`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy.testing

from .core.recording.array import ndarray, to_host


def _convert(x: Any) -> Any:
    """Replace `gpunumpy` arrays by NumPy arrays and scalars, also inside sequences and dictionaries."""
    if isinstance(x, ndarray):
        return to_host(x)[()]
    if type(x) in (list, tuple):
        return type(x)(map(_convert, x))
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return tuple(map(_convert, x))
    return {key: _convert(value) for key, value in x.items()} if type(x) is dict else x


def _with_conversion(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with a conversion of its arguments."""

    @wraps(function)
    def convert_and_call(*args: Any, **options: Any) -> Any:
        return function(*map(_convert, args), **_convert(options))

    return convert_and_call


def _names() -> dict[str, Any]:
    """Return the public names of `numpy.testing`, its functions with conversion."""
    public = {name: getattr(numpy.testing, name) for name in numpy.testing.__all__}
    return {name: _with_conversion(value) if inspect.isfunction(value) else value for name, value in public.items()}


if TYPE_CHECKING:
    from numpy.testing import *
else:
    globals().update(_names())


def __dir__() -> list[str]:
    """Return the public names only."""
    return sorted(numpy.testing.__all__)
