"""Reduction kernels beside NumPy: on the CPU device, as generated CUDA in the emulator, and compiled for GPUs."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime.device import Device
from gpunumpy.kernels.codegen.op_code import helpers
from gpunumpy.kernels.cuda.user_program import UserProgram, compile_for
from gpunumpy.kernels.custom.reduction_text import ReductionTexts, check_text, reduction_of
from gpunumpy.kernels.custom.text import Variable
from gpunumpy.kernels.host import loops
from tests.emulator import available
from tests.emulator.emulated import emulated

pytestmark = pytest.mark.skipif(not available(), reason="the CPU device and the emulator need g++")

L2NORM = ("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
DOT = ("T x, T y", "T z", "x * y", "a + b", "z = a", 0, "dot")
RANGE = """
struct Range {
  float low, high;
  __device__ Range() : low(INFINITY), high(-INFINITY) {}
  __device__ Range(float x) : low(x), high(x) {}
  __device__ Range(float low, float high) : low(low), high(high) {}
};
__device__ Range joined(Range a, Range b) { return Range(min(a.low, b.low), max(a.high, b.high)); }
"""


@pytest.fixture(autouse=True, params=["cpu", "emulator", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The emulator, if that runs the kernels."""
    on = Device("cuda" if request.param == "cuda" else "cpu")
    with on, emulated() if request.param == "emulator" else nullcontext() as machine:
        yield machine


def random(*shape: int, dtype: Any = numpy.float32) -> Any:
    return numpy.random.default_rng(len(shape)).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (1, 2), (0, 1, 2), ()], ids=str)
def test_axes(axis: Any, keepdims: bool) -> None:
    x = random(4, 5, 6)
    result = np.ReductionKernel(*L2NORM)(np.asarray(x), axis=axis, keepdims=keepdims)
    wanted = numpy.sqrt((x * x).sum(axis=axis, keepdims=keepdims))
    assert (result.shape, result.dtype) == (wanted.shape, wanted.dtype)
    numpy.testing.assert_allclose(result.get(), wanted, rtol=1e-5)


@pytest.mark.parametrize("shape", [(), (1,), (1000,), (3, 70_000), (70_000, 3), (2, 300, 301)], ids=str)
def test_shapes(shape: tuple[int, ...]) -> None:
    x = numpy.asarray(random(*shape, dtype=numpy.float64))
    axis = len(shape) - 1 if shape else None
    result = np.ReductionKernel(*DOT)(np.asarray(x), np.asarray(x + 1), axis=axis)
    numpy.testing.assert_allclose(result.get(), (x * (x + 1)).sum(axis=axis), rtol=1e-9, atol=1e-9)


def test_rows_in_parts_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "MIN_OPERAND_BYTES", 512)
    monkeypatch.setattr(loops, "BLOCK_BYTES", 1024)
    x = numpy.arange(1, 10_001)
    total = np.ReductionKernel("T x", "T y", "x % 7 ? x : 0", "a + b", "y = a", "0", "total")
    assert int(total(np.asarray(x))) == x[x % 7 != 0].sum()
    rows = x.reshape(4, 2500)
    assert total(np.asarray(rows), axis=0).tolist() == numpy.where(rows % 7, rows, 0).sum(axis=0).tolist()


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float32", "complex64", "complex128"])
def test_dtypes(dtype: str) -> None:
    x = (random(50) * 3).astype(dtype)
    add = np.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "add", "double" if dtype == "float16" else None)
    result, wanted = add(np.asarray(x)), x.sum(dtype=dtype)
    assert result.dtype == x.dtype
    numpy.testing.assert_allclose(result.get(), wanted, rtol=1e-3 if dtype == "float16" else 1e-5)


def test_types_of_partial_results() -> None:
    x = numpy.full(100, 100, numpy.int8)
    for name in ("int", "long long", "float64", "R"):
        kernel = np.ReductionKernel("T x", "R y", "x", "a + b", "y = a", "0", "sum", name)
        assert int(kernel(np.asarray(x), np.zeros((), numpy.int64))) == 10_000


