"""Sorts beside CUB's radix sort, called through the package cuda-cccl: why docs/design/sorting.md keeps them.

Run on a machine with a GPU, CuPy and cuda-cccl: ``python benchmarks/cub.py``. CUB has no rule for NaN.
"""

from __future__ import annotations

import time
from typing import Any

import cuda.compute
import cupy
import numpy
from table import N, heading
from timing import seconds

import gpunumpy

RANDOM = numpy.random.default_rng(1)
DTYPES = ("float32", "int32", "int64")


def data(dtype: str, n: int) -> Any:
    if dtype == "float32":
        return RANDOM.standard_normal(n, numpy.float32)
    limits = numpy.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max, n, dtype, endpoint=True)


def time_cub(host: Any, positions: bool) -> tuple[float, float]:
    """The time of one sort, of keys or of keys with 32-bit positions, and of the first build."""
    keys = cupy.asarray(host)
    numbers = cupy.arange(host.size, dtype=numpy.uint32) if positions else None
    arrays = {
        "d_in_keys": keys,
        "d_out_keys": cupy.empty_like(keys),
        "d_in_values": numbers,
        "d_out_values": cupy.empty_like(numbers) if positions else None,
    }
    start = time.perf_counter()
    sort = cuda.compute.make_radix_sort(**arrays, order=cuda.compute.SortOrder.ASCENDING)
    built = time.perf_counter() - start
    nbytes = sort(temp_storage=None, **arrays, num_items=host.size)
    storage = cupy.empty(nbytes, numpy.uint8)
    took = seconds(lambda: sort(temp_storage=storage, **arrays, num_items=host.size), cupy.cuda.Device().synchronize)
    if positions:
        assert (host[cupy.asnumpy(arrays["d_out_values"])] == numpy.sort(host)).all()
    else:
        assert (cupy.asnumpy(arrays["d_out_keys"]) == numpy.sort(host)).all()
    return took, built


def time_gpunumpy(host: Any, positions: bool) -> float:
    x = gpunumpy.asarray(host)
    sort = gpunumpy.argsort if positions else gpunumpy.sort
    return seconds(lambda: sort(x).computed(), gpunumpy.synchronize)


def main() -> None:
    print(heading(), "\n")
    print("| sort | elements | gpunumpy, ms | CUB, ms | gpunumpy / CUB | CUB's first build, s |")
    print("|---" * 6 + "|")
    for n in (N, 1024):
        for dtype in DTYPES:
            host = data(dtype, n)
            for positions in (False, True):
                took, built = time_cub(host, positions)
                own_time = time_gpunumpy(host, positions)
                name = f"{'argsort' if positions else 'sort'} {dtype}"
                times = f"{own_time * 1e3:.4g} | {took * 1e3:.4g} | {own_time / took:.2f} | {built:.1f}"
                print(f"| {name} | {n:,} | {times} |", flush=True)


if __name__ == "__main__":
    main()
