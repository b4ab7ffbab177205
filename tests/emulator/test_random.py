"""The kernels of random numbers, run on the emulated machine and compared with NumPy to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.ops.streams import BOUNDS_LENGTH, STATE_WORDS
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.random import cuda_draws, host_words
from gpunumpy.random import device_draws
from gpunumpy.random.stream import Stream
from tests.support.host_executor import run_on_host, with_traits

from .emulated import emulated
from .executor import run_program
from .machine import MAX_SHARED_BYTES
from .test_masks_and_scatter import layout_of

BITS = {"pcg64": numpy.random.PCG64, "pcg64dxsm": numpy.random.PCG64DXSM, "philox": numpy.random.Philox}


def run(options: tuple[Any, ...], *arrays: Any) -> None:
    program = cuda_draws.piecewise_draws_program(
        options, [layout_of(x) for x in arrays], [x.dtype for x in arrays], MAX_SHARED_BYTES
    )
    assert run_program(program, arrays, seed=3) == 0


# What is drawn: dtype, what it is, and for integers the bits of their words, low and span.
DRAWS: dict[str, tuple[Any, ...]] = {
    "normal f8": ("f8", "normal"),
    "normal f4": ("f4", "normal"),
    "exponential f8": ("f8", "exponential"),
    "exponential f4": ("f4", "exponential"),
    "i8 of 32 bits": ("i8", "integers", 32, -5, 1000),
    "i8 of 64 bits": ("i8", "integers", 64, -(2**62), 2**63 + 12345),
    "u8": ("u8", "integers", 64, 2**63, 2**63 - 1),
    "i4": ("i4", "integers", 32, -7, 2**31 + 5),
    "u2": ("u2", "integers", 16, 0, 40000),
    "i1": ("i1", "integers", 8, -100, 199),
    "u1": ("u1", "integers", 8, 3, 129),
}


def draw(what: tuple[Any, ...], bits: Any, n: int, share: int = 0) -> None:
    """Draw once by the kernels and once by NumPy, from the bit generator, and compare numbers and words taken."""
    dtype, name, *rest = what
    state = numpy.array(Stream(bits).state_words(), numpy.uint64)
    kind = {cls: kind for kind, cls in BITS.items()}[type(bits)]
    options: tuple[Any, ...] = (kind, name)
    bounds = ()
    if rest:
        width, low, span = rest
        least = 2**width % span
        bounds = (numpy.array([span, least, low % 2**64], numpy.uint64),)
        options += (width, share or -((-64 << width) // (2**width - least)))
    tested, reference = numpy.zeros(n, dtype), numpy.zeros(n, dtype)
    left, wanted = numpy.zeros(STATE_WORDS, numpy.uint64), numpy.zeros(STATE_WORDS, numpy.uint64)
    run(options, tested, left, state, *bounds)
    host_words.piecewise_draws(options, reference, wanted, state, *bounds)
    if rest:
        numpy.testing.assert_array_equal(tested, reference)
    else:
        numpy.testing.assert_allclose(tested, reference, rtol=2e-7 if dtype == "f4" else 4e-16)
    numpy.testing.assert_array_equal(left, wanted)


@pytest.mark.parametrize("what", DRAWS.values(), ids=DRAWS)
@pytest.mark.parametrize("kind", BITS)
def test_draws(kind: str, what: tuple[Any, ...]) -> None:
    for n, begun in ((1, 1), (6000, 1), (5000, 0)):
        bits = BITS[kind](n)
        numpy.random.Generator(bits).random(begun, numpy.float32)
        draw(what, bits, n)


FOLLOWING: dict[str, Callable[[Any], Any]] = {
    "floats": lambda g: g.standard_normal(3001, dtype="f4"),
    "integers": lambda g: g.integers(-7, 992, 2000, dtype="i4"),
    "doubles": lambda g: g.standard_normal(1000),
    "evenly": lambda g: g.random(101, dtype="f4"),
    "after a half": lambda g: g.standard_exponential(500, dtype="f4"),
    "bytes": lambda g: g.integers(3, 200, 777, dtype="u1"),
}


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("kind", BITS)
def test_draws_that_follow_one_another(kind: str, shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state stays on the device, until somebody looks at it; or is looked at by each draw."""
    asked = []

    def draws(options: tuple[Any, ...], *arrays: Any) -> None:
        asked.append(options)
        run(options, *arrays)

    monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
    with_traits(monkeypatch, draws_faster_than_numpy=True)
    run_on_host(monkeypatch, "piecewise_draws", draws)
    tested, reference = (n.random.Generator(BITS[kind](3)) for n in (gpunumpy, numpy))
    with gpunumpy.Device("cpu"):
        for turn in range(2):
            tested._stream.shared = shared
            got = {name: use(tested) for name, use in FOLLOWING.items()}
            for name, use in FOLLOWING.items():
                want = use(reference)
                numpy.testing.assert_allclose(gpunumpy.asnumpy(got[name]), want, rtol=4e-7, err_msg=name)
            if turn:
                assert str(tested.bit_generator.state) == str(reference.bit_generator.state)
    assert len(asked) == 10


