"""Rejection sampling: each number consumes a variable count of random words.

The count of words for a whole draw is not known beforehand. A draw generates a few more words than it is expected to
need; if they are not enough, the same numbers are drawn again from more words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod, sqrt
from typing import Any, NamedTuple

import numpy

from ..core.dtypes import FLOAT64, INT64, DType
from ..core.graph import node as graph
from ..core.graph.layout import Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.late_dataclasses import dataclass
from ..core.recording.array import from_host, ndarray, to_host, wrap
from ..functions.manipulation.joining import concatenate
from . import words
from .stream import RestorableStream, Stream

# Words (times phases, for samplers that have them) in memory at once: larger draws are made part by part.
MAX_WORDS = 1 << 28


@dataclass(frozen=True, slots=True)
class Sampler:
    """A CUDA C++ class that makes numbers of random words, and how the kernels are to run it.

    Attributes
    ----------
    name
        The class. Its constructor takes the parameters, ``const f64*``. Its ``draw(source, value)`` takes words from
        the source (attempt_words.cuh) and returns whether this attempt made a number.
    file
        The ``.cuh`` file of the class in ``kernels/random``, without its ending; after the files that it needs,
        separated by spaces.
    dtype
        The dtype of the numbers.
    max_words
        The most words that one attempt may take: a power of two from 32 to 256. If an attempt takes more, NumPy draws
        all numbers on the host, so that must be next to impossible.
    width
        The count of numbers that one attempt makes; above 1, ``draw`` takes a pointer to them.
    takes_words32
        Whether the words have 32 bits although the numbers are not float32, for which they always have.
    paired
        Whether a word is a pair of words of 32 bits.
    phases
        0 if attempts are independent of one another. Otherwise the numbers are made of normal numbers that come in
        pairs (samplers_legacy.cuh), and an attempt depends on the phase, one of this many, that the previous attempt
        ended in.
    max_numbers
        With phases: the most numbers that one attempt may make.
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
        """Whether a word is one word of 32 bits."""
        return self.takes_words32 or self.dtype.itemsize == 4

    @property
    def options(self) -> tuple[Any, ...]:
        """The options of the library call "rejection_sampling"."""
        return self.file, self.name, self.max_words, self.width, self.paired, self.phases, self.max_numbers


class DrawnNumbers(NamedTuple):
    """Numbers drawn from words, and where the stream continues.

    Attributes
    ----------
    numbers
        The numbers.
    words_taken
        The count of words that the numbers consumed.
    pair_left_at
        The word at which the pair of normal numbers begins of which one is left over; -1 if none is.
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
    """Draw numbers of `shape` by rejection, and advance the stream.

    Parameters
    ----------
    stream
        The stream of words.
    sampler
        The CUDA C++ class that makes the numbers.
    params
        The parameters of that class.
    shape
        The shape of the result.
    words_per_number
        Expected count of words that a number consumes, failed attempts included, rounded up. Words have 64 bits (or are
        pairs of 32 bits) unless ``sampler.has_words32``.
    queue
        The queue that draws.
    row
        The count of numbers in a row. A draw in several parts is never cut inside a row.

    Returns
    -------
    Node or None
        None if an attempt took too many words: the stream has not moved, and NumPy is to draw the numbers.
    """
    count, row = prod(shape) // sampler.width, max(row // sampler.width, 1)
    largest = max(int(MAX_WORDS / (words_per_number * max(sampler.phases, 1))) // row, 1) * row
    shapes = [shape]
    if count > largest:
        shapes = [(min(largest, count - at) * sampler.width,) for at in range(0, count, largest)]
    begin = stream.saved_state() if len(shapes) > 1 else None
    parts: list[ndarray] = []
    try:
        for part_shape in shapes:
            numbers = _draw_part(stream, sampler, params, part_shape, words_per_number, queue)
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
    """Draw numbers whose words fit into memory at once, and advance the stream; None as `draw_by_rejection`."""
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
    """Draw numbers from the next words of a stream, which does not advance; None if an attempt took too many words.

    ``peek(count)`` returns the next `count` words, followed by further arguments of the library call if the sampler
    needs any.
    """
    params_on_device = from_host(numpy.array([*params, 0.0]), queue.device).value()
    needed = prod(shape) // sampler.width
    count = int(words_per_number * (needed + 8 * sqrt(needed))) + 4 * sampler.max_words
    while True:
        results: Any = ((shape, sampler.dtype), ((4,), INT64))
        next_words, *further_arguments = peek(count)
        values, counts = graph.library_call_outputs(
            "rejection_sampling", sampler.options, (next_words, params_on_device, *further_arguments), results
        )
        numbers = wrap(values)
        words_taken, available, stopped_at, pair_left_at = to_host(wrap(counts)).tolist()
        if available >= needed:
            return DrawnNumbers(numbers.value(), words_taken, pair_left_at)
        if 0 <= stopped_at <= count - sampler.max_words:  # an attempt failed although it had `max_words` words
            return None
        growth = min(1.02 * needed / max(available, 1), 4.0)
        count = int(count * growth) + 4 * sampler.max_words
