"""Memory of a device: allocation, what happens when it is short, and what is known about it."""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from .device import CPU, Device, check, driver
from .memory_pool import Buffer, DevicePool, Home, HostPool, Pool, size_class

__all__ = [
    "Buffer",
    "MemoryInfo",
    "address",
    "allocate",
    "counters",
    "error_word",
    "foreign",
    "free_all_blocks",
    "host_view",
    "memory_info",
    "out_of_memory_hooks",
    "pinned",
    "set_memory_limit",
    "take_error",
]

out_of_memory_hooks: list[Callable[[Device], None]] = []
"""What to run when memory is short, before the last attempt: each may drop buffers, or finish work that holds some."""

_pools: dict[Device, Pool] = {}
_homes: dict[Device, dict[int, Home]] = {}
_counters: dict[Device, Buffer] = {}
_words: dict[Device, tuple[numpy.ndarray, int]] = {}  # for the host, and the address for the device
_lock = threading.RLock()


class _Thread(threading.local):
    """Whether this thread is already short of memory, so that a hook which allocates does not call the hooks."""

    short = False


_thread = _Thread()


def _pool(device: Device) -> Pool:
    pool = _pools.get(device)
    if pool is None:
        with _lock:
            pool = _pools.get(device)
            if pool is None:
                pool = HostPool(device) if device is CPU else DevicePool(device)
                _pools[device] = pool
                _homes[device] = pool.homes
    return pool


def allocate(device: Device, nbytes: int) -> Buffer:
    """Return a buffer of a device, of undefined content.

    Raises
    ------
    MemoryError
        If there is no memory even after free blocks were given back, `out_of_memory_hooks` run and garbage collected.
    """
    try:
        home = _homes[device][nbytes]
        block = home.pop()
    except (KeyError, IndexError):
        home, block = _miss(device, nbytes)
    return home.buffer(device, block, nbytes, home)


def _miss(device: Device, nbytes: int) -> tuple[Home, Any]:
    """Find a block where no free one of its size is known."""
    pool = _pool(device)
    home = pool.home(nbytes)
    for prepare in (None, _give_back, _run_hooks):
        if prepare is not None:
            prepare(pool)
        block = pool.take(home)
        if block is not None:
            return home, block
    raise MemoryError(_shortage(pool, nbytes))


def _give_back(pool: Pool) -> None:
    pool.release_all()


def _run_hooks(pool: Pool) -> None:
    # Without the pool's lock: a hook may wait for a thread that wants to allocate.
    if not _thread.short:
        _thread.short = True
        try:
            for hook in list(out_of_memory_hooks):
                hook(pool.device)
        finally:
            _thread.short = False
    gc.collect()
    pool.release_all()


def _shortage(pool: Pool, nbytes: int) -> str:
    text = f"out of memory on {pool.device}: asked for {nbytes:,} bytes; gpunumpy uses {pool.used():,}"
    if pool.limit is not None:
        text += f" of the {pool.limit:,} that set_memory_limit allows"
    available = pool.available()
    if available is not None:
        text += f"; {available[0]:,} of the device's {available[1]:,} are free"
    return text


def foreign(ptr: int, nbytes: int, owner: object, device: Device) -> Buffer:
    """Return a buffer over memory that something else owns.

    Parameters
    ----------
    ptr, nbytes : int
        The memory; it must be reachable from the device.
    owner : object
        What keeps it alive; the buffer holds it.
    device : Device
        Where it is.
    """
    host = None
    if device is CPU:
        host = host_view(ptr, nbytes)
    return Buffer(device, ptr, nbytes, host, owner)


def host_view(ptr: int, nbytes: int) -> numpy.ndarray:
    """Return host memory at an address as bytes; the caller sees to it that it lives as long."""
    memory = (ctypes.c_uint8 * nbytes).from_address(ptr)
    return numpy.ctypeslib.as_array(memory)


def address(array: numpy.ndarray) -> int:
    """Return where an array's data begins."""
    return array.__array_interface__["data"][0]


