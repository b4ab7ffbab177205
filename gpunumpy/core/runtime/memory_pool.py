"""Buffers and where they come from: cached blocks in front of the driver's memory pool, or of NumPy's on the CPU.

All work of a device is queued on one stream, in order. A block is therefore free for the next user as soon as Python
drops its buffer, however much of the queue has still to run, and no release asks the driver for anything: a finaliser
appends the block to a list, and an allocation takes it from there. Only a miss takes a lock.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from sys import getrefcount
from typing import Any

import numpy

from .device import Device, check, driver

ALIGNMENT = 64  # of host blocks: a cache line, and the widest vector of a CPU
LARGE = 1 << 24  # bytes; larger blocks are given back to the driver's pool when one of another size is wanted
_GROWTH = 1 << 26  # bytes newly allocated between two looks at how much is cached
_HOST_CACHE = 1 << 30  # bytes of free host blocks that are kept
_KNOWN_SIZES = 1 << 14  # byte counts remembered with their class


class Buffer:
    """A block of a device's memory, given back when the last reference to it is dropped.

    Attributes
    ----------
    device : Device
        Where it is.
    ptr : int
        Its address there.
    nbytes : int
        How much of it may be used.
    host : numpy.ndarray or None
        The block as bytes, on the CPU device. A block that NumPy views outlive is not used again before they are gone.
    exported : bool
        Whether something outside the package can see it, so that it must not be overwritten behind the scenes.
    owner : object
        What keeps foreign memory alive.
    """

    __slots__ = ("device", "exported", "host", "nbytes", "owner", "ptr")

    def __init__(self, device: Device, ptr: int, nbytes: int, host: numpy.ndarray | None, owner: object) -> None:
        self.device = device
        self.ptr = ptr
        self.nbytes = nbytes
        self.host = host
        self.exported = True
        self.owner = owner

    def __repr__(self) -> str:
        return f"<{self.nbytes} bytes at {self.ptr:#x} on {self.device}>"

    def used_elsewhere(self) -> None:
        """Say that a stream other than ours works on this buffer, so that its release waits for the device.

        The legacy default stream need not be told: the driver orders it against ours.
        """


class _DeviceBuffer(Buffer):
    """GPU memory from a pool."""

    __slots__ = ("_home",)

    def __init__(self, device: Device, block: int, nbytes: int, home: Any) -> None:
        self.device = device
        self.ptr = block
        self.nbytes = nbytes
        self.host = None
        self.exported = False
        self.owner = None
        self._home = home

    def __del__(self) -> None:
        self._home.append(self.ptr)

    def used_elsewhere(self) -> None:
        if not isinstance(self._home, _Awaited):
            self._home = _Awaited(self._home)


HostBlock = tuple[numpy.ndarray, int]  # the bytes, and their address


def _host_block(size: int) -> HostBlock:
    whole = numpy.empty(size + ALIGNMENT, numpy.uint8)
    start = -whole.__array_interface__["data"][0] % ALIGNMENT
    block = whole[start : start + size]
    return block, block.__array_interface__["data"][0]


def _references(block: HostBlock) -> int:
    """Count the references to a host block's memory; every view of it holds one."""
    return getrefcount(block[0]) + getrefcount(block[0].base)


# What a block counts when nothing but its buffer has it: measured, since Pythons differ in what they count.
_UNSHARED = _references(_host_block(ALIGNMENT)) + 1


class _HostBuffer(Buffer):
    """CPU memory from a pool."""

    __slots__ = ("_block", "_home")

    def __init__(self, device: Device, block: HostBlock, nbytes: int, home: Any) -> None:
        self.device = device
        self.host, self.ptr = block
        self.nbytes = nbytes
        self.exported = False
        self.owner = None
        self._block = block
        self._home = home

    def __del__(self, references: Callable[[HostBlock], int] = _references, unshared: int = _UNSHARED) -> None:
        # The defaults are there for the interpreter's shutdown, when the names of a module may be gone.
        if references(self._block) == unshared:
            self._home.append(self._block)
        else:
            self._home.pool.lost.append(self._home.size)  # its memory goes with its last view


class Home(list[Any]):
    """The free blocks of one size."""

    __slots__ = ("buffer", "pool", "size")

    def __init__(self, pool: Pool, size: int) -> None:
        super().__init__()
        self.pool = pool
        self.size = size
        self.buffer = pool.buffer


class _Awaited:
    """Stands for the home of a block on which other streams may still be working."""

    __slots__ = ("home",)

    def __init__(self, home: Home) -> None:
        self.home = home

    def append(self, block: int) -> None:
        self.home.pool.awaited.append((self, block))


def size_class(nbytes: int) -> int:
    """Round a number of bytes up: by 512 at first, then by at most an eighth, then by at most a sixteenth."""
    bits = (max(nbytes, 1) - 1).bit_length()
    shift = 9 if bits <= 12 else bits - 4 if bits <= 24 else max(21, bits - 6)
    return max((nbytes + (1 << shift) - 1) >> shift, 1) << shift


