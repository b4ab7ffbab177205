"""Copies that the host does not wait for, between page-locked memory of the program and a GPU, beside its work.

A copy to the GPU waits for what used its block before, and the GPU for the copy where it first needs the bytes. A copy
to the host is made of a snapshot, so that the GPU may overwrite the value meanwhile. Copies of the same memory of the
host come one after the other. Memory that a copy under way uses stays alive.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy
from numpy.lib.array_utils import byte_bounds

from .device import Device, driver, refuse_capture
from .host_copies import COPIED_BYTES
from .host_work import observed
from .marks import Mark, Place
from .memory import Buffer, address, allocate, allocate_unless_short, attempted, pool_of, staying, unnoted
from .memory_pool import BufferState, FreeList, LeavingBlock, Pool, PoolBuffer, size_class
from .moves import PinnedBlock, mark_on, moves_of
from .page_locked import is_page_locked
from .spill import is_too_large

_STATE: Any = BufferState  # the fields of buffers, of which an arriving buffer computes one
# Blocks of a size that wait for their marks, before the oldest is used again: so a copy waits for no recent work.
_WAITING_BLOCKS = 4


class ArrivingBuffer(PoolBuffer):
    """A buffer that a copy writes, until the GPU has been made to wait for that.

    Where it is dropped before, its block waits for the copy as one does whose bytes leave.
    """

    __slots__ = ()

    _free_list: LeavingBlock

    def __repr__(self) -> str:
        """Return the size and the device; to ask for the address has the device wait."""
        return f"<{self.nbytes} bytes on their way to {self.device}>"

    @property
    def ptr(self) -> int:  # type: ignore[override]
        """The address, once later work of the device waits for the copy."""
        arriving = self._free_list
        if isinstance(arriving, LeavingBlock):  # else another thread was first
            arriving.mark.precede(self.device.stream)
            pool_of(self.device).unmark(self)
            _STATE.ptr.__set__(self, self._block)
            self._free_list = arriving.free_list  # type: ignore[assignment]
            self.__class__ = PoolBuffer  # type: ignore[assignment]
        return int(self._block)

    def mark_used_by_other_stream(self) -> None:
        """Mark the buffer as used by a stream of another library, once the device waits for the copy."""
        _ = self.ptr
        self.mark_used_by_other_stream()


class _Copy(PinnedBlock):
    """A copy under way: its memory of the host, the mark behind it, and whether it writes that memory."""

    __slots__ = ("to_host",)

    def __init__(self, host: numpy.ndarray, to_host: bool) -> None:
        super().__init__(host)
        self.to_host = to_host

    def overlaps(self, start: int, stop: int) -> bool:
        """Return whether the copy uses memory of the host between two addresses."""
        first = address(self.host)
        return first < stop and start < first + self.host.size

    def conflicts(self, other: _Copy) -> bool:
        """Return whether two copies use the same memory, and one writes it."""
        first = address(other.host)
        return (self.to_host or other.to_host) and self.overlaps(first, first + other.host.size)


class AsyncCopies:
    """The copies of one GPU. Who queues one holds the lock of the queue of the device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._moves = moves_of(device)
        self._under_way: list[_Copy] = []
        flags = driver().CUstream_flags.CU_STREAM_NON_BLOCKING.value
        self._joined = attempted(device, "no room for a stream", driver().cuStreamCreate, flags)
        self._moves.wait_for(mark_on(device, device.stream))  # for whatever its stream waits for already

    def to_device(self, source: numpy.ndarray) -> Buffer:
        """Return a buffer with the bytes of an array in page-locked memory, which must not change before they are read.

        Parameters
        ----------
        source : numpy.ndarray
            Bytes in one piece.
        """
        device, pool = self.device, pool_of(self.device)
        device.activate()
        copy = self._begin(source, to_host=False)
        target, after = self._block_for_arrival(source.size)
        try:
            with staying(target):
                marks = [after, *_marks_before(copy)]
                mark = self._moves.copy_to_device(target.ptr, copy, 0, source.size, marks)
                target._free_list = LeavingBlock(pool.leaving, _list_of(target), target._block, mark)
                target.__class__ = ArrivingBuffer
        except BaseException:  # the block may be used again by who does not know of the copy
            self._moves.synchronize()
            raise
        if device.has_spilled:
            pool.note_uses((target,))
        return target

    def to_host(self, target: numpy.ndarray, buffer: Buffer, start: int) -> None:
        """Queue a copy of bytes of a buffer, from `start` on, to page-locked memory, behind all that is queued now.

        Parameters
        ----------
        target : numpy.ndarray
            Bytes in one piece. They are there once the copies are over: see `synchronize` and `precede`.
        """
        device, pool = self.device, pool_of(self.device)
        device.activate()
        copy = self._begin(target, to_host=True)
        with staying(buffer), unnoted(buffer):
            source = buffer.ptr + start
            snapshot = self._block_for_snapshot(target.size)
            try:
                if snapshot is not None:
                    self._queue_snapshot(snapshot, source, target.size)
                marks = [mark_on(device, device.stream), *_marks_before(copy)]
                ptr = source if snapshot is None else snapshot.ptr
                mark = self._moves.copy_to_host(copy, ptr, target.size, marks)
                if snapshot is None:
                    mark.precede(device.stream)
                else:
                    snapshot._free_list = LeavingBlock(pool.leaving, _list_of(snapshot), snapshot._block, mark)
            except BaseException:  # as in `to_device`
                self._moves.synchronize()
                raise

    def _queue_snapshot(self, snapshot: PoolBuffer, source: int, nbytes: int) -> None:
        copy = driver().cuMemcpyDtoDAsync, snapshot.ptr, source, nbytes
        attempted(self.device, "no room for a copy", *copy, self.device.stream)

    def _begin(self, host: numpy.ndarray, to_host: bool) -> _Copy:
        """Drop the copies that are over, and note another one."""
        for copy in list(self._under_way):
            if copy.mark is None or copy.mark.has_happened():
                self._drop(copy)
        copy = _Copy(host, to_host)
        self._under_way.append(copy)
        return copy

    def _drop(self, copy: _Copy) -> None:
        with suppress(ValueError):  # another thread, or a signal handler, was quicker
            self._under_way.remove(copy)

    def _block_for_arrival(self, nbytes: int) -> tuple[PoolBuffer, Mark]:
        """Return a buffer for bytes that come, and the mark behind which it may be written."""
        device, pool = self.device, pool_of(self.device)
        free_list = pool.free_list(nbytes)
        if free_list:  # what is free now is used by this copy only if nothing has waited for longer
            mark = mark_on(device, device.stream)
            with suppress(IndexError):
                pool.leaving.append(LeavingBlock(pool.leaving, free_list, free_list.pop(), mark))
        if (left := _block_at_rest(pool, free_list.size)) is not None:
            return PoolBuffer(device, left.block, nbytes, left), left.mark
        buffer = allocate(device, nbytes)
        assert isinstance(buffer, PoolBuffer)
        return buffer, mark_on(device, device.stream)

    def _block_for_snapshot(self, nbytes: int) -> PoolBuffer | None:
        """Return a buffer that later work of the device may write; None if there is no room to spare."""
        device, pool = self.device, pool_of(self.device)
        if nbytes > pool.cache_limit:
            return None
        if (left := _block_at_rest(pool, size_class(nbytes))) is None:
            buffer = allocate_unless_short(device, nbytes)
            assert buffer is None or isinstance(buffer, PoolBuffer)
            return buffer
        snapshot = PoolBuffer(device, left.block, nbytes, left)
        left.mark.precede(device.stream)
        snapshot._free_list = left.free_list
        return snapshot

    # --- what comes after copies, or before ---

    def precede(self, stream: Any) -> None:
        """Have later work of a stream wait for the copies that are queued now."""
        for copy in list(self._under_way):
            if copy.mark is not None:
                copy.mark.precede(stream)

    def wait_for(self, mark: Place) -> None:
        """Have later copies wait for a mark or an event."""
        self._moves.wait_for(mark)

    def joined_stream(self) -> Any:
        """Return a stream that waits for all that is queued now, on the stream of the device and beside it."""
        mark_on(self.device, self.device.stream).precede(self._joined)
        self.precede(self._joined)
        return self._joined

    def are_over(self) -> bool:
        """Return whether no copy is under way."""
        return all(copy.mark is None or copy.mark.has_happened() for copy in list(self._under_way))

    def synchronize(self) -> None:
        """Wait for the copies that are queued now."""
        for copy in list(self._under_way):
            if copy.mark is not None:
                copy.mark.wait()
            self._drop(copy)


