"""Python's buffer protocol: the bytes and the memory of an array for code on the host, by what that code asks for."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.recording.array import host_only_memory, is_scalar, ndarray, to_host
from ..core.recording.lending import lent_memory

# Bits of a request. Without `_FORMAT` elements are bytes to the consumer, and without `_STRIDES` they are in C order.
_WRITABLE, _FORMAT, _STRIDES = 0x001, 0x004, 0x010
# The consumer takes every kind of buffer: `memoryview` asks so, and `numpy.asarray` through it.
_INDIRECT = 0x100


def memory_view(x: ndarray) -> memoryview:
    """Return ``x.data``: the memory of an array that the host reaches, or a read-only copy of the elements of another.

    The memory is lent, as by `ctypes`: it keeps its address, and what is written to it the array has.
    """
    memory = None if is_scalar(x) else lent_memory(x)
    return to_host(x).data.toreadonly() if memory is None else memory.data


def lend(x: ndarray, flags: int) -> memoryview:
    """Return ``x.__buffer__(flags)``: what a consumer of buffers gets.

    One that writes (`readinto`, `struct.pack_into`, typed views of Cython) gets the memory, lent as by `ctypes`; one
    that reads elements gets the same read-only, and of a GPU's memory a copy; one that reads bytes (files, sockets,
    digests) the bytes of the elements in C order, read-only.

    Raises
    ------
    BufferError
        If a consumer would write to memory of a GPU. If it asks for any kind of buffer, as ``memoryview(x)`` does:
        `numpy.asarray`, which asks for the same, would then not copy. ``x.data`` is that view.
    ValueError
        If a consumer would write to a read-only array.
    """
    if flags & _WRITABLE:
        return _described(_writeable_memory(x), flags)
    if flags & _INDIRECT == _INDIRECT:
        raise BufferError(
            "memoryview(x), and what asks for memory as it does, is refused: numpy.asarray(x), which asks so too, "
            "would then not copy. Take x.data, a memoryview, or x.get(), a copy"
        )
    if flags & _STRIDES:
        memory = None if is_scalar(x) else lent_memory(x)
        return _described(to_host(x) if memory is None else memory, flags).toreadonly()
    if x.dtype.hasobject:
        raise BufferError("objects have no bytes")
    memory = host_only_memory(x)
    host = memory if memory is not None and memory.flags.c_contiguous else to_host(x)
    return host.reshape(-1).view(numpy.uint8).data.toreadonly()


def _writeable_memory(x: ndarray) -> Any:
    """Return the memory of an array that code on the host is to write to, as a NumPy array."""
    if is_scalar(x):
        raise BufferError("the 0-d result of an operation cannot be written to")
    if not x.writeable:
        raise ValueError("buffer source array is read-only")
    memory = lent_memory(x)
    if memory is None:
        raise BufferError(
            f"the array is on {x.device}, where the host cannot write: write to a NumPy array, then x[...] = that array"
        )
    return memory


def _described(memory: Any, flags: int) -> memoryview:
    """Return the memoryview of a NumPy array for a request: without a format every dtype has one."""
    if not flags & _FORMAT and not memory.dtype.hasobject:
        memory = memory.view(f"V{memory.itemsize}")
    return memory.data
