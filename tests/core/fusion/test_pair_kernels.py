"""Sums over the coordinates of pairs of points: computed where they are read, with the bits of sums in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.schedule.kernel import ReduceLoops
from gpunumpy.core.schedule.steps import RunKernel
from tests.emulator import available
from tests.emulator.emulated import emulated
from tests.support.host_executor import with_traits

from .counting import kernels

RNG = numpy.random.default_rng(0)
POINTS, OTHERS, COLUMNS = RNG.standard_normal((40, 3)), RNG.standard_normal((50, 3)), RNG.standard_normal((3, 60))


def squared(x: Any, y: Any) -> Any:
    return ((x[:, None] - y) ** 2).sum(axis=-1)


def pulled(np: Any, x: Any) -> Any:
    apart = x - x[:, None]
    distance = np.sqrt((apart**2).sum(axis=2) + 0.1)
    return ((1 / distance**3)[:, :, None] * apart).sum(axis=1)


# What is computed of points of shape (40, 3) and (50, 3), and how many kernels it takes.
CASES: dict[str, tuple[Callable[[Any, Any, Any], Any], int]] = {
    "distances": (lambda np, x, y: np.sqrt(squared(x, y)), 1),
    "squared distances": (lambda np, x, y: squared(x, y), 1),
    "a sum over pairs": (lambda np, x, y: np.exp(-squared(x, y)).sum(axis=1), 1),
    "two sums over pairs": (lambda np, x, y: (squared(x, y).sum(axis=1), np.sqrt(squared(x, y)).sum(axis=1)), 1),
    "the nearest": (lambda np, x, y: squared(x, y).argmin(axis=1), 1),
    "the nearest by city blocks": (lambda np, x, y: abs(x[:, None] - y).sum(axis=2).min(axis=0), 1),
    "products": (lambda np, x, y: (x[:, None] * y).sum(axis=-1).max(axis=1), 1),
    "with a dimension": (lambda np, x, y: ((x[:, None] - y) ** 2).sum(axis=2, keepdims=True).max(axis=0), 1),
    "of parts": (lambda np, x, y: squared(x[::2, 1:], y[:30, ::-1][:, :2]).min(axis=1), 1),
    "of columns": (lambda np, x, y: ((x.T[:, :, None] - y.T[:, None]) ** 2).sum(axis=0).max(axis=1), 1),
    "of what is computed": (lambda np, x, y: squared(x * 2 + 1, y - x.mean(axis=0)).min(axis=1), 4),
    "with a scale": (lambda np, x, y: (((x[:, None] - y) / x[0]) ** 2).sum(axis=-1).min(axis=1), 1),
    "in another dtype": (lambda np, x, y: ((x[:, None] - y) ** 2).sum(axis=-1, dtype="float64").min(axis=1), 1),
    "of truth values": (lambda np, x, y: (x[:, None] > y).sum(axis=-1, dtype="float32").max(axis=1), 1),
    "forces": (lambda np, x, y: pulled(np, x), 1),
    "one coordinate": (lambda np, x, y: squared(x[:, :1], y[:, :1]).min(axis=1), 2),  # nothing is added up: stored
    "norms of points": (lambda np, x, y: (x**2).sum(axis=1).max(), 2),  # less than the points: stored
    "of many coordinates": (lambda np, x, y: squared(np.tile(x, 2), np.tile(y, 2)).min(axis=1), 4),
}


@pytest.mark.on_device
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_few_kernels(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_traits(monkeypatch, recomputes_pairs=True)
    function, count = CASES[name]
    data = [points.astype(dtype) for points in (POINTS, OTHERS)]
    with np.Device("cpu"):
        arrays = [np.asarray(x) for x in data]
        steps = kernels(lambda: function(np, *arrays))
        results = function(np, *arrays)
    assert sum(isinstance(step, RunKernel) for step in steps) <= count
    references = function(numpy, *data)
    for result, reference in zip(*(x if isinstance(x, tuple) else (x,) for x in (results, references)), strict=True):
        assert (result.shape, result.dtype) == (reference.shape, reference.dtype)
        tolerance = 20 * float(numpy.finfo(dtype).eps)
        numpy.testing.assert_allclose(numpy.asarray(result), reference, rtol=tolerance, atol=tolerance)


@pytest.mark.on_device
@pytest.mark.parametrize(
    "device",
    [
        pytest.param("emulated", marks=pytest.mark.skipif(not available(), reason="the emulator needs g++")),
        pytest.param("cuda:0", marks=pytest.mark.gpu),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("coordinates", [2, 3, 4])
def test_the_bits_are_those_of_a_sum_in_memory(device: str, dtype: str, coordinates: int) -> None:
    x, y = (
        numpy.where(RNG.random((n, coordinates)) < 0.4, -0.0, RNG.standard_normal((n, coordinates))).astype(dtype)
        for n in (20, 30)
    )
    with emulated() if device == "emulated" else np.Device(device):
        a, b = np.asarray(x), np.asarray(y)
        stored, read = (a[:, None] * b).sum(axis=-1), list[Any]()
        stored.computed()
        (step,) = kernels(lambda: read.append(np.negative(np.negative((a[:, None] * b).sum(axis=-1)))) or read[0])
        assert isinstance(step, RunKernel)
        assert not any(isinstance(instr, ReduceLoops) for instr in step.kernel.body.instructions)
        bits = [numpy.asarray(each).view(dtype.replace("float", "int")) for each in (stored, *read)]
    numpy.testing.assert_array_equal(*bits)


@pytest.mark.on_device
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_kernels_stay_short(depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of sums of sums would be 64 terms, and each sum around them four times as many."""
    with_traits(monkeypatch, recomputes_pairs=True)
    x, y = (RNG.integers(-3, 4, (n, *[4] * depth)).astype("float64") for n in (2, 3))

    def summed(np: Any, x: Any, y: Any) -> Any:
        total = np.broadcast_to(x[:, None, None], (2, 200, 3, *[4] * depth)) * y
        for _ in range(depth):
            total = total.sum(axis=-1)
        return abs(total)

    with np.Device("cpu"):
        a, b = np.asarray(x), np.asarray(y)
        steps, result = kernels(lambda: summed(np, a, b)), summed(np, a, b)
    for step in steps:
        assert isinstance(step, RunKernel)
        assert len(step.kernel.body.instructions) < 100
    numpy.testing.assert_array_equal(numpy.asarray(result), summed(numpy, x, y))


