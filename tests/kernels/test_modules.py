"""Programs that are loaded on a GPU: how long they stay, and when they are unloaded. The driver is a pretended one."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.disk_cache import package_digest
from gpunumpy.core.errors import DeviceError
from gpunumpy.core.graph import bounded_table
from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.core.helpers import Job
from gpunumpy.core.runtime import device as devices
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import Device
from gpunumpy.kernels.codegen.program import Launch
from gpunumpy.kernels.cuda import beside, nvrtc
from gpunumpy.kernels.cuda import compile as module
from gpunumpy.kernels.cuda.compile import compile_program
from gpunumpy.kernels.cuda.executor import CudaExecutor
from gpunumpy.kernels.cuda.launch import Launcher

from ..support import fake_driver
from ..support.interruptions import Interruption, Tracer, interrupt

# What every kernel of these tests is launched as.
ONE_THREAD = Launch("main", (1, 1, 1), (1, 1, 1))

pytest.importorskip("cuda.bindings.nvrtc")


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_driver.FakeDriver:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    forget_all()
    return fake_driver.install(monkeypatch)


@pytest.fixture
def without_compiler(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were compiled, to images of 3,500 bytes."""
    texts: list[str] = []

    def compile_text(text: str, *target: str) -> bytes:
        texts.append(text)
        return bytes(3500 - len(text))

    monkeypatch.setattr(module, "_compile", compile_text)
    monkeypatch.setattr(module, "compile_target", lambda arch: (arch, "cubin"))
    return texts


def launcher(text: str) -> Launcher:
    device = Device("cuda")
    return Launcher(device, compile_program(text, ("main",), device)["main"], ONE_THREAD, "")


def test_a_program_is_loaded_once(gpu: fake_driver.FakeDriver, without_compiler: list[str]) -> None:
    first = compile_program("text", ("one",), Device("cuda"))
    second = compile_program("text", ("one", "two"), Device("cuda"))
    assert without_compiler == ["text"]
    assert len(gpu.modules) == 1
    assert first["one"].handle == second["one"].handle
    assert gpu.calls.count("cuModuleGetFunction") == 2