def test_several_outputs() -> None:
    x = random(6, 7)
    kernel = np.ReductionKernel("T x", "T y, int32 n2", "x", "max(a, b)", "y = a; n2 = 3", "-INFINITY", "greatest")
    greatest, three = kernel(np.asarray(x), axis=0)
    numpy.testing.assert_array_equal(greatest.get(), x.max(axis=0))
    assert three.dtype == numpy.int32
    assert three.get().tolist() == [3] * 7


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_partial_results_of_a_type_of_ones_own(axis: Any) -> None:
    x = random(40, 30)
    kernel = np.ReductionKernel(
        "float32 x",
        "float32 low, float32 width",
        "Range(x)",
        "joined(a, b)",
        "low = a.low; width = a.high - a.low",
        "",
        "extent",
        "Range",
        preamble=RANGE,
    )
    low, width = kernel(np.asarray(x), axis=axis)
    numpy.testing.assert_array_equal(low.get(), x.min(axis=axis))
    numpy.testing.assert_array_equal(width.get(), numpy.ptp(x, axis=axis))


def test_outputs_that_are_given() -> None:
    x, y, z = random(4, 5), np.zeros(4, numpy.float32), np.zeros(4, numpy.float32)
    kernel = np.ReductionKernel(*L2NORM)
    assert kernel(np.asarray(x), y, axis=1) is y
    assert kernel(np.asarray(x), out=z, axis=1) is z
    numpy.testing.assert_allclose(y.get(), numpy.sqrt((x * x).sum(axis=1)), rtol=1e-6)
    assert (y == z).all()


def test_no_elements() -> None:
    empty = np.zeros((3, 0))
    count = np.ReductionKernel("T x", "T y", "x", "a + b", "y = a + 1", "5", "count")
    assert count(empty, axis=1).tolist() == [6, 6, 6]
    assert count(empty, axis=0).shape == (0,)
    with pytest.raises(ValueError, match="no elements to reduce, and the kernel has no identity"):
        np.ReductionKernel("T x", "T y", "x", "a + b", "y = a", None, "count")(empty)


def test_it_is_one_kernel_with_what_is_around_it(device: Any) -> None:
    x = np.asarray(random(40, 50))
    if device is None:
        return
    np.synchronize()
    before = device.kernels
    result = np.exp(-np.ReductionKernel(*L2NORM)(np.sqrt(np.abs(x)) + 1, axis=1)) * 2
    y = numpy.sqrt(numpy.abs(x.get())) + 1
    numpy.testing.assert_allclose(result.get(), numpy.exp(-numpy.sqrt((y * y).sum(axis=1))) * 2, rtol=1e-4)
    assert device.kernels == before + 1


def test_a_copy_by_pickle() -> None:
    kernel = pickle.loads(pickle.dumps(np.ReductionKernel(*L2NORM)))
    assert float(kernel(np.asarray([3.0, 4.0]))) == 5


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (("raw T x", "T y"), "all inputs are raw"),
        (("", "T y"), "at least one input"),
        (("T x", ""), "one output"),
    ],
)
def test_kernels_that_cannot_be(made: Any, message: str) -> None:
    texts = [*made, "x", "a + b", "y = a", "0"]
    with pytest.raises(ValueError, match=message):
        np.ReductionKernel(*texts)


@pytest.mark.parametrize("options", [("--use_fast_math",), ("-DN=1", "-I/tmp"), ("-std=c++20",)], ids=str)
def test_options_are_refused(options: Any) -> None:
    with pytest.raises(ValueError, match=r"is not supported.*allowed: -DNAME"):
        np.ReductionKernel(*L2NORM, options=options)


def test_options_define_macros() -> None:
    options = ("-DFACTOR=3", "-DNEGATIVE(x)=(-(x))", "-DON", "-std=c++14")
    kernel = np.ReductionKernel("T x", "T y", "NEGATIVE(FACTOR * x)", "a + b", "y = a + ON", "0", options=options)
    assert float(kernel(np.arange(4.0))) == -17


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)], ids=str)
def test_raw_inputs_of_elements(axis: Any) -> None:
    table, at = random(7), numpy.random.default_rng(0).integers(0, 7, (4, 5))
    kernel = np.ReductionKernel("raw T table, I at", "T y", "table[at] * 2", "a + b", "y = a", "0", "looked_up")
    wanted = (table[at] * 2).sum(axis=axis)
    numpy.testing.assert_allclose(kernel(np.asarray(table), np.asarray(at), axis=axis).get(), wanted, rtol=1e-5)


