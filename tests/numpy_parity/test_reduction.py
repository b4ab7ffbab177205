"""Reductions and statistics against NumPy: values, dtypes, shapes, warnings, exceptions."""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.functions.reductions import reductions
from gpunumpy.functions.statistics import averages, nanfunctions

from ..support.arrays import from_host, mark_as_array, ndarray, to_host

DTYPES = ("?", "i1", "u8", "f2", "f4", "f8", "c8")
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (7,), (3, 5), (2, 3, 4), (0,), (2, 0, 3), (0, 2, 0))
NAMES = (
    *("sum", "prod", "max", "min", "any", "all", "ptp", "count_nonzero", "argmax", "argmin", "mean", "var", "std"),
    *("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nanargmax", "nanargmin"),
)
# What NumPy says of values, which a lazy result cannot: "Mean of empty slice" for all-NaN slices and the like.
OF_VALUES = ("divide by zero", "invalid value", "overflow", "All-NaN", "Degrees of freedom", "Mean of empty slice")


def function_named(name: str) -> Callable[..., Any]:
    for module in (reductions, averages, nanfunctions):
        if name in module.__all__:
            return getattr(module, name)
    raise LookupError(name)


def sample(shape: tuple[int, ...], dtype: str, seed: int = 0, nans: float = 0.0) -> Any:
    """Numbers of a dtype with repetitions, NaN among them where it has one."""
    rng = numpy.random.default_rng(seed)
    low = 0 if dtype in ("?", "u2", "u8") else -4
    made = rng.integers(low, 5, shape).astype(dtype)
    if made.dtype.kind == "c":
        made = made + (1j * rng.integers(-2, 3, shape)).astype(dtype)
    if made.dtype.kind in "fc" and nans:
        made = numpy.where(rng.random(shape) < nans, made.dtype.type(numpy.nan), made)
    return numpy.asarray(made)


