"""The kernels of `bincount` and `histogram`, run on the emulated machine and compared with NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import ml_dtypes
import numpy
import pytest

from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.histogram import cuda as cuda_histogram

from .executor import run_program
from .test_masks_and_scatter import layout_of


def run(make: Any, options: tuple[Any, ...], bins: int, *args: Any) -> Any:
    """The counts, or the sums of float64, that the library call makes; in another order of threads the same bits."""
    results = []
    for seed in (1, 2):
        out = numpy.full(bins, 99, numpy.int64 if args[-1] is None else numpy.float64)
        arrays = [out, *(x for x in args if x is not None)]
        program = make(options, [layout_of(x) for x in arrays], [x.dtype for x in arrays])
        if program.launches:
            assert run_program(program, arrays, seed=seed) == 0
        results.append(out)
    assert results[0].tobytes() == results[1].tobytes()
    return results[0]


def weights_of(dtype: str | None, n: int) -> Any:
    return None if dtype is None else numpy.random.default_rng(9).integers(-4, 90, n).astype(dtype)


# In shared memory with many counters a bin, with one, and without; by warps, and sorted.
BINS = (1, 500, 3000, 13000)


@pytest.mark.parametrize("bins", BINS)
@pytest.mark.parametrize(
    ("dtype", "weight"), [("?", None), ("i1", "f"), ("u2", None), ("i4", None), ("u8", "d"), ("i8", "i4")]
)
def test_bincount(bins: int, dtype: str, weight: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_histogram, "_MAX_BLOCKS", 3)
    for n in (0, 1, 9000):
        x = numpy.random.default_rng(n).integers(0, bins, n).astype(dtype)
        inside = (x >= 0) & (x < bins)
        w = weights_of(weight, n)
        want = numpy.bincount(x[inside].astype(int), None if w is None else w[inside], bins)
        numpy.testing.assert_array_equal(run(cuda_histogram.bincount, (), bins, x, w), want)


def test_one_bin_has_all() -> None:
    x, w = numpy.full(20000, 1234), weights_of("d", 20000)
    for bins in (1235, 700):
        want = numpy.bincount(x[:1] % bins, [w.sum()], bins)
        numpy.testing.assert_array_equal(run(cuda_histogram.bincount, (), bins, x % bins, w), want)


def test_what_is_beyond_the_bins_does_not_count() -> None:
    x = numpy.array([-1, 5, 2, 2**62, -(2**63)])
    assert run(cuda_histogram.bincount, (), 5, x, None).tolist() == [0, 0, 1, 0, 0]
    assert run(cuda_histogram.bincount, (), 5, x, numpy.arange(5.0)).tolist() == [0, 0, 2, 0, 0]


def values_of(dtype: str, n: int = 5000) -> Any:
    x = numpy.random.default_rng(3).normal(0, 20, n)
    if numpy.dtype(dtype).kind in "iu":
        return abs(x).astype(dtype) + numpy.dtype(dtype).type(1)
    x = x + 0j if dtype in "FD" else x
    x[::50], x[1::70] = numpy.nan, numpy.inf
    x[2::9] = numpy.round(x[2::9])
    return x.astype(dtype)


@pytest.mark.parametrize("bins", [10, 999, 14000])
@pytest.mark.parametrize(
    ("dtype", "weight"), [("f", None), ("d", None), ("e", "f"), ("u1", None), ("i4", "d"), ("f", "f")]
)
@pytest.mark.parametrize("limits", [(-7, 40), (0.1, 0.7)])
def test_uniform_bins(bins: int, dtype: str, weight: str | None, limits: tuple[float, float]) -> None:
    if dtype == "e" and bins > 10:
        return  # there are no such bins of float16
    x = values_of(dtype)
    w = weights_of(weight, x.size)
    want, edges = numpy.histogram(x, bins, limits, weights=None if w is None else w.astype("d"))
    span = numpy.subtract(limits[1], limits[0])
    wide = numpy.result_type(edges.dtype, span.dtype)
    got = run(cuda_histogram.histogram, (True, None), bins, x, edges, numpy.full(1, span, wide), w)
    numpy.testing.assert_array_equal(got, want)


def test_uniform_bins_of_complex_numbers() -> None:
    x = values_of("F")
    with warnings.catch_warnings(), numpy.errstate(invalid="ignore"):
        warnings.simplefilter("ignore", numpy.exceptions.ComplexWarning)
        want, edges = numpy.histogram(x, 9, (-7, 40))
    got = run(cuda_histogram.histogram, (True, None), 9, x, edges, numpy.full(1, 47, "D"), None)
    numpy.testing.assert_array_equal(got, want)


def test_uniform_bins_of_bfloat16() -> None:
    x = values_of("f").astype(ml_dtypes.bfloat16)
    with numpy.errstate(invalid="ignore"):
        want, edges = numpy.histogram(x, 4, (-8, 8))
    assert edges.dtype == x.dtype
    got = run(cuda_histogram.histogram, (True, None), 4, x, edges, numpy.full(1, 16.0), None)
    numpy.testing.assert_array_equal(got, want)


def test_limits_that_edges_cannot_tell() -> None:
    x = numpy.array([2**60 - 1, 2**60, 2**60 + 4097, 2**60 + 4098], "u8")
    limits = 2**60, 2**60 + 4097
    want, edges = numpy.histogram(x, 1, limits)
    got = run(cuda_histogram.histogram, (True, limits), 1, x, edges, numpy.full(1, 4097.0), None)
    numpy.testing.assert_array_equal(got, want)
    assert want.tolist() == [2]


@pytest.mark.parametrize("dtype", ["e", "d", "i2", "u8", "F"])
@pytest.mark.parametrize("weight", [None, "f"])
@pytest.mark.parametrize("bins", [3, 900, 13000])
def test_given_bins(dtype: str, weight: str | None, bins: int) -> None:
    x = values_of(dtype)
    common = numpy.result_type(x.dtype, numpy.float32 if dtype != "e" else "e")
    edges = numpy.sort(numpy.random.default_rng(1).integers(-99, 99, bins + 1) / 2).astype(common)
    w = weights_of(weight, x.size)
    if w is not None and x.dtype.kind in "fc":
        w[numpy.isnan(x)] = 0
    want, _ = numpy.histogram(x, edges, weights=None if w is None else w.astype("d"))
    got = run(cuda_histogram.histogram, (False, None), bins, x, edges, w)
    numpy.testing.assert_allclose(got, want, 1e-12)


def test_nan_among_the_edges() -> None:
    x = numpy.array([0.5, 1, 2, numpy.nan, numpy.inf])
    for edges in ([0, 1, numpy.nan], [0, 1, 1], [1, 1, 1], [numpy.nan, numpy.nan]):
        want, _ = numpy.histogram(x, edges)
        given = numpy.asarray(edges, "d")
        numpy.testing.assert_array_equal(
            run(cuda_histogram.histogram, (False, None), given.size - 1, x, given, None), want
        )


@pytest.mark.parametrize("bins", [10, 900, 20000])
@pytest.mark.parametrize("dtype", ["?", "i8", "f2", "f4", "c16"])
def test_nvrtc_compiles_them(bins: int, dtype: str) -> None:
    x, counts, sums, w = numpy.empty(9000, dtype), numpy.empty(bins, "i8"), numpy.empty(bins), numpy.empty(9000, "f4")
    edges = numpy.empty(bins + 1, numpy.result_type(dtype, "f4") if dtype != "f2" else dtype)
    programs = [(cuda_histogram.histogram, (False, None), a) for a in ((counts, x, edges), (sums, x, edges, w))]
    programs.append((cuda_histogram.histogram, (True, None), (counts, x, edges, numpy.empty(1))))
    if x.dtype.kind in "biu":
        programs += [(cuda_histogram.bincount, (), a) for a in ((counts, x), (sums, x, w))]
    for make, options, arrays in programs:
        compile_cubin(make(options, [layout_of(a) for a in arrays], [a.dtype for a in arrays]).text, "sm_90")
