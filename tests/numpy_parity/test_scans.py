"""Running sums and products, differences, derivatives, integrals and convolutions against NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.functions import calculus
from gpunumpy.functions.reductions import scans
from gpunumpy.functions.statistics import nanfunctions

from ..support.arrays import from_host, mark_as_array, to_host
from .test_reduction import outcome, same, sample

DTYPES = ("?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16")
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (7,), (3, 5), (2, 3, 4), (0,), (3, 0))


def function_named(name: str) -> Any:
    return next(getattr(m, name) for m in (scans, calculus, nanfunctions) if name in m.__all__)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "name", ["cumsum", "cumprod", "cumulative_sum", "cumulative_prod", "nancumsum", "nancumprod", "diff"]
)
def test_axes_and_shapes(name: str, dtype: str) -> None:
    for number, shape in enumerate(SHAPES):
        data = sample(shape, dtype, number, 0.2 if "nan" in name else 0.0)
        for axis in (None, *range(-len(shape), len(shape) + 1)):
            got, _ = outcome(lambda: function_named(name)(from_host(data), axis=axis))  # noqa: B023
            expected, _ = outcome(lambda: getattr(numpy, name)(data, axis=axis))  # noqa: B023
            same(got, expected, (name, dtype, shape, axis))


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cumulative_sum", "cumulative_prod"])
def test_dtype_and_out(name: str) -> None:
    data = numpy.abs(sample((3, 4), "i4", 1))
    for dtype in ("i2", "f4", "f8", "c8"):
        same(
            to_host(function_named(name)(from_host(data), axis=1, dtype=dtype)),
            getattr(numpy, name)(data, axis=1, dtype=dtype),
        )
        into, host = mark_as_array(from_host(numpy.zeros((3, 4), dtype))), numpy.zeros((3, 4), dtype)
        expected, _ = outcome(lambda: getattr(numpy, name)(data, axis=1, out=host))  # noqa: B023
        got, _ = outcome(lambda: function_named(name)(from_host(data), axis=1, out=into))  # noqa: B023
        same(got, expected, (name, dtype))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_the_first_elements_keep_their_bits(name: str, dtype: str) -> None:
    """No element is what an operation leaves all complex numbers alone with: 1 times an infinity has a NaN."""
    special = (0.0, -0.0, 1.0, -2.5, numpy.inf, numpy.nan)
    firsts = [complex(*parts) for parts in itertools.product(special, repeat=2)] if dtype[0] == "c" else special
    data = numpy.array([[first, 1.5] for first in firsts], dtype)
    for rows in (data, data[:, :1]):
        with numpy.errstate(all="ignore"):
            expected = getattr(numpy, name)(rows, axis=1)
        got = to_host(function_named(name)(from_host(rows), axis=1))
        numpy.testing.assert_array_equal(got, expected)
        numbers = expected.view(expected.real.dtype)
        is_number = ~numpy.isnan(numbers)
        numpy.testing.assert_array_equal(
            numpy.signbit(got.view(numbers.dtype))[is_number], numpy.signbit(numbers)[is_number]
        )


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_the_initial_value(name: str) -> None:
    for dtype, shape in itertools.product(("?", "i1", "f4"), ((4,), (3, 4), (0,), ())):
        data = sample(shape, dtype, 3)
        axis = len(shape) - 1 if shape else None
        got = function_named(name)(from_host(data), axis=axis, include_initial=True)
        expected = getattr(numpy, name)(data, axis=axis, include_initial=True)
        same(to_host(got), expected, (name, dtype, shape))
        into = mark_as_array(from_host(numpy.zeros(expected.shape, expected.dtype)))
        assert function_named(name)(from_host(data), axis=axis, include_initial=True, out=into) is into
        same(to_host(into), expected)


@pytest.mark.parametrize("n", [0, 1, 2, 5, -1])
def test_higher_differences(n: int) -> None:
    for dtype in ("?", "u1", "f4"):
        data = sample((3, 4), dtype, 5)
        for options in ({}, {"prepend": 1}, {"append": data[:, :2]}, {"prepend": 0, "append": 2.5}, {"axis": 0}):
            got, _ = outcome(lambda: calculus.diff(from_host(data), n, **options))  # noqa: B023
            expected, _ = outcome(lambda: numpy.diff(data, n, **options))  # noqa: B023
            same(got, expected, (n, dtype, options))


def test_ediff1d() -> None:
    for dtype, shape in itertools.product(("i4", "f4"), ((5,), (2, 3), (1,), (0,), ())):
        data = sample(shape, dtype, 6)
        for options in ({}, {"to_begin": 1}, {"to_end": [3, 4]}, {"to_begin": [1, 2], "to_end": 9}, {"to_end": 1.5j}):
            got, _ = outcome(lambda: calculus.ediff1d(from_host(data), **options))  # noqa: B023
            expected, _ = outcome(lambda: numpy.ediff1d(data, **options))  # noqa: B023
            same(got, expected, (dtype, shape, options))


X = numpy.array([0.0, 1.0, 1.5, 4.0, 4.5])


@pytest.mark.parametrize("edge_order", [1, 2, 3])
def test_gradient(edge_order: int) -> None:
    cases: tuple[tuple[Any, tuple[Any, ...], Any], ...] = (
        *((sample((5,), d, 7), (), None) for d in ("i4", "u1", "f4", "f8", "c8", "f2")),
        *((sample((5, 5), "f4", 8), v, None) for v in ((), (2.0,), (0.5, 3), (X, 2.0), (X, X), (X,), (1, 2, 3))),
        *((sample((5, 5), "f8", 9), (X.astype(d),), 1) for d in ("f4", "f8")),
        *((sample((5, 5), "f8", 9), v, 0) for v in ((numpy.arange(5.0),), (numpy.arange(5),), (X[:4],), (X[None],))),
        *((sample((5, 5), "f8", 9), (), axis) for axis in (0, -1, (1, 0), 2)),
        *((sample((n,), "f8", 9), (), None) for n in (0, 1, 2, 3)),
    )
    for data, steps, axis in cases:
        got, _ = outcome(lambda: calculus.gradient(from_host(data), *steps, axis=axis, edge_order=edge_order))  # noqa: B023
        expected, _ = outcome(lambda: numpy.gradient(data, *steps, axis=axis, edge_order=edge_order))  # noqa: B023
        if isinstance(expected, tuple):
            for tested, reference in zip(got, expected, strict=True):
                same(to_host(tested), reference, (data.dtype, steps, axis))
        else:
            same(got, expected, (data.dtype, steps, axis))


def test_gradient_over_equal_distances_passes_infinities_as_numpy() -> None:
    data = numpy.array([1.0, numpy.inf, 3.0, 4.0])
    with numpy.errstate(invalid="ignore"):
        same(to_host(calculus.gradient(from_host(data), numpy.arange(4.0))), numpy.gradient(data, numpy.arange(4.0)))


def test_trapezoid() -> None:
    for dtype, axis in itertools.product(("i4", "f4", "c8"), (0, 1, -1)):
        y = sample((5, 5), dtype, 10)
        array = from_host(y)
        same(to_host(calculus.trapezoid(array, axis=axis)), numpy.trapezoid(y, axis=axis))
        same(to_host(calculus.trapezoid(array, dx=0.5, axis=axis)), numpy.trapezoid(y, dx=0.5, axis=axis))
        same(to_host(calculus.trapezoid(array, X, axis=axis)), numpy.trapezoid(y, X, axis=axis))
        x = numpy.cumsum(numpy.ones((5, 5)), axis)
        same(to_host(calculus.trapezoid(array, from_host(x), axis=axis)), numpy.trapezoid(y, x, axis=axis))


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", ["full", "same", "valid", 1, "no"])
def test_convolution(name: str, mode: Any) -> None:
    for (n, m), dtype in itertools.product(
        ((5, 3), (3, 5), (4, 4), (8, 4), (4, 1), (0, 2), (2, 0)), ("?", "i1", "f4", "c16")
    ):
        a, v = sample((n,), dtype, n), sample((m,), dtype, m + 9)
        got, _ = outcome(lambda: getattr(calculus, name)(from_host(a), from_host(v), mode))  # noqa: B023
        expected, _ = outcome(lambda: getattr(numpy, name)(a, v, mode))  # noqa: B023
        same(got, expected, (name, mode, n, m, dtype))
    same(
        to_host(getattr(calculus, name)([1, 2, 3], [0, 1, 0.5], "full")),
        getattr(numpy, name)([1, 2, 3], [0, 1, 0.5], "full"),
    )


_LAID_OUT = {
    "transposed": lambda np: np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
    "computed in another order": lambda np: np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1) + 1,
    "strided": lambda np: np.arange(24.0).reshape(2, 3, 4)[::-1, :, ::2],
    "of integers": lambda np: np.arange(24).reshape(4, 6).T,
    "of one value": lambda np: np.ones((3, 2)).T,
    "empty": lambda np: np.zeros((0, 2)).T,
}


@pytest.mark.parametrize("row", ["add", "multiply", "maximum", "subtract"])
@pytest.mark.parametrize("make", [pytest.param(f, id=name) for name, f in _LAID_OUT.items()])
def test_results_lie_in_memory_as_the_array(make: Callable[[Any], Any], row: str) -> None:
    reference, tested = make(numpy), make(gpunumpy)
    for axis in range(reference.ndim):
        expected = getattr(numpy, row).accumulate(reference, axis)
        found = getattr(gpunumpy, row).accumulate(tested, axis)
        numpy.testing.assert_array_equal(gpunumpy.asnumpy(found), expected)
        assert not expected.size or found.strides == expected.strides
        into = gpunumpy.empty(reference.shape, expected.dtype)
        assert getattr(gpunumpy, row).accumulate(tested, axis, out=into) is into
        numpy.testing.assert_array_equal(gpunumpy.asnumpy(into), expected)
