"""NumPy's testing functions, for our arrays too. See `numpy.testing`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy.testing

from .core.recording.array import ndarray, to_host


def _converted(x: Any) -> Any:
    """NumPy's arrays and scalars in place of ours, in nested sequences too."""
    if isinstance(x, ndarray):
        return to_host(x)[()]
    if type(x) in (list, tuple):
        return type(x)(map(_converted, x))
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return tuple(map(_converted, x))
    return {key: _converted(value) for key, value in x.items()} if type(x) is dict else x


def _accepting(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def check(*args: Any, **options: Any) -> Any:
        return function(*map(_converted, args), **_converted(options))

    return check


def _names() -> dict[str, Any]:
    """What `numpy.testing` has: its functions take our arrays, anything else is NumPy's own."""
    public = {name: getattr(numpy.testing, name) for name in numpy.testing.__all__}
    return {name: _accepting(found) if inspect.isfunction(found) else found for name, found in public.items()}


if TYPE_CHECKING:
    from numpy.testing import *
else:
    globals().update(_names())
