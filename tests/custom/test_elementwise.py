"""Elementwise kernels beside NumPy: on the CPU device, as generated CUDA in the emulator, and compiled for GPUs."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.dtypes import BYTE_FLOATS, DTYPES
from gpunumpy.core.graph.layout import Layout, c_strides
from gpunumpy.core.runtime.device import Device
from gpunumpy.kernels.codegen.op_code import helpers
from gpunumpy.kernels.cuda.user_program import UserProgram, compile_for
from gpunumpy.kernels.custom import cuda_loops, host_compiler, loop_text
from gpunumpy.kernels.custom.loop_text import Loop, LoopParameter, MadeLoop
from gpunumpy.kernels.custom.text import Operation, Variable, check_text, ops_of, overwrites
from tests.emulator import available
from tests.emulator.emulated import emulated
from tests.emulator.hand_written import OneKernel, OneLaunch, run_program

pytestmark = pytest.mark.skipif(not available(), reason="the CPU device and the emulator need g++")


@pytest.fixture(autouse=True, params=["cpu", "emulator", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The emulator, if that runs the kernels."""
    on = Device("cuda" if request.param == "cuda" else "cpu")
    with on, emulated() if request.param == "emulator" else nullcontext() as machine:
        yield machine


class Case(NamedTuple):
    """A kernel, its arguments, and what NumPy makes of them."""

    inputs: str
    outputs: str
    operation: str
    arguments: Callable[[], tuple[Any, ...]]
    reference: Callable[..., Any]
    keywords: Mapping[str, Any] = MappingProxyType({})


def random(*shape: int, dtype: Any = numpy.float32) -> Any:
    values = numpy.random.default_rng(len(shape)).normal(size=shape) * 4
    return values.astype(dtype)


