"""The memory of a device: allocation, the handling of shortage, scratch memory, and statistics."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import numpy

from .._native import compiled, tried_first
from ..fork import renew_in_child
from ..late_dataclasses import dataclass
from ..locks import ReentrantLock
from .byte_sizes import parsed_bytes
from .device import CPU, Device, check, driver, is_lost
from .memory_pool import FULL_BYTES, Buffer, DevicePool, FreeList, HostPool, Pool, PoolBuffer, Reserved, size_class

__all__ = [
    "Buffer",
    "MemoryInfo",
    "address",
    "allocate",
    "allocate_beside",
    "allocate_fixed",
    "allocate_for_all_work",
    "allocate_unless_short",
    "attempted",
    "zeroed_scratch",
    "index_error_word",
    "end_reserving",
    "explained",
    "flat_view",
    "foreign_buffer",
    "host_bytes",
    "free_all_blocks",
    "host_view",
    "is_full",
    "is_in_call",
    "is_shortage",
    "limit_hooks",
    "make_room",
    "new_event",
    "pool_of",
    "reserve",
    "may_move",
    "memory_info",
    "memory_limit",
    "out_of_memory_hooks",
    "pinned",
    "set_memory_limit",
    "shortage",
    "staying",
    "unnoted",
    "take_index_error",
]

out_of_memory_hooks: list[Callable[[Device], None]] = []
"""Functions called when memory is short, before the last attempt: they drop buffers, or finish work that holds some."""
limit_hooks: list[Callable[[], None]] = []
"""Functions called when a device gets a limit or loses it: what is recorded depends on whether there is one."""

# Installed by `spill`: moves values of a device to memory of the host until so many bytes are free, or a block of that
# size is. Returns whether it has moved any.
spill: Callable[[Device, int], bool] | None = None

_pools: dict[Device, Pool] = {}
_zeroed_scratch: dict[Device, Buffer] = {}
_index_error_words: dict[Device, tuple[numpy.ndarray, int]] = {}  # the word for the host, and its address on the device
# What `set_memory_limit` has not set for a device.
_initial_limit = parsed_bytes(os.environ.get("GPUNUMPY_MEMORY_LIMIT") or None, "GPUNUMPY_MEMORY_LIMIT")
_staying: dict[int, list[Buffer]] = {}
_index_error_lock = ReentrantLock()
renew_in_child(lambda: [_index_error_lock])


def is_in_call(code: CodeType) -> bool:
    """Return whether this thread is in a call of the function of this code, before the one that asks."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def pool_of(device: Device) -> Pool:
    """Return the pool of a device, made at its first use."""
    pool = _pools.get(device)
    if pool is None:
        new = HostPool(device) if device is CPU else DevicePool(device)
        new.limit = _initial_limit
        pool = _pools.setdefault(device, new)
        device.free_lists = pool.lists_by_request
    return pool


def reserve(device: Device, reserved: Reserved) -> None:
    """Have allocations on a GPU take memory for a CUDA graph, until `end_reserving`."""
    pool = pool_of(device)
    pool.reserve(reserved)
    device.free_lists = pool.lists_by_request


def end_reserving(device: Device) -> None:
    """Have allocations on a GPU take memory for all work again."""
    pool = pool_of(device)
    pool.end_reserving()
    device.free_lists = pool.lists_by_request


def allocate_for_all_work(device: Device, nbytes: int) -> Buffer:
    """Return a buffer as `allocate` does, which is not of the CUDA graph alone that may be being captured.

    In a capture no other work has used its block, so that it can be written at once.
    """
    pool = pool_of(device)
    if not pool.is_reserving:
        return allocate(device, nbytes)
    free_list = pool.free_list_of_others(nbytes)
    block = pool.new_block(free_list.size)
    if block is None:
        raise shortage(device, f"asked for {nbytes:,} bytes")
    free_list.owned.append(None)
    return PoolBuffer(device, block, nbytes, free_list)


@tried_first
def allocate(device: Device, nbytes: int) -> Buffer:
    """Return a buffer on a device; its content is undefined.

    Raises
    ------
    MemoryError
        If there is no memory even after freeing cached blocks, running `out_of_memory_hooks` and collecting garbage.
    """
    try:
        free_list = device.free_lists[nbytes]
        block = free_list.pop()
    except (KeyError, IndexError):
        block = None
    if block is None:  # outside of the handler, as what is raised here would tell of an empty list
        free_list, block = _find_block(device, nbytes)
    return PoolBuffer(device, block, nbytes, free_list)


