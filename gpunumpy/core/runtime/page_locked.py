"""Page-locked memory that programs have as NumPy arrays: GPUs copy to it and from it while the host does other things.

To lock pages takes a millisecond, and to unlock them waits for the GPU. So blocks are kept, for later arrays.
"""

from __future__ import annotations

import math
import weakref
from collections import defaultdict
from contextlib import suppress
from typing import Any

import numpy

from ..fork import fork_count
from .device import Device, driver
from .memory import address, host_view, pinned
from .memory_pool import size_class

_KEPT_BYTES = 1 << 32  # of blocks that no array has: more are unlocked
# Blocks that no array has, by the GPU whose context has made them, and their bytes.
_free: defaultdict[tuple[Device, int], list[numpy.ndarray]] = defaultdict(list)


def new_array(shape: tuple[int, ...], dtype: numpy.dtype[Any], device: Device) -> numpy.ndarray:
    """Return an array of the host for copies to a GPU and from it; its content is undefined.

    Raises
    ------
    MemoryError
        If the system cannot lock so many bytes.
    """
    if not device.has_stream:
        return numpy.empty(shape, dtype)
    nbytes = math.prod(shape) * dtype.itemsize
    size = size_class(nbytes)
    block = None
    with suppress(IndexError):
        block = _free[device, size].pop()
    if block is None:
        block = pinned(size, device)
    content = host_view(address(block), nbytes)
    weakref.finalize(content.base, _release, device, block, fork_count()).atexit = False
    return content.view(dtype).reshape(shape)


def _release(device: Device, block: numpy.ndarray, forks: int) -> None:
    """Keep a block for another array; not one whose array a forked child may have too."""
    if forks == fork_count() and free_bytes() + block.size <= _KEPT_BYTES:
        _free[device, block.size].append(block)


def free_bytes() -> int:
    """Return the bytes of blocks that no array has."""
    return sum(size * len(blocks) for (_, size), blocks in list(_free.items()))


def count_free_blocks() -> int:
    """Return the number of blocks that no array has."""
    return sum(map(len, list(_free.values())))


def unlock_free_blocks() -> None:
    """Return the blocks that no array has to the system."""
    _free.clear()


def is_page_locked(array: numpy.ndarray, device: Device) -> bool:
    """Return whether a GPU can copy from an array of the host, or to it, beside the host.

    So it is in one piece, in memory that was page-locked by this or another library.
    """
    if not array.size or not array.flags.c_contiguous:
        return False
    device.activate()
    first = address(array)
    return _is_locked(first) and _is_locked(first + array.nbytes - 1)


def _is_locked(ptr: int) -> bool:
    cuda = driver()
    error, kind = cuda.cuPointerGetAttribute(cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ptr)
    return not error and int(kind) == int(cuda.CUmemorytype.CU_MEMORYTYPE_HOST)
