"""The polynomials in the CUDA texts are those that `tools.minimax` finds."""

from __future__ import annotations

import re
from functools import cache

import numpy
import pytest

from gpunumpy.kernels.codegen.sources import source
from tools.minimax import POLYNOMIALS, minimax

_FILES = ("exponential", "logarithm", "power", "trigonometric", "inverse_trigonometric")


@cache
def _literals() -> set[float]:
    text = source(*(f"codegen/{name}" for name in _FILES))
    return {float(digits) for digits in re.findall(r"-?\d+\.\d+(?:e-\d+)?", text)}


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_coefficients_are_in_the_text(name: str, dtype: type[numpy.floating]) -> None:
    count = POLYNOMIALS[name].counts[dtype is numpy.float64]
    coefficients = [float(str(dtype(float(c)))) for c in minimax(POLYNOMIALS[name], count)[0]]
    assert not set(coefficients) - _literals()
