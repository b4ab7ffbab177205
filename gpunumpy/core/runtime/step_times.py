"""The times of kernels and library calls, as an observer of flushes measures them: by clock, or by events of a GPU."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import Any

from ..late_dataclasses import dataclass
from ..pictures.timeline import Event, Timeline
from ..schedule.steps import RunKernel, RunLibraryCall, Step
from ..schedule.traffic import traffic
from ..source_location import source_location
from .device import CPU, Device, check, driver, synchronize
from .explain import step_name
from .memory import new_event
from .plan import Work

# The number of GPU timings that are kept as events before the host waits for the device and reads them.
_MAX_UNREAD_EVENTS = 2048


@dataclass(slots=True)
class Record:
    """All runs of one kernel or library call, for one place in the program if places are told apart."""

    name: str
    device: Device
    place: str = ""
    count: int = 0
    seconds: float = 0.0
    nbytes: int = 0


class StepTimes:
    """An observer of flushes (`evaluate.observer`).

    Parameters
    ----------
    place : callable, optional
        Returns the place in the program that a step belongs to.
    mark : callable, optional
        Returns a context manager to run a step of a name in.
    timeline : Timeline, optional
        Gets every run, with its beginning in seconds of `perf_counter` and the user's line.

    Attributes
    ----------
    graphed : int
        The number of runs of kernels that are parts of CUDA graphs where nothing is timed.
    """

    def __init__(
        self,
        place: Callable[[], str] = str,
        mark: Callable[[str], AbstractContextManager[Any]] = nullcontext,
        timeline: Timeline | None = None,
    ) -> None:
        self._place, self._mark, self._timeline = place, mark, timeline
        self._records: dict[tuple[str, Device, str], Record] = {}
        self._unread: list[tuple[Record, Event, Any, Any]] = []
        self._beginnings: dict[Device, tuple[float, Any]] = {}
        self.graphed = 0

    def __call__(self, step: Step, work: Work) -> None:
        """Run the work of a step and record it."""
        assert isinstance(step, (RunKernel, RunLibraryCall))
        name = step_name(step)
        device = work.device
        if self._timeline is not None and device is not CPU and device not in self._beginnings:
            synchronize(device)
            self._beginnings[device] = perf_counter(), record_event(device)
        with self._mark(name):
            if device is CPU:
                start = perf_counter()
                work()
                seconds, events = perf_counter() - start, None
            else:
                first = record_event(device)
                work()
                start, seconds, events = 0.0, 0.0, (first, record_event(device))
        if work.was_interpreted:
            name += " (interpreted)"
        key = name, device, self._place()
        record = self._records.setdefault(key, Record(*key))
        moved = traffic(step, *work.plan.scheduled)
        nbytes = moved.read + moved.written
        record.seconds += seconds
        record.count += 1
        record.nbytes += nbytes
        self.graphed += work.plan.is_cuda_graph
        kind = "kernel" if isinstance(step, RunKernel) else "call"
        line = "" if self._timeline is None else source_location()
        event = Event(kind, name, str(device), start, seconds, nbytes, line)
        if events:
            self._unread.append((record, event, *events))
        elif self._timeline is not None:
            self._timeline.add(event)
        if len(self._unread) > _MAX_UNREAD_EVENTS:
            self._read_events()

    def records(self) -> list[Record]:
        """Wait for the GPUs, and return what was recorded, the slowest first."""
        self._read_events()
        for _, beginning in self._beginnings.values():
            check(driver().cuEventDestroy(beginning))
        self._beginnings.clear()
        return sorted(self._records.values(), key=lambda record: -record.seconds)

    def _read_events(self) -> None:
        """Wait for the GPUs, and add the times between their events to the records."""
        unread, self._unread = self._unread, []
        for record, event, first, last in unread:
            start = 0.0
            if self._timeline is not None:
                clock, beginning = self._beginnings[record.device]
                start = clock + _elapsed_seconds(beginning, first)
            seconds = seconds_between(first, last)
            record.seconds += seconds
            if self._timeline is not None:
                self._timeline.add(event._replace(start=start, seconds=seconds))


def record_event(device: Device) -> Any:
    """Return a new event, recorded on the stream of a device."""
    cuda = driver()
    event = new_event(device, cuda.CUevent_flags.CU_EVENT_DEFAULT.value)
    check(cuda.cuEventRecord(event, device.stream))
    return event


def seconds_between(first: Any, last: Any) -> float:
    """Return the seconds between two events, and destroy the events."""
    seconds = _elapsed_seconds(first, last)
    for event in (first, last):
        check(driver().cuEventDestroy(event))
    return seconds


def _elapsed_seconds(first: Any, last: Any) -> float:
    """Wait for the second of two events, and return the seconds between them."""
    check(driver().cuEventSynchronize(last))
    return float(check(driver().cuEventElapsedTime(first, last))) / 1e3
