"""The report of a script: what ran on the device and on the host, and why there, by the lines of the user's files."""

from __future__ import annotations

import linecache
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter
from types import FrameType
from typing import Any, NamedTuple, TextIO

from ..core._native import tell
from ..core.runtime import evaluate, host_work
from ..core.runtime.byte_sizes import bytes_text
from ..core.runtime.device import default_device
from ..core.runtime.host_work import HostCalls
from ..core.runtime.step_times import Record, StepTimes
from ..core.runtime.table import aligned
from ..core.source_location import is_for_user
from ..functions import fallback
from .advice import ACCESSES, Counts, advice_of_runs
from .selection import is_own

_MAX_LINES = 20
_MAX_NAMES = 4
_MAX_TEXT = 60
_MAX_ADVICE = 10
# A copy of fewer bytes is a look.
_COPY_BYTES = 1 << 16


class Line(NamedTuple):
    """A line of a file."""

    file: str
    number: int


@dataclass(slots=True)
class _Cost:
    """What a line took: without the lines of the user's functions that it calls."""

    line: Line
    count: int = 0
    seconds: float = 0.0
    host_calls: HostCalls = field(default_factory=HostCalls)
    fallbacks: HostCalls = field(default_factory=HostCalls)
    reasons: dict[str, tuple[str, str]] = field(default_factory=dict)  # of fallbacks: what computes them, and why
    counts: Counts = field(default_factory=Counts)


_TraceFunction = Callable[[FrameType, str, Any], Any]
# What the program does outside the user's lines.
_OUTSIDE = Line("", 0)


class Report:
    """Context manager that prints the report of what ran in the block by the main thread.

    Kernels are told by the lines that recorded what they compute, with the line that asked for a value. Lines are
    followed by `sys.settrace`, so Python itself takes more time than without a report. `sys.monitoring` of Python 3.12
    takes as long for a line: most of it is what the function does that is called.

    Parameters
    ----------
    file : file object, optional
        The file to print to; standard error by default.
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file
        self._trace_functions: dict[str, _TraceFunction | None] = {}
        self._costs: dict[str, dict[int, _Cost]] = {}  # by file and number of the line
        self._cost = self._outside = _Cost(_OUTSIDE)
        self._callers: list[_Cost] = []
        self._host_calls = HostCalls()
        self._host_calls.count_in(self._cost.host_calls)
        self._steps = StepTimes(self._place)
        self._recording: Counter[Line] = Counter()
        self._lines: dict[str, set[Line]] = {}  # by the text that stands for them
        self._pending_count = 0
        self._has_flushed = False

    def __enter__(self) -> Report:
        """Begin to observe."""
        evaluate.observer, evaluate.host_calls = self._steps, self._host_calls
        tell(host_calls=self._host_calls)
        fallback.observer, host_work.observer = self._note_fallback, self._note_work
        self._queue = evaluate.queue_of(default_device())
        self._pending = self._queue.pending
        self._pending_count = len(self._pending)
        self._start = self._since = perf_counter()
        sys.settrace(self._trace_call)
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Stop to observe, and print the report."""
        sys.settrace(None)
        self._enter(self._outside)
        seconds = perf_counter() - self._start
        evaluate.observer = evaluate.host_calls = fallback.observer = host_work.observer = None
        tell(host_calls=None)
        print(self._text(seconds), file=self._file or sys.stderr)

    # --- lines ---

    def _trace_call(self, frame: FrameType, event: str, argument: Any) -> _TraceFunction | None:
        """Follow the lines of a function that is called if it is in one of the user's files."""
        try:
            trace = self._trace_functions[frame.f_code.co_filename]
        except KeyError:
            file = frame.f_code.co_filename
            trace = self._trace_functions[file] = self._tracer_of(file)
        if trace is None or is_for_user(frame.f_code):
            return None
        self._callers.append(self._cost)
        return trace

    def _tracer_of(self, file: str) -> _TraceFunction | None:
        """Return what follows the lines of a file, or None if it is not one of the user's."""
        if not (os.path.isfile(file) and is_own(file)):
            return None
        costs = self._costs[file] = {}

        def trace(frame: FrameType, event: str, argument: Any) -> _TraceFunction:
            if event == "line":
                number = frame.f_lineno
                cost = costs.get(number)
                if cost is None:
                    cost = costs[number] = _Cost(Line(file, number))
                cost.count += 1
                self._enter(cost)
            elif event == "return":
                self._enter(self._callers.pop() if self._callers else self._outside)
            return trace

        return trace

    def _enter(self, cost: _Cost) -> None:
        """Enter a line, or come back to it, and note what the line before has taken."""
        left = self._cost
        left.seconds += perf_counter() - self._since
        if self._has_flushed:
            left.counts.looks += 1
            left.counts.turns += max(self._recording.values(), default=0)
            self._recording.clear()
            self._has_flushed = False
            self._pending_count = 0
        count = len(self._pending)
        if count != self._pending_count:
            if count > self._pending_count:
                self._recording[left.line] += 1
            self._pending_count = count
        self._cost = cost
        self._host_calls.count_in(cost.host_calls)
        self._since = perf_counter()

    def _note_fallback(self, name: str, library: str, reason: str) -> None:
        self._cost.reasons[name] = library, reason

    def _note_work(self, kind: str, name: str, start: float, seconds: float, nbytes: int) -> None:
        if kind == "fallback":
            self._cost.fallbacks.add(name, 1, seconds, nbytes)
        self._cost.counts.copies += kind == "copy" and name.startswith("from") and nbytes >= _COPY_BYTES

    def _place(self) -> str:
        """Return the lines that recorded what is being computed, and the line that asks for it."""
        self._has_flushed = True
        lines = {*self._recording, self._cost.line} - {_OUTSIDE}
        place = _ranges(lines)
        self._lines[place] = lines
        return place

    # --- the text ---

    def _text(self, seconds: float) -> str:
        records = self._steps.records()
        device = default_device()
        on_device = sum(record.seconds for record in records)
        costs = [cost for of_file in self._costs.values() for cost in of_file.values()]
        costs.sort(key=lambda cost: -cost.seconds)
        calls = [calls for cost in costs for calls in (cost.host_calls, cost.fallbacks)]
        by_numpy = sum(sum(of_line.seconds.values()) for of_line in calls)
        parts = [
            f"{seconds:.3f} s, of which kernels and library calls on {device} took {on_device:.3f} s, NumPy on the "
            f"host {by_numpy:.3f} s, and the rest Python, other libraries and this report"
        ]
        if records:
            parts.append(f"on {device}, by the lines that recorded it:\n{_device_table(records)}")
        on_host = [cost for cost in costs if cost.host_calls or cost.reasons]
        if on_host:
            limit = bytes_text(self._queue.host_bytes)
            parts.append(f"on the host, and why:\n{_host_table(on_host, limit)}")
        if costs:
            parts.append(f"the slowest lines, without what functions of your files take in them:\n{_line_table(costs)}")
        for cost in costs:
            cost.counts.add_calls(cost.host_calls)
        advice = self._advice(costs, records)
        if advice:
            rows = list(advice.items())[:_MAX_ADVICE]
            parts.append("what to do:\n" + "\n".join(f"{place}: {text}" for place, text in rows))
        return "\ngpunumpy: " + "\n\n".join(parts)

    def _advice(self, costs: list[_Cost], records: list[Record]) -> dict[str, str]:
        """Return what to do about lines, by their places.

        Of a kernel that runs because a line of a loop needs a value in every turn, the line is told of alone.
        """
        advice: dict[str, str] = {}
        looks: Counter[Line] = Counter()
        for cost in costs:
            looks[cost.line] = cost.counts.looks
            text = cost.counts.advice()
            if text is not None:
                advice.setdefault(_ranges({cost.line}), text)
        for record in records:
            text = advice_of_runs(record)
            if text is not None and record.count > 2 * max(looks[line] for line in self._lines[record.place]):
                advice.setdefault(record.place, text)
        return advice


