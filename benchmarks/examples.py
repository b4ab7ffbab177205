"""The examples beside the library that they would otherwise name: NumPy on the CPU, CuPy on a GPU.

``python benchmarks/examples.py [--device cpu|cuda] [--size small|large] [--only NAME,NAME]``. Every library runs the
same file with another import line, once to warm up and then in turns; the table has the fastest turn of each.
With ``--numpy-ms 1 10 100`` the examples run beside NumPy on every device, with the steps of the small cases and at the
sizes at which NumPy takes about as many milliseconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from math import exp, log
from statistics import fmean
from typing import Any

from gpunumpy.core.runtime.device import Device, default_device
from gpunumpy.demo import load, names

SMALLEST = 12  # the least size of an example
# The size and the steps that each example is given.
CASES: dict[str, dict[str, tuple[int, int]]] = {
    "black_scholes": {"small": (256, 12), "large": (8192, 24)},
    "heat": {"small": (256, 200), "large": (8192, 200)},
    "image_subtraction": {"small": (256, 2), "large": (4096, 2)},
    "kmeans": {"small": (10, 20), "large": (64, 100)},
    "lattice_boltzmann": {"small": (64, 50), "large": (2048, 50)},
    "life": {"small": (256, 50), "large": (8192, 50)},
    "mandelbrot": {"small": (256, 50), "large": (8192, 100)},
    "nbody": {"small": (256, 20), "large": (16384, 10)},
}


def seconds(run: Callable[[], Any]) -> float:
    """How long a run takes, until its result is there."""
    start = time.perf_counter()
    result = run()
    float(result[(-1,) * result.ndim])
    return time.perf_counter() - start


def case_of(name: str, target_ms: float) -> tuple[int, int]:
    """The case of an example at the size for which NumPy takes about so many milliseconds."""
    run, (size, steps) = load(name, "numpy").run, CASES[name]["small"]
    for _ in range(6):
        took = min(seconds(lambda size=size: run(size, steps)) for _ in range(3)) * 1e3  # type: ignore[misc]
        if 0.9 < took / target_ms < 1.1:
            break
        # Work grows with a power of the size between 1 and 2, and there is a part that does not grow.
        size = max(SMALLEST, round(size * min(4.0, max(0.25, (target_ms / took) ** 0.6))))
    return size, steps


def row(name: str, case: tuple[int, int], peer: str, turns: int) -> tuple[str, float]:
    """One example's line of the table, and the time of gpunumpy as a multiple of the other library's."""
    best = []
    runs = [load(name, library).run for library in ("gpunumpy", peer)]
    for run in runs:
        seconds(lambda run=run: run(*case))  # type: ignore[misc]
    for _ in range(turns):
        best.append([seconds(lambda run=run: run(*case)) for run in runs])  # type: ignore[misc]
    own_time, peer_time = (min(times) * 1e3 for times in zip(*best))
    ratio = own_time / peer_time
    return f"| {name} | {case[0]} | {case[1]} | {own_time:.2f} | {peer_time:.2f} | {ratio:.2f} |", ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="where to run gpunumpy: cpu, cuda (default: a GPU if one is usable)")
    parser.add_argument("--size", choices=("small", "large"), default="small")
    parser.add_argument("--only", default="", help="names of examples, with commas between them")
    parser.add_argument("--numpy-ms", nargs="+", type=float, default=[], help="times of NumPy that sizes are found for")
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    device = Device(given.device) if given.device else default_device()
    peer = "cupy" if device.kind == "cuda" and not given.numpy_ms else "numpy"
    label = {"cupy": "CuPy", "numpy": "NumPy"}[peer]
    chosen = given.only.split(",") if given.only else names()
    with device:
        for target in given.numpy_ms or (None,):
            what = given.size if target is None else f"NumPy takes about {target:g} ms"
            print(f"{device}, {what}: the fastest of {given.turns} turns, after one to warm up\n")
            print(f"| example | size | steps | gpunumpy, ms | {label}, ms | gpunumpy / {label} |")
            print("|---|---|---|---|---|---|")
            ratios = []
            for name in chosen:
                case = CASES[name][given.size] if target is None else case_of(name, target)
                text, ratio = row(name, case, peer, given.turns)
                ratios.append(ratio)
                print(text, flush=True)
            print(f"\nGeometric mean of gpunumpy / {label}: {exp(fmean(map(log, ratios))):.2f}\n")


if __name__ == "__main__":
    main()
