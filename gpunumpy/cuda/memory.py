"""The memory of devices under the names of `cupy.cuda.memory`. Arrays have one allocator, which keeps free blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy

from ..core.runtime import page_locked
from ..core.runtime.device import default_device
from ..core.runtime.memory import free_all_blocks, memory_info, memory_limit, pool_of, set_memory_limit

OutOfMemoryError = MemoryError


class MemoryPool:
    """The memory of the default device, under the names of `cupy.cuda.MemoryPool`. There is one for each device."""

    def used_bytes(self) -> int:
        """Return the bytes that arrays hold."""
        return memory_info().used

    def free_bytes(self) -> int:
        """Return the bytes in free blocks that are kept for later arrays."""
        return memory_info().cached

    def n_free_blocks(self) -> int:
        """Return the number of free blocks."""
        return pool_of(default_device()).count_free_blocks()

    def total_bytes(self) -> int:
        """Return the bytes of arrays and of free blocks."""
        info = memory_info()
        return info.used + info.cached

    def malloc(self, size: int) -> NoReturn:
        """Raise NotImplementedError: memory is that of an array, such as ``empty(size, uint8)``."""
        raise NotImplementedError(f"memory is that of an array: empty({size}, uint8)")

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


class PinnedMemoryPool:
    """The page-locked memory of the host that no array has, under the names of `cupy.cuda.PinnedMemoryPool`."""

    def n_free_blocks(self) -> int:
        """Return the number of blocks that are kept for later arrays."""
        return page_locked.count_free_blocks()

    def free_all_blocks(self) -> None:
        """Return these blocks to the system."""
        page_locked.unlock_free_blocks()


_pool, _pinned_pool = MemoryPool(), PinnedMemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """Return the memory pool of the default device. See `cupy.get_default_memory_pool`."""
    return _pool


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """Return the pool of page-locked memory. See `cupy.get_default_pinned_memory_pool`."""
    return _pinned_pool


def alloc_pinned_memory(size: int) -> numpy.ndarray[Any, Any]:
    """Return page-locked memory of the host, as NumPy's array of bytes. See `cupy.cuda.alloc_pinned_memory`."""
    return page_locked.new_array((size,), numpy.dtype(numpy.uint8), default_device())


def get_allocator() -> Callable[[int], NoReturn]:
    """Return the allocator of arrays. See `cupy.cuda.get_allocator`."""
    return _pool.malloc


def set_allocator(allocator: Callable[[int], Any] | None = None) -> None:
    """Accept the allocator that there is, the method `malloc` of a `MemoryPool`.

    Parameters
    ----------
    allocator : callable, optional
        The allocator.

    Raises
    ------
    NotImplementedError
        For any other: arrays have one allocator.
    """
    if getattr(allocator, "__func__", None) is not MemoryPool.malloc:
        raise NotImplementedError(
            f"arrays have one allocator, MemoryPool().malloc, and not {allocator!r}. It keeps free blocks; where a GPU "
            "has too little memory, arrays move to the host; ndarray() and from_dlpack() show memory of other libraries"
        )


__all__ = [
    "MemoryPool",
    "OutOfMemoryError",
    "PinnedMemoryPool",
    "alloc_pinned_memory",
    "get_allocator",
    "get_default_memory_pool",
    "get_default_pinned_memory_pool",
    "set_allocator",
]