class Pool(ABC):
    """The blocks of one device."""

    buffer: Callable[[Device, Any, int, Home], Buffer]

    def __init__(self, device: Device, cache_limit: int) -> None:
        self.device = device
        self.lock = threading.RLock()
        self.homes: dict[int, Home] = {}  # by the bytes asked for
        self.classes: dict[int, Home] = {}  # by size class
        self.awaited: list[tuple[_Awaited, int]] = []  # dropped, while other streams may still work on them
        self.lost: list[int] = []  # sizes of host blocks whose views outlived their buffers
        self.owned = 0
        self.limit: int | None = None
        self.cache_limit = cache_limit
        self._grown = 0

    def home(self, nbytes: int) -> Home:
        """Find the blocks that serve a request."""
        with self.lock:
            size = size_class(nbytes)
            home = self.classes.get(size)
            if home is None:
                home = self.classes[size] = Home(self, size)
            if len(self.homes) >= _KNOWN_SIZES:
                self.homes.clear()
            self.homes[nbytes] = home
            return home

    def cached(self) -> int:
        """Count the bytes of the free blocks."""
        return sum(home.size * len(home) for home in self.classes.values())

    def used(self) -> int:
        """Count the bytes of the blocks that buffers hold."""
        with self.lock:
            while self.lost:
                self.owned -= self.lost.pop()
            return self.owned - self.cached()

    def take(self, home: Home) -> Any:
        """Return a block of a home's size, or None where there is no memory."""
        with self.lock:
            try:
                return home.pop()
            except IndexError:
                pass
            self._grown += home.size
            if self._grown > _GROWTH:
                self._grown = 0
                if self.cached() > self.cache_limit:
                    self.release()
            if self.limit is not None and self.used() + self.cached() + home.size > self.limit:
                return None
            block = self.make(home.size)
            if block is not None:
                self.owned += home.size
            return block

    def release(self, at_least: int = 0) -> None:
        """Give the free blocks of at least so many bytes back."""
        with self.lock:
            for home in self.classes.values():
                while home.size >= at_least:
                    try:
                        block = home.pop()
                    except IndexError:  # none left; other threads take without the lock
                        break
                    self.give_back(block)
                    self.owned -= home.size

    def release_all(self) -> None:
        """Give back everything that no buffer holds, so that others can have it."""
        self.release()

    @abstractmethod
    def make(self, size: int) -> Any:
        """Return a new block, or None where there is no memory."""

    @abstractmethod
    def give_back(self, block: Any) -> None:
        """Return a block to where it came from."""

    @abstractmethod
    def available(self) -> tuple[int, int] | None:
        """Return the free and all bytes of the device, where they can be known."""


class DevicePool(Pool):
    """GPU memory: a stream-ordered pool of the driver, which keeps what it has got until told to give it back."""

    buffer = _DeviceBuffer

    def __init__(self, device: Device) -> None:
        super().__init__(device, device.attributes.total_memory // 16)
        self.cuda = cuda = driver()
        device.activate()
        properties = cuda.CUmemPoolProps()
        properties.allocType = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        properties.location.id = device.index
        self.handle = check(cuda.cuMemPoolCreate(properties))
        keep = cuda.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        check(cuda.cuMemPoolSetAttribute(self.handle, keep, cuda.cuuint64_t(2**64 - 1)))
        self.share()

    def share(self) -> None:
        """Let the other GPUs reach this one's memory where the machine can, so that copies between them are direct."""
        cuda = self.cuda
        for other in range(check(cuda.cuDeviceGetCount())):
            handle = check(cuda.cuDeviceGet(other))
            if other != self.device.index and check(cuda.cuDeviceCanAccessPeer(handle, self.device.handle)):
                access = cuda.CUmemAccessDesc()
                access.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
                access.location.id = other
                access.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                check(cuda.cuMemPoolSetAccess(self.handle, [access], 1))

    def take(self, home: Home) -> Any:
        with self.lock:
            self.device.activate()
            self.settle()
            if home.size > LARGE and not home:
                self.release(LARGE)  # the driver can join and cut them; the lists cannot
            return super().take(home)

    def settle(self) -> None:
        """Make the blocks that other streams worked on usable, by waiting for all of the device.

        Those streams cannot be waited for by name: their owners may have destroyed them, and the driver does not
        survive a destroyed handle.
        """
        count = len(self.awaited)
        if count:
            check(self.cuda.cuCtxSynchronize())
        for _ in range(count):  # those that come meanwhile wait for the next time
            awaited, block = self.awaited.pop(0)
            awaited.home.append(block)

    def make(self, size: int) -> int | None:
        status, block = self.cuda.cuMemAllocFromPoolAsync(size, self.handle, self.device.stream)
        if status == self.cuda.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            return None
        return int(check((status, block)))

    def give_back(self, block: int) -> None:
        check(self.cuda.cuMemFreeAsync(block, self.device.stream))

    def available(self) -> tuple[int, int] | None:
        self.device.activate()
        free, total = check(self.cuda.cuMemGetInfo())
        return int(free), int(total)

    def release_all(self) -> None:
        with self.lock:
            self.device.activate()
            self.settle()
            self.release()
            check(self.cuda.cuStreamSynchronize(self.device.stream))
            check(self.cuda.cuMemPoolTrimTo(self.handle, 0))


class HostPool(Pool):
    """CPU memory: the pages of a cached block are already mapped, which for large arrays is most of the cost."""

    buffer = _HostBuffer

    def __init__(self, device: Device) -> None:
        super().__init__(device, _HOST_CACHE)

    def make(self, size: int) -> HostBlock | None:
        try:
            return _host_block(size)
        except MemoryError:
            return None

    def give_back(self, block: HostBlock) -> None:
        del block  # NumPy frees it with its last reference

    def available(self) -> tuple[int, int] | None:
        try:
            page = os.sysconf("SC_PAGE_SIZE")
            return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
        except (AttributeError, ValueError, OSError):  # not a system that tells
            return None