@pytest.mark.parametrize("what", ["normal f8", "exponential f4"])
def test_tiles_that_depend_on_where_they_are_entered(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In small tiles, of ziggurats that are made to reject often, attempts from all entries do not come together."""
    text, results = cuda_draws.source, []  # type: ignore[attr-defined]
    test = "return u32(op::bit_cast<Piece>(place - limit) >> (8 * sizeof(Piece) - 32));"
    assert test in text("random/ziggurat")
    slow = text("random/ziggurat").replace(test, "return u64(place) % 3 ? 0 : 1u << 31;")
    monkeypatch.setattr(cuda_draws, "source", lambda name: slow if name == "random/ziggurat" else text(name))
    monkeypatch.setattr(cuda_draws, "_PIECES_PER_NUMBER", {"normal": 2, "exponential": 2})
    monkeypatch.setattr(cuda_draws, "QUICK_PIECES_PER_SLOW", 1)
    for warps, each in ((4, 16), (2, 2), (1, 8)):
        monkeypatch.setattr(cuda_draws, "WARPS", {"normal": warps, "exponential": warps})
        monkeypatch.setattr(cuda_draws, "THREAD_PIECES", each)
        numbers, left = numpy.zeros(5000, DRAWS[what][0]), numpy.zeros(STATE_WORDS, numpy.uint64)
        state = numpy.array(Stream(numpy.random.PCG64(1)).state_words(), numpy.uint64)
        run(("pcg64", DRAWS[what][1]), numbers, left, state)
        results.append((numbers.tobytes(), left.tobytes()))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("kind", BITS)
def test_numbers_that_are_missing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_draws, "_PIECES_PER_NUMBER", {"normal": 0.4})
    for what in ("normal f8", "normal f4"):
        draw(DRAWS[what], BITS[kind](2), 4000)
    draw(DRAWS["i4"], BITS[kind](2), 4000, 40)


@pytest.mark.parametrize("what", ["normal", "exponential"])
def test_there_are_enough_words(what: str) -> None:
    """As words are missing one time in many, one thread may make what is left."""
    count = 1 << 20
    bits, after = (numpy.random.PCG64(3) for _ in range(2))
    getattr(numpy.random.Generator(after), f"standard_{what}")(count)
    bits.advance(count)
    words = bits.random_raw(count // 20)
    taken = count + numpy.flatnonzero(words == after.random_raw())[0]
    assert 0.998 < taken / count / cuda_draws._PIECES_PER_NUMBER[what] < 0.9999


@pytest.mark.sampled(4)
@pytest.mark.parametrize("what", DRAWS.values(), ids=DRAWS)
@pytest.mark.parametrize("kind", BITS)
def test_nvrtc_compiles_them(kind: str, what: tuple[Any, ...]) -> None:
    dtype, name, *rest = what
    state, bounds = numpy.zeros(STATE_WORDS, numpy.uint64), numpy.zeros(BOUNDS_LENGTH, numpy.uint64)
    arrays = numpy.zeros(40000, dtype), state, state, *((bounds,) if rest else ())
    options = (kind, name, *((rest[0], 70) if rest else ()))
    layouts, dtypes = [layout_of(x) for x in arrays], [x.dtype for x in arrays]
    for arch, shared in (("sm_90", MAX_SHARED_BYTES), *((("sm_75", 65536),) if kind == "pcg64" else ())):
        program = cuda_draws.piecewise_draws_program(options, layouts, dtypes, shared)
        assert max(launch.shared for launch in program.launches) <= shared
        compile_cubin(program.text, arch)


CONSUMERS: dict[str, Callable[[Any, Any], Any]] = {
    "all": lambda n, x: x * 2 - 1,
    "a part": lambda n, x: x[3:] + 1,
    "a part from an even place": lambda n, x: x[4:-1] + 1,
    "backwards": lambda n, x: x[::-1] + 1,
    "every second": lambda n, x: x[::2] + 1,
    "rows": lambda n, x: x.reshape(30, 100) + n.arange(100.0)[:50].sum(),
    "columns": lambda n, x: n.ascontiguousarray(x.reshape(30, 100).T) + 1,
    "a window": lambda n, x: x.reshape(30, 100)[3:20, 5:71] + 1,
    "neighbours": lambda n, x: x[1:] - x[:-1],
    "a sum": lambda n, x: n.floor(x * 4).sum(),
    "sums of rows": lambda n, x: n.floor(x.reshape(30, 100) * 8).sum(axis=1),
    "sums of columns": lambda n, x: n.floor(x.reshape(30, 100) * 8).sum(axis=0),
    "less its greatest": lambda n, x: x.reshape(30, 100) - x.reshape(30, 100).max(axis=1, keepdims=True),
    "repeated": lambda n, x: x[:, None] + n.arange(3.0),
    "running": lambda n, x: n.maximum.accumulate(x),
    "written to a part": lambda n, x: _written(n, x),
    "picked": lambda n, x: x[n.arange(2999, 0, -7)],
}


def _written(n: Any, x: Any) -> Any:
    a = n.zeros((40, 110))
    a[2:32, 4:104] = x.reshape(30, 100)
    return a


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("kind", BITS)
def test_consumers(kind: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
    with_traits(monkeypatch, draws_faster_than_numpy=True)
    for begun in (0, 1) if dtype == "f4" else (0,):
        tested, reference = (n.random.Generator(BITS[kind](begun)) for n in (gpunumpy, numpy))
        tested.random(begun, "f4")
        reference.random(begun, "f4")
        for name, use in CONSUMERS.items():
            with emulated(), gpunumpy.Device("cpu"):
                got = gpunumpy.asnumpy(use(gpunumpy, tested.random(3000, dtype)))
            want = use(numpy, reference.random(3000, dtype))
            assert got.dtype == want.dtype, name
            numpy.testing.assert_array_equal(got, want, name)
