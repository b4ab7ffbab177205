"""Buffers, and the pools of their blocks: caches of free blocks in front of the pool of the driver, or of NumPy.

All work of a device is queued on one stream, in order. So a block is free for the next buffer as soon as Python drops
its buffer, even if work on it is still queued, and a release needs no call of the driver: a finaliser appends the block
to a free list, and an allocation takes it from there. There is no lock: see `Pool`.
"""

from __future__ import annotations

import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from sys import getrefcount
from typing import Any, NamedTuple

import numpy

from .._native import compiled
from ..errors import DeviceError
from .device import Device, check, driver
from .marks import Mark, new_mark

ALIGNMENT_BYTES = 64  # of host blocks: a cache line, and the widest vector of a CPU
# Where the free blocks are too many, those of this size or more return to the driver before a larger one is made. To
# give back and make a block of a GB takes the driver more than a millisecond.
LARGE_BYTES = 1 << 24
_GROWTH_BYTES = 1 << 26  # newly allocated bytes between two checks of how much is cached
_HOST_CACHE_BYTES = 1 << 30  # when free host blocks exceed this, all of them are freed
_MAX_REQUEST_SIZES = 1 << 14  # requested sizes whose free list is remembered
_REMEMBERED_USES = 7  # of a buffer, besides the last one
# A GPU with less free memory is full: 6 to 25 MB were, where kernels found no room for their code or local variables.
FULL_BYTES = 1 << 26


# The bytes of a block of the host, and their address.
HostBlock = tuple[numpy.ndarray, int]


def _host_block(size: int) -> HostBlock:
    allocation = numpy.empty(size + ALIGNMENT_BYTES, numpy.uint8)
    first = allocation.ctypes.data
    start = -first % ALIGNMENT_BYTES
    return allocation[start : start + size], first + start


def _count_references(block: HostBlock) -> int:
    """Count the references to the memory of a host block; every view of it holds one."""
    return getrefcount(block[0]) + getrefcount(block[0].base)


# The count for a block that nothing has a view of. It is measured, as versions of Python count differently.
_UNSHARED_COUNT = _count_references(_host_block(ALIGNMENT_BYTES))


def _measure_last_count() -> int:
    """Return what `getrefcount` says of an object in its `__del__` when nothing refers to it any more."""
    counts: list[int] = []

    class Dying:
        def __del__(self) -> None:
            counts.append(getrefcount(self))

    Dying()
    return counts[0]


_LAST_COUNT = _measure_last_count()


class OwnedBlock:
    """A block that goes to its free list with the last reference to this object.

    The garbage collector finalizes an object in a cycle while others refer to it, and these may still use the block, or
    make the object alive again. Then an heir takes the block: it dies with the object, whenever that is.
    """

    __slots__ = ("_block", "_free_list")

    _block: Any  # of a pool: on the CPU device a `HostBlock`, else an address
    _free_list: Any  # where the block goes, or the heir, which then has the block too
    _own_views = 0  # that this object has of a host block, besides the block

    def __del__(
        self,
        count_references: Callable[[HostBlock], int] = _count_references,
        unshared_count: int = _UNSHARED_COUNT,
        count: Callable[[object], int] = getrefcount,
        last_count: int = _LAST_COUNT,
    ) -> None:
        """Release the block, unless views outlive the object, or leave it to an heir."""
        # Defaults of parameters, and `__class__`, outlive the names of the module at shutdown of the interpreter.
        try:
            block, free_list = self._block, self._free_list
            if count(self) > last_count:
                heir = __class__()  # type: ignore[name-defined]
                heir._block, heir._free_list = block, free_list
                self._free_list = heir
                del self._block
            elif type(block) is not tuple or count_references(block) == unshared_count + self._own_views:
                free_list.append(block)
            else:
                free_list.owned.pop()  # the last view frees the memory
        except AttributeError:  # there is no block, or an exception of a signal handler ended `__init__`
            return

    def delayed(self) -> OwnedBlock:
        """Have the block wait for the device before it is used again; see `FreeList.delayed`."""
        self._free_list = self._free_list.delayed()
        return self


@compiled
class BufferState(OwnedBlock):
    """The fields of a buffer, whose block goes to its free list with the last reference."""

    # Python clears a class's own slots before inherited ones. So when an heir dies, `host` is no view any more.
    __slots__ = ("__weakref__", "copy", "device", "exported", "host", "nbytes", "owner", "phase", "ptr")

    host: numpy.ndarray | None
    _own_views = 1


