"""What the host pays to record functions of arrays on a device: of a shape that it has seen before, and of new ones.

``python benchmarks/recording.py`` prints a table in microseconds of the processor's time, the least of several turns.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

from table import heading

import gpunumpy as np

COUNT, TURNS, COLUMNS = 40, 12, 700  # so many columns that arrays are on the device
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "x.sum()": lambda x: x.sum(),
    "x.sum(axis=0, keepdims=True)": lambda x: x.sum(axis=0, keepdims=True),
    "x.mean()": lambda x: x.mean(),
    "x.mean(axis=0)": lambda x: x.mean(axis=0),
    "x.std()": lambda x: x.std(),
    "x.argmax()": lambda x: x.argmax(),
    "np.any(x)": np.any,
    "x.clip(0.0, 1.0)": lambda x: x.clip(0.0, 1.0),
    "x.T.dot(x)": lambda x: x.T.dot(x),
    "x.T": lambda x: x.T,
    "x.reshape(-1)": lambda x: x.reshape(-1),
    "x.ravel()": lambda x: x.ravel(),
}


def microseconds(function: Callable[[Any], Any], rows: Iterator[int]) -> float:
    """The least time of a call over some turns, for arrays of so many rows each."""
    least = float("inf")
    for _ in range(TURNS):
        arrays = [np.ones((next(rows), COLUMNS)) for _ in range(COUNT)]
        np.synchronize()
        start = time.thread_time()
        for x in arrays:
            function(x)
        least = min(least, (time.thread_time() - start) / COUNT)
        np.synchronize()
    return least * 1e6


def main() -> None:
    new = itertools.count(1000)
    print(f"{heading()}\n\n| recorded, µs | shape seen before | new shape |\n|---|---|---|")
    for name, function in FUNCTIONS.items():
        seen, fresh = (microseconds(function, rows) for rows in (itertools.repeat(999), new))
        print(f"| {name} | {seen:.2f} | {fresh:.2f} |")


if __name__ == "__main__":
    main()
