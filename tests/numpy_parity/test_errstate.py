"""Floating-point errors where a program asks for them: which, of what name, and how they are reported, as in NumPy."""

from __future__ import annotations

import gc
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import Device
from gpunumpy.functions.ufuncs import errstate as floating_errors
from tests.core.fusion.counting import kernels
from tests.emulator import available
from tests.emulator.emulated import emulated
from tests.support.arrays import has_rough_halves

pytestmark = pytest.mark.sampled(6)  # every case runs in the emulator too

CATEGORIES = ("divide", "over", "under", "invalid")


@pytest.fixture(autouse=True)
def nobody_asks_afterwards() -> Iterator[None]:
    yield
    gc.collect()  # from Python 3.14 on a thread's object keeps the context in which it asked
    -gpunumpy.ones(1)  # the next operation finds that nobody asks any more
    assert evaluate.watcher is None, [gc.get_referrers(asked) for asked in floating_errors._all_checked]


def errors(np: Any, case: Callable[..., Any], arrays: tuple[Any, ...]) -> list[str]:
    """The message of every category of errors that a call makes."""
    found = []
    for category in CATEGORIES:
        with np.errstate(**{"all": "ignore", category: "raise"}):
            try:
                case(np, *arrays)
            except FloatingPointError as error:
                found.append(str(error))
    return found


def compare(case: Callable[..., Any], arrays: tuple[Any, ...], device: str = "cpu") -> list[str]:
    expected = errors(numpy, case, arrays)
    with Device(device):
        assert errors(gpunumpy, case, tuple(map(gpunumpy.asarray, arrays))) == expected
    return expected


def unary(name: str) -> Callable[..., Any]:
    return lambda np, a: getattr(np, name)(a)


def binary(name: str) -> Callable[..., Any]:
    return lambda np, a, b: getattr(np, name)(a, b)


# Operations of one argument and values, some of which make an error; every value is tried alone.
VALUES = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e3, -1e3, numpy.inf, -numpy.inf, numpy.nan)
UNARY = (
    "negative absolute sign sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh"
)
UNARY += " arcsinh arccosh arctanh reciprocal square floor rint cbrt degrees isnan"
PAIRS = (
    (0, 0),
    (1, 0),
    (-1, 0),
    (numpy.inf, 0),
    (numpy.nan, 0),
    (2, 3),
    (numpy.inf, numpy.inf),
    (-numpy.inf, numpy.inf),
)
PAIRS += ((numpy.inf, -1), (0, -1.5), (0, numpy.inf), (-2, 0.5), (3, numpy.nan))
BINARY = (
    "add subtract multiply divide floor_divide remainder fmod power float_power arctan2 hypot maximum fmin copysign"
)
BINARY += " less equal heaviside"


@pytest.mark.parametrize("dtype", ["e", "f", "d"])
@pytest.mark.parametrize("name", UNARY.split())
def test_functions(name: str, dtype: str) -> None:
    if dtype == "e" and has_rough_halves():
        pytest.skip("NumPy's own loops of float16 raise flags for nothing")
    for value in VALUES:
        compare(unary(name), (numpy.array([value, 1], dtype)[:1].repeat(3),))


@pytest.mark.parametrize("dtype", ["e", "f", "d"])
@pytest.mark.parametrize("name", BINARY.split())
def test_functions_of_two(name: str, dtype: str) -> None:
    for a, b in PAIRS:
        compare(binary(name), (numpy.array([1, a], dtype), numpy.array([1, b], dtype)))


