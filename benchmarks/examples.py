"""The examples beside the library that they would otherwise name: NumPy on the CPU, CuPy on a GPU.

``python benchmarks/examples.py [--device cpu|cuda] [--size small|large] [--only NAME,NAME]``. Every library runs the
same file with another import line, once to warm up and then in turns; the table has the fastest turn of each.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from gpunumpy.core.runtime.device import Device, default_device
from gpunumpy.demo import load, names

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


def row(name: str, size: str, peer: str, turns: int) -> str:
    """One example's line of the table."""
    case = CASES[name][size]
    best = []
    runs = [load(name, library).run for library in ("gpunumpy", peer)]
    for run in runs:
        seconds(lambda run=run: run(*case))  # type: ignore[misc]
    for _ in range(turns):
        best.append([seconds(lambda run=run: run(*case)) for run in runs])  # type: ignore[misc]
    own_time, peer_time = (min(times) * 1e3 for times in zip(*best))
    return f"| {name} | {case[0]} | {case[1]} | {own_time:.2f} | {peer_time:.2f} | {own_time / peer_time:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="where to run gpunumpy: cpu, cuda (default: a GPU if one is usable)")
    parser.add_argument("--size", choices=("small", "large"), default="small")
    parser.add_argument("--only", default="", help="names of examples, with commas between them")
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    device = Device(given.device) if given.device else default_device()
    peer = "cupy" if device.kind == "cuda" else "numpy"
    label = {"cupy": "CuPy", "numpy": "NumPy"}[peer]
    print(f"{device}, {given.size}: the fastest of {given.turns} turns, after one to warm up\n")
    print(f"| example | size | steps | gpunumpy, ms | {label}, ms | gpunumpy / {label} |")
    print("|---|---|---|---|---|---|")
    with device:
        for name in given.only.split(",") if given.only else names():
            print(row(name, given.size, peer, given.turns), flush=True)


if __name__ == "__main__":
    main()
