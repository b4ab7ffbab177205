"""Sums of windows, strided and reversed arrays, whose rows begin anywhere: ``python benchmarks/sums.py``, on a GPU.

The order in which floating-point numbers are added up follows from dtypes and sizes alone, so that a sum has the same
bits wherever its elements lie; the table shows what that costs beside sums of aligned arrays. Times in ms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from timing import seconds

import gpunumpy as np

SIDE = 8192
DTYPES = ("float16", "float32", "float64", "int32")

# Of a vector of SIDE * SIDE elements, and of a square array of the same elements.
SUMS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, y: x.sum(),
    "x[1:]": lambda x, y: x[1:].sum(),
    "x[::2]": lambda x, y: x[::2].sum(),
    "x[1::2]": lambda x, y: x[1::2].sum(),
    "x[::-1]": lambda x, y: x[::-1].sum(),
    "window": lambda x, y: y[1:-1, 1:-1].sum(),
    "window, axis 1": lambda x, y: y[1:-1, 1:-1].sum(axis=1),
    "window, axis 0": lambda x, y: y[1:-1, 1:-1].sum(axis=0),
    "rows, axis 1": lambda x, y: y.sum(axis=1),
    "rows, axis 0": lambda x, y: y.sum(axis=0),
    "points, axis 0": lambda x, y: x[: x.size // 3 * 3].reshape(-1, 3).sum(axis=0),
    "4,096 sets of points, axis 1": lambda x, y: x[: x.size // 12288 * 12288].reshape(4096, -1, 3).sum(axis=1),
    "5 columns, axis 0": lambda x, y: x[: x.size // 5 * 5].reshape(-1, 5).sum(axis=0),
    "16 columns, axis 0": lambda x, y: x.reshape(-1, 16).sum(axis=0),
    "transposed, axis 0": lambda x, y: y.T.sum(axis=0),
    "x[1:] * x[:-1]": lambda x, y: (x[1:] * x[:-1]).sum(),
    "y[:, ::2], axis 1": lambda x, y: y[:, ::2].sum(axis=1),
    "rows of 2,047, axis 1": lambda x, y: x[: x.size // 2047 * 2047].reshape(-1, 2047).sum(axis=1),
}


def main() -> None:
    rng = numpy.random.default_rng(0)
    times: dict[str, list[str]] = {name: [] for name in SUMS}
    for dtype in DTYPES:
        x = np.asarray(rng.integers(0, 100, SIDE * SIDE).astype(dtype))
        y = x.reshape(SIDE, SIDE)
        for name, work in SUMS.items():
            took = seconds(lambda work=work, x=x, y=y: work(x, y).computed(), np.synchronize)  # type: ignore[misc]
            times[name].append(f"{took * 1e3:.3f}")
    print(f"{np.default_device()}, NumPy {numpy.__version__}, {SIDE} x {SIDE} elements; times in ms\n")
    print("| sum of | " + " | ".join(DTYPES) + " |\n" + "|---" * (len(DTYPES) + 1) + "|")
    for name, cells in times.items():
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
