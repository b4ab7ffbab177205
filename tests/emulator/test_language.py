"""The vocabulary: qualifiers, vector types, bit functions, conversions, mathematics, parameters."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from tests.emulator import available, build, compile_text, precompile
from tests.emulator.executor import scalar_words
from tests.emulator.hand_written import run_text

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")


def values(expression: str, inputs: numpy.ndarray, c_in: str, c_out: str, out: str) -> numpy.ndarray:
    """`expression` of every x of `inputs`."""
    text = f"""
    extern "C" __global__ void __launch_bounds__(64, 2)
    k(const {c_in}* __restrict__ a, {c_out}* __restrict__ out, const long long n) {{
        #pragma unroll 4
        for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {{
            const {c_in} x = a[i];
            out[i] = {expression};
        }}
    }}
    """
    result = numpy.zeros(len(inputs), out)
    run_text(text, inputs, result, grid=(2,), block=(64,), params=(len(inputs),))
    return result


FLOATS = numpy.array([0.0, -0.0, 1.5, -2.5, 3e38, numpy.inf, -numpy.inf, numpy.nan, 1e-40, 0.1], numpy.float32)
WORDS = numpy.array([0, 1, 2, 0x80000000, 0xFFFFFFFF, 0x12345678], numpy.uint32)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("__float_as_uint(x)", FLOATS.view("u4")),
        ("__float_as_int(x)", FLOATS.view("u4")),
        ("__float_as_uint(-x)", (-FLOATS).view("u4")),
        ("__double2hiint((double)x)", (FLOATS.astype("f8").view("u8") >> 32).astype("u4")),
        ("isnan(x) + 2 * isinf(x)", numpy.isnan(FLOATS) + 2 * numpy.isinf(FLOATS)),
        ("signbit(x)", numpy.signbit(FLOATS)),
        ("__float2int_rn(x)", numpy.array([0, 0, 2, -2, 2**31 - 1, 2**31 - 1, -(2**31), 0, 0, 0]).astype("u4")),
        ("__float2uint_rd(x)", numpy.array([0, 0, 1, 0, 2**32 - 1, 2**32 - 1, 0, 0, 0, 0], "u4")),
        ("__float_as_uint(__fsqrt_rn(fabsf(x)))", numpy.sqrt(abs(FLOATS)).view("u4")),
        ("__float_as_uint(fmaxf(x, 1.0f))", numpy.fmax(FLOATS, numpy.float32(1)).view("u4")),
    ],
)
def test_functions_of_floats(expression: str, expected: numpy.ndarray) -> None:
    numpy.testing.assert_array_equal(values(expression, FLOATS, "float", "unsigned int", "u4"), expected)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("__popc(x)", [0, 1, 1, 1, 32, 13]),
        ("__clz(x)", [32, 31, 30, 0, 0, 3]),
        ("__ffs(x)", [0, 1, 2, 32, 1, 4]),
        ("__popcll(x * 0x100000001ull)", [0, 2, 2, 2, 64, 26]),
        ("__clzll(x)", [64, 63, 62, 32, 32, 35]),
        ("__brev(x)", [0, 0x80000000, 0x40000000, 1, 0xFFFFFFFF, 0x1E6A2C48]),
        ("__byte_perm(x, 0, 0x0123)", [0, 0x01000000, 0x02000000, 0x80, 0xFFFFFFFF, 0x78563412]),
        ("__umulhi(x, x)", [int(x) ** 2 >> 32 for x in WORDS]),
        ("__umul64hi(x * 0x100000001ull, x)", [int(x) * 0x100000001 * int(x) >> 64 for x in WORDS]),
        ("__funnelshift_l(x, x, 8)", [((int(x) << 8 | int(x) >> 24) & 0xFFFFFFFF) for x in WORDS]),
        ("max(min(x, 5u), 1u)", [1, 1, 2, 5, 5, 5]),
        ("__ldg(a + i) + __ldcs(a + i)", [int(x) * 2 & 0xFFFFFFFF for x in WORDS]),
        ("(x == 2 ? make_uint4(1, 2, 3, 4) : make_uint4(x, x, x, x)).w", [0, 1, 4, 0x80000000, 0xFFFFFFFF, 0x12345678]),
        ("(unsigned)((int)x + 1)", [1, 2, 3, 0x80000001, 0, 0x12345679]),
    ],
)
def test_functions_of_words(expression: str, expected: list[int]) -> None:
    numpy.testing.assert_array_equal(values(expression, WORDS, "unsigned int", "unsigned int", "u4"), expected)


REALS = numpy.concatenate([numpy.linspace(-3, 3, 97), [1e5 + 0.25, -7.75]])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sin(x) + cos(x)", numpy.sin(REALS) + numpy.cos(REALS)),
        ("rsqrt(fabs(x) + 1)", 1 / numpy.sqrt(abs(REALS) + 1)),
        ("sinpi(x)", numpy.sin(numpy.pi * numpy.fmod(REALS, 2))),
        ("cospi(x)", numpy.cos(numpy.pi * numpy.fmod(REALS, 2))),
        ("hypot(x, 2.0) + fmod(x, 0.7)", numpy.hypot(REALS, 2) + numpy.fmod(REALS, 0.7)),
        ("__fma_rn(x, x, 1.0)", REALS * REALS + 1),
        ("__dmul_rn(x, 3.0) + rint(x)", REALS * 3 + numpy.rint(REALS)),
        ("exp10(x / 1e5) + log1p(fabs(x))", 10 ** (REALS / 1e5) + numpy.log1p(abs(REALS))),
    ],
)
def test_mathematics(expression: str, expected: numpy.ndarray) -> None:
    numpy.testing.assert_allclose(values(expression, REALS, "double", "double", "f8"), expected, rtol=1e-13, atol=1e-13)
    narrow = REALS.astype("f4").astype("f8")
    if "x / 1e5" not in expression and abs(narrow - REALS).max() < 1e-6:
        single = values(f"(float)({expression})", REALS.astype("f4"), "float", "float", "f4")
        numpy.testing.assert_allclose(single, expected, rtol=2e-5, atol=2e-5)


def test_sincospi_is_exact_where_it_can_be() -> None:
    halves = numpy.arange(-8, 9) / 2.0
    both = values("([&] { double s, c; sincospi(x, &s, &c); return s * 10 + c; })()", halves, "double", "double", "f8")
    exact = 10 * numpy.round(numpy.sin(numpy.pi * halves)) + numpy.round(numpy.cos(numpy.pi * halves))
    numpy.testing.assert_array_equal(both, exact)


def test_products_are_not_contracted() -> None:
    x = numpy.random.default_rng(0).random(1000)
    numpy.testing.assert_array_equal(values("x * x + x * 0.1", x, "double", "double", "f8"), x * x + x * 0.1)


def test_names_declared_by_the_text_overload_those_of_the_device() -> None:
    text = """
    struct c64 { float re, im; };
    __device__ __forceinline__ float abs(c64 z) { return sqrtf(z.re * z.re + z.im * z.im); }
    __device__ __forceinline__ c64 sqrt(c64 z) { return {sqrt(z.re), sqrt(z.im)}; }
    __constant__ float table[3] = {1.0f, 2.0f, 3.0f};
    __device__ int counter;
    namespace inner { template <class T> __host__ __device__ constexpr T twice(T x) { return x + x; } }
    extern "C" __global__ void k(float* out) {
        out[0] = abs(c64{3, 4}) + abs(-2) + abs(-0.5f);
        out[1] = sqrt(c64{9, 16}).im + sqrt(4.0f);
        out[2] = inner::twice(table[1]);
        out[3] = ++counter;
    }
    """
    out = numpy.zeros(4, numpy.float32)
    run_text(text, out, block=(1,))
    assert out[:3].tolist() == [7.5, 6.0, 4.0]
    assert out[3] >= 1


def test_parameters_of_every_kind() -> None:
    text = """
    extern "C" __global__ void k(double f, long long i, unsigned long long u, double re, double im, long long b,
                                 double* out, long long* whole, int* flag, long long n, long long m) {
        out[0] = f, out[1] = re, out[2] = im;
        whole[0] = i, whole[1] = (long long)(u >> 1), whole[2] = b, whole[3] = n, whole[4] = m;
        *flag = 9;
    }
    """
    out, whole = numpy.zeros(3), numpy.zeros(5, numpy.int64)
    scalars = (numpy.float16(0.5), -3, numpy.uint64(2**64 - 2), 1.5 - 2j, True)
    assert run_text(text, *scalars, out, whole, block=(1,), flag=True, params=(-5, 6)) == 9
    assert out.tolist() == [0.5, 1.5, -2.0]
    assert whole.tolist() == [-3, 2**63 - 1, 1, -5, 6]


def test_scalars_of_every_dtype_pass() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    one = scalar_words(1.0)
    for kind in (numpy.float16, ml_dtypes.bfloat16, numpy.float64):
        assert scalar_words(kind(1)) == one
    assert scalar_words(numpy.float32(1)) == (0x3F800000,)
    assert scalar_words(numpy.complex64(1)) == (*one, 0)
    for kind in (bool, numpy.bool_, numpy.int8, numpy.uint64):
        assert scalar_words(kind(1)) == (1,)


def test_compiled_texts_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [(f'extern "C" __global__ void k{i}(int* out) {{ *out = {i}; }}', [f"k{i}"]) for i in range(3)]
    precompile(texts)
    monkeypatch.setattr(build, "_call", lambda *given: pytest.fail("compiled again"))
    for text, entries in texts:
        assert compile_text(text, entries).fibers is False
