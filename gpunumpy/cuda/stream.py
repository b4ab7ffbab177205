"""`Stream` and `Event` under CuPy's names: the order of this package's work and of other work on CUDA streams.

All operations on arrays of a GPU run on the stream of its device, in the order in which they are recorded, and copies
that the host does not wait for run beside it, in the order that the data needs. A `Stream` is for what others queue,
kernels of one's own or other libraries, and for the host to wait for. As a context it orders: what is recorded and
copied in it comes after what is on the stream, and what is queued on the stream later comes after that. What others
queue on the stream in the block comes before later work of this package. Nothing waits on the host. On the CPU, where
work is done when it is computed, streams order nothing.
"""

from __future__ import annotations

import time
import weakref
from contextvars import ContextVar
from typing import Any, ClassVar, TypeVar

from ..arrays.stream_order import consumer_waits, device_number, stream_handle, wait_for, waits_for_copies
from ..core.errors import DeviceError
from ..core.runtime import evaluate
from ..core.runtime.async_copies import copies_begun
from ..core.runtime.capture import Capture
from ..core.runtime.device import Device, check, default_device, driver, is_lost, refuse_capture
from ..core.runtime.memory import new_event
from .capture import is_captured, join_capture, leave_capture, wait_in_capture

_T = TypeVar("_T")

# What of CuPy's streams is not here, with the reason.
_MISSING = {
    **dict.fromkeys(
        ("begin_capture", "end_capture", "is_capturing"),
        "gpunumpy.graph captures a function, and other libraries capture what is in the block of their stream",
    ),
    **dict.fromkeys(
        ("add_callback", "launch_host_func"), "call synchronize(), or record an Event and ask done, before the function"
    ),
}


