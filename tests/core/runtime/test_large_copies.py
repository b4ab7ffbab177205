"""Copies that helper threads share, between the program's memory and that of devices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.helpers import Job
from gpunumpy.core.runtime import memory_copy

from ...support import fake_driver

CHUNK = 1 << 12
VALUES = numpy.arange(40_000.0).reshape(100, 400)  # 320 KB, of which a row takes 3,200 bytes
SOURCES: dict[str, Callable[[Any], Any]] = {
    "one piece": lambda x: x,
    "no whole number of chunks": lambda x: x.reshape(-1)[:-13],
    "every second row": lambda x: x[::2],
    "every third column": lambda x: x[:, ::3],
    "rows that are longer than a chunk": lambda x: x.reshape(4, 10_000),
    "bytes": lambda x: x.view(numpy.uint8),
}


@pytest.fixture(params=["gpu", "cpu"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setattr(memory_copy, "CHUNK_BYTES", CHUNK)
    if request.param == "cpu":
        return "cpu"
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path / "kernels"))
    fake_driver.install(monkeypatch)
    return "cuda:0"


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The calls that a copy gives to helpers."""
    made: list[Job] = []

    class Noted(Job):
        def __init__(self, function: Callable[[], object]) -> None:
            super().__init__(function)
            made.append(self)

    monkeypatch.setattr(memory_copy, "Job", Noted)
    return made


@pytest.mark.parametrize("count", [1, 2, 8])
@pytest.mark.parametrize("source", SOURCES)
def test_values(monkeypatch: pytest.MonkeyPatch, device: str, source: str, count: int) -> None:
    monkeypatch.setattr(memory_copy, "workers", lambda: count)
    data = SOURCES[source](VALUES.copy())
    expected = data.copy()
    x = np.asarray(data, device=device)
    data[...] = 0  # as soon as the call is over
    numpy.testing.assert_array_equal(x.get(), expected)


def test_helpers_share_large_copies(monkeypatch: pytest.MonkeyPatch, device: str, jobs: list[Job]) -> None:
    monkeypatch.setattr(memory_copy, "workers", lambda: 4)
    x = np.asarray(VALUES, device=device)
    there = len(jobs)
    assert there >= VALUES.nbytes // CHUNK
    x.get()
    assert len(jobs) > there
    del jobs[:]
    np.asarray(VALUES[0], device=device).get()
    assert not jobs


@pytest.mark.parametrize("place", range(6))
def test_no_helper_copies_after_an_exception(
    monkeypatch: pytest.MonkeyPatch, device: str, jobs: list[Job], place: int
) -> None:
    monkeypatch.setattr(memory_copy, "workers", lambda: 4)
    end_first, calls = memory_copy._Copying._end_first, [0]

    def interrupted(copying: Any) -> None:
        if calls[0] == place:
            raise KeyboardInterrupt
        calls[0] += 1
        end_first(copying)

    monkeypatch.setattr(memory_copy._Copying, "_end_first", interrupted)
    with pytest.raises(KeyboardInterrupt):
        np.asarray(VALUES, device=device)
    assert jobs
    assert all(job._is_over for job in jobs)
    monkeypatch.setattr(memory_copy._Copying, "_end_first", end_first)
    numpy.testing.assert_array_equal(np.asarray(VALUES, device=device).get(), VALUES)


def test_an_error_of_a_helper_is_raised(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    monkeypatch.setattr(memory_copy, "workers", lambda: 4)

    def copyto(target: Any, source: Any) -> None:
        raise RuntimeError("no copy")

    monkeypatch.setattr(numpy, "copyto", copyto)
    with pytest.raises(RuntimeError, match="no copy"):
        np.asarray(VALUES, device=device)


def test_a_process_without_free_helpers_copies_by_itself(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    monkeypatch.setattr(memory_copy, "workers", lambda: 4)
    monkeypatch.setattr(Job, "start", lambda job: None)
    x = np.asarray(VALUES, device=device)
    numpy.testing.assert_array_equal(x.get(), VALUES)
