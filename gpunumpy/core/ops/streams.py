"""The rows that random numbers are made of: words of NumPy's bit generators as functions of their position.

A linear congruential generator ``x -> a * x + c`` modulo 2^128 comes from x to what it is n steps later by one product
for x and one for c. A thread begins with one of both for every few bits of its first position, and goes on with one
from each position to the next (`Walk` in streams.cuh).
"""

from __future__ import annotations

from functools import lru_cache

from .elementwise import Op
from .philox32 import PHILOX32

# Positions have so many digits, of so many bits each.
DIGITS, DIGIT_BITS = 6, 6
MODULUS = 1 << 128

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
            p, s = p * power % MODULUS, (s * power + total) % MODULUS
        total = total * (power + 1) % MODULUS
        power = power * power % MODULUS
        steps >>= 1
    return p, s


def digits(multiplier: int) -> list[tuple[int, int]]:
    """How to jump by every value of every digit of a position."""
    values = range(1 << DIGIT_BITS)
    return [jump(multiplier, value << DIGIT_BITS * place) for place in range(DIGITS) for value in values]


def _row(name: str, **code: str) -> tuple[str, Op]:
    return name, Op(name, code, 0, 0, (0, 0))


STREAMS: dict[str, Op] = dict(
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
