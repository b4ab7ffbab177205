"""Copies between the host and devices, and between devices.

Pageable memory is copied through pinned chunks of one size: helper threads fill chunks (with the GIL released) while
the GPU copies those before them, as one thread copies a fraction of what the link carries. So a copy to the device
returns once its source has been read, without waiting for the queue; a copy to the host waits for the bytes that it
returns. Sources up to 64 KiB need no chunk: the driver takes their bytes with the call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy

from ..helpers import Job, wait_for_all, workers
from .device import Device, check, driver, refuse_capture
from .host_work import observed
from .memory import Buffer, address, attempted, host_bytes, new_event, pinned, staying, unnoted
from .page_locked import is_page_locked

CHUNK_BYTES = 1 << 21  # of a pinned chunk: large enough that the copy hides the calls around it
MAX_CHUNKS = 32  # of a device: more would let the host run further ahead
CHUNKS_IN_FLIGHT = 4  # during a copy to the host
MAX_COPIERS = 8  # helper threads of a copy: more gain nothing (benchmarks/host_transfers.py)
_INLINE_BYTES = 1 << 16  # sources up to this size travel with the call of the driver


class _Copying:
    """Context in which helper threads copy pieces within the host, several at once; this thread ends each in turn.

    An exception leaves it only when no helper copies any more. Helpers do nothing else: to find memory for the driver
    may take locks that this thread holds.

    Parameters
    ----------
    nbytes : int
        Of all pieces: few are copied by this thread alone.
    """

    def __init__(self, nbytes: int) -> None:
        self._copiers = min(workers(), MAX_COPIERS, nbytes // CHUNK_BYTES)
        self._under_way: deque[tuple[Job, Callable[[], object], Callable[[], object]]] = deque()

    def __enter__(self) -> _Copying:
        return self

    def add(self, target: numpy.ndarray, source: numpy.ndarray, then: Callable[[], object] = lambda: None) -> None:
        """Copy a piece, later; `then` is called in this thread after the copy."""
        copy = partial(numpy.copyto, target, source)
        if self._copiers < 2:
            copy()
            then()
            return
        job = Job(copy)
        self._under_way.append((job, copy, then))
        job.start()
        if len(self._under_way) > self._copiers:
            self._end_first()

    def _end_first(self) -> None:
        job, copy, then = self._under_way[0]
        if not job.cancel_or_wait():  # no helper was free
            copy()
        if job.error is not None:
            raise job.error
        self._under_way.popleft()
        then()

    def __exit__(self, error: object, *_: object) -> None:
        try:
            while error is None and self._under_way:
                self._end_first()
        finally:
            wait_for_all([job for job, _, _ in self._under_way])  # none, but after an exception


class _Chunk:
    """A piece of pinned memory, and the event that the GPU records when its copy is done."""

    __slots__ = ("event", "host", "ptr")

    def __init__(self, device: Device) -> None:
        self.host = pinned(CHUNK_BYTES, device)
        self.ptr = address(self.host)
        self.event = new_event(device)


class _Stage:
    """The pinned chunks of one GPU. It has no lock, as `memory_pool.Pool` has none."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.cuda = driver()
        self.free: list[_Chunk] = []
        self.busy: deque[_Chunk] = deque()  # read by copies to the device, about in the order of these
        self.made: list[None] = []  # an entry for each chunk

    def take_chunk(self) -> _Chunk:
        """Return a chunk that no copy uses; if all are in use, wait for the oldest copy.

        It is the one that was free last, which the processor's caches may have: copies to chunks in turn would take the
        time of those to memory.
        """
        with suppress(IndexError):  # there is none, or another thread was quicker
            while True:
                chunk = self.busy.popleft()
                if self.cuda.cuEventQuery(chunk.event)[0]:  # the copy still runs
                    self.busy.appendleft(chunk)
                    break
                self.free.append(chunk)
        with suppress(IndexError):
            return self.free.pop()
        with suppress(IndexError):
            if len(self.made) >= MAX_CHUNKS:
                chunk = self.busy.popleft()
                check(self.cuda.cuEventSynchronize(chunk.event))
                return chunk
        chunk = _Chunk(self.device)
        self.made.append(None)
        return chunk

    def upload(self, ptr: int, source: numpy.ndarray) -> None:
        """Queue a copy of the elements of a pageable array, in C order, to an address of the device."""
        with _Copying(source.nbytes) as copying:
            for piece in _pieces(source):
                chunk = self.take_chunk()
                copying.add(_window(chunk.host, 0, piece), piece, partial(self._send, chunk, ptr, piece.nbytes))
                ptr += piece.nbytes

    def _send(self, chunk: _Chunk, ptr: int, nbytes: int) -> None:
        """Queue the copy of a chunk that is filled."""
        stream = self.device.stream
        _queue_copy(self.device, self.cuda.cuMemcpyHtoDAsync, ptr, chunk.ptr, nbytes, stream)
        check(self.cuda.cuEventRecord(chunk.event, stream))
        self.busy.append(chunk)

    def download(self, target: numpy.ndarray, ptr: int) -> None:
        """Copy bytes from an address of the device to pageable memory."""
        refuse_capture(self.device, "a copy to the host")
        stream = self.device.stream
        in_flight: deque[tuple[_Chunk, numpy.ndarray]] = deque()
        try:
            with _Copying(target.nbytes) as copying:
                for start in range(0, target.size, CHUNK_BYTES):
                    if len(in_flight) == CHUNKS_IN_FLIGHT:
                        self._finish_chunk(in_flight, copying)
                    piece = target[start : start + CHUNK_BYTES]
                    chunk = self.take_chunk()
                    _queue_copy(self.device, self.cuda.cuMemcpyDtoHAsync, chunk.ptr, ptr + start, piece.size, stream)
                    check(self.cuda.cuEventRecord(chunk.event, stream))
                    in_flight.append((chunk, piece))
                while in_flight:
                    self._finish_chunk(in_flight, copying)
        finally:
            self.busy.extend([chunk for chunk, _ in in_flight])  # none, but after an exception

    def _finish_chunk(self, in_flight: deque[tuple[_Chunk, numpy.ndarray]], copying: _Copying) -> None:
        """Wait for the first chunk of a download, and have its bytes copied to their place."""
        chunk, piece = in_flight[0]
        check(self.cuda.cuEventSynchronize(chunk.event))
        in_flight.popleft()
        copying.add(piece, chunk.host[: piece.size], partial(self.free.append, chunk))


