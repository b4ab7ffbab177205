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


_DTYPES = (numpy.float32, numpy.float64)
_CASES = [
    pytest.param(name, count, dtype, id=f"{name}-{dtype.__name__}")
    for name, polynomial in POLYNOMIALS.items()
    for count, dtype in zip(polynomial.counts, _DTYPES, strict=True)
    if count
]


@pytest.mark.parametrize(("name", "count", "dtype"), _CASES)
def test_coefficients_are_in_the_text(name: str, count: int, dtype: type[numpy.floating]) -> None:
    coefficients = [float(str(dtype(float(c)))) for c in minimax(POLYNOMIALS[name], count)[0]]
    assert not set(coefficients) - _literals()
