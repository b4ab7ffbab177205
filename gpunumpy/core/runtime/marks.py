"""Marks: places in the work that is queued for a GPU, which other streams and the host can wait for."""

from __future__ import annotations

from typing import Any, Protocol

from .device import Device, check, driver, is_of_parent

_free_events: dict[Device, list[Any]] = {}


class Place(Protocol):
    """A place in queued work that streams can be made to wait for: a mark, or an event of the program."""

    def precede(self, stream: Any) -> None:
        """Have what is queued on a stream from now on wait for the place."""


class Mark:
    """The end of what is queued on a stream now: an event, which goes back for other marks with the last reference."""

    __slots__ = ("_device", "_event", "_free")

    def __init__(self, device: Device, event: Any, free: list[Any]) -> None:
        self._device = device
        self._free = free
        self._event = event

    def __del__(self) -> None:
        """Give the event back: who waits for it has queued its wait."""
        try:
            self._free.append(self._event)
        except AttributeError:  # an exception ended `__init__`
            return

    def precede(self, stream: Any) -> None:
        """Have what is queued on a stream from now on wait for the mark."""
        self._device.activate()
        if self._device.capture is not None:  # what waits would be part of the graph, and the mark is not
            self._device.capture.require_past(self)
            return
        check(driver().cuStreamWaitEvent(stream, self._event, 0))

    def has_happened(self) -> bool:
        """Return whether all that was queued before the mark is over; in a forked child it is."""
        if is_of_parent(self._device):
            return True
        self._device.activate()
        return not driver().cuEventQuery(self._event)[0]

    def wait(self) -> None:
        """Wait for the mark. A forked child need not: its parent has waited before the fork."""
        if not is_of_parent(self._device):
            self._device.activate()
            check(driver().cuEventSynchronize(self._event))


def new_mark(device: Device, stream: Any) -> tuple[Any, Mark | None]:
    """Return the end of what is queued on a stream, behind the error of the driver, as its functions do."""
    cuda = driver()
    device.activate()
    free = _free_events.setdefault(device, [])
    try:
        event = free.pop()
    except IndexError:
        error, event = cuda.cuEventCreate(cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING.value)
        if error:
            return error, None
    mark = Mark(device, event, free)
    return cuda.cuEventRecord(event, stream)[0], mark


def event_or_wait(device: Device) -> Any:
    """Return a new event behind all that is queued for a GPU; where there is no room for one, wait, and return None.

    No room is made: this is for what makes room, and for finalizers, which may come in the middle of that.
    """
    cuda = driver()
    device.activate()
    error, event = cuda.cuEventCreate(cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING.value)
    if error:
        check(cuda.cuStreamSynchronize(device.stream))
        return None
    check(cuda.cuEventRecord(event, device.stream))
    return event
