"""The profile of a program: its kernels and library calls, their time, bytes, and share of the device's bandwidth."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from contextlib import nullcontext
from functools import partial
from os import PathLike
from time import perf_counter
from typing import Any, TextIO

from .._native import tell
from . import evaluate, host_work, memory, memory_copy
from .byte_sizes import bytes_text
from .device import CPU, Device, default_device, synchronize
from .host_work import HostCalls, WorkObserver
from .plan import Observer
from .profile_page import ProfilePage
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
    table says how many they were. Values that are made of indices and numbers alone, such as ``np.sin(np.arange(n))``,
    stay pending, and count where they are computed: in the kernels that read them. What is pending at the end of the
    block is computed and counted. The bandwidth of a device is that of a copy between two buffers, 64 MiB
    each on the CPU and 256 MiB on a GPU, which is measured once; it is unknown while the device lacks that memory.
    Below the table are the bytes of arrays of the default device that moved to the host for lack of room, and that came
    back; and the calls that are NumPy's, with small arrays on the host.
    What the interpreter ran on a GPU, as its kernel was not compiled yet, has a line of its own, with "(interpreted)".
    In the block each kernel is launched by itself, as it is timed. Those that are otherwise launched as parts of CUDA
    graphs, which takes less of the host's time, are counted below the table.

    Parameters
    ----------
    path : str or path, optional
        Where to write a page, `name.html`: a timeline of kernels, copies, compilations and the host's work, and a table
        with the line of the program that asked for each. It needs no other file. Beside it, `name.json` is a trace for
        https://ui.perfetto.dev.
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

    Raises
    ------
    ValueError
        If the path does not end with .html.
    """

    records: list[Record]
    host_calls: Counter[str]

    def __init__(
        self, path: str | PathLike[str] | None = None, *, file: TextIO | None = None, nvtx: bool = False
    ) -> None:
        self._file = file
        self._page = None if path is None else ProfilePage(path)
        mark: Any = partial(_import_nvtx().annotate, domain="gpunumpy") if nvtx else nullcontext
        self._steps = StepTimes(mark=mark, timeline=None if self._page is None else self._page.timeline)
        self._calls = HostCalls(None if self._page is None else self._page.add_host_work)
        self.records = []
        self.host_calls = self._calls.counts
        self._moved_before = 0, 0
        self._pending_before = 0
        self._slabs_before = 0
        self._start = 0.0

    def __enter__(self) -> profile:
        """Compute pending arrays, and start to observe.

        Raises
        ------
        OSError
            If the page cannot be written where it is to be.
        """
        if self._page is not None:
            self._page.begin()
        queue = evaluate.queue_of(default_device())
        self._pending_before = len(evaluate.live_roots(queue)[0])
        evaluate.flush(queue)
        self._outer = evaluate.observer, evaluate.host_calls, host_work.observer
        self._moved_before = memory.moved_bytes(default_device())
        self._slabs_before = memory.slabs_of(default_device())
        self._observe(self._steps, self._calls, None if self._page is None else self._page.add_host_work)
        self._start = perf_counter()
        return self

    def _observe(self, steps: Observer | None, calls: HostCalls | None, work: WorkObserver | None) -> None:
        evaluate.observer, evaluate.host_calls, host_work.observer = steps, calls, work
        tell(host_calls=calls)

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Compute pending arrays, stop to observe, and print the table."""
        try:
            if kind is None:
                evaluate.flush(evaluate.queue_of(default_device()))
        finally:
            seconds = perf_counter() - self._start
            self._observe(*self._outer)
            if self._page is not None:
                self._page.end()
            _, outer_calls, _ = self._outer
            if outer_calls is not None:
                outer_calls.update(self._calls)
        self.records = self._steps.records()
        notes = self._notes()
        took = f"the block took {seconds * 1e3:.3f} ms: the rest is Python, NumPy on the host, and waiting"
        print("\n".join([self._table(), took, *notes]), file=self._file or sys.stdout)
        if self._page is not None:
            rates = {str(record.device): rate for record in self.records if (rate := bandwidth(record.device))}
            paths = self._page.write(rates, notes)
            print(f"written: {paths}", file=self._file or sys.stdout)

    def _notes(self) -> list[str]:
        """Return the sentences below the table."""
        notes = []
        if count := self._pending_before:
            were = "array was" if count == 1 else "arrays were"
            notes.append(f"{count} {were} pending before the block: computed first, and in no line above")
        if graphed := self._steps.graphed:
            notes.append(f"{graphed} runs are parts of CUDA graphs where nothing is timed")
        counts = zip(memory.moved_bytes(default_device()), self._moved_before, strict=True)
        to_host, from_host = (now - before for now, before in counts)
        if to_host or from_host:
            moved = f"{bytes_text(to_host)} to the host and {bytes_text(from_host)} back"
            notes.append(f"moved for lack of room: {moved}")
        if slabs := memory.slabs_of(default_device()) - self._slabs_before:
            notes.append(f"computed for lack of room: {slabs:,} slabs")
        if self.host_calls:
            shown = ", ".join(f"{name} {count}" for name, count in self.host_calls.most_common(_MAX_SHOWN_CALLS))
            others = ", ..." if len(self.host_calls) > _MAX_SHOWN_CALLS else ""
            milliseconds = sum(self._calls.seconds.values()) * 1e3
            notes.append(
                f"{self.host_calls.total()} calls by NumPy on the host, {milliseconds:.3f} ms: {shown}{others}"
            )
        return notes

    def _table(self) -> str:
        rows = [("kernel or call", "device", "runs", "ms", "moved", "of bandwidth")]
        for r in self.records:
            rows.append((r.name, str(r.device), *_measured_cells(r.count, r.seconds, r.nbytes), _share_of_bandwidth(r)))
        count, nbytes = (sum(getattr(r, name) for r in self.records) for name in ("count", "nbytes"))
        rows.append(("all", "", *_measured_cells(count, sum(r.seconds for r in self.records), nbytes), ""))
        return aligned(rows, left=2)


def _share_of_bandwidth(record: Record) -> str:
    rate = bandwidth(record.device)
    if rate is None:
        return "unknown"
    return f"{record.nbytes / record.seconds / rate if record.seconds else 0.0:.0%}"


def _measured_cells(count: int, seconds: float, nbytes: int) -> tuple[str, str, str]:
    return str(count), f"{seconds * 1e3:.3f}", bytes_text(nbytes)


def _import_nvtx() -> Any:
    try:
        return importlib.import_module("nvtx")
    except ImportError:
        raise ImportError("profile(nvtx=True) needs the package nvtx: pip install nvtx") from None


_bandwidths: dict[Device, float] = {}


def bandwidth(device: Device) -> float | None:
    """Return the bytes per second that a copy in the memory of a device reads and writes, measured once.

    It is None as long as the values of the program leave no room for the copy: none of them moves for it.
    """
    found = _bandwidths.get(device)
    if found is None:
        nbytes = _COPY_BYTES[device.kind]
        source = memory.allocate_unless_short(device, nbytes)
        target = memory.allocate_unless_short(device, nbytes)
        if source is None or target is None:
            return None
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
