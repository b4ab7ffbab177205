"""Values that move beside the work of a GPU, on a pretended driver whose streams run in any order that is allowed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import memory, memory_copy, moves, spill_store
from gpunumpy.core.runtime.spill import SpilledBuffer
from gpunumpy.kernels.cuda import compile as compile_module

from ...support import fake_driver
from ...support.interruptions import Interruption, Tracer, interrupt
from ...support.queued_driver import QueuedDriver

pytest.importorskip("cuda.bindings.nvrtc")

SIZE = 1 << 13  # elements of an array here: those of 64 kB move ahead
BYTES = 8 * SIZE
LENGTHS = 4  # kinds of arrays: kernels over two of them are not joined
COUNT = 20  # of arrays


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[QueuedDriver]:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile_module, "_compile", lambda text, *target: text.encode())
    driver = fake_driver.install(monkeypatch, kind=QueuedDriver)
    assert isinstance(driver, QueuedDriver)
    with np.Device("cuda:0"):
        yield driver
        memory.set_memory_limit(None)


def leave_room(arrays: int) -> None:
    memory.set_memory_limit(np.memory_info().used + arrays * BYTES)


def values(k: int) -> numpy.ndarray:
    return numpy.arange(SIZE - 8 * (k % LENGTHS)) * 1.0 + k


def is_spilled(x: Any) -> bool:
    return type(x._node.data) is SpilledBuffer


class Program:
    """Random sums over more arrays than there is room for, beside NumPy's."""

    def __init__(self, seed: int) -> None:
        self.choice = random.Random(seed)
        self.made: list[Any] = [np.asarray(values(k)) for k in range(COUNT)]
        self.expected = [values(k) for k in range(COUNT)]

    def compute(self, function: Callable[[], Any]) -> Any:
        return function()

    def step(self) -> None:
        choice, made, expected = self.choice, self.made, self.expected
        i, j, k = choice.sample(range(choice.randrange(LENGTHS), COUNT, LENGTHS), 3)  # of one length
        kind = choice.choice(["number", "several", "several", "array", "new", "look", "synchronize", "given"])
        if kind == "number":
            made[i] += float(i)
            self.compute(made[i].computed)
            expected[i] += float(i)
        elif kind == "several":  # kernels of one plan
            for n in range(i, i + LENGTHS):
                made[n % COUNT] += float(j)
                expected[n % COUNT] += float(j)
            self.compute(made[i].computed)
        elif kind == "array":
            made[i] += made[j]
            self.compute(made[i].computed)
            expected[i] += expected[j]
        elif kind == "new":
            made[k] = made[i] + made[j]
            self.compute(made[k].computed)
            expected[k] = expected[i] + expected[j]
        elif kind == "given":
            made[i], expected[i] = np.asarray(values(i)), values(i)
        elif kind == "look":
            numpy.testing.assert_array_equal(self.compute(made[i].get), expected[i])
        else:
            np.synchronize()

    def check(self) -> None:
        for x, wanted in zip(self.made, self.expected, strict=True):
            numpy.testing.assert_array_equal(x.get(), wanted)


class InterruptedProgram(Program):
    """A program in which exceptions of signal handlers come in between, after which it tries again."""

    interrupted = 0

    def compute(self, function: Callable[[], Any]) -> Any:
        tracer = Tracer(self.choice.randrange(1, 600), interrupt)
        with suppress(Interruption):
            return tracer.run(function)
        self.interrupted += 1
        np.synchronize()
        return function()


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("pinned_arrays", [COUNT, 6])
def test_random_programs(gpu: QueuedDriver, seed: int, pinned_arrays: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run(Program(seed), seed, gpu, pinned_arrays, monkeypatch)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("pinned_arrays", [COUNT, 6])
def test_exceptions_in_the_midst(
    gpu: QueuedDriver, seed: int, pinned_arrays: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = InterruptedProgram(seed)
    run(program, seed, gpu, pinned_arrays, monkeypatch)
    assert program.interrupted > 5


def run(program: Program, seed: int, gpu: QueuedDriver, pinned_arrays: int, monkeypatch: pytest.MonkeyPatch) -> None:
    device = np.Device("cuda:0")
    own = moves.moves_of(device)
    gpu.choice.seed(seed)
    gpu.eagerness = seed % 3
    gpu.slow_stream = (None, own._outward, own._inward, device.stream)[seed // 3 % 4]
    room = (10, 5)[seed // 12]
    leave_room(room - sum(x._node.data is not None and not is_spilled(x) for x in program.made))
    store = spill_store.SpillStore(device)
    store._pinned_limit = pinned_arrays * BYTES
    monkeypatch.setattr("gpunumpy.core.runtime.spill._stores", {device: store})
    for _ in range(60):
        program.step()
    assert sum(map(is_spilled, program.made)) >= COUNT - room
    program.check()


def test_windows_are_put_together_on_the_host(gpu: QueuedDriver) -> None:
    """In page-locked memory, piece by piece."""
    source = numpy.arange(4e5).reshape(40, 100, 100)
    for window in (source[:, 10:90, ::-3], source.transpose(2, 0, 1)[1:], source[3], source[::2, 4, 5]):
        target = memory.allocate(np.Device("cuda:0"), window.nbytes)
        memory_copy.copy_from_host(target, 0, window)
        result = memory_copy.copy_to_host(target, 0, window.nbytes).view(float)
        numpy.testing.assert_array_equal(result, window.reshape(-1))


def test_slabs_of_columns(gpu: QueuedDriver) -> None:
    """Where a row does not fit, slabs read a part of each row: the operand moves to the device once."""
    expected = numpy.arange(float(1 << 20)).reshape(8, -1)
    memory.set_memory_limit(np.memory_info().used + (1 << 22))
    locked = gpu.calls.count("cuMemHostAlloc")
    x = np.asarray(expected)
    assert is_spilled(x)
    assert gpu.calls.count("cuMemHostAlloc") == locked  # it takes longer than to read pageable memory a dozen times
    before = gpu.bytes_to_device
    result = x + 1.0
    np.synchronize()
    assert is_spilled(result)
    assert expected.nbytes <= gpu.bytes_to_device - before < 1.1 * expected.nbytes
    numpy.testing.assert_array_equal(result.get(), expected + 1)
