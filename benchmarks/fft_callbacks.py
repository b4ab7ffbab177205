"""Transforms with the elementwise work beside them in cuFFT's callbacks or in kernels: docs/performance/libraries.md.

Run on a machine with a GPU: ``python benchmarks/fft_callbacks.py [--only TEXT;TEXT]``. A row says which of the two
gpunumpy takes for it, and how long the first call takes with callbacks: cuFFT links them into its kernels.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy
from timing import seconds

import gpunumpy as np
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.explain import explanation
from gpunumpy.kernels.fft import cuda_callbacks

Program = Callable[[Any, Any], Any]
MANY = 1 << 25


def window(x: Any, h: Any) -> Any:
    return np.fft.fft(x * h)


def first_axis(x: Any, h: Any) -> Any:
    return np.fft.fft(x * h, axis=0)


def spectrum(x: Any, h: Any) -> Any:
    return np.fft.fft(x) * h


def power(x: Any, h: Any) -> Any:
    return np.abs(np.fft.fft(x)) ** 2


def window2(x: Any, h: Any) -> Any:
    return np.fft.fft2(x * h)


def spectrum2(x: Any, h: Any) -> Any:
    return np.fft.fft2(x) * h


def window3(x: Any, h: Any) -> Any:
    return np.fft.fftn(x * h, axes=(1, 2, 3))


def spectrum3(x: Any, h: Any) -> Any:
    return np.fft.fftn(x, axes=(1, 2, 3)) * h


def real_window2(x: Any, h: Any) -> Any:
    return np.fft.rfft2(x * h)


def real_spectrum2(x: Any, h: Any) -> Any:
    return np.fft.rfft2(x) * h


def real_window(x: Any, h: Any) -> Any:
    return np.fft.rfft(x * h)


def real_spectrum(x: Any, h: Any) -> Any:
    return np.fft.rfft(x) * h


def back(x: Any, h: Any) -> Any:
    return np.fft.irfft(x * h, norm="forward")


def scaled_back(x: Any, h: Any) -> Any:
    return np.fft.irfft(x)


def convolution(x: Any, h: Any) -> Any:
    return np.fft.irfft(np.fft.rfft(x) * h)


def rows() -> Iterator[tuple[str, Program, tuple[int, ...], tuple[int, ...], str]]:
    """The name of the work, its program, the shapes of its two arrays, and the dtype of the first."""
    for n in (64, 256, 1024, 4096, 8192, 16384, 131072, MANY):
        shape = (MANY // n, n)
        yield "fft(x * h)", window, shape, shape, "F"
        yield "fft(x) * h", spectrum, shape, shape, "F"
        yield "abs(fft(x))**2", power, shape, (1,), "F"
    for n in (256, 4096):
        shape = (MANY // 2 // n, n)
        yield "fft(x * h)", window, shape, shape, "D"
        yield "fft(x) * h", spectrum, shape, shape, "D"
        yield "abs(fft(x))**2", power, shape, (1,), "D"
    yield "fft(x * row)", window, (32768, 1024), (1024,), "F"
    for n in (512, 4096):
        yield "fft(x * h, axis=0)", first_axis, (n, MANY // n), (n, MANY // n), "F"
    for n in (128, 1024, 4096):
        shape = (MANY // n // n, n, n)
        yield "fft2(x * h)", window2, shape, shape, "F"
        yield "fft2(x) * h", spectrum2, shape, shape, "F"
    for n in (64, 128, 256):
        shape = (MANY // n**3, n, n, n)
        yield "fftn(x * h)", window3, shape, shape, "F"
        yield "fftn(x) * h", spectrum3, shape, shape, "F"
    for n, real in (
        *((1 << k, "f") for k in (6, 8, 9, 10, 11, 12, 13, 14, 16, 26)),
        *((1 << k, "d") for k in (7, 8, 10, 13)),
    ):
        rows = (MANY * 2 if real == "f" else MANY) // n
        shape, half = (rows, n), (rows, n // 2 + 1)
        yield "rfft(x * h)", real_window, shape, shape, real
        yield "rfft(x) * h", real_spectrum, shape, half, real
        yield "irfft(x * h)", back, half, half, real.upper()
        yield "irfft(x) / n", scaled_back, half, (1,), real.upper()
    for n in (256, 1024):
        shape = (2 * MANY // n // n, n, n)
        yield "rfft2(x * h)", real_window2, shape, shape, "f"
        yield "rfft2(x) * h", real_spectrum2, shape, (*shape[:2], n // 2 + 1), "f"
    yield "irfft(rfft(x) * h)", convolution, (1 << 26,), ((1 << 25) + 1,), "f"


@contextmanager
def asked(predicate: Any) -> Iterator[None]:
    """Transforms take kernels in where the predicate says so, or never."""
    state = evaluate.state_of(np.Device("cuda:0"))
    state.plans.clear()
    state.executor.fuse_predicate = {"fft": predicate}.get
    yield
    del state.executor.fuse_predicate
    state.plans.clear()


def timed(program: Program, x: Any, h: Any) -> tuple[float, float]:
    """The milliseconds of the first call, and of a later one."""
    queue = evaluate.queue_of(x.device)

    def call() -> Any:
        result = program(x, h)
        evaluate.flush(queue)
        return result

    start = time.perf_counter()
    call()
    np.synchronize()
    first = time.perf_counter() - start
    return 1e3 * first, 1e3 * seconds(call, np.synchronize, 0.005, 5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="rows that contain one of these, separated by semicolons")
    wanted = parser.parse_args().only.split(";")
    numbers = numpy.random.default_rng(0).standard_normal(1 << 27, dtype=numpy.float32)

    def array(shape: tuple[int, ...], dtype: str) -> Any:
        count = prod(shape) * (2 if dtype in "FD" else 1)
        return np.asarray(numbers[:count].astype(dtype.lower(), copy=False).view(dtype).reshape(shape))

    print("| work | shape | dtype | with callbacks | with kernels | ratio | taken | first call |\n" + "|" + "---|" * 8)
    with np.Device("cuda:0"):
        for name, program, shape, other, dtype in rows():
            if not any(part in f"{name} {shape}" for part in wanted):
                continue
            complex_other = dtype in "FD" or program in (real_spectrum, real_spectrum2, convolution)
            x, h = array(shape, dtype), array(other, dtype.upper() if complex_other else dtype)
            with asked(None):
                _, kernels = timed(program, x, h)
            with asked(cuda_callbacks.can_fuse):
                first, callbacks = timed(program, x, h)
            taken = "callbacks" if "fft_fused" in explanation(program(x, h)) else "kernels"
            size = " x ".join(map(str, shape))
            times = f"{callbacks:.4g} | {kernels:.4g} | {callbacks / kernels:.2f}"
            print(f"| {name} | {size} | {x.dtype} | {times} | {taken} | {first:.0f} |", flush=True)


if __name__ == "__main__":
    main()
