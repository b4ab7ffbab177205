"""What a limit of memory costs a program that fits in it: a flush of a + b with and without one, in turns.

``python benchmarks/memory_limit.py`` prints the microseconds of the host on a pretended GPU (see pretended_gpu.py), the
least and the median of all turns, and the median of the ratios of neighbouring turns.
"""

from __future__ import annotations

import statistics
import sys
import timeit
from pathlib import Path

import numpy
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import gpunumpy as np
from benchmarks.pretended_gpu import pretend

TURNS, CALLS, WARM_UP = 60, 3000, 200
LIMITS = (None, "6GB")  # of a GPU with 8 GB


def main() -> None:
    """Print the table."""
    with pytest.MonkeyPatch.context() as patch:
        pretend(patch, "compiled")
        a, b = np.asarray(numpy.random.default_rng(0).random((2, 1024), numpy.float32))
        took: dict[str | None, list[float]] = {limit: [] for limit in LIMITS}
        for _ in range(TURNS):
            for limit in LIMITS:
                np.set_memory_limit(limit)
                timeit.timeit(lambda: (a + b).computed(), number=WARM_UP)
                took[limit].append(timeit.timeit(lambda: (a + b).computed(), number=CALLS) / CALLS * 1e6)
    print("| limit | least (µs) | median (µs) |\n|---|---|---|")
    for limit, found in took.items():
        print(f"| {limit or 'none'} | {min(found):.3f} | {statistics.median(found):.3f} |")
    print(f"\nratio {statistics.median(y / x for x, y in zip(*took.values(), strict=True)):.3f}")


if __name__ == "__main__":
    main()
