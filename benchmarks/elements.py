"""Loops over the elements of an array that came from the device, itself or its views, beside NumPy.

``python benchmarks/elements.py [--device cuda|cpu] [--side 1000]`` prints the seconds of both, with a look at the
result. The status is 1 if a loop takes more than three times NumPy's time, or gives another result.
"""

from __future__ import annotations

import argparse
import operator
import sys
import time
from collections.abc import Callable
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


def sweep_inside(field: Any) -> None:
    """Do so within a view that leaves out a boundary."""
    sweep(field[1:-1, 1:-1])


def sort_by_parts(field: Any) -> None:
    """Sort the first tenth of the elements by quicksort, which is called for views of parts."""

    def sort(part: Any) -> None:
        while len(part) > 1:
            part[0], part[len(part) // 2] = part[len(part) // 2], part[0]
            pivot, last = part[0], 0
            for k in range(1, len(part)):
                if part[k] < pivot:
                    last += 1
                    part[last], part[k] = part[k], part[last]
            part[0], part[last] = part[last], part[0]
            sort(part[:last])
            part = part[last + 1 :]

    sort(field.reshape(-1)[: field.size // 10])


def exchange_in_smaller_parts(field: Any) -> None:
    """Exchange two elements of ever smaller views."""
    part = field.reshape(-1)
    while len(part) > 3:
        middle = len(part) // 2
        part[middle], part[-2] = part[-2], part[middle]
        part = part[:-2]


PROGRAMS = (sweep, sweep_inside, sort_by_parts, exchange_in_smaller_parts)


def seconds_of(np: Any, program: Callable[[Any], None], source: numpy.ndarray) -> tuple[float, numpy.ndarray]:
    """Return how long a loop over an array that the library has computed takes, and the array."""
    field = np.sqrt(np.asarray(source))
    if np is gpunumpy:
        gpunumpy.synchronize()
    start = time.perf_counter()
    program(field)
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
    print("| loop | NumPy, s | here, s | times |\n|---|---|---|---|")
    is_good = True
    with device:
        for program in PROGRAMS:
            by_numpy, expected = min((seconds_of(numpy, program, source) for _ in range(3)), key=operator.itemgetter(0))
            ours, result = min((seconds_of(gpunumpy, program, source) for _ in range(3)), key=operator.itemgetter(0))
            print(f"| {program.__name__} | {by_numpy:.3f} | {ours:.3f} | {ours / by_numpy:.2f} |")
            is_good &= numpy.array_equal(result, expected) and ours <= GOAL * by_numpy
    return not is_good


if __name__ == "__main__":
    sys.exit(main())
