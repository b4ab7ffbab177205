"""What a change costs in steady state: this checkout and another one in turns, each with its own benchmarks.

``python benchmarks/alternations.py FOLDER [--turns 5] [--seconds 500]`` on a machine with a GPU, where FOLDER has the
other checkout. A turn is a process that runs `overheads.py` (but for imports and first kernels), `speed.py` and the
examples at both sizes, everything compiled; there are fewer turns where the seconds are over. The table has the medians
of the turns in microseconds, and the median of the ratios of neighbouring turns.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent

# Names of rows and microseconds. Parts that a checkout does not have are left out.
TURN = """
import sys, time
import numpy
import gpunumpy as np
import overheads, speed, examples
from peers import all_peers
from table import measure
from gpunumpy.demo import load, names

def show(name, microseconds):
    print(name.strip().replace("of which Python,", "of which"), microseconds, sep="\\t", flush=True)

data = numpy.random.default_rng(0).random((2, 1024), numpy.float32)
a, b = np.asarray(data[0]), np.asarray(data[1])
for name, value in overheads.recording(a, b) + overheads.flushing(a, b):
    show(name, value)
for name, value in overheads.looking(a) if hasattr(overheads, "looking") else ():
    show(name, value)
(peer,) = all_peers({"gpunumpy"})
for row in speed.ROWS:
    show(row.name, measure(row, peer, row.data()) * 1e6)
for size in ("small", "large"):
    for name in names():
        run = load(name, "gpunumpy").run
        case = examples.CASES[name][size]
        took = [examples.seconds(lambda: run(*case)) for _ in range(6 if size == "large" else 12)]
        show(f"{name}, {size}", min(took[2:]) * 1e6)
"""


def turn(checkout: Path, caches: Path) -> dict[str, float]:
    """The rows of one process with a checkout's package and benchmarks."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(checkout), str(checkout / "benchmarks"), os.environ.get("PYTHONPATH", "")]),
        "GPUNUMPY_CACHE_DIR": str(caches / checkout.name),
        "GPUNUMPY_TIER": "compiled",
        "GPUNUMPY_RESIDENCE": "device",
    }
    run = subprocess.run([sys.executable, "-c", TURN], env=environment, cwd=checkout, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        print(f"{checkout.name} ended with {run.returncode} after {run.stdout.count(chr(10))} rows", file=sys.stderr)
    return {name: float(value) for name, value in (line.split("\t") for line in run.stdout.splitlines())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the other checkout")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no turn that would end later")
    given = parser.parse_args()
    begin = time.perf_counter()
    before: list[dict[str, float]] = []
    after: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as caches:
        for k in range(given.turns):
            took = (time.perf_counter() - begin) / max(k, 1)
            if time.perf_counter() - begin + took > given.seconds:
                break
            before.append(turn(given.folder.resolve(), Path(caches)))
            after.append(turn(HERE, Path(caches)))
    print(f"{len(before)} alternations\n")
    print("| what (µs) | before | after | ratio |\n|---|---|---|---|")
    for name in after[0]:
        pairs = [(x[name], y[name]) for x, y in zip(before, after, strict=True) if name in x and name in y]
        if pairs:
            old, new = (statistics.median(column) for column in zip(*pairs, strict=True))
            ratio = statistics.median(y / x for x, y in pairs)
            print(f"| {name} | {old:.4g} | {new:.4g} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