def has_views(block: Any) -> bool:
    """Return whether NumPy has views of a block that a buffer has, besides what the buffer has of it."""
    return type(block) is tuple and _count_references(block) != _UNSHARED_COUNT + 1


class Buffer(BufferState):
    """A block of the memory of a device. It is released with the last reference to the buffer.

    Attributes
    ----------
    device : Device
        The device that has the memory.
    ptr : int
        The address of the block on the device.
    phase : int
        The address modulo 16, which tells what is aligned: the same wherever the bytes are.
    nbytes : int
        The number of bytes that may be used.
    host : numpy.ndarray or None
        The block as bytes, on the CPU device. While NumPy has views of the block, it is not used again.
    copy : HostCopy or None
        On a GPU, the copy of the bytes that the host has; see `core/runtime/host_copies.py`.
    exported : bool
        Whether code outside of the package can see the memory, so that no update of a graph may overwrite it in place.
    owner : object
        The object that keeps foreign memory alive.
    """

    __slots__ = ()

    is_spilled = False

    device: Device
    ptr: int
    phase: int
    nbytes: int
    copy: Any
    exported: bool
    owner: object

    def __init__(self, device: Device, ptr: int, nbytes: int, host: numpy.ndarray | None, owner: object) -> None:
        self.device = device
        self.ptr = ptr
        self.phase = ptr % 16
        self.nbytes = nbytes
        self.host = host
        self.copy = None
        self.exported = True
        self.owner = owner

    def __repr__(self) -> str:
        """Return the size, the address and the device."""
        return f"<{self.nbytes} bytes at {self.ptr:#x} on {self.device}>"

    def mark_used_by_other_stream(self) -> None:
        """Mark the buffer as used by a stream of another library: its block is used again only once the device is idle.

        Work on the legacy default stream needs no mark: the driver orders that stream against the stream of the device.
        """

    def awaited(self, start: int = 0, stop: int | None = None) -> numpy.ndarray | None:
        """Return the bytes from `start` to before `stop` where they are on the host alone; else return None.

        Waits for the device if it writes them there.
        """
        return None


class PoolBuffer(Buffer):
    """Memory from a pool.

    `core/runtime/spill.py` may move the bytes to the host, and makes a `SpilledBuffer` of the object then.
    """

    __slots__ = ()

    def __init__(self, device: Device, block: Any, nbytes: int, free_list: FreeList | LeavingBlock) -> None:
        self._free_list = free_list
        self._block = block
        self.device = device
        self.host, self.ptr = block if type(block) is tuple else (None, block)
        self.phase = 0
        self.nbytes = nbytes
        self.copy = None
        self.exported = False
        self.owner = None

    def mark_used_by_other_stream(self) -> None:
        """Mark the buffer as used by a stream of another library; see `Buffer`."""
        if self.host is None:
            self._free_list = self._free_list.delayed()


class FreeList(list[Any]):
    """The free blocks of one size class; `owned` has an entry for each block, of buffers too."""

    __slots__ = ("awaited_blocks", "owned", "size")

    def __init__(self, size: int, awaited_blocks: list[Any]) -> None:
        super().__init__()
        self.size = size
        self.owned: list[None] = []
        self.awaited_blocks = awaited_blocks  # of the pool

    def delayed(self) -> _AwaitedFreeList:
        """Return the stand-in for the free list of a block on which other streams may still work."""
        return _AwaitedFreeList(self)


class _AwaitedFreeList:
    """Stand-in for the free list of a block on which other streams may still work: its blocks wait for the device."""

    __slots__ = ("free_list",)

    def __init__(self, free_list: FreeList) -> None:
        self.free_list = free_list

    def append(self, block: int) -> None:
        """Add a block to those that wait for the device."""
        self.free_list.awaited_blocks.append((self, block))

    def delayed(self) -> _AwaitedFreeList:
        """Return the stand-in itself."""
        return self


class LeavingBlock:
    """Stand-in for the free list of a block whose bytes are copied to the host, or read, until a mark."""

    __slots__ = ("block", "free_list", "leaving", "mark")

    def __init__(self, leaving: list[LeavingBlock], free_list: FreeList, block: int, mark: Mark) -> None:
        self.leaving = leaving  # of the pool
        self.free_list = free_list
        self.block = block
        self.mark = mark

    def append(self, block: int) -> None:
        """Take the block back from a buffer that has not come to use it."""
        self.leaving.append(self)


