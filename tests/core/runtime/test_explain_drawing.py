"""The drawing of `explain`: boxes for kernels, calls and arrays, arrows for values, and where notebooks get it."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.pictures.graph import Box, draw
from gpunumpy.core.runtime.explain import Explanation

from ...support.browser import needs_browser, screenshot

_SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with np.Device("cpu"):
        np.synchronize("cpu")
        yield


def pending() -> Any:
    x = np.asarray(numpy.ones((6, 8)))
    scaled = x - x.mean(axis=0)
    return np.sort(scaled @ scaled.T)


def texts_of(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{_SVG}text")]


def test_kernels_calls_and_arrays_are_boxes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = pending()
    printed = io.StringIO()
    np.explain(x, path=tmp_path / "x.svg", file=printed)
    assert not capsys.readouterr().out
    texts = texts_of((tmp_path / "x.svg").read_text())
    titles = [line.partition(":")[0] for line in printed.getvalue().splitlines()[1:] if line[0].isdigit()]
    assert len(titles) > 2
    assert [text for text in texts if text in titles] == titles
    assert "float64 6×8" in texts
    assert "float64 6×6" in texts
    assert x._node.data is None


def test_only_the_file_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.explain(pending(), path=str(tmp_path / "x.svg"))
    assert not capsys.readouterr().out
    assert (tmp_path / "x.svg").read_text().startswith("<svg")


def test_only_an_svg_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"an \.svg file, not '.*x\.png'"):
        np.explain(pending(), path=tmp_path / "x.png")
    assert not list(tmp_path.iterdir())


def test_an_array_that_is_updated_in_place_leads_to_its_kernel(tmp_path: Path) -> None:
    x = np.asarray(numpy.ones(100))
    x[2:] = 5.0
    np.explain(x, path=tmp_path / "x.svg")
    svg = (tmp_path / "x.svg").read_text()
    assert svg.count("marker-end") == 2
    assert texts_of(svg).count("float64 100") == 2


def test_nothing_to_run(tmp_path: Path) -> None:
    np.explain(path=tmp_path / "x.svg")
    assert texts_of((tmp_path / "x.svg").read_text()) == ["nothing to run on cpu: everything is computed"]


def test_a_notebook_shows_the_drawing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown: list[Any] = []
    shell = SimpleNamespace(kernel=None)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=shown.append))
    np.explain(pending())  # IPython on a terminal
    assert capsys.readouterr().out
    assert not shown
    shell.kernel = object()
    np.explain(pending())
    assert not capsys.readouterr().out
    (explanation,) = shown
    assert isinstance(explanation, Explanation)
    assert explanation._repr_svg_().startswith("<svg")
    assert "kernel" in repr(explanation)


def test_arrows_lead_past_the_boxes_between() -> None:
    boxes = [Box("array", "a"), Box("kernel", "b" * 30), Box("call", "c", ["text <&> " * 20])]
    tree = ElementTree.fromstring(draw(boxes, [(0, 1), (1, 2), (0, 2), (0, 2)]))
    paths = [path.get("d") or "" for path in tree.iter(f"{_SVG}path") if path.get("marker-end")]
    assert len(paths) == 3
    assert sum("L" in path for path in paths) == 1
    (middle,) = (r for r in tree.iter(f"{_SVG}rect") if r.get("fill") == "#e8f0fd")
    (line,) = (path for path in paths if "L" in path)
    x = float(line.partition("L")[2].split()[0])
    left = float(middle.get("x") or 0)
    assert not left <= x <= left + float(middle.get("width") or 0)


def test_arrows_bend_below_the_boxes_beside() -> None:
    """A short box beside a tall one: its arrow would be hidden by that one."""
    boxes = [Box("kernel", "tall", ["text"] * 9), Box("array", "short"), Box("kernel", "end")]
    tree = ElementTree.fromstring(draw(boxes, [(0, 2), (1, 2)]))
    tall = next(tree.iter(f"{_SVG}g"), tree).findall(f"{_SVG}rect")[1]
    bottom = float(tall.get("y") or 0) + float(tall.get("height") or 0)
    (line,) = (d for path in tree.iter(f"{_SVG}path") if "L" in (d := path.get("d") or ""))
    start, below = (point.split() for point in line.removeprefix("M").partition("C")[0].split("L"))
    assert start[0] == below[0]
    assert float(below[1]) == pytest.approx(bottom, abs=0.2)


@needs_browser
def test_a_browser_draws_it(tmp_path: Path) -> None:
    np.explain(pending(), path=tmp_path / "x.svg")
    pixels = screenshot(tmp_path / "x.svg", tmp_path)
    for red, green, blue in ((0xE8, 0xF0, 0xFD), (0xF0, 0xEA, 0xFB), (0xF6, 0xF7, 0xF9)):  # kernels, calls, arrays
        assert (pixels == (red, green, blue)).all(axis=2).sum() > 500


# --- arrays


def _html(x: Any) -> Any:
    return x._repr_html_()


@pytest.mark.parametrize("residence", ["auto", "device"])
def test_arrays_are_rich_where_text_is_cut(residence: str) -> None:
    np.set_residence(residence)
    assert _html(np.arange(1000.0)) is None
    shown = _html(np.arange(2002.0).reshape(2, 1001))
    where = "on the host" if residence == "auto" else "on cpu"
    assert shown.startswith(
        f"<div><b>ndarray</b> 2 × 1,001 float64, 16 kB {where}</div><pre style='font-family: monospace'>[["
    )
    assert shown.endswith("1.999e+03, 2.000e+03, 2.001e+03]]</pre>")


def test_subclasses_show_their_own_text() -> None:
    class Named(np.ndarray):
        """A subclass."""

    assert _html(np.arange(2000.0).view(Named)) is None
    assert getattr(np.ma.array(np.arange(2000.0)), "_repr_html_", lambda: None)() is None


def test_texts_are_escaped() -> None:
    shown = _html(np.array(["<b>"] * 2000))
    assert "&lt;b&gt;" in shown
    assert "&lt;U3" in shown
