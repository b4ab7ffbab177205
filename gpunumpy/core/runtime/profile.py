"""The profile of a program: its kernels and library calls, their time, bytes, and share of the device's bandwidth."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TextIO

from .._native import tell
from ..schedule.steps import RunKernel, RunLibraryCall, Step
from ..schedule.traffic import traffic
from . import evaluate, memory, memory_copy
from .device import CPU, Device, check, default_device, driver, synchronize
from .explain import bytes_text, step_name
from .plan import Work

# The size of the copy that measures the bandwidth of a device: larger than the caches.
_COPY_BYTES = {"cpu": 1 << 26, "cuda": 1 << 28}
_COPY_COUNT = 5
# The functions on the host that are named below the table.
_MAX_SHOWN_CALLS = 12
# The number of GPU timings that are kept as events before the profile waits for the device and reads them.
_MAX_UNREAD_EVENTS = 2048


@dataclass(slots=True)
class Record:
    """A line of a profile: all runs of one kernel or library call."""

    name: str
    device: Device
    count: int = 0
    seconds: float = 0.0
    nbytes: int = 0


class profile:
    """Context manager that prints a table of what ran in the block: kernel, runs, time, bytes, share of bandwidth.

    Arrays of the default device that are pending before the block are computed first and not counted. Those that are
    pending at its end are computed and counted. The bandwidth of a device is that of a copy between two buffers, 64 MiB
    each on the CPU and 256 MiB on a GPU, which is measured once; it is unknown while the device lacks that memory.
    Below the table are the bytes of arrays of the default device that moved to the host for lack of room, and that came
    back; and the calls that are NumPy's, with small arrays on the host.
    What the interpreter ran on a GPU, as its kernel was not compiled yet, has a line of its own, with "(interpreted)".
    In the block each kernel is launched by itself, as it is timed. Those that are otherwise launched as parts of CUDA
    graphs, which takes less of the host's time, are counted below the table.

    Parameters
    ----------
    file : file object, optional
        The file to print to; standard output by default.
    nvtx : bool
        Whether to mark every kernel and call as an NVTX range, for Nsight. The package nvtx must be installed.

    Attributes
    ----------
    records : list of Record
        The lines of the table, the slowest first; complete when the block is left.
    host_calls : Counter
        How often each function was NumPy's, with small arrays on the host.
    """

    records: list[Record]
    host_calls: Counter[str]

    def __init__(self, *, file: TextIO | None = None, nvtx: bool = False) -> None:
        self._file = file
        self._nvtx = _import_nvtx() if nvtx else None
        self._records: dict[tuple[str, Device], Record] = {}
        self._unread: list[tuple[Record, Any, Any]] = []
        self._graphed = 0  # runs of kernels that CUDA graphs have
        self.records = []
        self.host_calls = Counter()
        self._moved_before = 0, 0
        self._slabs_before = 0

    def __enter__(self) -> profile:
        """Compute pending arrays, and start to observe."""
        evaluate.flush(evaluate.queue_of(default_device()))
        self._outer_observer = evaluate.observer
        self._outer_calls = evaluate.host_calls
        evaluate.observer, evaluate.host_calls = self._observe, self.host_calls
        tell(host_calls=self.host_calls)
        self._moved_before = memory.moved_bytes(default_device())
        self._slabs_before = memory.slabs_of(default_device())
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Compute pending arrays, stop to observe, and print the table."""
        try:
            if kind is None:
                evaluate.flush(evaluate.queue_of(default_device()))
        finally:
            evaluate.observer, evaluate.host_calls = self._outer_observer, self._outer_calls
            tell(host_calls=self._outer_calls)
            if self._outer_calls is not None:
                self._outer_calls.update(self.host_calls)
        counts = zip(memory.moved_bytes(default_device()), self._moved_before, strict=True)
        to_host, from_host = (now - before for now, before in counts)
        self._read_events()
        self.records = sorted(self._records.values(), key=lambda r: -r.seconds)
        print(self._table(), file=self._file or sys.stdout)
        if self._graphed:
            print(
                f"{self._graphed} runs are parts of CUDA graphs where nothing is timed", file=self._file or sys.stdout
            )
        if to_host or from_host:
            moved = f"{bytes_text(to_host)} to the host and {bytes_text(from_host)} back"
            print(f"moved for lack of room: {moved}", file=self._file or sys.stdout)
        if slabs := memory.slabs_of(default_device()) - self._slabs_before:
            print(f"computed for lack of room: {slabs:,} slabs", file=self._file or sys.stdout)
        if self.host_calls:
            shown = ", ".join(f"{name} {count}" for name, count in self.host_calls.most_common(_MAX_SHOWN_CALLS))
            others = ", ..." if len(self.host_calls) > _MAX_SHOWN_CALLS else ""
            print(
                f"{self.host_calls.total()} calls by NumPy on the host: {shown}{others}", file=self._file or sys.stdout
            )

    def _observe(self, step: Step, work: Work) -> None:
        """Run the work of a step and record it."""
        assert isinstance(step, (RunKernel, RunLibraryCall))
        name = step_name(step)
        with self._nvtx_range(name):
            if work.device is CPU:
                start = perf_counter()
                work()
                seconds, events = perf_counter() - start, None
            else:
                first = _record_event(work.device)
                work()
                seconds, events = 0.0, (first, _record_event(work.device))
        if work.was_interpreted:
            name += " (interpreted)"
        record = self._records.setdefault((name, work.device), Record(name, work.device))
        record.seconds += seconds
        if events:
            self._unread.append((record, *events))
        record.count += 1
        self._graphed += work.plan.is_cuda_graph
        moved = traffic(step, *work.plan.scheduled)
        record.nbytes += moved.read + moved.written
        if len(self._unread) > _MAX_UNREAD_EVENTS:
            self._read_events()

    def _nvtx_range(self, name: str) -> AbstractContextManager[Any]:
        return nullcontext() if self._nvtx is None else self._nvtx.annotate(name, domain="gpunumpy")

    def _read_events(self) -> None:
        """Wait for the GPUs, and add the times between their events to the records."""
        unread, self._unread = self._unread, []
        for record, first, last in unread:
            record.seconds += _seconds_between(first, last)

    def _table(self) -> str:
        rows = [("kernel or call", "device", "runs", "ms", "moved", "of bandwidth")]
        for r in self.records:
            rows.append((r.name, str(r.device), *_measured_cells(r.count, r.seconds, r.nbytes), _share_of_bandwidth(r)))
        count, nbytes = (sum(getattr(r, name) for r in self.records) for name in ("count", "nbytes"))
        rows.append(("all", "", *_measured_cells(count, sum(r.seconds for r in self.records), nbytes), ""))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(_table_line(row, widths) for row in rows)


