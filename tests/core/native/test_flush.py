"""Flushes by the compiled core: exceptions and looks at values wherever it calls Python, and launches of whole plans.

Both cores run these tests: `GPUNUMPY_CORE=python` the flush in Python.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import _native
from gpunumpy.core.graph import layout
from gpunumpy.core.graph.node import leaf
from gpunumpy.core.recording.array import wrap_leaf
from gpunumpy.core.runtime import evaluate, memory
from gpunumpy.core.runtime.device import CPU
from gpunumpy.core.runtime.memory import foreign_buffer
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.kernels.cuda import launch as launch_module
from gpunumpy.kernels.host.executor import HostExecutor

from ...support import fake_driver
from .test_launch import LAUNCH_KERNEL

Words = list[int]


class Stop(BaseException):
    """What a signal handler of a test raises."""


class Hooked(HostExecutor):
    """Calls a function before and after each piece of work, and wherever a buffer is bound."""

    def __init__(self) -> None:
        super().__init__(CPU)
        self.hook: Callable[[], None] = lambda: None

    def bind(self, buffer: Any, dtype: Any, offset: int) -> Any:
        self.hook()
        return super().bind(buffer, dtype, offset)

    def finish(self, begun: Sequence[Any]) -> Sequence[Any]:
        def hooked(run: Any) -> Any:
            def work(values: Any) -> None:
                self.hook()
                run(values)
                del values
                self.hook()

            return work

        return [hooked(run) for run in begun]


@pytest.fixture
def executor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hooked]:
    """The CPU device runs its work by this."""
    state = evaluate.state_of(CPU)
    hooked = Hooked()
    monkeypatch.setattr(state, "executor", hooked)
    monkeypatch.setattr(state.queue, "pending", [])  # without what failed tests hold and nothing can compute
    monkeypatch.setattr(state, "planner", Planner(hooked))
    with np.Device("cpu"):
        yield hooked
        hooked.hook = lambda: None
        np.synchronize()


def fused(xp: Any, x: Any, y: Any) -> list[Any]:
    return [xp.sqrt(x * x + 1) - y[::-1], x + y]


def updated(xp: Any, x: Any, y: Any) -> list[Any]:
    x[1:] += y[:-1]
    z = x * 2
    x[::3] = 7
    y[2:] -= x[:-2]
    return [x, y, z]


def reduced(xp: Any, x: Any, y: Any) -> list[Any]:
    total = (x * y).sum()
    return [x / total, xp.cumsum(y), xp.sort(x - y), total]


PROGRAMS = [fused, updated, reduced]
VALUES = numpy.arange(30.0) % 7 + 1, numpy.arange(30.0)[::-1] / 4


def at_call(k: int, action: Callable[[], None]) -> tuple[Callable[[], None], list[int]]:
    """Return a hook that acts at its k-th call, and the list of its calls."""
    calls: list[int] = []

    def hook() -> None:
        calls.append(k)
        if len(calls) == k:
            action()

    return hook, calls


def check(results: list[Any], expected: list[Any], place: int) -> None:
    queue: Any = evaluate.queue_of(CPU)
    assert queue.run is None
    assert not queue.lock._is_owned()
    for got, wanted in zip(results, expected, strict=True):
        numpy.testing.assert_array_equal(np.asnumpy(got), wanted, err_msg=f"at call {place}")


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("error", [Stop, ValueError, MemoryError])
def test_an_exception_at_any_call(program: Any, error: type[BaseException], executor: Hooked) -> None:
    """It comes out, whatever was pending stays so, and nothing is done twice."""
    expected = program(numpy, *(value.copy() for value in VALUES))

    def fail() -> None:
        raise error

    for k in range(200):
        arrays = [np.array(value) for value in VALUES]
        np.synchronize()
        results = program(np, *arrays)
        executor.hook, calls = at_call(k, fail)
        try:
            np.synchronize()
        except error:
            assert len(calls) == k
        np.synchronize()
        if k and len(calls) < k:
            assert k > 4, "the program has too few places to fail at"
            return
        executor.hook = lambda: None
        check(results, expected, k)
    pytest.fail("the flush never ended")


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_look_at_any_call(program: Any, executor: Hooked) -> None:
    """A signal handler or a finalizer may look at all values in the middle of a flush."""
    expected = program(numpy, *(value.copy() for value in VALUES))
    for k in range(200):
        arrays = [np.array(value) for value in VALUES]
        np.synchronize()
        results = program(np, *arrays)
        executor.hook, calls = at_call(k, lambda results=results, k=k: look(results, expected, k))
        np.synchronize()
        if k and len(calls) < k:
            assert k > 4
            return
        executor.hook = lambda: None
        check(results, expected, k)
    pytest.fail("the flush never ended")


def look(results: list[Any], expected: list[Any], place: int) -> None:
    for got, wanted in zip(results, expected, strict=True):
        numpy.testing.assert_array_equal(np.asnumpy(got), wanted, err_msg=f"in the middle, at call {place}")


class _Looks:
    """A cycle that only the collector frees, whose finalizer looks at values."""

    def __init__(self, arrays: list[Any], seen: list[float]) -> None:
        self.arrays, self.seen, self.itself = arrays, seen, self

    def __del__(self) -> None:
        self.seen += [float(x[1]) for x in self.arrays]


def test_finalizers_look_at_values_in_the_middle_of_flushes() -> None:
    """Python 3.11 collects garbage where objects are made, so in the middle of the core's functions too."""
    thresholds = gc.get_threshold()
    seen: list[float] = []
    results = []
    for xp in (np, numpy):
        x, y = xp.array(VALUES[0]), xp.array(VALUES[1])
        try:
            for k in range(400):
                if xp is np:
                    gc.set_threshold(1 + k % 9, 0)  # by the 0, Python without the GIL collects as soon, too
                    _Looks([x, y], seen)
                z = x * 0.5 + y
                y[1:] -= z[:-1] * 0.25
                x = xp.maximum(z, 0.5) - xp.cumsum(y) / 30
                if k % 3 == 0:
                    y[k % 30] = float(x.sum())
                if k % 4 == 0 and xp is np:
                    np.synchronize()
        finally:
            gc.set_threshold(*thresholds)
        results.append(np.asnumpy(x + y))
    assert seen
    numpy.testing.assert_allclose(*results, rtol=1e-9)


