"""Covariances, correlations, convolutions and unwrapped angles, beside NumPy; nothing of them runs on the host."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np

from ..core.fusion.counting import kernels
from .parity import DTYPES, check, sample


@pytest.fixture(autouse=True)
def nothing_on_the_host() -> Iterator[None]:
    """A function that runs through NumPy raises; what is said of no degrees of freedom is compared elsewhere."""
    np.host_fallback("error")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
    np.host_fallback("warn")


SHAPES = ((5,), (3, 5), (5, 3), (1, 5), (5, 1), (1, 1), (0,), (0, 4), (4, 0), (2, 3, 4), ())
COV: dict[str, Any] = {
    "plain": {},
    "columns": {"rowvar": False},
    "bias": {"bias": True},
    "ddof": {"ddof": 2},
    "ddof 0": {"ddof": 0, "bias": True},
    "ddof too large": {"ddof": 9},
    "ddof no integer": {"ddof": 1.5},
    "float32": {"dtype": "f"},
    "complex": {"dtype": "D"},
    "integers": {"dtype": "i8"},
    "frequencies": {"fweights": numpy.array([1, 2, 0, 3, 1])},
    "frequencies, listed": {"fweights": [1, 2, 0, 3, 1], "ddof": 0},
    "reliabilities": {"aweights": numpy.array([1, 0.5, 2, 0, 1.5])},
    "both": {"fweights": numpy.array([1, 2, 0, 3, 1]), "aweights": numpy.array([1, 0.5, 2, 0, 1.5])},
    "both in float32": {"fweights": [1, 2, 0, 3, 1], "aweights": numpy.array([1, 0.5, 2, 0, 1.5]), "dtype": "f"},
    "fractions of frequencies": {"fweights": numpy.array([1, 2.5, 0, 3, 1])},
    "negative frequencies": {"fweights": numpy.array([1, -2, 0, 3, 1])},
    "negative reliabilities": {"aweights": numpy.array([1, -0.5, 2, 0, 1.5])},
    "no weight": {"aweights": numpy.zeros(5)},
    "weights in two dimensions": {"aweights": numpy.ones((5, 1))},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("options", COV.values(), ids=COV)
def test_cov(options: dict[str, Any], shape: tuple[int, ...]) -> None:
    m = sample("d", shape)
    check(np.cov, numpy.cov, m, ulp=32, **options)
    check(np.cov, numpy.cov, m, sample("f", shape, 3), ulp=32, **options)


@pytest.mark.parametrize("dtype", DTYPES)
def test_cov_of_dtypes(dtype: str) -> None:
    m = sample(dtype, (3, 5))
    check(np.cov, numpy.cov, m, ulp=32)
    check(np.cov, numpy.cov, m, sample("f", (2, 5)), ulp=32)
    check(np.cov, numpy.cov, m, sample("D", (5,)), ulp=32, aweights=sample("u4", (5,)) + 1)
    check(np.corrcoef, numpy.corrcoef, m, ulp=32)
    check(np.corrcoef, numpy.corrcoef, m, sample("D", (5,)), ulp=32)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("options", [{}, {"rowvar": False}, {"dtype": "f"}, {"dtype": "F"}])
def test_corrcoef(options: dict[str, Any], shape: tuple[int, ...]) -> None:
    check(np.corrcoef, numpy.corrcoef, sample("d", shape), ulp=32, **options)
    check(np.corrcoef, numpy.corrcoef, sample("d", shape), sample("i4", shape, 3), ulp=32, **options)


def test_no_degrees_of_freedom_are_warned_of() -> None:
    with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        np.cov(np.ones((2, 1)))


def test_cov_is_few_kernels() -> None:
    m = np.asarray(sample("d", (50, 400)))
    assert len(kernels(lambda: np.cov(m))) <= 4


# --- what was on the device before ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_convolutions(dtype: str, mode: str) -> None:
    a, v = sample(dtype, (9,)), sample(dtype, (4,), 1)
    for name in ("convolve", "correlate"):
        check(getattr(np, name), getattr(numpy, name), a, v, mode, ulp=8)
        check(getattr(np, name), getattr(numpy, name), v, a, mode, ulp=8)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", ["i1", "u8", "f", "d", "F", "D"])
def test_convolutions_with_many_taps(dtype: str, mode: str) -> None:
    random = numpy.random.default_rng(0)
    long, short = (random.integers(-9, 9, n).astype(dtype) for n in (4000, 300))  # sums of these are exact
    for a, v in ((long, short), (short, long), (long[::-3], short[::2]), (long[:40], long[:40])):
        for name in ("convolve", "correlate"):
            check(getattr(np, name), getattr(numpy, name), a, v, mode, ulp=0)
    if dtype in "fdFD":
        short[7] = numpy.inf
        check(np.convolve, numpy.convolve, long, short, mode, ulp=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_unwrap(dtype: str) -> None:
    p = sample(dtype, (3, 9)) * numpy.array(3, dtype)
    check(np.unwrap, numpy.unwrap, p, ulp=16)
    check(np.unwrap, numpy.unwrap, p, period=4, axis=0, ulp=16)
    check(np.unwrap, numpy.unwrap, p, discont=3.5, period=5, ulp=16)
