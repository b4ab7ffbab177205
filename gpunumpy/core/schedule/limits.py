"""Sizes that the scheduler and the code generator must agree on."""

from __future__ import annotations

# A row-wise kernel (softmax, normalisation) holds a whole row in the registers of one block: 1,024 threads with
# 64 bytes each, which leaves as much again for what is being computed.
ROW_BYTES = 1 << 16


def fits_row(nbytes: int, length: int) -> bool:
    """Whether a block can hold a row of `length` points that keep `nbytes` bytes each between two reductions."""
    return nbytes * length <= ROW_BYTES
