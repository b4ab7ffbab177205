"""Small arrays on the host: calls on 10 and on 1,000 elements, elements one by one, and loops, beside NumPy.

``python benchmarks/small.py`` prints tables for the default device, in microseconds a call; the rows after the calls
are of whole loops, in milliseconds.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from math import exp, log
from typing import Any

import numpy

import gpunumpy

CALLS = """
a + b | a * 2.0 | -a | a / b | a > b | abs(a) | a ** 2 | a[1:-1] | a[::2] | a[m] | a.T | a.reshape(2, -1) | a.copy()
a.sum() | a.mean() | a.max() | a.std() | np.where(m, a, b) | np.concatenate([a, b]) | np.stack([a, b]) | np.sort(a)
np.argsort(a) | np.dot(a, b) | np.outer(v, v) | np.cumsum(a) | np.diff(a) | np.clip(a, 0.2, 0.8) | np.sqrt(a)
np.exp(a) | np.maximum(a, b) | np.zeros(10) | np.arange(10) | np.linspace(0, 1, 10) | np.array([1.0, 2.0, 3.0])
np.zeros_like(a) | np.linalg.solve(M, v) | np.linalg.norm(v) | np.cross(v, v) | np.fft.fft(c) | np.interp(v, v, v)
rng.normal(size=3) | rng.random(10) | rng.integers(0, 9, 10)
"""
ELEMENTS = ("a[3]", "float(a[3])", "a.__setitem__(3, 1.0)", "bool(a[3] > 0)", "len(a)", "for x in a: pass")


def names(np: Any, size: int) -> dict[str, Any]:
    rng = numpy.random.default_rng(0)
    data = {"a": rng.random(size), "b": rng.random(size), "m": rng.random(size) > 0.5, "c": rng.random(64)}
    data |= {"M": rng.random((3, 3)) + numpy.eye(3), "v": numpy.sort(rng.random(3))}
    return {"np": np, "rng": np.random.default_rng(0), **{name: np.asarray(x) for name, x in data.items()}}


def microseconds(call: Callable[[], Any]) -> float:
    """The median over batches of the time of a call."""
    start = time.perf_counter()
    call()
    count = max(1, int(0.002 / max(time.perf_counter() - start, 1e-7)))
    samples = []
    for _ in range(15):
        start = time.perf_counter()
        for _ in range(count):
            call()
        samples.append((time.perf_counter() - start) / count)
    return statistics.median(samples) * 1e6


def wavefront(np: Any) -> None:
    z = np.ones((200, 200))
    for i in range(1, 200):
        for j in range(1, 200):
            z[i, j] = z[i - 1, j] + z[i, j - 1]


def cholesky_by_rows(np: Any) -> None:
    rng = numpy.random.default_rng(0)
    data = rng.random((100, 100))
    a = np.asarray(data @ data.T + 100 * numpy.eye(100))
    for k in range(100):
        a[k, k] = a[k, k] ** 0.5
        a[k + 1 :, k] /= a[k, k]
        for j in range(k + 1, 100):
            a[j:, j] -= a[j:, k] * a[j, k]


def bodies(np: Any) -> None:
    rng = numpy.random.default_rng(0)
    x, v = np.asarray(rng.random((100, 3))), np.asarray(rng.random((100, 3)))
    for _ in range(10):
        for k in range(100):
            distance = x - x[k]
            v[k] += (distance / ((distance**2).sum(axis=1) + 0.01)[:, None] ** 1.5).sum(axis=0) * 1e-4
        x += v * 1e-3


def recurrence(np: Any) -> None:
    x = np.linspace(0.1, 0.9, 100)
    for _ in range(5000):
        x = 3.7 * x * (1 - x)


LOOPS: tuple[Callable[[Any], None], ...] = (wavefront, cholesky_by_rows, bodies, recurrence)


def main() -> None:
    print(f"{gpunumpy.default_device()}, Python {sys.version.split()[0]}, NumPy {numpy.__version__}\n")
    gpunumpy.set_residence("auto")
    rows: dict[str, list[float]] = {}
    for size in (10, 1000):
        ours, theirs = names(gpunumpy, size), names(numpy, size)
        for text in [*(call.strip() for line in CALLS.split("\n") for call in line.split("|")), *ELEMENTS]:
            if text:
                call = "def call():\n    " + text
                timed = []
                for found in (ours, theirs):
                    exec(call, found)
                    timed.append(microseconds(found["call"]))
                rows.setdefault(text, []).extend(timed)
    print("| call | gpunumpy, 10 elements | NumPy | ratio | gpunumpy, 1,000 | NumPy | ratio |\n" + 7 * "|---" + "|")
    for text, (small, other, large, another) in rows.items():
        shown = text.replace("|", "\\|")
        cells = f"{small:.2f} | {other:.2f} | {small / other:.2f} | {large:.2f} | {another:.2f} | {large / another:.2f}"
        print(f"| `{shown}` | {cells} |")
    calls = [row for text, row in rows.items() if text not in ELEMENTS]
    for at, size in ((0, "10"), (2, "1,000")):
        mean = exp(statistics.fmean(log(row[at] / row[at + 1]) for row in calls))
        print(f"\nGeometric mean of the calls on {size} elements: {mean:.2f}")
    print("\n| loop | gpunumpy (ms) | NumPy (ms) | ratio |\n|---|---|---|---|")
    for loop in LOOPS:
        ours_ms, theirs_ms = (min(_milliseconds(loop, np) for _ in range(3)) for np in (gpunumpy, numpy))
        print(f"| {loop.__name__} | {ours_ms:.1f} | {theirs_ms:.1f} | {ours_ms / theirs_ms:.2f} |")


def _milliseconds(loop: Callable[[Any], None], np: Any) -> float:
    start = time.perf_counter()
    loop(np)
    return (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    main()
