"""Recorded programs, scheduled, generated and run on the emulated machine."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.recording.record import as_array, elementwise
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import Device
from gpunumpy.functions.ufuncs.methods import accumulate_ufunc
from tests.emulator import available
from tests.emulator.emulated import emulated

from ..support import updates
from ..support.arrays import ndarray

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")

CPU = Device("cpu")


def values(x: ndarray) -> Any:
    """The elements of a computed array in C order."""
    node = x.computed()
    return node.data.host.view(x.dtype)[node.offset :][: x.size].reshape(x.shape)


def test_a_chain_is_one_kernel() -> None:
    rng = numpy.random.default_rng(0)
    a, row = rng.random((30, 40)), rng.random(40)
    with emulated() as machine:
        x = as_array(a, CPU)
        product = elementwise("multiply", [x, as_array(row, CPU)])
        root = elementwise("sqrt", [elementwise("add", [product, 2.5])])
        below = elementwise("less", [root, 1.7])
        numpy.testing.assert_array_equal(values(root), numpy.sqrt(a * row + 2.5))
        assert machine.kernels == 1
        numpy.testing.assert_array_equal(values(below), numpy.sqrt(a * row + 2.5) < 1.7)
        assert machine.kernels == 1


def test_powers_by_exact_products() -> None:
    bases = numpy.array([3, -3, 9, 2.25, 0.1, 0, -0.0, 5, 2, numpy.inf, -1, numpy.nan, 1e-200, 7])
    exponents = numpy.array([4, -3, 0.5, 1.5, 3, -3, -3, 0, 63, -2, 65, 0, 2, 1 / 3])
    with emulated(), numpy.errstate(all="ignore"):
        for dtype in ("f", "d"):
            x, y = bases.astype(dtype), exponents.astype(dtype)
            got = values(elementwise("power", [as_array(x, CPU), as_array(y, CPU)]))
            wanted = x**y
            numpy.testing.assert_allclose(got, wanted, rtol=2 * float(numpy.finfo(dtype).eps))
            numpy.testing.assert_array_equal(numpy.signbit(got), numpy.signbit(wanted))
            numpy.testing.assert_array_equal(got[:4], numpy.array([81, -1 / 27, 3, 3.375], dtype))


def test_cubes_are_rounded_almost_correctly() -> None:
    """By products whose errors are known: the general power has up to 0.76 units of error."""
    rng = numpy.random.default_rng(3)
    x = rng.uniform(-10, 10, 3000) * 10.0 ** rng.integers(-80, 80, 3000)
    x[:6] = 1e-120, 1e102, -1e200, 0, numpy.inf, numpy.nan
    with emulated(), numpy.errstate(all="ignore"):
        got = values(elementwise("power", [as_array(x, CPU), 3.0]))
        numpy.testing.assert_allclose(got[:6], x[:6] ** 3, rtol=2 * float(numpy.finfo("d").eps))
    for value, cube in zip(x[6:], got[6:], strict=True):
        error = abs(Fraction(float(cube)) - Fraction(float(value)) ** 3) / Fraction(float(numpy.spacing(abs(cube))))
        assert error < Fraction(51, 100), value


def test_scans_begin_with_their_first_element() -> None:
    """To the bit: no identity is combined with it that would change -0.0, or a sign that hypot and gcd drop."""
    negative = numpy.array([-0.0, -0.0, 1, -0.0])
    cases = [("add", negative), ("add", negative.astype("F")), ("multiply", negative), ("maximum", negative)]
    cases += [("hypot", numpy.array([-3.0, 4, 0])), ("gcd", numpy.array([-4, 6, 0])), ("lcm", numpy.array([-4, 6]))]
    for row, data in cases:
        with emulated():
            got = values(accumulate_ufunc(row, as_array(data, CPU)))
        assert got.tobytes() == getattr(numpy, row).accumulate(data).tobytes(), row


def test_the_host_takes_over_again() -> None:
    a = numpy.arange(12.0)
    before = evaluate.state_of(CPU).executor
    with emulated() as machine:
        assert evaluate.state_of(CPU).executor is machine
        x = elementwise("negative", [as_array(a, CPU)])
    assert evaluate.state_of(CPU).executor is before
    assert machine.kernels == 1  # what is pending at the end is computed there
    numpy.testing.assert_array_equal(values(elementwise("add", [x, 1.0])), 1 - a)
    assert machine.kernels == 1


@pytest.mark.sampled(4)
@pytest.mark.parametrize("interprets", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_updates_in_place_by_the_kernel_before(seed: int, interprets: bool) -> None:
    """Which the interpreter can run too: all loops are computed by one of both."""
    run = updates.program(seed, 5)
    expected = [numpy.random.default_rng(seed).integers(-9, 9, shape) for shape in updates.SHAPES]
    with emulated(interprets=interprets) as machine, Device("cpu"):
        arrays = [gpunumpy.array(x) for x in expected]
        run(arrays)
        run(expected)
        for x, y in zip(arrays, expected, strict=True):
            numpy.testing.assert_array_equal(values(x), y)
    assert machine.interpreted_kernels == (machine.kernels if interprets else 0)
