"""Functions under CuPy's names that programs call beside NumPy's: each is one of this package's, or adds nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any, TypeVar

import numpy

from ..core.recording.array import ndarray
from ..core.runtime.device import default_device
from ..functions.ufuncs.ufunc import UFUNCS

_Function = TypeVar("_Function", bound=Callable[..., Any])
_PACKAGE = __name__.partition(".")[0]


def get_array_module(*args: Any) -> ModuleType:
    """Return the module whose functions take the arguments: this package if one of them is its array, else NumPy.

    Parameters
    ----------
    *args
        Arrays, or anything else.
    """
    return sys.modules[_PACKAGE] if any(isinstance(x, ndarray) for x in args) else numpy


def fuse(*args: Any, kernel_name: str | None = None) -> Any:
    """Return the function that this decorates. See `cupy.fuse`.

    It adds nothing: all operations on arrays are recorded, and fused when a value is needed. Both forms are accepted,
    ``@fuse`` and ``@fuse()``.

    Parameters
    ----------
    *args
        The function, if there are no parentheses.
    kernel_name : str, optional
        Accepted: kernels are named by what is fused in them.
    """
    if args and callable(args[0]):
        return args[0]

    def unchanged(function: _Function) -> _Function:
        return function

    return unchanged


def scatter_add(a: ndarray, slices: Any, value: Any) -> None:
    """Add values to the elements that an index selects, to each as often as it is selected. See `numpy.add.at`.

    Parameters
    ----------
    a : ndarray
        The array, which is written to.
    slices : index
        The elements.
    value : array_like
        What is added.
    """
    UFUNCS["add"].at(a, slices, value)


def scatter_max(a: ndarray, slices: Any, value: Any) -> None:
    """Have elements that an index selects be at least the values for them. See `numpy.maximum.at`.

    Parameters
    ----------
    a : ndarray
        The array, which is written to.
    slices : index
        The elements.
    value : array_like
        The least values.
    """
    UFUNCS["maximum"].at(a, slices, value)


def scatter_min(a: ndarray, slices: Any, value: Any) -> None:
    """Have elements that an index selects be at most the values for them. See `numpy.minimum.at`.

    Parameters
    ----------
    a : ndarray
        The array, which is written to.
    slices : index
        The elements.
    value : array_like
        The greatest values.
    """
    UFUNCS["minimum"].at(a, slices, value)


# What `memoize` has made, for `clear_memo`.
_memos: list[dict[Any, Any]] = []


def memoize(for_each_device: bool = False) -> Callable[..., Any]:
    """Return a decorator that has a function called once for the same arguments. See `cupy.memoize`.

    Parameters
    ----------
    for_each_device : bool
        Whether the function is called once for each default device.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        memo: dict[Any, Any] = {}
        _memos.append(memo)

        @wraps(function)
        def remembered(*args: Any, **keywords: Any) -> Any:
            key = (default_device() if for_each_device else None, args, frozenset(keywords.items()))
            if key not in memo:
                memo[key] = function(*args, **keywords)
            return memo[key]

        return remembered

    return decorate


def clear_memo() -> None:
    """Forget what functions with `memoize` have returned."""
    for memo in _memos:
        memo.clear()
