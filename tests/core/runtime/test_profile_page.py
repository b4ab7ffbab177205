"""The page and the trace of a profile: what they hold, that they need no other file, and how a browser shows them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.pictures.timeline import KINDS, MAX_EVENTS, Event, Timeline, page, trace
from gpunumpy.core.runtime import evaluate, host_work
from gpunumpy.core.runtime.device import CPU
from gpunumpy.core.runtime.profile import _bandwidths

from ...support import fake_driver
from ...support.browser import dom, needs_browser, screenshot

# NumPy's, of a class that is a fallback to the host.
pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")


def work() -> None:
    x = np.asarray(numpy.ones((600, 600)))
    float(np.sort(np.sin(x) + 1).sum())
    small = np.arange(5) + 1
    small[2] = small[1]
    np.asnumpy(x @ x)
    np.matrix(x)


def profiled(path: Path, program: Callable[[], None]) -> np.profile:
    with np.profile(path, file=io.StringIO()) as profile:
        program()
    return profile


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of a profile on the CPU device."""
    monkeypatch.setitem(_bandwidths, CPU, 1e9)
    np.host_fallback("ignore")
    np.set_residence("auto")
    with np.Device("cpu"):
        profiled(tmp_path / "run.html", work)
    return tmp_path / "run.html"


def data_of(path: Path) -> Any:
    found = re.search(r"const DATA = (.*);\n", path.read_text(encoding="utf-8"))
    assert found
    return json.loads(found[1])


def spans_of(path: Path) -> list[dict[str, Any]]:
    return [entry for entry in json.loads(path.read_text())["traceEvents"] if entry["ph"] == "X"]


def test_the_page_has_what_ran_and_who_asked_for_it(written: Path) -> None:
    data = data_of(written)
    rows = [(*(data["strings"][k] for k in row[:4]), *row[4:]) for row in data["rows"]]
    assert {row[0] for row in rows} >= {"kernel", "call", "flush", "numpy", "fallback"}
    first, last = work.__code__.co_firstlineno, max(line for *_, line in work.__code__.co_lines() if line)
    for kind, name, track, place, count, seconds, nbytes in rows:
        assert kind in KINDS
        assert track == ("cpu" if kind in ("kernel", "call") else "host")
        file, _, line = place.rpartition(":")
        assert file == __file__, name
        assert kind == "flush" or first < int(line) <= last
        assert count > 0
        assert min(seconds, nbytes) >= 0
    (sort,) = (row for row in rows if row[1] == "sort")
    assert sort[6] == 2 * 600 * 600 * 8
    assert {row[1].strip("_") for row in rows if row[0] == "numpy"} >= {"arange", "add", "getitem", "setitem"}
    assert len(data["events"]) == sum(row[4] for row in rows)
    assert data["bandwidths"] == {"cpu": 1e9}


def test_the_page_needs_nothing_else(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    assert not re.search(r"https?://|\bsrc=|<link|@import|url\(|fetch\(|\{\{", text)


def test_spans_of_the_trace_are_nested(written: Path) -> None:
    spans = spans_of(written.with_suffix(".json"))
    assert len(spans) == len(data_of(written)["events"])
    for track in {span["tid"] for span in spans}:
        ends: list[float] = []
        for span in sorted((s for s in spans if s["tid"] == track), key=lambda s: (s["ts"], -s["dur"])):
            while ends and ends[-1] <= span["ts"] + 2e-3:  # they are written to nanoseconds
                ends.pop()
            assert not ends or span["ts"] + span["dur"] <= ends[-1] + 2e-3
            ends.append(span["ts"] + span["dur"])


def test_the_trace_has_the_fields_of_its_format(written: Path) -> None:
    """Those of the Trace Event Format: complete events, and metadata that name every process and thread of them."""
    trace = json.loads(written.with_suffix(".json").read_text())
    assert set(trace) == {"traceEvents", "displayTimeUnit"}
    assert trace["displayTimeUnit"] in ("ms", "ns")
    named: dict[str, set[tuple[int, ...]]] = {"process_name": set(), "thread_name": set()}
    spans = []
    for entry in trace["traceEvents"]:
        assert type(entry["pid"]) is int
        assert type(entry["args"]) is dict
        if entry["ph"] == "M":
            key = (entry["pid"],) if entry["name"] == "process_name" else (entry["pid"], entry["tid"])
            assert key not in named[entry["name"]]
            named[entry["name"]].add(key)
            assert list(map(type, entry["args"].values())) == [str]
            assert list(entry["args"]) == ["name"]
        else:
            assert entry["ph"] == "X"
            spans.append(entry)
    assert spans
    for span in spans:
        assert set(span) == {"ph", "name", "cat", "pid", "tid", "ts", "dur", "args"}
        assert type(span["name"]) is type(span["cat"]) is str
        assert span["name"]
        assert type(span["tid"]) is int
        assert min(span["ts"], span["dur"]) >= 0  # microseconds
        assert (span["pid"],) in named["process_name"]
        assert (span["pid"], span["tid"]) in named["thread_name"]


def test_nothing_stays_installed(tmp_path: Path) -> None:
    with pytest.raises(KeyError), np.Device("cpu"), np.profile(tmp_path / "a.html", file=io.StringIO()):
        raise KeyError
    assert (evaluate.observer, evaluate.host_calls, host_work.observer) == (None, None, None)


@pytest.mark.parametrize("name", ["run", "run.json", "run.txt"])
def test_a_page_is_an_html_file(name: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"an .html file, not '{name}'")):
        np.profile(name)


