"""The table's C, run on the host and on a GPU, against NumPy; and all of it through NVRTC for every architecture."""

from __future__ import annotations

import importlib
import shutil
import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy
import pytest

from gpunumpy.core.dtypes import C_TYPE, DTYPES, KIND, bfloat16, float4_e2m1fn
from gpunumpy.core.ops import table
from gpunumpy.kernels.codegen import op_code
from gpunumpy.kernels.host import op_functions

from ...support.table_harness import Case, Compiled, elementwise_cases, reduction_cases, translation_unit
from ...support.table_reference import (
    answer,
    arguments,
    precise,
    random,
    same_bits,
    signs_left_open,
    specials,
    tolerance,
    within,
)

# The low-precision loops of NumPy and ml_dtypes treat the sign of zero unlike the float32 loops that the ops use.
_ZERO_SIGNS = {"maximum", "minimum", "fmax", "fmin", "clip", "sign"}
# Linear algebra and dates.
_NOT_ROWS = {"matmul", "vecdot", "vecmat", "matvec", "isnat", "divmod", "modf", "frexp"}
_ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100")


def _label(case: Case) -> str:
    return "-".join([case[0], *(C_TYPE[dtype] for dtype in case[1])])


@pytest.fixture(scope="module", params=["g++", pytest.param("cuda", marks=pytest.mark.gpu)])
def compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The ops as the host's compiler makes them, and as they are on a GPU."""
    if request.param == "cuda":
        return importlib.import_module("tests.support.table_device").OnDevice()
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    return Compiled(tmp_path_factory.mktemp("table"))


def test_every_ufunc_has_an_op() -> None:
    names = {f.__name__ for f in vars(numpy).values() if isinstance(f, numpy.ufunc)}
    assert names - _NOT_ROWS <= set(table.ELEMENTWISE)
    assert {part[0] for part in table.UFUNC_OUTPUTS.values()} == {"modf", "frexp"}


@pytest.mark.parametrize("name", table.ELEMENTWISE)
def test_elementwise(compiled: Compiled, name: str) -> None:
    for loop in table.loops(name):
        case = (name, loop)
        inputs = arguments(case)
        got = compiled.apply(case, inputs)
        if allowed := tolerance(case):
            want = signs_left_open(case, inputs, got, precise(case, inputs))
            good = within(got, want, allowed)
        else:
            want = answer(case, inputs)
            good = same_bits(got, want)
        # A NaN that is computed may have either sign, and in float4, which has none, it is a zero of either sign.
        is_zero_of_nan = loop[-1] == float4_e2m1fn and name != "cast"
        if (name in _ZERO_SIGNS and KIND[loop[0]] == "e") or is_zero_of_nan:
            good |= got == want
        bad = numpy.flatnonzero(~good)
        assert not bad.size, [
            (_label(case), [array[i] for array in inputs], "got", got[i], "want", want[i]) for i in bad[:5]
        ]


