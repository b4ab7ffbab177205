"""The profile of a program: its kernels and library calls, their time, bytes, and share of the device's bandwidth."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from functools import partial
from time import perf_counter
from typing import Any, TextIO

from .._native import tell
from . import evaluate, memory, memory_copy
from .device import CPU, Device, default_device, synchronize
from .explain import bytes_text
from .step_times import Record, StepTimes, record_event, seconds_between
from .table import aligned

# The size of the copy that measures the bandwidth of a device: larger than the caches.
_COPY_BYTES = {"cpu": 1 << 26, "cuda": 1 << 28}
_COPY_COUNT = 5
# The functions on the host that are named below the table.
_MAX_SHOWN_CALLS = 12


class profile:
    """Context manager that prints a table of what ran in the block: kernel, runs, time, bytes, share of bandwidth.

    Arrays of the default device that are pending before the block are computed first and not counted; a line below the
    table says how many they were. Those that are
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
        self._steps = StepTimes(mark=partial(_import_nvtx().annotate, domain="gpunumpy")) if nvtx else StepTimes()
        self.records = []
        self.host_calls = Counter()
        self._moved_before = 0, 0
        self._pending_before = 0
        self._slabs_before = 0

    def __enter__(self) -> profile:
        """Compute pending arrays, and start to observe."""
        queue = evaluate.queue_of(default_device())
        self._pending_before = len(evaluate.live_roots(queue)[0])
        evaluate.flush(queue)
        self._outer_observer = evaluate.observer
        self._outer_calls = evaluate.host_calls
        evaluate.observer, evaluate.host_calls = self._steps, self.host_calls
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
        self.records = self._steps.records()
        print(self._table(), file=self._file or sys.stdout)
        if count := self._pending_before:
            were = "array was" if count == 1 else "arrays were"
            text = f"{count} {were} pending before the block: computed first, and in no line above"
            print(text, file=self._file or sys.stdout)
        if graphed := self._steps.graphed:
            print(f"{graphed} runs are parts of CUDA graphs where nothing is timed", file=self._file or sys.stdout)
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

    def _table(self) -> str:
        rows = [("kernel or call", "device", "runs", "ms", "moved", "of bandwidth")]
        for r in self.records:
            rows.append((r.name, str(r.device), *_measured_cells(r.count, r.seconds, r.nbytes), _share_of_bandwidth(r)))
        count, nbytes = (sum(getattr(r, name) for r in self.records) for name in ("count", "nbytes"))
        rows.append(("all", "", *_measured_cells(count, sum(r.seconds for r in self.records), nbytes), ""))
        return aligned(rows, left=2)


def _share_of_bandwidth(record: Record) -> str:
    try:
        share = record.nbytes / record.seconds / bandwidth(record.device) if record.seconds else 0.0
    except MemoryError:  # what the program holds leaves no room for the copy that measures the bandwidth
        return "unknown"
    return f"{share:.0%}"


def _measured_cells(count: int, seconds: float, nbytes: int) -> tuple[str, str, str]:
    return str(count), f"{seconds * 1e3:.3f}", bytes_text(nbytes)


def _import_nvtx() -> Any:
    try:
        return importlib.import_module("nvtx")
    except ImportError:
        raise ImportError("profile(nvtx=True) needs the package nvtx: pip install nvtx") from None


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
                first = record_event(device)
                memory_copy.copy(target, 0, source, 0, nbytes)
                times.append(seconds_between(first, record_event(device)))
        found = _bandwidths[device] = 2 * nbytes / min(times)
    return found
