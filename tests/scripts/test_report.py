"""The report of a script: kernels by the lines that recorded them, the host's work with its reasons, times of lines."""

from __future__ import annotations

import io
import sys
import warnings
from pathlib import Path

import pytest

import gpunumpy
from gpunumpy.scripts.imports import compile_file
from gpunumpy.scripts.report import Line, Report, _ranges

SCRIPT = """import warnings; import numpy as np; warnings.simplefilter("ignore")

def step(x):
    y = np.sin(x) * 2
    return y[1:] - y[:-1]

x = np.ones(5_000_000)
for _ in range(3):
    total = float(step(x).sum())
small = np.arange(5) + np.ones(5)
matrix = np.matrix(small)
"""


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, list[str]]:
    """The tables of the report of a script, by the words before them."""
    return tables_of(SCRIPT, tmp_path)


def tables_of(script: str, folder: Path) -> dict[str, list[str]]:
    """The tables of the report of a script, by the words before them."""
    path = folder / "script.py"
    path.write_text(script)
    printed = io.StringIO()
    tracer = sys.gettrace()
    gpunumpy.host_fallback("ignore")
    residence = gpunumpy.set_residence("auto")
    pending = gpunumpy.ones(5_000_000) + 1  # of none of the script's lines
    try:
        with warnings.catch_warnings(), gpunumpy.Device("cpu"), Report(printed):
            exec(compile_file(script, str(path)), {"__name__": "__main__"})
    finally:
        gpunumpy.set_residence(residence)
        gpunumpy.host_fallback("warn")
        sys.settrace(tracer)
    assert pending[0] == 2
    assert printed.getvalue().startswith("\ngpunumpy: ")
    blocks = printed.getvalue().split("\n\n")[1:]
    return {lines[0].partition(",")[0]: lines[1:] for lines in (block.splitlines() for block in blocks)}


def test_report(tables: dict[str, list[str]]) -> None:
    device = [row.split() for row in tables["on cpu"][1:]]
    assert {row[0] for row in device} <= {"script.py:4-5,7,9", "script.py:4-5,9"}
    assert sum(int(row[2]) for row in device if row[0] == "script.py:4-5,9") >= 2
    host = {tuple(row.split("  ")[0].split()): row for row in tables["on the host"][1:]}
    assert "arrays of at most" in host["script.py:10",]
    assert all(name in host["script.py:10",] for name in ("add", "arange", "ones"))
    assert any("gpunumpy.matrix by NumPy" in row and "no device implementation" in row for row in host.values())
    lines = {row.split()[0]: row for row in tables["the slowest lines"]}
    assert "y = np.sin(x) * 2" in lines["script.py:4"]
    times = {place: row.split()[-2] for place, row in lines.items()}
    assert (times["script.py:4"], times["script.py:9"], times["script.py:11"]) == ("3", "3", "1")


def test_nothing_stays_installed(tables: dict[str, list[str]]) -> None:
    from gpunumpy.core.runtime import evaluate
    from gpunumpy.functions import fallback

    assert (evaluate.observer, evaluate.host_calls, fallback.observer) == (None, None, None)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([("/a/b.py", 3)], "b.py:3"),
        ([("/a/b.py", 5), ("/a/b.py", 3), ("/a/b.py", 4), ("/a/b.py", 9)], "b.py:3-5,9"),
        ([("/z.py", 1), ("/a/b.py", 3)], "b.py:3 z.py:1"),
    ],
)
def test_ranges_of_lines(lines: list[tuple[str, int]], text: str) -> None:
    assert _ranges({Line(*line) for line in lines}) == text


def test_the_host_has_times_and_bytes(tables: dict[str, list[str]]) -> None:
    head, *rows = tables["on the host"]
    assert head.split() == ["line", "what", "why", "calls", "ms", "moved"]
    cells = {row.split()[0]: row.split()[-4:] for row in rows}
    calls, milliseconds, *moved = cells["script.py:10"]
    assert (calls, moved) == ("3", ["200", "B"])  # 40 B of each operand and of each result
    assert float(milliseconds) > 0
    calls, milliseconds, *moved = cells["script.py:11"]
    assert (calls, moved) == ("1", ["40", "B"])
    assert float(milliseconds) > 0


