"""What executors differ in: asked by the passes, and by functions that have two ways to do a thing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traits:
    """What an executor is good at.

    Attributes
    ----------
    draws_random
        Its kernels draw many random numbers faster than NumPy does.
    takes_epilogues
        Its matrix products do elementwise operations behind them for less than a kernel of their own.
    copies_blocks_faster_than_elements
        To copy a few blocks is faster than to pick every element by its index.
    sums_long_rows_faster_than_blas
        A reduction reads the long rows of a large matrix faster than BLAS does for a product with a vector.
    """

    draws_random: bool = False
    takes_epilogues: bool = False
    copies_blocks_faster_than_elements: bool = False
    sums_long_rows_faster_than_blas: bool = False
