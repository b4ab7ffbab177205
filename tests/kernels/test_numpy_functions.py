"""Functions that are NumPy's own on the CPU device: one library call each, and under a limit of memory none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy
from gpunumpy.core.schedule.steps import RunKernel, RunLibraryCall
from gpunumpy.kernels.histogram import host as host_histogram

from ..core.fusion.counting import kernels
from ..support.arrays import to_host

# What is computed of a matrix, and the library call.
CASES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "a convolution": (lambda np, a: np.convolve(a[0], a[1, :9]), "correlate"),
    "a convolution in place": (lambda np, a: np.convolve(a[1, ::-2], a[0], "same"), "correlate"),
    "a correlation": (lambda np, a: np.correlate(a[:, 0], a[1, 3:5]), "correlate"),
    "a correlation with a longer one": (lambda np, a: np.correlate(a[1, 3:9], a[:, 0], "full"), "correlate"),
    "packed bits": (lambda np, a: np.packbits(a != 0), "packbits"),
    "packed bits of columns": (lambda np, a: np.packbits((a != 0)[:, ::3], 0, "little"), "packbits"),
    "bits": (lambda np, a: np.unpackbits(np.packbits(a != 0)), "unpackbits"),
    "some bits": (lambda np, a: np.unpackbits(np.packbits(a != 0, 1), 1, -5, "little"), "unpackbits"),
    "more bits": (lambda np, a: np.unpackbits(np.packbits(a != 0).T, count=1000), "unpackbits"),
    "a border": (lambda np, a: np.pad(a, 2, "edge"), "pad"),
    "a border along an axis": (lambda np, a: np.pad(a[::2, 3:], ((0, 0), (5, 1)), "reflect"), "pad"),
    "a border of several copies": (lambda np, a: np.pad(a[:3, :4], ((7, 0), (9, 14)), "symmetric"), "pad"),
    "a border in another order": (lambda np, a: np.pad(a.T, ((50, 2), (1, 40)), "wrap"), "pad"),
    "a border of one element": (lambda np, a: np.pad(a[:1, 5], 3, "reflect"), "pad"),
    "a partition": (lambda np, a: np.partition(a, 7)[:, 7], "partition"),
    "a partition at several positions": (lambda np, a: np.partition(a, (3, -2), None)[[3, -2]], "partition"),
    "a partition of columns": (lambda np, a: np.partition(a[:, ::2], 4, 0)[4], "partition"),
    "positions of a partition": (
        lambda np, a: np.take_along_axis(a, np.argpartition(a, 5, 0), 0)[5],
        "argpartition",
    ),
}


def written(function: Callable[..., None], a: Any, *args: Any) -> Any:
    """A copy of an array that a function has written to."""
    copy = a.copy()
    function(copy, *args)
    return copy


CASES |= {
    "elements among others": (lambda np, a: np.isin(a.T, a[0, :20]), "isin"),
    "elements among none of few": (lambda np, a: np.isin(a[::2], a[3, 4:6] * 0 + 20, invert=True), "isin"),
    "an interpolation": (lambda np, a: np.interp(abs(a[:4]), [0, 2, 5, 7], a[1, :4]), "interp"),
    "an interpolation with ends": (lambda np, a: np.interp(abs(a.T), [2, 5, 7], a[2, 4:7], 3, -5), "interp"),
    "an interpolation in a period": (lambda np, a: np.interp(abs(a[0]), [2, 5, 7], a[1, 4:7], period=4), "interp"),
    "elements repeated": (lambda np, a: np.repeat(a[:, ::2], 2), "repeat"),
    "elements of rows repeated": (lambda np, a: np.repeat(a.T, 5, 1), "repeat"),
    "short rows repeated": (lambda np, a: np.repeat(a[:, :3], 4, 0), "repeat"),
    "a repeated expression": (lambda np, a: np.repeat((a == 2)[..., None], 3, -1), "repeat"),
    "values at a mask": (lambda np, a: written(np.place, a, a != 3, a[0]), "place"),
    "few values at a mask of columns": (lambda np, a: written(np.place, a.T, a.T == 2, a[3, :2]), "place"),
    "values repeated": (lambda np, a: written(np.putmask, a, a != 3, a[:, 1]), "putmask"),
    "values of another order repeated": (lambda np, a: written(np.putmask, a.T, a.T != 3, a[3, ::-2]), "putmask"),
}
DTYPES = ("?", "i1", "u8", "i4", "f2", ml_dtypes.bfloat16, "f4", "f8", "c8", "c16")


def same(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype
    wide = [numpy.asarray(x, "c16" if expected.dtype.kind == "c" else "f8") for x in (to_host(found), expected)]
    numpy.testing.assert_allclose(*wide, rtol=1e-6, atol=1e-6)


def sample(dtype: Any) -> Any:
    """A matrix with equal elements, and with NaN if there is one."""
    rng = numpy.random.default_rng(5)
    data = rng.integers(0, 9, (17, 42)).astype(dtype)
    if data.dtype.kind in "fc":
        data[3, 4] = data[5, 6] = numpy.nan
    return data


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, dtype: Any) -> None:
    call, _ = CASES[name]
    data = sample(dtype)
    is_small_float = data.dtype == ml_dtypes.bfloat16
    if is_small_float and "partition" in name:
        data[3, 4] = data[5, 6] = 1  # NumPy does not put its NaN last
    expected = call(numpy, data)
    same(call(gpunumpy, gpunumpy.asarray(data, device="cpu")), expected)


def calls(name: str, data: Any) -> list[str]:
    """The names of the library calls of a case."""
    array = gpunumpy.asarray(data, device="cpu")
    return [step.name for step in kernels(lambda: CASES[name][0](gpunumpy, array)) if isinstance(step, RunLibraryCall)]


@pytest.mark.parametrize("name", CASES)
def test_library_calls(name: str) -> None:
    assert calls(name, sample("f4")).count(CASES[name][1]) == 1


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("name", CASES)
def test_kernels_under_a_limit(name: str) -> None:
    """They compute in slabs what a whole call has no room for."""
    data = sample("f4")
    call, library_call = CASES[name]
    assert library_call not in calls(name, data)
    same(call(gpunumpy, gpunumpy.asarray(data, device="cpu")), call(numpy, data))


@pytest.mark.usefixtures("limited")
def test_a_filter_of_an_expression_is_one_kernel_under_a_limit() -> None:
    """As on a GPU, where the filter is short."""
    array = gpunumpy.asarray(sample("f4"), device="cpu")
    (step,) = kernels(lambda: gpunumpy.convolve(array[0] * 2, array[1, :3], "valid") + 1)
    assert isinstance(step, RunKernel)


def test_as_many_values_as_elements_are_one_kernel() -> None:
    data = sample("f4")
    array, mask, values = (gpunumpy.asarray(x, device="cpu") for x in (data, data > 3, data.ravel() + 1))
    (step,) = kernels(lambda: (gpunumpy.putmask(array, mask, values), array)[1])
    assert isinstance(step, RunKernel)
    numpy.putmask(data, data > 3, data.ravel() + 1)
    same(array, data)


@pytest.mark.parametrize("name", ["partition", "argpartition"])
def test_many_positions_are_a_sort(name: str) -> None:
    array = gpunumpy.asarray(sample("f4"), device="cpu")
    (step,) = kernels(lambda: getattr(gpunumpy, name)(array, range(20)))
    assert isinstance(step, RunLibraryCall)
    assert step.name == name.replace("partition", "sort")


def test_a_partition_for_every_position_is_one_plan() -> None:
    data = numpy.random.default_rng(1).permutation(64)
    array = gpunumpy.asarray(data, device="cpu")
    for k in (3, 40, -1, 3):
        found = to_host(gpunumpy.partition(array, k))
        assert found[k] == numpy.sort(data)[k]
        assert (found[:k] <= found[k]).all()


def test_what_is_written_later_is_not_read() -> None:
    data = sample("f4")
    array = gpunumpy.asarray(data, device="cpu")
    filtered, bits = gpunumpy.convolve(array[0], array[1]), gpunumpy.packbits(array > 3)
    array[:] = 0
    same(filtered, numpy.convolve(data[0], data[1]))
    same(bits, numpy.packbits(data > 3))


@pytest.mark.parametrize("count", [None, 2**19, 2**19 - 5, -3, 2**19 + 11])
def test_bits_of_several_blocks(count: int | None) -> None:
    data = numpy.random.default_rng(2).integers(0, 256, 2**16, "u1")
    same(gpunumpy.unpackbits(gpunumpy.asarray(data, device="cpu"), count=count), numpy.unpackbits(data, count=count))


def least_squares(np: Any, a: Any, b: Any) -> Any:
    return np.linalg.lstsq(a, b, 1e-9)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "i4"])
@pytest.mark.parametrize("rank", [1, 5])
def test_least_squares(dtype: str, rank: int) -> None:
    """In one library call, whose rank the host reads."""
    rng = numpy.random.default_rng(3)
    a = (rng.integers(-9, 9, (300, rank)) @ rng.integers(-9, 9, (rank, 5))).astype(dtype)
    b = rng.integers(0, 9, (300, 2)).astype(dtype)
    found = least_squares(gpunumpy, *(gpunumpy.asarray(x, device="cpu") for x in (a, b)))
    for tested, expected in zip(found, least_squares(numpy, a, b), strict=True):
        value = to_host(tested) if isinstance(tested, gpunumpy.ndarray) else tested
        assert value.dtype == expected.dtype
        numpy.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-4)


def test_least_squares_are_one_library_call() -> None:
    a, b = (gpunumpy.asarray(numpy.random.default_rng(4).random((9, n)), device="cpu") for n in (3, 1))
    steps = kernels(lambda: least_squares(gpunumpy, a, b)[0])
    assert [step.name for step in steps if isinstance(step, RunLibraryCall)] == ["lstsq"]


@pytest.mark.usefixtures("limited")
def test_least_squares_under_a_limit() -> None:
    a, b = (gpunumpy.asarray(numpy.random.default_rng(4).random((9, n)), device="cpu") for n in (3, 1))
    steps = kernels(lambda: least_squares(gpunumpy, a, b)[0])
    assert "lstsq" not in [step.name for step in steps if isinstance(step, RunLibraryCall)]


def test_least_squares_that_do_not_converge() -> None:
    a = numpy.full((5, 2), numpy.nan)
    with pytest.raises(numpy.linalg.LinAlgError, match="SVD did not converge in Linear Least Squares"):
        least_squares(gpunumpy, gpunumpy.asarray(a, device="cpu"), gpunumpy.ones(5, device="cpu"))


TRANSFORMS = {
    **dict.fromkeys(("rfft", "ihfft", "rfftn"), ("f4", "f8", "i4")),
    **dict.fromkeys(("fft", "ifft", "irfft", "hfft", "fftn", "ifftn"), ("c8", "f8", "c16")),
}


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize(("name", "dtype"), [(name, dtype) for name, dtypes in TRANSFORMS.items() for dtype in dtypes])
def test_transforms_with_their_factors(name: str, dtype: str, norm: str | None) -> None:
    """They have NumPy's bits: it computes single precision in double precision where there is no factor."""
    data = numpy.random.default_rng(7).integers(-99, 99, (6, 35)).astype(dtype)
    expected = getattr(numpy.fft, name)(data, norm=norm)
    array = gpunumpy.asarray(data, device="cpu")
    found = getattr(gpunumpy.fft, name)(array, norm=norm)
    assert found.dtype == expected.dtype
    numpy.testing.assert_array_equal(to_host(found), expected)


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_a_factor_under_a_limit(norm: str | None) -> None:
    data = numpy.nan_to_num(sample("c8"))
    found = gpunumpy.fft.ifft(gpunumpy.asarray(data, device="cpu"), norm=norm)
    same(found, numpy.fft.ifft(data, norm=norm))


