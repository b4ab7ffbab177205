"""Copies beside the work of a real GPU: random programs over streams and threads, beside NumPy."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime.async_copies import ArrivingBuffer, copies_of
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.runtime.page_locked import is_page_locked

pytestmark = pytest.mark.gpu

SIZE = 1 << 19
COUNT = 4


@pytest.fixture
def gpu() -> Device:
    return Device("cuda")


def pinned(fill: float, size: int = SIZE) -> Any:
    made = np.empty_pinned(size)
    made[:] = numpy.arange(size) % 1000 + fill
    return made


class Program:
    """Random expressions and copies, and NumPy's in the order of the program."""

    def __init__(self, seed: int) -> None:
        self.choice = random.Random(seed)
        self.streams = [np.Stream(non_blocking=True), np.Stream(), np.Stream.null]
        self.host = [pinned(float(k)) for k in range(COUNT)]
        self.expected_host = [x.copy() for x in self.host]
        self.made: list[Any] = [np.asarray(x, blocking=False) for x in self.host]
        self.expected = [x.copy() for x in self.host]
        self.results: list[tuple[Any, Any]] = []

    def step(self) -> None:
        choice, made, expected = self.choice, self.made, self.expected
        i, j, k = choice.sample(range(COUNT), 3)
        kind = choice.choice(["in place", "expression", "window", "send", "send", "fetch", "fetch", "result", "wait"])
        if kind == "in place":
            made[i] += made[j] * 0.5
            expected[i] = expected[i] + expected[j] * 0.5
        elif kind == "expression":
            made[k] = numpy.sqrt(numpy.abs(made[i] - made[j])) + 1
            expected[k] = numpy.sqrt(numpy.abs(expected[i] - expected[j])) + 1
        elif kind == "window":
            made[i][::2] = made[j][1::2]
            expected[i] = expected[i].copy()
            expected[i][::2] = expected[j][1::2].copy()
        elif kind == "send":
            made[i], expected[i] = np.asarray(self.host[j], blocking=False), self.expected_host[j].copy()
        elif kind == "fetch":
            made[i].get(out=self.host[j], blocking=False)
            self.expected_host[j] = expected[i].copy()
        elif kind == "result":
            self.results.append((made[i].get(blocking=False), expected[i].copy()))
        else:
            self.wait()

    def wait(self) -> None:
        stream = self.choice.choice(self.streams)
        if self.choice.random() < 0.5:
            with stream:
                event = stream.record()
            event.synchronize()
        else:
            with stream:
                stream.synchronize()
        for found, wanted in [*zip(self.host, self.expected_host, strict=True), *self.results]:
            numpy.testing.assert_array_equal(found, wanted)
        self.results.clear()

    def run(self) -> None:
        for _ in range(60):
            if self.choice.random() < 0.5:
                with self.choice.choice(self.streams):
                    self.step()
            else:
                self.step()
        self.wait()
        for x, wanted in zip(self.made, self.expected, strict=True):
            numpy.testing.assert_array_equal(x.get(), wanted)


@pytest.mark.parametrize("seed", range(8))
def test_random_programs_over_streams(gpu: Device, seed: int) -> None:
    with gpu:
        Program(seed).run()


def test_threads(gpu: Device) -> None:
    def work(seed: int) -> None:
        with gpu:
            Program(100 + seed).run()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def test_what_is_page_locked(gpu: Device) -> None:
    with gpu:
        assert is_page_locked(pinned(0.0), gpu)
        assert is_page_locked(pinned(0.0)[5:], gpu)
        assert not is_page_locked(pinned(0.0)[::2], gpu)
        assert not is_page_locked(numpy.ones(SIZE), gpu)
        x = np.asarray(pinned(1.0), blocking=False)
        assert type(x._node.data) is ArrivingBuffer
        assert type(np.asarray(numpy.ones(SIZE), blocking=False)._node.data) is not ArrivingBuffer
        found = x.get(blocking=False)
        assert is_page_locked(found, gpu)
        copies_of(gpu).synchronize()
        numpy.testing.assert_array_equal(found, pinned(1.0))


def test_small_page_locked_sources_are_read_at_once(gpu: Device) -> None:
    with gpu:
        source = pinned(3.0, 1 << 12)
        busy = np.asarray(numpy.ones((2048, 2048), numpy.float32))
        for _ in range(20):
            busy = busy @ busy * numpy.float32(1 / 2048)
        busy.computed()
        x = np.asarray(source)
        source[:] = 0
        numpy.testing.assert_array_equal(x.get(), pinned(3.0, 1 << 12))


def _torch_pinned() -> Any:
    torch = pytest.importorskip("torch")
    return torch.arange(SIZE, dtype=torch.float64).pin_memory().numpy()


def _cupy_pinned() -> Any:
    made = pytest.importorskip("cupyx").empty_pinned(SIZE)
    made[:] = numpy.arange(SIZE)
    return made


@pytest.mark.parametrize("make", [_torch_pinned, _cupy_pinned])
def test_page_locked_memory_of_other_libraries(gpu: Device, make: Callable[[], Any]) -> None:
    source = make()
    with gpu:
        assert is_page_locked(source, gpu)
        x = np.asarray(source, blocking=False)
        (x + 1).get(out=source, blocking=False)
        np.synchronize()
        numpy.testing.assert_array_equal(source, numpy.arange(SIZE) + 1.0)


def test_streams_of_torch(gpu: Device) -> None:
    torch = pytest.importorskip("torch")
    side = torch.cuda.Stream()
    with gpu, torch.cuda.stream(side):
        t = torch.ones(SIZE, dtype=torch.float64, device="cuda")
        for _ in range(10):
            t = t * 2
        with np.Stream.from_external(torch.cuda.current_stream()) as stream:
            x = np.from_dlpack(t) + 1
            found = x.get(blocking=False)
        back = torch.from_dlpack(x) * 2
        stream.synchronize()
        numpy.testing.assert_array_equal(found, numpy.full(SIZE, 1025.0))
        assert (back == 2050).all()
