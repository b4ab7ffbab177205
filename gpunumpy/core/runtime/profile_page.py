"""The files of a profile: a page with a timeline and a table, and a trace."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from ..pictures.timeline import Event, Timeline, page, trace
from ..source_location import source_location


class ProfilePage:
    """The timeline of a profile, to which the work of the host is added as it is observed, and its path."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        if self._path.suffix != ".html":
            raise ValueError(f"the page of a profile is an .html file, not {os.fspath(path)!r}")
        self._beginning = perf_counter()
        self.timeline = Timeline(self._beginning)
        self._tracks: dict[int, str] = {}

    def begin(self) -> None:
        """Open both files, so that a folder that is not there, or not writable, is an error before the program runs."""
        self._path = self._path.absolute()  # the program may go to another folder
        for path in self._paths():
            path.open("a").close()

    def _paths(self) -> tuple[Path, Path]:
        return self._path, self._path.with_suffix(".json")

    def add_host_work(self, kind: str, name: str, start: float, seconds: float, nbytes: int) -> None:
        """Add what a thread of the host has done; see `host_work.observer`."""
        line = "" if kind == "compile" else source_location()  # a compiler runs in threads of its own
        track = self._track("compiler" if kind == "compile" else "host")
        self.timeline.add(Event(kind, name, track, start, seconds, nbytes, line))

    def _track(self, name: str) -> str:
        """Return the track of work by this thread: the first thread has the name alone, others have a number too."""
        ident = threading.get_ident()
        if ident not in self._tracks:
            count = sum(track.startswith(name) for track in self._tracks.values())
            self._tracks[ident] = f"{name} {count + 1}" if count else name
        return self._tracks[ident]

    def end(self) -> None:
        """Note that the profile has ended."""
        self._seconds = perf_counter() - self._beginning

    def write(self, bandwidths: dict[str, float], notes: Sequence[str]) -> str:
        """Write the page and the trace, and return both paths as text."""
        seconds = self._seconds
        title = f"gpunumpy: profile of {seconds:.3f} s"
        page_path, trace_path = self._paths()
        page_path.write_text(page(title, self.timeline, seconds, bandwidths, notes), encoding="utf-8")
        trace_path.write_text(trace(self.timeline), encoding="utf-8")
        return f"{page_path}, {trace_path}"