def allocate_fixed(device: Device, nbytes: int) -> Buffer:
    """Return a buffer that stays where it is, as memory does whose address a library or a kernel at hand has.

    Raises
    ------
    MemoryError
        As `allocate`.
    """
    buffer = allocate(device, nbytes)
    buffer.exported = True
    return buffer


def allocate_unless_short(device: Device, nbytes: int) -> Buffer | None:
    """Return a buffer as `allocate_fixed` does, or None where room would have to be made for it."""
    pool = pool_of(device)
    free_list = pool.free_list(nbytes)
    block = pool.take_block(free_list)
    if block is None:
        return None
    buffer = PoolBuffer(device, block, nbytes, free_list)
    buffer.exported = True
    return buffer


def allocate_beside(device: Device, nbytes: int, stream: Any) -> Buffer | None:
    """Return a buffer that a stream can write which does not wait for the work of a GPU; None without room for one.

    Whoever uses it on the stream of the device waits for that stream before.
    """
    pool = pool_of(device)
    assert isinstance(pool, DevicePool)
    free_list = pool.free_list(nbytes)
    block = pool.take_block_beside(free_list, stream)
    return None if block is None else PoolBuffer(device, block, nbytes, free_list)


def _find_block(device: Device, nbytes: int) -> tuple[FreeList, Any]:
    """Return a free list and a block for a request that no known free list serves."""
    pool = pool_of(device)
    free_list = pool.free_list(nbytes)
    failures = 0
    while (block := pool.take_block(free_list)) is None:
        make_room(device, failures, f"asked for {nbytes:,} bytes", free_list.size)
        failures += 1
    return free_list, block


def attempted(device: Device, asked: str, call: Callable[..., tuple[Any, ...]], *args: Any) -> Any:
    """Return the value of a call of the driver that may need memory of a GPU: where there is none, room is made.

    The GPU is active in the call, and after it.

    Parameters
    ----------
    asked : str
        What there is no room for, for the message of a `MemoryError`.
    call : callable
        A function of `cuda.bindings.driver`; one that has failed has done nothing.
    """
    failures = 0
    device.activate()
    while (result := call(*args))[0] and is_shortage(device, result[0]):
        make_room(device, failures, asked)
        device.activate()
        failures += 1
    return check(result)


def new_event(device: Device, flags: int | None = None) -> Any:
    """Return a new event of the driver, by default one that takes no time; for lack of room, room is made."""
    cuda = driver()
    if flags is None:
        flags = cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING.value
    return attempted(device, "no room for an event", cuda.cuEventCreate, flags)


def is_shortage(device: Device, error: Any) -> bool:
    """Return whether an error of the driver stands for a lack of a GPU's memory."""
    pool = pool_of(device)
    return isinstance(pool, DevicePool) and pool.is_shortage(error)


def is_full(device: Device) -> bool:
    """Return whether next to nothing of a GPU's memory is free."""
    pool = pool_of(device)
    return isinstance(pool, DevicePool) and pool.is_full()


def make_room(device: Device, failures: int, asked: str, nbytes: int = FULL_BYTES) -> None:
    """Free memory of a device for another attempt at what has found none.

    Parameters
    ----------
    failures : int
        How many attempts failed before the last one.
    asked : str
        What there is no room for.
    nbytes : int
        The bytes of the block that there is no room for.

    Raises
    ------
    MemoryError
        If all that can be freed was freed before the last attempt.
    """
    pool = pool_of(device)
    if nbytes > most_bytes(device) or pool.is_reserving:  # whatever is freed
        raise shortage(device, asked)
    if device.has_spilled:  # what was short is short again: looking for garbage each time would take longer than moving
        _run_hooks(pool)
        if spill is not None and spill(device, nbytes):
            return
    if failures == 0:
        pool.release_all()
    elif failures == 1:
        _run_hooks(pool)
        gc.collect()
        pool.release_all()
    elif device.has_spilled or spill is None or not spill(device, nbytes):
        raise shortage(device, asked)


