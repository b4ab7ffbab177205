"""The ops that draw random numbers: words of NumPy's bit generators as functions of their position.

A linear congruential generator ``x -> a * x + c`` modulo 2^128 jumps n steps ahead by ``x -> p * x + s * c`` with
constants p and s of n. To reach its first position, a thread makes one jump for each digit of that position; from then
on it makes one jump from each position to the next (`Walk` in streams.cuh).
"""

from __future__ import annotations

from functools import lru_cache

from .elementwise import Op
from .philox32 import PHILOX32

# The digits of a position, and the bits of a digit.
DIGITS, DIGIT_BITS = 6, 6
MODULUS = 1 << 128

# The congruential generators of NumPy: the multiplier, the function from a state to its word, and the number of steps
# from the state that NumPy stores to the state of the next word.
CONGRUENTIAL: dict[str, tuple[int, str, int]] = {
    "pcg64": (0x2360ED051FC65DA44385DF649FCCF645, "xsl_rr", 1),
    "pcg64dxsm": (0xDA942042E4DD58B5, "dxsm", 0),
}

# Kernels take the state of a bit generator as an array of 64-bit words: x and c of a congruential generator, upper
# halves first, or the counter and the key of Philox; then, at these positions:
STATE_POSITIONS = {
    "used_words": 6,  # Philox: how many words of the counter's block are used
    "has_half": 7,  # whether half a word is buffered from an earlier draw
    "half": 8,  # that half
}
STATE_WORDS = 9
# Kernels take the range of bounded integers as an array of 64-bit words: the number of values, the smallest lower half
# of a product that is accepted, and the lowest value.
BOUNDS_LENGTH = 3


@lru_cache(maxsize=1024)
def jump(multiplier: int, steps: int) -> tuple[int, int]:
    """Return (p, s) such that `steps` steps lead from x to ``p * x + s * c``."""
    power, total, p, s = multiplier, 1, 1, 0
    while steps:
        if steps & 1:
            p, s = p * power % MODULUS, (s * power + total) % MODULUS
        total = total * (power + 1) % MODULUS
        power = power * power % MODULUS
        steps >>= 1
    return p, s


def multiples(multiplier: int, steps: int, count: int) -> list[tuple[int, int]]:
    """Return the `jump` by 0, 1, ... `count` - 1 times as many steps, each found from the one before."""
    power, total = jump(multiplier, steps)
    found = [(1, 0)]
    while len(found) < count:
        p, s = found[-1]
        found.append((p * power % MODULUS, (s * power + total) % MODULUS))
    return found


def digits(multiplier: int) -> list[tuple[int, int]]:
    """Return the `jump` by every value of every digit of a position, lowest digit first."""
    places = [multiples(multiplier, 1 << DIGIT_BITS * place, 1 << DIGIT_BITS) for place in range(DIGITS)]
    return [leap for place in places for leap in place]


def _op(name: str, **code: str) -> tuple[str, Op]:
    return name, Op(name, code, 0, 0, (0, 0))


STREAMS: dict[str, Op] = dict(
    (
        # The code generator supplies the last two arguments: the walk, and what is known of its next position.
        *(_op(name, i=f"op::{name}({{5}}, {{6}}, {{0}}, {{1}}, {{2}}, {{3}}, {{4}})") for name in CONGRUENTIAL),
        # The code generator supplies the last argument: the thread's last block.
        _op("philox", i="op::philox({7}, {0}, {1}, {2}, {3}, {4}, {5}, {6})"),
        # The position of the word that contains a half word.
        _op("stream_place", i="{0} >> 1"),
        _op("stream_half", i="op::stream_half({0}, {1})"),
        _op("stream_half_after", i="op::stream_half_after({0}, {1}, {2})"),
        # The upper bits of a word as a number in [0, 1).
        _op("unit_double", u="f64({0} >> 11) * (1.0 / 9007199254740992.0)"),
        _op("unit_float", u="f32({0} >> 8) * (1.0f / 16777216.0f)"),
    )
)
STREAMS.update(PHILOX32)