ORDER_STATISTICS: dict[str, Callable[[Any, Any], Any]] = {
    "median": lambda np, a: np.median(a),
    "median of rows": lambda np, a: np.median(a, -1),
    "median of columns": lambda np, a: np.median(a, 0),
    "percentile": lambda np, a: np.percentile(a, 30, -1),
    "quantiles": lambda np, a: np.quantile(a, [0.1, 0.5, 1], -1, method="hazen"),
    "elements": lambda np, a: np.quantile(a, [0, 0.7], -1, method="nearest"),
    "median of numbers": lambda np, a: np.nanmedian(a),
    "medians of numbers": lambda np, a: np.nanmedian(a, -1),
    "percentile of numbers": lambda np, a: np.nanpercentile(a[1], 30),
    "quantiles of numbers": lambda np, a: np.nanquantile(a, [[0.1, 0.5]], None, method="weibull"),
    "many quantiles of numbers": lambda np, a: np.nanquantile(a[0], numpy.linspace(0, 1, 20)),
    "many quantiles": lambda np, a: np.quantile(a, numpy.linspace(0, 1, 20), -1),
}


@pytest.mark.parametrize("has_nan", [False, True])
@pytest.mark.parametrize("dtype", ["i4", "u1", "f2", "f4", "f8"])
@pytest.mark.parametrize("name", ORDER_STATISTICS)
def test_order_statistics_of_long_rows(name: str, dtype: str, has_nan: bool) -> None:
    data = numpy.random.default_rng(8).integers(0, 200, (2, 9001)).astype(dtype)
    if has_nan and data.dtype.kind == "f":
        data[1, 77] = data[1, 500:4000] = numpy.nan
    call = ORDER_STATISTICS[name]
    with numpy.errstate(all="ignore"):
        expected = numpy.asarray(call(numpy, data))
    found = call(gpunumpy, gpunumpy.asarray(data, device="cpu"))
    assert found.dtype == expected.dtype
    numpy.testing.assert_array_equal(to_host(found), expected)


