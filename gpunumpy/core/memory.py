"""Memory of a device: allocation, what happens when it is short, and what is known about it."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from .device import CPU, Device, check, driver
from .memory_pool import Buffer, DevicePool, Home, HostPool, Pool, size_class

__all__ = [
    "Buffer",
    "MemoryInfo",
    "allocate",
    "counters",
    "foreign",
    "free_all_blocks",
    "host_view",
    "memory_info",
    "out_of_memory_hooks",
    "set_memory_limit",
]

out_of_memory_hooks: list[Callable[[Device], None]] = []
"""What to run when memory is short, before the last attempt: each may drop buffers, or finish work that holds some."""

_pools: dict[Device, Pool] = {}
_homes: dict[Device, dict[int, Home]] = {}
_counters: dict[Device, Buffer] = {}
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