class Reserved:
    """Memory that is a CUDA graph's: blocks that the graph's kernels use, whenever it is launched.

    Attributes
    ----------
    lists_by_request, lists_by_class
        Its free lists, as those of a pool.
    """

    __slots__ = ("lists_by_class", "lists_by_request")

    def __init__(self) -> None:
        self.lists_by_request: dict[int, FreeList] = {}
        self.lists_by_class: dict[int, FreeList] = {}

    def owned_bytes(self) -> int:
        """Return the number of bytes in its blocks."""
        return sum(free_list.size * len(free_list.owned) for free_list in list(self.lists_by_class.values()))


class Uses(NamedTuple):
    """When a buffer was used last, by the counts of its pool, and the mark behind that on a GPU, if one is known."""

    times: tuple[int, ...]
    mark: Mark | None


def size_class(nbytes: int) -> int:
    """Round a number of bytes up: to a multiple of 512, then by at most an eighth, then by at most a sixteenth."""
    bits = (max(nbytes, 1) - 1).bit_length()
    shift = 9 if bits <= 12 else bits - 4 if bits <= 24 else max(21, bits - 6)
    return max((nbytes + (1 << shift) - 1) >> shift, 1) << shift


class Pool(ABC):
    """The blocks of one device.

    It has no lock: what changes is lists and dictionaries, one step at a time. A thread that held a lock here could be
    interrupted by a signal handler that looks at a value. The handler would wait for the lock of a queue, and the
    thread that holds that lock for this one.
    """

    def __init__(self, device: Device, cache_limit: int) -> None:
        self.device = device
        self.lists_by_request: dict[int, FreeList] = {}  # by requested bytes; the core looks for their size class too
        self.lists_by_class: dict[int, FreeList] = {}  # by size class
        self.awaited_blocks: list[tuple[_AwaitedFreeList, int]] = []  # released, but other streams may work on them
        self.limit: int | None = None
        # Once values have been moved to the host (`core/runtime/spill.py`): the last times at which buffers were made
        # or used, counted in runs of plans and in values that the program gave.
        self.uses: dict[weakref.ref[Buffer], Uses] = {}
        self.now = 0
        self.bytes_to_host = self.bytes_from_host = 0  # that were copied so far, of values that moved and came back
        self.slabs = 0  # in which values have been computed so far
        self.moving: int | None = None  # the identity of what is being moved; None once it is written
        self.leaving: list[LeavingBlock] = []  # of a GPU: no buffer has them, and they cannot be used at once
        self.why_none_moved = ""  # the reason why the host had no place for the value that was to be moved last
        self.cache_limit = cache_limit
        self._grown_bytes = 0
        self.reserved: list[Reserved] = []  # of all CUDA graphs of programs
        self._given_up: list[Reserved] = []  # of those that are gone, of which arrays have blocks
        self._others: Reserved | None = None  # the free lists that have made room for those of a graph

    def free_list(self, nbytes: int) -> FreeList:
        """Return the free list that serves a request of so many bytes."""
        size = size_class(nbytes)
        free_list = self.lists_by_class.get(size)
        if free_list is None:
            free_list = self.lists_by_class.setdefault(size, FreeList(size, self.awaited_blocks))
        if len(self.lists_by_request) >= _MAX_REQUEST_SIZES:
            self.lists_by_request.clear()
        self.lists_by_request[nbytes] = self.lists_by_request[size] = free_list
        return free_list

    @property
    def is_reserving(self) -> bool:
        """Whether blocks are taken for a CUDA graph now: then none can be given back, nor waited for."""
        return self._others is not None

    def free_list_of_others(self, nbytes: int) -> FreeList:
        """Return the free list for so many bytes that is no CUDA graph's, while blocks are taken for one."""
        assert self._others is not None
        self._exchange(self._others)
        try:
            return self.free_list(nbytes)
        finally:
            self._exchange(self._others)

    def _exchange(self, reserved: Reserved) -> None:
        """Have what is allocated from now on come from the free lists of a CUDA graph, or from the others again."""
        self.lists_by_request, reserved.lists_by_request = reserved.lists_by_request, self.lists_by_request
        self.lists_by_class, reserved.lists_by_class = reserved.lists_by_class, self.lists_by_class

    def reserve(self, reserved: Reserved) -> None:
        """Begin to take blocks for a CUDA graph."""
        if reserved not in self.reserved:
            self.reserved.append(reserved)
        self._exchange(reserved)
        self._others = reserved

    def end_reserving(self) -> None:
        """Take blocks for all work again."""
        if self._others is not None:
            self._exchange(self._others)
            self._others = None

    def give_up(self, reserved: Reserved) -> None:
        """Return the blocks of a CUDA graph that is gone to the free lists, those that arrays have once they go."""
        self._given_up.append(reserved)
        if not self.is_reserving:
            self._reclaim_given_up()

    def _reclaim_given_up(self) -> None:
        for reserved in list(self._given_up):
            for size, left in list(reserved.lists_by_class.items()):
                free_list = self.free_list(size)
                with suppress(IndexError):  # there are no more, or another thread was quicker
                    while True:
                        block = left.pop()
                        left.owned.pop()
                        free_list.owned.append(None)
                        free_list.append(block)
            if not reserved.owned_bytes():
                with suppress(ValueError):
                    self._given_up.remove(reserved)
                    self.reserved.remove(reserved)

    def cached_bytes(self) -> int:
        """Return the number of bytes in free blocks."""
        free = sum(free_list.size * len(free_list) for free_list in list(self.lists_by_class.values()))
        return free + sum(left.free_list.size for left in list(self.leaving))

    def count_free_blocks(self) -> int:
        """Return the number of free blocks."""
        return sum(map(len, list(self.lists_by_class.values()))) + len(self.leaving)

    def owned_bytes(self) -> int:
        """Return the number of bytes in blocks, those of buffers and free ones."""
        owned = sum(free_list.size * len(free_list.owned) for free_list in list(self.lists_by_class.values()))
        return owned + sum(reserved.owned_bytes() for reserved in list(self.reserved))

    def used_bytes(self) -> int:
        """Return the number of bytes in blocks that buffers hold."""
        return self.owned_bytes() - self.cached_bytes()

    def excess_bytes(self, more: int) -> int:
        """Return by how many bytes `more` of them in blocks would exceed the limit; negative for what is left of it."""
        if self.limit is None:
            return -more
        return self.owned_bytes() + more - self.limit

    def has_room(self, size: int) -> bool:
        """Return whether a new block of so many bytes is within the limit, and free as far as the system tells."""
        if self.excess_bytes(size) > 0:
            return False
        available = self.available_bytes()
        return available is None or available[0] >= size

    def missing_bytes(self, more: int) -> int:
        """Return how many of `more` bytes find no room once free blocks are given back; negative if all do."""
        return self.used_bytes() + more - self.limit if self.limit is not None else -more

    def note_uses(self, buffers: Iterable[Buffer]) -> None:
        """Note that buffers of the pool were used now, after all that was noted before."""
        used = {id(buffer): buffer for buffer in buffers}.values()  # each once, as several nodes may read it
        while True:
            self.now = now = self.now + 1
            mark = self.mark()
            for buffer in used:
                before = self.uses.get(weakref.ref(buffer))
                if before is None:
                    self.uses[weakref.ref(buffer, self.uses.__delitem__)] = Uses((now,), mark)
                else:
                    self.uses[weakref.ref(buffer)] = Uses((*before.times[-_REMEMBERED_USES:], now), mark)
            if self.now == now:  # else a signal handler has used some of them, behind the mark
                return

    def unmark(self, buffer: Buffer) -> None:
        """Forget the mark behind the uses of a buffer, as work that is not noted has used it since."""
        uses = self.uses.get(weakref.ref(buffer))
        if uses is not None:
            self.uses[weakref.ref(buffer)] = Uses(uses.times, None)

    def mark(self) -> Mark | None:
        """Return a mark behind everything that is queued for the device; None without a queue."""
        return None

    def take_leaving(self, size: int) -> LeavingBlock | None:
        """Return a block whose bytes leave, if one has this size. Who uses it waits for its mark."""
        for left in list(self.leaving):
            if left.free_list.size == size:
                with suppress(ValueError):  # a signal handler was quicker
                    self.leaving.remove(left)
                    return left
        return None

    def reclaim_leaving(self) -> None:
        """Have later work of the device wait for the bytes that leave, and return the blocks to their free lists."""
        for left in list(self.leaving):
            left.mark.precede(self.device.stream)
            with suppress(ValueError):  # another thread, or a signal handler, was quicker
                self.leaving.remove(left)
                left.free_list.append(left.block)

    def take_block(self, free_list: FreeList) -> Any:
        """Return a block for a free list, or None if there is no memory."""
        try:
            return free_list.pop()
        except IndexError:
            pass
        self._grown_bytes += free_list.size
        if self._grown_bytes > _GROWTH_BYTES:
            self._grown_bytes = 0
            if self.cached_bytes() > self.cache_limit:
                self.release()
        block = None
        free_list.owned.append(None)  # before another thread asks whether there is room
        try:
            if self.excess_bytes(0) > 0:
                self.release()
            if self.excess_bytes(0) <= 0:
                block = self.new_block(free_list.size)
                if block is None and self.device.has_spilled and self.cached_bytes():  # of values that were moved
                    self.release()
                    block = self.new_block(free_list.size)
        finally:
            if block is None:
                free_list.owned.pop()
        return block

    def release(self, at_least: int = 0) -> None:
        """Free the cached blocks of at least so many bytes."""
        if self.is_reserving:
            return
        for free_list in list(self.lists_by_class.values()):
            while free_list.size >= at_least:
                try:
                    block = free_list.pop()
                except IndexError:  # the list is empty
                    break
                free_list.owned.pop()
                self.free_block(block)

    def release_all(self) -> None:
        """Free all blocks that no buffer holds, so that other programs can use the memory."""
        self.release()

    @abstractmethod
    def new_block(self, size: int) -> Any:
        """Return a new block, or None if there is no memory."""

    @abstractmethod
    def free_block(self, block: Any) -> None:
        """Free a block: return it to the driver or to NumPy."""

    @abstractmethod
    def available_bytes(self) -> tuple[int, int] | None:
        """Return the free and the total bytes of the device, or None if the system does not tell."""