def most_bytes(device: Device) -> int:
    """Return how many bytes a device could have in blocks, if nothing else were there."""
    pool = pool_of(device)
    available = pool.available_bytes()
    bounds = [pool.limit, available[1] if available is not None else None]
    return min([bound for bound in bounds if bound is not None], default=1 << 62)


def _run_hooks(pool: Pool) -> None:
    # The lock of the pool is not held: a hook may wait for a thread that allocates.
    if not is_in_call(_run_hooks.__code__):  # a hook which allocates does not run them again
        for hook in list(out_of_memory_hooks):
            hook(pool.device)


def shortage(device: Device, asked: str) -> MemoryError:
    """Return the error for a lack of memory of a device: what was asked for, what is used, what is free."""
    pool = pool_of(device)
    text = f"out of memory on {device}: {asked}; gpunumpy uses {pool.used_bytes():,}"
    if pool.limit is not None:
        text += f" of the {pool.limit:,} that set_memory_limit allows"
    if pool.cached_bytes():
        text += f" and keeps {pool.cached_bytes():,} for later arrays"
    available = pool.available_bytes()
    if available is not None:
        text += f"; {available[0]:,} of the device's {available[1]:,} are free"
    reason, pool.why_none_moved = pool.why_none_moved, ""  # of this shortage, and not of later ones
    if reason:
        text += f"; {reason}"
    return MemoryError(text)


def explained(error: MemoryError) -> MemoryError:
    """Return an error of NumPy's for a lack of memory of the host with what is used and free; others as they are."""
    if error.args and type(error) is MemoryError:
        return error
    free_all_blocks(CPU)  # so that another attempt finds more
    text = str(error)
    return shortage(CPU, f"NumPy is {text[:1].lower()}{text[1:]}" if text else "no room for Python's objects")


def host_bytes(nbytes: int) -> numpy.ndarray:
    """Return new memory of the host for values that leave a device; its content is undefined."""
    try:
        return numpy.empty(nbytes, numpy.uint8)
    except MemoryError:
        free_all_blocks(CPU)
    try:
        return numpy.empty(nbytes, numpy.uint8)
    except MemoryError:
        raise shortage(CPU, f"asked for {nbytes:,} bytes") from None


class staying:
    """Context in which buffers keep their addresses, though nothing of them is exported, and no step of a plan runs.

    An exception of a signal handler may come between any two lines: then they stay until the context is deleted.
    """

    __slots__ = ("_buffers",)

    def __init__(self, *buffers: Buffer) -> None:
        self._buffers = list(buffers)

    def __enter__(self) -> staying:
        """Let the buffers stay."""
        _staying[id(self)] = self._buffers
        return self

    def add(self, buffer: Buffer) -> None:
        """Let another buffer stay, within the context."""
        self._buffers.append(buffer)

    def __exit__(self, *exception: object) -> None:
        """Let the buffers go. One that another thread was about to move may have been written: it is not moved."""
        for buffer in self._buffers:
            pool = _pools.get(buffer.device)
            if pool is not None and pool.moving == id(buffer):
                pool.moving = None
        _staying.pop(id(self), None)

    def __del__(self) -> None:
        """Let the buffers go, if the context was not left."""
        _staying.pop(id(self), None)


@contextmanager
def unnoted(*buffers: Buffer) -> Iterator[None]:
    """Context in which work uses buffers that is no run of a plan, so that nobody notes it."""
    pools = [pool_of(buffer.device) for buffer in buffers]
    try:
        for pool, buffer in zip(pools, buffers, strict=True):
            pool.unmark(buffer)
        yield
    finally:
        for pool, buffer in zip(pools, buffers, strict=True):
            pool.unmark(buffer)


def may_move(buffer: Buffer) -> bool:
    """Return whether nobody has the address of a buffer, as far as it tells, so that its bytes can be moved."""
    return not buffer.exported and not stays(buffer)


def stays(buffer: Buffer) -> bool:
    """Return whether a context of `staying` has a buffer."""
    return any(buffer in buffers for buffers in list(_staying.values()))


def foreign_buffer(ptr: int, nbytes: int, owner: object, device: Device) -> Buffer:
    """Return a buffer over memory that another object owns.

    Parameters
    ----------
    ptr, nbytes : int
        The address and size of the memory, which the device must be able to access.
    owner : object
        The object that keeps the memory alive; the buffer holds a reference to it.
    device : Device
        The device that has the memory.
    """
    host = None
    if device is CPU:
        host = host_view(ptr, nbytes)
    return Buffer(device, ptr, nbytes, host, owner)