PREAMBLE = """
#define OFFSET 3
template <class U> __device__ U twice(U x) { return x + x; }
__device__ T unused(T x) { return x; }
"""
CASES = {
    "squared_diff": Case(
        "float32 x, float32 y",
        "float32 z",
        "z = (x - y) * (x - y)",
        lambda: (random(3, 5), random(5)),
        lambda x, y: (x - y) * (x - y),
    ),
    "scalars": Case(
        "T x, T a, int32 n2",
        "T z",
        "z = a * x + n2",
        lambda: (random(7), 2.5, 3),
        lambda x, a, n: x * numpy.float32(a) + n,
    ),
    "statements": Case(
        "T x",
        "T z",
        "\n  T d = x > 0 ? x : -x;\n  for (int k = 0; k < 3; ++k) d = d / 2 + k;\n  z = d\n",
        lambda: (random(4, 4, dtype=numpy.float64),),
        lambda x: ((abs(x) / 2) / 2 + 1) / 2 + 2,
    ),
    "functions": Case(
        "T x", "T z", "z = max(min(x, T(1)), T(-1)) + fabs(x)", lambda: (random(50),), lambda x: x.clip(-1, 1) + abs(x)
    ),
    "index": Case(
        "T x", "int64 z", "z = i * 10 + n", lambda: (random(2, 3),), lambda x: numpy.arange(6).reshape(2, 3) * 10 + 6
    ),
    "size": Case(
        "T x", "int64 z", "z = _ind.size() - i", lambda: (random(2, 3),), lambda x: 6 - numpy.arange(6).reshape(2, 3)
    ),
    "preamble": Case(
        "T x",
        "T z",
        "z = twice(x) + OFFSET",
        lambda: (random(9),),
        lambda x: 2 * x + 3,
        {"preamble": PREAMBLE},
    ),
    "constant_memory": Case(
        "T x",
        "T z",
        "z = x * table[i % 3]",
        lambda: (random(7),),
        lambda x: x * numpy.array([2, 0.5, -1], numpy.float32)[numpy.arange(7) % 3],
        {"preamble": "__constant__ float table[3] = {2, 0.5, -1};"},
    ),
    "complex": Case(
        "T x, T y",
        "T z",
        "z = conj(x) * y + complex<float>(0, 1) * x.real()",
        lambda: (random(5).astype("c8") * (1 + 2j), random(5).astype("c8") * 1j),
        lambda x, y: x.conj() * y + numpy.complex64(1j) * x.real,
    ),
    "thrust": Case(
        "T x, T y",
        "T z",
        "z = thrust::conj(x) * thrust::sqrt(y) + thrust::pow(x, 2) + thrust::pow(x, y) + thrust::abs(y)",
        lambda: (numpy.array([1 + 2j, 0.5 - 1j, 3j], "c16"), numpy.array([0.5, 1 + 1j, -1], "c16")),
        lambda x, y: x.conj() * numpy.sqrt(y) + x**2 + x**y + abs(y),
    ),
    "halves": Case(
        "T x, T y",
        "T z",
        "T t = x * y; t += 1; z = t",
        lambda: (random(8, dtype="f2"), random(8, dtype="f2")),
        lambda x, y: x * y + numpy.float16(1),
    ),
    "booleans": Case("T x", "bool z", "z = x > 1", lambda: (random(8),), lambda x: x > 1),
    "raw": Case(
        "T x, raw T y",
        "T z",
        "z = x + y[_ind.size() - i - 1]",
        lambda: (random(6), random(6)),
        lambda x, y: x + y[::-1],
    ),
    "raw_strides": Case(
        "T x, raw T y",
        "T z",
        "z = x + y[i]",
        lambda: (random(2, 3), random(3, 2).T),
        lambda x, y: x + y.ravel().reshape(2, 3),
    ),
    "raw_indices": Case(
        "T x, raw T y",
        "T z",
        "ptrdiff_t at[] = {_ind.get()[1], 1 - _ind.get()[0]}; z = x + y[at] * y.shape()[0]",
        lambda: (random(2, 3), random(3, 2)),
        lambda x, y: x + y.T[::-1] * 3,
    ),
    "broadcast_beside_raw": Case(
        "T x, T w, raw T y",
        "T z",
        "z = x * w + y[0]",
        lambda: (random(2, 3), random(3), random(1)),
        lambda x, w, y: x * w + y[0],
    ),
    "only_raw": Case(
        "raw T x, int64 m", "T z", "z = x[i] * m", lambda: (random(9), 2), lambda x, m: x[:4] * m, {"size": 4}
    ),
    "outside_of_the_loop": Case(
        "T x",
        "T z",
        "z = x * scale",
        lambda: (random(9),),
        lambda x: x * 3,
        {"loop_prep": "const T scale = 3;", "after_loop": ";"},
    ),
}


def called(case: Case) -> tuple[Any, Any]:
    made = {k: v for k, v in case.keywords.items() if k != "size"}
    kernel = np.ElementwiseKernel(case.inputs, case.outputs, case.operation, "kernel", **made)
    given = case.arguments()
    asked = {"size": case.keywords["size"]} if "size" in case.keywords else {}
    result = kernel(*[np.array(x, copy=True) if isinstance(x, numpy.ndarray) else x for x in given], **asked)
    return result, case.reference(*given)


@pytest.mark.parametrize("name", CASES)
def test_results(name: str) -> None:
    result, wanted = called(CASES[name])
    assert isinstance(result, np.ndarray)
    assert result.dtype == (wanted.dtype if name not in ("index", "size") else numpy.int64)
    numpy.testing.assert_allclose(result.get(), wanted, rtol=1e-3 if name == "halves" else 3e-7)


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype not in BYTE_FLOATS], ids=str)
def test_all_dtypes(dtype: Any) -> None:
    x = numpy.arange(-3, 5).astype(dtype)
    kernel = np.ElementwiseKernel("T x, bool keep", "T z", "if (keep) z = x", "select")
    result = kernel(np.asarray(x), np.asarray(x == x))
    assert result.dtype == dtype
    assert result.get().tobytes() == x.tobytes()


@pytest.mark.parametrize("transposed", [False, True])
def test_outputs_that_are_given_are_read_and_written(transposed: bool) -> None:
    x, z = random(3, 4), random(3, 4)
    ours = np.array(z)
    if transposed:
        ours, x, z = ours.T, x.T, z.T
    view = ours[1:]
    kernel = np.ElementwiseKernel("T x", "T z", "z += x", "add_to")
    assert kernel(np.asarray(x), ours) is ours
    numpy.testing.assert_array_equal(view.get(), (z + x)[1:])