def _pieces(source: numpy.ndarray) -> Iterator[numpy.ndarray]:
    """Yield an array in pieces of at most the bytes of a chunk, in C order."""
    if source.nbytes <= CHUNK_BYTES:
        yield source
        return
    row = source.nbytes // len(source)
    if row > CHUNK_BYTES:
        for part in source:
            yield from _pieces(part)
        return
    step = CHUNK_BYTES // row
    for start in range(0, len(source), step):
        yield source[start : start + step]


def _window(memory: numpy.ndarray, start: int, piece: numpy.ndarray) -> numpy.ndarray:
    """Return bytes of memory, from `start` on, as an array like another one, in C order."""
    return memory[start : start + piece.nbytes].view(piece.dtype).reshape(piece.shape)


def copy_on_host(target: numpy.ndarray, source: numpy.ndarray) -> None:
    """Copy the elements of an array, in C order, to bytes of the host."""
    if source.nbytes < 2 * CHUNK_BYTES or not source.flags.c_contiguous:
        _window(target, 0, source)[...] = source
        return
    start = 0
    with _Copying(source.nbytes) as copying:
        for piece in _pieces(source):
            copying.add(_window(target, start, piece), piece)
            start += piece.nbytes


def copied(source: numpy.ndarray) -> numpy.ndarray:
    """Return a copy of an array, in C order."""
    if source.nbytes < 2 * CHUNK_BYTES or not source.flags.c_contiguous:
        return source.copy(order="C")
    result = numpy.empty(source.shape, source.dtype)
    copy_on_host(result.reshape(-1).view(numpy.uint8), source)
    return result


