"""Arrays of 1 to 10 MB that are used once: NumPy, all on the device, and what a flush could gain that chooses.

``python benchmarks/middle_sized.py [--device cuda|cpu]`` prints the microseconds of a chain of 1, 3 and 10 elementwise
operations on an array of NumPy's, each time another one, whose result is made a NumPy array again. "all device" has
every array on the device, "ours" has arrays where the rules of residence put them. A flush that chooses between host
and device has to copy the data when the operation is recorded, since the program may change them before the flush: "a
choice" is the better of "all device" and of that copy and NumPy's time together, so the least that such a flush can
take. The status is 1 if "ours" takes more than 1.2 times the better of NumPy and "all device", or a tenth more than
"a choice".
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy
from placement import microseconds
from table import heading

import gpunumpy
from gpunumpy.core.runtime.device import Device, default_device

MEGABYTES = (1, 2, 4, 10)
MOST = 1.2  # of the time of a choice
FRESH_BYTES = 1 << 28  # of arrays that are taken in turn, so that none is in a cache
PATIENCE_S = 0.4

# Chains by the number of their operations.
CHAINS: dict[int, Callable[[Any, Any], Any]] = {
    1: lambda np, x: x + 1,
    3: lambda np, x: np.sqrt(x * x + 1),
    10: lambda np, x: (np.sqrt(x * x + 1) - x) * np.exp(-x) / (x + 2) + abs(x - 1),
}


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="cpu or cuda (default: a GPU if one is usable)")
    parser.add_argument("--sizes", type=int, nargs="+", default=MEGABYTES, help="of the arrays, in MB")
    given = parser.parse_args()
    device = Device(given.device) if given.device else default_device()
    print(f"{heading()}; {device}; float64, µs\n")
    print(
        "| MB | operations | NumPy | all device | ours | copy | a choice | ours / the better | a choice / the better |"
    )
    print("|---" * 9 + "|")
    missed = False
    with device:
        for size in given.sizes:
            nbytes = size * 10**6
            source = numpy.random.default_rng(0).random(nbytes // 8)
            arrays = cycle([source * k for k in range(1, FRESH_BYTES // nbytes + 2)])
            copy = microseconds(lambda arrays=arrays: next(arrays).copy(), PATIENCE_S)
            for count, chain in CHAINS.items():

                def run(np: Any, chain: Callable[[Any, Any], Any] = chain, arrays: Any = arrays) -> Any:
                    return chain(np, np.asarray(next(arrays)))

                by_numpy = microseconds(lambda: run(numpy), PATIENCE_S)
                places = {}
                for residence in ("device", "auto"):
                    gpunumpy.set_residence(residence)
                    run(gpunumpy).get()  # compiles
                    places[residence] = microseconds(lambda: run(gpunumpy).get(), PATIENCE_S)
                choice = min(places["device"], copy + by_numpy)
                better = min(by_numpy, places["device"])
                ours = places["auto"]
                missed |= ours > MOST * choice
                times = f"{by_numpy:.0f} | {places['device']:.0f} | {ours:.0f} | {copy:.0f} | {choice:.0f}"
                print(f"| {size} | {count} | {times} | {ours / better:.2f} | {choice / better:.2f} |", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
