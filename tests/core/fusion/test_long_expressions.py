"""Loops whose steps are one expression, too long for one kernel: it is cut where few bytes are alive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.core.schedule import cuts
from gpunumpy.core.schedule.steps import RunKernel
from gpunumpy.kernels.codegen.interpreted import interpreted

from .counting import kernels

SHAPE = (24, 20)


def mandelbrot(np: Any, a: Any) -> Any:
    """Each step's mask is counted, and decides where the next value comes from."""
    c = a + 1j * a[::-1]
    z, count = c * 0, np.zeros(SHAPE, np.int32)
    for _ in range(40):
        bounded = z.real**2 + z.imag**2 <= 4.0
        z = np.where(bounded, z * z + c, z)
        count += bounded
    return count


def strip(np: Any, a: Any) -> Any:
    """A sum of values that depend on rows, on columns, and on the step, each of many operations."""
    spot, volatility = 50 + 100 * a[:1], 0.05 + a[:, :1]
    value = np.zeros(SHAPE)
    for month in range(1, 11):
        deviation = volatility * numpy.sqrt(month / 12)
        d1 = (np.log(spot / 100.0) + (0.03 + 0.5 * volatility**2) * (month / 12)) / deviation
        t = 1.0 / (1.0 + 0.23 * np.abs(d1))
        series = t * (0.31 + t * (-0.35 + t * (1.78 + t * (-1.82 + t * 1.33))))
        tail = np.exp(-0.5 * d1**2) / 2.5 * series
        value += spot * np.where(d1 >= 0, 1.0 - tail, tail)
    return value


def attractor(np: Any, a: Any) -> Any:
    """Three values that depend on each other, and one that follows them: results of different expressions."""
    x, y, z, top = a, a + 1, a + 2, a
    for _ in range(30):
        x, y, z = x + 0.1 * (y - x), y + 0.01 * (x * (28 - z) - y), z + 0.01 * (x * y - 2.7 * z)
        top = np.maximum(top, z)
    return x, y, z, top


def roots_of_unity(np: Any, a: Any) -> Any:
    """Newton's method: when the last step was short is known a step later, of two values that are read together."""
    z, steps, done = a + 1j * (a - 0.5), np.zeros(SHAPE, np.int64), np.zeros(SHAPE, bool)
    for k in range(30):
        new = z - (z**3 - 1) / (3 * z**2)
        done = done | (np.abs(new - z) < 1e-6)
        steps, z = np.where(done, steps, k), new
    return z, steps


# A loop, how many kernels compute it, and how many bytes of a point each of them stores at most: what is alive between
# two steps, and hardly more.
LOOPS: tuple[tuple[Callable[..., Any], int, int], ...] = (
    (mandelbrot, 2, 20),
    (strip, 2, 8),
    (attractor, 2, 40),
    (roots_of_unity, 2, 25),
)
DATA = numpy.random.default_rng(0).random(SHAPE)


def results(loop: Callable[..., Any], np: Any) -> list[Any]:
    """The results of a loop as arrays of NumPy."""
    found = loop(np, np.asarray(DATA))
    return [numpy.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("loop", [loop for loop, _, _ in LOOPS if loop is not roots_of_unity])  # a complex quotient
def test_the_interpreter_has_room_for_them(loop: Callable[..., Any]) -> None:
    """Of a loop's results the sum that takes something of each step is computed step by step, not at the end."""
    with gpunumpy.Device("cpu"):
        a = gpunumpy.asarray(DATA)
        ran = [step.kernel for step in kernels(lambda: loop(gpunumpy, a)) if isinstance(step, RunKernel)]
    assert all(interpreted(kernel, 132) is not None for kernel in ran)


@pytest.mark.parametrize(("loop", "count", "nbytes"), LOOPS)
def test_few_values_are_stored_between_kernels(loop: Callable[..., Any], count: int, nbytes: int) -> None:
    with gpunumpy.Device("cpu"):
        a = gpunumpy.asarray(DATA)
        ran = [step.kernel for step in kernels(lambda: loop(gpunumpy, a)) if isinstance(step, RunKernel)]
    over_points = [kernel for kernel in ran if kernel.shape == SHAPE]
    stored = [sum(arg.dtype.itemsize for arg in kernel.args if arg.kind == "out") for kernel in over_points]
    assert (len(stored), max(stored)) == (count, nbytes)


@pytest.mark.parametrize("loop", [loop for loop, _, _ in LOOPS])
def test_results_do_not_depend_on_where_a_cut_is(
    loop: Callable[..., Any], device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = evaluate.state_of(gpunumpy.Device(device))
    found = []
    with gpunumpy.Device(device):
        for limit in (300, 120, 90):
            monkeypatch.setattr(cuts, "_MAX_INSTRUCTIONS", limit)
            monkeypatch.setattr(state, "planner", Planner(state.executor))
            found.append(results(loop, gpunumpy))
    for x, y, z, expected in zip(*found, results(loop, numpy), strict=True):
        numpy.testing.assert_array_equal(x, y)
        numpy.testing.assert_array_equal(x, z)
        numpy.testing.assert_allclose(x, expected, rtol=1e-6)
