"""Memory of a GPU that another process of the same machine reads: blocks of CUDA's inter-process communication.

The memory of arrays comes from a pool of the driver's, of which no other process has a part. So what is sent is copied
to a block of another kind, and from there by the other process. To open such a block takes as long as to send 4 GB, and
to close or to free one waits for all work of the GPU. So some blocks stay as long as their process, and those who read
them keep them open. Copies have streams of their own, which the driver prefers to the work of the GPU.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .device import Device, check, driver
from .memory import attempted
from .memory_pool import size_class

_HANDLE_BYTES = 64
_STAYING_PART = 32  # of the memory of a GPU: as much of it is in blocks that stay
_OPENED_PART = 8  # of the memory of a GPU: blocks of other processes that are kept open have as much at most

_free: dict[Device, list[SharedBlock]] = {}  # that stay, and that nobody reads
_staying_bytes: dict[Device, int] = {}
_opened: dict[Device, dict[Handle, int]] = {}  # the addresses of blocks that stay, those last that were read last
_streams: dict[tuple[Device, str], Any] = {}
_this_process = os.urandom(16)


class Handle(NamedTuple):
    """What another process opens a block by.

    Attributes
    ----------
    process
        Of the block: no two processes have the same.
    memory
        The driver's handle.
    size
        The bytes of the block.
    stays
        Whether the block stays as long as its process, so that it may be kept open.
    """

    process: bytes
    memory: bytes
    size: int
    stays: bool


class SharedBlock:
    """A block that other processes may open."""

    __slots__ = ("handle", "ptr")

    def __init__(self, device: Device, size: int) -> None:
        cuda = driver()
        staying = _staying_bytes.get(device, 0) + size
        stays = staying <= device.attributes.total_memory // _STAYING_PART
        self.ptr = int(attempted(device, "no room for an array on its way to another process", cuda.cuMemAlloc, size))
        try:
            memory = ctypes.string_at(check(cuda.cuIpcGetMemHandle(self.ptr)).getPtr(), _HANDLE_BYTES)
        except BaseException:
            self.free(device)
            raise
        self.handle = Handle(_this_process, memory, size, stays)
        if stays:
            _staying_bytes[device] = staying

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
    free = _free.setdefault(device, [])
    for block in sorted(free, key=lambda block: block.handle.size):
        if block.handle.size >= nbytes:
            try:
                free.remove(block)
            except ValueError:  # another thread was quicker
                continue
            return block
    return SharedBlock(device, size_class(nbytes))


def give_back(device: Device, block: SharedBlock) -> None:
    """Keep a block that stays for another array, and free any other, once no process reads it."""
    if block.handle.stays:
        _free.setdefault(device, []).append(block)
    else:
        block.free(device)


def stream_beside(device: Device, direction: str) -> Any:
    """Return a stream for copies that wait for no other work of a GPU: "out" of its memory, or "in".

    A copy within a GPU is a kernel. One of a stream like any other's begins when all blocks of the kernels before have.
    """
    stream = _streams.get((device, direction))
    if stream is None:
        cuda = driver()
        flags = cuda.CUstream_flags.CU_STREAM_NON_BLOCKING.value
        device.activate()
        _, highest = check(cuda.cuCtxGetStreamPriorityRange())
        made = attempted(device, "no room for a stream", cuda.cuStreamCreateWithPriority, flags, highest)
        stream = _streams.setdefault((device, direction), made)
    return stream


@contextmanager
def opened(device: Device, handle: Handle) -> Iterator[int]:
    """Open a block of another process: the address of it for a GPU of this process.

    Raises
    ------
    DeviceError
        If this process or its GPU can't reach the memory.
    """
    kept = _opened.setdefault(device, {})
    ptr = kept.pop(handle, None) or _open(device, handle)
    try:
        yield ptr
    finally:
        if handle.stays:
            kept[handle] = ptr
            for oldest in list(kept):
                if sum(one.size for one in list(kept)) <= device.attributes.total_memory // _OPENED_PART:
                    break
                if (closed := kept.pop(oldest, None)) is not None:  # else another thread reads it
                    _close(device, closed)
        else:
            _close(device, ptr)


def _open(device: Device, handle: Handle) -> int:
    cuda: Any = driver()
    known = cuda.CUipcMemHandle()
    ctypes.memmove(known.getPtr(), handle.memory, _HANDLE_BYTES)
    device.activate()
    lazily = cuda.CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.value
    return int(check(cuda.cuIpcOpenMemHandle(known, lazily)))


def _close(device: Device, ptr: int) -> None:
    device.activate()
    check(driver().cuIpcCloseMemHandle(ptr))
