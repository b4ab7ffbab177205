"""Copies that the host does not wait for, on a pretended driver whose streams run in any order that is allowed."""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import async_copies, memory, memory_copy, moves, page_locked
from gpunumpy.core.runtime.async_copies import ArrivingBuffer
from gpunumpy.core.runtime.marks import Mark
from gpunumpy.core.runtime.memory_pool import PoolBuffer
from gpunumpy.cuda import ExternalStream
from gpunumpy.kernels.cuda import compile as compile_module

from ...support import fake_driver
from ...support.interruptions import Interruption, Tracer, interrupt
from ...support.queued_driver import QueuedDriver

pytest.importorskip("cuda.bindings.nvrtc")

SIZE = 1 << 13  # elements of an array here
COUNT = 4  # of arrays of each kind


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[QueuedDriver]:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile_module, "_compile", lambda text, *target: text.encode())
    driver = fake_driver.install(monkeypatch, kind=QueuedDriver)
    assert isinstance(driver, QueuedDriver)
    with np.Device("cuda:0"):
        yield driver
        memory.set_memory_limit(None)


def pinned(fill: float, size: int = SIZE) -> Any:
    made = np.empty_pinned(size)
    made[:] = numpy.arange(size) + fill
    return made


def last_mark() -> Mark:
    """Behind the last copy."""
    mark = copies()._under_way[-1].mark
    assert mark is not None
    return mark


def copies() -> async_copies.AsyncCopies:
    return async_copies.copies_of(np.Device("cuda:0"))


class Program:
    """Random sums and copies over streams, beside NumPy's, which run in the order of the program."""

    def __init__(self, seed: int, streams: list[Any], size: int = SIZE) -> None:
        self.choice = random.Random(seed)
        self.streams = streams
        self.host = [pinned(float(k), size) for k in range(COUNT)]
        self.expected_host = [x.copy() for x in self.host]
        self.made: list[Any] = [np.asarray(x, blocking=False) for x in self.host]
        self.expected = [x.copy() for x in self.host]
        self.results: list[tuple[Any, numpy.ndarray]] = []
        self.is_over = False  # whether the host has waited for all copies

    def step(self) -> None:
        choice, made, expected = self.choice, self.made, self.expected
        i, j, k = choice.sample(range(COUNT), 3)
        kind = choice.choice(
            ["number", "array", "new", "send", "send", "fetch", "fetch", "result", "blocking", "wait", "drop", "host"]
        )
        if kind == "number":
            self.add_number(i)
            self.run(made[i].computed)  # the driver here has no kernel of several sums
        elif kind == "array":
            made[i] += made[j]
            self.run(made[i].computed)
            expected[i] = expected[i] + expected[j]
        elif kind == "new":
            made[k] = made[i] + made[j]
            self.run(made[k].computed)
            expected[k] = expected[i] + expected[j]
        elif kind == "send":
            made[i] = self.run(lambda: np.asarray(self.host[j], blocking=False))
            expected[i] = self.expected_host[j].copy()
            self.is_over = False
        elif kind == "fetch":
            self.add_number(i)
            assert self.run(lambda: made[i].get(out=self.host[j], blocking=False)) is self.host[j]
            self.expected_host[j] = expected[i]
            self.is_over = False
        elif kind == "result":
            self.results.append((self.run(lambda: made[i].get(blocking=False)), expected[i]))
            self.is_over = False
        elif kind == "blocking":
            self.run(lambda: made[i].get(out=self.host[j]))
            self.expected_host[j] = expected[i]
            made[k], expected[k] = np.asarray(self.host[k]), self.expected_host[k].copy()
        elif kind == "wait":
            self.wait()
        elif kind == "drop":  # before it is read
            self.run(lambda: np.asarray(self.host[i], blocking=False))
            self.is_over = False
        elif self.is_over:
            self.host[i] += 1.0
            self.expected_host[i] = self.expected_host[i] + 1.0

    def run(self, function: Callable[[], Any]) -> Any:
        return function()

    def add_number(self, i: int) -> None:
        self.made[i] += float(i)
        self.expected[i] = self.expected[i] + float(i)

    def wait(self) -> None:
        """Wait in one of the ways that there are, and look at all that is on the host then."""
        stream = self.choice.choice(self.streams)
        kind = self.choice.choice(["device", "null", "event", "event of null", "context"])
        if kind == "device":
            np.synchronize()
        elif kind == "null":
            np.Stream.null.synchronize()
        elif kind == "event":
            with stream:
                event = stream.record()
            event.synchronize()
        elif kind == "event of null":
            np.Stream.null.record().synchronize()
        else:
            with stream:
                pass
            stream.synchronize()
        self.is_over = True
        self.look()

    def look(self) -> None:
        for x, wanted in zip(self.host, self.expected_host, strict=True):
            numpy.testing.assert_array_equal(x, wanted)
        for x, wanted in self.results:
            numpy.testing.assert_array_equal(x, wanted)
        self.results.clear()

    def check(self) -> None:
        self.wait()
        for x, wanted in zip(self.made, self.expected, strict=True):
            numpy.testing.assert_array_equal(x.get(), wanted)


