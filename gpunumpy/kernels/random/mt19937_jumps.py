"""MT19937: the state as kernels take it, and the polynomials by which they jump ahead.

The words of the generator satisfy ``x[k + 624] = x[k + 397] ^ (upper bit of x[k], other bits of x[k + 1]) A``, bit by
bit a linear recurrence over GF(2) of 19937 terms. Its characteristic polynomial is P. With c the remainder of t^n by P,
``x[n + j]`` is the sum of the ``x[i + j]`` for which c has the term t^i.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Any

import numpy

LENGTH, _AHEAD, DEGREE = 624, 397, 19937
_MATRIX = 0x9908B0DF

# A state is an array of words of 32 bits: LENGTH words of the block that the stream is in, and then, each in its place,
KEEPS = {
    "place": 624,  # how many of these words are taken
    "has": 625,  # whether a normal number is left of an earlier draw
    "left": 626,  # that number, its lower half first
    "words": 628,  # the four words that it was made of,
    "known": 632,  # if it was made on a device
}
STATE = 640


# How numbers are made of words: the kind that picks.cuh knows, the words of an attempt, and what it makes.
KINDS = {"masked": (1, 1, 1), "positive": (2, 2, 1), "normal": (3, 4, 2), "product": (4, 1, 1)}
# Those that are made of so many bits of a word, within bounds.
BOUNDED = ("masked", "product")


def attempts(count: int, share: float) -> int:
    """How many attempts to make for so many numbers, if that share of them succeeds."""
    return int(count / share + 8 * sqrt(count / share) + 32)


def _times_row(value: int) -> int:
    """A polynomial times ``t^623 + t^396``."""
    return value << LENGTH - 1 ^ value << _AHEAD - 1


def _tail(value: int) -> int:
    """A polynomial times P, whose highest term is left out.

    The recurrence leads from each bit of a word to the next: with ``D = t^624 + t^397`` and ``E = D / t`` the lowest
    bit of all words is q(E), of degree 0, 1, and so on, of what the bits are; D takes that of the highest bit, which
    comes of the word before, back to the lowest one.
    """
    made = value
    for bit in range(31):
        made = _times_row(made)
        if _MATRIX >> bit & 1:
            made ^= value
    made = made << LENGTH ^ made << _AHEAD
    if _MATRIX >> 31 & 1:
        made ^= value
    return made ^ value << DEGREE


@lru_cache(maxsize=64)
def jump(blocks: int) -> int:
    """The remainder of t to the power of a block's length times `blocks`, a power of two; term i is bit i."""
    if blocks * LENGTH < DEGREE:
        return 1 << blocks * LENGTH
    square = int(f"{jump(blocks // 2):b}", 4)  # bits take every second place
    while high := square >> DEGREE:
        square ^= high << DEGREE ^ _tail(high)
    return square


@lru_cache(maxsize=32)
def jumps(blocks: int, levels: int) -> Any:
    """The polynomials that jump over `blocks`, twice as many, and so on: words of 32 terms each."""
    size = 4 * LENGTH
    made = b"".join(jump(blocks << level).to_bytes(size, "little") for level in range(levels))
    return numpy.frombuffer(made, "<u4").astype(numpy.uint32).reshape(levels, LENGTH)