def test_order_statistics_of_long_rows_are_partitions() -> None:
    array = gpunumpy.asarray(numpy.random.default_rng(9).random((2, 9000), "f4"), device="cpu")
    for name, call in ORDER_STATISTICS.items():
        steps = kernels(lambda call=call: call(gpunumpy, array))  # type: ignore[misc]
        is_sort = name == "median of columns" or name.startswith(("many", "medians of"))
        named = [step.name for step in steps if isinstance(step, RunLibraryCall)]
        assert named == ["sort" if is_sort else "partition"]


@pytest.mark.filterwarnings("ignore:All-NaN slice encountered:RuntimeWarning")
@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_numbers_in_a_long_row(count: int) -> None:
    data = numpy.full(9000, numpy.nan)
    data[5 : 5 + count] = numpy.arange(count)
    array = gpunumpy.asarray(data, device="cpu")
    same(gpunumpy.nanmedian(array), numpy.nanmedian(data))
    same(gpunumpy.nanquantile(array, [0, 0.4, 1]), numpy.nanquantile(data, [0, 0.4, 1]))


@pytest.mark.usefixtures("limited")
def test_order_statistics_under_a_limit() -> None:
    data = numpy.random.default_rng(9).random((2, 9000), "f4")
    array = gpunumpy.asarray(data, device="cpu")
    steps = kernels(lambda: gpunumpy.median(array, -1))
    assert "partition" not in [step.name for step in steps if isinstance(step, RunLibraryCall)]
    same(gpunumpy.median(array, -1), numpy.median(data, -1))


