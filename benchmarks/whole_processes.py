"""Whole processes of programs that look at single elements and rows, beside the same programs with NumPy.

``python benchmarks/whole_processes.py [--repeats 5] [--only NAME ...] [--processor]`` runs each program in new
processes, by turns, and prints the least times of both, imports included, in seconds; with ``--processor`` they are
those of the processor, which other programs of a busy machine disturb less. The program "import" does nothing else.
``--run NAME LIBRARY`` is what such a process does.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def cholesky(np: Any, times: int = 40) -> None:
    """Cholesky's factors of 100 by 100 elements, row by row."""
    places = np.arange(100)
    data = 1.0 / (1 + np.abs(places[:, None] - places)) + 100 * np.eye(100)
    for _ in range(times):
        a = data.copy()
        for k in range(100):
            a[k, k] = a[k, k] ** 0.5
            a[k + 1 :, k] /= a[k, k]
            for j in range(k + 1, 100):
                a[j:, j] -= a[j:, k] * a[j, k]


def bodies(np: Any, steps: int = 300) -> None:
    """100 bodies, one after the other attracted by all."""
    angle = np.arange(100) * 2.4
    x = np.stack([np.cos(angle), np.sin(angle), np.sin(3 * angle)], axis=1)
    v = np.zeros((100, 3))
    for _ in range(steps):
        for k in range(100):
            distance = x - x[k]
            v[k] += (distance / ((distance**2).sum(axis=1) + 0.01)[:, None] ** 1.5).sum(axis=0) * 1e-4
        x += v * 1e-3


def maze(np: Any) -> None:
    """The steps to every place of a maze of 40 by 40, found place by place, 100 times."""
    rows, columns = np.indices((40, 40))
    walls = (rows * 7 + columns * 13) % 11 == 0
    walls[0, 0] = False
    for _ in range(100):
        steps = np.full((40, 40), -1)
        steps[0, 0] = 0
        waiting = [(0, 0)]
        for row, column in waiting:
            for r, c in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
                if 0 <= r < 40 and 0 <= c < 40 and not walls[r, c] and steps[r, c] < 0:
                    steps[r, c] = steps[row, column] + 1
                    waiting.append((r, c))


def recurrent_network(np: Any) -> None:
    """A recurrent network that learns a text one character at a time."""
    path = Path(__file__).parent / "programs" / "recurrent_network.py"
    names: dict[str, Any] = {"__name__": "recurrent_network"}
    exec(path.read_text().replace("import gpunumpy as np", f"import {np.__name__} as np"), names)
    names["run"](size=64, steps=300)


def nothing(np: Any) -> None:
    """The import alone."""


PROGRAMS: dict[str, Callable[[Any], None]] = {
    "import": nothing,
    **{f.__name__: f for f in (cholesky, bodies, maze, recurrent_network)},
}


def seconds(name: str, library: str, is_of_processor: bool) -> float:
    """How long a new process takes, or the processor for it."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, __file__, "--run", name, library], check=True)
    took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime if is_of_processor else took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--run", nargs=2, metavar=("NAME", "LIBRARY"))
    given = parser.parse_args()
    if given.run:
        name, library = given.run
        PROGRAMS[name](import_module(library))
        return
    print("| program | gpunumpy (s) | NumPy (s) | ratio |\n" + "|---" * 4 + "|")
    for name in given.only:
        libraries = ("gpunumpy", "numpy")
        turns = [[seconds(name, library, given.processor) for library in libraries] for _ in range(given.repeats)]
        own_time, numpy_time = map(min, zip(*turns, strict=True))
        print(f"| {name} | {own_time:.2f} | {numpy_time:.2f} | {own_time / numpy_time:.2f} |", flush=True)


if __name__ == "__main__":
    main()
