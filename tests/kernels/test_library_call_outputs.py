"""Library calls with several outputs: each is a value of its own, whichever of them are kept or needed first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.dtypes import INT64
from gpunumpy.core.graph import node as graph
from tests.core.fusion.counting import kernels
from tests.support.host_executor import run_on_host

from ..support.arrays import ndarray, wrap

pytestmark = pytest.mark.usefixtures("extremes")
X = numpy.random.default_rng(7).random((4, 5))


def _extremes(options: tuple[Any, ...], least: Any, greatest: Any, count: Any, x: Any) -> None:
    if options:
        raise MemoryError(options[0])
    least[...], greatest[...], count[...] = x.min(-1), x.max(-1), x.shape[-1]


@pytest.fixture
def extremes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    run_on_host(monkeypatch, "extremes", _extremes)
    with gpunumpy.Device("cpu"):
        yield


def parted(x: ndarray, *options: Any) -> list[ndarray]:
    results = ((x.shape[:-1], x.dtype), (x.shape[:-1], x.dtype), ((), INT64))
    return [wrap(node) for node in graph.library_call_outputs("extremes", options, (x.value(),), results)]


def test_all_results_come_from_one_call() -> None:
    x = gpunumpy.asarray(X)

    def run() -> ndarray:
        least, greatest, count = parted(x * 2)
        return (greatest - least) * count

    assert [type(step).__name__ for step in kernels(run)] == ["RunKernel", "RunLibraryCall", "RunKernel"]
    numpy.testing.assert_array_equal(gpunumpy.asnumpy(run()), numpy.ptp(X * 2, axis=-1) * 5)


@pytest.mark.parametrize("kept", [(0,), (1,), (2,), (0, 2), (1, 2), (2, 1)])
def test_results_that_nobody_keeps(kept: tuple[int, ...]) -> None:
    expected = X.min(-1), X.max(-1), numpy.int64(5)
    results = parted(gpunumpy.asarray(X))
    kept_results = [results[k] for k in kept]
    del results
    for k, result in zip(kept, kept_results, strict=True):
        assert result.dtype == expected[k].dtype
        numpy.testing.assert_array_equal(gpunumpy.asnumpy(result), expected[k])


def test_a_result_is_written_to_alone() -> None:
    least, greatest, _ = parted(gpunumpy.asarray(X))
    row = greatest[1:3]
    difference = greatest - least
    row[...] = 7
    numpy.testing.assert_array_equal(gpunumpy.asnumpy(greatest), [X[0].max(), 7, 7, X[3].max()])
    numpy.testing.assert_array_equal(gpunumpy.asnumpy(least), X.min(-1))
    numpy.testing.assert_array_equal(gpunumpy.asnumpy(difference), numpy.ptp(X, axis=-1))


def test_a_result_that_is_made_an_array_of_after_the_others_are_computed() -> None:
    x = gpunumpy.asarray(X)
    first, second, third = graph.library_call_outputs(
        "extremes", (), (x.value(),), (((4,), x.dtype), ((4,), x.dtype), ((), INT64))
    )
    numpy.testing.assert_array_equal(gpunumpy.asnumpy(wrap(second)), X.max(-1))
    x[...] = 0  # which the results do not see
    numpy.testing.assert_array_equal(gpunumpy.asnumpy(wrap(first)), X.min(-1))
    assert int(wrap(third)) == 5


def test_a_routine_that_fails_leaves_its_results_pending() -> None:
    x = gpunumpy.asarray(X) + 1
    _, greatest, _ = parted(x, "no room")
    for _ in range(2):
        with pytest.raises(MemoryError, match="no room"):
            gpunumpy.asnumpy(greatest)
    numpy.testing.assert_array_equal(gpunumpy.asnumpy(x), X + 1)
    del greatest


def test_many_calls_in_one_flush() -> None:
    x = gpunumpy.asarray(X)
    total = sum((parted(x + k)[1] for k in range(5)), gpunumpy.zeros(4))
    numpy.testing.assert_array_equal(gpunumpy.asnumpy(total), sum(((X + k).max(-1) for k in range(5)), numpy.zeros(4)))


def test_results_of_no_elements() -> None:
    least, _, count = parted(gpunumpy.zeros((0, 3)))
    assert gpunumpy.asnumpy(least).shape == (0,)
    assert int(count) == 3
