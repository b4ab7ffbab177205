"""The times of kernels and library calls, as an observer of flushes measures them: by clock, or by events of a GPU."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from ..schedule.steps import RunKernel, RunLibraryCall, Step
from ..schedule.traffic import traffic
from .device import CPU, Device, check, driver
from .explain import step_name
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

    Attributes
    ----------
    graphed : int
        The number of runs of kernels that are parts of CUDA graphs where nothing is timed.
    """

    def __init__(
        self,
        place: Callable[[], str] = str,
        mark: Callable[[str], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        self._place, self._mark = place, mark
        self._records: dict[tuple[str, Device, str], Record] = {}
        self._unread: list[tuple[Record, Any, Any]] = []
        self.graphed = 0

    def __call__(self, step: Step, work: Work) -> None:
        """Run the work of a step and record it."""
        assert isinstance(step, (RunKernel, RunLibraryCall))
        name = step_name(step)
        with self._mark(name):
            if work.device is CPU:
                start = perf_counter()
                work()
                seconds, events = perf_counter() - start, None
            else:
                first = record_event(work.device)
                work()
                seconds, events = 0.0, (first, record_event(work.device))
        if work.was_interpreted:
            name += " (interpreted)"
        key = name, work.device, self._place()
        record = self._records.setdefault(key, Record(*key))
        record.seconds += seconds
        if events:
            self._unread.append((record, *events))
        record.count += 1
        self.graphed += work.plan.is_cuda_graph
        moved = traffic(step, *work.plan.scheduled)
        record.nbytes += moved.read + moved.written
        if len(self._unread) > _MAX_UNREAD_EVENTS:
            self._read_events()

    def records(self) -> list[Record]:
        """Wait for the GPUs, and return what was recorded, the slowest first."""
        self._read_events()
        return sorted(self._records.values(), key=lambda record: -record.seconds)

    def _read_events(self) -> None:
        """Wait for the GPUs, and add the times between their events to the records."""
        unread, self._unread = self._unread, []
        for record, first, last in unread:
            record.seconds += seconds_between(first, last)


def record_event(device: Device) -> Any:
    """Return a new event, recorded on the stream of a device."""
    cuda = driver()
    device.activate()
    event = check(cuda.cuEventCreate(cuda.CUevent_flags.CU_EVENT_DEFAULT.value))
    check(cuda.cuEventRecord(event, device.stream))
    return event


def seconds_between(first: Any, last: Any) -> float:
    """Return the seconds between two events, and destroy the events."""
    cuda = driver()
    check(cuda.cuEventSynchronize(last))
    milliseconds = check(cuda.cuEventElapsedTime(first, last))
    check(cuda.cuEventDestroy(first))
    check(cuda.cuEventDestroy(last))
    return float(milliseconds) / 1e3
