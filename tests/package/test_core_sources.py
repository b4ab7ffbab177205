"""What the sources of the compiled core must not call, and how they are compiled."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "gpunumpy/core/_native").glob("*.[ch]pp"))
# What `section.hpp` has a word for, and why.
FORBIDDEN = {
    r"static PyObject\s*\*[^;]*PyUnicode_InternFromString": "`Name`: threads that wait for it cannot be stopped",
    r"static Name\b": "a `Name` outside of functions: names are made as the module is imported",
    r"PyDict_(GetItem|GetItemWithError|SetDefault)\(": "`find`: what a table lends, another thread may free",
    r"CriticalSection_BeginMutex|std::mutex|PyThread_allocate_lock": "`Section`: one lock needs no order",
}


def test_the_core_needs_no_gil() -> None:
    found = {
        f"{path.name}: {match.group()} (take {word})"
        for path in SOURCES
        for pattern, word in FORBIDDEN.items()
        for match in re.finditer(pattern, path.read_text())
    }
    assert {line for line in found if not line.startswith("section.hpp")} == set()
    assert found, "the patterns find nothing, not even what section.hpp has"


def test_no_destructor_runs_in_a_thread_that_is_ended() -> None:
    """Python ends threads that are left at the end of the process, and none of them has the GIL then."""
    compiled_by = [file for file in (ROOT / "tools/build_hook.py", ROOT / ".ci/core") if file.exists()]
    assert all("-fno-exceptions" in file.read_text() for file in compiled_by)
    words = re.compile(r"\b(try \{|throw |catch \()")
    assert not [path.name for path in SOURCES if words.search(path.read_text())]
