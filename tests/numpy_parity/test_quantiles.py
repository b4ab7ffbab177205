"""Medians, quantiles and percentiles against NumPy."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.numpy_release import RELEASE

from ..support.arrays import from_host, ndarray, to_host
from .parity import outcome, same, told_of_failures

pytestmark = pytest.mark.usefixtures("nothing_runs_on_the_host")

METHODS = (
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen"),
    *("weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"),
)
DTYPES = ("?", "i1", "i4", "u8", "f2", "f4", "f8")
SHAPES: tuple[tuple[int, ...], ...] = ((8,), (3, 5), (2, 3, 4), (1,), (), (4, 1))
QUANTILES: tuple[Any, ...] = (0.3, 1, [0.1, 0.5, 1], [], numpy.array([[0, 1]]), numpy.array([0.2, 0.9], "f4"))


def sample(dtype: Any, shape: tuple[int, ...], share: float = 0.0) -> Any:
    """Small numbers, a share of them NaN where the dtype has one."""
    rng = numpy.random.default_rng([*shape, 7])
    data = rng.integers(0, 9, shape)
    kind = numpy.dtype(dtype).kind
    data = (data / 2 if kind in "fcV" else data).astype(dtype)
    if kind == "c":
        data = data + 1j * rng.integers(0, 3, shape).astype(dtype)
    return numpy.where(rng.random(shape) < share, numpy.nan, data).astype(dtype) if kind in "fc" and share else data


def quiet(call: Callable[[], Any]) -> Any:
    """The outcome of a call; what NumPy warns of is a matter of the values, and not of its result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return outcome(call)


def check(name: str, data: Any, *args: Any, **options: Any) -> None:
    """The same bits from both."""
    reference = quiet(lambda: getattr(numpy, name)(data, *args, **options))
    found = quiet(lambda: getattr(np, name)(from_host(data), *args, **options))
    if not isinstance(reference, Exception):
        assert isinstance(found, ndarray), (found, name, data.dtype, args, options)
        found = to_host(found)
    with told_of_failures(lambda: f"{name} {data!r} {args} {options}"):
        same(found, reference, 0)


@pytest.mark.parametrize("dtype", ["?", "i1", "f2", "f4", "f8"])
@pytest.mark.parametrize("method", METHODS)
def test_methods(method: str, dtype: str) -> None:
    if RELEASE in ("2.4.0", "2.4.1") and dtype in ("i1", "f2", "f4"):
        pytest.skip("the dtype of quantiles has no part in that of the result in NumPy 2.4.0 and 2.4.1")
    for q, (shape, axis) in itertools.product(QUANTILES, (((8,), None), ((3, 5), 1))):
        if RELEASE < "2.4.0" and type(q) in (int, float) and (dtype in ("f2", "f4") or type(q) is int):
            continue  # in NumPy 2.3 a Python number takes the dtype of floating data, and an int counts as an integer
        check("quantile", sample(dtype, shape), q, axis, method=method)
        if dtype == "f4" and numpy.size(q):
            data = sample(dtype, shape, 0.3)
            check("nanquantile", data, q, axis, method=method)
            check("quantile", data, q, axis, method=method)


@pytest.mark.parametrize("name", ["median", "nanmedian", "quantile", "nanquantile", "percentile", "nanpercentile"])
def test_axes_and_shapes(name: str) -> None:
    args: tuple[Any, ...] = () if "median" in name else (([0.25, 0.5],) if "quantile" in name else (33,))
    for dtype, shape in itertools.product(("i4", "f8"), SHAPES):
        data = sample(dtype, shape, 0.2)
        for axis in (None, (), *range(-1, len(shape) + 1), (0, 1), (0, 0), (-1, 0), 1.5):
            check(name, data, *args, axis=axis, keepdims=axis != -1)


