"""Searching and counting on a real GPU, whose blocks run side by side."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy as np

pytestmark = pytest.mark.gpu


def numbers(dtype: str, n: int, seed: int = 0) -> Any:
    """Random numbers with duplicates; floats have NaNs, too."""
    made = numpy.random.default_rng(seed).normal(0, 1000, n)
    if numpy.dtype(dtype).kind in "iu":
        return abs(made).astype(dtype)
    made[:: n // 7] = numpy.nan
    return (made + 1j * numpy.round(made[::-1]) if dtype in "FD" else made).astype(dtype)


def on_gpu(x: Any) -> Any:
    return np.asarray(x, device="cuda")


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "e", "f", "d", "F", "D"])
def test_searchsorted(dtype: str, side: str) -> None:
    for n, count in ((100, 300_000), (3_000_001, 300_000), (3_000_001, 1000), (70_000, 2_000_000)):
        ordered, values = numpy.sort(numbers(dtype, n)), numbers(dtype, count, 1)
        got = np.searchsorted(on_gpu(ordered), on_gpu(values), side)
        numpy.testing.assert_array_equal(np.asnumpy(got), numpy.searchsorted(ordered, values, side))


@pytest.mark.parametrize("bins", [3, 150, 1000, 12_000, 100_000, 5_000_000])
def test_bincount(bins: int) -> None:
    x = numpy.random.default_rng(bins).integers(0, bins, 3_000_000)
    x[: x.size // 2] = bins // 3
    w = numpy.random.default_rng(1).normal(0, 1, x.size)
    sums = []
    for dtype in ("i4", "i8", "u8"):
        tested = on_gpu(x.astype(dtype))
        numpy.testing.assert_array_equal(
            np.asnumpy(np.bincount(tested, minlength=bins)), numpy.bincount(x, minlength=bins)
        )
        sums.append(np.asnumpy(np.bincount(tested, on_gpu(w), bins)))
        assert sums[0].tobytes() == sums[-1].tobytes()
    numpy.testing.assert_allclose(sums[0], numpy.bincount(x, w, bins), 1e-9, 1e-9)
    few = on_gpu(x[:500])
    numpy.testing.assert_array_equal(np.asnumpy(np.bincount(few)), numpy.bincount(x[:500]))


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "e", "f", "d"])
def test_histogram(dtype: str) -> None:
    x = numbers(dtype, 2_000_000)
    tested, w = on_gpu(x), numbers("i4", x.size, 2)
    for bins, range in ((10, (-500, 900)), (1000, (-99.5, 700.3)), (9000, (-2000, 2000)), ([-50, 0, 0, 1, 99], None)):
        if dtype == "e" and not isinstance(bins, list) and bins > 1000:
            continue
        want, edges = numpy.histogram(x, bins, range)
        got = np.histogram(tested, bins, range)
        numpy.testing.assert_array_equal(np.asnumpy(got[0]), want)
        numpy.testing.assert_array_equal(np.asnumpy(got[1]), edges)
        weighted = np.histogram(tested, bins, range, weights=on_gpu(w))[0]
        numpy.testing.assert_array_equal(np.asnumpy(weighted), numpy.histogram(x, bins, range, weights=w)[0])


def test_histogramdd() -> None:
    points = numpy.random.default_rng(0).normal(0, 2, (300_000, 3)).astype("f")
    for bins in (5, [40, 30, 20], [[-1, 0, 2], 3, [0, 1]]):
        want, edges = numpy.histogramdd(points, bins)
        got = np.histogramdd(on_gpu(points), bins)
        numpy.testing.assert_array_equal(np.asnumpy(got[0]), want)
        for tested, reference in zip(got[1], edges, strict=True):
            numpy.testing.assert_array_equal(np.asnumpy(tested), reference)
