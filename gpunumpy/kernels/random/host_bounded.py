"""Random integers whose bounds differ, and the order that random swaps leave, as the CPU executor makes them.

What the CPU draws NumPy draws; these are what the kernels of a GPU mean, one step after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy


def _integers(rule: str, bits: int, words: Iterator[int], bounds: Any) -> Iterator[int]:
    """Integers up to bounds."""
    largest = (1 << bits) - 1
    for bound in bounds:
        for word in words:
            if rule == "masked":
                value = word & (1 << bound.bit_length()) - 1
                made = value <= bound
            else:
                product = word * (bound + 1)
                value = product >> bits
                made = product & largest >= (largest - bound) % (bound + 1)
            if made:
                break
        yield value


def bounded_draws(options: tuple[Any, ...], out: Any, taken: Any, words: Any, *bounds: Any) -> None:
    """Integers up to bounds that are given, or swaps, and how many words they take."""
    rule, bits, _, falling = options
    left = iter(words.tolist())
    if falling is None:
        out.flat = list(_integers(rule, bits, left, bounds[0].ravel().tolist()))
    else:
        last, rows = falling
        lowest = last + 1 - out.size // rows
        rest = [0] * (lowest == 0)
        for row in range(rows):
            first = row * (last + 1)
            drawn = [*_integers(rule, bits, left, range(last, max(lowest, 1) - 1, -1)), *rest]
            out[row * len(drawn) : (row + 1) * len(drawn)] = [
                (first + value) << 32 | (first + last - k) for k, value in enumerate(drawn)
            ][::-1]
    taken[()] = words.size - sum(1 for _ in left)


def swapped(options: tuple[Any, ...], out: Any, swaps: Any) -> None:
    """The order of elements after swaps."""
    (lowest,) = options
    order = numpy.arange(lowest + out.size)
    for swap in sorted(swaps.tolist(), key=lambda swap: swap & 0xFFFFFFFF, reverse=True):
        pair = [swap >> 32, swap & 0xFFFFFFFF]
        order[pair] = order[pair[::-1]]
    out[...] = order[lowest:]


def sampled(options: tuple[Any, ...], out: Any, drawn: Any, ordered: Any) -> None:
    """A sample of a population, of integers that were drawn."""
    (lowest,) = options
    found: set[int] = set()
    for t, value in enumerate(drawn.tolist()):
        out[t] = lowest + t if value in found else value
        found.add(int(out[t]))