@pytest.mark.parametrize("dtype", [*DTYPES, "c8", "c16"])
@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_medians(name: str, dtype: str) -> None:
    for shape, share in itertools.product(((7,), (8,), (5, 6), (6, 5), (3, 1)), (0.0, 0.3, 1.0)):
        data = sample(dtype, shape, share)
        for axis in (None, 0, -1):
            check(name, data, axis)
            check(name, data.T, axis)
            check(name, data[::-1], axis)


def test_extremes() -> None:
    inf = numpy.inf
    for row in ([1, inf], [-inf, inf], [inf, inf, inf], [-inf, 1, 2, inf], [1e308, 1e308], [0.0, -0.0]):
        data = numpy.array(row)
        for name, q in itertools.product(("quantile", "nanquantile"), (0.0, 0.5, 1.0, 0.9)):
            check(name, data, q)
        check("median", data)
        check("nanmedian", data)
    check("quantile", numpy.array([-128, 127], "i1"), 0.5)


def test_bfloat16() -> None:
    data = sample(ml_dtypes.bfloat16, (4, 9))
    for axis in (None, 0, 1):
        found = np.median(from_host(data), axis)
        assert found.dtype == data.dtype
        same(to_host(found).astype("f4"), numpy.median(data.astype("f4"), axis), 0)
        found = np.percentile(from_host(data), 40, axis)
        assert found.dtype == numpy.float32
        numpy.testing.assert_allclose(to_host(found), numpy.percentile(data.astype("f4"), 40, axis), 1e-2)


@pytest.mark.parametrize("name", ["median", "nanmedian", "quantile", "nanquantile"])
def test_empty_arrays(name: str) -> None:
    for shape, axis in itertools.product(((0,), (0, 3), (3, 0), (0, 0)), (None, 0, -1)):
        for args in ((),) if "median" in name else ((0.5,), ([0.5, 0.2],)):
            check(name, numpy.zeros(shape), *args, axis=axis)
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        np.median(np.zeros(0))


@pytest.mark.parametrize("name", ["median", "nanmedian", "quantile", "nanquantile"])
def test_out(name: str) -> None:
    data = sample("f8", (4, 5), 0.1)
    args = () if "median" in name else (0.4,)
    for dtype, keepdims in itertools.product(("f8", "f4", "c16"), (False, True)):
        reference = numpy.zeros((1, 5) if keepdims else 5, dtype)
        into = np.zeros_like(from_host(reference))
        quiet(lambda: getattr(numpy, name)(data, *args, axis=0, out=reference, keepdims=keepdims))  # noqa: B023
        assert getattr(np, name)(from_host(data), *args, axis=0, out=into, keepdims=keepdims) is into
        same(to_host(into), reference, 0)
    host = numpy.zeros(5)
    assert getattr(np, name)(from_host(data), *args, axis=0, out=host) is host
    with pytest.raises(ValueError, match="output"):
        getattr(np, name)(from_host(data), *args, axis=0, out=np.zeros(4))


