"""CUDA graphs of functions, and capture by other libraries, on a pretended driver that captures."""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.arrays.stream_order import Borrowed
from gpunumpy.core.runtime import memory
from gpunumpy.cuda import ExternalStream
from gpunumpy.cuda.capture import close
from gpunumpy.cuda.graph import destroy_dropped
from gpunumpy.kernels.cuda import compile as compile_module

from ..support import fake_driver
from ..support.capturing_driver import CapturingDriver

pytest.importorskip("cuda.bindings.nvrtc")

SIZE = 1 << 13


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[CapturingDriver]:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile_module, "_compile", lambda text, *target: text.encode())
    driver = fake_driver.install(monkeypatch, kind=CapturingDriver)
    assert isinstance(driver, CapturingDriver)
    with np.Device("cuda:0"):
        yield driver
        memory.set_memory_limit(None)


def numbers(fill: float) -> Any:
    return np.asarray(numpy.arange(float(SIZE)) + fill)


def plain(fill: float = 0.0, times: float = 1.0) -> numpy.ndarray:
    return times * numpy.arange(float(SIZE)) + fill


def check(found: Any, wanted: numpy.ndarray) -> None:
    numpy.testing.assert_array_equal(found.get(), wanted)


def plus(x: Any, *terms: Any) -> Any:
    """The sum, by a kernel for each term: the driver here has none of several."""
    for term in terms:
        x = x + term
        x.computed()
    return x


def test_a_function_is_replayed(gpu: CapturingDriver) -> None:
    calls: list[int] = []

    @np.graph
    def add(x: Any, y: Any) -> Any:
        calls.append(1)
        z = plus(x, y)
        return plus(z, 1.0), z

    x, y = numbers(0.0), numbers(5.0)
    check(add(x, y)[0], plain(6.0, 2.0))  # as without a graph
    first = add(x, y)
    check(first[0], plain(6.0, 2.0))
    launches = gpu.launches
    for k in range(3):
        x += 1.0
        x.computed()
        assert add(x, y) is first
        check(first[0], plain(7.0 + k, 2.0))
        check(first[1], plain(6.0 + k, 2.0))
    assert (len(calls), gpu.launches - launches, add.graphs) == (2, 3, 1)


def test_other_arrays_have_another_graph_and_views_the_same(gpu: CapturingDriver) -> None:
    y = numbers(0.0)

    @np.graph
    def twice(x: Any) -> Any:
        return x + y

    x, other = numbers(0.0), numbers(1.0)
    twice(x)
    first = twice(x[:])
    assert twice(x) is first
    for _ in range(2):
        assert twice(other) is not first
    check(twice(other), plain(1.0, 2.0))
    check(twice(x), plain(0.0, 2.0))
    assert twice.graphs == 2
    for k in range(12):
        z = numbers(float(k))
        for _ in range(2):
            twice(z)
    assert twice.graphs == 8
    twice.clear()
    assert twice.graphs == 0
    check(first, plain(0.0, 2.0))


def test_arrays_that_are_written_in_place(gpu: CapturingDriver) -> None:
    """The argument and another one, for which an eager program would take new memory."""
    total, counted, small = numbers(0.0), np.zeros(SIZE), np.asarray([1.0, 2.0])

    @np.graph
    def step(x: Any) -> Any:
        nonlocal total, counted
        x += 1.0
        x.computed()
        total += x
        total.computed()
        counted += 2.0
        counted.computed()
        return small + 1.0

    x = numbers(0.0)
    expected_x, expected_total = plain(), plain()
    for k in range(4):
        numpy.testing.assert_array_equal(step(x).get(), [k + 2.0, k + 3.0])
        small += 1.0
        expected_x = expected_x + 1.0
        expected_total = expected_total + expected_x
        check(x, expected_x)
        check(total, expected_total)
        check(counted, numpy.full(SIZE, 2.0 * k + 2))
    assert step.graphs == 1


def test_values_that_wait_see_what_was_before(gpu: CapturingDriver) -> None:
    @np.graph
    def step(x: Any) -> Any:
        return x + 1.0

    x = numbers(0.0)
    step(x)
    y = step(x)
    before = y + 5.0
    step(x)
    check(before, plain(6.0))
    check(y, plain(1.0))


