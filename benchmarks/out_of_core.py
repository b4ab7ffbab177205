"""Data larger than the device, read from a mapped file that is in the system's cache: seconds beside reading and link.

``python benchmarks/out_of_core.py [--device cuda] [--limit 4GB] [--times 4] [--folder /tmp] [--only WORK ...]`` writes
a file of so many times the limit, sets the limit, and reduces and maps the file. Beside each time stands that of the
slower of two ways of the same bytes: read once by the host, and over the link to the device. The status is 1 if a
result is not NumPy's.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

import gpunumpy as np
from gpunumpy.core.runtime import memory, memory_copy
from gpunumpy.core.runtime.byte_sizes import parsed_bytes
from gpunumpy.core.runtime.device import CPU, Device

COLUMNS = 1 << 12
PIECE = 1 << 27  # bytes that are copied at a time where the rates are measured


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long work takes, and its result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def read(values: numpy.ndarray) -> None:
    """Copy all bytes of an array to one place of the host, a piece at a time."""
    target = numpy.empty(PIECE, numpy.uint8)
    flat = values.reshape(-1).view(numpy.uint8)
    for start in range(0, flat.size, PIECE):
        piece = flat[start : start + PIECE]
        target[: piece.size] = piece


def sent(nbytes: int, device: Device) -> float:
    """Return how long the copy of so many bytes from page-locked memory to a device takes."""
    source, target = memory.pinned(PIECE, device), memory.allocate(device, PIECE)

    def send() -> None:
        for _ in range(0, nbytes, PIECE):
            memory_copy.copy_from_host(target, 0, source, borrow=True)
        np.synchronize(device)

    return seconds(send)[0]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--limit", default="4GB")
    parser.add_argument("--times", type=float, default=4)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--only", nargs="+", help="the rows of the table to run (default: all)")
    options = parser.parse_args()
    limit = parsed_bytes(options.limit, "--limit")
    assert limit is not None
    device = Device(options.device)
    rows = int(options.times * limit) // (4 * COLUMNS)
    path = Path(options.folder) / "out_of_core.npy"
    written = numpy.lib.format.open_memmap(path, "w+", numpy.float32, (rows, COLUMNS))
    block = numpy.random.default_rng(0).random((1 << 10, COLUMNS), numpy.float32)
    for start in range(0, rows, len(block)):
        written[start : start + len(block)] = block[: rows - start]
    del written
    print(f"{device}, limit {limit:,} bytes, file {rows * COLUMNS * 4:,} bytes\n")
    print("| work | seconds | of them to read | over the link | the slower / the work |\n|---|---|---|---|---|")
    failed = 0
    try:
        values = np.load(path, mmap_mode="r")
        reading, _ = seconds(lambda: read(values))
        linking = 0.0 if device is CPU else sent(values.nbytes, device)
        np.set_memory_limit(limit, device)
        order = numpy.random.default_rng(1).permutation(rows)
        expected = float(block.mean(dtype=numpy.float64))
        with device:
            works: dict[str, tuple[int, Callable[[], float], float]] = {
                "mean": (1, lambda: float(np.mean(values)), expected),
                "mean and variance": (1, lambda: sum(map(float, together(values))), expected + float(block.var())),
                "maximum of each column": (1, lambda: float(np.max(values, axis=0).mean()), float(block.max(0).mean())),
                "a map, and its sum": (1, lambda: float((np.sqrt(values) + 1).sum()) / values.size, 1 + 2 / 3),
                "median": (2, lambda: float(np.median(values)), float(numpy.median(block))),
                "median of each column": (1, lambda: float(np.median(values, axis=0).mean()), 0.5),
                "mean by a mask": (2, lambda: float(mean_above(values, 0.5)), float(mean_above(block, 0.5))),
                "rows at random": (1, lambda: float(np.asarray(values)[order].mean()), expected),
                "sum that runs": (1, lambda: float(np.cumsum(values, axis=0)[-1].mean()) / rows, expected),
            }
            for name in options.only or works:
                passes, work, wanted = works[name]
                work()
                took, found = seconds(work)
                slower = passes * max(reading, linking)
                failed += abs(found - wanted) > 1e-3 * abs(wanted)
                print(f"| {name} | {took:.3f} | {reading:.3f} | {linking:.3f} | {slower / took:.2f} |")
    finally:
        path.unlink()
    return 1 if failed else 0


def mean_above(values: Any, least: float) -> Any:
    """Return the mean of the elements that are larger than a number."""
    x = np.asarray(values)
    return x[x > least].mean()


def together(values: Any) -> tuple[Any, Any]:
    """Return the mean and the variance of all elements, which one pass over them gives."""
    x = np.asarray(values)
    return x.mean(), x.var()


if __name__ == "__main__":
    sys.exit(main())
