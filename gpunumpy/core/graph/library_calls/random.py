"""Records of the library calls for random numbers. Where a record has no `results`, the caller gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dtypes import INT64
from ..signature import Signature
from .record import Implementation, Record, Results, by_program


def _positions(options: Any, args: Sequence[Signature]) -> Results:
    """Return an int64 output with a position for each element of the first argument."""
    return ((args[0].shape, INT64),)


def _state(options: Any, args: Sequence[Signature]) -> Results:
    """Return a generator state. The arguments are words, the states before and after all of them, the count taken."""
    _, before, _, _ = args
    return ((before.shape, before.dtype),)


_TWISTER = "random.host_mt19937", "random.cuda_mt19937"
_BOUNDED = "random.host_bounded", "random.cuda_bounded"

RECORDS = (
    Record(
        "piecewise_draws",
        {
            "host": Implementation("kernels.random.host_words:piecewise_draws"),
            "cuda": Implementation("kernels.random.cuda_draws:piecewise_draws"),
        },
    ),
    # CUDA only: other executors leave these draws to NumPy.
    Record(
        "rejection_sampling",
        {"cuda": Implementation(program="kernels.random.cuda_rejection_sampling:rejection_sampling")},
    ),
    Record("twister_words", by_program("twister_words", *_TWISTER)),
    Record("twister_numbers", by_program("twister_numbers", *_TWISTER)),
    Record("twister_advance", by_program("twister_advance", *_TWISTER), _state),
    Record(
        "bounded_draws",
        {
            "host": Implementation("kernels.random.host_bounded:bounded_draws"),
            "cuda": Implementation("kernels.random.cuda_bounded:bounded_draws"),
        },
    ),
    Record("permutation_of_swaps", by_program("permutation_of_swaps", *_BOUNDED), _positions),
    Record("floyd_sample", by_program("floyd_sample", *_BOUNDED), _positions),
)
