"""A timeline of what ran: as a page of HTML that needs nothing else, and as a trace that Perfetto and Chrome open."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from ..late_dataclasses import dataclass
from .pages import fill

# What is told apart by colour, and what the page says of each.
KINDS = {
    "kernel": "a generated kernel",
    "call": "a library call or a kernel written by hand",
    "copy": "a copy between the host and a device",
    "compile": "a kernel compiled",
    "plan": "a plan made for a new graph",
    "flush": "a flush: the host launches what is pending",
    "numpy": "a call of NumPy's, of small arrays on the host",
    "fallback": "a function that has no device implementation, on the host",
}
# Of a page that a browser still draws at once; the table counts the others too. Calls of NumPy's, of which a loop over
# elements has millions, leave room for the rest.
MAX_EVENTS = 50_000
_MAX_EVENTS_BEFORE_CALL = MAX_EVENTS // 2


class Event(NamedTuple):
    """Work of one kind that ran once.

    Attributes
    ----------
    kind
        One of `KINDS`.
    track
        What it ran on: a device, the host, the compiler.
    start, seconds
        When it began, after the beginning of the profile, and how long it took.
    nbytes
        What it read and wrote.
    place
        The line of the program that asked for it.
    """

    kind: str
    name: str
    track: str
    start: float
    seconds: float
    nbytes: int = 0
    place: str = ""


@dataclass(slots=True)
class Row:
    """All events of one kind, name, track and place."""

    kind: str
    name: str
    track: str
    place: str
    count: int = 0
    seconds: float = 0.0
    nbytes: int = 0


class Timeline:
    """Events as they are added: the first ones, and rows that count all of them.

    Parameters
    ----------
    beginning
        The clock at the beginning; events are added with what the clock was at theirs.
    """

    def __init__(self, beginning: float) -> None:
        self._beginning = beginning
        self.events: list[Event] = []
        self.count = 0
        self._rows: dict[tuple[str, str, str, str], Row] = {}

    def add(self, event: Event) -> None:
        """Add an event."""
        self.count += 1
        if len(self.events) < (_MAX_EVENTS_BEFORE_CALL if event.kind == "numpy" else MAX_EVENTS):
            self.events.append(event._replace(start=event.start - self._beginning))
        key = event.kind, event.name, event.track, event.place
        row = self._rows.setdefault(key, Row(*key))
        row.count += 1
        row.seconds += event.seconds
        row.nbytes += event.nbytes

    def rows(self) -> list[Row]:
        """Return what was counted, the slowest first."""
        return sorted(self._rows.values(), key=lambda row: -row.seconds)


def page(title: str, timeline: Timeline, seconds: float, bandwidths: dict[str, float], notes: Sequence[str]) -> str:
    """Return a page of HTML with the timeline and a table.

    Parameters
    ----------
    seconds
        How long the program was observed.
    bandwidths
        For tracks that are devices, bytes per second of the fastest copy.
    notes
        Sentences to print above the table.
    """
    events = sorted(timeline.events, key=lambda event: (event.track, event.start, -event.seconds))
    strings = _Strings()
    data: dict[str, Any] = {
        "seconds": seconds,
        "kinds": KINDS,
        "bandwidths": bandwidths,
        "events": [_numbers(event, strings) for event in events],
        "rows": [_row_numbers(row, strings) for row in timeline.rows()],
        "strings": strings.texts,
    }
    if timeline.count > len(timeline.events):
        drawn = f"{len(timeline.events):,} of {timeline.count:,} events are drawn, those that came first"
        notes = [*notes, f"{drawn}; the table has all"]
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")  # no name ends the script
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return fill("timeline.html", {"title": escape(title), "notes": listed, "data": text})


class _Strings:
    """Texts that come up again and again, by number."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        found = self._numbers.setdefault(text, len(self.texts))
        if found == len(self.texts):
            self.texts.append(text)
        return found


def _numbers(event: Event, strings: _Strings) -> list[float]:
    """Return an event as numbers: texts, microseconds to three digits, bytes."""
    texts = map(strings.number, (event.kind, event.name, event.track, event.place))
    return [*texts, round(event.start * 1e6, 3), round(event.seconds * 1e6, 3), event.nbytes]


def _row_numbers(row: Row, strings: _Strings) -> list[float]:
    return [*map(strings.number, (row.kind, row.name, row.track, row.place)), row.count, row.seconds, row.nbytes]


def trace(timeline: Timeline) -> str:
    """Return the events as JSON in Chrome's trace event format, which https://ui.perfetto.dev opens."""
    tracks = {track: n for n, track in enumerate(sorted({event.track for event in timeline.events}), 1)}
    names = [
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": number, "args": {"name": track}}
        for track, number in tracks.items()
    ]
    spans = [
        {
            "ph": "X",
            "name": event.name,
            "cat": event.kind,
            "pid": 1,
            "tid": tracks[event.track],
            "ts": round(event.start * 1e6, 3),
            "dur": round(event.seconds * 1e6, 3),
            "args": {"bytes": event.nbytes, "line": event.place},
        }
        for event in timeline.events
    ]
    process = {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "gpunumpy"}}
    return json.dumps({"traceEvents": [process, *names, *spans], "displayTimeUnit": "ms"})
