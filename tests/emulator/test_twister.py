"""The kernels of MT19937, run on the emulated machine and compared with NumPy to the bit."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.random import cuda_mt19937, host_mt19937
from gpunumpy.kernels.random.mt19937_jumps import DEGREE, STATE_POSITIONS, STATE_WORDS, jump, jumps

from .executor import run_program
from .test_masks_and_scatter import layout_of

U32 = numpy.uint32


def run(make: Any, options: tuple[Any, ...], *arrays: Any) -> None:
    program = make(options, [layout_of(x) for x in arrays], [x.dtype for x in arrays])
    assert run_program(program, arrays, seed=3) == 0


def state_of(seed: int, before: int, normal: bool = False) -> Any:
    """The state of a generator that has made some words, and perhaps has a normal number left."""
    made = numpy.random.RandomState(seed)
    if normal:
        made.standard_normal()
    host_mt19937._next_words(made, before)
    state = numpy.zeros(STATE_WORDS, U32)
    host_mt19937._write_state(state, made)
    return state


def drawn(state: Any, count: int) -> tuple[Any, Any]:
    words, after = numpy.zeros(count, U32), numpy.zeros(STATE_WORDS, U32)
    host_mt19937.twister_words((), words, after, state, None)
    return words, after


def test_the_polynomial_and_jumps() -> None:
    words = drawn(state_of(5, 0), 3 * DEGREE)[0]
    # The words are tempered, which is linear too; those of the seed itself are not those of a recurrence.
    for blocks in (1, 16, 32):
        terms = jump(blocks)
        chosen = [k for k in range(DEGREE) if terms >> k & 1]
        for at in (700, 1234):
            assert numpy.bitwise_xor.reduce(words[numpy.array(chosen) + at]) == words[624 * blocks + at]


@pytest.mark.parametrize("before", [0, 1, 623, 624, 700])
@pytest.mark.parametrize("count", [1, 5, 623, 624, 625, 3000, 30000])
def test_words(before: int, count: int) -> None:
    state = state_of(7, before)
    wanted, end = drawn(state, count)
    blocks = (count + 623) // 624
    for length in (64,) if count < 3000 else (64, 1, 2) if count < 30000 else (8,):
        runs = max(1, -(-blocks // length))
        levels = (runs - 1).bit_length()
        words, after = numpy.zeros(count, U32), numpy.zeros(STATE_WORDS, U32)
        table = jumps(length, levels) if levels else state
        run(cuda_mt19937.twister_words, (length, runs), words, after, state, table)
        numpy.testing.assert_array_equal(words, wanted)
        numpy.testing.assert_array_equal(after, end)


NUMBERS: dict[str, tuple[Any, ...]] = {
    "normal": ("normal", 64, "f8"),
    "positive": ("positive", 64, "f8"),
    "i8": ("masked", 32, "i8", -5, 999),
    "i8 of 64 bits": ("masked", 64, "i8", -(2**62), 2**63 + 12345),
    "u4": ("masked", 32, "u4", 7, 2**31),
    "i2": ("masked", 16, "i2", -300, 700),
    "u1": ("masked", 8, "u1", 3, 128),
    "i8 by products": ("product", 32, "i8", -5, 1001),
    "i8 of 64 bits by products": ("product", 64, "i8", -(2**62), 2**63 - 12345),
    "u4 by products": ("product", 32, "u4", 7, 2**31 + 1),
    "i2 by products": ("product", 16, "i2", -300, 701),
    "u1 by products": ("product", 8, "u1", 3, 129),
}


def check_numbers(what: tuple[Any, ...], n: int, held: int, state: Any) -> None:
    """Make numbers of so many words, or of those that follow these, and compare with NumPy."""
    kind, bits, dtype, *bounds = what
    words, after = drawn(state, held)
    given: list[Any] = []
    if bounds:
        low, most = bounds  # or, of products, how many they are
        other = (1 << most.bit_length()) - 1 if kind == "masked" else (1 << bits) % most
        given = [numpy.array([most, other, low % 2**64], numpy.uint64)]
    options = (kind, bits, int(state[STATE_POSITIONS["has_normal"]]) if kind == "normal" else 0)
    tested, reference = numpy.zeros(n, dtype), numpy.zeros(n, dtype)
    end, wanted = numpy.zeros(STATE_WORDS, U32), numpy.zeros(STATE_WORDS, U32)
    run(cuda_mt19937.twister_numbers, options, tested, end, words, state, after, *given)
    host_mt19937.twister_numbers(options, reference, wanted, words, state, after, *given)
    if kind == "normal":
        numpy.testing.assert_allclose(tested, reference, rtol=1e-15)
    else:
        numpy.testing.assert_array_equal(tested, reference)
    mine_end, their_end = host_mt19937.unpack_state(end), host_mt19937.unpack_state(wanted)
    for a, b in zip(mine_end, their_end, strict=True):
        numpy.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("what", NUMBERS.values(), ids=NUMBERS)
def test_numbers(what: tuple[Any, ...]) -> None:
    words = {"normal": 2 / 0.75, "positive": 2}.get(what[0], 2 * what[1] / 32)
    cases = ((1, 3, False), (1, 3, True), (5000, 0, True), (5001, 900, True), (4000, 624, False), (4001, 77, False))
    for n, before, normal in cases:
        state = state_of(n, before, normal)
        check_numbers(what, n, int(n * words) // 4 * 4 + 400, state)
        if n > 1:
            check_numbers(what, n, int(n * words) // 8 * 4, state)


def test_a_state_after_some_words() -> None:
    for before, count, taken in ((0, 5000, 1), (600, 5000, 24), (600, 5000, 25), (3, 5000, 4000), (3, 5000, 5000)):
        state = state_of(1, before, normal=True)
        words, after = drawn(state, count)
        end, wanted = numpy.zeros(STATE_WORDS, U32), numpy.zeros(STATE_WORDS, U32)
        many = numpy.array(taken)
        run(cuda_mt19937.twister_advance, (), end, words, state, after, many)
        host_mt19937.twister_advance((), wanted, words, state, after, many)
        numpy.testing.assert_array_equal(end, wanted)


@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_a_state_with_a_normal_number_left(dtype: str) -> None:
    state = state_of(1, 600, normal=True)
    words, after = drawn(state, 5000)
    for taken, left in ((24, -1), (24, 20), (4000, 3992)):
        tested, reference = numpy.zeros(STATE_WORDS, U32), numpy.zeros(STATE_WORDS, U32)
        where = numpy.array([taken, left])
        run(cuda_mt19937.twister_advance, (), tested, words.view(dtype), state, after, where)
        host_mt19937.twister_advance((), reference, words.view(dtype), state, after, where)
        for a, b in zip(host_mt19937.unpack_state(tested), host_mt19937.unpack_state(reference), strict=True):
            numpy.testing.assert_array_equal(a, b)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("arch", ["sm_90", "sm_75", "sm_100"])
def test_nvrtc_compiles_them(arch: str) -> None:
    words, state = numpy.zeros(40000, U32), numpy.zeros(STATE_WORDS, U32)
    programs = [cuda_mt19937.twister_words((8, 8), [layout_of(x) for x in (words, state)], [words.dtype, state.dtype])]
    for kind, bits, dtype, *_ in NUMBERS.values():
        bounds = [numpy.zeros(3, numpy.uint64)] * (kind in ("masked", "product"))
        arrays = numpy.zeros(5000, dtype), state, words, state, state, *bounds
        programs.append(
            cuda_mt19937.twister_numbers((kind, bits, 1), [layout_of(x) for x in arrays], [x.dtype for x in arrays])
        )
    arrays = state, words, state, state, numpy.array([3, 0])
    programs.append(cuda_mt19937.twister_advance((), [layout_of(x) for x in arrays], [x.dtype for x in arrays]))
    for program in programs:
        compile_cubin(program.text, arch)
