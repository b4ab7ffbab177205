"""Library calls of random numbers for the CPU device, which run a GPU's programs on the emulated machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpunumpy.kernels.random import cuda_bounded, cuda_draws, cuda_mt19937, cuda_rejection_sampling
from gpunumpy.kernels.sort import cuda as cuda_sort

from .executor import run_program
from .machine import MAX_SHARED_BYTES
from .test_masks_and_scatter import layout_of

TWISTER = (cuda_mt19937.twister_words, cuda_mt19937.twister_numbers, cuda_mt19937.twister_advance)
_PROGRAMS: dict[str, Callable[..., Any]] = {
    "bounded_draws": lambda options, layouts, dtypes: cuda_bounded.bounded_draws_program(options, layouts, 1),
    "piecewise_draws": lambda options, layouts, dtypes: cuda_draws.piecewise_draws_program(
        options, layouts, dtypes, MAX_SHARED_BYTES
    ),
    **{
        make.__name__: make
        for make in (cuda_bounded.permutation_of_swaps, cuda_bounded.floyd_sample, cuda_sort.sort_upper)
    },
    "rejection_sampling": cuda_rejection_sampling.rejection_sampling,
    **{make.__name__: make for make in TWISTER},
}


def _emulated(make: Callable[..., Any]) -> Callable[..., None]:
    def call(options: tuple[Any, ...], *arrays: Any) -> None:
        program = make(options, [layout_of(x) for x in arrays], [x.dtype for x in arrays])
        assert run_program(program, arrays, seed=3) == 0

    return call


LIBRARY_CALLS = {name: _emulated(make) for name, make in _PROGRAMS.items()}
