"""What sizes that change cost: statements and loops at sizes that were not met before, beside the same ones again.

``python benchmarks/sizes.py`` prints tables for the default device. Every loop runs in a process of its own; its first
steps, which make the plans, are not timed, and its ratio is to the loop of one size. Eliminations are timed from the
first step on, and then once more. What is compiled for a GPU is on disk by then: each loop has run before.
"""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy

import gpunumpy as np
from gpunumpy.core.runtime import evaluate

SIZE = 420
WARM, STEPS = 4, 200
ELIMINATED = 200  # rows and columns

Step = Callable[[int], Any]


def statements(a: Any, b: Any, c: Any) -> dict[str, Step]:
    """Statements that are recorded and not computed."""
    return {
        "a[k:, k:]": lambda k: a[k:, k:],
        "a[k:, k:] * 2 + b[k:, k:]": lambda k: a[k:, k:] * 2 + b[k:, k:],
        "a[k:, k:].sum(axis=0)": lambda k: a[k:, k:].sum(axis=0),
        "c[k:-k] = 1": lambda k: c.__setitem__(slice(k, -k), 1.0),
        "c[k:, None] * c[None, k:]": lambda k: c[k:, None] * c[None, k:],
    }


def windows(a: Any, c: Any) -> Step:
    return lambda k: float((a[k : k + 60, k:] * 2 + 1)[0, 0])


def masks(a: Any, c: Any) -> Step:
    return lambda k: float((c[c < 0.2 + k / 400] * 2).sum())


def batches(a: Any, c: Any) -> Step:
    return lambda k: float(np.maximum(a[: 100 + k] @ c, 0.1).sum())


def updates(a: Any, c: Any) -> Step:
    def step(k: int) -> float:
        a[k:, k:] -= a[k:, k, None] * a[None, k, k:] * 1e-6
        return float(a[k, k])

    return step


LOOPS: dict[str, Callable[[Any, Any], Step]] = {
    "windows": windows,
    "masks": masks,
    "batches": batches,
    "a[k:, k:] -= outer": updates,
}


def outer(a: Any) -> None:
    for k in range(1, ELIMINATED):
        a[k:, k:] -= np.outer(a[k:, k - 1], a[k - 1, k:]) * 1e-6


def lu(a: Any) -> None:
    for k in range(ELIMINATED - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])


def cholesky(a: Any) -> None:
    for k in range(ELIMINATED):
        a[k, k] = np.sqrt(a[k, k])
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k + 1 :, k])


def qr(a: Any) -> None:
    """By Householder's reflections."""
    for k in range(ELIMINATED - 1):
        v = a[k:, k].copy()
        v[0] += np.copysign(np.sqrt((v * v).sum()), v[0])
        v /= np.sqrt((v * v).sum())
        a[k:, k:] -= 2 * np.outer(v, v @ a[k:, k:])


ELIMINATIONS: dict[str, Callable[[Any], None]] = {"a[k:, k:] -= outer": outer, "LU": lu, "QR": qr, "Cholesky": cholesky}


def eliminated(name: str) -> dict[str, float]:
    """The times of an elimination in this process, in milliseconds: the first one and the second."""
    data = numpy.random.default_rng(0).random((ELIMINATED, ELIMINATED))
    data = data @ data.T + ELIMINATED * numpy.eye(ELIMINATED)
    times = {}
    for which in ("first", "second"):
        a = np.asarray(data.copy())
        np.synchronize()
        gc.collect()
        start = time.perf_counter()
        ELIMINATIONS[name](a)
        np.synchronize()
        times[which] = (time.perf_counter() - start) * 1e3
    structures, templates = evaluate.state_of(np.default_device()).planner.counts()
    return {**times, "structures": structures, "plans": templates}


def arrays() -> tuple[Any, Any, Any]:
    data = numpy.random.default_rng(0).random((2, SIZE, SIZE))
    a, b, c = np.asarray(data[0]), np.asarray(data[1]), np.asarray(data[0, 0])
    np.synchronize()
    return a, b, c


def recording(name: str) -> tuple[float, float]:
    """The median times to record a statement, in microseconds: at new sizes, and at the same ones again."""
    medians = []
    for _ in range(2):
        samples = []
        for k in range(1, WARM + STEPS):
            if k % 20 == 1:
                np.synchronize()
                step = statements(*arrays())[name]  # so that nothing that was recorded grows
            start = time.perf_counter()
            step(k)
            samples.append(time.perf_counter() - start)
        medians.append(statistics.median(samples[WARM:]) * 1e6)
    return medians[0], medians[1]


def loop(name: str) -> dict[str, float]:
    """The times of the steps of a loop in this process, in milliseconds, and how many plans it made."""
    times = {}
    for which in ("changing", "again", "fixed"):
        a, _, c = arrays()
        step = LOOPS[name](a, c)
        for k in (WARM + STEPS, *range(1, WARM)):  # large sizes may need a library, which is loaded once
            step(k)
        gc.collect()  # what the import of modules has made: Python would look at it once, at some step
        start = time.perf_counter()
        for k in range(WARM, WARM + STEPS):
            step(WARM if which == "fixed" else k)
        times[which] = (time.perf_counter() - start) * 1e3
    structures, templates = evaluate.state_of(np.default_device()).planner.counts()
    return {**times, "structures": structures, "plans": templates}


def in_own_process(kind: str, name: str) -> dict[str, float]:
    """Return what a measurement gives in a process of its own, where what it compiles is on disk."""
    for _ in range(2):
        command = [sys.executable, __file__, kind, name]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(run.stdout)
    return found


def main() -> None:
    if len(sys.argv) > 1:
        kind, name = sys.argv[1:]
        print(json.dumps(loop(name) if kind == "loop" else eliminated(name)))
        return
    print(f"{np.default_device()}, Python {sys.version.split()[0]}, NumPy {numpy.__version__}\n")
    print("| recorded | new sizes (µs) | seen sizes (µs) | ratio |\n|---|---|---|---|")
    for name in statements(*arrays()):
        new, seen = recording(name)
        print(f"| {name} | {new:.1f} | {seen:.1f} | {new / seen:.2f} |")
    print(f"\n| {STEPS} steps | changing sizes (ms) | the same again | one size | ratio | structures | plans |")
    print("|---|---|---|---|---|---|---|")
    for name in LOOPS:
        row = in_own_process("loop", name)
        print(
            f"| {name} | {row['changing']:.1f} | {row['again']:.1f} | {row['fixed']:.1f} "
            f"| {row['changing'] / row['fixed']:.2f} | {row['structures']} | {row['plans']} |"
        )
    print(f"\n| {ELIMINATED} x {ELIMINATED} | first (ms) | second (ms) | ratio | structures | plans |")
    print("|---|---|---|---|---|---|")
    for name in ELIMINATIONS:
        row = in_own_process("elimination", name)
        print(
            f"| {name} | {row['first']:.1f} | {row['second']:.1f} | {row['first'] / row['second']:.2f} "
            f"| {row['structures']} | {row['plans']} |"
        )


if __name__ == "__main__":
    main()
