"""What the host pays: to record an operation, to flush a cached expression, to compile a kernel, to find it on disk; to
import the package.

``python benchmarks/overheads.py`` prints a table in microseconds and milliseconds for the default device. The time of a
flush is split into what the library does and the launch, by flushing once more with a launch that does nothing.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import _native
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.planner import Planner

EXPRESSION = "(np.sin(a) * 2 + b - 1) * np.exp(a * 0.1) / np.sqrt(b * b + 1) + a * 0.5"
# Five windows, and six operations on them.
STENCIL = "(a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4.0 * a[1:-1, 1:-1]) * 0.1"
# A kernel that no cache has: one constant operation more than the last one, and no transcendental function.
FRESH = "import time, numpy, gpunumpy as np\n" + (
    "a = np.asarray(numpy.random.default_rng(0).random(1024, 'float32'))\n"
    "(a - 1).get()\n"
    "start = time.perf_counter(); y = a * 2 + 1; y.computed(); took = time.perf_counter() - start\n"
    f"b = a + 1; b.computed(); start = time.perf_counter(); y = {EXPRESSION}; y.computed()\n"
    "print(took, time.perf_counter() - start)\n"
)

# The processor's time of an import: of NumPy, and what gpunumpy adds to it.
IMPORT = (
    "import time; start = time.process_time(); import numpy; between = time.process_time(); import gpunumpy\n"
    "print(between - start, time.process_time() - between)\n"
)


def microseconds(call: Callable[[], Any], count: int = 2000, repeats: int = 9) -> float:
    """The median over batches of the time of one call."""
    for _ in range(100):
        call()
    np.synchronize()
    samples = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(count):
            call()
        samples.append((time.perf_counter() - start) / count)
        np.synchronize()
    return statistics.median(samples) * 1e6


def nothing() -> Any:
    """Return an object whose operations are one look-up of C each, and give it again: the interpreter alone."""

    class Nothing:
        itself: Any

    result = Nothing()
    result.itself = result
    always = staticmethod(partial(getattr, result, "itself"))  # what it is given would be the default
    for operation in ("getitem", "add", "sub", "mul", "rmul"):
        setattr(Nothing, f"__{operation}__", always)
    return result


def recording(a: Any, b: Any) -> list[tuple[str, float]]:
    expression = eval(f"lambda: {EXPRESSION}", {"np": np, "a": a, "b": b})
    square = a.reshape(32, 32) + 0.0
    square.computed()
    stencil = eval(f"lambda: {STENCIL}", {"a": square})
    empty, of_numpy = nothing(), square.get()
    return [
        ("record a + b", microseconds(lambda: a + b)),
        ("record a * 2", microseconds(lambda: a * 2.0)),
        ("record an operation of the expression", microseconds(expression) / 12),
        ("record a[1:-1, 1:-1]", microseconds(lambda: square[1:-1, 1:-1])),
        ("record a stencil statement of 11 operations", microseconds(stencil)),
        ("a[1:-1, 1:-1] of an object that does nothing", microseconds(lambda: empty[1:-1, 1:-1])),
        ("the statement of such objects", microseconds(eval(f"lambda: {STENCIL}", {"a": empty}))),
        ("NumPy's a[1:-1, 1:-1]", microseconds(lambda: of_numpy[1:-1, 1:-1])),
    ]


def returns_zero() -> int:
    """The address of a function of C that does nothing, whatever it is given, and returns 0."""
    address = ctypes.cast(ctypes.CDLL(None).pthread_condattr_destroy, ctypes.c_void_p).value
    assert address is not None
    return address


@contextmanager
def no_launches(device: Any) -> Iterator[None]:
    """Have new plans of a device do all but the launch, of which the core calls a function that does nothing."""
    state = evaluate.state_of(device)
    before = state.executor, state.planner
    state.executor = type(state.executor)(device)
    state.planner = Planner(state.executor)
    with pytest.MonkeyPatch.context() as patch:
        if _native.IS_COMPILED and device.kind == "cuda":
            launch = _native.launch
            patch.setattr(_native, "launch", lambda address, *rest: launch(returns_zero(), *rest))
        else:
            patch.setattr(state.executor, "finish", list)
            patch.setattr(state.executor, "prepare", lambda structure, has_others: lambda sizes: lambda values: None)
        yield
    state.executor, state.planner = before


def flushing(a: Any, b: Any) -> list[tuple[str, float]]:
    """Flushes of values recorded beforehand, with the real launch and with one that does nothing."""
    expression = eval(f"lambda: {EXPRESSION}", {"np": np, "a": a, "b": b})
    rows = []
    for name, record in (("a + b", lambda: a + b), ("the expression", expression)):
        whole = microseconds(lambda record=record: record().computed())  # type: ignore[misc]
        alone = microseconds(record)
        rows.append((f"flush {name}, cached", whole - alone))
        with no_launches(a.device):
            without = microseconds(lambda record=record: record().computed())  # type: ignore[misc]
        rows.append((f"  of which without the launch: {name}", without - alone))
    return rows


def looking(a: Any) -> list[tuple[str, float]]:
    """Values that the program looks at. `computed` is the result of a kernel, so the host does not know it at first."""
    computed = a + 1
    computed.computed()

    def write_and_look() -> float:
        computed[3] = 2.0
        return float(computed[3])

    return [
        ("float(a.sum())", microseconds(lambda: float(a.sum()))),
        ("float(a[3]) of a computed array", microseconds(lambda: float(computed[3]))),
        ("a[3] = 2.0 and float(a[3])", microseconds(write_and_look, 200)),
    ]


def in_new_processes(program: str, count: int, environment: dict[str, str]) -> list[float]:
    """The medians, over runs of a program, of the two times that it prints; in milliseconds."""
    samples = []
    for _ in range(count):
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        samples.append([float(x) for x in run.stdout.split()[-2:]])
    return [statistics.median(column) * 1e3 for column in zip(*samples, strict=True)]


def importing() -> list[tuple[str, float]]:
    """With the compiled modules on disk, as for whoever installs a package."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        times = in_new_processes(IMPORT, 9, {**environment, "PYTHONPYCACHEPREFIX": folder})
    return list(zip(("import numpy (ms)", "import gpunumpy after it (ms)"), times, strict=True))


def compiling() -> list[tuple[str, float]]:
    """With an empty folder, and again with what the first process left there; in milliseconds."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "GPUNUMPY_CACHE_DIR": folder}
        for state in ("never seen", "in the disk cache"):
            simple, long = in_new_processes(FRESH, 1 if state == "never seen" else 5, environment)
            rows += [(f"a * 2 + 1, {state} (ms)", simple), (f"the expression, {state} (ms)", long)]
    return rows


def main() -> None:
    np.set_residence("device")  # small arrays too: what is timed is work for a device
    os.environ["GPUNUMPY_RESIDENCE"] = "device"  # of the processes that follow
    device = np.default_device()
    print(f"{device}, Python {sys.version.split()[0]}, NumPy {numpy.__version__}\n")
    data = numpy.random.default_rng(0).random((2, 1024), numpy.float32)
    a, b = np.asarray(data[0]), np.asarray(data[1])
    print("| what | µs |\n|---|---|")
    for name, value in recording(a, b) + flushing(a, b) + looking(a):
        print(f"| {name} | {value:.2f} |")
    for name, value in importing() + (compiling() if device.kind == "cuda" else []):
        print(f"| {name} | {value:.1f} |")


if __name__ == "__main__":
    main()
