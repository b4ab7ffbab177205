"""The methods of ufuncs on a real GPU, compared with NumPy: reduce, accumulate, reduceat, at and outer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime.device import Device

from ..support.arrays import from_host, ndarray, to_host

pytestmark = pytest.mark.gpu

# Those that the table reduces, and those that are left folds.
UFUNCS = (
    *("add", "multiply", "maximum", "bitwise_xor", "logical_or", "logaddexp"),
    *("subtract", "divide", "remainder", "power", "left_shift", "equal"),
)
DTYPES = ("?", "i2", "u8", "f2", "f4", "c16")
# NumPy's float16 stands still where the steps of logaddexp are small, gpunumpy carries float32; and chains of powers
# make a last bit that differs large.
UNLIKE = {("logaddexp", "f2"), ("logaddexp", "?"), ("power", "f2"), ("power", "f4"), ("power", "c16")}
PAIRS = [(name, dtype) for name in UFUNCS for dtype in DTYPES if (name, dtype) not in UNLIKE]
TOLERANCE = {"f2": 2e-2, "f4": 1e-4}
SHAPES = (((7,), 0), ((300, 5), 1), ((3, 4, 6), -2))
SEGMENTS = (((9,), 0, [0, 4, 4, 2, 8]), ((2100,), 0, [7]), ((90, 3), -2, [10, 60]))
# An array, and how many of its rows are changed.
CHANGES = (((5,), 40), ((300, 4), 5000))


def sample(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    """Small numbers, whose sums are exact in every dtype and in every order."""
    made = numpy.random.default_rng(seed).integers(1, 4, shape)
    if dtype == "?":
        return made == 1
    return (made * (0.5 + 0.25j if dtype.startswith("c") else 0.5 if dtype.startswith("f") else 1)).astype(dtype)


def put(x: Any) -> ndarray:
    return from_host(x, Device("cuda"))


def outcome(work: Callable[..., Any], *arguments: Any) -> Any:
    """The result, or the kind of the exception."""
    try:
        with numpy.errstate(all="ignore"):
            made = work(*arguments)
        return to_host(made) if isinstance(made, ndarray) else made
    except (TypeError, ValueError) as error:
        return TypeError if isinstance(error, TypeError) else ValueError


def same(got: Any, expected: Any) -> None:
    if isinstance(expected, type):
        assert got is expected
        return
    expected = numpy.asarray(expected)
    assert not isinstance(got, type), f"{got} instead of {expected}"
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    if got.dtype.kind in "biu":
        numpy.testing.assert_array_equal(got, expected)
        return
    rtol, atol = TOLERANCE.get(got.dtype.str[1:], 1e-12), float(numpy.finfo(got.dtype).tiny)
    numpy.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_reduce_and_accumulate(name: str, dtype: str) -> None:
    ufunc, tested = getattr(numpy, name), getattr(np, name)
    for shape, axis in SHAPES:
        a = sample(shape, dtype)
        x = put(a)
        same(outcome(tested.reduce, x, axis), outcome(ufunc.reduce, a, axis))
        same(outcome(tested.reduce, x.T, axis), outcome(ufunc.reduce, a.T, axis))
        same(outcome(tested.accumulate, x, axis), outcome(ufunc.accumulate, a, axis))


@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_reduceat(name: str, dtype: str) -> None:
    ufunc, tested = getattr(numpy, name), getattr(np, name)
    for shape, axis, starts in SEGMENTS:
        a = sample(shape, dtype)
        x = put(a)
        same(outcome(tested.reduceat, x, starts, axis), outcome(ufunc.reduceat, a, starts, axis))
        turned, back = x.T, -1 - axis % a.ndim
        same(outcome(tested.reduceat, turned, starts, back), outcome(ufunc.reduceat, a.T, starts, back))


@pytest.mark.parametrize("name", ["subtract", "divide", "copysign"])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_folds_with_a_start_and_a_mask(shape: tuple[int, ...], axis: int, name: str) -> None:
    a = sample(shape, "f8")
    mask = numpy.random.default_rng(1).random(shape) < 0.3
    want = getattr(numpy, name).reduce(a, axis, initial=-3.0, where=mask)
    same(to_host(getattr(np, name).reduce(put(a), axis, initial=-3.0, where=put(mask))), want)


def test_a_result_that_is_used_at_once() -> None:
    a = sample((300, 40), "f4")
    x = put(a)
    same(to_host(np.subtract.reduce(x * 2, 0) + x[0]), numpy.subtract.reduce(a * 2, 0) + a[0])
    same(to_host(np.subtract.accumulate(x + 1, 1) * 3), numpy.subtract.accumulate(a + 1, 1) * 3)


@pytest.mark.parametrize(("name", "dtype"), [*PAIRS, ("add", "i4"), ("maximum", "f8"), ("fmin", "u4")])
def test_at(name: str, dtype: str) -> None:
    ufunc, tested = getattr(numpy, name), getattr(np, name)
    random = numpy.random.default_rng(2)
    for shape, count in CHANGES:
        where = random.integers(-shape[0], shape[0], count)
        a, b = sample(shape, dtype), sample((count, *shape[1:]), dtype, 1)
        same(outcome(changed, tested.at, put(a), put(where), put(b)), outcome(changed, ufunc.at, a, where, b))


def changed(at: Callable[..., None], a: Any, *arguments: Any) -> Any:
    at(a, *arguments)
    return a


def test_at_gives_the_same_bits_every_time() -> None:
    random = numpy.random.default_rng(3)
    where = put(random.integers(0, 50, 200_000))
    values = random.standard_normal(200_000).astype("f4")
    values[::9] = numpy.nan
    values[1::9] = -0.0
    for ufunc in (np.add, np.maximum, np.fmin):
        found = set()
        for _ in range(3):
            a = put(numpy.zeros(50, "f4"))
            ufunc.at(a, where, put(values))
            found.add(to_host(a).tobytes())
        assert len(found) == 1


@pytest.mark.parametrize("dtype", ["i8", "f8"])
def test_at_out_of_bounds(dtype: str) -> None:
    def work() -> None:
        a = put(numpy.zeros(4, dtype))
        np.add.at(a, put(numpy.array([1, 4])), 1)
        to_host(a)

    with pytest.raises(IndexError):
        work()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UFUNCS)
def test_outer(name: str, dtype: str) -> None:
    ufunc, tested = getattr(numpy, name), getattr(np, name)
    a, b = sample((4, 3), dtype), sample((5,), dtype, 1)
    same(outcome(tested.outer, put(a), put(b)), outcome(ufunc.outer, a, b))
