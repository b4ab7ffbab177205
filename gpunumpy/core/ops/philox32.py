"""The rows that a stream of no library's is made of: words of Philox4x32, whose blocks neighbouring elements share.

A row's element makes a block of 128 bits if it is the first of those that share one, and else takes its part of what
the thread made last (`Block` in philox32.cuh).
"""

from __future__ import annotations

from typing import Any

import numpy

from .elementwise import Op


def elements_of_block(dtype: numpy.dtype[Any]) -> int:
    """How many elements share a block."""
    return 16 // dtype.itemsize


# The last two arguments are the block that the thread made last, and at which turn in its block the element comes.
_AT = "{{{}}}, {{{}}}, {{0}}, {{1}}, {{2}}"

# The rows that make blocks.
BLOCKS = frozenset({"philox32_word", "philox32_normal", "philox32_below"})

PHILOX32: dict[str, Op] = {
    name: Op(name, {kind: code}, 0, 0, (0, 0))
    for name, kind, code in (
        ("philox32_word", "i", f"op::philox32_word<{{T}}>({_AT.format(3, 4)})"),
        ("philox32_normal", "i", f"op::philox32_normal<{{T}}>({_AT.format(3, 4)})"),
        ("philox32_below", "i", f"op::philox32_below<{{T}}>({_AT.format(5, 6)}, {{3}}, {{4}})"),
        # The logarithm of a word as a number in (0, 1], negated.
        ("minus_log", "u", "op::minus_log({0})"),
    )
}
