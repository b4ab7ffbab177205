"""The host's part of work for a GPU, on a machine that has none: its driver is pretended, and launches do nothing.

``python benchmarks/pretended_gpu.py`` prints what flushes of known graphs take in microseconds, and the first, second
and third run of programs in milliseconds of the thread that runs them, and of those that import modules for it: each in
a process of its own with an empty cache, and then in another process with the cache that the first has left. The
compiler works in other threads, so its time is not in them. Values that programs look at are whatever memory held.
``--wheel`` has the interpreter compiled, as a wheel has, so that kernels are interpreted; ``--processes N`` takes the
least of so many processes. Rows of single calls of first_run.py and eliminations of sizes.py can be named too: ``--only
"expression on 1024 elements,LU"``. ``--calls`` counts the calls of functions instead of timing them, in which there is
no noise of other processes. ``--loops`` prints what the host takes for a step of the loops of benchmarks/loops.py that
call no library, with CUDA graphs, and nothing else. Masks select what they would, in a second row of escape_time one
element less in each run, so that all sizes are new.
"""

from __future__ import annotations

import argparse
import cProfile
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import gpunumpy as np
from benchmarks.first_run import CALLS, SIZES, Library, prepared
from benchmarks.loop_programs import LOOPS
from benchmarks.overheads import EXPRESSION, microseconds, returns_zero
from benchmarks.sizes import ELIMINATED, ELIMINATIONS
from gpunumpy.core import _native, late_imports
from gpunumpy.core.runtime import host_copies
from gpunumpy.kernels.cuda import compile as compiler
from gpunumpy.kernels.cuda import cuda_graphs, launch, tiers
from tests.support import fake_driver

# Of those that call no library.
PROGRAMS = ("heat", "life", "nbody", "black_scholes", "mandelbrot", "fluid", "magnetohydrodynamics", "factorizations")
CONTEXT_S = 20  # at most, for what threads load while a real driver makes a context
FUNCTION = 1  # what stands for each kernel
# Loops that call a library in every step.
NOT_TIMED = ("gram_schmidt", "vertical_diffusion", "covariance")
WARM_UP, REPEATS = 25, 25  # runs: CUDA graphs are made, and then one is timed
_import, _imports_s = late_imports._import, list[float]()
_NODE = (ctypes.c_void_p * 1)(FUNCTION)


@ctypes.CFUNCTYPE(ctypes.c_int, *7 * [ctypes.c_void_p])
def _tell_last_node(stream: Any, status: Any, number: Any, graph: Any, last: int, edges: Any, count: int) -> int:
    """Tell of a captured kernel, as cuStreamGetCaptureInfo does."""
    ctypes.c_void_p.from_address(last).value = ctypes.addressof(_NODE)
    ctypes.c_size_t.from_address(count).value = 1
    return 0


def pretend(patch: pytest.MonkeyPatch, tier: str) -> None:
    """Have the process see a GPU with 8 GB, whose launches call a function of C that does nothing."""
    nothing, real = returns_zero(), _native.launch
    graph_functions = {"cuStreamGetCaptureInfo_v3": ctypes.cast(_tell_last_node, ctypes.c_void_p).value}
    patch.setattr(cuda_graphs, "function_address", lambda name: graph_functions.get(name, nothing))
    driver = fake_driver.install(patch)
    driver.free_bytes = 1 << 33
    patch.setattr(fake_driver.FakeDriver, "_cuModuleGetFunction", lambda self, handle, name: FUNCTION)
    unknown = driver.CUresult.CUDA_ERROR_NOT_SUPPORTED  # parameters of functions, as to older drivers
    patch.setattr(fake_driver.FakeDriver, "_cuFuncGetParamInfo", lambda self, function, index: unknown)
    patch.setattr(launch, "function_address", lambda name: nothing)
    patch.setattr(_native, "launch", lambda address, handle, *rest: real(nothing, FUNCTION, *rest))
    patch.setattr(tiers, "TIER", tier)
    patch.setattr(late_imports, "_import", timed_import)
    np.set_residence("device")


def have_interpreter(patch: pytest.MonkeyPatch) -> None:
    """Have the package hold the interpreter, and nothing else."""
    text = tiers.interpreter_text()
    patch.setattr(compiler, "_image_of_package", lambda key: b"image" if key[-1].text == text else None)


def wait(*arrays: Any) -> None:
    for x in arrays:
        x.computed()
    np.synchronize()


def flushes() -> list[tuple[str, float]]:
    a = np.asarray(numpy.random.default_rng(0).random(1024, "float32"))
    b = a + 1
    wait(b)
    work: dict[str, Callable[[], Any]] = {
        "a + b": lambda: a + b,
        "the expression": eval(f"lambda: {EXPRESSION}", {"np": np, "a": a, "b": b}),
    }
    rows = []
    for name, record in work.items():
        alone = min(microseconds(record) for _ in range(5))
        whole = min(microseconds(lambda record=record: record().computed()) for _ in range(5))  # type: ignore[misc]
        rows += [(f"record {name}", alone), (f"flush {name}", whole - alone)]
    return rows


def tell_counts(patch: pytest.MonkeyPatch) -> list[int]:
    """Have the GPU write to memory of the host, where a kernel would, the numbers of a list, each at the next wait."""
    counts: list[int] = []
    waited_for: list[int] = []
    take = host_copies._take_slot

    def take_slot(device: np.Device) -> tuple[numpy.ndarray, int]:
        slot = take(device)
        waited_for[:] = slot[1:]
        return slot

    def wait(driver: fake_driver.FakeDriver, stream: Any) -> None:
        if waited_for and counts:
            ctypes.c_int64.from_address(waited_for.pop()).value = counts.pop()

    patch.setattr(host_copies, "_take_slot", take_slot)
    patch.setattr(fake_driver.FakeDriver, "_cuStreamSynchronize", wait, raising=False)
    return counts