@pytest.mark.parametrize("index_dtype", ["i1", "i4", "i8", "u8"])
@pytest.mark.parametrize("op", ["add", "maximum", "subtract", "logical_xor"])
def test_ufuncs_at_elements(op: str, index_dtype: str) -> None:
    """They write at the indices as they are: no kernel reads the positions there."""
    rng = numpy.random.default_rng(10)
    data = rng.integers(0, 99, 100).astype("i8")
    for shape in ((300,), (20, 7), (0,)):
        index = rng.integers(0 if index_dtype == "u8" else -100, 100, shape).astype(index_dtype)
        values = rng.integers(0, 9, shape[-1:])
        expected = data.copy()
        # NumPy's fast loop reads past the end of values that it would have to broadcast.
        getattr(numpy, op).at(expected, index, numpy.broadcast_to(values, shape).copy())
        a, i, v = (gpunumpy.asarray(x, device="cpu") for x in (data.copy(), index, values))
        steps = kernels(lambda a=a, i=i, v=v: (getattr(gpunumpy, op).at(a, i, v), a)[1])  # type: ignore[misc]
        assert len(steps) <= 1 + (index_dtype != "i8")
        numpy.testing.assert_array_equal(to_host(a), expected)


def test_a_ufunc_at_elements_of_its_own() -> None:
    data = numpy.random.default_rng(11).integers(0, 100, 100)
    found = gpunumpy.asarray(data.copy(), device="cpu")
    gpunumpy.add.at(found, found, 1)
    gpunumpy.add.at(found[::-1], found % 50, found)
    numpy.add.at(data, data.copy(), 1)
    numpy.add.at(data[::-1], data % 50, data.copy())
    numpy.testing.assert_array_equal(to_host(found), data)


@pytest.mark.parametrize("index", [100, -101])
def test_a_ufunc_out_of_bounds_writes_nothing(index: int) -> None:
    found = gpunumpy.zeros(100, device="cpu")
    gpunumpy.add.at(found, gpunumpy.asarray([3, index], device="cpu"), 1)
    with pytest.raises(IndexError, match=f"index {index} is out of bounds for axis 0 with size 100"):
        to_host(found)
    assert not to_host(found).any()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i4", "i8", "u8"])
def test_counts_of_integers_with_and_without_bins(dtype: str, weighted: bool) -> None:
    """What is beyond the bins does not count, and is not cast into one of them."""
    for values in ([], [0, 1, 1, 0, 1], [0, 3, 1, 7, 3], [2, 7, 8, 9, 100], [-1, 3, -100, 1, 3], [2**63, 2**64 - 1, 3]):
        if dtype == "u8" or not values or max(values) < 2**63:
            x = numpy.array(values, dtype if dtype == "u8" and values and min(values) >= 0 else "i8").astype(dtype)
            weights = numpy.arange(len(x)) / 4 if weighted else None
            inside = (x >= 0) & (x < 8)
            kept = None if weights is None else weights[inside]
            expected = numpy.bincount(x[inside].astype("i8"), kept, 8)
            found = numpy.full_like(expected, 9)
            host_histogram.bincount((), found, x, *([] if weights is None else [weights]))
            numpy.testing.assert_array_equal(found, expected)