def _share_of_bandwidth(record: Record) -> str:
    try:
        share = record.nbytes / record.seconds / bandwidth(record.device) if record.seconds else 0.0
    except MemoryError:  # what the program holds leaves no room for the copy that measures the bandwidth
        return "unknown"
    return f"{share:.0%}"


def _measured_cells(count: int, seconds: float, nbytes: int) -> tuple[str, str, str]:
    return str(count), f"{seconds * 1e3:.3f}", bytes_text(nbytes)


def _table_line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = [c.ljust(w) if n < 2 else c.rjust(w) for n, (c, w) in enumerate(zip(row, widths, strict=True))]
    return "  ".join(cells).rstrip()


def _import_nvtx() -> Any:
    try:
        return importlib.import_module("nvtx")
    except ImportError:
        raise ImportError("profile(nvtx=True) needs the package nvtx: pip install nvtx") from None


# Time and bandwidth of a GPU


def _record_event(device: Device) -> Any:
    """Return a new event, recorded on the stream of a device."""
    cuda = driver()
    device.activate()
    event = check(cuda.cuEventCreate(cuda.CUevent_flags.CU_EVENT_DEFAULT.value))
    check(cuda.cuEventRecord(event, device.stream))
    return event


def _seconds_between(first: Any, last: Any) -> float:
    """Return the seconds between two events, and destroy the events."""
    cuda = driver()
    check(cuda.cuEventSynchronize(last))
    milliseconds = check(cuda.cuEventElapsedTime(first, last))
    check(cuda.cuEventDestroy(first))
    check(cuda.cuEventDestroy(last))
    return float(milliseconds) / 1e3


_bandwidths: dict[Device, float] = {}


def bandwidth(device: Device) -> float:
    """Return the bytes per second that a copy in the memory of a device reads and writes, measured once.

    Raise MemoryError where the device lacks the memory of the copy.
    """
    found = _bandwidths.get(device)
    if found is None:
        nbytes = _COPY_BYTES[device.kind]
        source, target = memory.allocate(device, nbytes), memory.allocate(device, nbytes)
        memory_copy.copy(target, 0, source, 0, nbytes)
        synchronize(device)
        times = []
        for _ in range(_COPY_COUNT):
            if device is CPU:
                start = perf_counter()
                memory_copy.copy(target, 0, source, 0, nbytes)
                times.append(perf_counter() - start)
            else:
                first = _record_event(device)
                memory_copy.copy(target, 0, source, 0, nbytes)
                times.append(_seconds_between(first, _record_event(device)))
        found = _bandwidths[device] = 2 * nbytes / min(times)
    return found
