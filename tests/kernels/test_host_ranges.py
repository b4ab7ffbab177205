"""Rolls, and other loads at ranges of indices, of the CPU device: windows of the source, beside NumPy's values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.kernels.host import executor, loops, ranges

from ..core.fusion.counting import kernels
from ..support.arrays import to_host


@pytest.fixture(autouse=True)
def on_device() -> Iterator[None]:
    """Small arrays too."""
    before = gpunumpy.set_residence("device")
    with gpunumpy.Device("cpu"):
        yield
    gpunumpy.set_residence(before)


@pytest.fixture(params=[0, 64, 400], ids=lambda n: f"blocks of {n} bytes" if n else "one block")
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays in one block or in many, whose kernels no other test has met."""
    if request.param:
        monkeypatch.setattr(loops, "MIN_OPERAND_BYTES", request.param)
        monkeypatch.setattr(loops, "BLOCK_BYTES", request.param)
    monkeypatch.setattr(executor, "_kernels", type(executor._kernels)())


def neighbours(np: Any, x: Any) -> Any:
    """The sums of the eight neighbours of each element."""
    shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    return sum([np.roll(x, shift, (0, 1)) for shift in shifts], x)


CASES: dict[str, Callable[[Any, Any], Any]] = {
    "along rows": lambda np, x: np.roll(x, 2, 1) * 2,
    "along columns": lambda np, x: np.roll(x, -3, 0) + x,
    "neighbours": neighbours,
    "neighbours of an expression": lambda np, x: neighbours(np, x * 2 + 1),
    "of neighbours": lambda np, x: neighbours(np, neighbours(np, x)),
    "far neighbours": lambda np, x: np.roll(x, 5, 0) - np.roll(x, -4, 0) + np.roll(x, (7, 2), (0, 1)),
    "more than the size": lambda np, x: np.roll(x, (100, -77), (0, 1)) + np.roll(x, -100, 0),
    "as a line": lambda np, x: np.roll(x, 17) + np.roll(x.ravel(), -5).reshape(x.shape),
    "alone": lambda np, x: np.roll(x, (1, 1), (0, 1)),
    "of the transpose": lambda np, x: np.roll(x.T, 1, 0) + np.roll(x.T, (2, -1), (0, 1)),
    "of every other": lambda np, x: np.roll(x[::2, ::-1], 1, 1) + np.roll(x[::2, ::-1], (1, 1), (0, 1)),
    "backwards": lambda np, x: np.roll(x, 3, 0)[::-1] + np.roll(x, 2, 1)[:, ::-1] * 2,
    "every other of it": lambda np, x: np.roll(x, 3, 0)[1::2] + np.roll(x, -2, 0)[1::2],
    "a row of it": lambda np, x: np.roll(x, 3, 0)[4] + np.roll(x, 1, 1)[2],
    "an element of it": lambda np, x: np.roll(x, 3, 0)[4, 1] + 1,
    "sums": lambda np, x: (np.roll(x, 1, 0) * x).sum(axis=0) + (np.roll(x, 1, 1) * x).sum(axis=0),
    "sum": lambda np, x: (np.roll(x, 1, 0) * x).sum() + (np.roll(x, 1, 1) * x).max(),
    "scan": lambda np, x: np.cumsum(np.roll(x, 4, 0), axis=1),
    "of a stack": lambda np, x: np.roll(np.stack([x, x + 1, x * x]), (1, 2, -1), (0, 1, 2)) * 2,
    "ranges of indices": lambda np, x: x[np.arange(len(x)) - 4] + x[np.arange(len(x)) - len(x)],
    "parts by ranges": lambda np, x: x[np.arange(5) + 3] * 2 + x[np.arange(5) - 2],
    "steps of indices": lambda np, x: x[2 * np.arange(6) - 5] + x[6 - 2 * np.arange(6)],
    "a grid of ranges": lambda np, x: x[np.arange(6)[:, None] - 3, np.arange(4) - 2] + x[:6, :4],
    "a diagonal": lambda np, x: x[np.arange(5) - 2, np.arange(5) - 1] + 1,
}


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    for shape in ((13, 9), (40, 8), (12, 31)):
        for dtype in ("u1", "f8"):
            x = numpy.random.default_rng(1).integers(0, 5, shape).astype(dtype)
            found, expected = CASES[name](gpunumpy, gpunumpy.asarray(x)), CASES[name](numpy, x)
            assert found.dtype == expected.dtype
            numpy.testing.assert_array_equal(to_host(found), expected)


@pytest.mark.usefixtures("blocks")
def test_an_array_is_rolled_into_itself() -> None:
    for roll in (lambda np, x: np.roll(x, 3, 0), lambda np, x: np.roll(x, (1, 1), (0, 1)) + np.roll(x, 2, 1)):
        x = numpy.arange(13 * 9).reshape(13, 9)
        y = gpunumpy.asarray(x)
        for _ in range(3):
            x[...], y[...] = roll(numpy, x), roll(gpunumpy, y)
            x[2:], y[2:] = roll(numpy, x[2:]), roll(gpunumpy, y[2:])
        numpy.testing.assert_array_equal(to_host(y), x)


def test_rolls_of_one_array_are_one_kernel_that_copies_it_once_for_each_shift_of_rows(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--emulated"):
        pytest.skip("windows are those of the CPU device's executor")
    copied: list[Any] = []
    read = ranges.Windows._read
    monkeypatch.setattr(ranges.Windows, "_read", lambda *args: copied.append(args) or read(*args))
    x = numpy.random.default_rng(1).integers(0, 5, (12, 10)).astype("u1")
    cells = gpunumpy.asarray(x)
    steps = kernels(lambda: neighbours(gpunumpy, cells))
    assert len(steps) == 1
    assert len(copied) == 3


def test_other_shifts_and_sizes_have_the_same_plan() -> None:
    x = gpunumpy.asarray(numpy.arange(6000.0).reshape(60, 100)) * 1
    to_host(x)
    made: list[int] = []
    for k in range(1, 12):
        found = to_host(gpunumpy.roll(x[k:], (k, 2 * k), (0, 1)) + x[k:])
        expected = numpy.arange(6000.0).reshape(60, 100)[k:]
        numpy.testing.assert_array_equal(found, numpy.roll(expected, (k, 2 * k), (0, 1)) + expected)
        made.append(len(executor._kernels))
    assert made[-1] == made[2]


@pytest.mark.usefixtures("blocks")
def test_an_index_out_of_bounds_is_an_error() -> None:
    x = gpunumpy.asarray(numpy.arange(120.0).reshape(12, 10)) * 1
    for index in (lambda i: i - 13, lambda i: i + 1, lambda i: 2 * i):
        with pytest.raises(IndexError, match="out of bounds for axis with size 12"):
            to_host(x[index(gpunumpy.arange(12))] + x[gpunumpy.arange(12) - 1])
        with pytest.raises(IndexError, match="out of bounds for axis with size 10"):
            to_host(x[gpunumpy.arange(12)[:, None] - 2, index(gpunumpy.arange(10))] + 1)


def test_empty_arrays() -> None:
    for shape in ((0,), (0, 3), (3, 0)):
        x = numpy.zeros(shape)
        assert to_host(gpunumpy.roll(gpunumpy.asarray(x) + 1, 2, -1)).shape == numpy.roll(x, 2, -1).shape
