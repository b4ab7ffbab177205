"""What executors differ in: asked by the passes, and by functions that have two ways to do a thing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traits:
    """What an executor is good at.

    Attributes
    ----------
    draws_random
        Many random numbers are drawn by its kernels, not by NumPy.
    takes_epilogues
        Its matrix products do elementwise operations behind them for less than a kernel of their own.
    copies_blocks
        It copies blocks faster than it picks elements one by one.
    sums_long_rows
        It reads long rows faster for a reduction than for a product with a vector.
    """

    draws_random: bool = False
    takes_epilogues: bool = False
    copies_blocks: bool = False
    sums_long_rows: bool = False
