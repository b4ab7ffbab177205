"""Distinct elements and membership against NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy
from gpunumpy.core.schedule.steps import RunLibraryCall
from gpunumpy.functions.sorting.row_keys import order_of_rows

from ..core.fusion.counting import kernels
from ..support.arrays import from_host, ndarray, to_host, wrap
from .parity import DTYPES, check, sample

pytestmark = pytest.mark.usefixtures("nothing_runs_on_the_host")

SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (2,), (50,), (5000,), (6, 7), (2, 3, 4), (0,), (3, 0))
FLAGS = ("return_index", "return_inverse", "return_counts")
FLOATS = ("e", "f", "d", "F", "D")
BFLOAT16 = numpy.dtype(ml_dtypes.bfloat16)


def with_nan(dtype: Any, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Few different numbers, NaNs and zeros of both signs among them where the dtype has them."""
    made = numpy.asarray(sample(dtype, shape, seed))
    if made.dtype.kind in "fc":
        rng = numpy.random.default_rng(seed + 7)
        made[rng.random(shape) < 0.2] = numpy.nan
        made[rng.random(shape) < 0.1] *= -0.0
    return made


def names(function: Callable[[], Any]) -> list[str]:
    """What runs to compute an array: the names of library calls, and kernels."""
    return [step.name if isinstance(step, RunLibraryCall) else "kernel" for step in kernels(function)]


