"""Products of a matrix and a vector, by a kernel and by cuBLAS, beside the peers.

``python benchmarks/vector_products.py``. gpunumpy has kernels multiply small matrices and cuBLAS large ones; the table
shows both ways for each size, each in a process and with a cache of its own: microseconds, where calls queue behind
each other, and the bytes of the matrix over the time of the kernel. "x @ a" sums along the columns of a matrix in C
order, "a @ x" along its rows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy
from peers import Peer, peers_of
from table import heading
from timing import seconds

from gpunumpy.core.schedule import vector_products

DTYPES = ("float32", "float64")
# The rows and columns of matrices.
SHAPES = (
    *((1 << 18, columns) for columns in (8, 33, 64)),
    *((1 << 16, 256), (1 << 14, 1024), (2048, 2048), (4096, 4096), (1024, 1 << 14), (256, 1 << 16)),
    *((rows, 1 << 18) for rows in (64, 8)),
)
WORK: dict[str, Callable[[Any, Any, Any], Any]] = {"x @ a": lambda a, x, y: x @ a, "a @ x": lambda a, x, y: a @ y}
WAYS = {"kernel": 1 << 62, "cuBLAS": 0}  # up to how many elements of a matrix kernels multiply
PEERS = ("CuPy", "torch", "jax.jit")


def microseconds(peer: Peer) -> list[float]:
    """What each product takes."""
    rng, took = numpy.random.default_rng(0), []
    for dtype in DTYPES:
        for shape in SHAPES:
            arrays = tuple(peer.array(rng.random(n).astype(dtype)) for n in (shape, *shape))
            for work in WORK.values():
                call = peer.prepare(work)
                took.append(1e6 * seconds(lambda call=call, args=arrays: call(*args), peer.wait, batch=0.02, repeats=7))  # type: ignore[misc]
    return took


def in_own_process(way: str) -> list[float]:
    """What each product takes gpunumpy one way."""
    with tempfile.TemporaryDirectory() as cache:
        command, environment = [sys.executable, __file__, "--way", way], {**os.environ, "GPUNUMPY_CACHE_DIR": cache}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        vector_products._MAX_ELEMENTS = WAYS[given.way]
        print(json.dumps(microseconds(peers_of([])[0])))
        return
    times = {way: in_own_process(way) for way in WAYS}
    times |= {peer.name: microseconds(peer) for peer in peers_of(["cupy", "torch", "jax"]) if peer.name in PEERS}
    columns = ["product", "matrix", "dtype", *times, "GB/s"]
    print(f"{heading()}; µs\n\n| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    names = [(name, shape, dtype) for dtype in DTYPES for shape in SHAPES for name in WORK]
    for (name, (rows, width), dtype), *took in zip(names, *times.values(), strict=True):
        rate = rows * width * numpy.dtype(dtype).itemsize / took[0] / 1e3
        cells = [name, f"{rows} x {width}", dtype, *(f"{us:.1f}" for us in took), f"{rate:.0f}"]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
