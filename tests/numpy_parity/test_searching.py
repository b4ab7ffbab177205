"""Searching sorted arrays against NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy as np

from ..support.arrays import from_host, ndarray
from .parity import DTYPES, check, outcome, same, sample

ALL = (*DTYPES, "i2", "u2", ml_dtypes.bfloat16)
SIDES = ("left", "right")


@pytest.fixture(autouse=True)
def _nothing_on_the_host() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def ordered(dtype: Any, n: int, seed: int = 0) -> Any:
    """Sorted numbers with duplicates, and NaN at the end; without NaN those of bfloat16, which NumPy cannot sort."""
    made = sample(dtype, (n,), seed)
    if made.dtype.kind == "c" and n > 6:
        made[:5] = [complex(numpy.nan, 1), complex(1, numpy.nan), complex(2, numpy.nan), numpy.inf, -numpy.inf]
    elif made.dtype.kind == "f" and n > 6:
        made[:5] = [numpy.nan, numpy.nan, numpy.inf, -numpy.inf, -0.0]
    return numpy.sort(made)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("dtype", ALL)
def test_searchsorted(dtype: Any, side: str) -> None:
    for n in (0, 1, 9, 40):
        for shape in ((), (0,), (30,), (3, 5)):
            values = ordered(dtype, 30, 3) if shape == (30,) else sample(dtype, shape, 5)
            check(np.searchsorted, numpy.searchsorted, ordered(dtype, n), values, side)


@pytest.mark.parametrize("one", DTYPES)
@pytest.mark.parametrize("two", DTYPES)
def test_types_of_two_kinds(one: str, two: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numpy.exceptions.ComplexWarning)
        check(np.searchsorted, numpy.searchsorted, numpy.sort(sample(one, (20,), 1)), sample(two, (20,), 2), "right")


def test_large_integers() -> None:
    a = numpy.array([0, 2**60, 2**60 + 1, 2**63 - 1])
    for values in (a, a.astype("u8"), a.astype("d"), numpy.array([2**63], "u8")):
        check(np.searchsorted, numpy.searchsorted, a, values)


def test_python_values() -> None:
    a = numpy.array([0.1, 0.5, 2.0], "f4")
    for value in (0.1, 1, True, 1j, numpy.float64(0.1), [0.1, 7], [], 300):
        check(np.searchsorted, numpy.searchsorted, a, value, side="right")
        check(np.searchsorted, numpy.searchsorted, a.astype("i1"), value)


def test_integers_that_no_dtype_holds() -> None:
    for dtype in ("?", "i1", "i8", "u8"):
        for value in (2**64, 2**70, -(2**63) - 1, -(10**400)):
            for side in ("left", "right"):
                check(np.searchsorted, numpy.searchsorted, numpy.array([0, 1, 1], dtype), value, side)


def test_views() -> None:
    a, values = numpy.sort(sample("d", (40,), 1)), sample("d", (6, 8), 2)
    for model in (a[::2], a[3:9], numpy.broadcast_to(a[:1], (5,))):
        for looked in (values.T, values[::2, ::-1], values[1:3, 2]):
            check(np.searchsorted, numpy.searchsorted, model, looked)
    tested, looked = from_host(a), from_host(values)
    same(
        np.asnumpy(np.searchsorted((tested * 2)[3:30:2], (looked + 1)[1:, 2:])),
        numpy.searchsorted((a * 2)[3:30:2], (values + 1)[1:, 2:]),
    )


def test_method() -> None:
    a = numpy.arange(9.0)
    same(np.asnumpy(from_host(a).searchsorted([3, 4.5], side="right")), a.searchsorted([3, 4.5], side="right"))
    same(np.asnumpy(from_host(a).searchsorted(v=2)), a.searchsorted(v=2))


WRONG: tuple[tuple[Any, ...], ...] = (
    *(([[1, 2]], 1), (1, 1), ([1, 2], 1, "x"), ([1, 2], 1, "l"), ([1, 2], 1, 0), ([1, 2], 1, None)),
    *(([1, 2, 3], 2, "left", s) for s in ([0, 1], [0.0, 1, 2], [[0, 1, 2]], [True] * 3, numpy.arange(3, dtype="u8"))),
    *(([3, 2, 5], [2, 9], "left", s) for s in ([1, 0, 3], [1, 0, -1])),
)


@pytest.mark.parametrize("args", WRONG, ids=repr)
def test_errors(args: tuple[Any, ...]) -> None:
    reference = outcome(lambda: numpy.searchsorted(*args))
    tested = outcome(lambda: np.searchsorted(*args))
    assert type(tested) is type(reference)
    assert str(tested) == str(reference)


@pytest.mark.parametrize("dtype", ["i1", "i8", "u4"])
def test_sorter(dtype: str) -> None:
    for kind in ("i4", "d", "D"):
        a = sample(kind, (25,), 4)
        sorter = numpy.argsort(a, kind="stable").astype(dtype)
        for given in (sorter, sorter.tolist()):
            check(np.searchsorted, numpy.searchsorted, a, sample(kind, (9,), 5), "right", given)
    check(np.searchsorted, numpy.searchsorted, numpy.zeros(0), [1.0], "left", numpy.zeros(0, dtype))


@pytest.mark.on_device
@pytest.mark.parametrize("wrong", [3, -1])
def test_sorter_on_the_device_out_of_bounds(wrong: int) -> None:
    found = np.searchsorted(np.asarray([3, 2, 5]), [2, 9], sorter=np.asarray([1, 0, wrong]))
    with pytest.raises(IndexError, match="test_searching"):
        np.asnumpy(found)


BINS: tuple[Any, ...] = (
    *([1, 2, 5], [5, 2, 1], [1, 1, 2, 2], [2, 2, 1], [3], [], [4, 4, 4], [1, 2, numpy.nan]),
    *([numpy.nan], [numpy.nan, 1, 2], [1, 3, 2], [2, 1, 3], [1, numpy.nan, 2, 1], [[1, 2]], 1, [1j, 2], [True, False]),
)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("bins", BINS, ids=repr)
def test_digitize(bins: Any, right: bool) -> None:
    for x in (numpy.array([0.5, 1, 1.5, 2, 5, 9, numpy.nan]), numpy.arange(6).reshape(2, 3), numpy.array(2.0)):
        check(np.digitize, numpy.digitize, x, bins, right)
        check(np.digitize, numpy.digitize, x, numpy.asarray(bins), right)


@pytest.mark.parametrize("right", [False, True])
def test_digitize_in_bins_that_are_not_sorted(right: bool) -> None:
    """NumPy takes [1, NaN] for decreasing; what it finds comes of its way of searching, which the CPU device shares."""
    with np.Device("cpu"):
        check(np.digitize, numpy.digitize, numpy.array([0.5, 1, 1.5, 2, 5, 9, numpy.nan]), [1, numpy.nan], right)


@pytest.mark.parametrize("dtype", ALL)
def test_digitize_dtypes(dtype: Any) -> None:
    check(np.digitize, numpy.digitize, sample(dtype, (4, 5), 1), [-1.0, 0, 2.5])
    bins = numpy.array([0, 1, 2]).astype(dtype)
    check(np.digitize, numpy.digitize, numpy.array([0.5, 1, 2]), bins)


def test_results_are_ours() -> None:
    assert isinstance(np.searchsorted([1, 2], 1), ndarray)
    assert int(np.searchsorted([1, 2], 2)) == 1
