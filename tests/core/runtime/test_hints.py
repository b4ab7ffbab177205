"""Hints: slow patterns on a pretended GPU are told once, at the user's line; on the CPU device nothing is told."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import _native
from gpunumpy.core.runtime import hints

from ...support import fake_driver

needs_core = pytest.mark.skipif(not _native.IS_COMPILED, reason="the core in C++ counts accesses to elements")


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hints are given, and those of other tests are as if they had not been."""
    monkeypatch.setattr(hints, "IS_ON", True)
    monkeypatch.setattr(hints, "_told", set())
    monkeypatch.setattr(hints, "_found", {})


@pytest.fixture
def gpu_array(monkeypatch: pytest.MonkeyPatch) -> Iterator[np.ndarray]:
    """An array of 800 kB on a GPU whose kernels do nothing."""
    fake_driver.install(monkeypatch)
    with np.Device("cuda:0"):
        yield np.asarray(numpy.ones(100_000))


def looks(x: np.ndarray, turns: int) -> None:
    for _ in range(turns):
        x = x * 0.5
        float(x.sum())


def copies(x: np.ndarray, turns: int) -> None:
    for _ in range(turns):
        x = x * 0.5
        np.asnumpy(x)


def reads(x: np.ndarray, turns: int) -> None:
    for k in range(turns):
        float(x[k])


def writes(x: np.ndarray, turns: int) -> None:
    for k in range(turns):
        x[k] = k


def recorded_reads(x: np.ndarray, turns: int) -> None:
    seen = x[10:]
    total: Any = 0
    for k in range(turns):
        total = total + x[k]
    assert seen.size


_PATTERNS = {
    "look": (looks, 2 * hints.HINTS["look"].interval * hints.HINTS["look"].times),
    "copy": (copies, 2 * hints.HINTS["copy"].interval * hints.HINTS["copy"].times),
    "read": (reads, 2 * hints.ELEMENT_COUNT),
    "write": (writes, 2 * hints.ELEMENT_COUNT),
    "recorded_read": (recorded_reads, 2 * hints.ELEMENT_COUNT),
}
_OF_ELEMENTS = ("read", "write", "recorded_read")


def told(pattern: Callable[[np.ndarray, int], None], x: np.ndarray, turns: int) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pattern(x, turns)
    return [warning for warning in caught if issubclass(warning.category, np.PerformanceWarning)]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs_core if name in _OF_ELEMENTS else ()) for name in _PATTERNS]
)
def test_a_slow_pattern_is_told_once_at_its_line(name: str, gpu_array: np.ndarray) -> None:
    np.set_residence("auto")
    pattern, turns = _PATTERNS[name]
    (hint,) = told(pattern, gpu_array, turns)
    text = hints.HINTS["elements" if name in _OF_ELEMENTS else name].text
    assert text[-40:] in str(hint.message)
    first = pattern.__code__.co_firstlineno
    assert hint.filename == __file__
    assert first < hint.lineno <= max(line for *_, line in pattern.__code__.co_lines() if line)
    assert not told(pattern, gpu_array * 1, turns)


@pytest.mark.parametrize("name", _PATTERNS)
def test_nothing_is_told_on_the_cpu_device(name: str) -> None:
    pattern, turns = _PATTERNS[name]
    with np.Device("cpu"):
        assert not told(pattern, np.asarray(numpy.ones(100_000)), turns)


@pytest.mark.parametrize("name", ["look", "copy"])
def test_nothing_is_told_where_it_is_switched_off(
    name: str, gpu_array: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "IS_ON", False)
    pattern, turns = _PATTERNS[name]
    assert not told(pattern, gpu_array, turns)


def results(x: np.ndarray, turns: int) -> None:
    """Look at results of many structures at one line, as a helper of a program does."""
    for k in range(turns):
        float((x * 0.5).sum() if k % 2 else x.mean() - 1)


def probes(x: np.ndarray, turns: int) -> None:
    """Read an element of what was computed as a whole in every turn."""
    for k in range(turns):
        x = x * 0.5
        if k % 100 == 0:
            float(x[10])


def frames(x: np.ndarray, turns: int) -> None:
    """Copy what many steps have made to the host."""
    for _ in range(turns // 10):
        for _ in range(2000):
            x = x * 0.5
        np.asnumpy(x)


def large(x: np.ndarray, turns: int) -> None:
    """Look at what takes the device longer than the host waits."""
    x = np.tile(x, 200)
    x.computed()
    for _ in range(turns):
        float((x * 0.5).sum())


@pytest.mark.parametrize(
    ("pattern", "harmless"), [("look", results), ("look", large), ("copy", frames), ("read", probes)]
)
def test_no_false_alarm(pattern: str, harmless: Callable[[np.ndarray, int], None], gpu_array: np.ndarray) -> None:
    assert not told(harmless, gpu_array, _PATTERNS[pattern][1])


@pytest.mark.parametrize("name", hints.HINTS)
def test_the_page_has_every_hint(name: str) -> None:
    page = Path(__file__).parents[3] / "docs" / "hints.md"
    quotations = " ".join(line.removeprefix("> ") for line in page.read_text().splitlines())
    assert hints.HINTS[name].text.format(device="cuda:0", size="8 MB") in quotations
