"""The records of random numbers. How many are drawn, and of which dtype, whoever records a draw decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dtypes import INT64
from ..signature import Signature
from .record import Implementation, Record, Results


def _positions(options: Any, args: Sequence[Signature]) -> Results:
    return ((args[0].shape, INT64),)


def _state(options: Any, args: Sequence[Signature]) -> Results:
    """The state after some of the words, which come with the states before and after them."""
    _, before, _, _ = args
    return ((before.shape, before.dtype),)


def _by(name: str, host: str, cuda: str) -> dict[str, Implementation]:
    """Functions of the same name in a module of each executor, where CUDA's makes a program."""
    return {
        "host": Implementation(f"kernels.random.host_{host}:{name}"),
        "cuda": Implementation(program=f"kernels.random.cuda_{cuda}:{name}"),
    }


RECORDS = (
    Record(
        "stream_draws",
        {
            "host": Implementation("kernels.random.host_words:stream_draws"),
            "cuda": Implementation("kernels.random.cuda_words:stream_draws"),
        },
    ),
    # Of an executor that leaves such draws to NumPy there is none.
    Record("stream_sequence", {"cuda": Implementation(program="kernels.random.cuda_sequence:stream_sequence")}),
    Record("twister_words", _by("twister_words", "mt19937", "mt19937")),
    Record("twister_picks", _by("twister_picks", "mt19937", "mt19937")),
    Record("twister_stand", _by("twister_stand", "mt19937", "mt19937"), _state),
    Record(
        "bounded_draws",
        {
            "host": Implementation("kernels.random.host_bounded:bounded_draws"),
            "cuda": Implementation("kernels.random.cuda_bounded:bounded_draws"),
        },
    ),
    Record("swapped", _by("swapped", "bounded", "bounded"), _positions),
    Record("sampled", _by("sampled", "bounded", "bounded"), _positions),
)
