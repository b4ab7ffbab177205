"""The kernel that finishes a matrix product, on the emulated machine."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy.core.dtypes import bfloat16
from gpunumpy.kernels.products.cuda_epilogues import epilogue_kernel
from tests.emulator import available
from tests.emulator.executor import run_kernel

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")


@pytest.mark.parametrize("dtype", ["f2", bfloat16, "f4", "f8", "c8", "c16"])
def test_epilogues(dtype: Any) -> None:
    rng = numpy.random.default_rng(0)
    dtype = numpy.dtype(dtype)

    def sample(*shape: int) -> Any:
        made = rng.integers(-8, 8, shape)
        return (made + 1j * rng.integers(-8, 8, shape) if dtype.kind == "c" else made).astype(dtype)

    def check(made: Any, expected: Any) -> None:
        wide = "c16" if dtype.kind == "c" else "f8"
        numpy.testing.assert_array_equal(made.astype(wide), expected.astype(wide))

    for shape in ((5, 7), (3, 2, 33), (1, 4)):
        product, bias, residual = sample(*shape), sample(shape[-1]), sample(*shape)
        product.reshape(-1)[0] = numpy.nan
        made = product.copy()
        kernel = epilogue_kernel(shape, dtype, ("scale", "bias", "residual"))
        run_kernel(kernel, [made.reshape(-1), made.reshape(-1), 2, bias, residual.reshape(-1)])
        check(made, product * dtype.type(2) + bias + residual)
        made = product.copy()
        kernel = epilogue_kernel(shape, dtype, ("subtract", "bias"))
        run_kernel(kernel, [made.reshape(-1), made.reshape(-1), residual.reshape(-1), bias])
        check(made, product - residual + bias)
        made = product.copy()
        run_kernel(
            epilogue_kernel(shape, dtype, ("subtract_from",)),
            [made.reshape(-1), made.reshape(-1), residual.reshape(-1)],
        )
        check(made, residual - product)
        if dtype.kind != "c":
            made = product.copy()
            run_kernel(epilogue_kernel(shape, dtype, ("maximum",)), [made.reshape(-1), made.reshape(-1), 1.5])
            check(made, numpy.maximum(product, dtype.type(1.5)))