class Stream:
    """A CUDA stream, with which work of this package can be ordered. See `cupy.cuda.Stream`.

    Parameters
    ----------
    null : bool
        Whether it is the stream of the device, on which operations on arrays run.
    non_blocking : bool
        Whether it does not wait for CUDA's legacy default stream, nor that for it.
    ptds : bool
        Must be False.
    priority : int, optional
        The priority as CUDA counts it: lower numbers are more urgent.

    Attributes
    ----------
    null : Stream
        The stream of the device that is the default when it is used.
    device : Device
        The device.
    ptr : int
        The handle; 0 on the CPU.

    Raises
    ------
    ValueError
        For per-thread default streams.
    """

    null: ClassVar[Stream]
    _capture: Capture | None = None  # of which the block is

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: int | None = None
    ) -> None:
        if ptds:
            raise ValueError("per-thread default streams are not supported; make a Stream() in each thread")
        device = default_device()
        self._device: Device | None = device
        self._handle = 0
        if not null and device.has_stream:
            cuda = driver()
            device.activate()
            flags = cuda.CUstream_flags
            flag = (flags.CU_STREAM_NON_BLOCKING if non_blocking else flags.CU_STREAM_DEFAULT).value
            self._handle = int(check(cuda.cuStreamCreateWithPriority(flag, priority or 0)))
            weakref.finalize(self, _destroy_stream, device, self._handle).atexit = False

    def __getattr__(self, name: str) -> Any:
        """Tell why something of CuPy's streams is not here."""
        reason = f": {_MISSING[name]}" if name in _MISSING else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{reason}")

    @classmethod
    def from_external(cls, stream: Any) -> ExternalStream:
        """Return a stream of another library, such as the current one of torch or CuPy, as one of this package.

        Parameters
        ----------
        stream : object
            The stream: with ``__cuda_stream__``, of CuPy or of torch. It is kept alive.

        Raises
        ------
        DeviceError
            Without a GPU.
        TypeError
            If it is no stream.
        """
        number = device_number(stream)
        return ExternalStream(stream, -1 if number is None else number)

    @property
    def device(self) -> Device:
        """The device of the stream."""
        return default_device() if self._device is None else self._device

    @property
    def ptr(self) -> int:
        """The handle of the stream; 0 on the CPU."""
        return self._handle or (int(self.device.stream) if self.device.has_stream else 0)

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the version of the protocol of CUDA's Python packages, and the handle."""
        return 0, self.ptr

    def __eq__(self, other: object) -> bool:
        """Return whether both are one stream of CUDA."""
        return isinstance(other, Stream) and (self.device, self.ptr) == (other.device, other.ptr)

    def __hash__(self) -> int:
        """Return the hash of the handle."""
        return hash(self.ptr)

    def __repr__(self) -> str:
        """Return the handle, and the device."""
        return f"<{type(self).__name__} {self.ptr} ({self.device})>"

    @property
    def done(self) -> bool:
        """Whether all work on the stream is done."""
        self._queue_what_is_recorded()
        copies = None if self._handle else copies_begun(self.device)
        if copies is not None and not copies.are_over():
            return False
        return not self.ptr or _has_happened(driver().cuStreamQuery(driver().CUstream(self.ptr)))

    def synchronize(self) -> None:
        """Wait until all work on the stream is done, also what was recorded while it was current."""
        if not self._handle or _is_current(self):
            evaluate.synchronize(self.device)
        if self._handle:
            refuse_capture(self.device, "to wait for a stream")
            self._queue_what_is_recorded()
            check(driver().cuStreamSynchronize(driver().CUstream(self._handle)))
            evaluate.check_errors(evaluate.queue_of(self.device))

    def record(self, event: Event | None = None) -> Event:
        """Return an event that happens when all work that is on the stream now is done.

        Parameters
        ----------
        event : Event, optional
            The event. By default a new one.
        """
        if event is None:
            with self.device:
                event = Event()
        _checked(event, Event).record(self)
        return event

    def wait(self, other: Event | Stream) -> None:
        """Have what comes to the stream later wait for an event, or for all work that is on another stream now.

        Parameters
        ----------
        other : Event or Stream
            An event, which has been recorded, or a stream.

        Raises
        ------
        TypeError
            If it is something else.
        """
        if not isinstance(other, (Event, Stream)):
            raise TypeError(f"a stream waits for an Event or a Stream, not {type(other).__name__!r}")
        if isinstance(other, Stream):
            with other.device:
                event = Event(disable_timing=True)
            other = other.record(event)
        self.wait_event(other)

    def wait_event(self, event: Event) -> None:
        """Have what comes to the stream later wait until an event has happened.

        Parameters
        ----------
        event : Event
            The event, which has been recorded.

        Raises
        ------
        TypeError
            If it is something else.
        """
        _checked(event, Event)
        if not self.device.has_stream:
            return
        self._queue_what_is_recorded()
        cuda = driver()
        handles = {self.ptr}
        if not self._handle or _is_current(self):
            handles.add(int(self.device.stream))
            if (copies := copies_begun(self.device)) is not None:
                copies.wait_for(event)
        for handle in handles:
            event.precede(cuda.CUstream(handle))

    def use(self) -> Stream:
        """Make the stream the current one of this thread until another one is."""
        streams = _streams.get()
        if streams:
            streams[-1]._leave()
        self._join()
        _streams.set((*streams[:-1], self))
        return self

    def __enter__(self) -> Stream:
        """Make the stream the current one of this thread."""
        self._join()
        _streams.set((*_streams.get(), self))
        return self

    def __exit__(self, *exception: object) -> None:
        """Have the stream before be the current one, and the work of the block be before what comes to this one."""
        current = _streams.get()[-1]
        current._leave()
        _streams.set(_streams.get()[:-1])

    def _join(self) -> None:
        """Have the device wait for the stream; if that captures, the work of the device is of its graph."""
        if not self._handle:
            return
        self._capture = join_capture(self.device, self._handle) if is_captured(self._handle) else None
        if self._capture is None:
            refuse_capture(self.device, "a block of a stream that is not captured")
            wait_for(self.device, self._handle)

    def _leave(self) -> None:
        """Have the stream wait for the device, and for what is recorded."""
        if self._capture is not None:
            capture, self._capture = self._capture, None
            leave_capture(capture, self._handle)
        elif self._handle:
            evaluate.compute_pending(evaluate.queue_of(self.device))
            wait_for(self.device, self._handle)  # for what others have queued in the block
            consumer_waits(self.device, self._handle)
            waits_for_copies(self.device, self._handle)

    def _queue_what_is_recorded(self) -> None:
        """Have the operations that were recorded so far be on this stream, if they are to be on it."""
        device = self.device
        if device.has_stream:
            device.activate()
        if not self._handle:
            evaluate.compute_pending(evaluate.queue_of(device))
        elif _is_current(self):
            if self._capture is None:
                self._leave()
            else:
                evaluate.compute_pending(evaluate.queue_of(device))
                wait_in_capture(device, device.stream, driver().CUstream(self._handle))


def _stream_of_default_device() -> Stream:
    stream = Stream.__new__(Stream)
    stream._device, stream._handle = None, 0
    return stream


Stream.null = _stream_of_default_device()
# The current streams of a thread, of the blocks that it is in.
_streams: ContextVar[tuple[Stream, ...]] = ContextVar("gpunumpy_streams", default=())


class ExternalStream(Stream):
    """A stream of another library. See `cupy.cuda.ExternalStream`.

    Parameters
    ----------
    ptr : int or stream
        The handle, or an object with ``__cuda_stream__``, which is kept alive. A handle must live as long as this.
    device_id : int
        The number of its GPU. By default that of the default device.

    Raises
    ------
    DeviceError
        On the CPU.
    ValueError
        If the stream says that it is of another GPU.
    """

    def __init__(self, ptr: Any, device_id: int = -1) -> None:
        self._device = default_device() if device_id < 0 else Device(device_id)
        if not self._device.has_stream:
            raise DeviceError("there are no CUDA streams on the CPU")
        self._handle = stream_handle(ptr, self._device)
        self._owner = ptr


def _is_current(stream: Stream) -> bool:
    streams = _streams.get()
    return bool(streams) and streams[-1] is stream