def loops(patch: pytest.MonkeyPatch) -> None:
    """Print what the host takes for a step of loops."""
    counts = tell_counts(patch)
    print("| loop | steps | a run (ms) | a step (us) |\n|---|---|---|---|")
    for loop in LOOPS:
        if loop.name in NOT_TIMED:
            continue
        n, steps = loop.sizes["small"]
        data = loop.data(numpy.random.default_rng(0), n, steps)
        arrays, selected = [np.asarray(x) for x in data], list[int]()
        if loop.name == "escape_time":
            with numpy.errstate(all="ignore"):
                escaped_after = loop.program(numpy, *data, steps)
            selected = [int(numpy.sum(escaped_after > step)) for step in range(steps)][::-1]
        for name, fewer in ((loop.name, 0), *([(f"{loop.name}, new sizes", 1)] if selected else [])):
            took = []
            for run in range(WARM_UP + REPEATS):
                counts[:] = [count - fewer * run for count in selected]
                start = time.perf_counter()
                results = loop.program(np, *arrays, steps)
                for x in results if isinstance(results, tuple) else (results,):
                    x.computed()
                took.append(time.perf_counter() - start)
                del results, x
            least = min(took[WARM_UP:])
            print(f"| {name} | {steps} | {least * 1e3:.3f} | {least / steps * 1e6:.2f} |", flush=True)


def work_of(program: str) -> Callable[[], Callable[[], None]]:
    """Return what makes a run of a program ready, and returns it."""
    if program not in ELIMINATIONS:
        work = prepared(program, "small", Library(np, lambda: None, wait))
        return lambda: lambda: wait(*work())

    def ready() -> Callable[[], None]:
        a = np.asarray(data)  # before the clock starts, as in sizes.py
        wait(a)

        def eliminated() -> None:
            ELIMINATIONS[program](a)
            wait(a)

        return eliminated

    data = numpy.random.default_rng(0).random((ELIMINATED, ELIMINATED))
    return ready


def milliseconds(work: Callable[[], None]) -> float:
    """Of this thread, and of those that import modules for it."""
    imported, start = sum(_imports_s), time.thread_time()
    work()
    return (time.thread_time() - start + sum(_imports_s) - imported) * 1e3


def timed_import(name: str, alone: bool) -> Any:
    """Import a module late, and note what that takes of a thread of its own."""
    start = time.thread_time()
    module = _import(name, alone)
    if threading.current_thread() is not threading.main_thread():
        _imports_s.append(time.thread_time() - start)
    return module


def call_count(work: Callable[[], None]) -> float:
    """Of functions of Python, and of those that Python calls."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


def runs(program: str, measure: Callable[[Callable[[], None]], float]) -> list[float]:
    """What three runs in this process take."""
    np.asarray(numpy.zeros(1))  # a context, beside which threads load what is needed
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(CONTEXT_S)
    work = work_of(program)
    return [measure(work()) for _ in range(3)]


def in_own_process(program: str, options: list[str], cache: str) -> list[float]:
    command = [sys.executable, __file__, "--child", program, *options]
    done = subprocess.run(
        command, env={**os.environ, "GPUNUMPY_CACHE_DIR": cache}, capture_output=True, text=True, check=True
    )
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(PROGRAMS), help="names of programs, with commas between them")
    parser.add_argument("--tier", choices=("auto", "compiled"), default="auto")
    parser.add_argument("--wheel", action="store_true", help="have the interpreter compiled")
    parser.add_argument("--processes", type=int, default=1, help="take the least of so many")
    parser.add_argument("--calls", action="store_true", help="count calls instead of time")
    parser.add_argument("--loops", action="store_true", help="time loops alone")
    parser.add_argument("--child", choices=(*SIZES, *CALLS, *ELIMINATIONS), help=argparse.SUPPRESS)
    given = parser.parse_args()
    options = ["--tier", given.tier, *(["--wheel"] if given.wheel else []), *(["--calls"] if given.calls else [])]
    with pytest.MonkeyPatch.context() as patch:
        pretend(patch, given.tier)
        if given.child:
            if given.wheel:
                have_interpreter(patch)
            print(json.dumps(runs(given.child, call_count if given.calls else milliseconds)))
            return
        if given.loops:
            loops(patch)
            return
        print(f"Python {sys.version.split()[0]}, NumPy {numpy.__version__}, core: {_native.IS_COMPILED}\n")
        if not given.calls:
            print("| what | us |\n|---|---|")
            for name, took in flushes():
                print(f"| {name} | {took:.2f} |")
    unit = "calls" if given.calls else "ms"
    print(f"\n| program, small | first ({unit}) | second | third | from disk | second | third |")
    print("|---|---|---|---|---|---|---|")
    for program in filter(None, given.only.split(",")):
        found = []
        for _ in range(given.processes):
            with tempfile.TemporaryDirectory() as cache:
                found.append([ms for _ in range(2) for ms in in_own_process(program, options, cache)])
        least = map(min, zip(*found, strict=True))
        print(f"| {program} | " + " | ".join(f"{n:.{0 if given.calls else 2}f}" for n in least) + " |", flush=True)


if __name__ == "__main__":
    main()
