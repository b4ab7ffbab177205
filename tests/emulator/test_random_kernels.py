"""Generated kernels against NumPy, on random kernels."""

from __future__ import annotations

import copy
import warnings

import numpy
import pytest

from tests.emulator import available, run_kernel
from tests.emulator.random_kernels import interpret, random_kernel

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")


@pytest.mark.parametrize("seed", range(80))
def test_a_random_kernel(seed: int) -> None:
    kernel, given = random_kernel(seed)
    expected = copy.deepcopy(given)
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", numpy.exceptions.ComplexWarning)
        interpret(kernel, expected)
    run_kernel(kernel, given, seed=seed % 3, processors=2 + seed % 5)
    for arg, found, wanted in zip(kernel.args, given, expected):
        if arg.kind == "out":
            numpy.testing.assert_array_equal(found, wanted, strict=True)
