"""Random integers with a bound each, and permutations from swaps, on the CPU executor.

Draws on the CPU device run through NumPy; these functions specify what the GPU's kernels compute, one step at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy


def _integers(rule: str, bits: int, words: Iterator[int], bounds: Any) -> Iterator[int]:
    """Yield an integer from 0 up to each bound, consuming words until one is accepted."""
    largest = (1 << bits) - 1
    for bound in bounds:
        for word in words:
            if rule == "masked":
                value = word & (1 << bound.bit_length()) - 1
                is_accepted = value <= bound
            else:
                product = word * (bound + 1)
                value = product >> bits
                is_accepted = product & largest >= (largest - bound) % (bound + 1)
            if is_accepted:
                break
        yield value


def bounded_draws(options: tuple[Any, ...], out: Any, taken: Any, words: Any, *bounds: Any) -> None:
    """Write to `out` integers up to given bounds, or swaps with falling bounds; to `taken` how many words they consume.

    The options are described at `cuda_bounded.bounded_draws_program`.
    """
    rule, bits, _, falling = options
    remaining_words = iter(words.tolist())
    if falling is None:
        out.flat = list(_integers(rule, bits, remaining_words, bounds[0].ravel().tolist()))
    else:
        last, rows = falling
        lowest = last + 1 - out.size // rows
        place_zero = [0] * (lowest == 0)  # place 0 swaps with itself, without a word
        for row in range(rows):
            first = row * (last + 1)
            drawn = [*_integers(rule, bits, remaining_words, range(last, max(lowest, 1) - 1, -1)), *place_zero]
            out[row * len(drawn) : (row + 1) * len(drawn)] = [
                (first + value) << 32 | (first + last - k) for k, value in enumerate(drawn)
            ][::-1]
    taken[()] = words.size - sum(1 for _ in remaining_words)


def permutation_of_swaps(options: tuple[Any, ...], out: Any, swaps: Any) -> None:
    """Write to `out` the permutation that swaps leave of the places from ``options[0]`` on."""
    (lowest,) = options
    order = numpy.arange(lowest + out.size)
    for swap in sorted(swaps.tolist(), key=lambda swap: swap & 0xFFFFFFFF, reverse=True):
        pair = [swap >> 32, swap & 0xFFFFFFFF]
        order[pair] = order[pair[::-1]]
    out[...] = order[lowest:]


def floyd_sample(options: tuple[Any, ...], out: Any, drawn: Any, ordered: Any) -> None:
    """Write to `out` a sample without repetitions, by R. W. Floyd's algorithm from the integers `drawn`."""
    (lowest,) = options
    sample: set[int] = set()
    for t, value in enumerate(drawn.tolist()):
        out[t] = lowest + t if value in sample else value
        sample.add(int(out[t]))
