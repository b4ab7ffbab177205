"""Rejection sampling: numbers of which each consumes as many random words as it needs.

How many words so many numbers take is not known beforehand. So words are made for a few numbers more than are expected
to be enough; if they are not, all are drawn again with more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any, NamedTuple

import numpy

from ..core.dtypes import FLOAT64, INT64, DType
from ..core.graph import node as graph
from ..core.graph.layout import Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.recording.array import from_host, ndarray, to_host, wrap
from ..functions.manipulation.joining import concatenate
from . import words
from .stream import RestorableStream, Stream

# Words, or phases of them, that are in memory at once: numbers that take more are made part by part.
MAX_WORDS = 1 << 28


@dataclass(frozen=True, slots=True)
class Sampler:
    """How a number is made of words: a class in CUDA C++.

    Attributes
    ----------
    name
        The class. It is made of its parameters, ``const f64*``, and its ``draw(source, value)`` takes words of the
        source (sequence.cuh) and returns whether they made a number.
    file
        Where it is, among the kernels; files in order, apart by spaces, where one needs another.
    dtype
        Of the numbers.
    max_words
        How many words one attempt takes at most: a power of two of 32 to 256. Longer ones must be next to impossible,
        as NumPy draws on the host if there is one.
    width
        How many numbers an attempt makes at once; ``draw`` takes a pointer to them if these are several.
    takes_words32
        Whether the words are those of 32 bits; they are for numbers of float32.
    paired
        Whether the words are pairs of words of 32 bits.
    phases
        0, or what an attempt does depends on which of so many phases those before are at; the numbers are made of
        normal ones that come in pairs (samplers_legacy.cuh).
    max_numbers
        How many numbers may come of one such attempt.
    """

    name: str
    file: str = "samplers_continuous"
    dtype: DType = FLOAT64
    max_words: int = 64
    width: int = 1
    takes_words32: bool = False
    paired: bool = False
    phases: int = 0
    max_numbers: int = 1

    @property
    def has_words32(self) -> bool:
        """Whether its words are single ones of 32 bits."""
        return self.takes_words32 or self.dtype.itemsize == 4

    @property
    def options(self) -> tuple[Any, ...]:
        """What the library call is told."""
        return self.file, self.name, self.max_words, self.width, self.paired, self.phases, self.max_numbers


class DrawnNumbers(NamedTuple):
    """Numbers, and what they leave of their words.

    Attributes
    ----------
    numbers
        The numbers.
    words_taken
        How many words they took.
    pair_left_at
        At which word the two normal numbers are of which one is left; -1 if none is.
    """

    numbers: Node
    words_taken: int
    pair_left_at: int


def draw_by_rejection(
    stream: RestorableStream,
    sampler: Sampler,
    params: Sequence[float],
    shape: Shape,
    words_per_number: float,
    queue: Queue,
    row: int = 1,
) -> Node | None:
    """Draw as many numbers as the shape has, and move the stream on.

    Parameters
    ----------
    words_per_number
        How many words an attempt that succeeds takes on average, with those before it that fail, rounded up. They have
        64 bits, or are pairs of 32 bits; or have 32 bits if the sampler says so.
    row
        How many numbers make a row, which is never cut into parts.

    Returns
    -------
    Node or None
        None if an attempt took too many words: the stream is where it was, and NumPy is to draw the numbers.
    """
    count, row = prod(shape) // sampler.width, max(row // sampler.width, 1)
    largest = max(int(MAX_WORDS / (words_per_number * max(sampler.phases, 1))) // row, 1) * row
    shapes = [shape]
    if count > largest:
        shapes = [(min(largest, count - at) * sampler.width,) for at in range(0, count, largest)]
    begin = stream.saved_state() if len(shapes) > 1 else None
    parts: list[ndarray] = []
    try:
        for its in shapes:
            numbers = _draw_part(stream, sampler, params, its, words_per_number, queue)
            if numbers is None:
                return None
            parts.append(wrap(numbers))
    finally:
        if begin is not None and len(parts) < len(shapes):
            stream.restore(begin)
    joined: Node = (parts[0] if len(parts) == 1 else concatenate(parts)).value()
    return joined


def _draw_part(
    stream: RestorableStream,
    sampler: Sampler,
    params: Sequence[float],
    shape: Shape,
    words_per_number: float,
    queue: Queue,
) -> Node | None:
    if stream.memory_source:
        return stream.memory_source.draw_part(sampler, params, shape, words_per_number, queue)
    assert isinstance(stream, Stream)
    make, skip = (words.words32, stream.skip_halves) if sampler.has_words32 else (words.words64, stream.skip)
    drawn = draw_from_words(
        lambda count: (stream.peek(make, count, queue),), sampler, params, shape, words_per_number, queue
    )
    if drawn is None:
        return None
    skip(drawn.words_taken)
    return drawn.numbers


def draw_from_words(
    peek: Callable[[int], tuple[Node, ...]],
    sampler: Sampler,
    params: Sequence[float],
    shape: Shape,
    words_per_number: float,
    queue: Queue,
) -> DrawnNumbers | None:
    """Draw numbers from words that `peek` makes: the next ones, as many as it is told, and what else the sampler needs.

    None if an attempt took too many words.
    """
    given = from_host(numpy.array([*params, 0.0]), queue.device).value()
    needed = prod(shape) // sampler.width
    count = int(words_per_number * (needed + 8 * sqrt(needed))) + 4 * sampler.max_words
    while True:
        results: Any = ((shape, sampler.dtype), ((4,), INT64))
        its_words, *more = peek(count)
        values, counts = graph.library_call_outputs(
            "stream_sequence", sampler.options, (its_words, given, *more), results
        )
        kept = wrap(values)
        taken, made, stopped_at, left_at = to_host(wrap(counts)).tolist()
        if made >= needed:
            return DrawnNumbers(kept.value(), taken, left_at)
        if 0 <= stopped_at <= count - sampler.max_words:  # none stopped where an attempt ends with the words
            return None
        growth = min(1.02 * needed / max(made, 1), 4.0)
        count = int(count * growth) + 4 * sampler.max_words
