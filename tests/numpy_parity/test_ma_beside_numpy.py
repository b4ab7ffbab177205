"""Masked arrays of this package as arguments of NumPy's own functions, subclasses of them, and their fill values."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy

pytestmark = pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning", "ignore::DeprecationWarning")

BY_NUMPY = (
    *("unique(m)", "squeeze(m)", "clip(m, 0, 3)", "union1d(m, m)", "intersect1d(m, m)", "setdiff1d(m, m[0])"),
    *("setxor1d(m, m[0])", "zeros_like(m)", "median(m)", "array(m) + 1", "asanyarray(m).sum()", "masked_invalid(m)"),
    *("filled(masked_invalid(m), 0)", "cov(m)", "array(m).mean(0)", "where(m > 2, m, 0)", "stack([m, m])", "mean(m)"),
    *("sum([m, m])", "average([m, m])", "count([m, m])", "array([m, m])", "std([m, m])", "sort([m, m])", "dot(m, m)"),
    *("cumsum([m, m])", "masked_where(m > 2, m)", "masked_inside(m, 2, 4)", "corrcoef(m)", "vstack([m, m])"),
)


def masked(np: Any) -> Any:
    return np.ma.array([[1.0, 2.0, 5.0], [3, 4, 2], [9, 8, 7]], mask=[[0, 1, 0], [0, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize("call", BY_NUMPY)
def test_functions_of_numpy_ma(call: str) -> None:
    """As libraries call them: matplotlib masks what is invalid."""
    found, expected = (eval(call, {**vars(numpy.ma), "m": masked(np)}) for np in (gpunumpy, numpy))
    assert str(found) == str(expected)


def test_conversions() -> None:
    m = masked(gpunumpy)
    kept = numpy.asanyarray(m)
    assert type(kept) is numpy.ma.MaskedArray
    numpy.testing.assert_array_equal(kept.mask, masked(numpy).mask)
    assert type(numpy.asarray(m)) is type(numpy.array(m)) is numpy.ndarray
    assert type(m.view(numpy.ma.MaskedArray)) is gpunumpy.ma.MaskedArray
    assert numpy.asarray(m, dtype="f4").dtype == numpy.float32


JOINED = (
    *("concatenate([s, s])", "stack([s, s])", "diff(s)", "roll(s, 1)", "vstack([s, s])", "flip(s)", "tile(s, 2)"),
    *("unique(s)", "append(s, s)", "sort(s)", "cumsum(s)", "where(s > 1, s, s)", "ma.concatenate([s, s])"),
)


@pytest.mark.parametrize("call", JOINED)
def test_results_of_a_subclass(call: str) -> None:
    outcomes = []
    for np in (gpunumpy, numpy):

        class Own(np.ma.MaskedArray):  # type: ignore[name-defined, misc]
            pass

        result = eval(f"np.{call}", {"np": np, "s": masked(np).view(Own)})
        outcomes.append((type(result).__name__, str(result)))
    assert outcomes[0] == outcomes[1]


FILLED = (
    *("np.sqrt(m)", "m * 1.5", "m / 2", "m.astype(float)", "np.isnan(m)", "np.log(m)", "np.ma.exp(m)", "m > 1"),
    *("np.greater(m, 1)", "np.ma.logical_not(m)", "m.cumsum()", "m.reshape(1, 2)", "np.signbit(m)", "m.astype('c16')"),
    *("np.ma.add(m, .5)", "np.ma.where(m > 1, m, .5)", "m.std(keepdims=True)", "m.astype('U3')", "m.astype('f4')"),
    *("np.ma.concatenate([m, m * 2.5])", "np.sqrt(m).copy()", "(m * 1.5)[:1]", "m.astype(int)", "m.astype(bool)"),
    *("np.ma.setxor1d(m.astype('u1'), [1])", "np.ma.apply_over_axes(np.ma.sum, m.astype('f4'), 0)"),
    *("np.ma.unique(m)", "np.ma.unique(m, True)[0]", "np.ma.unique(m.data)"),
    *("np.ma.filled(m * 1.5)", "m // 2.", "np.sqrt(m).filled()", "m.astype(int).filled()"),
)


@pytest.mark.parametrize("values", [[1, 2], [1.0, 2.5]])
@pytest.mark.parametrize("call", FILLED)
def test_fill_values_after_printing(call: str, values: list[float]) -> None:
    texts = []
    for np in (gpunumpy, numpy):
        m = np.ma.array(values, mask=[0, 1])
        repr(m)
        with numpy.errstate(all="ignore"):
            result = eval(call, {"np": np, "m": m})
        texts.append((repr(result), str(getattr(result, "fill_value", None))))
    assert texts[0] == texts[1]