def _queue_copy(device: Device, call: Callable[..., tuple[Any, ...]], *args: Any) -> None:
    """Queue a copy by a function of the driver, which may take memory of its own for it."""
    attempted(device, "no room for a copy", call, *args)


_stages: dict[Device, _Stage] = {}


def _stage(device: Device) -> _Stage:
    """Activate a GPU and return its chunks."""
    device.activate()
    stage = _stages.get(device)
    if stage is None:
        stage = _stages.setdefault(device, _Stage(device))
    return stage


def copy_from_host(buffer: Buffer, offset: int, source: numpy.ndarray, borrow: bool = False) -> None:
    """Copy the bytes of an array, in C order, into a buffer.

    Parameters
    ----------
    buffer : Buffer
        The target.
    offset : int
        The first byte of the buffer to write.
    source : numpy.ndarray
        The source. It may be changed as soon as this returns, unless `borrow` is set.
    borrow : bool
        Whether the GPU reads `source` directly, when the queue reaches the copy: the fast way for pinned memory. The
        caller keeps `source` alive and unchanged until the device has been synchronised. (Of up to 64 KiB of pageable
        memory the driver takes the bytes with the call.)
    """
    if not source.size:
        return
    if buffer.host is not None:
        copy_on_host(buffer.host[offset : offset + source.nbytes], source)
        return
    if borrow or source.flags.c_contiguous or source.nbytes <= _INLINE_BYTES:
        source = numpy.ascontiguousarray(source).reshape(-1).view(numpy.uint8)
    if buffer.device.capture is not None:
        _capture_copy(buffer, offset, source)
        return
    stage = _stage(buffer.device)
    with staying(buffer), observed("copy", "to", buffer.device, nbytes=source.nbytes):
        if borrow or (source.nbytes <= _INLINE_BYTES and not is_page_locked(source, buffer.device)):
            target, stream = buffer.ptr + offset, buffer.device.stream
            _queue_copy(buffer.device, stage.cuda.cuMemcpyHtoDAsync, target, address(source), source.nbytes, stream)
        else:
            stage.upload(buffer.ptr + offset, source)


def _capture_copy(buffer: Buffer, offset: int, source: numpy.ndarray) -> None:
    """Have a CUDA graph copy the bytes that a source has now, whenever it is launched."""
    device = buffer.device
    refuse_capture(device, "a copy to the device", is_work=True)
    if device.capture is None:  # the capture was over
        copy_from_host(buffer, offset, source)
        return
    content = numpy.array(source, order="C")
    device.capture.keep([content, buffer])
    copy = driver().cuMemcpyHtoDAsync, buffer.ptr + offset, address(content), content.nbytes, device.stream
    _queue_copy(device, *copy)


def fill_new(buffer: Buffer, source: numpy.ndarray, borrow: bool = False) -> None:
    """Copy the bytes of an array, in C order, to a buffer that no work uses yet; at once, if a CUDA graph is captured.

    The parameters are those of `copy_from_host`.
    """
    refuse_capture(buffer.device, "a copy to the device", is_work=True)
    capture = buffer.device.capture
    if capture is None or not source.size:
        copy_from_host(buffer, 0, source, borrow)
        return
    content = numpy.ascontiguousarray(source)
    check(capture.at_once(driver().cuMemcpyHtoDAsync, buffer.ptr, address(content), content.nbytes))