def test_a_program_on_disk_starts_no_thread(gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    monkeypatch.setattr(module, "compiled", lambda *given: compiled.append(given) or b"image")
    started: list[Any] = []
    start = Job.start_alone
    monkeypatch.setattr(Job, "start_alone", lambda job: (started.append(job), start(job)))
    compile_program("text", ("one",), Device("cuda"))
    assert len(compiled) == 1
    forget_all()
    started.clear()
    compile_program("text", ("one",), Device("cuda"))
    assert not started
    assert len(compiled) == 1


def test_what_work_needs_is_loaded_while_the_driver_makes_a_context(
    gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_loaded = threading.Event()
    load = devices.beside_context
    assert load is not None
    monkeypatch.setattr(devices, "beside_context", lambda: (load(), is_loaded.set()))
    waited: list[bool] = []

    def retain(driver: fake_driver.FakeDriver, index: int) -> int:
        waited.append(is_loaded.wait(60))
        return 1 + index

    monkeypatch.setattr(fake_driver.FakeDriver, "_cuDevicePrimaryCtxRetain", retain)
    for function in (package_digest, nvrtc.archs, nvrtc.compiler_version):
        function.cache_clear()
    assert Device("cuda").context == 1
    assert waited == [True]
    assert all(function.cache_info().currsize for function in (package_digest, nvrtc.archs, nvrtc.compiler_version))


def test_an_exception_at_any_line_leaves_nothing_put_off(
    gpu: fake_driver.FakeDriver, without_compiler: list[str]
) -> None:
    """What is asked for afterwards is loaded at once."""

    def together() -> None:
        with module.compiled_side_by_side():
            launcher("together")

    for place in itertools.count(1):
        forget_all()
        tracer = Tracer(place, interrupt)
        with suppress(Interruption):
            tracer.run(together)
        assert compile_program("alone", ("one",), Device("cuda"))["one"].handle is not None, tracer.where
        if not tracer.where:
            break
    assert place > 30


def compile_only_together(patch: pytest.MonkeyPatch) -> None:
    """Have a compilation wait until three are under way at one time: one after the other would break the barrier."""
    together = threading.Barrier(3, timeout=60)

    def compile_text(text: str, *target: Any) -> bytes:
        together.wait()
        return b"image"

    patch.setattr(module, "_compile", compile_text)
    patch.setattr(module, "compile_target", lambda arch: (arch, "cubin"))


def test_programs_of_a_plan_are_compiled_side_by_side(
    gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_only_together(monkeypatch)
    monkeypatch.setattr(module, "MAX_COMPILERS", 3)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    with Device("cuda"):
        x = np.asarray(numpy.arange(60.0).reshape(6, 10))
        results = x.sum(0), x.sum(1), np.cumsum(x, 1)
        np.synchronize()
    assert len(gpu.modules) == 3
    assert len(gpu.launched) == len(results)


def test_programs_of_one_library_call_are_compiled_side_by_side(
    gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_only_together(monkeypatch)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)

    def prepare() -> Any:
        launchers = [launcher(text) for text in ("one", "two", "three", "one")]
        assert not gpu.modules, "they are only noted"
        return lambda values: [launch(values) for launch in launchers]

    (run,) = CudaExecutor(Device("cuda")).finish([prepare])
    run(())
    assert len(gpu.modules) == 3
    assert len(gpu.launched) == 4


def test_the_compiler_runs_where_no_signal_handler_does(
    gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def compile_text(text: str, *target: Any) -> bytes:
        threads.append(threading.current_thread())
        return b"image"

    monkeypatch.setattr(module, "_compile", compile_text)
    monkeypatch.setattr(module, "compile_target", lambda arch: (arch, "cubin"))
    launcher("one")
    with module.compiled_side_by_side():
        compile_program("two", ("main",), Device("cuda"))
        compile_program("three", ("main",), Device("cuda"))
    assert len(threads) == 3
    assert threading.main_thread() not in threads


def test_an_exception_leaves_what_has_not_begun_to_compile(
    gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a signal handler in the middle of the first of three programs."""
    compiled: list[str] = []
    may_go_on = threading.Event()

    def compile_text(text: str, *target: Any) -> bytes:
        compiled.append(text)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        assert may_go_on.wait(60)
        return b"image"

    monkeypatch.setattr(module, "_compile", compile_text)
    monkeypatch.setattr(module, "compile_target", lambda arch: (arch, "cubin"))
    monkeypatch.setattr(module, "MAX_COMPILERS", 1)

    def compile_all() -> None:
        with module.compiled_side_by_side():
            for text in ("one", "two", "three"):
                compile_program(text, ("main",), Device("cuda"))

    before = signal.signal(signal.SIGUSR1, lambda *_: interrupt())
    try:
        with pytest.raises(Interruption):
            compile_all()
    finally:
        signal.signal(signal.SIGUSR1, before)
        may_go_on.set()
    assert compiled == ["one"]
    monkeypatch.setattr(module, "_compile", lambda text, *target: b"image")
    compile_all()
    assert len(gpu.modules) == 3


def test_a_program_that_does_not_compile_raises_where_it_is_needed(
    gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compile_text(text: str, *target: Any) -> bytes:
        if text == "bad":
            raise DeviceError("a kernel does not compile")
        return b"image"

    monkeypatch.setattr(module, "_compile", compile_text)
    monkeypatch.setattr(module, "compile_target", lambda arch: (arch, "cubin"))

    def compile_all() -> None:
        with module.compiled_side_by_side():
            for text in ("good", "bad", "other", "good"):
                compile_program(text, ("main",), Device("cuda"))

    with pytest.raises(DeviceError, match="does not compile"):
        compile_all()
    assert len(gpu.modules) == 2
    with pytest.raises(DeviceError, match="does not compile"):
        compile_program("bad", ("main",), Device("cuda"))
    assert compile_program("good", ("main",), Device("cuda"))["main"].handle


@pytest.mark.parametrize(("shared", "asks"), [(47 << 10, False), (48 << 10, True), (60 << 10, True)])
def test_static_shared_memory_counts(
    gpu: fake_driver.FakeDriver, without_compiler: list[str], monkeypatch: pytest.MonkeyPatch, shared: int, asks: bool
) -> None:
    """A block has 48 KB in all unless its function asks for more."""
    attributes = gpu.CUfunction_attribute
    found = {
        attributes.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: 16,
        attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: 50 << 10,
    }
    asked: list[int] = []
    monkeypatch.setattr(type(gpu), "_cuFuncGetAttribute", lambda gpu, attribute, function: found[attribute])
    monkeypatch.setattr(type(gpu), "_cuFuncSetAttribute", lambda gpu, f, a, value: asked.append(value), raising=False)
    Launcher(
        Device("cuda"),
        compile_program("text", ("main",), Device("cuda"))["main"],
        ONE_THREAD._replace(shared=shared),
        "",
    )
    assert asked == ([max(shared, 50 << 10)] if asks else [])


def test_a_module_that_is_held_stays(gpu: fake_driver.FakeDriver, without_compiler: list[str]) -> None:
    launch = launcher("held")
    launcher("dropped")
    held, dropped = sorted(gpu.modules)
    forget_all()
    gc.collect()
    assert gpu.modules == {held, dropped}, "a finalizer calls no driver"
    launcher("another")
    assert held in gpu.modules
    assert dropped not in gpu.modules
    launch(())
    assert gpu.launched[0][0] == held
    assert without_compiler == ["held", "dropped", "another"]


def test_a_module_that_the_gpu_may_still_run(gpu: fake_driver.FakeDriver, without_compiler: list[str]) -> None:
    """It is unloaded when an event that was recorded after its last launch has happened."""
    launcher("first")(())
    (first,) = gpu.modules
    forget_all()
    gpu.busy = True
    second = launcher("second")
    third = launcher("third")
    assert first in gpu.modules
    gpu.busy = False
    fourth = launcher("fourth")
    assert first not in gpu.modules
    assert len(gpu.modules) == 3
    assert gpu.calls.count("cuEventCreate") == gpu.calls.count("cuEventDestroy") == 1
    del second, third, fourth


def test_memory_that_the_compiler_has_freed_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its threads has the C library keep it otherwise."""
    trim, trimmed = beside._trim, threading.Semaphore(0)
    monkeypatch.setattr(beside, "_trim", lambda: (trim(), trimmed.release()))
    for _ in range(2 * beside._TASKS_BETWEEN_TRIMS):
        beside.beside(lambda: b"")
    for _ in range(2):
        assert trimmed.acquire(timeout=60)


def test_modules_are_bounded_by_their_bytes(
    gpu: fake_driver.FakeDriver, without_compiler: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_table, "MAX_ENTRIES", 110)  # ten images, each of which counts as eleven entries
    most = 0
    for k in range(50):
        launcher(f"text {k}")(())
        most = max(most, len(gpu.modules))
    assert 10 <= most <= 21  # those of a new turn, and of the one before until the first of the new is loaded
    assert len(gpu.modules) <= 11


def test_plans_hold_their_modules(gpu: fake_driver.FakeDriver) -> None:
    """The whole way: a plan's kernels are loaded once and stay, until all caches are emptied."""
    x = np.asarray(numpy.arange(5.0))
    kept = x + 1
    for _ in range(3):
        (x * 2 + kept).get()
    count = len(gpu.modules)
    plans = evaluate.state_of(Device("cuda")).planner.plans
    assert 1 <= len(plans) == len(plans.values())
    forget_all()
    gc.collect()
    assert len(plans) == 0
    (x - 7).get()
    assert len(gpu.modules) < count + 1
    (x * 2 + kept).get()
    assert len(set(gpu.launched)) > count


def test_memory_for_a_module(
    gpu: fake_driver.FakeDriver, without_compiler: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is unused makes room for it; else the error says what was asked for."""
    gpu.free_bytes = 10
    with pytest.raises(MemoryError, match=r"cuda:0: no room for a kernel of 3,496 bytes; gpunumpy uses 0; 10 of the"):
        launcher("text")

    def make_room(*args: Any) -> None:
        gpu.free_bytes = 10000

    monkeypatch.setattr(type(gpu), "_cuMemPoolTrimTo", lambda self, *args: make_room(), raising=False)
    launcher("text")(())
    assert len(gpu.modules) == 1
    monkeypatch.setattr(type(gpu), "_cuLaunchKernelEx", lambda *args: gpu.CUresult.CUDA_ERROR_OUT_OF_MEMORY)
    with pytest.raises(MemoryError, match="no room for the code, the stacks"):
        launcher("text")(())


@pytest.mark.gpu
def test_modules_of_a_real_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels go on to give right results while their modules are unloaded and loaded again beside them."""
    monkeypatch.setattr(bounded_table, "MAX_ENTRIES", 2000)
    values = numpy.arange(1000.0)
    with np.Device("cuda"):
        x = np.asarray(values)
        for k in range(40):
            results = [(x * n + k) % 7 - x[::-1] * (n + 1) for n in range(2, 5)]
            results += [np.sqrt(x + k), np.sum(x * k), np.cumsum(x)[k:], np.where(x > k, x, -x)]
            for n, got in enumerate(results[:3], 2):
                numpy.testing.assert_array_equal(got.get(), (values * n + k) % 7 - values[::-1] * (n + 1))
            numpy.testing.assert_array_equal(results[3].get(), numpy.sqrt(values + k))
            numpy.testing.assert_array_equal(results[6].get(), numpy.where(values > k, values, -values))
            forget_all()
