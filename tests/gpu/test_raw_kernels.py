"""Raw kernels on a real GPU: CuPy's documented examples, constants, streams, and what is pending."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime.device import Device, check, driver

pytestmark = pytest.mark.gpu

ADD = r"""
extern "C" __global__ void my_add(const float* x1, const float* x2, float* y) {
  int tid = blockDim.x * blockIdx.x + threadIdx.x;
  y[tid] = x1[tid] + x2[tid];
}
"""
TRIPLE = r"""
template <typename T> __global__ void triple(T* x, int n) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * 3;
}
"""
CONSTANT = r"""
extern "C" {
__constant__ float factors[4];
__global__ void scale(float* x) { x[threadIdx.x] *= factors[threadIdx.x]; }
}
"""


@pytest.fixture(autouse=True)
def gpu() -> Any:
    with Device("cuda") as device:
        yield device


def test_an_addition() -> None:
    x = np.arange(25, dtype=numpy.float32).reshape(5, 5)
    y = np.zeros((5, 5), numpy.float32)
    np.RawKernel(ADD, "my_add")((5,), (5,), (x * 2, x + 1, y))
    assert (y.get() == 3 * numpy.arange(25).reshape(5, 5) + 1).all()


def test_what_is_pending_sees_the_old_value_and_what_follows_the_new_one() -> None:
    n = 1 << 16
    x = np.arange(n, dtype=numpy.float64)
    before, part = x + 1, x[2:4]
    module = np.RawModule(code=TRIPLE, name_expressions=["triple<double>"])
    module.get_function("triple<double>")((n // 256,), (256,), (x, n))
    after = x + 1
    assert (before.get() == numpy.arange(n) + 1).all()
    assert (after.get() == 3 * numpy.arange(n) + 1).all()
    assert part.get().tolist() == [6, 9]


def test_constants() -> None:
    module = np.RawModule(code=CONSTANT)
    factors = np.ndarray((4,), numpy.float32, module.get_global("factors"))
    factors[...] = np.array([1, 2, 3, 4], numpy.float32)
    x = np.ones(4, numpy.float32)
    module.get_function("scale")((1,), (4,), (x,))
    assert x.get().tolist() == [1, 2, 3, 4]


def test_another_stream(gpu: Device) -> None:
    stream = check(driver().cuStreamCreate(driver().CUstream_flags.CU_STREAM_NON_BLOCKING.value))
    n = 1 << 22
    x = np.arange(n, dtype=numpy.float64) * 2
    module = np.RawModule(code=TRIPLE, name_expressions=["triple<double>"])
    module.get_function("triple<double>")((n // 256,), (256,), (x, n), stream=int(stream))
    assert ((x + 1).get() == 6 * numpy.arange(n) + 1).all()
    check(driver().cuStreamDestroy(stream))


def test_wrong_arguments_do_not_reach_the_gpu() -> None:
    x = np.zeros(25, numpy.float32)
    kernel = np.RawKernel(ADD, "my_add")
    with pytest.raises(TypeError, match="takes 3 arguments; 2 were given"):
        kernel((1,), (25,), (x, x))
    with pytest.raises(TypeError, match="has 8 bytes; a int32 of 4"):
        kernel((1,), (25,), (x, x, numpy.int32(0)))


def test_attributes_and_shared_memory() -> None:
    text = r"""
    extern "C" __global__ void reverse(float* x, int n) {
      extern __shared__ float held[];
      held[threadIdx.x] = x[threadIdx.x];
      __syncthreads();
      x[threadIdx.x] = held[n - 1 - threadIdx.x];
    }
    """
    kernel = np.RawKernel(text, "reverse")
    assert kernel.max_threads_per_block == 1024
    assert 0 < kernel.num_regs < 64
    x = np.arange(8, dtype=numpy.float32)
    kernel((1,), (8,), (x, 8), shared_mem=64 << 10)
    assert x.get().tolist() == [7, 6, 5, 4, 3, 2, 1, 0]


def test_a_kernel_of_small_arrays_and_numbers() -> None:
    x = np.array([1.0, 2.0], numpy.float32)
    total = x.sum()
    np.RawKernel(ADD, "my_add")((1,), (1,), (x, total, x))
    assert x.get().tolist() == [4, 2]
    x[1] = 7
    assert x.tolist() == [4, 7]