def test_small_arrays_and_arrays_of_the_host(gpu: CapturingDriver) -> None:
    added = numpy.arange(8.0)

    @np.graph
    def step(x: Any) -> Any:
        return x + np.asarray(added)

    x = np.asarray(numpy.arange(8.0))
    for _ in range(3):
        numpy.testing.assert_array_equal(step(x).get(), 2 * numpy.arange(8.0))


@pytest.mark.parametrize(
    ("name", "look"),
    [
        ("a copy to the host", lambda x: x.get()),
        ("to wait for the device", lambda x: np.synchronize()),
        ("to wait for an event", lambda x: np.Event().synchronize()),
        ("a copy that the host does not wait for", lambda x: x.get(blocking=False)),
        ("a copy that the host does not wait for", lambda x: np.asarray(np.empty_pinned(SIZE), blocking=False)),
    ],
)
def test_what_cannot_be_captured(gpu: CapturingDriver, name: str, look: Any) -> None:
    def step(x: Any) -> Any:
        x += 1.0
        look(x)
        return x + 1.0

    x = numbers(-1.0)
    replayed = np.graph(step)
    replayed(x)
    with pytest.raises(np.DeviceError, match=f"({name}) cannot be captured in a CUDA graph: kernels and library calls"):
        replayed(x)
    check(x, plain(1.0))  # what came before has run
    added = np.graph(lambda x: x + 1.0)
    for _ in range(3):
        check(added(x), plain(2.0))


def test_a_block_of_another_stream_cannot_be_captured(gpu: CapturingDriver) -> None:
    stream = np.Stream(non_blocking=True)

    def step(x: Any) -> Any:
        with stream:
            return x + 1.0

    x, replayed = numbers(0.0), np.graph(step)
    replayed(x)
    with pytest.raises(np.DeviceError, match="a block of a stream that is not captured cannot be captured"):
        replayed(x)
    assert np.cuda.get_current_stream() is np.Stream.null


def test_exceptions_of_the_function(gpu: CapturingDriver) -> None:
    def step(x: Any) -> Any:
        x += 1.0
        raise ZeroDivisionError

    x, replayed = numbers(0.0), np.graph(step)
    for k in range(3):
        with pytest.raises(ZeroDivisionError):
            replayed(x)
        check(x, plain(k + 1.0))


def test_what_the_driver_refuses(gpu: CapturingDriver) -> None:
    @np.graph
    def step(x: Any) -> Any:
        return x + 1.0

    x = numbers(0.0)
    step(x)
    gpu.refuse = lambda name: "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" if name == "cuGraphInstantiate" else None
    with pytest.raises(np.DeviceError, match="CAPTURE_UNSUPPORTED"):
        step(x)
    gpu.refuse = lambda name: None
    check(step(x), plain(1.0))


def test_arguments(gpu: CapturingDriver) -> None:
    @np.graph
    def scaled(x: Any, k: Any = 1.0) -> Any:
        return x + k

    x = numbers(0.0)
    for _ in range(3):
        check(scaled(x), plain(1.0))
        check(scaled(x, k=2.0), plain(2.0))
        check(scaled(x, 3.0), plain(3.0))
    assert scaled.graphs == 3
    assert vars(scaled)["__name__"] == "scaled"
    assert "scaled" in repr(scaled)
    with pytest.raises(TypeError, match="a function of arrays, not 'int'"):
        np.graph(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="arrays and hashable values, not 'list'"):
        scaled([x])
    with pytest.raises(ValueError, match="of one device"):
        scaled(x, np.asarray([1.0], device="cpu"))


def test_equal_arguments_that_are_not_the_same(gpu: CapturingDriver) -> None:
    seen: list[Any] = []

    @np.graph
    def noted(x: Any, k: Any) -> Any:
        seen.append(k)
        return x + 1.0

    x = numbers(0.0)
    given = [0.0, -0.0, 0, False, (1, 2), (1.0, 2), (1, (2,)), (1, (2.0,)), complex(0.0, -0.0), complex(0.0, 0.0)]
    for k in given[:4]:
        noted(x, k)
    assert list(map(repr, seen)) == list(map(repr, given[:4]))
    for k in given[4:]:
        noted(x, k)
    assert list(map(repr, seen)) == list(map(repr, given))
    with pytest.raises(TypeError, match="arrays and hashable values, not 'tuple'"):
        noted(x, (x,))