@pytest.mark.on_device
def test_kernels_of_many_sums_stay_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty of them, of which each has several operations for each coordinate."""
    with_traits(monkeypatch, recomputes_pairs=True)
    data = [RNG.integers(-3, 4, (n, 3)).astype("float64") for n in (30, 40)]

    def summed(x: Any, y: Any) -> Any:
        return sum(squared(x + k, y) for k in range(60))

    with np.Device("cpu"):
        a, b = [np.asarray(each) for each in data]
        steps = kernels(lambda: summed(a, b))
        result = summed(a, b)
    assert 2 <= len(steps) <= 12
    for step in steps:
        assert isinstance(step, RunKernel)
        assert len(step.kernel.body.instructions) < 400
    numpy.testing.assert_array_equal(numpy.asarray(result), summed(*data))


@pytest.mark.on_device
@pytest.mark.parametrize("recomputes_pairs", [False, True])
def test_sums_that_are_stored_ask_for_no_sizes(recomputes_pairs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One plan with symbols serves points with more pairs than coordinates as well as points with fewer."""
    with_traits(monkeypatch, recomputes_pairs=recomputes_pairs)
    plans = []
    with np.Device("cpu"):
        for n in (10, 11, 30, 100, 120):
            x = np.asarray(numpy.ones((n, 20)))
            squared(x, x).computed()
            plans.append(evaluate.state_of(np.Device("cpu")).planner.counts()[1])
    assert plans == [1, 2, 2, 2, 2]