def host_view(ptr: int, nbytes: int) -> numpy.ndarray:
    """Return host memory at an address as an array of bytes; the caller keeps the memory alive."""
    memory = (ctypes.c_uint8 * nbytes).from_address(ptr)
    return numpy.ndarray(nbytes, numpy.uint8, memoryview(memory))


@compiled
def flat_view(buffer: Buffer, dtype: Any, offset: int) -> numpy.ndarray:
    """Return the memory of a buffer of the CPU device from element `offset` on as a flat array."""
    assert buffer.host is not None
    flat = buffer.host.view(dtype)
    return flat[offset:] if offset else flat


@compiled
def address(array: numpy.ndarray) -> int:
    """Return the address of the first element of an array.

    NumPy crashes in `__array_interface__` where Python has no memory for the dictionary's entries (2.4.6 and others).
    """
    return array.ctypes.data


def pinned(nbytes: int, device: Device) -> numpy.ndarray:
    """Return page-locked host memory as an array of bytes: GPUs copy from it and to it directly, at full speed.

    Parameters
    ----------
    nbytes : int
        The number of bytes.
    device : Device
        The GPU whose context makes the memory; every GPU can use it.

    Raises
    ------
    MemoryError
        If the system cannot lock so many bytes.
    """
    cuda = driver()
    flags = cuda.CU_MEMHOSTALLOC_PORTABLE | cuda.CU_MEMHOSTALLOC_DEVICEMAP
    asked = f"asked for {nbytes:,} bytes that stay in memory (page-locked), for copies to a GPU"
    try:
        ptr = attempted(device, asked, cuda.cuMemHostAlloc, max(nbytes, 1), flags)
    except MemoryError:
        raise shortage(CPU, asked) from None
    bytes_ = host_view(int(ptr), nbytes)
    weakref.finalize(bytes_.base, _free_pinned, device, int(ptr)).atexit = False
    return bytes_


def _free_pinned(device: Device, ptr: int) -> None:
    if not is_lost(device):
        driver().cuMemFreeHost(ptr)


def zeroed_scratch(device: Device, nbytes: int) -> Buffer:
    """Return the scratch memory of a device that is all zero between kernels.

    A kernel finds zeros in it and must leave zeros in it. Kernels run in order, so all of them share it.

    Parameters
    ----------
    device : Device
        The device.
    nbytes : int
        The number of bytes needed. The buffer may be larger, and a later call may return another buffer.
    """
    buffer = _zeroed_scratch.get(device)
    if buffer is None or buffer.nbytes < nbytes:
        buffer = _zeroed_scratch[device] = _zeros(device, size_class(max(nbytes, 1 << 12)))
    return buffer


def _zeros(device: Device, nbytes: int) -> Buffer:
    buffer = allocate_for_all_work(device, nbytes)
    buffer.exported = True
    if buffer.host is not None:
        buffer.host[:] = 0
    else:
        fill = driver().cuMemsetD8Async, buffer.ptr, 0, nbytes
        if pool_of(device).is_reserving:
            check(device.capture.at_once(*fill))
        else:
            attempted(device, "no room to fill memory", *fill, device.stream)
    return buffer


def index_error_word(device: Device) -> int:
    """Return the address, on the device, of its word for index errors: 32 bits, 0 until a kernel writes a number.

    The word is host memory, so that the host reads it without a copy.
    """
    word = _index_error_words.get(device)
    if word is None:
        word = _index_error_words.setdefault(device, _new_index_error_word(device))
    return word[1]


def _new_index_error_word(device: Device) -> tuple[numpy.ndarray, int]:
    if device is CPU:
        host = numpy.zeros(1, numpy.int32)
        return host, address(host)
    host = pinned(4, device).view(numpy.int32)
    host[0] = 0
    return host, int(check(driver().cuMemHostGetDevicePointer(address(host), 0)))