def test_what_is_exported_meanwhile_stays_so(gpu: CapturingDriver) -> None:
    x, y, others = numbers(0.0), numbers(1.0), numbers(2.0)

    @np.graph
    def step(x: Any) -> Any:
        if x.device.capture is not None:
            y.data_ptr()
        return x + 1.0

    for _ in range(2):
        step(x)
    assert x._node.data.exported
    assert y._node.data.exported
    assert not others._node.data.exported


def test_without_arguments(gpu: CapturingDriver) -> None:
    x = numbers(0.0)
    step = np.graph(lambda: x + 1.0)
    for k in range(4):
        check(step(), plain(k + 1.0))
        x += 1.0
    assert step.graphs == 1


def test_methods(gpu: CapturingDriver) -> None:
    class Model:
        def __init__(self, k: float) -> None:
            self.k = k

        @np.graph
        def added(self, x: Any) -> Any:
            return x + self.k

    x = numbers(0.0)
    for model in (Model(1.0), Model(2.0)):
        for _ in range(3):
            check(model.added(x), plain(model.k))
    assert Model.added.graphs == 2


def test_memory_of_a_graph_is_its_own_until_it_goes(gpu: CapturingDriver) -> None:
    @np.graph
    def step(x: Any) -> Any:
        return plus(x, 1.0, x)

    x = numbers(0.0)
    np.synchronize()
    before = memory.memory_info().used
    step(x)
    y = step(x)
    others = [plus(numbers(float(k)), 1.0) for k in range(8)]
    x += 1.0
    step(x)
    for k, other in enumerate(others):
        check(other, plain(k + 1.0))
    check(y, plain(3.0, 2.0))
    step.clear()
    del others, other
    gc.collect()
    destroy_dropped()
    assert not gpu.graphs
    check(y, plain(3.0, 2.0))
    del y
    gc.collect()
    plus(numbers(0.0), 1.0)
    np.free_all_blocks()
    assert memory.memory_info().used <= before
    assert not memory.pool_of(np.Device("cuda:0")).reserved


def test_a_graph_that_goes_while_another_one_is_captured(gpu: CapturingDriver) -> None:
    """It is destroyed later: the stream of the device cannot be waited for."""
    first = np.graph(lambda x: x + 1.0)
    x = numbers(0.0)
    for _ in range(2):
        first(x)
    (executable,) = gpu.graphs

    @np.graph
    def second(x: Any) -> Any:
        if x.device.capture is not None:
            first.clear()
        gc.collect()
        destroy_dropped()
        return x + 2.0

    for _ in range(2):
        second(x)
    destroy_dropped()
    assert executable not in gpu.graphs
    assert len(gpu.graphs) == 1
    check(second(x), plain(2.0))


def test_calls_in_a_call(gpu: CapturingDriver) -> None:
    inner = np.graph(lambda x: plus(x, 1.0))
    outer = np.graph(lambda x: inner(inner(x)))
    x = numbers(0.0)
    for _ in range(3):
        check(outer(x), plain(2.0))
    assert (inner.graphs, outer.graphs) == (0, 1)


def test_other_threads_wait(gpu: CapturingDriver) -> None:
    started, found = threading.Event(), []
    z = numbers(7.0)

    def other() -> None:
        with np.Device("cuda:0"):
            started.set()
            found.append(z.get())

    thread = threading.Thread(target=other)

    @np.graph
    def step(x: Any) -> Any:
        y = x + 1.0
        if np.Device("cuda:0").capture is not None:
            thread.start()
            started.wait()
        return y

    x = numbers(0.0)
    for _ in range(3):
        check(step(x), plain(1.0))
    thread.join()
    numpy.testing.assert_array_equal(found[0], plain(7.0))


