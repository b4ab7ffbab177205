"""Work in other processes: pools by fork and by spawn, and futures."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np


def integral(bounds):
    low, high = bounds
    x = np.linspace(low, high, 1001)
    y = x * np.exp(-x)
    assert __name__ in ("__main__", "__mp_main__")
    assert isinstance(y, np.ndarray)
    return float(((y[1:] + y[:-1]) * np.diff(x)).sum() / 2)


def main():
    parts = [(k, k + 1.0) for k in range(4)]
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            found = pool.map(integral, parts)
            print(method, np.round(found, 6), f"{sum(found):.6f}")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        print(sorted(pool.map(np.sum, [np.arange(3), np.ones(4)])))


if __name__ == "__main__":
    main()
