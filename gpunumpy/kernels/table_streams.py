"""The rows that random numbers are made of: words of NumPy's bit generators as functions of their position.

A linear congruential generator ``x -> a * x + c`` modulo 2^128 comes from x to what it is n steps later by one product
for x and one for c. A thread begins with one of both for every few bits of its first position, and goes on with one
from each position to the next (`Walk` in streams.cuh).
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from .table_philox32 import PHILOX32
from .table_rows import Row

# Positions have so many digits, of so many bits each.
DIGITS, DIGIT_BITS = 6, 6
_MODULUS = 1 << 128

# The generators of this kind: the multiplier, the function of the state that is the word, and how many steps the state
# is ahead of what NumPy keeps when its first word is taken.
CONGRUENTIAL: dict[str, tuple[int, str, int]] = {
    "pcg64": (0x2360ED051FC65DA44385DF649FCCF645, "xsl_rr", 1),
    "pcg64dxsm": (0xDA942042E4DD58B5, "dxsm", 0),
}

# What kernels take of a bit generator is an array of 64-bit words: x and c of a congruential generator, their upper
# halves first, or the counter and the key of Philox; and then, each in its place:
KEEPS = {
    "first": 6,  # Philox: how many words of the counter's block are gone
    "has": 7,  # whether half a word is left of what was drawn before
    "left": 8,  # that half
}
WORDS = 9
# Of bounded integers they take another array: how many there are, what a product must leave at least, and the first.
BOUNDS = 3


@lru_cache(maxsize=1024)
def jump(multiplier: int, steps: int) -> tuple[int, int]:
    """The numbers (p, s) such that `steps` steps lead from x to ``p * x + s * c``."""
    power, total, p, s = multiplier, 1, 1, 0
    while steps:
        if steps & 1:
            p, s = p * power % _MODULUS, (s * power + total) % _MODULUS
        total = total * (power + 1) % _MODULUS
        power = power * power % _MODULUS
        steps >>= 1
    return p, s


def digits(multiplier: int) -> list[tuple[int, int]]:
    """How to jump by every value of every digit of a position."""
    values = range(1 << DIGIT_BITS)
    return [jump(multiplier, value << DIGIT_BITS * place) for place in range(DIGITS) for value in values]


def wide(value: int) -> str:
    """A number of 128 bits as C."""
    return f"{{{value >> 64:#x}ull, {value % (1 << 64):#x}ull}}"


def walk(name: str, step: int, leap: int) -> str:
    """The way of a thread whose positions differ by `step`, or by `leap`, as C."""
    pairs = (jump(CONGRUENTIAL[name][0], way % _MODULUS) for way in (step, leap))
    (step_x, step_c), (leap_x, leap_c) = (map(wide, pair) for pair in pairs)
    return f"({step}, {step_x}, {step_c}, {leap}, {leap_x}, {leap_c})"


def stand(name: str, walk: str, place: str, back: int, state: str) -> str:
    """Let a walk stand so far `back` from a place, as C; `state` are the arguments of the row."""
    power, total = map(wide, jump(CONGRUENTIAL[name][0], -back % _MODULUS))
    return f"op::{name}_stand({walk}, {place}, {power}, {total}, {state})"


def _source(name: str) -> str:
    """The function of a congruential generator: word i, given the state at word 0, and c.

    In i steps x grows by a sum of powers of the multiplier times ``(a - 1) * x + c``.
    """
    multiplier, output, _ = CONGRUENTIAL[name]
    listed = ", ".join(wide(half) for pair in digits(multiplier) for half in pair)
    return f"""
__device__ const Wide {name}_jumps[{2 * DIGITS << DIGIT_BITS}] = {{{listed}}};
namespace op {{
__device__ __noinline__ Wide {name}_sum(i64 i) {{
  const Wide* jumps = {name}_jumps;
  Wide sum{{0, 0}};
  // What comes before all words is asked for by threads that have nothing to do.
  for (; i > 0; i >>= {DIGIT_BITS}, jumps += {2 << DIGIT_BITS}) {{
    const int digit = int(i & {(1 << DIGIT_BITS) - 1});
    sum = wide_step(sum, jumps[2 * digit], jumps[2 * digit + 1]);
  }}
  return sum;
}}
__device__ __forceinline__ Wide {name}_grown(Wide x, Wide sum, Wide c) {{
  return wide_step(sum, wide_step(x, {wide(multiplier - 1)}, c), x);
}}
__device__ __forceinline__ void {name}_stand(
    Walk& walk, i64 i, Wide back_x, Wide back_c, u64 x_hi, u64 x_lo, u64 c_hi, u64 c_lo) {{
  const Wide c{{c_hi, c_lo}};
  walk.stand({name}_grown({{x_hi, x_lo}}, wide_step({name}_sum(i), back_x, back_c), c), c);
}}
__device__ __forceinline__ u64 {name}(Walk& walk, Sure sure, i64 i, u64 x_hi, u64 x_lo, u64 c_hi, u64 c_lo) {{
  const Wide c{{c_hi, c_lo}};
  return {output}(walk.to(sure, i, c, [=](i64 to) {{ return {name}_grown({{x_hi, x_lo}}, {name}_sum(to), c); }}));
}}
}}  // namespace op
"""


_SHARED = ("streams", "philox32")


@cache
def sources() -> dict[str, str]:
    """What rows need, by file; those of single generators build on "streams"."""
    shared = {name: (Path(__file__).parent / f"{name}.cuh").read_text(encoding="utf-8") for name in _SHARED}
    return {**shared, **{name: _source(name) for name in CONGRUENTIAL}}


def _row(name: str, **code: str) -> tuple[str, Row]:
    return name, Row(name, code, 0, 0, (0, 0))


STREAMS: dict[str, Row] = dict(
    (
        # The last arguments are the walk, and how sure its next position is.
        *(_row(name, i=f"op::{name}({{5}}, {{6}}, {{0}}, {{1}}, {{2}}, {{3}}, {{4}})") for name in CONGRUENTIAL),
        # The last one is the block that was made last.
        _row("philox", i="op::philox({7}, {0}, {1}, {2}, {3}, {4}, {5}, {6})"),
        # In which word a half is.
        _row("stream_place", i="{0} >> 1"),
        _row("stream_half", i="op::stream_half({0}, {1})"),
        _row("stream_half_after", i="op::stream_half_after({0}, {1}, {2})"),
        # The upper bits as a number in [0, 1).
        _row("unit_double", u="f64({0} >> 11) * (1.0 / 9007199254740992.0)"),
        _row("unit_float", u="f32({0} >> 8) * (1.0f / 16777216.0f)"),
    )
)
STREAMS.update(PHILOX32)
