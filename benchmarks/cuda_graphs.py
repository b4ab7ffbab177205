"""What it gains that the kernels of a plan are one CUDA graph: see "CUDA graphs" in docs/design/kernels.md.

``python benchmarks/cuda_graphs.py`` on a GPU prints what the host takes for a flush of so many kernels, in
microseconds, one by one and as a graph, and how long a program waits for their result. Then, for loops of
benchmarks/loops.py at their small sizes, the milliseconds of a run, and those that the device and the host take alone.
Each column is a process of its own. Every loop is compared with NumPy's, before it is timed and after.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

sys.path.insert(0, str(Path(__file__).parent))

from early_starts import TIMED, apart
from loops import check, prepared
from peers import peers_of
from table import device_name
from timing import seconds

import gpunumpy as np
from gpunumpy.kernels.cuda import cuda_graphs

COUNTS = (1, 2, 3, 5, 10, 30, 60)  # of kernels
SIZE = 4096  # of their arrays
WARM_UP = 100  # runs, after which plans have graphs, and structures of many sizes one plan
REPEATS = 200
WAYS = ("one by one", "graphs")


def chain(count: int) -> Callable[[], Any]:
    """Return what records so many kernels."""
    start = np.asarray(numpy.random.default_rng(0).random(SIZE))

    def record() -> Any:
        u = start
        for _ in range(count):
            u = u.copy()
            u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        return u

    return record


def flushes() -> list[tuple[float, float]]:
    """The microseconds of a flush on the host, and until its result is there, for each number of kernels."""
    found = []
    for count in COUNTS:
        record = chain(count)
        for _ in range(WARM_UP):
            record().computed()
        on_host, waited = [], []
        for _ in range(REPEATS):
            np.synchronize()
            u = record()
            start = time.perf_counter()
            u.computed()
            queued = time.perf_counter()
            np.synchronize()
            on_host.append(queued - start)
            waited.append(time.perf_counter() - start)
        found.append((statistics.median(on_host) * 1e6, statistics.median(waited) * 1e6))
    return found


def loops() -> dict[str, tuple[float, float, float]]:
    """The seconds of each loop, of the device and of the host alone."""
    (peer,) = peers_of([])
    device, took = np.Device("cuda"), {}
    for loop in TIMED:
        n, steps = loop.sizes["small"]
        arrays = loop.data(numpy.random.default_rng(0), n, steps)
        call = prepared(loop, peer, arrays, steps)
        expected = loop.program(numpy, *arrays, steps)
        check(loop, peer, call(), expected)
        for _ in range(20):
            call()
        took[loop.name] = (seconds(call, np.synchronize, batch=0.01, repeats=5), *apart(device, call, 3))
        check(loop, peer, call(), expected)
    return took


def in_own_process(name: str) -> subprocess.Popen[str]:
    environment = {"GPUNUMPY_TIER": "compiled", "GPUNUMPY_RESIDENCE": "device", **os.environ}
    command = [sys.executable, __file__, "--child", name]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", choices=WAYS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        if given.child != "graphs":
            cuda_graphs.MAX_WORKSPACE_BYTES = -1  # no plan has a graph then
        print(json.dumps((flushes(), loops())))
        return
    for process in [in_own_process(name) for name in WAYS]:  # what they compile is on disk then
        process.communicate()
    runs = {name: json.loads(in_own_process(name).communicate()[0].splitlines()[-1]) for name in WAYS}
    print(f"{device_name()}\n\nEach cell: a flush on the host (µs), and until its result is there.\n")
    print("| kernels | " + " | ".join(WAYS) + " |\n|---" + "|---" * len(WAYS) + "|")
    for k, count in enumerate(COUNTS):
        cells = [", ".join(f"{took:.1f}" for took in runs[name][0][k]) for name in WAYS]
        print(f"| {count} | " + " | ".join(cells) + " |")
    print("\nEach cell: a run (ms), the device alone, the host alone.\n")
    print("| loop | steps | " + " | ".join(WAYS) + " |\n|---" + "|---" * (len(WAYS) + 1) + "|")
    for loop in TIMED:
        cells = [", ".join(f"{1e3 * took:.3f}" for took in runs[name][1][loop.name]) for name in WAYS]
        print(f"| {loop.name} | {loop.sizes['small'][1]} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