@pytest.mark.parametrize(
    ("operation", "reads"),
    [
        ("z = x", False),
        ("T d = x; z = d;", False),
        ("T d = x;\n z = d * d", False),
        ("z += x", True),
        ("z = z + x", True),
        ("if (x > 0) z = x", True),
        ("x > 0 && (z = x)", True),
        ("for (int k = 0; k < x; ++k) z = k", True),
        ("SET z = x", True),
        ("/* z */ ; z = x", True),
        ("bool is = x == 1;", True),
    ],
)
def test_outputs_are_read_unless_they_are_plainly_overwritten(operation: str, reads: bool) -> None:
    assert overwrites(operation, "", "z") is not reads
    assert not overwrites(operation, "#define x z", "z")
    if "SET" not in operation:
        x, z = numpy.arange(4.0), numpy.full(4, 0.5)
        ours = np.array(z)
        np.ElementwiseKernel("T x", "T z", operation, "write")(np.asarray(x), ours)
        wanted = {"z = x": x, "z += x": z + x, "if (x > 0) z = x": numpy.where(x > 0, x, z)}
        if operation in wanted:
            assert ours.tolist() == wanted[operation].tolist()


def test_an_output_is_larger_than_the_inputs() -> None:
    z = np.zeros((2, 3))
    np.ElementwiseKernel("T x", "T z", "z = x + i", "fill")(np.ones(3), z)
    assert z.tolist() == [[1, 2, 3], [4, 5, 6]]
    np.ElementwiseKernel("T x", "T z", "z = x", "fill")(np.ones(3), z)
    assert z.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_a_window_is_written() -> None:
    x, z = random(4), numpy.zeros((3, 4), numpy.float32)
    ours = np.array(z)
    np.ElementwiseKernel("T x", "T z", "z = x", "copy")(np.asarray(x), ours[1])
    z[1] = x
    numpy.testing.assert_array_equal(ours.get(), z)


def test_several_outputs_read_the_old_values_of_all() -> None:
    a, b = np.array([1.0, 2]), np.array([10.0, 20])
    kernel = np.ElementwiseKernel("", "T a, T b", "T c = a; a = b; b = c", "swap")
    assert kernel(a, b) == (a, b)
    assert (a.tolist(), b.tolist()) == ([10, 20], [1, 2])


def test_raw_outputs_are_added_to() -> None:
    x, bins = numpy.array([0, 2, 2, 1, 2]), np.array([5, 0, 0], numpy.int32)
    kernel = np.ElementwiseKernel("T x", "raw int32 bins", "atomicAdd(&bins[x], 1)", "count", no_return=True)
    before = bins + 0
    assert kernel(np.asarray(x), bins) is None
    assert bins.tolist() == [6, 1, 3]
    assert before.tolist() == [5, 0, 0]


def test_it_is_one_kernel_with_what_is_around_it(device: Any) -> None:
    x = np.asarray(random(40, 50))
    if device is None:
        return
    np.synchronize()
    before = device.kernels
    kernel = np.ElementwiseKernel("T x, T y", "T z", "z = x * y + 1", "fused")
    total = np.sqrt(np.abs(kernel(x + 1, x * 2))).sum(axis=1)
    y = x.get()
    numpy.testing.assert_allclose(total.get(), numpy.sqrt(numpy.abs((y + 1) * (y * 2) + 1)).sum(axis=1), rtol=1e-5)
    assert device.kernels == before + 1


def test_what_a_call_returns() -> None:
    x = np.ones(3)
    assert isinstance(np.ElementwiseKernel("T x", "T z", "z = x", return_tuple=True)(x), tuple)
    assert len(np.ElementwiseKernel("T x", "T y, T z", "y = x; z = x")(x)) == 2
    assert np.ElementwiseKernel("T x", "T z", "z = x", no_return=True)(x, x) is None
    assert np.ElementwiseKernel("T x", "T z", "z = x")(np.ones((2, 0))).shape == (2, 0)


