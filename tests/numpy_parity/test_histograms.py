"""Counting and histograms against NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy as np

from ..support.arrays import from_host
from .parity import DTYPES, check, outcome, same, sample

REAL = tuple(d for d in DTYPES if d not in "FD?") + ("i2", "u2", ml_dtypes.bfloat16)
WEIGHTS = (*DTYPES, ml_dtypes.bfloat16)


@pytest.fixture(autouse=True)
def _nothing_on_the_host() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def check_with_messages(name: str, *args: Any, **options: Any) -> None:
    """Both functions over the same host arguments, and over gpunumpy arrays; their errors have the same message."""
    reference = outcome(lambda: getattr(numpy, name)(*args, **options))
    tested = outcome(lambda: getattr(np, name)(*args, **options))
    if isinstance(reference, Exception) and not isinstance(reference, numpy.exceptions.DTypePromotionError):
        assert str(tested) == str(reference), f"{name}{args}{options}"
    alike(tested, reference)
    if isinstance(reference, Exception):
        return
    given = [from_host(x) if isinstance(x, numpy.ndarray) else x for x in args]
    named = {k: from_host(x) if isinstance(x, numpy.ndarray) else x for k, x in options.items()}
    alike(outcome(lambda: getattr(np, name)(*given, **named)), reference)


def alike(tested: Any, reference: Any) -> None:
    if isinstance(reference, (tuple, list)):
        assert type(tested) is type(reference), tested
        assert len(tested) == len(reference)
        for one, other in zip(tested, reference, strict=True):
            alike(one, other)
    else:
        same(tested if isinstance(tested, Exception) else np.asnumpy(tested), reference)


# --- bincount -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_bincount(dtype: str) -> None:
    x = abs(sample("i8", (50,), 1)).astype(dtype)
    for least in (0, 3, 20):
        check_with_messages("bincount", x, minlength=least)
        check_with_messages("bincount", x[:0], minlength=least)
        check_with_messages("bincount", x, sample("d", (50,), 2), least)
    check_with_messages("bincount", x[::-3])
    check_with_messages("bincount", numpy.broadcast_to(x[:1], (4,)))


@pytest.mark.filterwarnings("default:Non-integer input:DeprecationWarning")
@pytest.mark.parametrize("x", [[1.5, 2.0], (0.0, 3.0), [1.0, -2.0], [numpy.nan], [1j]])
def test_lists_of_floats_that_are_counted(x: Any) -> None:
    check_with_messages("bincount", x)


@pytest.mark.parametrize("dtype", WEIGHTS)
def test_weights_of_bincount(dtype: Any) -> None:
    check_with_messages("bincount", abs(sample("i4", (50,), 1)), sample(dtype, (50,), 2))
    check_with_messages("bincount", numpy.array([900, 3, 900]), sample(dtype, (6,), 2)[::2])


def test_complex_scalars_as_weights() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        counts = np.bincount(np.array([0, 1, 1]), weights=[numpy.complex128(2 + 1j)] * 3)
    assert numpy.asarray(counts).tolist() == [2, 4]
    assert {w.category for w in caught} == {numpy.exceptions.ComplexWarning}
    with pytest.raises(TypeError, match="complex"):
        np.bincount(np.array([0]), weights=[2j])


WRONG: tuple[tuple[Any, ...], ...] = (
    *(([-1, 2],), (numpy.array([[1, 2]]),), (1,), (numpy.array([1.0]),), (numpy.array([]),), (numpy.array([1j]),)),
    *(([1, 2], [1, 2, 3]), ([1], numpy.array([[1]])), ([1], 1), ([1], numpy.array([1j]))),
    *(([1], None, -1), ([1], None, None), ([1], None, 2.0), ([], None, -1), ([2**62],), ([1], None, 2**62)),
    *((numpy.array([2**63], "u8"),), ([],), ([], None, 3), ([], [1])),
)


@pytest.mark.parametrize("args", WRONG, ids=repr)
def test_errors_of_bincount(args: tuple[Any, ...]) -> None:
    check_with_messages("bincount", *args)


# --- histogram ------------------------------------------------------------------------------------------------------

X = numpy.random.default_rng(1).normal(1, 3, 400)
EDGES = (
    [0, 1, 2.5],
    [1, 1, 2],
    [-1, 0, 0, 1, 1],
    [5],
    [],
    [0, 1, numpy.nan],
    numpy.linspace(-9, 9, 40),
    [2, 1],
    [[1, 2]],
)
BINS = (1, 10, 37, *EDGES, 0, -1, 2.0, None, "x", "auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges")


@pytest.mark.parametrize("bins", BINS, ids=repr)
@pytest.mark.parametrize("range", [None, (-1, 3), (0.1, 0.7), (2, 2), (3, 1), (-99, 99), (0, numpy.inf), (1, 2, 3)])
def test_histogram(bins: Any, range: Any) -> None:
    for x in (X, X[::-2], X.reshape(20, 20).T, X[:1], X[:0], numpy.full(5, 1.5), numpy.round(X)):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The number of bins estimated")
            check_with_messages("histogram_bin_edges", x, bins, range)
            check_with_messages("histogram", x, bins, range)


@pytest.mark.parametrize("range", [None, (-1, 3), (0.1, 2.7), (numpy.float64(0.3), 2), (-(2**40), 2**40)])
@pytest.mark.parametrize("dtype", REAL)
def test_dtypes(dtype: Any, range: Any) -> None:
    x = sample(dtype, (60,), 1)
    for bins in (3, 10, [-1, 0, 2, 5], numpy.array([0.5, 1.5, 2]), numpy.array([1, 2, 4], "u8")):
        check_with_messages("histogram", x, bins, range)


@pytest.mark.parametrize("dtype", REAL)
def test_estimates_of_dtypes(dtype: Any) -> None:
    x = sample(dtype, (60,), 1)
    for name in ("auto", "doane", "fd", "rice", "scott", "sqrt", "sturges"):
        if numpy.dtype(dtype).itemsize > 2 or numpy.dtype(dtype).kind in "iu":
            check_with_messages("histogram", x, name)


def test_values_at_edges() -> None:
    for bins in (7, 49, 100):
        for dtype in ("f", "d"):
            edges = numpy.linspace(0.1, 0.7, bins + 1, dtype=dtype)
            around = [numpy.nextafter(edges, edges.dtype.type(k)) for k in (-9, 9)]
            for range in (None, (0.1, 0.7), (numpy.float32(0.1), numpy.float32(0.7))):
                check_with_messages("histogram", numpy.concatenate([edges, *around]), bins, range)


def test_wide_integers() -> None:
    x = numpy.array([2**60 - 1, 2**60, 2**60 + 4097, 2**60 + 4098])
    for dtype in ("i8", "u8"):
        check_with_messages("histogram", x.astype(dtype), 2, (2**60, 2**60 + 4097))
        check_with_messages("histogram", x.astype(dtype), 2, (-5, 2**60 + 4097))
        check_with_messages("histogram", x.astype(dtype), 2, (2**64, 2**65))
        check_with_messages("histogram", x.astype(dtype), 2)


def test_not_finite() -> None:
    x = numpy.array([1, numpy.nan, 2, numpy.inf, -numpy.inf])
    for bins in (3, [0, 1.5, 3], [0, numpy.inf], "fd"):
        check_with_messages("histogram", x, bins)
        check_with_messages("histogram", x, bins, (0, 4))


@pytest.mark.parametrize("dtype", WEIGHTS)
@pytest.mark.parametrize("bins", [5, [-1, 0, 2.5, 3]], ids=repr)
def test_weights(bins: Any, dtype: Any) -> None:
    weights = sample(dtype, (400,), 2)
    if weights.dtype.kind == "V" and isinstance(bins, list):
        return  # NumPy adds up in bfloat16 itself, and loses digits
    for density in (False, True):
        if density and (numpy.dtype(dtype).kind not in "fiu"):
            continue
        check_with_messages("histogram", X, bins, (-2, 4), density, weights)
        check_with_messages("histogram", X.reshape(20, 20)[::3], bins, None, density, weights.reshape(20, 20)[::3])


def test_density() -> None:
    for bins in (4, [0, 1, 5]):
        check_with_messages("histogram", X, bins, density=True)
        check_with_messages("histogram", X.astype("f"), bins, density=True)


def test_what_else_is_refused() -> None:
    check_with_messages("histogram", X, 3, weights=X[:3])
    check_with_messages("histogram", X, "auto", weights=X)
    check_with_messages("histogram", X.astype("f"), 10**8, (1, 1.0001))


def test_booleans_are_counted_with_a_warning() -> None:
    with pytest.warns(RuntimeWarning, match="Converting input from bool"):
        found = np.histogram(np.asarray([True, False, True]), 2)
    alike(found, (numpy.array([1, 2]), numpy.array([0.0, 0.5, 1.0])))


def test_complex() -> None:
    x = sample("F", (40,), 1)
    check_with_messages("histogram", x, numpy.sort(sample("F", (5,), 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numpy.exceptions.ComplexWarning)
        check_with_messages("histogram", x, 4)


# --- in more dimensions ---------------------------------------------------------------------------------------------

POINTS = numpy.random.default_rng(2).normal(0, 2, (200, 3)).round(1)
GRIDS = (
    3,
    [2, 3, 4],
    [[0, 1, 2], 3, numpy.array([-1, 0, 0, 4])],
    [2, 2],
    [2.0, 1, 1],
    [[[1]], 1, 1],
    [0, 1, 1],
    [[2, 1], 1, 1],
)


@pytest.mark.parametrize("bins", GRIDS, ids=repr)
@pytest.mark.parametrize("range", [None, [(-1, 1), None, (0, 3)], [None], [(2, 1), None, None]], ids=repr)
def test_histogramdd(bins: Any, range: Any) -> None:
    check_with_messages("histogramdd", POINTS, bins, range)
    check_with_messages("histogramdd", POINTS.astype("f"), bins, range, True)
    check_with_messages("histogramdd", POINTS[::2], bins, range, False, POINTS[::2, 0])
    check_with_messages("histogramdd", POINTS[:0], bins, range)
    check_with_messages("histogramdd", (POINTS * 2).astype("i4"), bins, range)


def test_samples() -> None:
    for sample_ in (POINTS.T.tolist(), POINTS[:, 0].tolist(), POINTS[:, 0], POINTS[:, :1], POINTS.reshape(5, 40, 3)):
        check_with_messages("histogramdd", sample_, 4)
    columns = [from_host(POINTS[:, 0]), from_host(POINTS[:, 1].astype("f"))]
    alike(np.histogramdd(columns, 4), numpy.histogramdd([POINTS[:, 0], POINTS[:, 1].astype("f")], 4))
    check_with_messages("histogramdd", POINTS, weights=[1, 2])
    check_with_messages("histogramdd", POINTS, weights=POINTS[:, 0] + 1j)
    holes = POINTS.copy()
    holes[::5, 1] = numpy.nan
    check_with_messages("histogramdd", holes, [[0, 1, 2]] * 3)
    check_with_messages("histogramdd", holes, 3)


def test_histogram2d() -> None:
    x, y = POINTS[:, 0], POINTS[:, 1]
    for bins in (4, [3, 2], [0, 1, 2, 3], [[0, 1, 2], 5], numpy.array([-1.0, 0, 1])):
        check_with_messages("histogram2d", x, y, bins)
        check_with_messages("histogram2d", x, y, bins, density=True, weights=abs(x))
    check_with_messages("histogram2d", x, y, 3, [(-1, 1), (0, 2)])
    check_with_messages("histogram2d", x, y[1:])


def test_python_data() -> None:
    check_with_messages("histogram", [1, 2, 2, 5], 3)
    check_with_messages("histogram", 3, 3)
    check(np.bincount, numpy.bincount, [1, 2, 2, 5])