def move_to_host(target: numpy.ndarray, buffer: Buffer, is_pinned: bool) -> None:
    """Copy all bytes of a buffer to memory of the host, once everything queued before has run.

    Parameters
    ----------
    is_pinned : bool
        Whether the target is page-locked, so that the GPU writes it directly.
    """
    device = buffer.device
    if (written := buffer.awaited()) is not None:
        target[:] = written
    elif buffer.host is not None:
        copy_on_host(target, buffer.host[: buffer.nbytes])
    elif is_pinned:
        refuse_capture(device, "a copy to the host")
        cuda = _stage(device).cuda
        _queue_copy(device, cuda.cuMemcpyDtoHAsync, address(target), buffer.ptr, buffer.nbytes, device.stream)
        check(cuda.cuStreamSynchronize(device.stream))
    else:
        _stage(device).download(target, buffer.ptr)


def copy_to_host(buffer: Buffer, offset: int, nbytes: int) -> numpy.ndarray:
    """Return bytes of a buffer as a new array, once everything queued before has run.

    Parameters
    ----------
    buffer : Buffer
        The source.
    offset, nbytes : int
        The first byte and the number of bytes.

    Returns
    -------
    numpy.ndarray
        The bytes, of dtype uint8.
    """
    target = host_bytes(nbytes)
    if (written := buffer.awaited(offset, offset + nbytes)) is not None:
        target[:] = written
    elif buffer.host is not None:
        copy_on_host(target, buffer.host[offset : offset + nbytes])
    elif nbytes:
        with staying(buffer), observed("copy", "from", buffer.device, nbytes=nbytes):
            _stage(buffer.device).download(target, buffer.ptr + offset)
    return target


def copy(target: Buffer, target_offset: int, source: Buffer, source_offset: int, nbytes: int) -> None:
    """Copy bytes between buffers of any devices, in the order of both devices' queues.

    Parameters
    ----------
    target, source : Buffer
        The target and the source; the ranges must not overlap.
    target_offset, source_offset, nbytes : int
        The first byte of each, and the number of bytes.
    """
    if not nbytes:
        return
    with staying(target, source), unnoted(target, source):
        _copy(target, target_offset, source, source_offset, nbytes)


def _copy(target: Buffer, target_offset: int, source: Buffer, source_offset: int, nbytes: int) -> None:
    if source.host is not None:
        copy_from_host(target, target_offset, source.host[source_offset : source_offset + nbytes])
    elif target.host is not None:
        window = target.host[target_offset : target_offset + nbytes]
        _stage(source.device).download(window, source.ptr + source_offset)
    elif source.device is target.device:
        device, call = source.device, _stage(source.device).cuda.cuMemcpyDtoDAsync
        _queue_copy(device, call, target.ptr + target_offset, source.ptr + source_offset, nbytes, device.stream)
    else:
        _copy_between_gpus(target, target.ptr + target_offset, source, source.ptr + source_offset, nbytes)


def _copy_between_gpus(target: Buffer, target_ptr: int, source: Buffer, source_ptr: int, nbytes: int) -> None:
    """Copy between two GPUs on the stream of the target, after present work of the source and before its later work."""
    target_device, source_device = target.device, source.device
    for device in (target_device, source_device):
        refuse_capture(device, "a copy between two GPUs")
    wait_for_device(target_device, source_device)
    target_device.activate()
    places = target_ptr, target_device.context, source_ptr, source_device.context
    with observed("copy", "to", target_device, "of", source_device, nbytes=nbytes):
        _queue_copy(target_device, driver().cuMemcpyPeerAsync, *places, nbytes, target_device.stream)
    wait_for_device(source_device, target_device)


def wait_for_device(waiting_device: Device, working_device: Device) -> None:
    """Make later work of one GPU wait for the work that is queued on another GPU."""
    cuda = driver()
    event = new_event(working_device)
    check(cuda.cuEventRecord(event, working_device.stream))
    waiting_device.activate()
    check(cuda.cuStreamWaitEvent(waiting_device.stream, event, 0))
    check(cuda.cuEventDestroy(event))  # the driver keeps the event until the wait is over