def _data(dtype: numpy.dtype[Any], length: int) -> list[numpy.ndarray[Any, Any]]:
    rng = numpy.random.default_rng(length)
    plain = random(dtype, length, (-3.0, 3.0), rng)
    if KIND[dtype] in "biu":
        return [plain]
    with_nan = plain.copy()
    with_nan[length // 3 :: 5] = numpy.nan
    return [plain, with_nan]


def _numpy_reduces(case: Case, array: numpy.ndarray[Any, Any]) -> Any:
    name, (argument, result) = case
    if name in ("argmax", "argmin", "count_nonzero", "any", "all"):
        return getattr(numpy, name)(array)
    wide = array
    if name in ("add", "multiply", "hypot", "logaddexp", "logaddexp2", "moments") and KIND[result] in "efc":
        wide = array.astype({"c": "complex128"}.get(KIND[argument], "float64"))
    if name == "moments":
        return numpy.var(wide, ddof=1)
    if name in ("add", "multiply") and KIND[result] in "biu":
        return getattr(numpy, name).reduce(array, dtype=result)
    return getattr(numpy, name).reduce(wide)


@pytest.mark.parametrize("name", table.REDUCTIONS)
@pytest.mark.parametrize("length", [1, 2, 37])
def test_reduction(compiled: Compiled, name: str, length: int) -> None:
    for loop in table.reduction_loops(name):
        case = (name, loop)
        for array in _data(loop[0], length):
            with warnings.catch_warnings(), numpy.errstate(all="ignore"):
                warnings.simplefilter("ignore", RuntimeWarning)  # ddof=1 of one element
                want = numpy.asarray(_numpy_reduces(case, array))
                got = numpy.asarray(compiled.reduce(case, array, 1.0))
                if KIND[loop[-1]] in "biu":
                    assert got == want, (_label(case), array)
                    continue
                eps = float(ml_dtypes.finfo(loop[-1]).eps)
                wide = got.astype(complex)
                scale = 1.0 if name != "add" else float(numpy.nansum(numpy.abs(array.astype(complex)))) or 1.0
                numpy.testing.assert_allclose(
                    wide, want.astype(loop[-1]).astype(complex), rtol=4 * eps, atol=eps * scale, err_msg=_label(case)
                )


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_first_of_equal_values(compiled: Compiled, name: str) -> None:
    for loop in table.reduction_loops(name):
        for values in ([0, 1, 1, 0, 0, 1], [1, 0, 0, 1], [1, 1, 1]):
            array = numpy.array(values).astype(loop[0])
            assert compiled.reduce((name, loop), array) == getattr(numpy, name)(array)


_COMPLEX_FUNCTIONS = [
    op.name
    for op in table.ELEMENTWISE.values()
    if "c128" in op.code.get("c", "") and op.name not in ("cast", "power", "float_power")
]


@pytest.mark.parametrize("name", _COMPLEX_FUNCTIONS)
def test_complex_functions_at_every_magnitude(compiled: Compiled, name: str) -> None:
    """Where formulas cancel, overflow or underflow: near the axes and the unit circle, far from both."""
    rng = numpy.random.default_rng(7)
    bounded = name in ("exp", "exp2", "expm1", "sin", "cos", "sinh", "cosh")
    for magnitude in (1, 15, 150):
        parts = 10.0 ** rng.uniform(-magnitude, 2 if bounded else magnitude, (2, 2000))
        z = numpy.array(parts[0] * rng.choice([-1, 1], 2000) + 1j * parts[1] * rng.choice([-1, 1], 2000))
        z[::7] /= numpy.abs(z[::7])
        z.real[::11], z.imag[::13], z.real[::17], z.imag[::19] = 1, 1, 0, 0
        case = (name, (z.dtype, z.dtype))
        with numpy.errstate(all="ignore"):
            good = within(compiled.apply(case, [z]), precise(case, [z]), tolerance(case))
        assert good.all(), z[~good][:5]


def test_variance_far_from_zero(compiled: Compiled) -> None:
    double = numpy.dtype("float64")
    array = 1e9 + numpy.random.default_rng(0).normal(size=1000)
    got = compiled.reduce(("moments", (double, double)), array, 0.0)
    numpy.testing.assert_allclose(got, array.var(), rtol=1e-12)


def test_empty_reductions(compiled: Compiled) -> None:
    for case in reduction_cases():
        name, loop = case
        if name in ("add", "multiply", "logical_and", "logical_or", "bitwise_and", "bitwise_or", "bitwise_xor", "gcd"):
            want = numpy.asarray(getattr(numpy, name).identity).astype(loop[-1])
            assert compiled.reduce(case, numpy.empty(0, loop[0])) == want, _label(case)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 3)])
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # arctanh(1)
def test_host_ops_keep_the_shape(shape: tuple[int, ...]) -> None:
    for name in table.ELEMENTWISE:
        for loop in table.loops(name):
            inputs = [numpy.ones(shape, dtype) for dtype in loop[:-1]]
            function = op_functions.function(name, loop)
            fresh, out = numpy.asarray(function(*inputs)), numpy.empty(shape, loop[-1])
            function(*inputs, out=out)
            assert fresh.shape == shape, _label((name, loop))
            assert same_bits(fresh.astype(loop[-1]), out).all(), _label((name, loop))


def test_nextafter_of_zeros_takes_the_sign_of_the_second(compiled: Compiled) -> None:
    for name in ("float16", "bfloat16", "float32", "float64"):
        dtype = numpy.dtype(bfloat16 if name == "bfloat16" else name)
        zeros = numpy.array([0.0, -0.0, 0.0, -0.0], dtype), numpy.array([0.0, -0.0, -0.0, 0.0], dtype)
        got = compiled.apply(("nextafter", (dtype,) * 3), zeros)
        assert same_bits(got, zeros[1]).all(), name


