"""What ran: kernels and library calls, their time, their bytes, and their share of the device's bandwidth."""

from __future__ import annotations

import importlib
import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TextIO

from ..schedule.steps import RunKernel, RunLibraryCall, Step
from ..schedule.traffic import traffic
from . import evaluate, memory, memory_copy
from .device import CPU, Device, check, default_device, driver, synchronize
from .explain import bytes_in_words, name_of
from .plan import Work

# The copy that measures a device's bandwidth: larger than its caches.
_COPY = {"cpu": 1 << 26, "cuda": 1 << 28}
_COPIES = 5
# GPU timings that are kept as events before the device is waited for and they are read.
_UNREAD = 2048


@dataclass(slots=True)
class Record:
    """One line of a profile: all the runs of one kernel or library call."""

    name: str
    device: Device
    count: int = 0
    seconds: float = 0.0
    nbytes: int = 0


class profile:
    """A context that prints what ran inside: kernel, times run, time, bytes, share of the device's bandwidth.

    What is pending on the default device is computed first, so that it is not counted, and at the end, so that it is.

    Parameters
    ----------
    file : file object, optional
        Where to print; standard output by default.
    nvtx : bool
        Whether to mark every kernel and call as an NVTX range, for Nsight; it needs the package nvtx.

    Attributes
    ----------
    records : list of Record
        What is printed, the slowest first; complete when the block is left.
    """

    records: list[Record]

    def __init__(self, *, file: TextIO | None = None, nvtx: bool = False) -> None:
        self._file = file
        self._nvtx = _nvtx() if nvtx else None
        self._lock = threading.Lock()
        self._found: dict[tuple[str, Device], Record] = {}
        self._unread: list[tuple[Record, Any, Any]] = []
        self.records = []

    def __enter__(self) -> profile:
        evaluate.flush(evaluate.queue_of(default_device()))
        self._outer = evaluate.observer
        evaluate.observer = self._observe
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        try:
            if kind is None:
                evaluate.flush(evaluate.queue_of(default_device()))
        finally:
            evaluate.observer = self._outer
        self._read()
        self.records = sorted(self._found.values(), key=lambda r: -r.seconds)
        print(self._table(), file=self._file or sys.stdout)

    def _observe(self, step: Step, work: Work) -> None:
        assert isinstance(step, (RunKernel, RunLibraryCall))
        name = name_of(step)
        with self._lock:
            record = self._found.setdefault((name, work.device), Record(name, work.device))
        with self._range(name):
            if work.device is CPU:
                start = perf_counter()
                work()
                record.seconds += perf_counter() - start
            else:
                first = _event(work.device)
                work()
                self._unread.append((record, first, _event(work.device)))
        record.count += 1
        moved = traffic(step, work.plan.steps, work.plan.items)
        record.nbytes += moved.read + moved.written
        if len(self._unread) > _UNREAD:
            self._read()

    def _range(self, name: str) -> AbstractContextManager[Any]:
        return nullcontext() if self._nvtx is None else self._nvtx.annotate(name, domain="gpunumpy")

    def _read(self) -> None:
        """Wait for the GPUs, and add up what their events say."""
        unread, self._unread = self._unread, []
        for record, first, last in unread:
            record.seconds += _between(first, last)

    def _table(self) -> str:
        rows = [("kernel or call", "device", "runs", "ms", "moved", "of bandwidth")]
        for r in self.records:
            share = r.nbytes / r.seconds / bandwidth(r.device) if r.seconds else 0.0
            rows.append((r.name, str(r.device), *_measured(r.count, r.seconds, r.nbytes), f"{share:.0%}"))
        count, nbytes = (sum(getattr(r, name) for r in self.records) for name in ("count", "nbytes"))
        rows.append(("all", "", *_measured(count, sum(r.seconds for r in self.records), nbytes), ""))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(_line(row, widths) for row in rows)


def _measured(count: int, seconds: float, nbytes: int) -> tuple[str, str, str]:
    return str(count), f"{seconds * 1e3:.3f}", bytes_in_words(nbytes)


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = [c.ljust(w) if n < 2 else c.rjust(w) for n, (c, w) in enumerate(zip(row, widths, strict=True))]
    return "  ".join(cells).rstrip()


def _nvtx() -> Any:
    try:
        return importlib.import_module("nvtx")
    except ImportError:
        raise ImportError("profile(nvtx=True) needs the package nvtx: pip install nvtx") from None


# Time and bandwidth of a GPU


def _event(device: Device) -> Any:
    cuda = driver()
    device.activate()
    event = check(cuda.cuEventCreate(cuda.CUevent_flags.CU_EVENT_DEFAULT.value))
    check(cuda.cuEventRecord(event, device.stream))
    return event


def _between(first: Any, last: Any) -> float:
    """The seconds between two events, which are not needed any more."""
    cuda = driver()
    check(cuda.cuEventSynchronize(last))
    milliseconds = check(cuda.cuEventElapsedTime(first, last))
    check(cuda.cuEventDestroy(first))
    check(cuda.cuEventDestroy(last))
    return float(milliseconds) / 1e3


_bandwidths: dict[Device, float] = {}


def bandwidth(device: Device) -> float:
    """The bytes a second that a copy inside a device's memory reads and writes, measured at the first call."""
    found = _bandwidths.get(device)
    if found is None:
        nbytes = _COPY[device.kind]
        source, target = memory.allocate(device, nbytes), memory.allocate(device, nbytes)
        memory_copy.copy(target, 0, source, 0, nbytes)
        synchronize(device)
        times = []
        for _ in range(_COPIES):
            if device is CPU:
                start = perf_counter()
                memory_copy.copy(target, 0, source, 0, nbytes)
                times.append(perf_counter() - start)
            else:
                first = _event(device)
                memory_copy.copy(target, 0, source, 0, nbytes)
                times.append(_between(first, _event(device)))
        found = _bandwidths[device] = 2 * nbytes / min(times)
    return found
