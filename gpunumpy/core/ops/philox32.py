"""The ops that draw the random numbers of `PhiloxGPU`: words of Philox4x32, as functions of an element's position.

Neighbouring elements share a block of 128 bits. The first of them computes the block, and its thread keeps the block
for the others (`Block` in philox32.cuh).
"""

from __future__ import annotations

from typing import Any

import numpy

from .elementwise import Op


def elements_of_block(dtype: numpy.dtype[Any]) -> int:
    """Return how many elements of a dtype share a block."""
    return 16 // dtype.itemsize


# The fields of a call: the thread's last block, the element's turn in its block, its position, the key and the salt.
# The code generator supplies the first two, which follow the op's own arguments.
_BLOCK_ARGUMENTS = "{{{}}}, {{{}}}, {{0}}, {{1}}, {{2}}"

# The ops that compute blocks.
BLOCK_OPS = frozenset({"philox32_word", "philox32_normal", "philox32_below"})

PHILOX32: dict[str, Op] = {
    name: Op(name, {kind: code}, 0, 0, (0, 0))
    for name, kind, code in (
        ("philox32_word", "i", f"op::philox32_word<{{T}}>({_BLOCK_ARGUMENTS.format(3, 4)})"),
        ("philox32_normal", "i", f"op::philox32_normal<{{T}}>({_BLOCK_ARGUMENTS.format(3, 4)})"),
        ("philox32_below", "i", f"op::philox32_below<{{T}}>({_BLOCK_ARGUMENTS.format(5, 6)}, {{3}}, {{4}})"),
        # The negated logarithm of a word, taken as a number in (0, 1].
        ("minus_log", "u", "op::minus_log({0})"),
    )
}
