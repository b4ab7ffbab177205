"""Small tasks in Dask's own schedulers: 10,000 chunks of 1,024 float64 numbers, beside chunks of NumPy's.

``python benchmarks/dask_tasks.py`` prints microseconds a chunk, the least of three turns for both backends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy
from table import heading

import gpunumpy.dask

CHUNKS, ELEMENTS = 10_000, 1_024
BACKENDS = (gpunumpy.__name__, numpy.__name__)
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "x * 2 + 1": lambda x: (x * 2 + 1).persist(),
    "(x * 2 + 1).sum()": lambda x: (x * 2 + 1).sum().compute(),
    "da.sqrt(x) + x": lambda x: (da.sqrt(x) + x).persist(),
}


def source(backend: str) -> Any:
    with dask.config.set({"array.backend": backend}):
        x = da.random.default_rng(0).random(CHUNKS * ELEMENTS, chunks=ELEMENTS)
    return x.persist()


def seconds(program: Callable[[Any], Any], x: Any) -> float:
    start = time.perf_counter()
    program(x)
    return time.perf_counter() - start


def main() -> None:
    print(f"{heading()}; Dask {dask.__version__}; microseconds a chunk\n")
    print("| scheduler | program | gpunumpy | NumPy | ratio |\n|---|---|---|---|---|")
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            sources = [source(backend) for backend in BACKENDS]
            for name, program in PROGRAMS.items():
                turns = [[seconds(program, x) for x in sources] for _ in range(3)]
                ours, theirs = (min(took) / CHUNKS * 1e6 for took in zip(*turns, strict=True))
                print(f"| {scheduler} | `{name}` | {ours:.0f} | {theirs:.0f} | {ours / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main()
