"""Steps of a stencil over large fields: written in place, to another array, and several at once.

``python benchmarks/stencils.py`` prints the milliseconds of a step and the bytes that it must move, over these.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy
from table import heading

import gpunumpy as np

SIDES = (16384, 16424, 16425, 8232)  # of the fields of float32
STEPS, CALLS = 20, 6


def heated(u: Any, steps: int) -> Any:
    """Return a field after some steps, with a row and a column fewer at each side for each of them."""
    for _ in range(steps):
        u = u[1:-1, 1:-1] + 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


def at_once(u: Any) -> None:
    heated(u, STEPS).computed()


def one_by_one(u: Any) -> None:
    for _ in range(STEPS):
        u = heated(u, 1)
        u.computed()


def in_place(u: Any) -> None:
    for _ in range(STEPS):
        u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    u.computed()


def seconds(run: Callable[[Any], None], u: Any) -> float:
    """The least seconds of a step."""
    took = []
    for _ in range(CALLS):
        np.synchronize()
        start = time.perf_counter()
        run(u)
        np.synchronize()
        took.append(time.perf_counter() - start)
    return min(took) / STEPS


def main() -> None:
    print(f"{heading()}\n\n| side | steps | ms a step | TB/s |\n|---|---|---|---|")
    for side in SIDES:
        u = np.random.default_rng(0).random((side, side), numpy.float32)
        for run in (at_once, one_by_one, in_place):
            took = seconds(run, u)
            print(f"| {side} | {run.__name__} | {took * 1e3:.3f} | {2 * u.nbytes / took / 1e12:.2f} |", flush=True)


if __name__ == "__main__":
    main()
