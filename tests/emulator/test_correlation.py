"""The kernel of correlations, which computes convolutions."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy.kernels.correlation.cuda import correlate
from gpunumpy.kernels.cuda.compile import compile_cubin

from .test_masks_and_scatter import layout_of, run

MODES: tuple[Any, ...] = ("valid", "same", "full")


def _numbers(random: Any, n: int, dtype: str) -> Any:
    x = random.integers(-9, 9, n) + (1j * random.integers(-9, 9, n) if dtype in "FD" else 0)
    return x.astype(dtype)  # sums of these are exact


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D", "b", "u4", "i8"])
def test_sums_of_products(dtype: str) -> None:
    random = numpy.random.default_rng(0)
    for n, width in ((1, 1), (17, 16), (2500, 37), (5000, 300), (700, 700), (2048, 8)):
        x, taps = _numbers(random, n, dtype), _numbers(random, width, dtype)
        for mode, name in enumerate(MODES):
            expected = numpy.convolve(x, taps[::-1], name)
            for given, stride in ((taps, 1), (numpy.repeat(taps, 2)[::2], 2), (taps[::-1].copy()[::-1], -1)):
                assert given.strides[0] == stride * taps.itemsize or width == 1
                out = numpy.empty_like(expected)
                run(correlate, (mode,), out, x, given)
                numpy.testing.assert_array_equal(out, expected, f"{n} {width} {name} {stride}")


def test_infinite_taps_meet_no_elements_outside() -> None:
    x, taps = numpy.ones(3000), numpy.ones(40)
    taps[[0, 20, -1]] = numpy.inf, numpy.nan, -numpy.inf
    for mode, name in enumerate(MODES):
        with numpy.errstate(invalid="ignore"):
            expected = numpy.convolve(x, taps[::-1], name)
        out = numpy.empty_like(expected)
        run(correlate, (mode,), out, x, taps)
        numpy.testing.assert_array_equal(out, expected)


def test_nvrtc_compiles_it() -> None:
    for dtype in ("f", "D", "u1"):
        x = numpy.zeros(100, dtype)
        program = correlate((2,), [layout_of(a) for a in (numpy.zeros(115, dtype), x, x[:16])], [x.dtype] * 3)
        compile_cubin(program.text, "sm_90")
