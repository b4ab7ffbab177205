"""Real elementwise functions are as accurate as the table of ops says, in generated kernels and as NumPy computes them.

Kernels run in the emulator, whose mathematical functions are as bad as CUDA's may be, and on a GPU.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy
import pytest

from gpunumpy.core.dtypes import C_TYPE
from gpunumpy.core.ops import table
from tests.emulator import available

from ...support import accuracy
from ...support.accuracy import DTYPES, FUNCTIONS
from ...support.arrays import has_rough_halves
from ...support.backends import Backend, backend
from ...support.table_harness import translation_unit

Array = numpy.ndarray[Any, Any]


def _entered(request: pytest.FixtureRequest) -> Iterator[Backend]:
    if request.param == "emulator" and not available():
        pytest.skip("the emulator needs g++")
    if request.param == "numpy" and request.config.getoption("--emulated"):
        pytest.skip("with --emulated the CPU device is the emulator")
    with backend(request.param) as entered:
        yield entered


_GPU = pytest.param("gpu", marks=pytest.mark.gpu)
anywhere = pytest.fixture(params=["numpy", "emulator", _GPU], name="anywhere")(_entered)
generated = pytest.fixture(params=["emulator", _GPU], name="generated")(_entered)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_largest_error(anywhere: Backend, name: str) -> None:
    too_large = []
    for label, dtype in DTYPES.items():
        if not accuracy.has_loop(name, dtype) or (anywhere.is_numpy and label == "float16" and has_rough_halves()):
            continue
        found = accuracy.measure(name, dtype, lambda *arrays: anywhere.compute(name, *arrays), anywhere.count)
        most = accuracy.allowed(name, dtype, anywhere.is_numpy)
        if not found.floats <= most:
            too_large.append(f"{name} of {label} is {found.floats:.0f} floats off, {most:g} allowed: {found}")
    assert not too_large, "\n".join(too_large)


@pytest.mark.parametrize("label", DTYPES)
def test_logarithms_and_powers_of_two_and_ten_are_exact(generated: Backend, label: str) -> None:
    dtype = DTYPES[label]
    info = ml_dtypes.finfo(dtype)
    exponents = numpy.arange(int(info.minexp) - int(info.nmant), int(info.maxexp))
    powers = numpy.ldexp(1.0, exponents).astype(dtype)
    numpy.testing.assert_array_equal(generated.compute("log2", powers), exponents.astype(dtype))
    numpy.testing.assert_array_equal(generated.compute("exp2", exponents.astype(dtype)), powers)
    tens = numpy.array([k for k in range(23) if 5**k < 2 ** (int(info.nmant) + 1) and 10**k <= float(info.max)])
    numpy.testing.assert_array_equal(generated.compute("log10", (10.0**tens).astype(dtype)), tens.astype(dtype))


@pytest.mark.parametrize("label", ["float32", "float64"])
def test_powers_that_a_float_holds_are_exact(generated: Backend, label: str) -> None:
    dtype = DTYPES[label]
    cases = []
    for base, exponent in itertools.product(range(1, 41), range(12)):
        if base**exponent < 1 << (numpy.finfo(dtype).nmant + 1):
            cases.append((base, exponent, base**exponent))
            if exponent:
                cases.append((-base, exponent, (-base) ** exponent))
            cases += [(base**exponent, 0.5, base ** (exponent / 2))] if exponent % 2 == 0 else []
            cases += [(base**exponent, 0.25, base ** (exponent / 4))] if exponent % 4 == 0 else []
    bases, exponents, want = (numpy.array(column, dtype) for column in zip(*cases, strict=True))
    numpy.testing.assert_array_equal(generated.compute("power", bases, exponents), want)


_FLOATS = tuple(DTYPES.values())
_COMPLEX = (numpy.dtype("complex64"), numpy.dtype("complex128"))
_NANS = [numpy.copysign(numpy.nan, sign) for sign in (1, -1)]


def _signs(array: Array) -> list[bool]:
    parts = (array.real, array.imag) if array.dtype.kind == "c" else (array,)
    return [bool(sign) for part in parts for sign in numpy.signbit(part)]


@pytest.mark.parametrize("name", ["sinh", "cosh", "sin", "cos"])
@pytest.mark.parametrize("dtype", _COMPLEX, ids=lambda dtype: C_TYPE[dtype])
def test_the_sign_of_a_zero(generated: Backend, name: str, dtype: numpy.dtype[Any]) -> None:
    """Of complex functions on both axes, where the sine and the cosine of the other part decide it."""
    numbers = [complex(zero, y) for zero in (0.0, -0.0) for y in (0.0, -0.0, 1.0, 2.0, 3.5, 6.0, -1.0, -2.0, -3.5)]
    array = numpy.array([*numbers, *[complex(z.imag, z.real) for z in numbers]], dtype)
    assert _signs(generated.compute(name, array)) == _signs(getattr(numpy, name)(array))


@pytest.mark.parametrize("dtype", [*_FLOATS, *_COMPLEX], ids=lambda dtype: C_TYPE[dtype])
def test_the_sign_of_a_nan_is_kept(anywhere: Backend, dtype: numpy.dtype[Any]) -> None:
    """By what works on signs, by what copies one of its arguments, and by casts."""
    nans = numpy.array(_NANS, dtype)
    if dtype.kind == "c":
        nans.imag = _NANS[::-1]
    else:
        ones = numpy.ones(2, dtype)
        for name in ("absolute", "fabs"):
            assert _signs(anywhere.compute(name, nans)) == [False, False], name
        assert _signs(anywhere.compute("copysign", ones, nans)) == [False, True]
        assert _signs(anywhere.compute("copysign", nans, -ones)) == [True, True]
        for name in ("maximum", "minimum"):
            assert _signs(anywhere.compute(name, nans, ones)) == [False, True], name
            assert _signs(anywhere.compute(name, ones, nans)) == [False, True], name
        assert _signs(anywhere.compute("clip", nans, -ones, ones)) == [False, True]
    assert _signs(anywhere.compute("negative", nans)) == _signs(-nans)
    assert _signs(anywhere.compute("conjugate", nans)) == _signs(numpy.conjugate(nans))
    for wanted in _COMPLEX if dtype.kind == "c" else (*_FLOATS, *_COMPLEX):
        assert _signs(anywhere.cast(nans, wanted)) == _signs(nans.astype(wanted)), wanted


def test_no_instruction_that_leaves_the_sign_of_a_nan_open() -> None:
    """PTX documents the NaN of abs and neg as unspecified, so these ops are bit operations."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC is not installed")
    cases = [(name, loop) for name in ("absolute", "fabs", "negative", "copysign") for loop in table.loops(name)]
    cases = [(name, loop) for name, loop in cases if loop[0].kind != "c" or name == "negative"]
    _, program = nvrtc.nvrtcCreateProgram(translation_unit(cases).encode(), b"signs.cu", 0, [], [])
    options = [b"--gpu-architecture=compute_90", b"--std=c++17", b"--fmad=false"]
    assert nvrtc.nvrtcCompileProgram(program, len(options), options)[0] == 0
    _, size = nvrtc.nvrtcGetPTXSize(program)
    text = b" " * size
    nvrtc.nvrtcGetPTX(program, text)
    assert b"xor.b64" in text
    assert not re.findall(rb"(?:abs|neg)\.(?:ftz\.)?(?:f|bf)\d+", text)