def test_resolve_follows_nep_50() -> None:
    f32, i8 = numpy.dtype("float32"), numpy.dtype("int8")
    assert table.resolve("add", (f32, float)) == (f32, f32, f32)
    assert table.resolve("add", (i8, int)) == (i8, i8, i8)
    assert table.resolve("add", (bfloat16, int)) == (bfloat16,) * 3
    assert table.resolve("add", (bfloat16, float)) == (f32,) * 3  # as NumPy with ml_dtypes
    assert table.resolve("sin", (i8,))[-1] == numpy.float16
    assert table.resolve("clip", (i8, int, int)) == (i8,) * 4
    assert table.resolve("clip", (bfloat16, bfloat16, int)) == (bfloat16,) * 4
    assert table.resolve("where", (numpy.dtype(bool), f32, complex))[-1] == numpy.complex64
    assert table.resolve("modf_int", (f32,)) == (f32, f32)


@pytest.mark.parametrize(("name", "dtypes"), [("bitwise_and", ("f4", "f4")), ("subtract", ("?", "?")), ("sin", ("g",))])
def test_no_such_loop(name: str, dtypes: tuple[str, ...]) -> None:
    with pytest.raises(TypeError):
        table.resolve(name, tuple(numpy.dtype(dtype) for dtype in dtypes))


def test_unknown_names() -> None:
    with pytest.raises(KeyError, match="allowed: add"):
        op_code.expression("frobnicate", (DTYPES[0],), [])
    with pytest.raises(KeyError, match="allowed: add"):
        op_code.reduction("frobnicate", (DTYPES[0],))
    with pytest.raises(TypeError, match="no loop for f32"):
        op_code.expression("bitwise_and", (numpy.dtype("float32"),) * 3, ["a", "b"])


def test_helpers_are_pasted_only_where_needed() -> None:
    f32, c64 = numpy.dtype("float32"), numpy.dtype("complex64")
    plain = op_code.helpers([("sin", (f32, f32))])
    assert "struct f16" in plain
    assert "Hull" not in plain
    assert "floor_divide" not in plain
    assert "Hull" in op_code.helpers([("arcsin", (c64, c64))])
    assert "#include" not in op_code.helpers(elementwise_cases())


def test_each_application_compiles_with_its_own_helpers(tmp_path: Path) -> None:
    """With the helpers of one application and no more, for a sample that takes every helper file in turn."""
    nvrtc = pytest.importorskip("cuda.core", reason="NVRTC is not installed")
    options = nvrtc.ProgramOptions(arch="sm_90", std="c++17", fma=False)
    cases = [(name, table.loops(name)[at]) for name in table.ELEMENTWISE for at in (0, -1)]
    for case in cases[::9]:
        nvrtc.Program(translation_unit([case]), "c++", options).compile("cubin")
    for case in reduction_cases()[::17]:
        nvrtc.Program(translation_unit([], [case]), "c++", options).compile("cubin")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("architecture", _ARCHITECTURES)
def test_everything_compiles(architecture: str) -> None:
    nvrtc = pytest.importorskip("cuda.core", reason="NVRTC is not installed")
    bindings = pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC is not installed")
    known = bindings.nvrtcGetSupportedArchs()[1]
    if int(architecture.removeprefix("sm_")) not in known:
        pytest.skip(f"this NVRTC does not know {architecture}")
    # Little optimisation: it is the text that is tested, and a thousand functions take long enough.
    options = nvrtc.ProgramOptions(arch=architecture, std="c++17", fma=False, ofast_compile="max")
    # All of it for the oldest architecture, which lacks most; of the same text a share for each of the others.
    at = _ARCHITECTURES.index(architecture)
    share = slice(at, None, 6 if at else 1)
    text = translation_unit(elementwise_cases()[share], reduction_cases()[share])
    assert nvrtc.Program(text, "c++", options).compile("cubin").code


def test_special_values_are_in_range() -> None:
    for dtype in DTYPES:
        assert specials(dtype).dtype == dtype
