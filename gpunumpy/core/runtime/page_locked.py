"""Page-locked memory that programs have as NumPy arrays: GPUs copy to it and from it while the host does other things.

To lock pages takes a millisecond, and to unlock them waits for the GPU. So blocks are kept, for later arrays.

Values that a program looks at have such memory too if others of their size went to the host before: the GPU writes it
itself, where other memory is touched for the first time and copied to, which takes the host longer than the link.
"""

from __future__ import annotations

import math
import weakref
from collections import defaultdict
from contextlib import suppress
from typing import Any

import numpy

from .device import Device, driver
from .memory import address, host_view, pinned
from .memory_pool import size_class

_KEPT_BYTES = 1 << 32  # of blocks that no array has: more are unlocked
# Blocks that no array has, by the GPU whose context has made them, and their bytes.
_free: defaultdict[tuple[Device, int], list[numpy.ndarray]] = defaultdict(list)


# Of values that go to the host: the bytes of one, how many of a size go to other memory first, how many blocks of a
# size there are, as a program may keep what it gets, and the bytes of all blocks.
_LEAST_BYTES, _MOST_BYTES = 1 << 19, 1 << 26
_TIMES_BEFORE = 8
_MOST_BLOCKS = 4
_BYTES_OF_VALUES = 1 << 28


class _Values:
    """The blocks for values of one size that go from a GPU to the host: their bytes, and those that none has."""

    __slots__ = ("free", "made", "times")

    def __init__(self) -> None:
        self.free: list[numpy.ndarray] = []
        self.made: list[int] = []
        self.times = 0


_values: dict[tuple[Device, int], _Values] = {}


def for_value(nbytes: int, device: Device) -> numpy.ndarray | None:
    """Return memory of the host to which a GPU is to copy a value at once, on its stream, or None for other memory.

    What had the block before may be copied to it still, if an exception came in between: this copy comes later.
    """
    if not _LEAST_BYTES <= nbytes <= _MOST_BYTES:
        return None
    size = size_class(nbytes)
    known = _values.get((device, size)) or _values.setdefault((device, size), _Values())
    known.times += 1
    block = None
    with suppress(IndexError):
        block = known.free.pop()
    if block is None:
        bytes_made = sum([sum(values.made) for values in list(_values.values())])
        is_new = known.times <= _TIMES_BEFORE
        if is_new or len(known.made) >= _MOST_BLOCKS or bytes_made + size > _BYTES_OF_VALUES:
            return None
        known.made.append(size)
        try:
            block = pinned(size, device)
        except MemoryError:  # the block counts, so that the system is not asked again and again
            return None
    content = host_view(address(block), nbytes)
    weakref.finalize(content.base, known.free.append, block).atexit = False
    return content


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
    weakref.finalize(content.base, _release, device, block).atexit = False
    return content.view(dtype).reshape(shape)


def _release(device: Device, block: numpy.ndarray) -> None:
    if free_bytes() + block.size <= _KEPT_BYTES:
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
    for known in list(_values.values()):
        with suppress(IndexError):
            while True:
                known.made.remove(known.free.pop().size)


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
