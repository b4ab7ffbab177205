"""The command `bench`: libraries agree on the values of every program, and the page has what was printed."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy
import pytest

from gpunumpy import bench, peers
from gpunumpy.__main__ import main
from gpunumpy.bench import PROGRAMS, Program
from gpunumpy.core.pictures.bars import Bar, Group, draw
from gpunumpy.core.runtime.device import default_device

from ..support.browser import dom, needs_browser

ELEMENTS = 1 << 12
# NumPy's stream is gpunumpy's too; the other libraries have their own.
DRAWS = "random normal"
# Of libraries whose arrays on a GPU NumPy does not take.
_TO_HOST: dict[str, Callable[[Any], Any]] = {"cupy": lambda x: x.get(), "torch": lambda x: x.cpu()}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the command prints in a process of its own, and its page."""
    page = tmp_path_factory.mktemp("bench") / "page.html"
    program = f"from gpunumpy.bench import *; bench(Path({str(page)!r}), elements={ELEMENTS}, limit_s=0)"
    command = [sys.executable, "-W", "error::UserWarning:gpunumpy", "-c", program]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert not done.stderr
    return done.stdout, page


def cells_of(line: str) -> list[str]:
    return re.findall(r"[\d.,e+-]+ ms(?:, [\d.,e+-]+ x)?", line)


def test_every_program_has_a_row(run: tuple[str, Path]) -> None:
    lines = run[0].splitlines()
    (header,) = (line for line in lines if line.split()[:2] == ["NumPy", "gpunumpy"])
    for program in PROGRAMS:
        beginning = f"{program.name:22}{program.describe(ELEMENTS)} "
        (line,) = (line for line in lines if line.startswith(beginning))
        cells = cells_of(line.removeprefix(beginning))
        assert len(cells) == len(header.split())
        assert [cell.endswith(" x") for cell in cells] == [False] + [True] * (len(cells) - 1)
    told = re.findall("^\\w+ is left out: .+", run[0], re.MULTILINE)
    assert 1 + len(peers._LIBRARIES) == len(told) + len(header.split())


class Texts(HTMLParser):
    """The texts of a page, and the elements that are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_has_what_was_printed(run: tuple[str, Path]) -> None:
    out, path = run
    text = path.read_text(encoding="utf-8")
    parser = Texts()
    parser.feed(text)
    parser.close()
    assert not parser.open
    assert {program.name for program in PROGRAMS} <= set(parser.texts)
    assert [cell for part in parser.texts for cell in cells_of(part)] == cells_of(out)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|\bsrc=|<link|@import|url\(|\{\{", text)


@needs_browser
def test_a_browser_draws_a_bar_for_each(run: tuple[str, Path], tmp_path: Path) -> None:
    out, path = run
    drawn = re.findall(r'<rect [^>]*rx="2" class="bar\d"', dom(path, tmp_path))
    libraries = len(peers._LIBRARIES) - out.count(" is left out: ")
    assert len(drawn) == (len(PROGRAMS) + 1) * libraries  # and the legend


def library(name: str) -> peers.Library:
    """A library on the device, if it is here and runs on it."""
    pytest.importorskip(name)
    try:
        return peers._LIBRARIES[name](default_device().kind)
    except peers.LeftOut as reason:
        pytest.skip(f"{name}: {reason}")


@pytest.mark.parametrize("name", ["gpunumpy", "cupy", "torch", "jax"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_libraries_agree(program: Program, name: str) -> None:
    other = library(name)
    arrays = program.arrays(ELEMENTS)
    expected = program.run(numpy, *arrays)
    found = program.run(other.np, *map(other.array, arrays))
    other.wait(found)
    values = numpy.asarray(_TO_HOST.get(name, lambda x: x)(found))
    assert (values.shape, values.dtype) == (expected.shape, expected.dtype)
    if program.name == DRAWS and name != "gpunumpy":
        assert abs((values - arrays[0]).std() - 1) < 0.1
    else:
        rtol = 1e-4 if program.dtype == "float32" else 1e-10
        numpy.testing.assert_allclose(values, expected, rtol=rtol, atol=rtol)


def test_bars_begin_at_one() -> None:
    svg = draw(["ours"], [Group("a < b", "of 3", [Bar(10.0, "fast")]), Group("c", "", [Bar(0.1, "slow")])])
    root = ElementTree.fromstring(svg)
    legend, fast, slow = root.iterfind("{*}rect")
    assert legend.get("class") == fast.get("class") == slow.get("class") == "bar0"
    assert float(fast.attrib["x"]) == pytest.approx(float(slow.attrib["x"]) + float(slow.attrib["width"]))
    assert float(fast.attrib["width"]) == pytest.approx(float(slow.attrib["width"]), abs=0.2)
    assert "a < b" in [text.text for text in root.iterfind("{*}text")]


def test_sizes_follow_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    class Device:
        shares_host_memory = False

        class attributes:
            total_memory = 0

    for gigabytes, elements in ((2, 2**22), (6, 2**23), (8, 2**24), (80, 2**24)):
        Device.attributes.total_memory = gigabytes << 30
        assert bench._elements(Device()) == elements


def test_an_unwritable_page_is_refused_at_once(monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(bench, "libraries", lambda kind: pytest.fail("it was run"))
    path = str(tmp_path / "no" / "page.html")
    assert main(["bench", path]) == 1
    assert path in capsys.readouterr().err


def test_libraries_that_are_broken_or_missing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(kind: str) -> peers.Library:
        raise ImportError("no libcudart", name="torch.lib")

    def missing(kind: str) -> peers.Library:
        raise ModuleNotFoundError("No module named 'jax'", name="jax")

    table = {"gpunumpy": peers._gpunumpy, "cupy": peers._cupy, "torch": broken, "jax": missing}
    monkeypatch.setattr(peers, "_LIBRARIES", table)
    found, left_out = peers.libraries("cpu")
    assert [library.name for library in found] == ["gpunumpy"]
    assert left_out == [
        "cupy is left out: it has no CPU device",
        "torch is left out: no libcudart",
        "jax is left out: it is not installed",
    ]


def test_a_program_that_a_library_cannot_run(monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path) -> None:
    names = {name: getattr(numpy, name) for name in ("sqrt", "exp", "sin", "sum", "roll", "random", "sort")}
    without_fft = dataclasses.replace(peers.NUMPY, name="other", np=SimpleNamespace(**names))
    monkeypatch.setattr(bench, "libraries", lambda kind: ([without_fft], []))
    monkeypatch.setattr(bench, "_CPU_ELEMENTS", ELEMENTS)
    monkeypatch.setattr(bench, "_MAX_ELEMENTS", ELEMENTS)
    monkeypatch.setattr(bench, "_WARM_UP_S", 0.0)
    monkeypatch.setattr(bench, "_MAX_REPEATS", 1)
    path = tmp_path / "page.html"
    assert main(["bench", str(path)]) == 1
    out, err = capsys.readouterr()
    assert re.search(r"^fft of rows .* failed$", out, re.MULTILINE)
    assert err.count("failed to run") == 1
    assert "other failed to run fft of rows: AttributeError(" in err
    assert path.read_text(encoding="utf-8").count("other failed to run fft of rows") == 1
