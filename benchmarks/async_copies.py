"""A pipeline of chunks (copy in, compute, copy out), beside the slowest of its parts alone: python async_copies.py.

The first part prints how long each part takes, the whole one after the other, and as a pipeline. `share` is the time of
the slowest part divided by that of the pipeline: 1 where everything else is hidden. CuPy, if it is installed, runs the
same program on two streams of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy

import gpunumpy as np

CHUNKS, SIDE, REPEATS = 24, 2048, 7


def compute(x: Any, xp: Any, matrix: Any, products: int) -> Any:
    x = xp.sqrt(x * x + numpy.float32(1))
    for _ in range(products):
        x = x @ matrix
    return x


def matrix_of(xp: Any) -> Any:
    """A permutation, which is scaled."""
    return xp.asarray(numpy.roll(numpy.eye(SIDE, dtype=numpy.float32), 3, 0) / 2)


def seconds(work: Callable[[], Any], wait: Callable[[], Any]) -> float:
    took = []
    for _ in range(REPEATS):
        wait()
        start = time.perf_counter()
        work()
        wait()
        took.append(time.perf_counter() - start)
    return min(took)


def ours(products: int) -> dict[str, float]:
    source, target = (np.zeros_pinned((CHUNKS, SIDE, SIDE), numpy.float32) for _ in range(2))
    source += numpy.arange(CHUNKS, dtype=numpy.float32)[:, None, None]
    matrix = matrix_of(np)
    on_device = [np.asarray(chunk) for chunk in source]

    def pipeline() -> None:
        for chunk, result in zip(source, target, strict=True):
            compute(np.asarray(chunk, blocking=False), np, matrix, products).get(out=result, blocking=False)

    def over_two_streams() -> None:
        for k, (chunk, result) in enumerate(zip(source, target, strict=True)):
            with streams[k % 2]:
                compute(np.asarray(chunk, blocking=False), np, matrix, products).get(out=result, blocking=False)

    def in_turn() -> None:
        for chunk, result in zip(source, target, strict=True):
            compute(np.asarray(chunk), np, matrix, products).get(out=result)

    def copies_in() -> None:
        for chunk in source:
            np.asarray(chunk, blocking=False)

    def copies_out() -> None:
        for x, result in zip(on_device, target, strict=True):
            x.get(out=result, blocking=False)

    def computations() -> None:
        for x in on_device:
            compute(x, np, matrix, products).computed()

    streams = [np.Stream(non_blocking=True) for _ in range(2)]
    works = [copies_in, computations, copies_out, in_turn, pipeline, over_two_streams]
    took = {work.__name__: seconds(work, np.synchronize) for work in works}
    reference = compute(source.astype(numpy.float64), numpy, matrix_of(numpy), products)
    numpy.testing.assert_allclose(target, reference, rtol=1e-3)
    return took


def of_cupy(products: int) -> float | None:
    try:
        import cupy
        import cupyx
    except ImportError:
        return None
    source, target = (cupyx.zeros_pinned((CHUNKS, SIDE, SIDE), numpy.float32) for _ in range(2))
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
    matrix = matrix_of(cupy)

    def pipeline() -> None:
        for k, (chunk, result) in enumerate(zip(source, target, strict=True)):
            with streams[k % 2]:
                compute(cupy.asarray(chunk, blocking=False), cupy, matrix, products).get(out=result, blocking=False)

    pipeline()
    return seconds(pipeline, cupy.cuda.Device().synchronize)


def main() -> None:
    print(f"{CHUNKS} chunks of {SIDE * SIDE * 4 >> 20} MiB, ms, least of {REPEATS}; {np.Device().hardware}")
    for products in (0, 1, 4):
        took = ours(products)
        slowest = max(took[name] for name in ("copies_in", "computations", "copies_out"))
        line = ", ".join(f"{name} {value * 1e3:.2f}" for name, value in took.items())
        shares = ", ".join(f"{slowest / took[name]:.2f}" for name in ("pipeline", "over_two_streams"))
        cupy = of_cupy(products)
        print(
            f"{products} products: {line}; share {shares}; CuPy {'-' if cupy is None else f'{cupy * 1e3:.2f}'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
