"""Values that move beside the work of a GPU, on a pretended driver whose streams run in any order that is allowed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import memory, spill_store
from gpunumpy.core.runtime.spill import SpilledBuffer
from gpunumpy.kernels.cuda import compile as compile_module

from ...support import fake_driver
from ...support.queued_driver import QueuedDriver

pytest.importorskip("cuda.bindings.nvrtc")

SIZE = 1 << 13  # elements of an array here: those of 64 kB move ahead
BYTES = 8 * SIZE
ROOM = 10  # arrays


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[QueuedDriver]:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile_module, "_compile", lambda text, *target: text.encode())
    driver = fake_driver.install(monkeypatch, kind=QueuedDriver)
    assert isinstance(driver, QueuedDriver)
    with np.Device("cuda:0") as device:
        memory.set_memory_limit(memory.memory_info(device).used + ROOM * BYTES)
        yield driver
        memory.set_memory_limit(None)


def values(k: int) -> numpy.ndarray:
    return numpy.arange(SIZE) * 1.0 + k


def is_spilled(x: Any) -> bool:
    return type(x._node.data) is SpilledBuffer


class Program:
    """Random sums over more arrays than there is room for, beside NumPy's."""

    def __init__(self, seed: int, count: int) -> None:
        self.choice = random.Random(seed)
        self.made: list[Any] = [np.asarray(values(k)) for k in range(count)]
        self.expected = [values(k) for k in range(count)]

    def step(self) -> None:
        choice, made, expected = self.choice, self.made, self.expected
        i, j, k = choice.sample(range(len(made)), 3)
        kind = choice.choice(["number", "number", "array", "new", "look", "synchronize", "given"])
        if kind == "number":
            made[i] += float(i)
            made[i].computed()
            expected[i] += float(i)
        elif kind == "array":
            made[i] += made[j]
            made[i].computed()
            expected[i] += expected[j]
        elif kind == "new":
            made[k] = made[i] + made[j]
            made[k].computed()
            expected[k] = expected[i] + expected[j]
        elif kind == "given":
            made[i], expected[i] = np.asarray(values(i)), values(i)
        elif kind == "look":
            numpy.testing.assert_array_equal(made[i].get(), expected[i])
        else:
            np.synchronize()

    def check(self) -> None:
        for x, wanted in zip(self.made, self.expected, strict=True):
            numpy.testing.assert_array_equal(x.get(), wanted)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("pinned_share", [1.0, 0.3], ids=["pinned", "little pinned"])
def test_random_programs(gpu: QueuedDriver, seed: int, pinned_share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu.choice.seed(seed)
    store = spill_store.SpillStore(np.Device("cuda:0"))
    store._pinned_limit = int(20 * BYTES * pinned_share)
    monkeypatch.setattr("gpunumpy.core.runtime.spill._stores", {np.Device("cuda:0"): store})
    program = Program(seed, 20)
    for _ in range(80):
        program.step()
    assert sum(map(is_spilled, program.made)) >= 20 - ROOM
    program.check()