class _Owner:
    """Keeps memory of the host alive; calls a function when it dies."""

    def __init__(self, memory: numpy.ndarray, died: Callable[[], None]) -> None:
        self.memory, self.died = memory, died

    def __del__(self) -> None:
        self.died()


def test_what_a_flush_lets_go_looks_at_values() -> None:
    """The memory of an input dies where the results are published."""
    with np.Device("cpu"):
        queue = evaluate.queue_of(CPU)
        for _ in range(3):
            seen: list[Any] = []
            results: list[Any] = []

            def died(seen: list[Any] = seen, results: list[Any] = results) -> None:
                seen.extend(np.asnumpy(x) for x in results)
                seen.append(np.asnumpy(results[0] * 2))

            host = VALUES[0].copy()
            buffer = foreign_buffer(host.ctypes.data, host.nbytes, _Owner(host, died), CPU)
            x: Any = wrap_leaf(leaf(buffer, host.dtype, layout.c_layout(host.shape), queue))
            results += [x + 1, np.cumsum(x), x[::-1] * x]
            del x, buffer
            assert not seen
            np.synchronize()
            expected = [host + 1, numpy.cumsum(host), host[::-1] * host]
            check(seen, [*expected, 2 * expected[0]], 0)
            check(results, expected, 0)


def test_what_is_asked_for_is_computed_alone_where_the_rest_fails(executor: Hooked, monkeypatch: Any) -> None:
    monkeypatch.setattr(evaluate, "CHECK", False)
    for _ in range(2):  # with a new plan, and with a known one
        x = np.array(VALUES[0])
        np.synchronize()
        other, wanted = np.cumsum(x), x + 1
        executor.hook, calls = at_call(1, lambda: 1 / 0)  # type: ignore[arg-type, return-value]
        numpy.testing.assert_array_equal(np.asnumpy(wanted), VALUES[0] + 1)
        assert len(calls) > 1
        assert other._node.data is None
        numpy.testing.assert_array_equal(np.asnumpy(other), numpy.cumsum(VALUES[0]))


