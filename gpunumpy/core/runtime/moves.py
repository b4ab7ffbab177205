"""Copies between a GPU and page-locked memory, beside its work: each direction has a stream of its own.

A `Mark` stands for what has to be over before a copy, and one behind the copy for what comes after it. Of values that
move for lack of room, the stream of the device waits for a copy back before what reads it. A block whose bytes leave is
used again only behind the copy, and so is page-locked memory.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy

from ..errors import DeviceError
from .device import Device, check, driver
from .marks import Mark, Place, new_mark
from .memory import address, attempted, staying
from .memory_pool import Buffer


class PinnedBlock:
    """Page-locked memory that copies read and write.

    Attributes
    ----------
    host
        The bytes.
    mark
        Behind the last copy to the memory or from it, and so behind all of them.
    """

    __slots__ = ("host", "mark")

    def __init__(self, host: numpy.ndarray) -> None:
        self.host = host
        self.mark: Mark | None = None

    def wait(self) -> None:
        """Wait until no copy uses the memory."""
        if self.mark is not None:
            self.mark.wait()


def mark_on(device: Device, stream: Any) -> Mark:
    """Return the end of what is queued on a stream of a GPU; where there is no room for a mark, room is made."""
    mark: Mark = attempted(device, "no room for an event", new_mark, device, stream)
    return mark


class Moves:
    """The copies of one GPU, in both directions. Who queues one holds the lock of the queue of the device."""

    def __init__(self, device: Device) -> None:
        cuda = driver()
        flags = cuda.CUstream_flags.CU_STREAM_NON_BLOCKING.value
        self._device = device
        self._outward, self._inward = (
            attempted(device, "no room for a stream", cuda.cuStreamCreate, flags) for _ in range(2)
        )

    def to_host(self, target: PinnedBlock, buffer: Buffer, after: Mark) -> Mark:
        """Queue a copy of the bytes of a buffer behind a mark, and return the mark behind the copy."""
        return self.copy_to_host(target, buffer.ptr, buffer.nbytes, (after,))

    def to_device(self, target: Buffer, source: PinnedBlock, start: int, after: Mark) -> None:
        """Queue a copy of bytes from `start` on to a buffer, behind a mark and before later work of the device."""
        with staying(target):
            mark = self.copy_to_device(target.ptr, source, start, target.nbytes, (after,))
            try:
                mark.precede(self._device.stream)
            except BaseException:
                self.synchronize()
                raise

    def copy_to_host(self, target: PinnedBlock, ptr: int, nbytes: int, after: Sequence[Mark]) -> Mark:
        """Queue a copy from an address of the GPU behind marks, and return the mark behind the copy."""
        copy = driver().cuMemcpyDtoHAsync, address(target.host), ptr, nbytes
        return self._queue(self._outward, target, after, *copy)

    def copy_to_device(self, ptr: int, source: PinnedBlock, start: int, nbytes: int, after: Sequence[Mark]) -> Mark:
        """Queue a copy to an address of the GPU behind marks, and return the mark behind the copy."""
        copy = driver().cuMemcpyHtoDAsync, ptr, address(source.host) + start, nbytes
        return self._queue(self._inward, source, after, *copy)

    def _queue(self, stream: Any, pinned: PinnedBlock, after: Sequence[Mark], *copy: Any) -> Mark:
        try:
            for before in after:
                before.precede(stream)
            if pinned.mark is not None:
                pinned.mark.precede(stream)
            attempted(self._device, "no room for a copy", *copy, stream)
            pinned.mark = mark = mark_on(self._device, stream)
        except BaseException:  # the memory may be used again by who does not know of the copy
            self.synchronize()
            raise
        return mark

    def wait_for(self, mark: Place) -> None:
        """Have later copies in both directions wait for a mark or an event."""
        mark.precede(self._outward)
        mark.precede(self._inward)

    def synchronize(self) -> None:
        """Wait for all copies."""
        self._device.activate()
        for stream in (self._outward, self._inward):
            check(driver().cuStreamSynchronize(stream))


_moves: dict[Device, Moves] = {}


def moves_of(device: Device) -> Moves:
    """Return the copies of a GPU, whose streams are made at the first use."""
    return _moves.get(device) or _moves.setdefault(device, Moves(device))


def _finish() -> None:
    for moves in list(_moves.values()):
        with suppress(DeviceError):  # a context that is lost has lost them too
            moves.synchronize()


if hasattr(os, "register_at_fork"):  # a child cannot wait for copies, and finds what was moved in its memory
    os.register_at_fork(before=_finish)