def test_raw_outputs_that_are_made_have_the_size() -> None:
    x = np.arange(5.0)
    plus = np.ElementwiseKernel("raw T x", "raw T z", "z[i] = x[i] + 1", "plus_raw")
    assert plus(x, size=5).tolist() == [1, 2, 3, 4, 5]
    assert plus(x, size=2).tolist() == [1, 2]
    both = np.ElementwiseKernel("raw T x", "raw T y, raw float32 z", "y[i] = x[i]; z[i] = -x[i]", "two_raw")
    assert [part.tolist() for part in both(x, size=2)] == [[0, 1], [0, -1]]


@pytest.mark.parametrize(
    ("outputs", "operation", "wanted"),
    [
        ("int64 z", "z = 2 * i", [0, 2, 4]),
        ("int64 z", "z = 7", [7, 7, 7]),
        ("raw int64 z", "if (i > 1) z[i] = 5", [0, 0, 5]),
    ],
)
def test_there_may_be_no_inputs(outputs: str, operation: str, wanted: list[int]) -> None:
    kernel = np.ElementwiseKernel("", outputs, operation, "of_nothing")
    assert kernel(size=3).tolist() == wanted
    assert kernel(size=0).shape == (0,)
    with pytest.raises(ValueError, match="no array tells the number of elements; give size"):
        kernel()


def test_to_continue_is_to_end_with_an_element() -> None:
    kernel = np.ElementwiseKernel(
        "T x",
        "T z",
        "for (int k = 0; k < 4; ++k) { if (k == 2) continue; z += k; }\nif (x > 1) { continue; }\nz = -z",
        "skips",
    )
    assert kernel(np.arange(4.0)).tolist() == [-4, -4, 4, 4]


def test_arrays_of_numpys_are_inputs() -> None:
    x = numpy.arange(3.0)
    kernel = np.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[2 - i]", "with_reversed")
    for given in ((x, x), (np.asarray(x), x), (x, np.asarray(x))):
        assert kernel(*given).tolist() == [2, 2, 2]
    with pytest.raises(TypeError, match="the output z has to be an array of gpunumpy"):
        kernel(x, x, numpy.empty(3))


def test_kernels_tell_their_parameters() -> None:
    kernel = np.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[i]", "told")
    assert [(p.name, p.is_raw) for p in kernel.params] == [("x", False), ("y", True), ("z", False)]
    assert (kernel.nin, kernel.nout, kernel.nargs) == (2, 1, 3)
    total = np.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "told_total")
    assert (total.nin, total.nout, total.nargs, len(total.params)) == (1, 1, 2, 2)


def test_the_dimensions_of_the_loop() -> None:
    kernel = np.ElementwiseKernel("T x", "int32 z", "z = 10 * _ind.ndim + (int)_ind.shape()[1]", "dimensions")
    assert kernel(np.ones((2, 3))).tolist() == [[23] * 3] * 2


COMPLEX_FUNCTIONS = {
    "arcsin": "asin(x)",
    "arccos": "acos(x)",
    "arctan": "atan(x)",
    "arcsinh": "asinh(x)",
    "arccosh": "acosh(x)",
    "arctanh": "atanh(x)",
    "square": "pow(x, 2)",
    "exp2": "pow(2, x)",
    "isfinite": "T(isfinite(x) && !isinf(x))",
}
COMPLEX_VALUES = numpy.array(
    [0, 0.5, 2, -2, 2j, -0.5j, 1 + 2j, -3 + 0.25j, complex(2, -0.0), complex(-2, -0.0), 1e3 - 1e3j]
)


