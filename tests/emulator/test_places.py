"""What is accumulated has the same bits wherever the elements lie in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from tests.emulator import available

from .emulated import emulated

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(),
    "sum of squares": lambda x: (x * x).sum(),
    "prod": lambda x: (x + 1).prod(),
    "var": lambda x: x.var(),
    "sum of rows": lambda x: x.sum(-1),
    "mean of columns": lambda x: x.mean(0),
    "normalized rows": lambda x: x - x.mean(-1, keepdims=True),
    "cumsum": lambda x: x.cumsum(-1),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "c8"])
@pytest.mark.parametrize("shape", [(1003,), (37, 64), (5, 6, 8)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_places(name: str, shape: tuple[int, ...], dtype: str) -> None:
    rng = numpy.random.default_rng(0)
    host = (rng.random(shape) + (1j * rng.random(shape) if dtype == "c8" else 0)).astype(dtype) / 8
    function = FUNCTIONS[name]
    with emulated():
        expected = np.asnumpy(function(np.asarray(host)))
        for start, step in ((1, 1), (2, 1), (3, 1), (0, 2), (1, 3)):
            whole = np.zeros((*shape[:-1], start + step * shape[-1]), dtype)
            part = whole[..., start::step]
            part[...] = host
            np.synchronize()
            numpy.testing.assert_array_equal(np.asnumpy(function(part)), expected, strict=True)