Programs = TypeVar("Programs", bound=Program)


class InterruptedProgram(Program):
    """A program in which exceptions of signal handlers come in between, after which it tries again."""

    interrupted = 0

    def run(self, function: Callable[[], Any]) -> Any:
        tracer = Tracer(self.choice.randrange(1, 150), interrupt)
        with suppress(Interruption):
            return tracer.run(function)
        self.interrupted += 1
        return function()


@pytest.mark.parametrize("seed", range(48))
@pytest.mark.sampled(12)
def test_random_programs_over_streams(gpu: QueuedDriver, seed: int) -> None:
    run(Program, gpu, seed)


@pytest.mark.parametrize("seed", range(48))
@pytest.mark.sampled(12)
def test_exceptions_in_the_midst(gpu: QueuedDriver, seed: int) -> None:
    assert run(InterruptedProgram, gpu, seed).interrupted > 2


def run(kind: type[Programs], gpu: QueuedDriver, seed: int) -> Programs:
    device = np.Device("cuda:0")
    streams = [np.Stream(non_blocking=True) for _ in range(2)]
    streams.append(ExternalStream(streams[0]))
    own = moves.moves_of(device)
    gpu.choice.seed(seed)
    gpu.eagerness = seed % 3
    gpu.slow_stream = (None, own._outward, own._inward, device.stream)[seed // 3 % 4]
    if seed % 2:
        memory.set_memory_limit(np.memory_info().used + 24 * 8 * SIZE)
    program = kind(seed, streams)
    for _ in range(30):
        if program.choice.random() < 0.5:
            with program.choice.choice(streams):
                program.step()
        else:
            program.step()
    program.check()
    return program


def test_results_in_a_row_each_have_a_snapshot(gpu: QueuedDriver) -> None:
    gpu.stopped_stream = moves.moves_of(np.Device("cuda:0"))._outward
    gpu.eagerness = 9
    x, results = np.asarray(pinned(0.0), blocking=False), []
    for _ in range(12):
        x += 1.0
        results.append(x.get(blocking=False))
    gpu.stopped_stream = None
    np.synchronize()
    for k, result in enumerate(results):
        numpy.testing.assert_array_equal(result, numpy.arange(SIZE) + k + 1.0)


def test_a_copy_to_the_device_waits_for_no_recent_work(gpu: QueuedDriver) -> None:
    """Once so many blocks are in use that each has rested."""
    device = np.Device("cuda:0")
    gpu.eagerness = 0
    for k in range(8):
        y = np.asarray(pinned(float(k)), blocking=False) + 1.0
        y.get(blocking=False)
    copies().synchronize()
    gpu.stopped_stream = device.stream
    y = np.asarray(pinned(8.0), blocking=False) + 1.0
    y.computed()
    x = np.asarray(pinned(9.0), blocking=False)
    last_mark().wait()  # though the sum has not begun
    assert not moves.mark_on(device, device.stream).has_happened()
    gpu.stopped_stream = None
    numpy.testing.assert_array_equal((x + y).get(), 2.0 * numpy.arange(SIZE) + 18.0)


def test_work_waits_for_no_copy_to_the_host(gpu: QueuedDriver) -> None:
    device = np.Device("cuda:0")
    x = np.asarray(pinned(0.0), blocking=False)
    x.get(blocking=False)
    gpu.stopped_stream = moves.moves_of(device)._outward
    first = x.get(blocking=False)
    x += 1.0
    x.computed()
    gpu.cuStreamSynchronize(device.stream)
    assert not copies().are_over()
    assert not np.Stream.null.done
    gpu.stopped_stream = None
    np.Stream.null.synchronize()
    assert copies().are_over()
    numpy.testing.assert_array_equal(first, numpy.arange(SIZE))


def test_without_room_for_a_snapshot_later_work_waits(gpu: QueuedDriver) -> None:
    x = np.asarray(pinned(0.0), blocking=False)
    x.computed()
    x += 1.0
    x.computed()
    memory.free_all_blocks()
    memory.set_memory_limit(np.memory_info().used)
    results = []
    gpu.slow_stream = moves.moves_of(np.Device("cuda:0"))._outward
    for _ in range(3):
        results.append(x.get(blocking=False))
        x += 1.0
        x.computed()
    np.synchronize()
    for k, result in enumerate(results):
        numpy.testing.assert_array_equal(result, numpy.arange(SIZE) + k + 1.0)


def test_memory_that_a_copy_uses_stays_alive(gpu: QueuedDriver) -> None:
    gpu.eagerness = 0
    x = np.asarray(pinned(1.0), blocking=False)
    other = pinned(7.0)  # not the memory that was dropped
    x.get(blocking=False)  # to memory that is dropped too
    numpy.testing.assert_array_equal(x.get(), numpy.arange(SIZE) + 1.0)
    np.synchronize()
    numpy.testing.assert_array_equal(other, numpy.arange(SIZE) + 7.0)
    del x, other
    np.empty_pinned(SIZE)  # the copies that are over are forgotten at the next one
    copies().synchronize()
    gc.collect()
    assert page_locked.count_free_blocks() >= 2
    before = gpu.calls.count("cuMemFreeHost")
    np.get_default_pinned_memory_pool().free_all_blocks()
    assert np.get_default_pinned_memory_pool().n_free_blocks() == 0
    assert gpu.calls.count("cuMemFreeHost") > before


def test_what_arrives_is_an_ordinary_value_once_it_is_read(gpu: QueuedDriver) -> None:
    x = np.asarray(pinned(0.0), blocking=False)
    buffer = x._node.data
    assert type(buffer) is ArrivingBuffer
    assert "on their way" in repr(buffer)
    (x + 1.0).computed()
    assert type(buffer) is PoolBuffer
    exported = np.asarray(pinned(0.0), blocking=False)
    exported._node.data.mark_used_by_other_stream()
    assert type(exported._node.data) is PoolBuffer


@pytest.mark.parametrize("order", "CFAK")
def test_memory_orders(gpu: QueuedDriver, order: str) -> None:
    """Those that need no kernel: the driver here has none for copies."""
    expected = pinned(0.0).reshape(64, -1)
    x = np.asarray(expected, blocking=False)
    if order == "F":
        x = x.T
    cases = [(x, expected.T if order == "F" else expected)]
    for y, wanted in [*cases, (x.T, expected.T)] if order in "AK" else cases:
        found = y.get(order=order, blocking=False)
        np.synchronize()
        numpy.testing.assert_array_equal(found, wanted)
        assert found.strides == wanted.copy(order).strides


def test_what_the_host_waits_for_all_the_same(gpu: QueuedDriver) -> None:
    x = np.asarray(pinned(0.0), blocking=False)
    pageable, strided, single = numpy.empty(SIZE), np.empty_pinned(2 * SIZE)[::2], np.empty_pinned(SIZE, "float32")
    for out in (pageable, strided, single):
        assert x.get(out=out, blocking=False) is out
        numpy.testing.assert_array_equal(out, numpy.arange(SIZE))
    few = np.asarray(np.zeros_like_pinned(x, shape=8), blocking=False).get(blocking=False)
    numpy.testing.assert_array_equal(few, numpy.zeros(8))
    numpy.testing.assert_array_equal(np.asarray(pageable, blocking=False).get(), pageable)
    mask = np.zeros_like_pinned(pageable, dtype=bool, shape=SIZE * 8)
    x = np.asarray(mask, blocking=False)
    mask[:] = True
    assert not x.get().any()


def test_copies_between_page_locked_memory_and_the_gpu_take_no_chunk(gpu: QueuedDriver) -> None:
    """Also those that the host waits for."""
    source, target = pinned(0.0), pinned(0.0)
    gpu.eagerness = 0
    x = np.asarray(source)
    source[:] = 0.0  # has been read
    assert (x + 1.0).get(out=target) is target
    numpy.testing.assert_array_equal(target, numpy.arange(SIZE) + 1.0)
    assert not memory_copy._stages
    numpy.testing.assert_array_equal(x.get(), numpy.arange(SIZE))
    assert memory_copy._stages  # of other memory


def test_foreign_streams_come_before_copies_and_after_them(gpu: QueuedDriver) -> None:
    stream = np.Stream(non_blocking=True)
    x = np.asarray(pinned(0.0), blocking=False)
    np.synchronize()
    gpu.stopped_stream = stream.ptr
    source = pinned(1.0)
    gpu.cuMemcpyHtoDAsync(x.data_ptr(), source.ctypes.data, source.nbytes, stream.ptr)
    result = x.get(stream=stream, blocking=False)
    copied = last_mark()
    assert not copied.has_happened()
    gpu.stopped_stream = None
    stream.synchronize()
    assert copied.has_happened()
    numpy.testing.assert_array_equal(result, numpy.arange(SIZE) + 1.0)


def test_streams_wait_for_events_and_streams(gpu: QueuedDriver) -> None:
    first, second = np.Stream(non_blocking=True), np.Stream(non_blocking=True)
    target, source = pinned(0.0), pinned(1.0)
    gpu.slow_stream = first.ptr
    gpu.cuMemcpyHtoDAsync(target.ctypes.data, source.ctypes.data, source.nbytes, first.ptr)
    second.wait(first)
    np.Stream.null.wait(second.record())
    x = np.asarray(target, blocking=False)
    numpy.testing.assert_array_equal((x + 1.0).get(), numpy.arange(SIZE) + 2.0)
    with pytest.raises(TypeError, match="waits for an Event or a Stream, not 'int'"):
        first.wait(3)


def test_threads_with_streams_of_their_own(gpu: QueuedDriver) -> None:
    def work(seed: int) -> None:
        with np.Device("cuda:0"):
            size = SIZE - 8 * seed  # kernels over two of them are not joined
            program = Program(seed, [np.Stream(non_blocking=True) for _ in range(2)], size)
            for _ in range(20):
                with program.choice.choice(program.streams):
                    program.step()
            program.check()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


@pytest.mark.parametrize("seed", range(12))
def test_threads_that_share_arrays(gpu: QueuedDriver, seed: int) -> None:
    """Of one thread after the other, each in a stream of its own: no event of the program's orders the streams."""
    gpu.choice = random.Random(seed)
    streams = [np.Stream(non_blocking=True) for _ in range(3)]
    program = Program(seed, streams)
    turns = [threading.Event() for _ in range(31)]
    turns[0].set()

    def work(first: int) -> None:
        with np.Device("cuda:0"):
            for turn in range(first, 30, 3):
                assert turns[turn].wait(60)
                with streams[first]:
                    program.step()
                turns[turn + 1].set()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))
    program.check()


def test_page_locked_arrays(device: str) -> None:
    with np.Device(device):
        empty = np.empty_pinned((3, 4), "float32", "F")
        assert (empty.shape, empty.dtype, empty.flags.f_contiguous) == ((3, 4), numpy.float32, True)
        zeros = np.zeros_like_pinned(empty)
        assert zeros.flags.f_contiguous
        assert not zeros.any()
        assert np.empty_like_pinned(np.ones(5), int).dtype == int
        assert np.zeros_pinned(3).tolist() == [0, 0, 0]
        assert np.cuda.alloc_pinned_memory(100).nbytes == 100
        with pytest.raises(TypeError, match="not elements of object"):
            np.empty_pinned(3, object)
        with pytest.raises(TypeError, match="NumPy's own class"):
            np.empty_like_pinned(empty, subok=True)
        x = np.asarray(np.zeros_pinned(1 << 16), blocking=False) + 1
        found = x.get(blocking=False)
        np.synchronize()
        assert (found == 1).all()