@pytest.mark.parametrize("name", ["quantile", "nanquantile", "percentile", "nanpercentile"])
def test_what_is_refused(name: str) -> None:
    data = sample("f8", (4, 5))
    most = 1.0 if "quantile" in name else 100.0
    wrong = {"method": "inverted_cdf"}
    cases: tuple[tuple[Any, dict[str, Any]], ...] = (
        *((q, {}) for q in (-0.1, most + 0.1, [0.0, most * 2], numpy.nan, [[[0.5]]], "x")),
        *((0.5, {"method": m}) for m in ("x", "", 3)),
        *((0.5, {"weights": w}) for w in (numpy.ones(4), [1] * 5)),
        *((0.5, {"weights": w, **wrong}) for w in (numpy.ones(4), [-1] * 20, numpy.zeros((4, 5)))),
        *((0.5, {"weights": w, "axis": 0, **wrong}) for w in ([1, 2], [-1, 0, 0, 1], [0] * 4, [numpy.nan] * 4)),
        (0.5, {"axis": 2}),
    )
    for q, options in cases:
        weights = numpy.asarray(options.get("weights", 1))
        if RELEASE < "2.4.0" and not (weights.any() and numpy.isfinite(weights).all()):
            continue  # for which NumPy has any result
        check(name, data, q, **options)
        reference = quiet(lambda: getattr(numpy, name)(data, q, **options))  # noqa: B023
        assert isinstance(reference, Exception), (q, options)
    check(name, data + 1j, 0.5)


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_weights(name: str) -> None:
    for dtype, share in itertools.product(("i4", "f4", "f8"), (0.0, 0.3)):
        data = sample(dtype, (6, 9), share)
        rng = numpy.random.default_rng(5)
        for q in (0.0, 1.0, 0.35, [0.0, 0.2, 0.5, 1], numpy.array([0.25, 0.5], "f4"), [[0.1, 0.9]]):
            for weights, axis in (
                (rng.integers(0, 3, (6, 9)), None),
                (rng.integers(0, 4, (6, 9)) + (numpy.arange(9) > 4), 1),
                (rng.integers(1, 4, 6).astype("f4"), 0),
                (rng.integers(1, 4, 9), -1),
                (rng.integers(1, 4, (9, 6)), (1, 0)),
            ):
                if weights.ndim == 1 and name == "nanquantile":  # for which NumPy does not lay weights along an axis
                    weights = numpy.broadcast_to(weights if axis else weights[:, None], (6, 9))
                if weights.shape == (9, 6) and (name == "nanquantile" or RELEASE < "2.4.0"):
                    continue  # before 2.4 NumPy lays the weights of several axes out otherwise than the data
                check(name, data, q, axis, method="inverted_cdf", weights=weights, keepdims=axis == 1)


def test_percentiles_are_quantiles() -> None:
    data = sample("f8", (40,))
    for q in (12.5, [10, 20.5], numpy.array([25, 75]), 100):
        check("percentile", data, q)
        check("nanpercentile", data, q)


def test_quantiles_of_ours_and_of_lists() -> None:
    data = sample("f8", (9,))
    for q in ([0.25, 0.5], 0.25):
        for found in (np.quantile(data.tolist(), q), np.quantile(from_host(data), np.asarray(q))):
            same(to_host(found), numpy.quantile(data, numpy.asarray(q)), 0)
    assert isinstance(numpy.median(from_host(data)), ndarray)
    assert isinstance(numpy.percentile(from_host(data), 5), ndarray)


def test_the_array_stays_as_it_is() -> None:
    data = sample("f8", (9,))
    tested = from_host(data)
    np.median(tested, overwrite_input=True).item()
    np.quantile(tested, 0.3, overwrite_input=True).item()
    same(to_host(tested), data, 0)


@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
def test_no_quantiles_of_empty_slices(axis: Any) -> None:
    wanted = numpy.quantile(numpy.zeros((0, 2, 2), "u1"), [], axis=axis)
    found = np.quantile(np.zeros((0, 2, 2), "u1"), [], axis=axis)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    for q in (0.5, []):  # NumPy looks for NaN in floats, even for no quantile
        with pytest.raises(IndexError):
            numpy.quantile(numpy.zeros((0, 2, 2)), q, axis=axis)
        with pytest.raises(IndexError):
            np.quantile(np.zeros((0, 2, 2)), q, axis=axis)


def test_quantiles_by_fractions_are_fractions() -> None:
    np.host_fallback("warn")
    for q in (Fraction(1, 2), [Fraction(1, 4), Fraction(1)]):
        found, wanted = np.quantile(np.arange(8), q), numpy.quantile(numpy.arange(8), q)  # type: ignore[type-var]
        assert type(found) is (ndarray if isinstance(wanted, numpy.ndarray) else Fraction)
        assert numpy.array_equal(to_host(found) if isinstance(found, ndarray) else found, wanted)
