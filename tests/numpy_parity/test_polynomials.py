"""The polynomial functions of NumPy's main namespace, beside NumPy; nothing of them runs on the host."""

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
    """A function that runs through NumPy raises."""
    np.host_fallback("error")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numpy.exceptions.RankWarning)
        yield
    np.host_fallback("warn")


C = {
    "two": numpy.array([2.0, -3.0]),
    "four": numpy.array([1.5, -2, 0.5, 3]),
    "leading zero": numpy.array([0, 0, 1.5, 2]),
    "trailing zero": numpy.array([2, 1, -3, 0, 0.0]),
    "one": numpy.array([4.0]),
    "zeros": numpy.zeros(3),
    "none": numpy.zeros(0),
    "complex": numpy.array([1 + 2j, 0, -1j, 3]),
    "integers": numpy.array([1, -6, 11, -6]),
    "float32": numpy.array([1, -2.5, 3], "f"),
}
PAIRS = [(name, other) for name in C for other in C]


@pytest.mark.parametrize("name", ["polyadd", "polysub", "polymul", "polydiv"])
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_arithmetic(name: str, one: str, other: str) -> None:
    check(getattr(np, name), getattr(numpy, name), C[one], C[other], ulp=32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["polyadd", "polysub", "polymul", "polydiv"])
def test_arithmetic_of_dtypes(name: str, dtype: str) -> None:
    one = numpy.array(1, dtype)
    check(getattr(np, name), getattr(numpy, name), sample(dtype, (5,)), abs(sample(dtype, (3,), 1)) + one, ulp=128)
    check(getattr(np, name), getattr(numpy, name), [1.0, 2, 3, 4], abs(sample(dtype, (3,), 1)) + one, ulp=128)


@pytest.mark.parametrize("p", C.values(), ids=C)
@pytest.mark.parametrize("m", [0, 1, 2, 5, -1])
def test_calculus(m: int, p: Any) -> None:
    check(np.polyder, numpy.polyder, p, m)
    check(np.polyint, numpy.polyint, p, m)
    check(np.polyint, numpy.polyint, p, m, 2)
    check(np.polyint, numpy.polyint, p, m, numpy.array([1.5, 3]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_calculus_of_dtypes(dtype: str) -> None:
    check(np.polyder, numpy.polyder, sample(dtype, (5,)), 2)
    check(np.polyint, numpy.polyint, sample(dtype, (5,)), 2, k=1)


@pytest.mark.parametrize("p", C.values(), ids=C)
def test_values(p: Any) -> None:
    for x in (numpy.linspace(-2, 2, 6).reshape(2, 3), 1.5, 2, numpy.float32(0.5), [1, 2], numpy.array([numpy.inf, 1])):
        check(np.polyval, numpy.polyval, p, x)
        check(np.polyval, numpy.polyval, p.tolist(), x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_of_dtypes(dtype: str) -> None:
    for other in ("i4", "f", "D"):
        check(np.polyval, numpy.polyval, sample(dtype, (4,)), sample(other, (3, 2)))
        check(np.polyval, numpy.polyval, sample(other, (4,)), sample(dtype, (3, 2)))
    check(np.polyval, numpy.polyval, sample(dtype, (4, 2)), sample("f", (3, 2)))


@pytest.mark.on_device
@pytest.mark.parametrize("on_device", [True, False])
def test_values_are_one_kernel(on_device: bool) -> None:
    x, p = np.linspace(0, 1, 1000), numpy.arange(12.0)
    coefficients = np.asarray(p) if on_device else p
    assert len(kernels(lambda: np.polyval(coefficients, x))) == 1


@pytest.mark.parametrize("p", C.values(), ids=C)
def test_roots(p: Any) -> None:
    check(lambda p: np.sort(np.roots(p)), lambda p: numpy.sort(numpy.roots(p)), p, ulp=64)


def test_the_order_of_roots() -> None:
    for p in ([1, 0, -1], [1.0, -6, 11, -6], [2, 0, 0, -2], [1, 2, 0, 0]):
        check(np.roots, numpy.roots, p, ulp=64)


def test_roots_of_other_dimensions() -> None:
    check(np.roots, numpy.roots, numpy.ones((2, 2)))
    assert np.roots(np.asarray(3.0)).shape == (0,)  # NumPy dispatches by the elements, and refuses a single one
    assert np.poly(np.asarray(2)).tolist() == [1, -2]


ZEROS = {
    **{name: C[name] for name in ("four", "none", "complex", "integers", "float32", "zeros")},
    "conjugates": numpy.array([1 + 2j, 3, 1 - 2j]),
    "matrix": numpy.array([[1, 2], [3, 4.0]]),
    "rows": numpy.ones((2, 3)),
    "half": numpy.array([1, 2], "e"),
}


@pytest.mark.parametrize("zeros", ZEROS.values(), ids=ZEROS)
def test_poly(zeros: Any) -> None:
    check(np.poly, numpy.poly, zeros, ulp=32)


FIT: dict[str, Any] = {
    "plain": {},
    "full": {"full": True},
    "weights": {"w": numpy.linspace(1, 2, 9)},
    "tolerance": {"rcond": 1e-3, "full": True},
    "weights of another length": {"w": numpy.ones(3)},
    "matrix of weights": {"w": numpy.ones((9, 1))},
    "covariance": {"cov": True},
    "covariance, unscaled": {"cov": "unscaled", "w": numpy.linspace(1, 2, 9)},
}
X = numpy.linspace(-1, 2, 9)


@pytest.mark.parametrize("dtype", ["d", "f", "i4"])
@pytest.mark.parametrize("options", FIT.values(), ids=FIT)
def test_fit(options: dict[str, Any], dtype: str) -> None:
    y = (numpy.sin(X) * 5).astype(dtype)
    for deg in (0, 1, 3):
        check(np.polyfit, numpy.polyfit, X.astype(dtype), y, deg, ulp=1e5, **options)
        columns = numpy.stack([y, y * y], 1)
        check(np.polyfit, numpy.polyfit, X, columns, deg, ulp=1e5, **options)


BAD_FITS = (
    (X, X, -1),
    (X, X[:3], 1),
    (X.reshape(3, 3), X, 1),
    (X[:0], X[:0], 1),
    (X, numpy.ones((9, 1, 1)), 1),
    (X, X, "a"),
)


@pytest.mark.parametrize("args", BAD_FITS)
def test_refused_fits(args: Any) -> None:
    check(np.polyfit, numpy.polyfit, *args)


def test_too_few_points() -> None:
    check(np.polyfit, numpy.polyfit, X[:2], X[:2], 1, cov=True)
    with pytest.warns(numpy.exceptions.RankWarning, match="poorly conditioned"):
        np.polyfit(np.ones(4), np.ones(4), 2)


def test_what_holds_a_poly1d_is_a_poly1d() -> None:
    p = numpy.poly1d([1, 2])
    for name in ("polyadd", "polymul", "polysub"):
        result = getattr(np, name)(p, np.asarray([1.0, 3]))
        assert isinstance(result, numpy.poly1d)
        assert result == getattr(numpy, name)(p, [1.0, 3])
    assert np.polyval(p, np.arange(3)).tolist() == [2, 3, 4]
    assert isinstance(np.polyder(p), numpy.poly1d)
    assert np.polyval([1, 0], p) == p
