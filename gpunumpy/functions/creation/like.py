"""The argument `like` of functions that make arrays (NEP 35)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy

from ...core.recording.array import ndarray

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
        if type(like) is numpy.ndarray:
            return by_numpy(*args, **options)
        if not hasattr(type(like), "__array_function__"):
            raise TypeError(
                "The `like` argument must be an array-like that implements the `__array_function__` protocol."
            )
        result = type(like).__array_function__(like, by_numpy, (type(like),), args, options)
        if result is NotImplemented:
            raise TypeError(f"no implementation found for 'numpy.{function.__name__}' on {type(like)}")
        return result

    return call  # type: ignore[return-value]