# --- a GPU that is not there ------------------------------------------------------------------------------------------


class _Handle(tuple[int, bytes]):
    """The handle of a kernel, for the fake driver and for the core."""

    def __int__(self) -> int:
        return 17


class Launches:
    """What the core launches: the words that the first parameters' addresses lead to. `error` is what it is told."""

    def __init__(self, patch: pytest.MonkeyPatch, driver: fake_driver.FakeDriver) -> None:
        self.driver = driver
        self.error = 0
        self.count = 3
        self.words: list[Words] = []
        self.hook: Callable[[], None] = lambda: None

        def launch_kernel(*args: Any) -> int:
            self.words.append([args[-2][k][0] for k in range(self.count)])
            self.hook()
            return self.error

        self._function = LAUNCH_KERNEL(launch_kernel)
        address = ctypes.cast(self._function, ctypes.c_void_p).value
        patch.setattr(launch_module, "function_address", lambda name: address)
        of_module = lambda driver, module, name: (_Handle((module, name)),)  # noqa: E731
        patch.setattr(fake_driver.FakeDriver, "_cuModuleGetFunction", of_module)


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Launches:
    if not _native.IS_COMPILED:
        pytest.skip("the core is not built for this Python, or not used")
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    driver = fake_driver.install(monkeypatch)
    return Launches(monkeypatch, driver)


