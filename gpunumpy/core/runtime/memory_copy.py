"""Copies between the host and devices, pinned memory, and the word in which kernels report an error.

Pageable memory goes through pinned chunks of one size: NumPy fills a chunk (with the interpreter's lock released) while
the GPU copies the one before. A copy to the device so returns when its source has been read, without waiting for the
queue; a copy to the host waits for what it returns. Sources up to 64 KiB need no chunk: the driver takes their bytes
with the call.
"""

from __future__ import annotations

import threading
from collections import deque

import numpy

from .device import Device, check, driver
from .memory import Buffer, address, pinned

CHUNK = 1 << 21  # bytes of a pinned chunk: long enough that the copy hides the calls around it
CHUNKS = 32  # how many at most are made for a device; more would let the host run further ahead
DEPTH = 4  # chunks in flight in a copy to the host
_INLINE = 1 << 16  # bytes that the driver takes with the call


class _Chunk:
    """A piece of pinned memory, and the event that tells when the GPU has done with it."""

    __slots__ = ("event", "host", "ptr")

    def __init__(self, device: Device) -> None:
        cuda = driver()
        self.host = pinned(CHUNK, device)
        self.ptr = address(self.host)
        self.event = check(cuda.cuEventCreate(cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING.value))


class _Stage:
    """The pinned chunks of one GPU."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.cuda = driver()
        self.lock = threading.Lock()
        self.free: list[_Chunk] = []
        self.busy: deque[_Chunk] = deque()  # being read by copies to the device, the oldest first
        self.made = 0

    def take(self) -> _Chunk:
        """Return a chunk that nothing uses; wait for the oldest copy where all are in use."""
        with self.lock:
            while self.busy and not self.cuda.cuEventQuery(self.busy[0].event)[0]:
                self.free.append(self.busy.popleft())
            if self.free:
                return self.free.pop()
            if self.made < CHUNKS or not self.busy:
                chunk = _Chunk(self.device)
                self.made += 1
                return chunk
            chunk = self.busy.popleft()
        check(self.cuda.cuEventSynchronize(chunk.event))
        return chunk

    def upload(self, ptr: int, source: numpy.ndarray) -> None:
        """Queue a copy of pageable bytes to the device."""
        stream = self.device.stream
        for start in range(0, source.size, CHUNK):
            part = source[start : start + CHUNK]
            chunk = self.take()
            chunk.host[: part.size] = part
            check(self.cuda.cuMemcpyHtoDAsync(ptr + start, chunk.ptr, part.size, stream))
            with self.lock:  # the queue's order is the order of the copies
                check(self.cuda.cuEventRecord(chunk.event, stream))
                self.busy.append(chunk)

    def download(self, target: numpy.ndarray, ptr: int) -> None:
        """Copy bytes of the device to pageable memory."""
        stream = self.device.stream
        flying: deque[tuple[_Chunk, numpy.ndarray]] = deque()
        for start in range(0, target.size, CHUNK):
            if len(flying) == DEPTH:
                self.land(*flying.popleft())
            part = target[start : start + CHUNK]
            chunk = self.take()
            check(self.cuda.cuMemcpyDtoHAsync(chunk.ptr, ptr + start, part.size, stream))
            check(self.cuda.cuEventRecord(chunk.event, stream))
            flying.append((chunk, part))
        while flying:
            self.land(*flying.popleft())

    def land(self, chunk: _Chunk, part: numpy.ndarray) -> None:
        """Wait for one chunk of a download and take its bytes."""
        check(self.cuda.cuEventSynchronize(chunk.event))
        part[:] = chunk.host[: part.size]
        with self.lock:
            self.free.append(chunk)


_stages: dict[Device, _Stage] = {}
_lock = threading.RLock()


def _stage(device: Device) -> _Stage:
    device.activate()
    stage = _stages.get(device)
    if stage is None:
        with _lock:
            stage = _stages.get(device) or _stages.setdefault(device, _Stage(device))
    return stage


def copy_from_host(buffer: Buffer, offset: int, source: numpy.ndarray, borrow: bool = False) -> None:
    """Copy an array's bytes, in C order, into a buffer.

    Parameters
    ----------
    buffer : Buffer
        Where to.
    offset : int
        The first byte to write.
    source : numpy.ndarray
        What to copy. It may be changed as soon as this returns, unless `borrow` is set.
    borrow : bool
        The GPU reads `source` itself, when the queue gets there: the fast way for pinned memory. The caller keeps it
        alive and unchanged until the device has been synchronised.
    """
    source = numpy.ascontiguousarray(source).reshape(-1).view(numpy.uint8)
    if not source.size:
        return
    if buffer.host is not None:
        buffer.host[offset : offset + source.size] = source
        return
    stage = _stage(buffer.device)
    if borrow or source.size <= _INLINE:
        check(stage.cuda.cuMemcpyHtoDAsync(buffer.ptr + offset, address(source), source.size, buffer.device.stream))
    else:
        stage.upload(buffer.ptr + offset, source)


def copy_to_host(buffer: Buffer, offset: int, nbytes: int) -> numpy.ndarray:
    """Return bytes of a buffer as a new array, once everything queued before has run.

    Parameters
    ----------
    buffer : Buffer
        Where from.
    offset, nbytes : int
        Which bytes.

    Returns
    -------
    numpy.ndarray
        Of uint8.
    """
    target = numpy.empty(nbytes, numpy.uint8)
    if buffer.host is not None:
        target[:] = buffer.host[offset : offset + nbytes]
    elif nbytes:
        _stage(buffer.device).download(target, buffer.ptr + offset)
    return target


def copy(target: Buffer, target_offset: int, source: Buffer, source_offset: int, nbytes: int) -> None:
    """Copy bytes between buffers of any devices, in the order of both devices' queues.

    Parameters
    ----------
    target, source : Buffer
        Where to and where from; the ranges must not overlap.
    target_offset, source_offset, nbytes : int
        Which bytes.
    """
    if not nbytes:
        return
    if source.host is not None:
        copy_from_host(target, target_offset, source.host[source_offset : source_offset + nbytes])
    elif target.host is not None:
        _stage(source.device).download(target.host[target_offset : target_offset + nbytes], source.ptr + source_offset)
    elif source.device is target.device:
        cuda = _stage(source.device).cuda
        check(
            cuda.cuMemcpyDtoDAsync(target.ptr + target_offset, source.ptr + source_offset, nbytes, source.device.stream)
        )
    else:
        _copy_between(target, target.ptr + target_offset, source, source.ptr + source_offset, nbytes)


def _copy_between(target: Buffer, to: int, source: Buffer, start: int, nbytes: int) -> None:
    """Copy between two GPUs on the target's stream, after the source's queue so far and before what follows in it."""
    here, there = target.device, source.device
    wait_for(here, there)
    here.activate()
    check(driver().cuMemcpyPeerAsync(to, here.context, start, there.context, nbytes, here.stream))
    wait_for(there, here)


def wait_for(device: Device, other: Device) -> None:
    """Make a GPU's later work wait for what is queued on another GPU."""
    cuda = driver()
    other.activate()
    event = check(cuda.cuEventCreate(cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING.value))
    check(cuda.cuEventRecord(event, other.stream))
    device.activate()
    check(cuda.cuStreamWaitEvent(device.stream, event, 0))
    check(cuda.cuEventDestroy(event))  # the driver keeps it until the wait is over
