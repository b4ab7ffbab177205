"""The argument `like` of functions that make arrays (NEP 35)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy

from ...core.recording.array import ndarray
from ..fallback import by_other_class

_Function = TypeVar("_Function", bound=Callable[..., Any])


def takes_like(function: _Function) -> _Function:
    """Have a function hand its work to the class of the array that `like` is, unless that is an array of this package.

    So code that is written for several libraries makes arrays of the one that its arguments are of.
    """

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if "like" not in options:
            return function(*args, **options)
        like = options.pop("like")
        if like is None or isinstance(like, ndarray):
            return function(*args, **options)
        by_numpy = getattr(numpy, function.__name__)
        return by_other_class(by_numpy, args, options, like=like)

    return call  # type: ignore[return-value]