class DevicePool(Pool):
    """GPU memory: a stream-ordered pool of the driver, which keeps freed memory until it is trimmed."""

    def __init__(self, device: Device) -> None:
        super().__init__(device, device.attributes.total_memory // 16)
        self.cuda = cuda = driver()
        device.activate()
        properties = cuda.CUmemPoolProps()
        properties.allocType = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        properties.location.id = device.index
        self.handle = check(cuda.cuMemPoolCreate(properties))
        threshold = cuda.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        check(cuda.cuMemPoolSetAttribute(self.handle, threshold, cuda.cuuint64_t(2**64 - 1)))
        # A block that the stream of the device still uses is none for a stream that waits for nothing.
        waits = cuda.CUmemPool_attribute.CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES
        check(cuda.cuMemPoolSetAttribute(self.handle, waits, 0))
        self.enable_peer_access()

    def enable_peer_access(self) -> None:
        """Let other GPUs access this memory directly where the machine allows it, for copies between GPUs."""
        cuda = self.cuda
        for other in range(check(cuda.cuDeviceGetCount())):
            handle = check(cuda.cuDeviceGet(other))
            if other != self.device.index and check(cuda.cuDeviceCanAccessPeer(handle, self.device.handle)):
                access = cuda.CUmemAccessDesc()
                access.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
                access.location.id = other
                access.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                check(cuda.cuMemPoolSetAccess(self.handle, [access], 1))

    def take_block(self, free_list: FreeList) -> Any:
        """Return a block for a free list, or None if there is no memory."""
        if not self.is_reserving:
            self._reclaim_given_up()
            self.reclaim_awaited()
        size = free_list.size
        if size > LARGE_BYTES and not free_list and self.cached_bytes() + size > self.cache_limit:
            self.release(LARGE_BYTES)  # the driver can merge and split blocks; free lists cannot
        return super().take_block(free_list)

    def reclaim_awaited(self) -> None:
        """Wait for the whole device, and return the blocks that other streams worked on to their free lists.

        Waiting for these streams alone is impossible: their owners may have destroyed them, and a destroyed handle
        crashes the driver.
        """
        taken: list[tuple[_AwaitedFreeList, int]] = []  # no other thread has them; what is added meanwhile waits again
        try:
            with suppress(IndexError):  # another thread, a signal handler or a finalizer may be quicker
                while self.awaited_blocks:
                    taken.append(self.awaited_blocks.pop())
            if taken:
                self.device.activate()
                check(self.cuda.cuCtxSynchronize())
            while taken:
                waiting, block = taken.pop()
                waiting.free_list.append(block)
        finally:
            self.awaited_blocks += taken  # none, but after an exception

    def mark(self) -> Mark | None:
        """Return a mark behind everything that is queued for the device; None where the driver makes none."""
        try:
            error, mark = new_mark(self.device, self.device.stream)
        except DeviceError:  # the GPU is lost
            return None
        return None if error else mark

    def new_block(self, size: int) -> int | None:
        """Return the address of a block from the pool of the driver, or None if there is no memory."""
        if self.is_reserving:  # the stream of the device captures: it would allocate whenever the graph is launched
            status, block = self.device.capture.at_once(self.cuda.cuMemAllocFromPoolAsync, size, self.handle)
        else:
            self.device.activate()
            status, block = self.cuda.cuMemAllocFromPoolAsync(size, self.handle, self.device.stream)
        return self._address(status, block)

    def take_block_beside(self, free_list: FreeList, stream: Any) -> int | None:
        """Return a block that no work of the device uses, for a stream that waits for none, or None."""
        size = free_list.size
        if self.is_reserving or self.excess_bytes(size) > 0:
            return None
        if self.cached_bytes() + size > self.cache_limit:
            self.release(LARGE_BYTES)
        block = None
        free_list.owned.append(None)
        try:
            self.device.activate()
            block = self._address(*self.cuda.cuMemAllocFromPoolAsync(size, self.handle, stream))
        finally:
            if block is None:
                free_list.owned.pop()
        return block

    def _address(self, status: Any, block: Any) -> int | None:
        if status and self.is_shortage(status):
            return None
        return int(check((status, block)))

    def is_shortage(self, error: Any) -> bool:
        """Return whether an error of the driver stands for a lack of memory, of which it does not always tell.

        It loads kernels at their first launch, and CUDA_ERROR_UNKNOWN is what a launch says that finds no room for one.
        """
        if error.name == "CUDA_ERROR_UNKNOWN":
            return self.is_full()
        return bool(error.name == "CUDA_ERROR_OUT_OF_MEMORY")

    def is_full(self) -> bool:
        """Return whether next to nothing of the GPU is free."""
        free_bytes, total_bytes = self.available_bytes()
        return free_bytes < min(FULL_BYTES, total_bytes // 16)

    def free_block(self, block: int) -> None:
        """Return a block to the pool of the driver, which keeps its memory."""
        self.device.activate()
        check(self.cuda.cuMemFreeAsync(block, self.device.stream))

    def available_bytes(self) -> tuple[int, int]:
        """Return the free and the total bytes of the GPU."""
        self.device.activate()
        free_bytes, total_bytes = check(self.cuda.cuMemGetInfo())
        return int(free_bytes), int(total_bytes)

    def missing_bytes(self, more: int) -> int:
        """Return how many of `more` bytes find no room, within the limit and on the GPU."""
        return max(super().missing_bytes(more), more - self.cached_bytes() - self.available_bytes()[0])

    def release_all(self) -> None:
        """Free all blocks that no buffer holds, and trim the pool of the driver."""
        if self.is_reserving:
            return
        self.device.activate()
        self._reclaim_given_up()
        self.reclaim_awaited()
        self.reclaim_leaving()
        self.release()
        check(self.cuda.cuStreamSynchronize(self.device.stream))
        check(self.cuda.cuMemPoolTrimTo(self.handle, 0))


class HostPool(Pool):
    """CPU memory: the pages of a cached block are mapped already, which is most of the cost of a large array."""

    def __init__(self, device: Device) -> None:
        super().__init__(device, _HOST_CACHE_BYTES)

    def new_block(self, size: int) -> HostBlock | None:
        """Return a new block, or None if there is no memory."""
        try:
            return _host_block(size)
        except MemoryError:
            return None

    def free_block(self, block: HostBlock) -> None:
        """Drop a block: NumPy frees it with its last reference."""
        del block

    def available_bytes(self) -> tuple[int, int] | None:
        """Return the free and the total bytes of the machine, or None if the system does not tell."""
        try:
            page = os.sysconf("SC_PAGE_SIZE")
            return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
        except (AttributeError, ValueError, OSError):  # the system does not tell
            return None
