"""Capture: the work of a GPU goes to a CUDA graph instead of running, until the capture ends.

A program captures by `gpunumpy.graph`, or has another library capture a stream that the device is ordered with. What is
launched meanwhile is part of the graph, and so are its addresses. So the memory that it allocates is the graph's for
good, and the memory that it reads is kept. The host can neither wait for the work nor look at its values.

One thread captures, and holds the lock of the queue: others wait before they queue work.
"""

from __future__ import annotations

import gc
from _thread import get_ident
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from .. import _native
from .._native import compiled
from ..errors import DeviceError
from ..graph.queue import Queue
from . import memory
from .device import Device, check, driver
from .memory import Buffer
from .memory_pool import Reserved

_WHAT_CAN = (
    "kernels and library calls over arrays of one device can be captured, but nothing that needs a value on the host "
    "(print, float, bool, get, an index by a mask) and no wait; do it before, or after the graph has been launched"
)
# Devices that capture, and those of a capture that another library has not ended yet.
_capturing: set[Device] = set()


class HasPassed(Protocol):
    """A place in queued work."""

    def has_happened(self) -> bool:
        """Return whether the work is over."""


class Capture:
    """What one CUDA graph is made of: the memory that is its own, and what it reads.

    Attributes
    ----------
    reserved : Reserved
        Its memory.
    residence : str
        Where small arrays were before: while a graph is captured, they are on the device.
    failure : DeviceError or None
        Why there will be no graph.
    kept : list
        What is alive as long as the graph: buffers that it reads, kernels, and memory of the host.
    """

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.device: Device = queue.device
        self.reserved = Reserved()
        self.kept: list[Any] = []
        self.residence = "auto"
        self._kept_ids: set[int] = set()
        self._fixed: list[Buffer] = []
        self._thread = get_ident()
        self._is_open = self._has_lock = False
        self.failure: DeviceError | None = None
        self._mode: Any = None
        self._beside: Any = None

    # --- from the beginning to the end ---

    def prepare(self) -> None:
        """Lock the queue of the device, and have the driver let this thread make memory and wait for other streams."""
        cuda = driver()
        self.queue.lock.acquire()
        self._has_lock = True
        self._thread = get_ident()
        self.device.activate()
        self._mode = exchanged_mode(cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
        self._beside = check(cuda.cuStreamCreate(cuda.CUstream_flags.CU_STREAM_NON_BLOCKING.value))

    def open(self) -> None:
        """Have what is launched from now on be of the graph: the stream of the device begins to capture after this.

        In the other order a finalizer in between would ask the stream whether it is done, which ends the capture.
        """
        for buffer in all_buffers():
            if getattr(buffer, "device", None) is self.device and not buffer.exported:
                buffer.exported = True  # no write gives an array that was there before another address
                self._fixed.append(buffer)
        memory.reserve(self.device, self.reserved)
        self.device.capture = self
        self._is_open = True
        _capturing.add(self.device)
        _native.tell(capturing=True)

    def close(self) -> None:
        """End what `prepare` and `open` have begun; the stream may capture on, for another library."""
        if self._is_open:
            self._is_open = False
            memory.end_reserving(self.device)
            lists = {id(free_list) for free_list in self.reserved.lists_by_class.values()}
            for buffer in all_buffers():
                if id(getattr(buffer, "_free_list", None)) in lists:
                    buffer.exported = True  # what the program keeps of it, every launch writes
            for buffer in self._fixed:
                if id(buffer) not in self._kept_ids:
                    buffer.exported = False
            self._fixed.clear()
        if self._beside is not None:
            check(driver().cuStreamDestroy(self._beside))
            self._beside = None
        if self._mode is not None:
            exchanged_mode(self._mode)
            self._mode = None
        if self._has_lock:
            self._has_lock = False
            self.queue.lock.release()

    def end(self) -> None:
        """Have the device work as before: its stream captures no more."""
        self.device.capture = None
        _capturing.discard(self.device)
        _native.tell(capturing=bool(_capturing))

    def is_captured(self) -> bool:
        """Return whether the stream of the device still captures."""
        status = check(driver().cuStreamIsCapturing(self.device.stream))
        return bool(status != driver().CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE)

    # --- what work asks ---

    def at_once(self, call: Callable[..., tuple[Any, ...]], *args: Any) -> tuple[Any, ...]:
        """Do now what memory takes to be made or to be filled, on a stream that captures nothing, and wait for it.

        Return what the driver says to the call. This thread may be a helper of the one that captures.
        """
        cuda = driver()
        self.device.activate()
        mode = exchanged_mode(cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
        try:
            said = call(*args, self._beside)
            check(cuda.cuStreamSynchronize(self._beside))
        finally:
            exchanged_mode(mode)
        return said

    def keep(self, values: Iterable[Any]) -> None:
        """Keep buffers, or memory of the host, as long as the graph."""
        for value in values:
            if id(value) not in self._kept_ids:
                self._kept_ids.add(id(value))
                self.kept.append(value)

    @contextmanager
    def running(self, used: Sequence[Any], calls: Iterator[str]) -> Iterator[None]:
        """Return a context in which a plan runs that uses buffers and kernels, and has library calls of these names."""
        self.refuse("work on arrays outside of the block", is_work=True)
        if self.failure is not None:
            raise self.failure
        self.keep(used)
        try:
            yield
        except Exception as error:
            if check(driver().cuStreamIsCapturing(self.device.stream)) == _invalidated():
                named = ", ".join(dict.fromkeys(calls)) or "a kernel"
                self.failure = DeviceError(f"{named} cannot be captured in a CUDA graph: {error}")
                raise self.failure from error
            raise

    def refuse(self, doing: str, *, is_work: bool = False) -> None:
        """Raise `DeviceError` for what cannot be captured, in the thread that captures; others wait for its end."""
        if get_ident() != self._thread:
            with self.queue.lock:
                pass
        elif self._is_open and not is_work:
            raise DeviceError(f"{doing} cannot be captured in a CUDA graph: {_WHAT_CAN}")
        if self._is_open or self.device.capture is not self:
            return
        if self.is_captured():
            raise DeviceError(
                f"{doing} cannot be captured in a CUDA graph: the stream of {self.device} is still captured, but the "
                "block of np.Stream.from_external that captures work of this package is over"
            )
        self.end()  # another library has ended the capture since

    def require_past(self, mark: HasPassed) -> None:
        """Raise `DeviceError` unless work outside of the graph is over, for which the graph cannot wait."""
        if not mark.has_happened():
            raise DeviceError(f"to wait for a copy cannot be captured in a CUDA graph: {_WHAT_CAN}")


def _invalidated() -> Any:
    return driver().CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_INVALIDATED


def exchanged_mode(mode: Any) -> Any:
    """Set which calls the driver refuses this thread while a stream captures, and return what was set before."""
    return check(driver().cuThreadExchangeStreamCaptureMode(mode))


@compiled
def all_buffers() -> list[Buffer]:
    """Return the buffers of all devices: Python's collector knows them."""
    return [x for x in gc.get_objects() if isinstance(x, Buffer)]