def _ranges(lines: set[Line]) -> str:
    """Return lines as text, in ranges: `a.py:3-5,9`."""
    texts = []
    for file in dict.fromkeys(sorted(line.file for line in lines)):
        numbers = sorted(line.number for line in lines if line.file == file)
        starts = [numbers[0], *(b for a, b in pairwise(numbers) if b > a + 1)]
        ends = [*(a for a, b in pairwise(numbers) if b > a + 1), numbers[-1]]
        ranges = (str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True))
        texts.append(f"{os.path.basename(file)}:{','.join(ranges)}")
    return " ".join(texts)


def _shown(line: Line) -> tuple[str, str]:
    text = linecache.getline(*line).strip()
    return _ranges({line}), text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 3]}..."


def _device_table(records: list[Record]) -> str:
    rows = [("lines", "kernel or call", "runs", "ms", "moved")]
    for r in records[:_MAX_LINES]:
        rows.append((r.place, r.name, str(r.count), f"{r.seconds * 1e3:.3f}", bytes_text(r.nbytes)))
    return aligned(rows, left=2)


def _host_table(costs: list[_Cost], limit: str) -> str:
    rows: list[tuple[float, tuple[str, ...]]] = []
    for cost in costs:
        place = _ranges({cost.line})
        if cost.host_calls:
            calls = cost.host_calls
            names = [name for name, _ in calls.counts.most_common(_MAX_NAMES)]
            more = ["..."] if len(calls.counts) > _MAX_NAMES else []
            elements = "elements and " if ACCESSES & calls.counts.keys() else ""
            why = f"{elements}arrays of at most {limit} are NumPy's work"
            rows.append(_measured_row((place, ", ".join(names + more), why), calls, calls.counts))
        for name, (library, why) in cost.reasons.items():
            rows.append(_measured_row((place, f"{name} by {library}", why), cost.fallbacks, [name]))
    rows.sort(key=lambda row: -row[0])
    return aligned(
        [("line", "what", "why", "calls", "ms", "moved"), *(cells for _, cells in rows[:_MAX_LINES])], left=3
    )


def _measured_row(texts: tuple[str, ...], calls: HostCalls, names: Iterable[str]) -> tuple[float, tuple[str, ...]]:
    """Return the seconds that functions took, and a row: how often they were called, for how long and many bytes."""
    count, seconds, nbytes = (sum(numbers.get(name, 0) for name in names) for numbers in calls.numbers())
    return seconds, (*texts, str(count), f"{seconds * 1e3:.3f}", bytes_text(nbytes))


def _line_table(costs: list[_Cost]) -> str:
    rows = [("line", "text", "times", "ms")]
    for cost in costs[:_MAX_LINES]:
        rows.append((*_shown(cost.line), str(cost.count), f"{cost.seconds * 1e3:.3f}"))
    return aligned(rows, left=2)
