"""Kernels of one's own beside CuPy's: the examples of CuPy's documentation at two sizes, in microseconds a call.

``python benchmarks/custom_kernels.py`` needs a GPU and CuPy. The same texts are given to both libraries. A call of ours
ends with the result computed, as a call of CuPy's does; "chain" is a kernel between operations that are fused with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from timing import seconds

import gpunumpy

SIZES = (1 << 10, 1 << 26)
ADD = r"""
extern "C" __global__ void my_add(const float* x1, const float* x2, float* y) {
  size_t i = blockDim.x * (size_t)blockIdx.x + threadIdx.x;
  y[i] = x1[i] + x2[i];
}
"""


def calls(np: Any, size: int) -> dict[str, Callable[[], Any]]:
    """The calls to time, with kernels and arrays of one library."""
    squared = np.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared_diff")
    generic = np.ElementwiseKernel("T x, T y", "T z", "T d = x - y; z = d * d;", "squared_diff_generic")
    reverse = np.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]", "add_reverse")
    norm = np.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
    add = np.RawKernel(ADD, "my_add")
    rng = numpy.random.default_rng(0)
    x, y = (np.asarray(rng.random(size, dtype="f4")) for _ in range(2))
    z, rows = np.empty(size, "f4"), x.reshape(-1, 1024)
    return {
        "squared_diff": lambda: squared(x, y),
        "squared_diff into an output": lambda: squared(x, y, z),
        "squared_diff_generic": lambda: generic(x, y),
        "add_reverse": lambda: reverse(x, y),
        "l2norm": lambda: norm(x),
        "l2norm of rows": lambda: norm(rows, axis=1),
        "chain": lambda: np.sqrt(squared(x * 2, y + 1) + 1),
        "RawKernel my_add": lambda: add((size // 256,), (256,), (x, y, z)),
    }


def computed(result: Any) -> Any:
    """Have a result computed, but do not wait for it."""
    return result.computed() if isinstance(result, gpunumpy.ndarray) else result


def main() -> None:
    """Print the table."""
    import cupy

    gpunumpy.set_residence("device")
    print(f"{'':30}{'size':>6}{'CuPy':>10}{'ours':>10}{'ratio':>8}")
    for size in SIZES:
        theirs, ours = calls(cupy, size), calls(gpunumpy, size)
        for name in ours:
            cupys = seconds(theirs[name], cupy.cuda.Device().synchronize)
            times = seconds(lambda name=name, ours=ours: computed(ours[name]()), gpunumpy.synchronize)
            power, ratio = f"2^{size.bit_length() - 1}", times / cupys
            print(f"{name:30}{power:>6}{cupys * 1e6:10.1f}{times * 1e6:10.1f}{ratio:8.2f}", flush=True)
        del theirs, ours


if __name__ == "__main__":
    main()