def take_index_error(device: Device) -> int:
    """Return the number that kernels wrote into the index error word of a device, and clear it; 0 stands for no error.

    The word covers all work that ran before the last synchronisation, so read it whenever the host has waited.
    """
    word = _index_error_words.get(device)
    if word is None:
        return 0
    if not word[0][0]:
        return 0
    value, lock = 0, _index_error_lock
    try:
        if lock.acquire(blocking=False):  # of several threads that see the error one takes it, and none waits
            value = int(word[0][0])
            word[0][0] = 0
    finally:
        if lock._is_owned():  # an exception of a signal handler may have come before the condition was known
            lock.release()
    return value


@dataclass(frozen=True)
class MemoryInfo:
    """Numbers of bytes of the memory of a device.

    Attributes
    ----------
    used : int
        Bytes of the device held by arrays.
    cached : int
        Bytes in free blocks that are kept for later arrays.
    free, total : int or None
        Bytes that the device has left for all programs, and bytes that it has; None if the system does not tell.
    limit : int or None
        Bytes that `used` and `cached` may be together, as `set_memory_limit` says; None if there is no limit.
    spilled : int
        Bytes of arrays that are in memory of the host, or in files, for lack of room on the device.
    """

    used: int
    cached: int
    free: int | None
    total: int | None
    limit: int | None
    spilled: int


def memory_info(device: Device | str | int | None = None) -> MemoryInfo:
    """Return how much memory of a device is used.

    Parameters
    ----------
    device : Device, str, int or None
        The device; the default device if None.
    """
    pool = pool_of(Device(device))
    free, total = pool.available_bytes() or (None, None)
    return MemoryInfo(pool.used_bytes(), pool.cached_bytes(), free, total, pool.limit, spilled_bytes(pool.device))


def spilled_bytes(device: Device) -> int:
    """Return the number of bytes of values that were moved to the host for lack of room, and are still there."""
    buffers = [reference() for reference in list(pool_of(device).uses)]
    return sum([buffer.nbytes for buffer in buffers if buffer is not None and buffer.is_spilled])


def moved_bytes(device: Device) -> tuple[int, int]:
    """Return how many bytes of values have moved to the host for lack of room so far, and how many have come back."""
    pool = _pools.get(device)
    return (pool.bytes_to_host, pool.bytes_from_host) if pool is not None else (0, 0)


def slabs_of(device: Device) -> int:
    """Return in how many slabs values of a device have been computed so far, as there was no room for them at once."""
    pool = _pools.get(device)
    return pool.slabs if pool is not None else 0


def memory_limit(device: Device | str | int | None = None) -> int | None:
    """Return what `set_memory_limit` has set for a device."""
    return pool_of(Device(device)).limit


def set_memory_limit(nbytes: int | str | None, device: Device | str | int | None = None) -> None:
    """Limit the bytes of a device that arrays and cached blocks may take.

    Where an operation needs more, arrays that are not at hand are moved to memory of the host, and come back when an
    operation reads them.

    Parameters
    ----------
    nbytes : int, str or None
        The limit: a number of bytes, or a text such as ``"16GB"``, ``"500 MB"`` or ``"1.5GiB"``; None for no limit.
        What exceeds it is moved at once, but for arrays whose address other libraries have. The environment variable
        ``GPUNUMPY_MEMORY_LIMIT`` has the initial limit of every device.
    device : Device, str, int or None
        The device; the default device if None.

    Raises
    ------
    ValueError
        If the limit is negative, or the text has no number or an unknown unit.
    TypeError
        If the limit is something else.
    """
    pool = pool_of(Device(device))
    had_limit, pool.limit = pool.limit is not None, parsed_bytes(nbytes)
    if had_limit != (pool.limit is not None):
        for forget in limit_hooks:
            forget()
    if pool.excess_bytes(0) > 0:
        pool.release()
        if pool.excess_bytes(0) > 0 and spill is not None:
            spill(pool.device, 0)
            pool.release()


def free_all_blocks(device: Device | str | int | None = None) -> None:
    """Return the free blocks that are kept for later arrays to the system.

    Parameters
    ----------
    device : Device, str, int or None
        The device; the default device if None.
    """
    pool = _pools.get(Device(device))
    if pool is not None:
        pool.release_all()


def tables_of_core() -> dict[str, Any]:
    """Return what the compiled core finds memory with, by the names that it has for it."""
    return {"PoolBuffer": PoolBuffer, "allocate": allocate}
