"""The 12-operation expression on the CPU device's executor, beside NumPy: ``python benchmarks/host_expression.py``.

Prints the time of both, and their ratio, for a large float64 array and for 1,000 elements.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy

from gpunumpy.core.helpers import workers
from gpunumpy.core.schedule.kernel import Affine, Apply, Arg, Body, Instruction, Kernel, Load, Scalar, Store
from gpunumpy.core.schedule.sizes import Trace
from gpunumpy.kernels.host.loops import SizedKernel

SCALARS = (2.0, 1.0, 0.1, 0.5)


def with_numpy(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    """The expression as a user writes it."""
    return (numpy.sin(a) * 2 + b - 1) * numpy.exp(a * 0.1) / numpy.sqrt(b * b + 1) + a * 0.5


def kernel(size: int, dtype: numpy.dtype[Any]) -> Kernel:
    """The expression as one kernel over `size` elements."""
    at = Affine(0, (1,))
    instructions: list[Instruction] = [Load(0, at), Load(1, at), *(Scalar(2 + k) for k in range(len(SCALARS)))]
    a, b, two, one, tenth, half = range(6)

    def op(row: str, *args: int) -> int:
        instructions.append(Apply(row, args, (dtype,) * (len(args) + 1)))
        return len(instructions) - 1

    left = op("subtract", op("add", op("multiply", op("sin", a), two), b), one)
    top = op("multiply", left, op("exp", op("multiply", a, tenth)))
    ratio = op("divide", top, op("sqrt", op("add", op("multiply", b, b), one)))
    result = op("add", ratio, op("multiply", a, half))
    args = (*(Arg("in", dtype),) * 2, *(Arg("scalar", dtype),) * len(SCALARS), Arg("out", dtype))
    return Kernel((size,), 0, args, Body(tuple(instructions), (Store(len(args) - 1, result, at),)))


def best(function: Callable[[], Any], repeat: int, number: int) -> float:
    """The least time of one call, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        for _ in range(number):
            function()
        times.append((time.perf_counter() - start) / number)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--size", type=int, default=1 << 24, help="elements of the large array (default 2^24)")
    parser.add_argument("--dtype", default="float64", help="float32 or float64")
    options = parser.parse_args()
    dtype = numpy.dtype(options.dtype)
    print(f"{workers()} threads, NumPy {numpy.__version__}, {dtype}")
    print(f"{'elements':>10} {'NumPy':>12} {'gpunumpy':>12} {'ratio':>6}")
    for size, repeat, number in ((1000, 10, 1000), (options.size, 3, 1)):
        rng = numpy.random.default_rng(0)
        a, b = rng.random(size).astype(dtype), rng.random(size).astype(dtype)
        run = SizedKernel(kernel(size, dtype), Trace()).at(())

        def fused(a: Any = a, b: Any = b, run: Any = run, size: int = size) -> numpy.ndarray:
            out = numpy.empty(size, dtype)
            run([a, b, *SCALARS, out])
            return out

        if not numpy.array_equal(fused(), with_numpy(a, b)):
            raise SystemExit("the results differ")
        numpy_time, own_time = best(lambda a=a, b=b: with_numpy(a, b), repeat, number), best(fused, repeat, number)
        print(f"{size:10} {numpy_time * 1e6:9.1f} us {own_time * 1e6:9.1f} us {own_time / numpy_time:6.2f}")


if __name__ == "__main__":
    main()