@pytest.mark.parametrize("dtype", ["i1", "i8", "u1", "u8"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod", "add", "multiply"])
def test_integers(name: str, dtype: str) -> None:
    least = numpy.iinfo(dtype).min
    for a, b in ((1, 0), (0, 0), (7, 2), (least, -1 if least else 1)):
        compare(binary(name), (numpy.array([1, a], dtype), numpy.array([1, b], dtype)))
    for value in (0, 1, 2):
        compare(unary("reciprocal"), (numpy.array([1, value], dtype),))


@pytest.mark.parametrize("dtype", "efd")
def test_nextafter(dtype: str) -> None:
    limits = numpy.finfo(dtype)
    tiny, subnormal = limits.smallest_normal, limits.smallest_subnormal
    values = [
        0,
        -0.0,
        1,
        numpy.inf,
        -numpy.inf,
        numpy.nan,
        limits.max,
        limits.min,
        tiny,
        -tiny,
        subnormal,
        2 * subnormal,
    ]
    for a in values:
        for b in values:
            compare(binary("nextafter"), (numpy.array([1, a], dtype), numpy.array([1, b], dtype)))


LEAST = numpy.iinfo("i8").min
FOLDED = ([5, 0], [0, 5], [5, 0, 3], [LEAST, -1], [LEAST, 1, -1], [LEAST, -1, 0], [5, 3], [7])
FOLDS: tuple[Callable[..., Any], ...] = (
    lambda f, a: f.reduce(a),
    lambda f, a: f.reduce(a, initial=7),
    lambda f, a: f.reduce(a, initial=7, where=numpy.arange(len(a)) != 1),
    lambda f, a: f.reduce(a[:, None] * numpy.ones(3, int), axis=0),
    lambda f, a: f.accumulate(a),
    lambda f, a: f.accumulate(a.reshape(1, -1) * numpy.ones((2, 1), int), axis=1),
)
SLICES = ([0], [0, 1], [0, 2], [2, 0], [1, 1, 2], [1, 3])


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod", "subtract"])
def test_folds_of_integers(name: str) -> None:
    for values in FOLDED:
        for fold in FOLDS:
            compare(lambda np, a, fold=fold: fold(getattr(np, name), a), (numpy.array(values),))
    for starts in SLICES:
        for values in ([5, 0, 3, 4], [5, 1, 3, 0], [0, 3, 0, 3], [5, 1, 0, 2]):
            compare(lambda np, a, starts=starts: getattr(np, name).reduceat(a, starts), (numpy.array(values),))
            stacked = numpy.array([values, [1, 1, 1, 1]])
            compare(lambda np, a, starts=starts: getattr(np, name).reduceat(a, starts, axis=1), (stacked,))
            compare(lambda np, a, starts=starts: getattr(np, name).reduceat(a, starts, axis=0), (stacked.T,))


LARGE = {"e": 6e4, "f": 3e38, "d": 1.7e308, "F": 3e38, "D": 1.7e308}
SMALL = {"e": 2e-5, "f": 2e-30, "d": 2e-200}


@pytest.mark.parametrize("dtype", "efdFD")
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_overflow(name: str, dtype: str) -> None:
    large, other = LARGE[dtype], -LARGE[dtype] if name == "subtract" else 1e-3 if name == "divide" else LARGE[dtype]
    assert compare(binary(name), (numpy.array([1, large], dtype), numpy.array([2, other], dtype)))


@pytest.mark.parametrize("dtype", "efd")
def test_underflow(dtype: str) -> None:
    if dtype == "e" and has_rough_halves():
        pytest.skip("NumPy's own loops of float16 raise flags for nothing")
    small = numpy.array([1, SMALL[dtype]], dtype)
    assert compare(lambda np, a: a * a * a, (small,))
    assert compare(lambda np, a: a / (1 / a) / (1 / a), (small,))
    assert compare(lambda np, a: np.exp(-1000 * a), (numpy.ones(3, dtype),))
    half = numpy.array([1, numpy.finfo(dtype).smallest_normal], dtype)
    assert not compare(lambda np, a: a * a.dtype.type(0.5), (half,)), "an exact result is no underflow"
    assert not compare(lambda np, a: a / 2 * 0, (half,))


@pytest.mark.parametrize("dtype", "FD")
@pytest.mark.parametrize("name", ["divide", "multiply", "add", "subtract"])
def test_complex_numbers(name: str, dtype: str) -> None:
    for a, b in ((1 + 1j, 0), (1, 0), (0, 0), (1j, 2), (numpy.inf, 1j), (numpy.nan, 1)):
        compare(binary(name), (numpy.array([1, a], dtype), numpy.array([1, b], dtype)))


# Complex numbers in units of the largest number, and in units of the smallest.
HUGE, TINY = (1, 1 + 1j, -1j, 0.5 - 0.9j, 1e-20j), (1, 3 + 3j, -1e3j)


@pytest.mark.parametrize("dtype", "FD")
def test_complex_quotients_overflow(dtype: str) -> None:
    """What overflows on the way to a quotient need not be seen in it."""
    limits = numpy.finfo(dtype)
    numbers = [
        *(complex(float(limits.max) * numpy.real(x), float(limits.max) * numpy.imag(x)) for x in HUGE),
        *(float(limits.smallest_subnormal) * x for x in TINY),
        *(1, 2j, 1e-30, 0),
    ]

    def overflows(np: Any, *arrays: Any) -> bool:
        with np.errstate(all="ignore", over="raise"):
            try:
                getattr(np, ("reciprocal", "divide")[len(arrays) - 1])(*arrays)
            except FloatingPointError:
                return True
        return False

    found = []
    for divisor in numbers:
        for operands in ([divisor], *([dividend, divisor] for dividend in numbers)):
            arrays = [numpy.array([x], dtype) for x in operands]
            expected = overflows(numpy, *arrays)
            assert overflows(gpunumpy, *map(gpunumpy.asarray, arrays)) == expected, operands
            found.append(expected)
    assert any(found)
    assert not all(found)


# A divisor with a NaN, and numbers over zero some part of which is NaN or zero.
QUOTIENTS = (
    *((1 + 1j, numpy.nan), (numpy.nan, complex(1, numpy.nan)), (numpy.inf, numpy.nan), (0, numpy.nan)),
    *((complex(numpy.nan, 1), 0), (complex(1, numpy.nan), 0), (complex(numpy.inf, 0), 0), (complex(2, numpy.inf), 0)),
)
# Parts that are ordered and parts that are not: the imaginary ones count where the real ones are equal.
ORDERED = (
    *((numpy.nan, 2), (1 + 1j, numpy.nan), (complex(1, numpy.nan), 2), (complex(2, numpy.nan), 2), (numpy.inf, 2)),
    *((complex(numpy.inf, 1), numpy.nan), (complex(3, numpy.nan), complex(3, 1)), (1 + 1j, 2 + 1j)),
)


@pytest.mark.parametrize("dtype", "FD")
def test_nans_of_complex_numbers(dtype: str) -> None:
    for a, b in QUOTIENTS:
        compare(binary("divide"), (numpy.array([1, a], dtype), numpy.array([1, b], dtype)))
        compare(unary("reciprocal"), (numpy.array([1, b or 1], dtype),))
    for name in ("less", "less_equal", "greater", "greater_equal", "equal"):
        for a, b in ORDERED:
            compare(binary(name), (numpy.array([1, a], dtype), numpy.array([1, b], dtype)))


@pytest.mark.parametrize("value", [numpy.nan, numpy.inf, 1e300])
@pytest.mark.parametrize("dtype", ["i8", "f4"])
def test_elements_of_masked_arrays_are_written_in_silence(value: float, dtype: str) -> None:
    def write(np: Any, a: Any) -> None:
        masked = np.ma.array([1, 2], mask=[0, 1], dtype=dtype)
        masked[0:1] = a
        masked[:] = np.ma.array([value, value], mask=[0, 1])

    assert not compare(write, (numpy.array([value]),))


def test_bfloat16(device: str) -> None:
    with Device(device), gpunumpy.errstate(all="raise"):
        a = gpunumpy.array([1, 0, 1e38], gpunumpy.bfloat16)
        assert (a + 1).dtype == gpunumpy.bfloat16
        for case in (lambda: 1 / a, lambda: a / a, lambda: a * a, lambda: a * gpunumpy.bfloat16(1e-38) * 1e-38):
            with pytest.raises(FloatingPointError):
                case()


CASTS = (*((v, t) for v in (1e3, -1.0, 3e9, 1e20, numpy.nan, numpy.inf) for t in ("i1", "u2", "i4", "i8", "u8")),)


@pytest.mark.parametrize(
    ("value", "to"), [*CASTS, (1e300, "f"), (1e-300, "f"), (2.0**-140, "f"), (7e4, "e"), (1e300j, "F")]
)
def test_casts(value: Any, to: str) -> None:
    compare(lambda np, a: a.astype(to), (numpy.full(100, value),))
    if to in "ef":
        compare(lambda np, a: a * value, (numpy.ones(3, to),))


def test_casts_of_integers_and_on_assignment() -> None:
    assert compare(lambda np, a: a.astype("e"), (numpy.array([70000]),))

    def assign(np: Any, a: Any, b: Any) -> None:
        c = a.copy()
        c[1:] = b

    assert compare(assign, (numpy.arange(3), numpy.array([1, numpy.nan])))
    assert compare(assign, (numpy.arange(3, dtype="f"), numpy.array([1, 1e300])))


OTHERS: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (lambda np, a: a.sum(), (numpy.array([1e308, 1e308]),)),
    (lambda np, a: a.sum(0), (numpy.array([[1e308, numpy.inf], [1e308, 1]]),)),
    (lambda np, a: a.sum(1), (numpy.array([[numpy.inf, numpy.inf], [1, numpy.nan]]),)),
    (lambda np, a: a.sum(), (numpy.array([numpy.inf, -numpy.inf]),)),
    (lambda np, a: a.prod(), (numpy.array([1e-200, 1e-200]),)),
    (lambda np, a: a.prod(), (numpy.array([1e-200, 0]),)),
    (lambda np, a: a.mean(), (numpy.array([1e308, 1e308]),)),
    (lambda np, a: a.mean(), (numpy.array([6e4, 6e4], "e"),)),
    (lambda np, a: a.max(), (numpy.array([numpy.inf, numpy.nan]),)),
    (lambda np, a: np.cumsum(a), (numpy.array([1, 1e308, 1e308, 1]),)),
    (lambda np, a: np.cumsum(a), (numpy.array([1, numpy.inf, 1e308, numpy.nan]),)),
    (lambda np, a: np.cumsum(a), (numpy.array([numpy.inf, -numpy.inf]),)),
    (lambda np, a: np.cumprod(a), (numpy.array([1e-200, 1e-200]),)),
    (lambda np, a: np.subtract.reduce(a), (numpy.array([-1e308, 1e308]),)),
    (lambda np, a: np.divide.reduce(a), (numpy.array([1.0, 0.0]),)),
    (lambda np, a: np.add.reduceat(a, [0, 1]), (numpy.array([1, 1e308, 1e308]),)),
    (lambda np, a: np.add.outer(a, a), (numpy.array([1, 1e308]),)),
    (lambda np, a: np.add.at(a.copy(), [0, 0], 1e308), (numpy.array([1e308, 1]),)),
    (lambda np, a: np.floor_divide.at(a.copy(), [0], 0), (numpy.array([1, 2]),)),
    (lambda np, a: np.remainder.at(a.copy(), [0, 1], np.array([1, 0])), (numpy.array([1, 2]),)),
    (lambda np, a: np.add.at(a.copy(), [0, 1], 0), (numpy.array([1, 2]),)),
    (lambda np, a: np.add.at(a.copy(), [0, 1], np.array([1.0, numpy.nan])), (numpy.array([1, 2], "i4"),)),
    (lambda np, a: np.subtract.at(a.copy(), [0, 1], np.array([1.0, 2.0])), (numpy.array([1, 2], "i4"),)),
    (lambda np, a: np.vander(a), (numpy.array([complex(numpy.inf, 0), 1j]),)),
    (lambda np, a: a @ a, (numpy.full((2, 2), 1e200),)),
    (lambda np, a: np.einsum("ij,jk", a, a), (numpy.full((2, 2), 1e200),)),
    (lambda np, a: np.einsum("i->", a), (numpy.array([1e308, 1e308]),)),
    (lambda np, a: np.vdot(a, a), (numpy.array([1e200, numpy.inf]),)),
    (lambda np, a: np.convolve(a, a), (numpy.array([1e200, numpy.inf, 0]),)),
    (lambda np, a: np.correlate(a, a, "full"), (numpy.array([1e200, numpy.inf, 0]),)),
    (lambda np, a: np.polymul(a, a), (numpy.array([1e200, 1]),)),
    (lambda np, a: np.linalg.det(a), (numpy.diag([1e200, 1e200]),)),
    (lambda np, a: np.linalg.det(a), (numpy.array([numpy.diag([1e200, 1e200]), [[1.0, 2], [3, 4]]]),)),
    (lambda np, a: np.linalg.cond(a), (numpy.zeros((2, 2)),)),
    (lambda np, a: np.linalg.cond(a, -2), (numpy.zeros((2, 2)),)),
    (lambda np, a: np.linalg.cond(a, 1), (numpy.array([[1.0, 1], [1, 1]]),)),
    (lambda np, a: np.linalg.cond(a, "fro"), (numpy.diag([1e300, 1e-300]),)),
    (lambda np, a: np.diff(a), (numpy.array([numpy.inf, numpy.inf]),)),
    (lambda np, a: np.isclose(a, a), (numpy.array([numpy.inf, numpy.nan]),)),
    (lambda np, a: np.nan_to_num(a), (numpy.array([numpy.inf, numpy.nan]),)),
    (lambda np, a: np.where(a > 0, 1 / a, 0), (numpy.array([1.0, 0]),)),
    (lambda np, a: np.divide(1, a, where=a > 0, out=np.zeros_like(a)), (numpy.array([1.0, 0]),)),
    (lambda np, a: np.divide(1, a, where=a < 1, out=np.zeros_like(a)), (numpy.array([1.0, 0]),)),
    (lambda np, a: np.divide(1, a, where=a.T > 0, out=np.zeros_like(a)), (numpy.array([[1.0, 0], [1, 2]]).T,)),
    (lambda np, a: np.divide(1, a.T, where=a[0] > 0, out=np.zeros((2, 2))), (numpy.array([[1.0, 0], [1, 0]]),)),
    (lambda np, a: np.fft.fft(a), (numpy.array([3e38, 3e38], "f"),)),
    (lambda np, a: np.fft.fft(a), (numpy.array([3e38, 1j], "F"),)),
    (lambda np, a: np.fft.rfft(a), (numpy.array([3e38, 3e38], "f"),)),
    (lambda np, a: np.fft.rfft(a), (numpy.array([1e308, 1e308, 1]),)),
    (lambda np, a: np.fft.fft2(a), (numpy.full((2, 2), 1e308),)),
    (lambda np, a: np.fft.ifft(a, norm="forward"), (numpy.array([1e308, 1e308j]),)),
    (lambda np, a: np.fft.irfft(a, norm="forward"), (numpy.array([1e308, 1e308]),)),
    (lambda np, a: np.fft.fft(a), (numpy.array([numpy.nan, 1.0]),)),
    (lambda np, a: np.round(a, 5), (numpy.array([1e308]),)),
    (lambda np, a: (a - 1) / (a - 1), (numpy.ones(3),)),
    (lambda np, a: a[:0] / 0, (numpy.ones(3),)),
    (lambda np, a: a.T / 0, (numpy.ones((2, 3)),)),
    (lambda np, a: np.array(1.0) / a, (numpy.array(0.0),)),
)


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_reductions_products_and_masks(number: int, device: str) -> None:
    compare(*OTHERS[number], device)


@pytest.mark.skipif(not available(), reason="the emulator needs g++")
def test_generated_kernels() -> None:
    with emulated() as machine:
        for case, arrays in OTHERS[::2]:
            compare(case, arrays)
        assert machine.kernels


def test_memory_that_was_handed_out() -> None:
    def masked(np: Any, a: Any, least: float) -> None:
        out = np.zeros(3)
        numpy.from_dlpack(out)  # what others look at is written at once
        np.divide(1, a, out=out, where=a > least)

    a = numpy.array([1.0, 0, 2])
    assert not compare(lambda np, a: masked(np, a, 0), (a,))
    assert compare(lambda np, a: masked(np, a, -1), (a,))


def test_every_way_to_tell(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    reported: list[Any] = []

    class Log:
        def write(self, text: str) -> None:
            reported.append(text)

    def all_of_it(np: Any) -> list[Any]:
        reported.clear()
        a = np.array([1.0, 0.0])
        with (
            np.errstate(all="raise"),
            pytest.raises(FloatingPointError, match=r"^divide by zero encountered in divide$"),
        ):
            1 / a
        with np.errstate(all="warn"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (a - 1) / (a - 1) + np.log(a)
        reported.extend((w.category, str(w.message), w.filename) for w in caught)
        with np.errstate(call=lambda *given: reported.append(given), all="call"):
            1 / a
            np.sqrt(a - 1)
        with np.errstate(call=Log(), all="log"):
            1 / a
        with np.errstate(divide="print"):
            1 / a
        with np.errstate(all="call"), pytest.raises(NameError, match="no function found"):
            1 / a
        with np.errstate(all="log"), pytest.raises(NameError, match="no object with write method"):
            1 / a
        with np.errstate(all="raise"):
            b = a * 2
        return [*reported, float(b[0])]

    expected = all_of_it(numpy)
    with Device(device):
        assert all_of_it(gpunumpy) == expected
    assert "Warning: divide by zero encountered in divide" in capsys.readouterr().err


@pytest.mark.on_device
def test_nothing_is_checked_unless_asked_for(device: str) -> None:
    with Device(device):
        a = gpunumpy.array([1.0, 0.0, -1.0])

        def work() -> Any:
            return gpunumpy.log(a / 0) * 2

        usual = len(kernels(work))
        assert usual == 1
        with gpunumpy.errstate(all="ignore"):
            assert len(kernels(work)) == usual
            assert evaluate.watcher is None
        with numpy.errstate(all="raise"):  # NumPy's own, which speaks of NumPy's arrays
            assert len(kernels(work)) == usual
        with gpunumpy.errstate(all="raise"), gpunumpy.errstate(all="ignore"):
            assert len(kernels(work)) == usual
        with gpunumpy.errstate(all="raise"), pytest.raises(FloatingPointError):
            work()


def test_what_was_recorded_before_is_not_checked() -> None:
    a = gpunumpy.array([1.0, 0.0])
    before, generator = 1 / a, gpunumpy.ones(3) / 0
    with gpunumpy.errstate(all="raise"):
        assert (before + 1).tolist() == [2.0, numpy.inf]
        generator + 1
        with gpunumpy.errstate(divide="ignore"):
            inside = 1 / a
        with numpy.errstate(all="ignore"):
            within = 1 / a
        inside + within + 1
        with pytest.raises(FloatingPointError):
            1 / a


def test_an_error_leaves_arrays_as_they_were() -> None:
    a = gpunumpy.array([1.0, 0.0])
    with gpunumpy.errstate(all="raise"):
        with pytest.raises(FloatingPointError):
            1 / a
        a += 1
        a[:1] = a[1:] * 2
    assert a.tolist() == [2.0, 1.0]


def test_decorator_and_nesting() -> None:
    a = gpunumpy.array([1.0, 0.0])

    @gpunumpy.errstate(divide="raise", over="raise")
    def strict(depth: int) -> Any:
        """Its own words."""
        return strict(depth - 1) if depth else 1 / a

    @gpunumpy.errstate(all="ignore")
    def lenient() -> Any:
        return 1 / a

    assert strict.__doc__ == "Its own words."
    with pytest.raises(FloatingPointError):
        strict(3)
    with gpunumpy.errstate(all="raise"):
        lenient()
        with gpunumpy.errstate(invalid="ignore"):
            gpunumpy.sqrt(a - 2)
            with pytest.raises(FloatingPointError, match="divide by zero"):
                1 / a
        with pytest.raises(FloatingPointError, match="invalid value"):
            gpunumpy.sqrt(a - 2)
    1 / a
    twice = gpunumpy.errstate(all="raise")
    with twice, pytest.raises(TypeError, match="twice"), twice:
        pass
    with pytest.raises(TypeError):
        gpunumpy.errstate(nonsense="raise")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="invalid error mode"), gpunumpy.errstate(all="nonsense"):
        pass


def test_seterr_gives_back_what_was() -> None:
    a = gpunumpy.array([1.0, 0.0])
    assert gpunumpy.geterr() == numpy.geterr()
    before = gpunumpy.seterr(all="raise")
    try:
        assert before == {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
        assert gpunumpy.geterr() == numpy.geterr() == dict.fromkeys(before, "raise")
        with pytest.raises(FloatingPointError):
            1 / a
        assert gpunumpy.seterr(divide="warn")["divide"] == "raise"
        with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
            1 / a
    finally:
        gpunumpy.seterr(**before)
    assert gpunumpy.geterr() == before
    1 / a  # the default again, which warns of nothing: warnings are errors here
    with gpunumpy.errstate(**gpunumpy.geterr()):
        1 / a


def test_the_function_to_call_is_that_of_numpy() -> None:
    reported: list[Any] = []
    before = gpunumpy.seterrcall(lambda *given: reported.append(given))
    try:
        assert gpunumpy.geterrcall() is numpy.geterrcall()
        with gpunumpy.errstate(all="call"):
            1 / gpunumpy.zeros(2)
    finally:
        numpy.seterrcall(before)
    assert reported == [("divide by zero", 1)]


def test_other_threads_are_not_affected() -> None:
    a = gpunumpy.array([1.0, 0.0])
    failed: list[BaseException] = []

    def other() -> None:
        try:
            assert (1 / a).tolist() == [1.0, numpy.inf]
            gpunumpy.seterr(all="raise")  # which ends with the thread
        except BaseException as error:
            failed.append(error)

    with gpunumpy.errstate(all="raise"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        with pytest.raises(FloatingPointError):
            1 / a
    assert not failed
    1 / a


def test_threads_that_ask_and_threads_that_do_not() -> None:
    shared = gpunumpy.zeros((4, 100))
    failed: list[BaseException] = []

    def work(k: int) -> None:
        try:
            for i in range(40):
                if k % 2:
                    with gpunumpy.errstate(all="raise"):
                        shared[k] = shared[k] + 1
                        with pytest.raises(FloatingPointError):
                            shared[k] / 0
                else:
                    shared[k] = shared[k] + 1
                    shared[k] / (shared[k] - i - 1)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failed
    assert not any(thread.is_alive() for thread in threads)
    assert (shared == 40).all()


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize(
    "made",
    [
        lambda np: np.linspace(-1e308, 1e308, 3),
        lambda np: np.geomspace(-1, 1, 3),
        lambda np: np.kaiser(5, 1000),
    ],
)
def test_numbers_that_the_host_computes_for_an_array(made: Callable[[Any], Any], residence: str) -> None:
    """Nothing is said of them, as of those that the device computes, unless the program asks for it."""
    gpunumpy.set_residence(residence)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(gpunumpy)
    with gpunumpy.errstate(all="warn"), pytest.warns(RuntimeWarning):
        made(gpunumpy)
