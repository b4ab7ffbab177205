"""Sorts on a real GPU, whose blocks run side by side: tiles wait for each other as they do nowhere else."""

from __future__ import annotations

import numpy
import pytest

import gpunumpy as np

pytestmark = pytest.mark.gpu


def sample(shape: tuple[int, ...], dtype: str) -> numpy.ndarray:
    """All bits at random: floats have NaNs, too."""
    random = numpy.random.default_rng(0)
    d = numpy.dtype(dtype)
    if dtype == "?":
        return random.integers(0, 2, shape).astype(bool)
    return random.integers(0, 256, (*shape, d.itemsize), numpy.uint8).view(d)[..., 0]


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "f2", "i4", "f4", "u8", "f8"])
@pytest.mark.parametrize("shape", [(3_000_000,), (70, 20_000), (5000, 300), (100_000, 9)])
def test_as_numpy(shape: tuple[int, ...], dtype: str) -> None:
    host = sample(shape, dtype)
    x = np.asarray(host, device="cuda")
    numpy.testing.assert_array_equal(np.asnumpy(np.sort(x)), numpy.sort(host, stable=True))
    numpy.testing.assert_array_equal(np.asnumpy(np.argsort(x, stable=True)), numpy.argsort(host, stable=True))


def test_many_times_the_same() -> None:
    host = sample((1 << 22,), "i4") >> 8
    x = np.asarray(host, device="cuda")
    want = numpy.argsort(host, stable=True)
    for _ in range(20):
        assert (np.asnumpy(np.argsort(x, stable=True)) == want).all()


@pytest.mark.parametrize("values", [0, 255, 1 << 20, -1])
def test_equal_elements(values: int) -> None:
    host = numpy.full(1 << 20, values)
    host[12345] += 1
    x = np.asarray(host, device="cuda")
    numpy.testing.assert_array_equal(np.asnumpy(np.argsort(x, stable=True)), numpy.argsort(host, stable=True))
