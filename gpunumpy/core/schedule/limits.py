"""Limits that the scheduler keeps for the code generator: what one block of GPU threads can hold."""

from __future__ import annotations

# A row-wise kernel (softmax, normalisation) holds a whole row in the registers of one block: 1,024 threads with
# 64 bytes each, which leaves the same number of bytes for intermediate values.
MAX_ROW_BYTES = 1 << 16

# A thread that reduces has all coordinates of a point at once if they are so few.
MAX_COORDINATES = 4


def row_fits_in_block(bytes_per_point: int, length: int) -> bool:
    """Return whether a block can hold a row of `length` points that keep `bytes_per_point` bytes between reductions."""
    return bytes_per_point * length <= MAX_ROW_BYTES