def test_where_a_page_is_to_be_is_looked_at_before_the_program_runs(tmp_path: Path) -> None:
    (tmp_path / "folder.html").mkdir()
    for path in (tmp_path / "absent" / "run.html", tmp_path / "folder.html"):
        with pytest.raises(OSError, match=re.escape(str(path))), np.profile(path):
            pytest.fail("the program runs")
    assert (evaluate.observer, evaluate.host_calls, host_work.observer) == (None, None, None)


def test_a_page_is_where_it_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the program goes to another folder."""
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with np.Device("cpu"):
        profiled(Path("run.html"), lambda: monkeypatch.chdir(tmp_path / "other"))
    assert data_of(tmp_path / "run.html")["seconds"] > 0
    assert not list((tmp_path / "other").iterdir())


def test_memory_that_nobody_writes_is_not_moved() -> None:
    with np.Device("cpu"), np.profile(file=io.StringIO()) as profile:
        x = np.empty((1000, 100))
        x[:500] = 1.0
        np.synchronize()
    moved = {record.name: record.nbytes for record in profile.records}
    assert moved.pop("empty") == 0
    assert sum(moved.values()) == 400_000


def test_a_gpu_has_kernels_copies_and_compilations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path / "cache"))
    fake_driver.install(monkeypatch)
    recorded: list[Any] = []  # events of CUDA, one of which is a millisecond after the one before
    monkeypatch.setattr(fake_driver.FakeDriver, "_cuEventRecord", lambda self, *args: recorded.append(args[0]), False)
    elapsed = lambda self, first, last: float(recorded.index(last) - recorded.index(first))  # noqa: E731
    monkeypatch.setattr(fake_driver.FakeDriver, "_cuEventElapsedTime", elapsed, False)
    gpu = np.Device("cuda:0")
    monkeypatch.setitem(_bandwidths, gpu, 1e12)

    def program() -> None:
        x = np.asarray(numpy.ones(100_000))
        y = np.cos(x) * 1.25 - x
        np.asnumpy(y)
        np.asnumpy(y * 2.5)

    with gpu:
        profiled(tmp_path / "run.html", program)
    spans = spans_of(tmp_path / "run.json")
    assert {span["cat"] for span in spans} >= {"kernel", "copy", "compile", "flush", "plan"}
    copies = [span for span in spans if span["cat"] == "copy"]
    assert [span["name"] for span in copies] == ["to cuda:0", "from cuda:0", "from cuda:0"]
    assert {span["args"]["bytes"] for span in copies} == {800_000}
    kernels = [span for span in spans if span["cat"] == "kernel"]
    assert [span["name"] for span in kernels] == ["cos_multiply_subtract", "multiply"]
    assert all(span["dur"] == 1000.0 for span in kernels)
    assert all(b["ts"] - a["ts"] >= 1999.0 for a, b in pairwise(kernels))
    (compiled, *_) = (span for span in spans if span["cat"] == "compile")
    assert "cos" in compiled["name"]


def timeline(count: int, name: str = "add", kind: str = "kernel") -> Timeline:
    found = Timeline(100.0)
    for k in range(count):
        found.add(Event(kind, name, "cuda:0", 100 + k * 1e-6, 5e-7, 8, "/a.py:1"))
    return found


def test_many_events_are_counted_and_not_drawn(tmp_path: Path) -> None:
    many = timeline(MAX_EVENTS + 5)
    path = tmp_path / "page.html"
    path.write_text(page("title", many, 0.1, {}, []), encoding="utf-8")
    data = data_of(path)
    assert len(data["events"]) == MAX_EVENTS
    assert data["rows"][0][4] == MAX_EVENTS + 5
    assert f"{MAX_EVENTS:,} of {MAX_EVENTS + 5:,} events are drawn" in path.read_text()


def test_kernels_after_many_small_calls_are_drawn() -> None:
    many = timeline(MAX_EVENTS + 5, kind="numpy")
    many.add(Event("kernel", "last", "cuda:0", 101, 5e-7, 8, "/a.py:1"))
    assert len(many.events) < MAX_EVENTS
    assert many.events[-1].name == "last"
    assert many.count == MAX_EVENTS + 6


def test_names_are_texts(tmp_path: Path) -> None:
    name = "</script><b>{{data}}"
    path = tmp_path / "page.html"
    path.write_text(page("a < b", timeline(1, name), 0.1, {}, ["<i>"]), encoding="utf-8")
    assert name in data_of(path)["strings"]
    text = path.read_text()
    assert "<title>a &lt; b</title>" in text
    assert "<li>&lt;i&gt;</li>" in text
    assert text.count("</script>") == 1
    assert name in trace(timeline(1, name))


@needs_browser
def test_a_browser_shows_timeline_and_table(written: Path, tmp_path: Path) -> None:
    shown = dom(written, tmp_path)
    assert shown.count("<tr>") == len(data_of(written)["rows"]) + 1
    assert 'aria-sort="descending"' in shown
    pixels = screenshot(written, tmp_path)
    assert pixels.shape == (800, 1200, 3)
    for red, green, blue in ((0x2F, 0x6F, 0xDB), (0x7B, 0x4F, 0xD0), (0x9A, 0xA3, 0xAE)):  # kernels, calls, flushes
        assert (pixels == (red, green, blue)).all(axis=2).sum() > 100
