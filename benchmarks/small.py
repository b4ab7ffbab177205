"""Small arrays on the host: calls on 10 and on 1,000 elements, elements one by one, and loops, beside NumPy.

``python benchmarks/small.py`` prints tables for the default device, in microseconds a call; the rows after the calls
are of whole loops, in milliseconds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from math import exp, log
from typing import Any

import numpy
from table import heading
from whole_processes import bodies, cholesky

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
# Calls that the geometric means, which earlier tables have too, leave out.
OTHERS = (
    *("np.nonzero(m)", "np.where(m)", "a.argmax()", "a.take(p)", "a.__setitem__(p, 1.0)", "a.__setitem__(m, 1.0)"),
    *("np.sqrt(2.0)", "str(a[3])", "f'{a[3]:.3f}'", "hash(a[3])", "rng.choice(v)", "rng.shuffle(v)"),
)


def names(np: Any, size: int) -> dict[str, Any]:
    rng = numpy.random.default_rng(0)
    data = {"a": rng.random(size), "b": rng.random(size), "m": rng.random(size) > 0.5, "c": rng.random(64)}
    data |= {"p": numpy.arange(4), "M": rng.random((3, 3)) + numpy.eye(3), "v": numpy.sort(rng.random(3))}
    return {"np": np, "rng": np.random.default_rng(0), **{name: np.asarray(x) for name, x in data.items()}}


def microseconds(calls: list[Callable[[], Any]]) -> list[float]:
    """The least times of the calls, over batches that take turns."""
    count = max(1, int(0.002 / max(_seconds(calls[0], 1), 1e-7)))
    turns = [[_seconds(call, count) / count for call in calls] for _ in range(25)]
    return [min(took) * 1e6 for took in zip(*turns, strict=True)]


def _seconds(call: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - start


def wavefront(np: Any) -> None:
    z = np.ones((200, 200))
    for i in range(1, 200):
        for j in range(1, 200):
            z[i, j] = z[i - 1, j] + z[i, j - 1]


def recurrence(np: Any) -> None:
    x = np.linspace(0.1, 0.9, 100)
    for _ in range(5000):
        x = 3.7 * x * (1 - x)


LOOPS: dict[str, Callable[[Any], None]] = {
    "wavefront": wavefront,
    "cholesky": lambda np: cholesky(np, times=1),
    "bodies": lambda np: bodies(np, steps=10),
    "recurrence": recurrence,
}


def main() -> None:
    print(f"{heading()}; times in µs, of the default device, {gpunumpy.default_device()}\n")
    gpunumpy.set_residence("auto")
    rows: dict[str, list[float]] = {}
    for size in (10, 1000):
        ours, theirs = names(gpunumpy, size), names(numpy, size)
        for text in [*(call.strip() for line in CALLS.split("\n") for call in line.split("|")), *ELEMENTS, *OTHERS]:
            if text:
                call = "def call():\n    " + text
                for found in (ours, theirs):
                    exec(call, found)
                rows.setdefault(text, []).extend(microseconds([ours["call"], theirs["call"]]))
    print("| call | gpunumpy, 10 elements | NumPy | ratio | gpunumpy, 1,000 | NumPy | ratio |\n" + 7 * "|---" + "|")
    for text, (small, other, large, another) in rows.items():
        shown = text.replace("|", "\\|")
        cells = f"{small:.2f} | {other:.2f} | {small / other:.2f} | {large:.2f} | {another:.2f} | {large / another:.2f}"
        print(f"| `{shown}` | {cells} |")
    calls = [row for text, row in rows.items() if text not in ELEMENTS + OTHERS]
    for at, size in ((0, "10"), (2, "1,000")):
        mean = exp(statistics.fmean(log(row[at] / row[at + 1]) for row in calls))
        print(f"\nGeometric mean of the calls on {size} elements: {mean:.2f}")
    print("\n| loop | gpunumpy (ms) | NumPy (ms) | ratio |\n|---|---|---|---|")
    for name, loop in LOOPS.items():
        turns = [[_seconds(partial(loop, np), 1) for np in (gpunumpy, numpy)] for _ in range(5)]
        own_ms, numpy_ms = (min(took) * 1e3 for took in zip(*turns, strict=True))
        print(f"| {name} | {own_ms:.1f} | {numpy_ms:.1f} | {own_ms / numpy_ms:.2f} |")


if __name__ == "__main__":
    main()