def test_what_takes_longest_comes_first(tables: dict[str, list[str]]) -> None:
    for name, column in (("on the host", -3), ("the slowest lines", -1)):
        times = [float(row.split()[column]) for row in tables[name][1:]]
        assert times == sorted(times, reverse=True)
        assert len(times) > 1


SLOW = """import numpy as np

def smooth(x):
    y = np.zeros_like(x)
    for k in range(1, 700):
        y[k] = (x[k - 1] + x[k + 1]) / 2
    return y

x = np.ones(400_000)
for _ in range(30):
    x[1:] *= 0.5
    if x.max() < 0: break
smooth(np.ones(1000)); whole = np.ones((2000, 1000)); held = whole[1:]  # which keeps it on the device
rows = np.apply_along_axis(np.sort, 1, whole)
for _ in range(3000):
    total = np.ones(3) + np.ones(3) * 2
for _ in range(300):
    x[1:] *= 0.5
float(x.sum())
for k in range(300):
    look = float((np.sin(x) * k)[5])
"""


def test_advice(tmp_path: Path) -> None:
    """What is told is told of the line that is to be changed, and nothing of a loop of whole statements."""
    rows = tables_of(SLOW, tmp_path)["what to do:"]
    told = dict(row.split(": ", 1) for row in rows[::2])
    assert told["script.py:6"] == "2097 elements are read or written one by one"
    assert rows[rows.index(f"script.py:6: {told['script.py:6']}") + 1].startswith("    write one statement")
    assert told["script.py:12"] == "30 times a value was needed, and all before it was computed"
    assert told["script.py:16"].startswith("12000 calls with small arrays")
    assert told["script.py:21"] == "300 times a value was needed, and all before it was computed"
    of_rows = {place: text for place, text in told.items() if "14" in place}
    assert any(" runs of sort, each over 16 kB" in text for text in of_rows.values())
    assert told.keys() - of_rows.keys() == {"script.py:6", "script.py:12", "script.py:16", "script.py:21"}


COPIED = """import gpunumpy as np

x = np.ones(300_000)
for k in range(40):
    a = np.asnumpy(x * k)
for k in range(300):
    x = x * 0.5 + 1
    if k % 10 == 9:
        if x.max() < 0: break
y = np.ones(1000)
for k in range(2, 999):
    y[k] = y[k - 1] + y[k - 2]
"""


def test_advice_for_copies_and_for_who_looks_seldom(tmp_path: Path) -> None:
    tables = tables_of(COPIED, tmp_path)
    told = dict(row.split(": ", 1) for row in tables["what to do:"][::2])
    assert told.keys() == {"script.py:5", "script.py:12"}
    assert told["script.py:5"] == "40 copies to the host"
    assert told["script.py:12"].endswith(" elements are read or written one by one")
    (row,) = (row for row in tables["on the host"] if row.startswith("script.py:12"))
    assert "elements and arrays of at most" in row


PROFILED = """import gpunumpy, io

x = gpunumpy.ones(5)
with gpunumpy.profile(file=io.StringIO()) as inner:
    y = x + x
    z = y[1]
assert inner.host_calls.total() == 2
z = y[2:]
"""


def test_calls_in_a_profile_are_in_the_report_too(tmp_path: Path) -> None:
    rows = tables_of(PROFILED, tmp_path)["on the host"][1:]
    told = {row.split()[0]: row for row in rows}
    assert all(name in told["script.py:4"] for name in ("add", "__getitem__"))
    assert told["script.py:4"].split()[-4::3] == ["2", "B"]
    assert told["script.py:8"].split()[-2:] == ["24", "B"]
    assert "script.py:5" not in told