def _marks_before(copy: _Copy) -> Sequence[Mark]:
    """Return the marks behind the copies, of all GPUs, that a copy has to come after."""
    others = [other for copies in list(_copies.values()) for other in list(copies._under_way)]
    return [other.mark for other in others if other.mark is not None and other.conflicts(copy)]


def _list_of(buffer: PoolBuffer) -> FreeList:
    free_list = buffer._free_list
    return free_list.free_list if isinstance(free_list, LeavingBlock) else free_list


def _block_at_rest(pool: Pool, size: int) -> LeavingBlock | None:
    """Return the block of a size that has waited longest for its mark, if that is long enough."""
    waiting = [left for left in list(pool.leaving) if left.free_list.size == size]
    if waiting and (len(waiting) >= _WAITING_BLOCKS or waiting[0].mark.has_happened()):
        return pool.take_leaving(size)
    return None


_copies: dict[Device, AsyncCopies] = {}


def copies_of(device: Device) -> AsyncCopies:
    """Return the copies of a GPU, whose streams are made at the first use."""
    refuse_capture(device, "a copy that the host does not wait for")
    return _copies.get(device) or _copies.setdefault(device, AsyncCopies(device))


def copies_begun(device: Device) -> AsyncCopies | None:
    """Return the copies of a GPU; None if there never were any."""
    return _copies.get(device)


def can_copy(array: numpy.ndarray, device: Device) -> bool:
    """Return whether the host need not wait for a copy of an array: where it is page-locked, and not small."""
    return device.has_stream and array.nbytes > COPIED_BYTES and is_page_locked(array, device)


def wait_for_memory(array: numpy.ndarray, to_write: bool) -> None:
    """Wait for the copies that write the memory of an array of the host; before a write, for all that use it."""
    if not _copies:
        return
    first, last = byte_bounds(array)
    for copies in list(_copies.values()):
        for copy in list(copies._under_way):
            if (to_write or copy.to_host) and copy.mark is not None and copy.overlaps(first, last):
                copy.mark.wait()


def buffer_under_way(data: numpy.ndarray, device: Device, lock: Any, blocking: bool) -> Buffer | None:
    """Return a buffer that a GPU copies the bytes of an array to from where they are; None if it cannot.

    Parameters
    ----------
    data : numpy.ndarray
        The array, in C order.
    lock
        That of the queue of the device.
    blocking
        Whether the copy is over when this returns.
    """
    if not can_copy(data, device) or is_too_large(data.nbytes, device) or (blocking and device.capture is not None):
        return None
    with lock:
        buffer = copies_of(device).to_device(data.reshape(-1).view(numpy.uint8))
    if blocking:
        with observed("copy", "to", device, nbytes=data.nbytes):
            wait_for_memory(data, to_write=True)
    return buffer
