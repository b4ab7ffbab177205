"""`numpy.emath` beside NumPy, over dtypes, with numbers inside and outside of the domains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np

DTYPES = ("?", "i1", "u1", "i4", "i8", "f2", "f4", "f8", "c8", "c16")
NUMBERS = ([0.25, 1, 0.5], [2, 1, 0], [-1, 0.5, 4], [-3, -0.5, numpy.nan], [numpy.inf, 2, 1], [])
UNARY = ("arccos", "arcsin", "arctanh", "log", "log10", "log2", "sqrt")


def operands(dtype: str) -> Iterator[Any]:
    """Yield NumPy's arrays of a dtype, and a scalar."""
    for numbers in NUMBERS:
        if numpy.dtype(dtype).kind not in "fc":
            numbers = numpy.nan_to_num(numpy.clip(numbers, -100, 100))
        if numpy.dtype(dtype).kind == "u":
            numbers = numpy.abs(numbers)
        yield numpy.array(numbers).astype(dtype)
        yield from numpy.array(numbers).astype(dtype)[:1]


def compare(name: str, *args: Any) -> None:
    with numpy.errstate(all="ignore"):
        try:
            expected = getattr(numpy.emath, name)(*args)
        except ValueError as error:
            with pytest.raises(type(error)):
                getattr(np.emath, name)(*map(np.asarray, args)).get()
            return
        for given in ([np.asarray(x) for x in args], args):
            found = getattr(np.emath, name)(*given)
            assert type(found) is np.ndarray
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            tolerance = 20 * float(numpy.finfo(expected.dtype).eps) if expected.dtype.kind in "fc" else 0
            numpy.testing.assert_allclose(found.get(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
@pytest.mark.filterwarnings("ignore")
def test_one_operand(name: str, dtype: str) -> None:
    np.host_fallback("error")
    for x in operands(dtype):
        compare(name, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", ["i8", "f8", "f4"])
@pytest.mark.parametrize("name", ["logn", "power"])
@pytest.mark.filterwarnings("ignore")
def test_two_operands(name: str, other: str, dtype: str) -> None:
    np.host_fallback("error")
    for x in operands(dtype):
        for y in (2, -2, 3):
            z = numpy.array(y).astype(other)
            compare(name, *((z, x) if name == "logn" else (x, z)))


def test_both_names_and_data_on_the_host() -> None:
    np.host_fallback("ignore")
    assert np.emath.sqrt is np.lib.scimath.sqrt
    assert np.emath.sqrt(-4) == 2j
    assert np.emath.sqrt([1, -4]).tolist() == [1, 2j]
    assert np.emath.sqrt(np.array([4, -4], object)).tolist() == numpy.emath.sqrt(numpy.array([4, -4], object)).tolist()
