"""The elementwise functions that are no ufuncs."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy.functions.ufuncs import elementwise
from gpunumpy.kernels.special import host

from ..support.arrays import from_host, to_host
from .parity import DTYPES, check, on_host, outcome, same, sample, to_gpunumpy

FLOATS = ("e", "f", "d", "F", "D")
SPECIAL = [0.0, -0.0, 1.5, -2.5, numpy.inf, -numpy.inf, numpy.nan, 1e30]


def special(dtype: str) -> Any:
    values = numpy.array(SPECIAL)
    with numpy.errstate(all="ignore"):
        made = values + 1j * values[::-1] if dtype in "FD" else values
        return made.astype(dtype)


def parity(name: str, *args: Any, ulp: float = 4, **options: Any) -> None:
    check(getattr(elementwise, name), getattr(numpy, name), *args, ulp=ulp, **options)


UNARY = ["fix", "nan_to_num", "angle", "real_if_close", "iscomplex", "isreal", "sinc", "real", "imag", "i0"]
UNARY += ["isposinf", "isneginf", "iscomplexobj", "isrealobj", "round", "around"]


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    for dtype in DTYPES:
        parity(name, sample(dtype, (3, 4)), ulp=32)
        parity(name, sample(dtype, ()), ulp=32)
    for dtype in FLOATS:
        if name not in ("i0", "sinc"):
            parity(name, special(dtype))
    for value in (3, 2.5, 1 + 2j, [1, 2.5], numpy.float32(1.5)):
        parity(name, value, ulp=32)


CLIPS: list[tuple[Any, ...]] = [
    (2, 5),
    (None, 3),
    (1, None),
    (None, None),
    (1.5, 4),
    (-300, 300),
    (-300, 2),
    (numpy.array([0, 1, 2, 3]), 3.5),
    (numpy.float32(1), numpy.int8(3)),
    (5, 2),
]


@pytest.mark.parametrize("bounds", CLIPS, ids=str)
def test_clip(bounds: tuple[Any, ...]) -> None:
    for dtype in DTYPES:
        parity("clip", sample(dtype, (3, 4)), *bounds)
    parity("clip", numpy.array([numpy.nan, numpy.inf, 2]), *bounds[:2])


def test_clip_arguments() -> None:
    x = sample("i4", (3, 4))
    for options in (
        {"min": 1},
        {"max": 2},
        {"min": 1, "max": 2},
        {},
        {"a_min": 1, "a_max": 3},
        {"a_min": 0, "a_max": 3, "min": 1},
        {"a_max": 0},
        {"min": 1.5, "out": numpy.zeros((3, 4), "i4")},
        {"min": 1, "out": numpy.zeros((3, 4))},
        {"min": 1, "max": 3, "dtype": "f4"},
        {"min": 1, "max": 3, "where": x > 2, "out": numpy.zeros((3, 4), int)},
    ):
        parity("clip", x, **options)
    parity("clip", x, 1, a_max=3)
    tested = from_host(x)
    # The standard has these, NumPy's function alone does not.
    same(to_host(elementwise.clip(tested, 2)), x.clip(2))
    same(to_host(elementwise.clip(tested, 1, max=3)), x.clip(1, 3))
    same(to_host(tested.clip(1, 3)), x.clip(1, 3))  # type: ignore[attr-defined]
    same(to_host(tested.clip(max=3)), x.clip(max=3))  # type: ignore[attr-defined]


@pytest.mark.parametrize("decimals", [0, 1, 2, -1, -2, 1.5])
def test_round(decimals: Any) -> None:
    for dtype in DTYPES:
        x = (sample(dtype, (3, 5), 1, 0, 50) * numpy.dtype(dtype).type(2)).astype(dtype)
        parity("round", x, decimals)
    parity("round", numpy.array([0.125, 1.005, 2.675, -1234.5, numpy.inf, numpy.nan]), decimals)
    parity("round", numpy.array([15.5, 2.25]), decimals, out=numpy.zeros(2, "f4"))
    parity("round", numpy.array([15.5, 2.25]), decimals, out=numpy.zeros(2, "i4"))


@pytest.mark.parametrize("decimals", [308, 309, -309])
def test_round_to_more_decimals_than_numbers_have(decimals: int) -> None:
    for dtype in "efdFD":  # a NaN has no one integer in NumPy
        parity("round", sample(dtype, (3, 5), 1, 0, 50), decimals)


def test_where() -> None:
    condition = numpy.array([[True], [False]])
    for x in (sample("i4", (3,)), 2, 0.5, numpy.float32(1), [1, 2, 3]):
        for y in (sample("f4", (2, 3)), sample("u1", (3,)), 1, 1j, numpy.ones(4)):
            for c in (condition, condition.astype(int), True, [0.0, 1.0, numpy.nan]):
                reference = outcome(lambda c=c, x=x, y=y: numpy.where(c, x, y))
                found = outcome(
                    lambda c=c, x=x, y=y: on_host(elementwise.where(to_gpunumpy(c), to_gpunumpy(x), to_gpunumpy(y)))
                )
                same(found, reference, what=f"where({c}, {x}, {y})")
    for c, x, y in ((condition, numpy.ones((2, 1), "u1"), 300), (True, numpy.ones(2, "i1"), -1)):
        same(
            outcome(lambda c=c, x=x, y=y: on_host(elementwise.where(to_gpunumpy(c), to_gpunumpy(x), y))),
            outcome(lambda c=c, x=x, y=y: numpy.where(c, x, y)),
        )


def test_nan_to_num() -> None:
    for dtype in FLOATS:
        x = special(dtype)
        for options in (
            {"nan": 7},
            {"posinf": 3, "neginf": -3},
            {"nan": numpy.arange(8.0)},
            {"nan": numpy.float64(2.5), "posinf": 1},
        ):
            parity("nan_to_num", x, **options)
        tested = from_host(x)
        assert elementwise.nan_to_num(tested, copy=False) is tested
        same(to_host(tested), numpy.nan_to_num(x))
    ints = from_host(numpy.arange(3))
    assert elementwise.nan_to_num(ints, copy=False) is ints
    assert elementwise.nan_to_num(ints) is not ints


def test_real_and_imag_are_views() -> None:
    for dtype in ("F", "D"):
        data = sample(dtype, (3, 4))
        tested = from_host(data)
        tested.real[1] = 7  # type: ignore[attr-defined]
        tested.T.imag[:2] += 1 if hasattr(tested, "T") else 0
        data.real[1] = 7
        data.T.imag[:2] += 1 if hasattr(tested, "T") else 0
        same(to_host(tested), data)
        tested.real = [1, 2, 3, 4]  # type: ignore[attr-defined]
        tested.imag = 5  # type: ignore[attr-defined]
        data.real = [1, 2, 3, 4]
        data.imag = 5
        same(to_host(tested), data)
        assert tested.real.strides == data.real.strides  # type: ignore[attr-defined]
    real = from_host(numpy.arange(3.0))
    assert elementwise.real(real) is real
    with pytest.raises(TypeError):
        real.imag = 1  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="read-only"):
        real.imag[0] = 1  # type: ignore[attr-defined]


def test_isclose() -> None:
    a = numpy.array([1.0, 1.0 + 1e-9, numpy.nan, numpy.inf, -numpy.inf, 0, 1e10, 1])
    b = numpy.array([1.0, 1.0, numpy.nan, numpy.inf, numpy.inf, 1e-9, 1.00001e10, 1.1])
    for options in ({}, {"equal_nan": True}, {"rtol": 0.2}, {"atol": 1, "rtol": 0}, {"atol": numpy.arange(8.0)}):
        for x, y in ((a, b), (a, 1), (1, b), (a.astype("f4"), b), (a[:, None], b), (numpy.arange(8), b), (b, b)):
            parity("isclose", x, y, **options)
            parity("allclose", x, y, **options)
    parity("isclose", numpy.array([-128, 127], "i1"), numpy.array([-128, -127], "i1"))
    parity("isclose", 1, 1)
    below_one = float(numpy.nextafter(1, 0))  # it is 1 in float32, the dtype that Python's numbers take beside one
    for b, tolerances in ((below_one, (0, 0)), (2, (below_one / 2, 0)), (2, (numpy.float64(below_one / 2), 0))):
        parity("isclose", numpy.array(1, "f4"), b, *tolerances)
    parity("isclose", True, False)
    parity("isclose", numpy.array([True]), numpy.array([False]))
    with pytest.warns(RuntimeWarning):
        elementwise.isclose(1.0, 2.0, rtol=float("nan"))


def test_equality_of_arrays() -> None:
    nan = numpy.array([1, numpy.nan])
    for x, y in (
        ([1, 2], [1, 2]),
        ([1, 2], [1, 3]),
        ([1, 2], [1, 2, 3]),
        (nan, nan.copy()),
        ([1], [[1, 1]]),
        ([[1], [2]], [1, 2]),
        (numpy.ones(0), numpy.ones(0)),
        (numpy.array([1 + 1j * numpy.nan]), numpy.array([numpy.nan + 1j])),
    ):
        for name in ("array_equal", "array_equiv"):
            assert getattr(elementwise, name)(x, y) is getattr(numpy, name)(x, y), (name, x, y)
        assert elementwise.array_equal(x, y, equal_nan=True) is numpy.array_equal(x, y, equal_nan=True)


@pytest.mark.parametrize(
    "other",
    [
        None,
        "a",
        ["a"] * 3,
        [None] * 3,
        pytest.param(object(), id="object"),
        [[1], [1, 2]],
        numpy.array([0, 1, 2], object),
    ],
    ids=repr,
)
def test_equality_with_what_is_no_array_of_numbers(other: Any) -> None:
    data = numpy.arange(3.0)
    for name in ("array_equal", "array_equiv"):
        tested, reference = getattr(elementwise, name), getattr(numpy, name)
        for x, y in ((data, other), (other, data), (other, other)):
            assert tested(*(from_host(a) if a is data else a for a in (x, y))) is reference(x, y)


def test_angle_in_degrees() -> None:
    for dtype in ("F", "D", "f", "i4"):
        parity("angle", sample(dtype, (3, 4)), deg=True, ulp=8)


def test_real_if_close() -> None:
    parity("real_if_close", numpy.array([1 + 1e-14j, 2]))
    parity("real_if_close", numpy.array([1 + 1e-14j, 2]), tol=1)
    parity("real_if_close", numpy.array([1 + 1e-3j, 2]), tol=0.1)


def test_outputs_of_isposinf() -> None:
    parity("isposinf", numpy.array([numpy.inf, -numpy.inf, 1]), numpy.zeros(3, "i4"))
    parity("isneginf", numpy.array([numpy.inf, -numpy.inf, 1]), out=numpy.zeros(3, bool))


def test_i0_and_sinc_over_their_range() -> None:
    x = numpy.concatenate([numpy.linspace(-30, 30, 201), [100, 500, 700, -709]])
    parity("i0", x, ulp=64)
    parity("i0", x[:200].astype("f4"), ulp=8)
    for dtype in "efd":
        parity("i0", special(dtype), ulp=64)
    numpy.testing.assert_allclose(to_host(elementwise.sinc(x)), numpy.sinc(x), 1e-13, 1e-16)


def test_i0_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "scipy_function", lambda name: None)
    parity("i0", numpy.linspace(-30, 30, 1237))  # a size that no program before has


@pytest.mark.parametrize(
    "options", [{}, {"axis": 0}, {"discont": 5.0}, {"period": 5}, {"period": 4}, {"axis": 2}], ids=str
)
def test_unwrap(options: dict[str, Any]) -> None:
    for dtype in ("d", "f", "i4", "u1"):
        parity("unwrap", sample(dtype, (3, 6), 1, 0, 40) * numpy.dtype(dtype).type(3), ulp=64, **options)
    parity("unwrap", numpy.array([0, numpy.pi, 0, -numpy.pi, 0]), **options)
    parity("unwrap", 1.0, **options)