def test_raw_inputs_of_the_result() -> None:
    x, scale = random(3, 4), random(3)
    kernel = np.ReductionKernel(
        "T x, raw T scale", "T y", "x", "max(a, b)", "y = a * scale[i] + n", "-INFINITY", "scaled"
    )
    wanted = x.max(axis=1) * scale + numpy.float32(3)
    given = [np.asarray(x), np.asarray(scale)]
    numpy.testing.assert_allclose(kernel(*given, axis=1).get(), wanted, rtol=1e-6)
    numpy.testing.assert_allclose((kernel(given[0] * 2, given[1], axis=1) - 3).get(), 2 * (wanted - 3), rtol=1e-5)


def test_raw_outputs() -> None:
    x, y = random(3, 4), np.zeros(6, np.float32)
    kernel = np.ReductionKernel("T x", "raw T y", "x", "a + b", "y[2 * i] = a", "0", "strided")
    assert kernel(np.asarray(x), y, axis=1) is y
    numpy.testing.assert_allclose(y.get()[::2], x.sum(axis=1), rtol=1e-5)
    assert (y.get()[1::2] == 0).all()
    with pytest.raises(ValueError, match="give the output"):
        kernel(np.asarray(x))


def test_raw_parameters_of_no_elements() -> None:
    kernel = np.ReductionKernel("T x, raw T more", "T y", "x", "a + b", "y = a + more[0]", "0", "none")
    assert kernel(np.zeros((2, 0)), np.array([5.0]), axis=1).tolist() == [5, 5]


def test_parameters_of_calls() -> None:
    x, y = np.arange(4.0), np.zeros(())
    kernel = np.ReductionKernel(*L2NORM)
    assert kernel(x, stream=None, out=y) is y
    with Device("cpu"):
        assert float(kernel(np.arange(4.0), stream=np.cuda.Stream())) == float(y)
    with pytest.raises(ValueError, match="out is given twice"):
        kernel(x, y, out=y)


@pytest.mark.parametrize(
    ("args", "keywords", "error", "message"),
    [
        ((), {}, TypeError, "the call has 0"),
        (([1.0], 2.0), {}, TypeError, "the output y has to be an array of gpunumpy"),
        (([1.0],), {"axis": 1}, ValueError, "axis 1 is out of bounds"),
        (([1.0], [1.0]), {}, ValueError, r"the output y has shape \(1,\), the result \(\)"),
    ],
)
def test_arguments_that_cannot_be(args: Any, keywords: Any, error: Any, message: str) -> None:
    given = [np.asarray(x) if isinstance(x, list) else x for x in args]
    with pytest.raises(error, match=message):
        np.ReductionKernel(*L2NORM)(*given, **keywords)


@pytest.mark.parametrize("part", range(2, 6))
def test_a_text_that_does_not_compile_raises_where_it_is_called(part: int) -> None:
    texts = list(L2NORM)
    texts[part] = "misspelt"
    with pytest.raises(np.DeviceError, match=r"(?s)l2norm does not compile.*misspelt"):
        np.ReductionKernel(*texts)(np.ones(3))


def test_a_type_of_ones_own_has_no_raw_parameters() -> None:
    texts = ("T x, raw T z", "T y", "Range(x)", "joined(a, b)", "y = a.low + z[0]", "", "extent", "Range")
    with pytest.raises(ValueError, match="no parameter is raw"):
        np.ReductionKernel(*texts, preamble=RANGE)(np.ones(3), np.ones(3))


def test_a_type_of_ones_own_has_one_input() -> None:
    kernel = np.ReductionKernel("T x, T z", "T y", "Range(x)", "a", "y = 1", "", "extent", "Range", preamble=RANGE)
    with pytest.raises(ValueError, match="'Range', which is no dtype, a reduction has one input"):
        kernel(np.ones(3), np.ones(3))


# --- texts for GPUs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_texts_compile_for_gpus(arch: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    f32 = numpy.dtype("f4")
    outputs = (Variable("low", f32), Variable("high", f32))
    texts = ReductionTexts(
        *("extent", (), "Range", "joined(a, b)", "", RANGE, "x", "Range(x)", outputs, "low = a.low; high = a.high"),
        "high",
    )
    op = reduction_of(texts, (f32, f32))
    assert compile_for(UserProgram(check_text(op, (f32, f32), helpers([(op, (f32, f32))]))), arch)[0]


def test_numbers_alone() -> None:
    total = np.ReductionKernel("float64 x", "float64 z", "x", "a + b", "z = a", "0", "total_of_numbers")
    for _ in range(2):
        for given in ((1.5,), (1.5, np.zeros(()))):
            with pytest.raises(ValueError, match="no array tells the number of elements"):
                total(*given)
        assert total(np.array([1.5, 2.0])) == 3.5
