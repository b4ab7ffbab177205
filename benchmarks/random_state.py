"""`RandomState` on a GPU beside NumPy's own draw and a copy of it to the device: docs/performance/random-numbers.md.

Run on a machine with a GPU: ``python benchmarks/random_state.py``. The device makes all of these draws, those too that
it leaves to NumPy up to a count of their own (`gpunumpy.random.device_draws`).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy
from table import heading
from timing import seconds

import gpunumpy
from gpunumpy.random import device_draws

COUNTS = (1 << 14, 1 << 15, 1 << 16, 1 << 20)
# Methods and their parameters, which the size follows.
DRAWS: tuple[tuple[Any, ...], ...] = (
    *(("random_sample",), ("uniform", 1, 2), ("triangular", 0, 1, 3), ("tomaxint",)),
    *(("randint", 0, 1000), ("randint", 0, 1024), ("randint", 0, 10**15), ("choice", 1000), ("permutation",)),
    *(("standard_normal",), ("normal", 1, 2), ("lognormal", 0, 1), ("standard_cauchy",)),
    *(("standard_exponential",), ("rayleigh", 2), ("weibull", 2), ("pareto", 3), ("power", 3)),
    *(("laplace", 0, 1), ("gumbel", 0, 1), ("logistic", 0, 1)),
    *(("standard_gamma", 0.5), ("standard_gamma", 1), ("standard_gamma", 2.5), ("chisquare", 3)),
    *(("beta", 0.5, 0.5), ("beta", 2, 3), ("f", 3, 5), ("standard_t", 5), ("wald", 1, 2), ("vonmises", 0, 2)),
    *(("noncentral_chisquare", 3, 2), ("noncentral_f", 3, 5, 2)),
    *(("dirichlet", [1, 2, 3.5]), ("dirichlet", [0.5, 0.6, 0.7])),
    *(("poisson", 3), ("poisson", 50), ("binomial", 10, 0.3), ("binomial", 100, 0.4)),
    *(("negative_binomial", 5, 0.3), ("negative_binomial", 0.5, 0.3), ("geometric", 0.1), ("geometric", 0.5)),
    *(("geometric", 0.9), ("hypergeometric", 20, 30, 8), ("hypergeometric", 200, 300, 100), ("logseries", 0.01)),
    *(("logseries", 0.6), ("zipf", 2), ("multinomial", 20, [0.2, 0.3, 0.5])),
)


def main() -> None:
    """Print the table."""
    device_draws.MIN_COUNT_FACTORS.clear()
    print(f"{heading()}; times in ms, of the device, and of NumPy with the copy\n")
    print("| draw | " + " | ".join(f"{count:,}" for count in COUNTS) + f" | ratio at {COUNTS[0]:,} |")
    print("|---" * (len(COUNTS) + 2) + "|")
    device, host = gpunumpy.random.RandomState(0), numpy.random.RandomState(0)
    for name, *params in DRAWS:
        cells, ratios = [], []
        for count in COUNTS:
            draw = partial(getattr(device, name), *params, count)
            copied = partial(getattr(host, name), *params, count)
            took = seconds(lambda draw=draw: draw().computed(), gpunumpy.synchronize)
            numpy_time = seconds(lambda copied=copied: gpunumpy.asarray(copied()).computed(), gpunumpy.synchronize)
            cells.append(f"{took * 1e3:.3g}, {numpy_time * 1e3:.3g}")
            ratios.append(took / numpy_time)
        print(f"| {name}({', '.join(map(str, params))}) | " + " | ".join(cells) + f" | {ratios[0]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
