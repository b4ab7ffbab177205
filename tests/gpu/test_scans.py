"""Scans of long rows on a real GPU, whose blocks wait for each other."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime.device import Device

from ..support.arrays import from_host, to_host

pytestmark = pytest.mark.gpu

SIZES = (1, 4095, 16_384, 16_385, 131_073, 4_194_304, 4_194_301, 20_000_003)


def put(x: Any) -> Any:
    return from_host(x, Device("cuda"))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float32", "float64", "complex64", "complex128"])
def test_sums_of_every_length(dtype: str) -> None:
    for n in SIZES:
        data = numpy.random.default_rng(n).integers(-9, 9, n).astype(dtype)
        expected = numpy.cumsum(data)
        got = to_host(np.cumsum(put(data)))
        assert got.dtype == expected.dtype
        numpy.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("shape", [(2, 3_000_001), (50, 100_000), (2112, 20_000), (3000, 17_000)])
def test_rows(shape: tuple[int, ...]) -> None:
    data = numpy.random.default_rng(0).integers(0, 9, shape, numpy.int32)
    x = put(data)
    numpy.testing.assert_array_equal(to_host(np.cumsum(x, axis=1)), numpy.cumsum(data, axis=1))
    numpy.testing.assert_array_equal(to_host(np.maximum.accumulate(x, axis=1)), numpy.maximum.accumulate(data, axis=1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_the_same_bits_on_every_run(dtype: str) -> None:
    x = put(numpy.random.default_rng(0).standard_normal(5_000_003).astype(dtype))
    first = to_host(np.cumsum(x))
    numpy.testing.assert_allclose(first, numpy.cumsum(to_host(x), dtype="complex128"), rtol=1e-4, atol=1e-2)
    for _ in range(20):
        assert to_host(np.cumsum(x)).tobytes() == first.tobytes()
