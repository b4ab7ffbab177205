"""Launches of indexed writes on a GPU that is not there."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.helpers import Job
from gpunumpy.kernels.cuda import compile as compile_module

from ..support import fake_driver


def test_equal_duplicates_are_written_by_one_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the kernel that computes them, by the thread that flushes: no exception leaves a part of the write."""
    driver = fake_driver.install(monkeypatch)
    monkeypatch.setattr(compile_module, "_compile", lambda text, *target: b"image")
    monkeypatch.setattr(compile_module, "_image_on_disk", lambda key: None)
    monkeypatch.setattr(compile_module, "_image_of_package", lambda key: None)
    jobs: list[Any] = []

    start = Job.start
    monkeypatch.setattr(Job, "start", lambda job: (jobs.append(job), start(job)))
    with np.Device("cuda:0"):
        counts, where = np.array(numpy.zeros(5000)), np.array(numpy.arange(4000))
        np.synchronize()
        for _ in range(3):
            counts[where] += 1
            counts.computed()
        names = [name for _, name in driver.launched]
        assert len(names) == 6
        assert names[1::2] == [b"write"] * 3
        assert not jobs
        counts[where] = np.array(numpy.zeros(4000))
        counts.computed()
        assert [name for _, name in driver.launched[6:]] == [b"clear", b"bid", b"write"]
        assert len(jobs) == 1