def pinned(nbytes: int, device: Device) -> numpy.ndarray:
    """Return page-locked host memory as bytes: GPUs copy from it and to it directly, at full speed.

    Parameters
    ----------
    nbytes : int
        How much.
    device : Device
        The GPU whose driver context it is made in; every GPU can use it.

    Raises
    ------
    MemoryError
        If the system cannot lock so much.
    """
    cuda = driver()
    device.activate()
    status, ptr = cuda.cuMemHostAlloc(max(nbytes, 1), cuda.CU_MEMHOSTALLOC_PORTABLE | cuda.CU_MEMHOSTALLOC_DEVICEMAP)
    if status == cuda.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
        raise MemoryError(f"the system cannot lock {nbytes:,} bytes of host memory")
    check((status, ptr))
    bytes_ = host_view(int(ptr), nbytes)
    weakref.finalize(bytes_.base, cuda.cuMemFreeHost, int(ptr)).atexit = False
    return bytes_


def counters(device: Device, nbytes: int) -> Buffer:
    """Return the device's scratch memory that is all zero between kernels.

    Kernels find zeros in it and must leave zeros. Since kernels run in order, all of them share it.

    Parameters
    ----------
    device : Device
        Whose.
    nbytes : int
        How much is needed; the buffer may be larger, and a later call may return another one.
    """
    buffer = _counters.get(device)
    if buffer is None or buffer.nbytes < nbytes:
        with _lock:
            buffer = _counters.get(device)
            if buffer is None or buffer.nbytes < nbytes:
                buffer = _counters[device] = _zeros(device, size_class(max(nbytes, 1 << 12)))
    return buffer


def _zeros(device: Device, nbytes: int) -> Buffer:
    buffer = allocate(device, nbytes)
    if buffer.host is not None:
        buffer.host[:] = 0
    else:
        device.activate()
        check(driver().cuMemsetD8Async(buffer.ptr, 0, nbytes, device.stream))
    return buffer


def error_word(device: Device) -> int:
    """Return the device's address of a 32-bit word that is 0 until a kernel writes there what went wrong.

    The word is host memory, so that reading it costs nothing.
    """
    word = _words.get(device)
    if word is None:
        with _lock:
            word = _words.get(device)
            if word is None:
                word = _words[device] = _make_word(device)
    return word[1]


def _make_word(device: Device) -> tuple[numpy.ndarray, int]:
    if device is CPU:
        host = numpy.zeros(1, numpy.int32)
        return host, address(host)
    host = pinned(4, device).view(numpy.int32)
    host[0] = 0
    return host, int(check(driver().cuMemHostGetDevicePointer(address(host), 0)))


def take_error(device: Device) -> int:
    """Return what kernels have written into the device's error word, and clear it; 0 where nothing went wrong.

    It is complete for what ran before the last synchronisation, so look here whenever the host has waited.
    """
    word = _words.get(device)
    if word is None:
        return 0
    value = int(word[0][0])
    if value:
        word[0][0] = 0
    return value


@dataclass(frozen=True)
class MemoryInfo:
    """Bytes of a device's memory.

    Attributes
    ----------
    used : int
        Held by arrays.
    cached : int
        Free blocks kept for the next arrays.
    free, total : int or None
        What the device has left for everyone, and has in all, where the system tells.
    """

    used: int
    cached: int
    free: int | None
    total: int | None


def memory_info(device: Device | str | int | None = None) -> MemoryInfo:
    """Return how much of a device's memory is used.

    Parameters
    ----------
    device : Device, str, int or None
        By default the default device.
    """
    pool = _pool(Device(device))
    free, total = pool.available() or (None, None)
    return MemoryInfo(pool.used(), pool.cached(), free, total)


def set_memory_limit(nbytes: int | None, device: Device | str | int | None = None) -> None:
    """Set how many bytes of a device arrays and cached blocks may take; None for no limit.

    Parameters
    ----------
    nbytes : int or None
        The limit. Arrays that exist already may exceed it.
    device : Device, str, int or None
        By default the default device.
    """
    if nbytes is not None and nbytes < 0:
        raise ValueError(f"a memory limit is a number of bytes or None, not {nbytes}")
    _pool(Device(device)).limit = nbytes


def free_all_blocks(device: Device | str | int | None = None) -> None:
    """Give the free blocks that are kept for later arrays back to the system.

    Parameters
    ----------
    device : Device, str, int or None
        By default the default device.
    """
    _pool(Device(device)).release_all()
