"""The tiers of a kernel: which of them runs it, and when the compiler is asked. The driver is a pretended one."""

from __future__ import annotations

import importlib
import io
import itertools
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import disk_cache
from gpunumpy.core.errors import DeviceError
from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.core.runtime import device as device_module
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.explain import explanation
from gpunumpy.core.runtime.plan import Work
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.kernels.codegen.interpreter import opcodes
from gpunumpy.kernels.codegen.interpreter import text as interpreter_text
from gpunumpy.kernels.cuda import backlog, tiers
from gpunumpy.kernels.cuda import beside as beside_module
from gpunumpy.kernels.cuda import compile as module
from gpunumpy.kernels.cuda.beside import Task, beside
from gpunumpy.kernels.cuda.executor import CudaExecutor
from gpunumpy.kernels.cuda.kernel import KernelLauncher

from ..support import fake_driver
from ..support.forks import needs_fork
from ..support.interruptions import Interruption, Tracer, interrupt

pytest.importorskip("cuda.bindings.nvrtc")


COMPILE = module._compile


class Compiler:
    """In the place of NVRTC and of the disk: what it is asked for, and what it has ready."""

    def __init__(self) -> None:
        self.compiled: list[str] = []
        self.ready: set[str] = set()
        self.tasks: list[Task] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.error = ""
        self.broken = ""  # the text that does not compile, or all of them

    def compile(self, text: str, *target: Any) -> bytes:
        self.compiled.append(text)
        assert self.may_go_on.wait(60)
        if self.error and self.broken in ("", text):
            raise DeviceError(self.error)
        return b"image"

    def beside(self, work: Callable[[], bytes]) -> Task:
        self.tasks.append(beside(work))
        return self.tasks[-1]

    def find(self, key: Any) -> bytes | None:
        return b"image" if key[-1].text in self.ready else None


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[Compiler]:
    found = Compiler()
    fake_driver.install(monkeypatch)
    forget_all()
    monkeypatch.setattr(module, "beside", found.beside)
    monkeypatch.setattr(module, "_compile", found.compile)
    monkeypatch.setattr(module, "_image_on_disk", found.find)
    monkeypatch.setattr(module, "_image_of_package", lambda key: None)
    monkeypatch.setattr(tiers, "TIER", "auto")
    with np.Device("cuda:0"):
        yield found
    finish(found)  # or the compiler of a later test is asked for what waits here


