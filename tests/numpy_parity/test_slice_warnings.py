"""Warnings of slices without elements, and of nothing but NaN: for programs that ask for the category "invalid"."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy

_ROWS = numpy.array([[numpy.nan, numpy.nan, numpy.nan], [1, numpy.nan, 2]])
_MASK = numpy.array([[False] * 3, [True] * 3])

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "nanmin": lambda np, x, mask: np.nanmin(x, axis=1),
    "nanmax": lambda np, x, mask: np.nanmax(x, axis=1),
    "nanmax of all": lambda np, x, mask: np.nanmax(x[0]),
    "nanmax of integers": lambda np, x, mask: np.nanmax(np.ones(3, int)),
    "nanmean": lambda np, x, mask: np.nanmean(x, axis=1),
    "nanmean, to a mask": lambda np, x, mask: np.nanmean(np.ones((2, 3)), axis=1, where=mask),
    "nanvar": lambda np, x, mask: np.nanvar(x, axis=1),
    "nanvar of few": lambda np, x, mask: np.nanvar(x, axis=1, ddof=2),
    "nanvar, to a mask": lambda np, x, mask: np.nanvar(np.ones((2, 3)), axis=1, where=mask),
    "nanstd": lambda np, x, mask: np.nanstd(x, axis=1),
    "nanmedian": lambda np, x, mask: np.nanmedian(x, axis=1),
    "nanmedian of all": lambda np, x, mask: np.nanmedian(x[0]),
    "nanquantile": lambda np, x, mask: np.nanquantile(x, [0.2, 0.5], axis=1),
    "nanpercentile": lambda np, x, mask: np.nanpercentile(x, 50, axis=1, method="lower"),
    "nanquantile with weights": lambda np, x, mask: np.nanquantile(
        x, 0.5, axis=1, method="inverted_cdf", weights=np.ones((2, 3))
    ),
    "mean, to a mask": lambda np, x, mask: np.mean(np.ones((2, 3)), axis=1, where=mask),
    "var, to a mask": lambda np, x, mask: np.var(np.ones((2, 3)), axis=1, where=mask),
    "std, to a mask": lambda np, x, mask: np.std(np.ones((2, 3)), axis=1, where=mask),
    "slices with numbers": lambda np, x, mask: np.nanmax(x[1:], axis=1) + np.nanmedian(x[1:], axis=1),
}


def _texts(np: Any, name: str, **categories: str) -> Any:
    """The texts of a call's warnings, or its error."""
    x, mask = np.asarray(_ROWS), np.asarray(_MASK)
    with warnings.catch_warnings(record=True) as caught, np.errstate(**categories):
        warnings.simplefilter("always")
        try:
            CALLS[name](np, x, mask)
        except FloatingPointError as error:
            return type(error), str(error)
    assert all(warning.category is RuntimeWarning for warning in caught)
    # Before NumPy 2.4 one of them ends with a full stop.
    return list(dict.fromkeys(str(warning.message).rstrip(".") for warning in caught))


@pytest.mark.parametrize("mode", ["warn", "raise"])
@pytest.mark.parametrize("name", CALLS)
def test_a_program_that_asks_is_warned(name: str, mode: str) -> None:
    assert _texts(gpunumpy, name, invalid=mode) == _texts(numpy, name, invalid=mode)


@pytest.mark.parametrize("name", CALLS)
def test_a_program_that_does_not_ask_is_told_nothing(name: str) -> None:
    assert _texts(gpunumpy, name) == []
    assert _texts(gpunumpy, name, over="warn", invalid="ignore") == []


def test_the_warning_has_the_line_of_the_program() -> None:
    with gpunumpy.errstate(invalid="warn"), pytest.warns(RuntimeWarning, match="All-NaN") as caught:
        gpunumpy.nanmax(gpunumpy.asarray(_ROWS), axis=1)
    assert caught[0].filename == __file__


_OF_INFINITIES: dict[str, Callable[[Any, Any], Any]] = {
    "median": lambda np, x: np.median(x),
    "quantile": lambda np, x: np.quantile(x, 0.5),
    "quantile below": lambda np, x: np.quantile(x, 0.25),
    "quantiles": lambda np, x: np.quantile(x, [0.25, 0.7]),
    "percentile of rows": lambda np, x: np.percentile(x[None], 50, axis=1),
    "nanmedian": lambda np, x: np.nanmedian(x),
    "nanquantile": lambda np, x: np.nanquantile(x, 0.5),
    "nanmean": lambda np, x: np.nanmean(x),
    "nanstd": lambda np, x: np.nanstd(x),
    "nanvar of rows": lambda np, x: np.nanvar(x[None], axis=1),
}


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("name", _OF_INFINITIES)
def test_a_program_that_asks_is_warned_of_infinities(name: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    inf, nan = numpy.inf, numpy.nan
    for data in (
        [inf, -inf],
        [1e308, 1e308, -1e308],
        [1, inf, -inf],
        [inf, inf],
        [-inf, 1, 2, inf],
        [1, 2, inf],
        [nan, inf, -inf],
        [1, 2],
    ):
        counts = []
        for np in (gpunumpy, numpy):
            with warnings.catch_warnings(record=True) as caught, np.errstate(over="warn", invalid="warn"):
                warnings.simplefilter("always")
                _OF_INFINITIES[name](np, np.array(data, "f8"))
            counts.append([warning.category for warning in caught])
        assert counts[0] == counts[1], data


@pytest.mark.parametrize("np", [gpunumpy, numpy])
def test_no_elements_divide_nothing_by_nothing(np: Any) -> None:
    x = np.ones(0)
    with np.errstate(invalid="raise"), pytest.warns(RuntimeWarning, match="freedom"):
        assert "divide" in _error_of(lambda: np.var(x))


def _error_of(call: Callable[[], Any]) -> str:
    with pytest.raises(FloatingPointError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("samples", [numpy.ones(1), numpy.ones((3, 1), "f4"), [5]])
def test_a_program_that_asks_is_warned_of_one_sample(samples: Any, residence: str) -> None:
    gpunumpy.set_residence(residence)
    texts = []
    for np in (gpunumpy, numpy):
        with warnings.catch_warnings(record=True) as caught, np.errstate(divide="warn", invalid="warn"):
            warnings.simplefilter("always")
            np.cov(np.asarray(samples))
        texts.append(sorted(str(warning.message) for warning in caught))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("dtype", ["g", "G", "O", "m8[s]"])
@pytest.mark.parametrize("name", ["mean", "var", "std", "average"])
def test_of_no_elements_on_the_host_there_is_one_warning(name: str, dtype: str) -> None:
    texts = []
    for np in (gpunumpy, numpy):
        with warnings.catch_warnings(record=True) as caught, numpy.errstate(all="ignore"):
            warnings.simplefilter("always")
            with contextlib.suppress(TypeError, ValueError, ZeroDivisionError):
                getattr(np, name)(np.array([], dtype))
        texts.append([str(warning.message) for warning in caught])
    assert texts[0] == texts[1]
