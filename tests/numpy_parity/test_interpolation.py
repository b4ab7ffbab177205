"""Interpolation, windows, functions along axes and bits, beside NumPy; nothing of them runs on the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core._native import IS_COMPILED

from ..core.fusion.counting import kernels
from .parity import DTYPES, check, sample

INF, NAN = numpy.inf, numpy.nan


@pytest.fixture(autouse=True)
def nothing_on_the_host() -> Iterator[None]:
    """A function that runs through NumPy raises."""
    np.host_fallback("error")
    yield
    np.host_fallback("warn")


# --- interp ---------------------------------------------------------------------------------------------------------

X = numpy.array([-1, 0, 0.5, 1, 1.5, 2.75, 3, 4, 5, NAN, INF, -INF])
POINTS = numpy.array([0, 1, 1.5, 3, 4.0])
SAMPLES: dict[str, Any] = {
    "real": numpy.array([3, 1, -2, 8, 5.5]),
    "complex": numpy.array([3 + 1j, 1, -2j, 8 - 3j, 5.5]),
    "infinite": numpy.array([3, INF, INF, -INF, 5]),
    "infinite, complex": numpy.array([3, INF, INF + 1j, -INF, complex(5, NAN)]),
    "integers": numpy.array([3, 1, 4, 1, 5]),
    "NaN": numpy.array([3, NAN, 4, 1, 5]),
}
INTERP: dict[str, Any] = {
    "plain": {},
    "left": {"left": -7},
    "right": {"right": numpy.float32(9.5)},
    "both, of arrays": {"left": numpy.array(1.5), "right": numpy.array(2)},
    "period": {"period": 2.5},
    "negative period": {"period": -3, "left": 4},
    "no period": {"period": 0},
    "left is complex": {"left": 2j},
    "left is text": {"left": "a"},
    "left is a vector": {"left": numpy.ones(2)},
}


@pytest.mark.parametrize("options", INTERP.values(), ids=INTERP)
@pytest.mark.parametrize("samples", SAMPLES.values(), ids=SAMPLES)
def test_interp(samples: Any, options: dict[str, Any]) -> None:
    x = X if "period" not in options else X[:9]
    check(np.interp, numpy.interp, x, POINTS, samples, **options)
    check(np.interp, numpy.interp, x[:8].reshape(2, 4), POINTS.tolist(), samples, **options)


@pytest.mark.parametrize("dtype", DTYPES)
def test_interp_of_dtypes(dtype: str) -> None:
    x, points = sample(dtype, (3, 4)), numpy.arange(5).astype(dtype)
    check(np.interp, numpy.interp, x, numpy.arange(5), sample(dtype, (5,), 1))
    check(np.interp, numpy.interp, numpy.arange(5), points, sample(dtype, (5,), 1))


ODD_INTERP = (
    (numpy.array([1, 2, NAN]), [2], [5.0]),
    (numpy.array([1, 2, NAN]), [2], [5.0j]),
    (numpy.array([1.0]), [], []),
    (numpy.array([1.0]), [1, 2], [1]),
    (numpy.array([1.0]), [[1, 2]], [1, 2]),
    (numpy.array([1.0]), numpy.ones((2, 2)), [1, 2]),
    (numpy.array([1.0]), 1, 1),
    (numpy.empty((0, 3)), [1, 2], [3, 4]),
    (numpy.empty((0, 3)), [], []),
    (numpy.empty(0), [], [3, 4]),
    (numpy.empty(0), [], [], None, None, 2.5),
    (2.5, numpy.array([1, 3]), numpy.array([1, 2])),
    (numpy.array(2.5), numpy.array([1, 3]), numpy.array([1, 2j])),
    (numpy.array([0.5, 1.5]), [0, 1, 1, 2], [0, 1, 2, 3]),
)


@pytest.mark.parametrize("args", ODD_INTERP)
def test_interp_of_unusual_arguments(args: tuple[Any, ...]) -> None:
    check(np.interp, numpy.interp, *args)


def test_interp_reports_no_floating_point_errors() -> None:
    with np.errstate(all="raise"):
        check(np.interp, numpy.interp, X, POINTS, SAMPLES["infinite"])


@pytest.mark.on_device
@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("name", ["real", "complex"])
def test_interp_is_a_search_and_a_kernel(name: str) -> None:
    x, points, samples = (np.asarray(a) for a in (X, POINTS, SAMPLES[name]))
    assert len(kernels(lambda: np.interp(x, points, samples))) == 2


@pytest.mark.parametrize("name", ["left", "right"])
def test_complex_scalars_beyond_the_ends(name: str) -> None:
    x = np.array([-5.0, 5.0])
    for value in (numpy.complex128(2 + 1j), numpy.complex64(2), np.array([2 + 1j])[0]):
        with pytest.warns(numpy.exceptions.ComplexWarning):
            found = np.interp(x, [0, 1], [0.0, 1], **{name: value})
        assert numpy.asarray(found).tolist() == ([2, 1] if name == "left" else [0, 2])
    for value in (2j, np.array(2j), numpy.array(2j)):
        with pytest.raises(TypeError):
            np.interp(x, [0, 1], [0.0, 1], **{name: value})


def test_interp_of_a_scalar_is_a_scalar() -> None:
    assert np.isscalar(np.interp(2.5, np.arange(4.0), np.arange(4.0))) == np.isscalar(np.sum(np.arange(3)))


# --- windows --------------------------------------------------------------------------------------------------------

LENGTHS = (-1, 0, 1, 2, 3, 12, 51, 4.5, numpy.int8(7), True)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows(name: str, length: Any) -> None:
    check(getattr(np, name), getattr(numpy, name), length)
    check(getattr(np, name), getattr(numpy, name), numpy.array(length))


@pytest.mark.parametrize("beta", [0, 1.5, 14, -3.0, numpy.array(8.6)])
@pytest.mark.parametrize("length", [0, 1, 2, 12, 51])
def test_kaiser(length: int, beta: Any) -> None:
    check(np.kaiser, numpy.kaiser, length, beta, ulp=16)


def test_kaiser_of_a_complex_number() -> None:
    check(np.kaiser, numpy.kaiser, 5, 1j)


# --- functions along axes -------------------------------------------------------------------------------------------

ALONG: dict[str, Any] = {
    "vector to scalar": lambda row: row.sum(),
    "vector to vector": lambda row: row[::-1] * 2,
    "longer": lambda row: row.repeat(2),
    "matrix": lambda row: row[:, None] * row[None, :2],
    "constant": lambda row: 3,
    "list": lambda row: [1, 2.5],
    "arguments": lambda row, k=1, *, by=1: row * k + by,
}


def along(np_: Any, function: Any, axis: int) -> Any:
    """``apply_along_axis`` as a function of the array alone."""
    return lambda x: np_.apply_along_axis(function, axis, x)


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (0, 3), (2, 0, 3)])
@pytest.mark.parametrize("function", ALONG.values(), ids=ALONG)
def test_apply_along_axis(function: Any, shape: tuple[int, ...]) -> None:
    for axis in range(-len(shape), len(shape) + 1):
        for dtype in ("i4", "f"):
            check(along(np, function, axis), along(numpy, function, axis), sample(dtype, shape))


def test_apply_along_axis_passes_arguments_on() -> None:
    def call(np_: Any, x: Any) -> Any:
        return np_.apply_along_axis(ALONG["arguments"], 0, x, 3, by=5)

    check(lambda x: call(np, x), lambda x: call(numpy, x), sample("f", (3, 4)))


def test_later_results_have_the_dtype_of_the_first() -> None:
    def function(row: Any) -> Any:
        return row if float(row[0]) < 2 else row + 0.5

    a = numpy.array([[1, 2], [3, 4]])
    check(along(np, function, 1), along(numpy, function, 1), a)


def test_a_vector_along_an_axis_is_a_view() -> None:
    def zero_first(row: Any) -> Any:
        row[0] = 0
        return row.sum()

    tested, reference = np.ones((2, 3)), numpy.ones((2, 3))
    np.apply_along_axis(zero_first, 0, tested)
    numpy.apply_along_axis(zero_first, 0, reference)
    assert np.asnumpy(tested).tolist() == reference.tolist()


@pytest.mark.skipif(not IS_COMPILED, reason="the core in Python moves no arrays")
@pytest.mark.parametrize("axis", [0, 1])
def test_a_large_array_stays_on_the_host_for_many_small_vectors(axis: int) -> None:
    seen: list[str] = []
    before = np.set_residence("auto")
    try:
        with np.Device("cpu"):
            x = np.ones((700, 700))
            x += 1
            for _ in range(3):
                found = np.apply_along_axis(lambda row: (seen.append(row.residence), row.sum())[1], axis, x)
                assert found.tolist() == [1400.0] * 700
    finally:
        np.set_residence(before)
    assert seen[0] == "device"
    assert set(seen[700:]) == {"host"}


@pytest.mark.parametrize("axes", [0, -1, [0, 2], (1,), numpy.array([2, 0]), 5])
def test_apply_over_axes(axes: Any) -> None:
    a = sample("d", (2, 3, 4))
    check(lambda x: np.apply_over_axes(np.sum, x, axes), lambda x: numpy.apply_over_axes(numpy.sum, x, axes), a)
    bad = lambda x, axis: x[0, 0]  # noqa: E731
    check(lambda x: np.apply_over_axes(bad, x, axes), lambda x: numpy.apply_over_axes(bad, x, axes), a)


# --- bits -----------------------------------------------------------------------------------------------------------

SHAPES = ((), (1,), (8,), (17,), (3, 9), (2, 3, 16), (0,), (0, 5), (5, 0))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_packbits(dtype: str, shape: tuple[int, ...]) -> None:
    a = sample(dtype, shape)
    for axis in (None, *range(-len(shape), len(shape) + 1)):
        for bitorder in ("big", "little"):
            check(np.packbits, numpy.packbits, a, axis=axis, bitorder=bitorder)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [None, 0, 3, 8, 21, 200, -1, -5, -9999])
def test_unpackbits(count: Any, shape: tuple[int, ...]) -> None:
    if 0 in shape and count and count > 0:
        return  # NumPy does not set the bits that it adds to none
    a = numpy.random.default_rng(0).integers(0, 256, shape).astype("u1")
    for axis in (None, *range(-len(shape), len(shape) + 1)):
        for bitorder in ("big", "little"):
            check(np.unpackbits, numpy.unpackbits, a, axis=axis, count=count, bitorder=bitorder)


@pytest.mark.on_device
def test_bits_added_to_none_are_zeros() -> None:
    assert np.unpackbits(np.zeros((0, 5), "u1"), 0, 3).tolist() == [[0] * 5] * 3


def test_bits_of_wrong_arguments() -> None:
    a = numpy.arange(8, dtype="u1")
    for options in ({"bitorder": "x"}, {"bitorder": 3}, {"axis": 1.5}):
        check(np.packbits, numpy.packbits, a, **options)
        check(np.unpackbits, numpy.unpackbits, a, **options)
    check(np.unpackbits, numpy.unpackbits, a.astype("i4"))
    check(np.unpackbits, numpy.unpackbits, a, count=1.5)
