"""Functions under CuPy's names that programs call beside NumPy's: each is one of this package's, or adds nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any, TypeVar

import numpy

from ..core.recording.array import ndarray
from ..core.runtime.device import default_device, why_no_gpu
from ..core.runtime.memory import free_all_blocks, memory_info, memory_limit, set_memory_limit
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


def is_available() -> bool:
    """Return whether this machine has a GPU that can be used."""
    return why_no_gpu() is None


class MemoryPool:
    """The memory of the default device, under the names of `cupy.cuda.MemoryPool`."""

    def used_bytes(self) -> int:
        """Return the bytes that arrays hold."""
        return memory_info().used

    def free_bytes(self) -> int:
        """Return the bytes in free blocks that are kept for later arrays."""
        return memory_info().cached

    def total_bytes(self) -> int:
        """Return the bytes of arrays and of free blocks."""
        info = memory_info()
        return info.used + info.cached

    def free_all_blocks(self, stream: Any = None) -> None:
        """Return the free blocks to the system. `stream` is accepted: a device has one."""
        free_all_blocks()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Limit the bytes that arrays and free blocks may take.

        Parameters
        ----------
        size : int, optional
            The limit; 0 for none.
        fraction : float, optional
            The limit as a part of all memory of the device.

        Raises
        ------
        ValueError
            Unless exactly one of both is given, and `fraction` is from 0 to 1 and the size of the memory is known.
        """
        if (size is None) == (fraction is None):
            raise ValueError("exactly one of size and fraction is needed")
        if fraction is not None:
            total = memory_info().total
            if not 0 <= fraction <= 1 or total is None:
                raise ValueError(f"fraction is a part of the {total} bytes of the device, not {fraction}")
            size = int(fraction * total)
        set_memory_limit(size or None)

    def get_limit(self) -> int:
        """Return the limit in bytes; 0 if there is none."""
        return memory_limit() or 0


_pool = MemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """Return the memory pool of the default device. See `cupy.get_default_memory_pool`."""
    return _pool


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