@pytest.mark.parametrize("name", COMPLEX_FUNCTIONS)
def test_functions_of_complex_numbers(name: str) -> None:
    kernel = np.ElementwiseKernel("T x", "T z", f"z = {COMPLEX_FUNCTIONS[name]}", name)
    values = COMPLEX_VALUES[:-1] if name == "exp2" else COMPLEX_VALUES
    with numpy.errstate(all="ignore"):
        wanted = getattr(numpy, name)(values)
    numpy.testing.assert_allclose(kernel(np.asarray(values)).get(), wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_functions_of_complex_numbers_compile_for_gpus(arch: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    for dtype in map(numpy.dtype, ("complex64", "complex128")):
        text = "; ".join(f"z += {call}" for call in COMPLEX_FUNCTIONS.values())
        x, z = Variable("x", dtype), Variable("z", dtype)
        (op,) = ops_of(Operation("complex_functions", (("T", dtype),), (x,), (z,), text))
        compile_for(UserProgram(check_text(op, (dtype, dtype), helpers([(op, (dtype, dtype))]))), arch)


CONSTANTS = (
    "int64_t k = x; uint32_t bits = 1; z = M_PI + M_SQRT1_2 * k + bits; if (CUDART_PI_F > CUDART_INF) z = CUDART_NAN"
)


def test_names_of_constants_and_integers() -> None:
    result = np.ElementwiseKernel("T x", "T z", CONSTANTS, "constants")(np.array([0.0, 2.0]))
    numpy.testing.assert_allclose(result.get(), numpy.pi + 1 + numpy.array([0, numpy.sqrt(2)]), rtol=1e-14)
    pytest.importorskip("cuda.bindings.nvrtc")
    f64 = numpy.dtype("f8")
    x, z = Variable("x", f64), Variable("z", f64)
    (op,) = ops_of(Operation("constants", (("T", f64),), (x,), (z,), CONSTANTS))
    assert compile_for(UserProgram(check_text(op, (f64, f64), helpers([(op, (f64, f64))]))), "sm_90")[0]
    loop = MadeLoop(
        Loop(
            "constants",
            (),
            (LoopParameter("x", f64, True, False), LoopParameter("z", f64, True, True)),
            "z[i] = M_PI * x[int32_t(i)]",
            "",
            "",
            "",
            (),
        )
    )
    assert compile_for(cuda_loops.program_of(loop, (1, 1), 1), "sm_90")[0]


def test_functions_of_cuda_on_the_host(device: Any) -> None:
    if device is not None:  # the emulator has fewer of them
        return
    x = numpy.array([-1.5, -1, -0.25, 0, 0.5, 1, 2.25])
    kernel = np.ElementwiseKernel("T x", "T s, T c", "s = sinpi(x); c = cospi(x)", "half_turns")
    for result, function in zip(kernel(np.asarray(x)), (numpy.sin, numpy.cos), strict=True):
        numpy.testing.assert_allclose(result.get(), function(numpy.pi * x), atol=4e-15)
    bits = np.ElementwiseKernel("uint32 x", "uint32 z, uint32 y", "z = __brev(x); y = __umulhi(x, 1u << 31)", "bits")
    assert [part.tolist() for part in bits(np.array([1, 6], numpy.uint32))] == [[1 << 31, 3 << 29], [0, 3]]
    vectors = np.ElementwiseKernel(
        "T x",
        "T z",
        "double3 v = make_double3(x, 2, 3); T s, c; sincospi(x, &s, &c); z = __fma_rn(v.y, v.z, s) + __dadd_rn(c, v.x)",
        "vectors",
    )
    assert vectors(np.array([0.0, 1.0, 0.5])).tolist() == [7, 6, 7.5]
    rounded = np.ElementwiseKernel("float32 x", "int32 z", "z = __float2int_rn(x) + 100 * __float2int_rd(x)", "rounded")
    assert rounded(np.array([2.5, -1.5], np.float32)).tolist() == [202, -202]
    sizes = np.ElementwiseKernel("T x", "T z", "z = norm3d(x, 2 * x, 2 * x) + 1 / rhypot(3 * x, 4 * x)", "sizes")
    numpy.testing.assert_allclose(sizes(np.array([1.0, 2.0])).get(), [8, 16], rtol=1e-14)


def test_a_copy_by_pickle() -> None:
    kernel = pickle.loads(pickle.dumps(np.ElementwiseKernel("T x", "T z", "z = x + 1", "plus")))
    assert kernel(np.ones(2)).tolist() == [2, 2]


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ("x", "T z", "'x' is no parameter"),
        ("T x, wild T y", "T z", "'wild T y' is no parameter: 'wild'"),
        ("T x T y", "T z", "'T x T y' is no parameter: 'T' before its type is .* commas"),
        ("T i", "T z", "may not be called 'i'"),
        ("T _x", "T z", "may not be called '_x'"),
        ("T x", "T x", "two parameters are called 'x'"),
    ],
)
def test_parameters_that_cannot_be(inputs: str, outputs: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        np.ElementwiseKernel(inputs, outputs, "")


F32, F64 = numpy.zeros(3, numpy.float32), numpy.zeros(3)


@pytest.mark.parametrize(
    ("parameters", "args", "error", "message"),
    [
        (("T x", "T z"), (), TypeError, r"arguments \(x\), or \(x, z\) with outputs; the call has 0"),
        (("T x", "T z"), (F32, F32, F32), TypeError, "the call has 3"),
        (("T x, T y", "T z"), (F32, F64), TypeError, "y is float64, and T is float32 here"),
        (("float64 x", "T z"), (F32, F32), TypeError, "x is float32, and has to be float64; convert it"),
        (("X x", "Z z"), (F32,), TypeError, "no array tells the type Z"),
        (("T x, T y", "T z"), (F32, None), TypeError, "y is None; allowed: arrays and numbers"),
        (("T x, T y", "T z"), (F32, "a"), TypeError, "y is 'a'; allowed: arrays and numbers"),
        (("T x, T y", "T z"), (F32, 1j), TypeError, "y is complex, and has to be float32"),
        (("T x, T y", "T z"), (F32, numpy.zeros(2, numpy.float32)), ValueError, "broadcast"),
        (("T x", "T z"), (F32, numpy.zeros((3, 3), numpy.float32)), None, ""),
        (("T x", "T z"), (numpy.zeros((2, 3), numpy.float32), F32), ValueError, "the output z has shape"),
        (("float32 x", "float32 z"), (1.5,), ValueError, "no array tells the number of elements"),
        (("raw float32 x", "float32 z"), (F32,), ValueError, "no array tells the number of elements"),
        (("raw T x", "raw T z"), (F32,), ValueError, "no array tells the number of elements"),
    ],
)
def test_arguments_that_cannot_be(parameters: Any, args: Any, error: Any, message: str) -> None:
    kernel = np.ElementwiseKernel(*parameters, "", "kernel")
    given = [np.asarray(x) if isinstance(x, numpy.ndarray) else x for x in args]
    if error is None:
        kernel(*given)
        return
    with pytest.raises(error, match=message):
        kernel(*given)


def test_numbers_alone_after_arrays() -> None:
    add = np.ElementwiseKernel("float64 x, int32 n_more", "float64 z", "z = x + n_more", "add_after_arrays")
    for _ in range(2):
        with pytest.raises(ValueError, match="no array tells the number of elements; give size"):
            add(1.5, 2)
        assert add(1.5, 2, size=3).tolist() == [3.5] * 3
        assert add(1.5, 2, np.zeros((2, 2))).tolist() == [[3.5] * 2] * 2
        assert add(np.array([1.5, 2.5]), 2).tolist() == [3.5, 4.5]


def test_sizes_that_cannot_be() -> None:
    kernel = np.ElementwiseKernel("raw T x", "T z", "z = x[0]", "first")
    with pytest.raises(ValueError, match="size is the number of elements, not -1"):
        kernel(np.ones(3), size=-1)
    with pytest.raises(TypeError, match="integer"):
        kernel(np.ones(3), size=1.5)
    with pytest.raises(ValueError, match="block_size is a positive number of threads, not 0"):
        kernel(np.ones(3), size=1, block_size=0)


def test_an_operation_without_outputs() -> None:
    with pytest.raises(ValueError, match="nothing: an operation has at least one output"):
        np.ElementwiseKernel("raw T x", "", "x[i];", "nothing")


def test_an_output_is_an_array() -> None:
    with pytest.raises(TypeError, match=r"the output z has to be an array of gpunumpy, not builtins.float"):
        np.ElementwiseKernel("T x", "T z", "z = x")(np.ones(3), 1.0)


def test_a_size_is_for_raw_arrays_alone() -> None:
    with pytest.raises(ValueError, match="size is given where all arrays are raw"):
        np.ElementwiseKernel("T x", "T z", "z = x")(np.ones(3), size=3)


def test_a_text_that_does_not_compile_raises_where_it_is_called() -> None:
    x = np.ones(3)
    y = x + 1
    kernel = np.ElementwiseKernel("T x", "T z", "z = x;\nz = misspelt;", "wrong", preamble="// of mine")
    with pytest.raises(np.DeviceError, match=r"(?s)wrong does not compile.*wrong[:(]2.*misspelt.*2 \| z = misspelt;"):
        kernel(x)
    assert y.tolist() == [2, 2, 2]


def test_there_is_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    if np.default_device() != "cpu":
        return
    monkeypatch.setenv("CXX", str(tmp_path / "none"))
    host_compiler._compiler.cache_clear()
    with pytest.raises(np.DeviceError, match="no compiler was found"):
        np.ElementwiseKernel("T x", "T z", "z = x + 12345", "new")(np.ones(3))
    monkeypatch.undo()
    host_compiler._compiler.cache_clear()


# --- texts for GPUs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize(
    "dtype", [numpy.dtype(x) for x in ("float16", "float32", "int8", "complex64", "complex128")], ids=str
)
def test_texts_of_ops_compile_for_gpus(dtype: Any, arch: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    x, z = Variable("x", dtype), Variable("z", dtype)
    operation = Operation("kernel", (("T", dtype),), (x,), (z,), "z += x * x + T(i) / T(n)", "#define N 3", True)
    (op,) = ops_of(operation)
    loop = (*operation.loop, dtype)
    assert compile_for(UserProgram(check_text(op, loop, helpers([(op, loop)]))), arch)[0]


def loop_of(operation: str, *parameters: LoopParameter, options: tuple[str, ...] = ()) -> MadeLoop:
    return MadeLoop(Loop("kernel", (("T", numpy.dtype("f4")),), parameters, operation, "", "", "", options))


def test_the_program_of_a_loop_for_gpus(device: Any) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    f32 = numpy.dtype("f4")
    parameters = (
        LoopParameter("x", f32, False, False),
        LoopParameter("y", f32, True, False),
        LoopParameter("z", f32, False, True),
    )
    loop = loop_of("z += x + y[_ind.size() - i - 1]", *parameters)
    program = cuda_loops.program_of(loop, (2, 1, 2), 2)
    assert compile_for(program, "sm_90")[0]
    if device is None:
        return
    x, y, z = random(3, 4).T, random(12), random(4, 3)
    result = z.copy()
    strides = tuple(s // 4 for s in x.strides)
    layouts = [Layout((4, 3), c_strides((4, 3)), 0), Layout((4, 3), strides, 0), Layout((12,), (1,), 0)]
    arrays = loop_text.layouts_of(loop.loop, layouts)
    params = (*loop_text.numbers_of(arrays, (4, 3)), 12)
    launches = [OneLaunch("run_loop", (2, 1, 1), (8, 1, 1), 0)]
    base = x.T  # the memory of x in C order
    run_program(OneKernel(program.text, tuple(launches), (), False, params), [result, base, y])
    numpy.testing.assert_allclose(result, z + (x + y[::-1].reshape(4, 3)), rtol=1e-6)


ATOMICS: dict[str, Any] = {
    "atomicAdd": numpy.add,
    "atomicSub": numpy.subtract,
    "atomicMax": numpy.maximum,
    "atomicMin": numpy.minimum,
    "atomicExch": None,
}


@pytest.mark.parametrize("function", ATOMICS)
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64", "float16", "bfloat16"])
def test_atomic_functions(function: str, dtype: str, device: Any) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    of = numpy.dtype(getattr(np, dtype))
    if of.itemsize == 2 and function != "atomicAdd":
        pytest.skip("as in CuPy, 16-bit floats are only added")
    # An even number of elements: of 16-bit floats, two are in the word that is written.
    x, at, start = (numpy.array(values) for values in ([3, 1, 2, 6], [0, 1, 0, 2], [12, 4, 9, 5]))
    x, y = x.astype(of), start.astype(of)
    if ATOMICS[function] is None:
        wanted = numpy.array([2, 1, 6, 5])  # one after the other here; a GPU may write 3 last
    else:
        wanted = start.copy()
        ATOMICS[function].at(wanted, at, x.astype(int))
    operation = f"{function}(&y[at], x)"
    int64 = numpy.dtype("i8")
    parameters = (
        LoopParameter("x", of, False, False),
        LoopParameter("at", int64, False, False),
        LoopParameter("y", of, True, True),
    )
    loop = MadeLoop(Loop("atomic", (("T", of),), parameters, operation, "", "", "", ()))
    program = cuda_loops.program_of(loop, (1, 1, 1), 1)
    for arch in ("sm_75", "sm_90"):
        assert compile_for(program, arch)[0]
    if device is None:
        ours = np.asarray(y)
        np.ElementwiseKernel("T x, int64 at", "raw T y", operation, "atomic")(np.asarray(x), np.asarray(at), ours)
        result = ours.get()
    else:
        arrays = loop_text.layouts_of(loop.loop, [Layout((n,), (1,), 0) for n in (4, 4, 4)])
        params = (*loop_text.numbers_of(arrays, (4,)), 4)
        launches = (OneLaunch("run_loop", (1, 1, 1), (8, 1, 1), 0),)
        result = y.copy()
        run_program(OneKernel(program.text, launches, (), False, params), [result, x, at])
    found = result.astype(int).tolist()
    assert found == wanted.tolist() or (function == "atomicExch" and found == [3, 1, 6, 5])


def test_files_are_included_outside_of_the_namespace(device: Any) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    f32 = numpy.dtype("f4")
    preamble = "// of mine\n#include <cuda_fp16.h>\n#if 0\n#include <nowhere.h>\n#endif\n"
    texts = ("z[i] = __half2float(__float2half(x[i]))", preamble, "", "")
    parameters = (LoopParameter("x", f32, True, False), LoopParameter("z", f32, True, True))
    loop = MadeLoop(Loop("halves", (), parameters, *texts, ()))
    program = cuda_loops.program_of(loop, (1, 1), 1)
    assert compile_for(program, "sm_90", "cubin")[0]
    if device is None:
        kernel = np.ElementwiseKernel(
            "T x", "T z", "z = std::clamp(x, T(1), T(2))", "clamped", preamble="#include <algorithm>"
        )
        if np.default_device() == "cpu":  # NVRTC has no header of that name
            assert kernel(np.arange(4.0)).tolist() == [1, 1, 2, 2]


def test_options_are_nvrtcs() -> None:
    x = LoopParameter("x", numpy.dtype("f4"), False, True)
    assert "--fmad=false" in cuda_loops.program_of(loop_of("x = 1", x), (1,), 1).options
    assert cuda_loops.program_of(loop_of("x = 1", x, options=("--use_fast_math",)), (1,), 1).options == (
        "--use_fast_math",
    )


def test_a_call_that_came_up_before_prepares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(6.0)
    double = np.ElementwiseKernel("T x", "T y", "y = 2 * x", "double_again")
    total = np.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total_again")
    gather = np.ElementwiseKernel("raw T x, T y", "T z", "z = x[0] + y", "gather_again")
    for kernel, call in (
        (double, lambda: double(x)),
        (double, lambda: double(x, np.empty(6))),
        (total, lambda: total(x, axis=0)),
        (gather, lambda: gather(x, x)),
    ):
        expected = next(iter([call().tolist() for _ in range(3)]))
        with monkeypatch.context() as patch:
            patch.setattr(type(kernel), "_record", None)
            assert call().tolist() == expected
        assert kernel(*[np.arange(4.0)] * (1 + (kernel is gather))).size in (1, 4)  # other sizes are recorded