def get_current_stream(device_id: int = -1) -> Stream:
    """Return the current stream of this thread.

    Parameters
    ----------
    device_id : int
        Accepted: the stream of a device that has no other one is `Stream.null`.
    """
    streams = _streams.get()
    return streams[-1] if streams else Stream.null


class Event:
    """A point in the work on a stream. See `cupy.cuda.Event`.

    Parameters
    ----------
    block : bool
        Whether `synchronize` lets other threads have the processor.
    disable_timing : bool
        Whether the event takes no time.
    interprocess : bool
        Must be False.

    Attributes
    ----------
    ptr : int
        The handle; 0 on the CPU.

    Raises
    ------
    ValueError
        For events of several processes.
    """

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        if interprocess:
            raise ValueError("events of several processes are not supported")
        self.device = device = default_device()
        self.has_time = not disable_timing
        self.seconds: float | None = None  # when it was recorded on the CPU
        self.is_recorded = False
        self.ptr = 0
        if device.has_stream:
            flags = driver().CUevent_flags
            flag = flags.CU_EVENT_BLOCKING_SYNC.value * block + flags.CU_EVENT_DISABLE_TIMING.value * disable_timing
            self.ptr = int(new_event(device, flag))
            weakref.finalize(self, _destroy_event, device, self.ptr).atexit = False

    def record(self, stream: Stream | None = None) -> None:
        """Have the event happen when all work that is on a stream now is done, also what is recorded on it.

        Parameters
        ----------
        stream : Stream, optional
            The stream. By default the current one.

        Raises
        ------
        TypeError
            If it is no stream of this package: `Stream.from_external` makes one of others.
        ValueError
            If the stream is of another device.
        """
        stream = get_current_stream() if stream is None else _checked(stream, Stream)
        if stream.device is not self.device:
            raise ValueError(f"an event of {self.device} is recorded on a stream of {stream.device}")
        stream._queue_what_is_recorded()
        if self.ptr:
            cuda = driver()
            copies = None if stream._handle else copies_begun(self.device)
            on = cuda.CUstream(stream.ptr) if copies is None or copies.are_over() else copies.joined_stream()
            check(cuda.cuEventRecord(cuda.CUevent(self.ptr), on))
        else:
            self.seconds = time.perf_counter()
        self.is_recorded = True

    @property
    def done(self) -> bool:
        """Whether the event has happened, or was never recorded."""
        if not self.ptr:
            return True
        self.device.activate()
        return _has_happened(driver().cuEventQuery(driver().CUevent(self.ptr)))

    def precede(self, stream: Any) -> None:
        """Have later work on a stream, of the driver's class, wait until the event has happened."""
        if self.ptr:
            check(driver().cuStreamWaitEvent(stream, driver().CUevent(self.ptr), 0))

    def synchronize(self) -> None:
        """Wait until the event has happened."""
        if self.ptr:
            refuse_capture(self.device, "to wait for an event")
            self.device.activate()
            check(driver().cuEventSynchronize(driver().CUevent(self.ptr)))


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Return the milliseconds between two events that have happened.

    Parameters
    ----------
    start_event, end_event : Event
        The events.

    Raises
    ------
    ValueError
        If one was not recorded or takes no time, or they are of two devices.
    TypeError
        If one is no event.
    """
    for event in (start_event, end_event):
        _checked(event, Event)
        if not event.is_recorded or not event.has_time:
            raise ValueError("an event " + ("was not recorded" if event.has_time else "has disable_timing"))
    if start_event.device is not end_event.device:
        raise ValueError(f"events are on two devices, {start_event.device} and {end_event.device}")
    if start_event.seconds is not None and end_event.seconds is not None:
        return 1e3 * (end_event.seconds - start_event.seconds)
    cuda = driver()
    start_event.device.activate()
    return float(check(cuda.cuEventElapsedTime(cuda.CUevent(start_event.ptr), cuda.CUevent(end_event.ptr))))


def _checked(thing: _T, kind: type) -> _T:
    """Return a thing. Raise TypeError if it is not of a class, `Stream` or `Event`."""
    if not isinstance(thing, kind):
        hint = "; Stream.from_external makes one of another library's stream" if kind is Stream else ""
        raise TypeError(f"{kind.__name__} of gpunumpy.cuda is needed, not {type(thing).__name__!r}{hint}")
    return thing


def _has_happened(answer: tuple[Any, ...]) -> bool:
    """Return whether the driver says so; any error but that something is not ready is raised."""
    if answer[0] and answer[0] == driver().CUresult.CUDA_ERROR_NOT_READY:
        return False
    check(answer)
    return True


def _destroy_stream(device: Device, handle: int) -> None:
    if not is_lost(device):
        driver().cuStreamDestroy(driver().CUstream(handle))


def _destroy_event(device: Device, handle: int) -> None:
    if not is_lost(device):
        driver().cuEventDestroy(driver().CUevent(handle))


__all__ = ["Event", "ExternalStream", "Stream", "get_current_stream", "get_elapsed_time"]