def outcome(function: Callable[[], Any]) -> tuple[Any, set[str]]:
    """The result or the exception's type, and the warnings that are not of values alone."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            made = function()
            if isinstance(made, ndarray):
                made = to_host(made)
        except Exception as error:
            made = type(error) if not isinstance(error, TypeError) else TypeError
    return made, {str(w.message) for w in seen}


def same(got: Any, expected: Any, context: Any = "", like: Any = None) -> None:
    if isinstance(expected, type) or isinstance(got, type):
        assert isinstance(expected, type), (got, expected, context)
        assert isinstance(got, type), (got, expected, context)
        assert issubclass(got, expected), (got, expected, context)
        return
    expected = numpy.asarray(expected)
    assert got.shape == expected.shape, context
    assert got.dtype == expected.dtype, context
    if got.dtype.kind in "fc":
        chars = (got.dtype.char, got.dtype.char if like is None else like.char)
        exact = max({"e": 4e-3, "f": 2e-5, "F": 2e-5}.get(char, 1e-12) for char in chars)
        numpy.testing.assert_allclose(got, expected, rtol=exact, atol=exact, err_msg=str(context))
    else:
        numpy.testing.assert_array_equal(got, expected, err_msg=str(context))


def axes_of(name: str, ndim: int) -> list[Any]:
    single: list[Any] = [None, *range(-ndim, ndim), ndim]
    if "arg" in name:
        return single
    return single + [()] + list(itertools.permutations(range(ndim), 2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_axes_and_shapes(name: str, dtype: str) -> None:
    for number, shape in enumerate(SHAPES):
        data = sample(shape, dtype, number, 0.2 if "nan" in name else 0.0)
        array = from_host(data)
        for axis in axes_of(name, len(shape)):
            for keepdims in (False, True):
                got, said = outcome(lambda: function_named(name)(array, axis=axis, keepdims=keepdims))  # noqa: B023
                expected, warned = outcome(lambda: getattr(numpy, name)(data, axis=axis, keepdims=keepdims))  # noqa: B023
                context = (name, dtype, shape, axis, keepdims)
                same(got, expected, context)
                plain = {m for m in warned if not any(words in m for words in OF_VALUES)}
                if "nan" not in name and not isinstance(expected, type):
                    plain |= {m for m in warned if "Degrees of freedom" in m or "Mean of empty" in m}
                assert said >= plain, context


@pytest.mark.parametrize("dtype", ["f4", "c16", "f2"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "argmax", "argmin", "mean", "var", "ptp"])
def test_nan_is_not_hidden(name: str, dtype: str) -> None:
    data = sample((6, 7), dtype, 3, 0.1)
    for axis in (None, 0, 1):
        with numpy.errstate(invalid="ignore"):
            expected = getattr(numpy, name)(data, axis)
        same(to_host(function_named(name)(from_host(data), axis)), expected, (name, dtype, axis))


@pytest.mark.parametrize("name", NAMES)
def test_layouts(name: str) -> None:
    base = sample((4, 5, 6), "f8", 5)
    for data in (base.T, base[::-1, ::2], base.transpose(1, 0, 2)[1:], numpy.asfortranarray(base)):
        array = from_host(data)
        for axis in (None, 0, 1, 2):
            got = function_named(name)(array, axis)
            same(to_host(got), getattr(numpy, name)(data, axis), (name, axis))


LONG = ("sum", "mean", "var", "std", "argmax", "argmin", "max", "nanmean", "nanvar", "count_nonzero", "all")


@pytest.mark.parametrize("dtype", ["f2", "f4", "i4", "c8"])
@pytest.mark.parametrize("name", LONG)
def test_long_rows(name: str, dtype: str) -> None:
    data = sample((3, 40_000), dtype, 7)
    for axis in (None, 1, 0):
        expected = numpy.asarray(getattr(numpy, name)(data.astype("f8") if dtype == "f2" else data, axis))
        got = to_host(function_named(name)(from_host(data), axis))
        numpy.testing.assert_allclose(got, expected.astype(got.dtype), rtol=2e-3, atol=1e-6)


def test_a_variance_far_from_zero_is_accurate() -> None:
    data = (numpy.random.default_rng(0).standard_normal(100_000) + 1e4).astype("f4")
    expected = data.astype("f8").var()
    assert abs(float(to_host(averages.var(from_host(data)))) - expected) < 1e-4 * expected


PARAMETERS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((name, {"dtype": d}) for name in ("sum", "prod", "mean", "var", "std") for d in ("f4", "f8", "i8", "c16")),
    *((name, {"ddof": d, "axis": 0}) for name in ("var", "std", "nanvar", "nanstd") for d in (1, 0.5, 3, 4)),
    *((name, {"correction": 1}) for name in ("var", "std", "nanvar", "nanstd")),
    *((name, {"correction": 1, "ddof": 1}) for name in ("var", "std")),
    *((name, {"initial": 3, "axis": 1}) for name in ("sum", "prod", "max", "min", "nansum", "nanmax", "nanmin")),
    *((name, {"keepdims": 1, "axis": (0, 1)}) for name in ("sum", "mean", "var", "nanmean")),
    *((name, {"axis": (0, 0)}) for name in ("sum", "mean", "var", "count_nonzero")),
    *((name, {"axis": 1.5}) for name in ("sum", "mean", "argmax")),
)


@pytest.mark.parametrize(("name", "options"), PARAMETERS)
def test_parameters(name: str, options: dict[str, Any]) -> None:
    for dtype in ("?", "i4", "f4", "c8"):
        data = sample((3, 4), dtype, 11)
        got, _ = outcome(lambda: function_named(name)(from_host(data), **options))  # noqa: B023
        expected, _ = outcome(lambda: getattr(numpy, name)(data, **options))  # noqa: B023
        same(got, expected, (name, options, dtype))


MASKED = ("sum", "prod", "any", "all", "mean", "var", "std", "nansum", "nanmean", "nanvar", "nanstd", "nanprod")


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_where(name: str, axis: Any) -> None:
    for dtype in ("i4", "f4", "f8", "c16"):
        data = sample((4, 5), dtype, 13, 0.1 if "nan" in name else 0)
        for mask in (sample((4, 5), "?", 2), sample((5,), "?", 5), [[True], [False], [True], [True]]):
            got, _ = outcome(lambda: function_named(name)(from_host(data), axis, where=mask))  # noqa: B023
            expected, _ = outcome(lambda: getattr(numpy, name)(data, axis, where=numpy.asarray(mask)))  # noqa: B023
            same(got, expected, (name, axis, dtype))
    mask = sample((4, 5), "?", 2)
    data = sample((4, 5), "f8", 14)
    same(
        to_host(function_named(name)(from_host(data), axis, where=from_host(mask))),
        getattr(numpy, name)(data, axis, where=mask),
    )


def test_extremes_with_where_need_a_start() -> None:
    data, mask = sample((4, 5), "f8", 1), sample((4, 5), "?", 2)
    with pytest.raises(ValueError, match="where"):
        reductions.max(from_host(data), 0, where=mask)
    same(to_host(reductions.max(from_host(data), 0, where=mask, initial=-1)), data.max(0, where=mask, initial=-1))


@pytest.mark.parametrize("name", ["mean", "var", "std", "sum", "ptp", "argmax", "any", "nanmean", "nanvar", "nanmax"])
@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "c16", "?"])
def test_out(name: str, kind: str) -> None:
    for dtype, shape in (("f8", (4,)), ("f4", (4,)), ("i4", (4,)), ("f8", (3,)), ("f8", (1, 4))):
        data = sample((3, 4), dtype, 17)
        into, expected_into = mark_as_array(from_host(numpy.zeros(shape, kind))), numpy.zeros(shape, kind)
        expected, _ = outcome(lambda: getattr(numpy, name)(data, axis=0, out=expected_into))  # noqa: B023
        if isinstance(expected, type):
            with pytest.raises(expected):
                function_named(name)(from_host(data), axis=0, out=into)
        else:
            assert function_named(name)(from_host(data), axis=0, out=into) is into
            same(to_host(into), expected_into, (name, dtype, kind, shape), numpy.dtype(dtype))


def test_the_mean_can_be_given() -> None:
    data = sample((3, 4), "f4", 19)
    mean = data.mean(1, keepdims=True)
    for name in ("var", "std", "nanvar", "nanstd"):
        same(
            to_host(function_named(name)(from_host(data), 1, mean=from_host(mean))),
            getattr(numpy, name)(data, 1, mean=mean),
        )


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), (1, 0)])
def test_average(axis: Any) -> None:
    for dtype in ("i4", "f4", "c8"):
        data = sample((3, 4), dtype, 23)
        array = from_host(data)
        same(to_host(averages.average(array, axis)), numpy.average(data, axis))
        weights = numpy.arange(1.0, 13).reshape(3, 4)
        for w in (weights, weights.astype("f4"), weights.astype("i4")):
            shaped = w[0] if axis == 1 else w[:, 0] if axis == 0 else w.T if axis == (1, 0) else w
            got = averages.average(array, axis, from_host(shaped), True)
            for tested, reference in zip(got, numpy.average(data, axis, shaped, True), strict=True):
                same(to_host(tested), reference)
            if axis != (1, 0):
                same(
                    to_host(averages.average(array, axis, w, keepdims=True)),
                    numpy.average(data, axis, w, keepdims=True),
                )


def test_average_refuses() -> None:
    data = from_host(numpy.ones((2, 3)))
    with pytest.raises(ZeroDivisionError):
        averages.average(data, 1, [1.0, -1.0, 0.0])
    with pytest.raises(TypeError):
        averages.average(data, None, [1.0, 2.0])
    with pytest.raises(ValueError):
        averages.average(data, 0, [1.0, 2.0, 3.0])


def test_host_data_is_taken() -> None:
    same(to_host(reductions.sum([[1, 2], [3, 4]], 0)), [4, 6])
    same(to_host(averages.mean([True, False])), 0.5)
    same(to_host(reductions.argmax((1, 5, 2))), 1)
    same(to_host(reductions.max(3.5)), 3.5)


NEGATIVE_ZEROS = {
    "f8": (numpy.full((2, 3), -0.0), numpy.array([[-0.0, 0.0, -0.0], [-0.0, -0.0, 1.0]]), numpy.full((2, 200), -0.0)),
    "f4": (numpy.full((2, 3), -0.0, "f4"),),
    "f2": (numpy.full((2, 3), -0.0, "f2"),),
    "c16": (numpy.full((2, 3), complex(-0.0, -0.0)), numpy.full((2, 3), complex(0.0, -0.0))),
}
STARTS = ({}, *({"initial": start} for start in (-0.0, 0.0, 0, 2.5, None, numpy.array(-0.0), numpy.float32(-0.0))))
SUMS: tuple[Callable[..., Any], ...] = (
    *(lambda np, a, options, axis=axis: np.add.reduce(a, axis, **options) for axis in (None, 0, 1, (0, 1), ())),
    lambda np, a, options: np.sum(a, **options),
    lambda np, a, options: np.nansum(a, 1, **options),
    lambda np, a, options: np.sum(a[:0], 0, **options),
    lambda np, a, options: np.sum(a, 1, where=numpy.array([[True], [False]]), **options),
    lambda np, a, options: np.sum(a, where=False, **options),
)


@pytest.mark.parametrize("options", STARTS, ids=str)
@pytest.mark.parametrize("dtype", NEGATIVE_ZEROS)
def test_sums_of_negative_zeros(dtype: str, options: dict[str, Any]) -> None:
    for number, call in enumerate(SUMS):
        for a in NEGATIVE_ZEROS[dtype]:
            expected = outcome(partial(call, numpy, a, options))[0]
            found = outcome(partial(call, gpunumpy, from_host(a), options))[0]
            if isinstance(expected, type):
                assert found is expected, number
                continue
            for part in ("real", "imag"):
                signs = (numpy.signbit(getattr(result, part)) for result in (found, expected))
                numpy.testing.assert_array_equal(*signs, err_msg=f"{number}: {part} of the sum of {a}")


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean", "std", "var", "any", "all", "nansum", "nanmax"])
def test_no_value_is_as_if_not_given(name: str) -> None:
    """As classes that wrap arrays hand their own defaults on."""
    no_value: Any = getattr(gpunumpy, "_NoValue")  # noqa: B009
    assert no_value is numpy._NoValue
    x, function, reference = numpy.arange(6.0).reshape(2, 3), getattr(gpunumpy, name), getattr(numpy, name)
    names = [key for key in ("keepdims", "initial", "where") if key in inspect.signature(reference).parameters]
    options = dict.fromkeys(names, no_value)
    same(function(gpunumpy.asarray(x), axis=1, **options), reference(x, axis=1, **options))
    if not name.startswith("nan"):
        same(getattr(gpunumpy.asarray(x), name)(axis=1), getattr(x, name)(axis=1))
    same(gpunumpy.add.reduce(gpunumpy.asarray(x), initial=no_value), numpy.add.reduce(x, initial=no_value))