@pytest.fixture
def was_interpreted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each step that has run."""
    found: list[bool] = []

    def observe(step: Any, work: Work) -> None:
        work()
        found.append(work.was_interpreted)

    monkeypatch.setattr(evaluate, "observer", observe)
    return found


def run(x: Any, count: int = 1) -> None:
    for _ in range(count):
        (x * 2.0 + 1.0).computed()


def finish(compiler: Compiler) -> None:
    """Wait until nothing is compiled any more."""
    compiler.may_go_on.set()
    for task in compiler.tasks:
        wait_for(task)


def wait_for(task: Task) -> None:
    """Wait for the end of a task, whose thread may not be there yet."""
    while not task.is_done:
        time.sleep(0.001)


def test_a_kernel_is_interpreted_until_it_is_compiled(compiler: Compiler, was_interpreted: list[bool]) -> None:
    compiler.ready.add(interpreter_text())
    compiler.may_go_on.clear()
    x = np.asarray(numpy.ones(1000))
    run(x, tiers._RUNS)
    assert not compiler.compiled
    run(x, 3)
    assert all(was_interpreted)
    finish(compiler)
    assert len(compiler.compiled) == 1
    run(x, 2)
    assert was_interpreted[-2:] == [False, False]
    assert len(compiler.compiled) == 1


def test_the_host_waits_for_the_gpu_rather_than_queue_much_interpreted_work(
    compiler: Compiler, was_interpreted: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for what it queued before the last work, so that the GPU has some, and never for the compiler."""
    found: Any = device_module.driver()
    x = np.zeros(tiers._INSTRUCTIONS >> 5)
    monkeypatch.setattr(backlog, "INSTRUCTIONS", tiers._INSTRUCTIONS // 2)
    compiler.ready.add(interpreter_text())
    compiler.may_go_on.clear()
    x.computed()
    run(x, 200)
    assert all(was_interpreted)
    recorded, waited = (found.calls.count(name) for name in ("cuEventRecord", "cuEventSynchronize"))
    assert 0 < waited == recorded - 1 < 100
    small = np.asarray(numpy.ones(1000))
    for _ in range(10 * tiers._RUNS):
        (small - 3.0).computed()
    assert found.calls.count("cuEventSynchronize") == waited
    finish(compiler)
    run(x, 200)
    assert not was_interpreted[-1]
    assert found.calls.count("cuEventSynchronize") <= waited + 1
    assert len(compiler.compiled) == 2


def test_the_host_does_not_wait_for_what_a_program_captures(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: Any = device_module.driver()
    captures = found.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    monkeypatch.setattr(fake_driver.FakeDriver, "_cuStreamIsCapturing", lambda *args: captures)
    monkeypatch.setattr(backlog, "INSTRUCTIONS", 1 << 10)
    compiler.ready.add(interpreter_text())
    compiler.may_go_on.clear()
    run(np.asarray(numpy.ones(1000)), tiers._RUNS + 20)
    assert "cuStreamIsCapturing" in found.calls
    assert "cuEventSynchronize" not in found.calls


def test_much_work_is_compiled_at_once(compiler: Compiler, was_interpreted: list[bool]) -> None:
    compiler.ready.add(interpreter_text())
    x = np.zeros(tiers._INSTRUCTIONS >> 5)
    x.computed()
    compiler.compiled.clear()
    assert was_interpreted.pop()
    run(x, 8)
    finish(compiler)
    run(x)
    assert len(compiler.compiled) == 1
    assert not was_interpreted[-1]


def test_what_is_worth_it_in_one_run_is_compiled_once_it_is_planned(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the other kernels of the plan, none of which has run."""
    compiler.ready.add(interpreter_text())
    monkeypatch.setattr(tiers, "_INSTRUCTIONS", 1 << 16)
    monkeypatch.setattr(tiers, "_INSTRUCTIONS_WITHOUT_TEXT", 0)
    x, y = np.zeros(1 << 16), np.zeros(1 << 15)
    (x.computed(), y.computed())
    compiler.tasks.clear()
    asked: list[int] = []

    def observe(step: Any, work: Work) -> None:
        asked.append(len(compiler.tasks))
        work()

    monkeypatch.setattr(evaluate, "observer", observe)
    results = x * 2.0 + 1.0, y * 2.0 - y * 3.0
    results[0].computed()
    assert asked == [2, 2]


def test_what_is_found_compiled_is_not_interpreted(
    compiler: Compiler, was_interpreted: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "find", lambda key: b"image")
    monkeypatch.setattr(module, "_image_on_disk", compiler.find)
    run(np.asarray(numpy.ones(10)), 3)
    assert was_interpreted[1:] == [False, False], "at the latest it is looked for as it comes up again"
    assert not compiler.compiled


def test_what_cannot_be_interpreted_waits(compiler: Compiler, was_interpreted: list[bool]) -> None:
    compiler.ready.add(interpreter_text())
    x = np.asarray(numpy.ones((40, 30)))
    np.cumsum(x, axis=0).computed()
    (x.astype("float16") * 2).computed()
    assert was_interpreted == [False, False]
    assert len(compiler.compiled) == 2


def test_new_sizes_take_new_words_alone(
    compiler: Compiler, was_interpreted: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler.ready.add(interpreter_text())
    made: list[Any] = []
    make = KernelLauncher.__call__
    monkeypatch.setattr(KernelLauncher, "__call__", lambda *args: made.append(args) or make(*args))  # type: ignore[func-returns-value]
    looked_for: list[Any] = []
    runner = tiers.CudaKernels.runner
    monkeypatch.setattr(tiers.CudaKernels, "runner", lambda *args: looked_for.append(args) or runner(*args))  # type: ignore[func-returns-value]
    x = np.asarray(numpy.ones((60, 70)))
    for rows in range(40, 60):
        (x[:rows, 5:] * 2.0 + 1.0).computed()
    assert was_interpreted == [True] * 20
    assert len(made) == 2, "one for the first sizes, and one for all"
    assert len(looked_for) == 2, "and so are their programs"


def test_reductions_are_interpreted(compiler: Compiler, was_interpreted: list[bool]) -> None:
    compiler.ready.add(interpreter_text())
    x = np.asarray(numpy.ones((40, 30)))
    results = x.sum(axis=0), x.max(), np.argmin(x, axis=1), x.any(), np.count_nonzero(x), x - x.mean(axis=1)[:, None]
    for result in results:
        result.computed()
    assert len(was_interpreted) > 2
    assert all(was_interpreted)
    assert not compiler.compiled


def test_a_checkout_compiles_the_interpreter_once_it_is_worth_while(
    compiler: Compiler, was_interpreted: list[bool]
) -> None:
    x = np.asarray(numpy.ones(10))
    operations = [np.sin, np.cos, np.exp, np.log, np.sqrt, np.floor, np.ceil, np.negative, np.square, np.absolute]
    assert len(operations) > tiers._KERNELS_BEFORE_INTERPRETER
    for number, operation in enumerate(operations, 1):
        assert (interpreter_text() in compiler.compiled) == (number > tiers._KERNELS_BEFORE_INTERPRETER)
        operation(x).computed()
        finish(compiler)
    # The one that asks for it may find it compiled already.
    assert not any(was_interpreted[: tiers._KERNELS_BEFORE_INTERPRETER - 1])
    assert was_interpreted[-1]
    assert compiler.compiled.count(interpreter_text()) == 1


@pytest.mark.parametrize("tier", ["compiled", "interpreted"])
def test_one_tier_alone(
    compiler: Compiler, was_interpreted: list[bool], tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "TIER", tier)
    x = np.asarray(numpy.ones(10))
    run(x, 3 * tiers._RUNS)
    assert was_interpreted == [tier == "interpreted"] * (3 * tiers._RUNS)
    assert len(compiler.compiled) == 1
    assert (compiler.compiled[0] == interpreter_text()) == (tier == "interpreted")


def test_an_error_of_the_compiler_is_raised_once(compiler: Compiler, was_interpreted: list[bool]) -> None:
    compiler.ready.add(interpreter_text())
    compiler.error = "a kernel does not compile"
    x = np.asarray(numpy.ones(10))
    run(x, tiers._RUNS + 1)
    finish(compiler)
    with pytest.raises(DeviceError, match="a kernel does not compile"):
        run(x)
    compiler.error = ""
    run(x)  # together with what the exception left pending
    run(x, tiers._RUNS + 1)
    finish(compiler)
    run(x)
    assert was_interpreted[-2:] == [True, False]
    assert len(compiler.compiled) == 2


def test_kernels_wait_if_the_interpreter_does_not_compile(compiler: Compiler, was_interpreted: list[bool]) -> None:
    compiler.error, compiler.broken = "it does not compile\nwith its text", interpreter_text()
    x = np.asarray(numpy.ones(10))
    operations = [np.sin, np.cos, np.exp, np.log, np.sqrt, np.floor, np.ceil, np.negative, np.square, np.absolute]

    def compute() -> None:
        for operation in operations:
            operation(x).computed()
            finish(compiler)

    with pytest.warns(RuntimeWarning, match="interpreter does not compile: it does not compile$") as warnings:
        compute()
    assert len(warnings) == 1
    assert not any(was_interpreted)


def test_all_sizes_of_a_program_count(compiler: Compiler, was_interpreted: list[bool]) -> None:
    compiler.ready.add(interpreter_text())
    arrays = [np.asarray(numpy.ones(104 + 8 * n)) for n in range(3 * tiers._RUNS)]
    for x in arrays[: tiers._RUNS + 2]:
        run(x)
    finish(compiler)
    was_interpreted.clear()
    for x in arrays[-5:]:
        run(x)
    assert not any(was_interpreted[1:])
    run(arrays[tiers._RUNS])  # which was planned while it was interpreted
    assert not was_interpreted[-1]
    assert len(compiler.compiled) == 1


def test_a_flush_inside_of_a_plan_that_is_prepared(compiler: Compiler, was_interpreted: list[bool]) -> None:
    """As a signal handler makes one."""
    compiler.ready.add(interpreter_text())
    x = np.asarray(numpy.ones(10))
    run(x, tiers._RUNS + 2)
    finish(compiler)
    with module.compiled_side_by_side():
        run(x)
    assert not was_interpreted[-1]


@pytest.mark.parametrize("action", [interrupt, lambda: run(np.asarray(numpy.ones(11)), 4)], ids=["exception", "flush"])
def test_a_signal_handler_at_any_line_of_the_tiers(
    action: Callable[[], None],
    compiler: Compiler,
    was_interpreted: list[bool],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """An exception, or a flush that needs the same programs; neither finds a lock taken, and both tiers go on."""
    compiler.ready.add(interpreter_text())
    monkeypatch.setattr(tiers, "_RUNS", 2)

    def first_runs(tracer: Tracer) -> None:
        forget_all()
        device = np.Device("cuda:0")
        monkeypatch.setattr(evaluate.state_of(device), "planner", Planner(CudaExecutor(device)))
        with suppress(Interruption):
            tracer.run(lambda: run(np.asarray(numpy.ones(10)), 4))

    counting = Tracer()
    first_runs(counting)
    assert counting.count > 500
    places: Sequence[int] = range(1, counting.count + 1)
    if request.config.getoption("--suite") == "short":
        places = sorted(random.Random(1).sample(places, 100))
    for place in places:
        tracer = Tracer(place, action)
        first_runs(tracer)
        x = np.asarray(numpy.ones(10))
        run(x, 4)
        finish(compiler)
        run(x)
        assert not was_interpreted[-1], tracer.where


def test_a_signal_handler_while_a_thread_of_the_compiler_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line of the package is passed at which it could come, with threads that have to be started."""
    tasks: list[Task] = []

    def ask() -> None:
        tasks.append(beside(lambda: b"image"))

    for place in itertools.count(1):
        monkeypatch.setattr(beside_module, "_threads", [])
        monkeypatch.setattr(beside_module, "_tasks", SimpleQueue())
        tracer = Tracer(place, ask)
        tracer.run(ask)
        wait_for(tasks[-1])
        assert tasks[-1].image() == b"image"
        while not beside_module._threads:  # it is noted once it runs
            time.sleep(0.001)
        if not tracer.where:
            break
    assert place > 3


def test_contraction_has_programs_of_its_own(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    images: list[tuple[bool, str]] = []

    def compile_text(text: str, arch: str, target: str, contraction: bool) -> bytes:
        images.append((contraction, text))
        return b"image"

    monkeypatch.setattr(module, "_compile", compile_text)
    compiler.ready.add(interpreter_text())
    x = np.asarray(numpy.ones(10))
    run(x, tiers._RUNS)
    try:
        module.set_contraction(True)
        run(x, 2)  # the plan is there, with its kernel interpreted
        finish(compiler)
        run(x)
        assert [contracts for contracts, _ in images] == [False]
        a, b = x * 2.0 + 1.0, np.sort(x)  # another plan, with the same kernel
        (a.computed(), b.computed())
        assert (True, images[0][1]) in images
    finally:
        module.set_contraction(False)


def test_contraction_is_compiled(compiler: Compiler, was_interpreted: list[bool]) -> None:
    compiler.ready.add(interpreter_text())
    module.set_contraction(True)
    try:
        run(np.asarray(numpy.ones(10)))
    finally:
        module.set_contraction(False)
    assert was_interpreted == [False]


def test_a_profile_tells_the_tier(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpunumpy.core.runtime.step_times.seconds_between", lambda first, last: 1.0)
    monkeypatch.setattr("gpunumpy.core.runtime.profile.bandwidth", lambda device: 1e9)
    compiler.ready.add(interpreter_text())
    x = np.asarray(numpy.ones(10))
    with np.profile(file=io.StringIO()) as profile:
        run(x)
    assert [record.name for record in profile.records] == ["multiply_add (interpreted)"]


def test_an_explanation_tells_the_tier(compiler: Compiler, was_interpreted: list[bool]) -> None:
    """As the kernel then runs; the explanation itself has nothing compiled."""
    x = np.asarray(numpy.ones(10))
    for ready, wanted in (
        ([], "waits for the compiler"),
        ([interpreter_text()], "interpreted until it is compiled"),
    ):
        forget_all()
        compiler.ready.update(ready)
        evaluate.state_of(np.Device("cuda:0")).planner = Planner(CudaExecutor(np.Device("cuda:0")))
        y = x * 2.0 + 1.0
        assert explanation(y).splitlines()[-1].endswith(f"writes float64, {wanted}")
        assert not compiler.compiled
    y.computed()
    assert was_interpreted == [True]
    run(x, tiers._RUNS + 1)
    finish(compiler)
    run(x)
    assert not was_interpreted[-1]
    y = x * 2.0 + 1.0
    assert explanation(y).endswith("writes float64, compiled")
    y = np.cumsum(x)  # the interpreter has no scans
    assert explanation(y).endswith("waits for the compiler")


def test_the_timeline_tells_what_was_interpreted(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """benchmarks/timeline.py watches what is private to the package."""
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("tempfile.mkdtemp", lambda: str(tmp_path))
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    timeline = importlib.import_module("timeline")
    watched = [(Planner, "plan"), (module, "_image"), (module, "_load_functions")]
    watched += [(kind, "__call__") for kind in (tiers.InterpretedFirst, tiers.InterpretedOnce)]
    for owner, name in watched:
        monkeypatch.setattr(owner, name, getattr(owner, name))  # to be as it was at the end
    timeline.watch()
    compiler.ready.add(interpreter_text())
    run(np.asarray(numpy.ones(10)), 3)
    assert {what for _, _, what in timeline.lines} == {"plan of 5 nodes"}
    assert timeline.runs.total() == 3
    assert {tier for tier, _ in timeline.runs} == {"interpreted"}
    run(np.asarray(numpy.ones(10)), tiers._RUNS)
    finish(compiler)
    compiled = {what for _, _, what in timeline.lines if what.startswith("compiled ")}
    assert compiled == {"compiled multiply_add_0"}


def test_the_interpreter_has_the_same_operations_with_every_numpy() -> None:
    """Its text is in the wheel, compiled."""
    assert len(opcodes()) == 652


AT_EXIT = """
import sys, threading, time
from gpunumpy.kernels.codegen.interpreter import text
from gpunumpy.kernels.cuda.beside import Task, beside
from gpunumpy.kernels.cuda.compile import compile_cubin

started = threading.Event()


def compiled(text):
    started.set()
    return compile_cubin(text, "sm_90")


futures = [beside(lambda k=k: compiled(text() + "\\n" * k)) for k in range(20)]
started.wait()
"""


def test_the_end_of_a_process_waits_for_no_compilation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty take more than the time-out."""
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(tmp_path.rglob("*.cubin"))


AT_FORK = """
import os, sys, threading
from gpunumpy.kernels.cuda.beside import Task, beside

started, over = threading.Event(), threading.Event()


def task():
    started.set()
    over.wait()
    return b""


for _ in range(3):
    beside(task)
started.wait()
child = os.fork()
if not child:
    sys.exit(7)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
over.set()
sys.exit(status)
"""


@needs_fork
def test_a_forked_process_ends(tmp_path: Path) -> None:
    """It has none of the threads."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", AT_FORK], timeout=60, check=False)
    assert done.returncode == 7


def test_a_full_disk(compiler: Compiler, was_interpreted: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be kept on disk is used all the same."""

    def full(*args: Any) -> Any:
        raise OSError("no space left on device")

    compiler.ready.add(interpreter_text())
    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(module, "_compile", COMPILE)
    monkeypatch.setattr(disk_cache, "warn_unusable", lambda folder, reason: None)
    x = np.asarray(numpy.ones(10))
    run(x, tiers._RUNS + 2)
    finish(compiler)
    run(x)
    assert not was_interpreted[-1]


def test_a_folder_of_another_user(
    compiler: Compiler, was_interpreted: list[bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is compiled beside the program is used, and nothing is read from that folder or written to it."""
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(disk_cache, "why_unsafe", lambda folder: "it belongs to another user")
    monkeypatch.setattr(module, "_compile", COMPILE)
    compiler.ready.add(interpreter_text())
    x = np.asarray(numpy.ones(10))

    def until_compiled() -> None:
        run(x, tiers._RUNS + 2)
        finish(compiler)

    # Whoever opens the cache first says so: this thread, or that of the compiler.
    with pytest.warns(RuntimeWarning, match="it belongs to another user"):
        until_compiled()
    run(x)
    assert not was_interpreted[-1]
    assert not list((tmp_path / "programs").iterdir())
    disk_cache.open_cache.cache_clear()


@pytest.mark.parametrize("tier", ["auto", "compiled", "waits"])
def test_a_program_is_looked_for_once_and_once_by_the_process_that_may_compile_it(
    compiler: Compiler, tier: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The second look is under the lock: another process may have compiled it meanwhile."""
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(tiers, "TIER", "compiled" if tier == "compiled" else "auto")
    monkeypatch.setattr(module, "_compile", COMPILE)
    texts: list[str] = []
    monkeypatch.setattr(module, "compiled", lambda text, *args: texts.append(text) or b"image")  # type: ignore[func-returns-value]
    looks: list[bytes] = []
    find = disk_cache.DiskCache.find

    def on_disk(key: Any) -> bytes | None:
        text = key[-1].text
        return b"image" if text == interpreter_text() else module._on_disk(text, "sm_90", "cubin", False)

    monkeypatch.setattr(module, "_image_on_disk", on_disk)
    monkeypatch.setattr(disk_cache.DiskCache, "find", lambda disk, key: (looks.append(key), find(disk, key))[1])
    x = np.asarray(numpy.ones((40, 30)))
    for _ in range(tiers._RUNS + 3):
        (np.cumsum(x, axis=0) if tier == "waits" else x - 7.0).computed()
        finish(compiler)
    (text,) = texts
    assert looks.count(module._disk_key(text, "sm_90", "cubin", False)) == 2


LATE = """
import atexit


@atexit.register
def late():
    print(len(compile_cubin('extern "C" __global__ void k() {}', "sm_90")) > 0)


from gpunumpy.kernels.cuda.beside import Task, beside
from gpunumpy.kernels.cuda.compile import compile_cubin
"""


def test_what_runs_at_the_end_of_a_process_can_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_what_first_kernels_need_is_loaded_beside_the_context() -> None:
    program = "from gpunumpy.kernels.cuda import executor; executor.load(); import sys; from gpunumpy.kernels.codegen"
    program += " import interpreter, op_code; print(interpreter.opcodes.cache_info().misses,"
    program += " op_code._definers.cache_info().misses, *['gpunumpy.' + name in sys.modules for name in"
    program += " ('kernels.codegen.sized', 'nvlib.cublaslt', 'kernels.sort.cuda')], 'nvmath' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1 1 True True True False\n"


def test_an_unknown_tier() -> None:
    program = "import gpunumpy.kernels.cuda.tiers"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"GPUNUMPY_TIER": "fast"}, capture_output=True, text=True, check=False
    )
    assert "GPUNUMPY_TIER='fast'; allowed: auto, compiled, interpreted" in done.stderr