@contextmanager
def observed(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have Python run the plans, as in a profile."""
    with patch.context() as inside:
        inside.setattr(evaluate, "observer", lambda step, work: work())
        yield


def test_addresses_are_found_without_python(launches: Launches) -> None:
    """Those of data that the program gave, once the device has it, and of computed arrays."""
    given, made = np.asarray(numpy.arange(1000.0)), np.arange(2000.0)[::2] + 1
    for _ in range(3):
        (given * made).computed()
    called: list[str] = []
    previous = sys.getprofile()
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        (given * made).computed()
    finally:
        sys.setprofile(previous)
    assert "computed" in called
    assert not {"bind", "ptr"} & {*called}


def float_word(value: float) -> int:
    return int(numpy.float32(value).view(numpy.int32))


def test_arguments_of_launches(launches: Launches, monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses of elements of leaves and of slots, and numbers; the core packs what Python does."""
    x, y = (np.asarray(numpy.arange(5000, dtype="f4")) for _ in range(2))
    np.synchronize()
    launches.count = 4
    orders = []
    for core in (False, True, True):
        launches.words.clear()
        z = x[3:] * 2.5 + y[:-3]
        if core:
            z.computed()
        else:
            with observed(monkeypatch):
                z.computed()
        x_at, y_at, z_at = (array._node.data.ptr for array in (x, y, z))
        names = {x_at + 12: "x[3:]", y_at: "y", z_at: "z", float_word(2.5): "2.5"}
        (words,) = launches.words
        orders.append([names[word] for word in words])
    assert orders[0] == orders[1] == orders[2]
    assert len(set(orders[0])) == 4


def test_all_kernels_of_a_plan_are_launched(launches: Launches, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the steps, with buffers that die in between."""
    launches.count = 2
    counts = []
    for core in (True, False, True):
        x = np.asarray(numpy.arange(5000.0))
        np.synchronize()
        launches.words.clear()
        y = (x + 1)[::-1].copy() * 2
        s = np.cumsum(y)
        x[1:] += y[1:]
        if core:
            np.synchronize()
        else:
            with observed(monkeypatch):
                np.synchronize()
        assert None not in [array._node.data for array in (x, y, s)]
        counts.append(len(launches.words))
    assert counts[0] == counts[1] == counts[2] > 1


@pytest.mark.parametrize("number", [2, 1])  # CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_VALUE
def test_a_launch_that_is_refused(number: int, launches: Launches) -> None:
    x = np.asarray(numpy.arange(5000.0))
    for _ in range(2):
        np.synchronize()
        y = x * 3
        launches.error = number
        with pytest.raises(MemoryError if number == 2 else RuntimeError, match="kernel"):
            y.computed()
        assert y._node.data is None
        launches.error = 0
        launches.words.clear()
        y.computed()
        assert len(launches.words) == 1


@pytest.mark.parametrize("number", [2, 999])  # CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN
def test_a_launch_that_finds_memory_later(number: int, launches: Launches) -> None:
    """What is unused is freed for it; an update in place is done once, in the middle of other steps."""
    launches.driver.free_bytes = 20 << 20
    for place in range(1, 20):
        x = np.asarray(numpy.arange(5000.0))
        np.synchronize()
        x[1:] += 1
        arrays = [x, np.cumsum(x), x.sum()]
        launches.words.clear()
        launches.hook = lambda place=place: setattr(  # type: ignore[misc]
            launches, "error", number if place <= len(launches.words) < place + 2 else 0
        )
        np.synchronize()
        assert None not in [array._node.data for array in arrays]
        counts = len(launches.words)
        if counts < place:
            break
        assert launches.words[place - 1] == launches.words[place] == launches.words[place + 1]
        assert len({str(words) for words in launches.words}) == counts - 2
    assert place > 3


def test_an_update_in_place_is_launched_once(launches: Launches, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever later launch is refused."""
    monkeypatch.setattr(memory, "spill", None)  # which would make room as often as there are values

    def program() -> list[Any]:
        x = np.asarray(numpy.arange(5000.0))
        np.synchronize()
        launches.words.clear()
        x[1:] += 1
        return [x, np.cumsum(x), x.sum()]

    arrays = program()
    np.synchronize()
    wanted = len(launches.words)
    assert wanted > 2
    for k in range(1, wanted + 1):
        arrays = program()
        launches.hook, calls = at_call(k, lambda: setattr(launches, "error", 2))
        with pytest.raises(MemoryError):
            np.synchronize()
        assert len(calls) == k + 2  # as room is made twice
        assert (arrays[0]._node.data is None) == (k == 1)
        launches.hook, launches.error = lambda: None, 0
        np.synchronize()
        assert len(launches.words) == wanted + 3, k


class OtherLock:
    """A lock of another class than the one that the core has seen, as gevent's is."""

    def __init__(self) -> None:
        self._lock: Any = threading.RLock()
        self.acquired = self.released = 0

    def acquire(self, blocking: bool = True) -> bool:
        self.acquired += 1
        return bool(self._lock.acquire(blocking))

    def release(self) -> None:
        self.released += 1
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *exception: object) -> None:
        self.release()

    def _is_owned(self) -> bool:
        return bool(self._lock._is_owned())


def test_a_queue_may_have_a_lock_of_another_class(monkeypatch: pytest.MonkeyPatch) -> None:
    with np.Device("cpu"):
        a = np.arange(100_000.0)
        assert float((a + 1)[2]) == 3  # by now the core knows the class of the lock
        lock = OtherLock()
        monkeypatch.setattr(evaluate.state_of(CPU).queue, "lock", lock)
        for k in range(3):
            assert float((a + k)[2]) == 2 + k
    assert lock.acquired == lock.released > 0