def options() -> Iterator[dict[str, bool]]:
    for chosen in itertools.product((False, True), repeat=3):
        yield dict(zip(FLAGS, chosen, strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_unique(dtype: str) -> None:
    for number, shape in enumerate(SHAPES):
        data = sample(dtype, shape, number)
        for flags in options():
            check(gpunumpy.unique, numpy.unique, data, ulp=0, **flags)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("equal_nan", [True, False])
def test_unique_with_nan(dtype: str, equal_nan: bool) -> None:
    for seed, shape in enumerate(((1,), (40,), (5, 6))):
        data = with_nan(dtype, shape, seed)
        for flags in options():
            if flags["return_inverse"] and not equal_nan:
                flags["return_index"] = True  # then NumPy's sort is stable, which tells one NaN from another
            check(gpunumpy.unique, numpy.unique, data, ulp=0, equal_nan=equal_nan, **flags)


def test_any_part_makes_a_complex_number_nan() -> None:
    nan = numpy.nan
    data = numpy.array([complex(nan, 1), complex(1, nan), complex(nan, nan), 1 + 1j, complex(2, nan), 1 + 1j])
    for flags in options():
        if any(flags.values()):  # NumPy's other algorithm keeps another one of the NaNs
            check(gpunumpy.unique, numpy.unique, data, ulp=0, **flags)
    assert to_host(gpunumpy.unique(from_host(data))).size == 2
    check(gpunumpy.unique, numpy.unique, data, ulp=0, equal_nan=False, return_index=True)


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_of_zeros_the_first_one_stays(dtype: str) -> None:
    for data in ([0.0, -0.0, 1.0], [-0.0, 0.0, 1.0], [1.0, -0.0, 0.0]):
        array = numpy.array(data).astype(BFLOAT16 if dtype == "bfloat16" else dtype)
        found = to_host(gpunumpy.unique(from_host(array)))
        zero = next(x for x in array if x == 0)
        assert numpy.signbit(found[:1].astype("D").real) == numpy.signbit(complex(zero).real)
        assert found.size == 2


def test_bfloat16_is_as_float32_of_the_same_numbers() -> None:
    data = with_nan("f", (300,), 5)
    narrow = data.astype(BFLOAT16)
    for flags in options():
        for equal_nan in (True, False):
            flags["return_index"] |= flags["return_inverse"]
            expected = numpy.unique(data, equal_nan=equal_nan, **flags)
            found = gpunumpy.unique(from_host(narrow), equal_nan=equal_nan, **flags)
            if not isinstance(expected, tuple):
                expected, found = (expected,), (found,)
            assert found[0].dtype == BFLOAT16
            for tested, reference in zip(found, expected, strict=True):
                numpy.testing.assert_array_equal(to_host(tested).astype(reference.dtype), reference)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", DTYPES)
def test_unique_along_an_axis(dtype: str) -> None:
    for number, shape in enumerate(((7,), (40, 2), (3, 5), (4, 2, 3), (2, 2, 30), (6, 1), (0, 3), (3, 0), (0, 0))):
        # NumPy puts rows with NaN first where they are of float16, against its own order of float16.
        data = (sample if dtype == "e" else with_nan)(dtype, shape, number)
        for axis in range(-len(shape), len(shape)):
            check(gpunumpy.unique, numpy.unique, data, ulp=0, axis=axis)
            check(gpunumpy.unique, numpy.unique, data, ulp=0, axis=axis, **dict.fromkeys(FLAGS, True))
            check(gpunumpy.unique, numpy.unique, data, ulp=0, axis=axis, return_counts=True, equal_nan=False)


def test_rows_of_many_columns() -> None:
    for dtype in ("?", "u1", "i2", "f"):
        data = sample(dtype, (60, 37), 3, 0, 2)
        data[30:] = data[:30]
        check(gpunumpy.unique, numpy.unique, data, ulp=0, axis=0, **dict.fromkeys(FLAGS, True))


@pytest.mark.parametrize("dtype", [*DTYPES, "i2", "u2", "bfloat16"])
def test_the_order_of_rows(dtype: str) -> None:
    for width in (1, 2, 3, 5, 9, 70):
        wide = with_nan("f" if dtype == "bfloat16" else dtype, (80, width), width)
        wide[:, : width - 1] = wide[0, : width - 1]  # what differs comes late, or in few rows
        wide[::7, width // 2] = wide[1, -1]
        if wide.dtype.kind in "iu":
            wide[::9, 0], wide[::5, width // 2] = numpy.iinfo(wide.dtype).min, numpy.iinfo(wide.dtype).max
        if wide.dtype.kind == "f":
            wide[::9, 0], wide[::5, width // 2] = -numpy.inf, numpy.inf
        rows = from_host(wide.astype(BFLOAT16) if dtype == "bfloat16" else wide).value()
        expected = numpy.lexsort(tuple(wide.T[::-1]))
        assert to_host(wrap(order_of_rows(rows))).tolist() == expected.tolist()


def test_unique_of_views_and_lists() -> None:
    data = sample("i4", (12, 10), 1)
    array = from_host(data)
    for key in ((slice(None, None, 2), slice(1, 8, 3)), (slice(None, None, -1),), (3,), (slice(None), 4)):
        for flags in ({}, dict.fromkeys(FLAGS, True)):
            check(lambda **o: gpunumpy.unique(array[key], **o), lambda **o: numpy.unique(data[key], **o), **flags)  # noqa: B023
    check(lambda: gpunumpy.unique(array.T, axis=1), lambda: numpy.unique(data.T, axis=1))
    check(gpunumpy.unique, numpy.unique, [3, 1, 3])
    check(gpunumpy.unique, numpy.unique, 5, return_inverse=True)


def test_unique_leaves_the_array_alone() -> None:
    array = from_host(numpy.array([3, 1, 2, 1]))
    found = gpunumpy.unique(array)
    found += 1
    assert to_host(array).tolist() == [3, 1, 2, 1]
    single = from_host(numpy.array([7]))
    found = gpunumpy.unique(single)
    found += 1
    assert to_host(single).tolist() == [7]


def test_errors_of_unique() -> None:
    for shape, axis in (((), 0), ((), -1), ((3,), 1), ((2, 2), 2), ((2, 2), -3)):
        check(gpunumpy.unique, numpy.unique, numpy.zeros(shape), axis=axis)
    for bad in (1.5, "0"):
        check(gpunumpy.unique, numpy.unique, numpy.zeros((2, 2)), axis=bad)
    with pytest.raises(TypeError):
        gpunumpy.unique([1], False, False, False, None, True)


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse", "unique_values"])
def test_the_forms_of_the_standard(name: str) -> None:
    for dtype, shape in itertools.product(DTYPES, ((), (30,), (5, 4), (0,))):
        # Without NaNs where NumPy's sort, which is not stable, would tell them apart.
        data = (sample if name == "unique_inverse" else with_nan)(dtype, shape, 3)
        tested = getattr(gpunumpy, name)(from_host(data))
        reference = getattr(numpy, name)(data)
        if name == "unique_values":
            reference = numpy.sort(reference)  # in any order there
            tested, reference = (tested,), (reference,)
        else:
            assert tested._fields == reference._fields
            assert type(tested).__name__ == type(reference).__name__
        check(lambda: tuple(tested), lambda: tuple(reference), ulp=0)  # noqa: B023


def test_how_many_kernels_make_a_set() -> None:
    """The sort, the mask of the first ones, where tiles of what it picks begin, and what it picks."""
    array = from_host(sample("i4", (9000,), 1))
    assert names(lambda: gpunumpy.unique(array)) == ["sort", "kernel", "mask_offsets", "mask_elements"]
    counted = names(lambda: gpunumpy.unique(array, return_counts=True))
    assert counted == ["sort", "kernel", "mask_offsets", "mask_positions", "kernel", "kernel"]
    pairs = from_host(sample("i4", (9000, 2), 1))
    assert names(lambda: gpunumpy.unique(pairs, axis=0)).count("argsort") == 1


# --- membership -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [None, "sort", "table"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_isin(dtype: str, kind: str | None) -> None:
    for number, (shape, size) in enumerate(itertools.product(((), (70,), (5, 6), (0,)), (0, 1, 3, 9, 100))):
        element, tests = with_nan(dtype, shape, number), with_nan(dtype, (size,), number + 50)[: size // 2 + 1]
        for invert in (False, True):
            check(gpunumpy.isin, numpy.isin, element, tests, invert=invert, kind=kind)


@pytest.mark.parametrize("kind", [None, "sort", "table"])
def test_isin_of_two_dtypes(kind: str | None) -> None:
    for tested, reference in itertools.product(DTYPES, repeat=2):
        for size in (3, 40):
            element, tests = sample(tested, (60,), 1, -20, 40), sample(reference, (size,), 2, -20, 40)
            check(gpunumpy.isin, numpy.isin, element, tests, kind=kind)


def test_isin_of_integers_at_the_ends_of_their_range() -> None:
    for tested, reference in itertools.product(("i1", "u1", "i4", "u4", "i8", "u8"), repeat=2):
        ends = [numpy.iinfo(t) for t in (tested, reference)]
        element = numpy.array([ends[0].min, ends[0].min + 1, 1, ends[0].max - 1, ends[0].max], tested)
        near = [ends[1].max - k for k in range(12)]
        for tests in (near, [ends[1].min], [ends[1].min + k for k in range(12)], [1, 2, ends[1].max]):
            expected = [int(e) in tests for e in element]
            for kind in (None, "sort", "table"):
                if kind == "table" and max(tests) - min(tests) > ends[1].max // 2:
                    continue
                found = gpunumpy.isin(from_host(element), from_host(numpy.array(tests, reference)), kind=kind)
                assert to_host(found).tolist() == expected, (tested, reference, tests, kind)


def test_isin_takes_any_array() -> None:
    data = sample("i4", (6, 8), 1)
    array = from_host(data)
    check(lambda: gpunumpy.isin(array[::2, 1:], array[1, ::-2]), lambda: numpy.isin(data[::2, 1:], data[1, ::-2]))
    check(gpunumpy.isin, numpy.isin, [1, 2, 3], [[2, 5]])
    check(gpunumpy.isin, numpy.isin, 2, 2)
    check(gpunumpy.isin, numpy.isin, data, data[0], True)


@pytest.mark.parametrize(
    "tests", [None, [None], ["a"], "a", pytest.param(object(), id="object"), [None, 1.0], {1}, [2**70, 1]], ids=repr
)
def test_isin_what_is_like_no_number(tests: Any) -> None:
    for data in (numpy.arange(4.0), numpy.ones((2, 3), "i4")):
        for options in ({}, {"invert": True}, {"assume_unique": True}):
            check(gpunumpy.isin, numpy.isin, data, tests, **options)
    assert isinstance(gpunumpy.isin(gpunumpy.arange(3), tests), ndarray)


def test_errors_of_isin() -> None:
    one, tests = numpy.array([1]), numpy.array([1])
    check(gpunumpy.isin, numpy.isin, one, tests, kind="quick")
    check(gpunumpy.isin, numpy.isin, one.astype("f"), tests, kind="table")
    check(gpunumpy.isin, numpy.isin, one, numpy.array([-128, 127], "i1"), kind="table")


# --- set operations -------------------------------------------------------------------------------------------------

NAMES = ("intersect1d", "setdiff1d", "setxor1d", "union1d")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_set_operations(name: str, dtype: str) -> None:
    for number, (first, second) in enumerate(itertools.product(((), (30,), (4, 5), (0,)), ((), (12,), (3, 20), (0,)))):
        a, b = with_nan(dtype, first, number), with_nan(dtype, second, number + 20)
        check(getattr(gpunumpy, name), getattr(numpy, name), a, b, ulp=0)
        if name == "intersect1d":
            check(gpunumpy.intersect1d, numpy.intersect1d, a, b, ulp=0, return_indices=True)


@pytest.mark.parametrize("name", NAMES[:3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_of_arrays_without_equal_elements(name: str, dtype: str) -> None:
    for seed in range(3):
        rng = numpy.random.default_rng(seed)
        a, b = (rng.permutation(numpy.unique(sample(dtype, (40,), seed + k, -8, 8))) for k in (0, 9))
        check(getattr(gpunumpy, name), getattr(numpy, name), a, b, True, ulp=0)
        if name == "intersect1d":
            check(gpunumpy.intersect1d, numpy.intersect1d, a, b, True, True, ulp=0)


@pytest.mark.parametrize("name", NAMES)
def test_set_operations_of_two_dtypes(name: str) -> None:
    for tested, reference in itertools.product(DTYPES, repeat=2):
        a, b = sample(tested, (30,), 1), sample(reference, (20,), 2)
        check(getattr(gpunumpy, name), getattr(numpy, name), a, b, ulp=0)
    check(getattr(gpunumpy, name), getattr(numpy, name), [1, 2, 2], [2.5, 1])


@pytest.mark.parametrize("name", [*NAMES, "isin"])
def test_bfloat16_in_set_operations(name: str) -> None:
    a, b = with_nan("f", (40,), 1), with_nan("f", (30,), 2)
    found = to_host(getattr(gpunumpy, name)(*(from_host(x.astype(BFLOAT16)) for x in (a, b))))
    numpy.testing.assert_array_equal(found.astype("f"), getattr(numpy, name)(a, b).astype("f"))


@pytest.mark.usefixtures("limited")
def test_how_many_kernels_look_for_elements() -> None:
    a, b = from_host(sample("i4", (9000,), 1)), from_host(sample("i4", (100,), 2))
    assert names(lambda: gpunumpy.isin(a, b)) == ["sort", "searchsorted", "kernel"]
    assert names(lambda: gpunumpy.isin(a, [1, 2], invert=True)) == ["kernel"]
    both = ["sort", "sort", "searchsorted", "kernel", "mask_offsets", "mask_elements"]
    assert names(lambda: gpunumpy.intersect1d(a, b)) == both
    assert names(lambda: gpunumpy.setdiff1d(a, b)) == both