def test_other_threads_wait_until_the_stream_captures_no_more(
    gpu: CapturingDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    z, x, found = numbers(7.0), numbers(0.0), []

    def other() -> None:
        with np.Device("cuda:0"):
            found.append(z.get())

    def close_and_begin_other(capture: Any) -> None:
        close(capture)
        thread.start()
        thread.join(0.05)

    thread = threading.Thread(target=other)
    step = np.graph(lambda x: x + 1.0)
    monkeypatch.setattr("gpunumpy.cuda.graph.close", close_and_begin_other)
    for _ in range(3):
        check(step(x), plain(1.0))
    thread.join()
    numpy.testing.assert_array_equal(found[0], plain(7.0))


# --- other libraries capture ---


def captured(gpu: CapturingDriver, stream: Any, work: Any) -> tuple[Any, int]:
    """What `work` returns, and what launches all that it queued: as torch and CuPy do it."""
    modes = gpu.CUstreamCaptureMode
    gpu.cuStreamBeginCapture(stream.ptr, modes.CU_STREAM_CAPTURE_MODE_GLOBAL)
    result = work()
    error, graph = gpu.cuStreamEndCapture(stream.ptr)
    assert not error, error
    return result, gpu.cuGraphInstantiate(graph, 0)[1]


def test_work_in_the_block_of_a_stream_that_captures(gpu: CapturingDriver) -> None:
    stream = np.Stream(non_blocking=True)
    x, total = numbers(0.0), numbers(0.0)
    y = x + 1.0  # is not of the graph

    def work() -> Any:
        nonlocal total
        with ExternalStream(stream) as current:
            z = plus(y, x)
            total += z
            current.record()
            return plus(z, 1.0)

    before = len(gpu.launched)
    result, executable = captured(gpu, stream, work)
    gpu.slow_stream = stream.ptr
    assert len(gpu.launched) > before + 3
    assert not gpu.is_relaxed
    for k in range(1, 4):
        x += 1.0
        with stream:
            gpu.cuGraphLaunch(executable, stream.ptr)
        check(result, plain(2.0 + k, 2.0))
    check(total, plain(9.0, 7.0))
    check(x + y, plain(4.0, 2.0))


def test_the_stream_of_the_device_is_captured(gpu: CapturingDriver) -> None:
    stream = ExternalStream(int(np.Device("cuda:0").stream))
    x = numbers(0.0)
    x.computed()

    def work() -> Any:
        with stream:
            return plus(x, np.asarray(plain(5.0)), 1.0)

    result, executable = captured(gpu, stream, work)
    for k in range(3):
        gpu.cuGraphLaunch(executable, stream.ptr)
        check(result, plain(6.0 + k, 2.0))
        x += 1.0


def test_two_blocks_of_one_capture(gpu: CapturingDriver) -> None:
    stream = np.Stream(non_blocking=True)
    x = numbers(0.0)

    def work() -> Any:
        with ExternalStream(stream):
            y = x + 1.0
        z = y + 1.0
        with pytest.raises(np.DeviceError, match=r"the block of np.Stream.from_external that captures .* is over"):
            z.computed()
        del z
        with ExternalStream(stream):
            return y + 5.0

    result, executable = captured(gpu, stream, work)
    gpu.slow_stream = stream.ptr
    with stream:
        gpu.cuGraphLaunch(executable, stream.ptr)
    check(result, plain(6.0))


def test_errors_in_a_capture_of_others(gpu: CapturingDriver) -> None:
    stream = np.Stream(non_blocking=True)
    x = numbers(0.0)

    def work() -> None:
        with ExternalStream(stream) as current:
            (x + 1.0).computed()
            with pytest.raises(np.DeviceError, match="a copy to the host cannot be captured"):
                x.get()
            with pytest.raises(np.DeviceError, match=r"to wait for .* cannot be captured"):
                current.synchronize()

    captured(gpu, stream, work)
    check(x + 1.0, plain(1.0))


def test_finalizers_end_no_capture(gpu: CapturingDriver) -> None:
    """Memory of another library may be let go of at any call of the driver, and what then looks at the stream."""

    def let_go(name: str) -> None:
        nonlocal count
        count += 1
        gpu.refuse = lambda name: None
        Borrowed(np.Device("cuda:0"), object())
        gpu.refuse = let_go

    def work() -> Any:
        with ExternalStream(stream):
            return plus(x, 1.0)

    count = 0
    stream, x = np.Stream(non_blocking=True), numbers(0.0)
    x.computed()
    gpu.refuse = let_go
    result, executable = captured(gpu, stream, work)
    with stream:
        gpu.cuGraphLaunch(executable, stream.ptr)
    check(result, plain(1.0))
    step = np.graph(lambda a: plus(a, 1.0))
    for _ in range(3):
        check(step(x), plain(1.0))
    assert count > 60


@pytest.mark.parametrize("refused", ["cuStreamBeginCapture", "cuStreamWaitEvent"])
def test_a_capture_that_does_not_begin(gpu: CapturingDriver, refused: str) -> None:
    x, stream = numbers(0.0), np.Stream(non_blocking=True)
    x.computed()
    gpu.refuse = lambda name: "CUDA_ERROR_UNKNOWN" if name == refused else None
    step = np.graph(lambda a: plus(a, 1.0))

    def begin() -> None:
        if refused == "cuStreamBeginCapture":
            step(x)
            step(x)
        else:
            captured(gpu, stream, lambda: ExternalStream(stream).use())

    with pytest.raises(np.DeviceError, match="UNKNOWN"):
        begin()
    gpu.refuse = lambda name: None
    assert np.Device("cuda:0").capture is None
    assert not gpu.is_relaxed
    check(x + 2.0, plain(2.0))
    check(step(x), plain(1.0))


# --- random programs ---


class Steps:
    """The steps of a function over three arrays, chosen at random: the same for this package and for NumPy."""

    def __init__(self, seed: int) -> None:
        choice = random.Random(seed)
        self.steps: list[tuple[Any, ...]] = [
            (choice.choice(["number", "array", "all", "new", "make"]), *choice.sample(range(3), 3)) for _ in range(8)
        ]
        self.kept: list[Any] = []  # that the function makes, besides what it returns

    def __call__(self, arrays: list[Any], compute: Callable[[Any], Any]) -> list[Any]:
        self.kept = []
        made: list[Any] = []
        for kind, i, j, k in self.steps:
            if kind == "number":
                arrays[i] += float(k + 1)
            elif kind == "array":
                arrays[i] += arrays[j]
            elif kind == "all":
                arrays[i][...] = compute(arrays[j] + arrays[k])
            elif kind == "new" and made:
                made[-1] = compute(made[-1] + arrays[i])
            else:
                made.append(compute(arrays[i] + arrays[j]))
                self.kept.append(made[-1])
            compute(arrays[i])
        return made


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.sampled(10)
@pytest.mark.parametrize("by_others", [False, True])
def test_random_programs(gpu: CapturingDriver, seed: int, by_others: bool) -> None:
    """Replays between other work, whose blocks are dropped and taken, beside NumPy."""
    gpu.choice.seed(seed)
    gpu.eagerness = seed % 3
    choice = random.Random(seed)
    expected = [plain(float(k)) for k in range(3)]
    arrays = [np.asarray(x) for x in expected]
    steps, of_numpy = Steps(seed), Steps(seed)
    stream = np.Stream(non_blocking=True)
    gpu.slow_stream = (None, stream.ptr, np.Device("cuda:0").stream)[seed // 3 % 3]

    def run() -> Any:
        return steps(arrays, lambda x: x.computed() and x)

    if by_others:
        np.synchronize()

        def in_block() -> Any:
            with ExternalStream(stream):
                return run()

        results, executable = captured(gpu, stream, in_block)

        def replay() -> Any:
            with stream:
                gpu.cuGraphLaunch(executable, stream.ptr)
            return results
    else:
        replay = np.graph(run)
    others: list[Any] = []
    for n in range(6):
        found = replay()
        wanted = of_numpy(expected, lambda x: x)
        for _ in range(choice.randrange(4)):
            i = choice.randrange(3)
            others.append((plus(arrays[i], float(n)), expected[i] + float(n)))
            del others[: choice.randrange(2)]
        if choice.random() < 0.5:
            arrays[1] += 1.0
            arrays[1].computed()
            expected[1] += 1.0
        for got, one in zip([*found, *arrays, *steps.kept], [*wanted, *expected, *of_numpy.kept], strict=True):
            check(got, one)
        for got, one in others:
            check(got, one)


# --- elsewhere ---


def test_on_the_cpu_it_is_the_function() -> None:
    calls: list[int] = []

    @np.graph
    def step(x: Any) -> Any:
        calls.append(1)
        return x + 1

    with np.Device("cpu"):
        x = np.arange(5)
        for _ in range(3):
            assert step(x).tolist() == [1, 2, 3, 4, 5]
        assert np.graph(lambda: 3)() == 3
    assert (len(calls), step.graphs) == (3, 0)
