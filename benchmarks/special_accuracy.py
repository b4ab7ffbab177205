"""The largest errors of functions of `scipy.special` beside SciPy's: the table of docs/accuracy.md.

Run from the root of the repository: ``python -m benchmarks.special_accuracy [--on text|gpu] [--count N]``. A function's
own text is compiled for the host, or runs on a GPU; mpmath has the exact values.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy

import gpunumpy as np
from tests.support.arrays import elementwise, from_host, to_host
from tests.support.special import DTYPES, NAMES, arguments, by_own_text, by_scipy, exact, worst


def by_gpu(name: str, *given: Any) -> Any:
    return numpy.asarray(to_host(elementwise(name, [from_host(x, np.Device("cuda")) for x in given])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--on", choices=("text", "gpu"), default="text", help="what computes (default text)")
    parser.add_argument("--count", type=int, default=100_000, help="arguments of a function (default 100,000)")
    parser.add_argument("--only", default="", help="names of functions, separated by commas")
    options = parser.parse_args()
    compute = by_gpu if options.on == "gpu" else by_own_text
    print("| function | float32 | float64 | SciPy, float32 | SciPy, float64 |\n|---|---|---|---|---|")
    for name in options.only.split(",") if options.only else NAMES:
        own, theirs = [], []
        for dtype in DTYPES.values():
            given = arguments(name, dtype, options.count)
            values = exact(name, given)
            own.append(worst(name, given, compute(name, *given), values).error)
            theirs.append(worst(name, given, by_scipy(name, *given), values).error)
        print("| " + " | ".join([name, *(f"{error:.3g}" for error in (*own, *theirs))]) + " |", flush=True)


if __name__ == "__main__":
    main()
