"""A loop over the elements of an array that came from the device, each read and written alone, beside NumPy.

``python benchmarks/elements.py [--device cuda|cpu] [--side 1000]`` prints the seconds of both, with a look at the
result. The status is 1 if the loop takes more than three times NumPy's time, or gives another result.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy
from table import heading

import gpunumpy
from gpunumpy.core.runtime.device import Device, default_device

GOAL = 3.0


def sweep(field: Any) -> None:
    """Set each element by the one above it."""
    rows, columns = field.shape
    for i in range(1, rows):
        for j in range(columns):
            field[i, j] = 0.5 * field[i - 1, j] + 1.0


def seconds_of(np: Any, source: numpy.ndarray) -> tuple[float, numpy.ndarray]:
    """Return how long a loop over an array that the library has computed takes, and the array."""
    field = np.sqrt(np.asarray(source))
    if np is gpunumpy:
        gpunumpy.synchronize()
    start = time.perf_counter()
    sweep(field)
    result = gpunumpy.asnumpy(field)
    return time.perf_counter() - start, result


def main() -> int:
    """Print the seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="cpu or cuda (default: a GPU if one is usable)")
    parser.add_argument("--side", type=int, default=1000)
    given = parser.parse_args()
    device = Device(given.device) if given.device else default_device()
    print(f"{heading()}; {device}\n")
    source = numpy.random.default_rng(0).random((given.side, given.side))
    with device:
        by_numpy, expected = min((seconds_of(numpy, source) for _ in range(3)), key=lambda found: found[0])
        ours, result = min((seconds_of(gpunumpy, source) for _ in range(3)), key=lambda found: found[0])
    print(f"NumPy {by_numpy:.3f} s, ours {ours:.3f} s: {ours / by_numpy:.2f} times (goal {GOAL:g})")
    return not numpy.array_equal(result, expected) or ours > GOAL * by_numpy


if __name__ == "__main__":
    sys.exit(main())
