"""A window of an array is accumulated in the order of its copy, by the kernels of a GPU: docs/design/reductions.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from tests.emulator import available
from tests.emulator.emulated import emulated

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")

REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(),
    "sum of rows": lambda x: x.sum(axis=1),
    "sum of columns": lambda x: x.sum(axis=0),
    "variance": lambda x: x.var(),
    "variance of rows": lambda x: x.var(axis=1),
    "mean of products": lambda x: (x * x).mean(),
}
# What is promised, over all axes: rows of whole vectors, at any address. Over one axis rows may have any length.
WINDOWS: dict[str, Any] = {
    "aligned": numpy.s_[2:60, 8:72],
    "not aligned": numpy.s_[1:60, 3:67],
    "of other rows": numpy.s_[::2, 1:65],
    "of odd rows": numpy.s_[5:60, 3:70],
    "of points": numpy.s_[1:60, 3:6],
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_window_has_the_bits_of_its_copy(name: str, window: str, dtype: str) -> None:
    reduce = REDUCTIONS[name]
    if window in ("of odd rows", "of points") and not name.endswith(("rows", "columns")):
        pytest.skip("the exception")
    data = numpy.random.default_rng(0).random((61, 81)).astype(dtype)
    with emulated() as machine, np.Device("cpu"):
        x = np.asarray(data)
        of_window = np.asnumpy(reduce(x[WINDOWS[window]]))
        of_copy = np.asnumpy(reduce(np.asarray(data[WINDOWS[window]].copy())))
        assert machine.kernels >= 2
    numpy.testing.assert_array_equal(of_window, of_copy)
    numpy.testing.assert_allclose(of_copy, reduce(data[WINDOWS[window]].astype(float)), 1e-5)
