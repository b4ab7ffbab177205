"""MT19937: its state as kernels take it, and the polynomials by which they jump ahead.

The words of the generator satisfy ``x[k + 624] = x[k + 397] ^ (upper bit of x[k], other bits of x[k + 1]) A``, so each
bit is a linear recurrence over GF(2) of order 19937. Let P be its characteristic polynomial and c the remainder of t^n
by P. Then ``x[n + j]`` is the sum of the ``x[i + j]`` for which c has the term t^i (H. Haramoto et al., 2008).
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Any

import numpy

LENGTH, _AHEAD, DEGREE = 624, 397, 19937
_MATRIX = 0x9908B0DF

# A state is an array of words of 32 bits: first the LENGTH words of the block that the stream is in, then, each at its
# position:
STATE_POSITIONS = {
    "position": 624,  # how many words of the block are consumed
    "has_normal": 625,  # whether a normal number is left over from an earlier draw
    "normal": 626,  # that number, its lower half first
    "normal_words": 628,  # the four words that it was made of, if they are known
    "knows_normal_words": 632,  # whether a device made that number, so that these words are known
}
STATE_WORDS = 640


# Numbers made by independent attempts, by name: KIND in mt19937_numbers.cuh, the words of an attempt, and the numbers
# that it makes.
KINDS = {"masked": (1, 1, 1), "positive": (2, 2, 1), "normal": (3, 4, 2), "product": (4, 1, 1)}
# The kinds that are integers within bounds, of a given count of bits.
BOUNDED = ("masked", "product")


def attempts(count: int, acceptance_rate: float) -> int:
    """Return a count of attempts of which `count` succeed, but for a negligible probability."""
    return int(count / acceptance_rate + 8 * sqrt(count / acceptance_rate) + 32)


def _times_e(value: int) -> int:
    """Return a polynomial times ``E = t^623 + t^396``."""
    return value << LENGTH - 1 ^ value << _AHEAD - 1


def _times_tail(value: int) -> int:
    """Return a polynomial times the tail of P, which is P without its highest term.

    The recurrence expresses each bit of a word by the next lower bit. With ``D = t^624 + t^397`` and ``E = D / t``,
    going through the bits 0 to 30 is a Horner scheme in E with the bits of the matrix as coefficients; D leads from the
    highest bit, which comes from the previous word, back to the lowest.
    """
    product = value
    for bit in range(31):
        product = _times_e(product)
        if _MATRIX >> bit & 1:
            product ^= value
    product = product << LENGTH ^ product << _AHEAD
    if _MATRIX >> 31 & 1:
        product ^= value
    return product ^ value << DEGREE


@lru_cache(maxsize=64)
def jump(blocks: int) -> int:
    """Return the remainder by P of ``t^(blocks * LENGTH)``, for `blocks` a power of two; bit i is the term t^i."""
    if blocks * LENGTH < DEGREE:
        return 1 << blocks * LENGTH
    square = int(f"{jump(blocks // 2):b}", 4)  # squaring over GF(2) doubles exponents: bit i moves to bit 2 i
    while high := square >> DEGREE:
        square ^= high << DEGREE ^ _times_tail(high)
    return square


@lru_cache(maxsize=32)
def jumps(blocks: int, levels: int) -> Any:
    """Return the polynomials that jump over `blocks`, twice as many, and so on: a row each, 32 terms to a word."""
    row_bytes = 4 * LENGTH
    polynomials = b"".join(jump(blocks << level).to_bytes(row_bytes, "little") for level in range(levels))
    return numpy.frombuffer(polynomials, "<u4").astype(numpy.uint32).reshape(levels, LENGTH)
