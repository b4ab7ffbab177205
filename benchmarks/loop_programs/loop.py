"""What a loop is to the benchmark: its two programs, its data, and how much there is to compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Loop:
    """A loop. `program(np, *arrays, steps)` takes a module like NumPy, `by_hand(jax, *arrays, steps)` takes JAX.

    Neither changes the arrays that it is given.
    """

    program: Callable[..., Any]
    by_hand: Callable[..., Any]
    data: Callable[..., tuple[Any, ...]]  # of a generator of random numbers, the size and the steps
    sizes: Mapping[str, tuple[int, int]]  # the size and the steps: "small", and "large" where the loop permits
    operations: int  # array operations of a step: arithmetic, reductions, copies and assignments to slices
    tolerance: float = 1e-11  # relative to the largest element
    different: float = 0.0  # share of the elements that may differ by more, where rounding decides a comparison

    @property
    def name(self) -> str:
        return self.program.__name__
