"""Memory of a GPU that another process of the same machine reads: blocks of CUDA's inter-process communication.

The memory of arrays comes from a pool of the driver's, of which no other process has a part. So what is sent is copied
to a block of another kind, and from there by the other process. Blocks are kept for the next array, as to free one
waits for the GPU.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .device import Device, check, driver
from .memory import attempted, out_of_memory_hooks
from .memory_pool import size_class

_HANDLE_BYTES = 64
_KEPT_PART = 32  # of the memory of a GPU: as much of it is kept in blocks that nobody reads

_free: dict[Device, list[SharedBlock]] = {}
_streams: dict[Device, Any] = {}


class SharedBlock:
    """A block that other processes may open.

    Attributes
    ----------
    handle : bytes
        What another process opens it by.
    """

    __slots__ = ("handle", "ptr", "size")

    def __init__(self, device: Device, size: int) -> None:
        cuda = driver()
        self.size = size
        self.ptr = int(attempted(device, "no room for an array on its way to another process", cuda.cuMemAlloc, size))
        try:
            self.handle = ctypes.string_at(check(cuda.cuIpcGetMemHandle(self.ptr)).getPtr(), _HANDLE_BYTES)
        except BaseException:
            self.free(device)
            raise

    def free(self, device: Device) -> None:
        """Return the memory to the driver."""
        device.activate()
        check(driver().cuMemFree(self.ptr))


def take_block(device: Device, nbytes: int) -> SharedBlock:
    """Return a block that nobody reads, of at least so many bytes.

    Raises
    ------
    MemoryError
        If there is no memory for one.
    DeviceError
        If memory of this GPU can't be shared with other processes.
    """
    size = size_class(nbytes)
    free = _free.setdefault(device, [])
    for block in list(free):
        if block.size == size:
            try:
                free.remove(block)
            except ValueError:  # another thread was quicker
                continue
            return block
    return SharedBlock(device, size)


def give_back(device: Device, block: SharedBlock) -> None:
    """Keep a block for another array, once no process reads it."""
    free = _free.setdefault(device, [])
    if sum(other.size for other in list(free)) + block.size > device.attributes.total_memory // _KEPT_PART:
        _free_all(device)
    free.append(block)


def stream_beside(device: Device) -> Any:
    """Return a stream for copies that wait for no other work of a GPU."""
    stream = _streams.get(device)
    if stream is None:
        flags = driver().CUstream_flags.CU_STREAM_NON_BLOCKING.value
        made = attempted(device, "no room for a stream", driver().cuStreamCreate, flags)
        stream = _streams.setdefault(device, made)
    return stream


@contextmanager
def opened(device: Device, handle: bytes) -> Iterator[int]:
    """Open a block of another process, and close it at the end: the address of it for a GPU of this process.

    Raises
    ------
    DeviceError
        If this process or its GPU can't reach the memory.
    """
    cuda: Any = driver()
    known = cuda.CUipcMemHandle()
    ctypes.memmove(known.getPtr(), handle, _HANDLE_BYTES)
    device.activate()
    lazily = cuda.CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.value
    ptr = check(cuda.cuIpcOpenMemHandle(known, lazily))
    try:
        yield int(ptr)
    finally:
        device.activate()
        check(cuda.cuIpcCloseMemHandle(ptr))


def _free_all(device: Device) -> None:
    """Return all blocks that nobody reads to the driver."""
    free = _free.get(device, [])
    while free:
        free.pop().free(device)


out_of_memory_hooks.append(_free_all)
