"""Sequences of numbers of which each takes as many words as it needs.

How many words there must be for so many numbers is not known beforehand. So they are made for a few numbers more than
are expected to be enough; if they are not, all is asked for again with more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any

import numpy

from ..core.dtypes import FLOAT64, INT64, DType
from ..core.graph import node as graph
from ..core.graph.layout import Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.recording.array import from_host, ndarray, to_host, wrap
from ..functions.manipulation.joining import concatenate
from . import words
from .stream import Stream

# More words than that are not in memory at once: numbers that take more are made part by part.
_MOST_WORDS = 1 << 29


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
    longest
        How many words one attempt takes at most: a power of two of 32 to 256. Longer ones must be next to impossible,
        as NumPy draws on the host if there is one.
    width
        How many numbers an attempt makes at once; ``draw`` takes a pointer to them if these are several.
    halves
        Whether the words are those of 32 bits; they are for numbers of float32.
    paired
        Whether the words are pairs of words of 32 bits.
    phases
        0, or what an attempt does depends on which of so many phases those before are at; the numbers are made of
        normal ones that come in pairs (samplers_legacy.cuh).
    most
        How many numbers may come of one such attempt.
    """

    name: str
    file: str = "samplers_continuous"
    dtype: DType = FLOAT64
    longest: int = 64
    width: int = 1
    halves: bool = False
    paired: bool = False
    phases: int = 0
    most: int = 1

    @property
    def options(self) -> tuple[Any, ...]:
        """What the routine is told."""
        return self.file, self.name, self.longest, self.width, self.paired, self.phases, self.most


def sequence(
    stream: Stream, sampler: Sampler, params: Sequence[float], shape: Shape, each: float, queue: Queue
) -> Node | None:
    """Numbers, as many as the shape has, and the stream is moved on; None if an attempt is too long, and the stream is
    where it was.

    `each` is how many words an attempt that succeeds takes on average, with those before it, or a little more. The
    numbers of a sampler of float32 take words of 32 bits, others words of 64, unless the sampler says so.
    """
    stream.settle()
    begin = stream.bits.state
    count, share = prod(shape) // sampler.width, max(int(_MOST_WORDS / each), 1)
    parts = [shape] if count <= share else [(min(share, count - at) * sampler.width,) for at in range(0, count, share)]
    made: list[ndarray] = []
    try:
        for part in parts:
            numbers = _part(stream, sampler, params, part, each, queue)
            if numbers is None:
                break
            made.append(wrap(numbers))
    finally:
        if len(made) < len(parts):
            stream.back(begin)
    if len(made) < len(parts):
        return None
    joined: Node = (made[0] if len(made) == 1 else concatenate(made)).value()
    return joined


def _part(
    stream: Stream, sampler: Sampler, params: Sequence[float], shape: Shape, each: float, queue: Queue
) -> Node | None:
    count = prod(shape) // sampler.width
    if stream.own:
        made: Node | None = stream.own.part(sampler, params, shape, count, each, queue)
        return made
    single = sampler.halves or sampler.dtype.itemsize == 4
    make = words.halves if single else words.words
    found = attempted(lambda many: (stream.ahead(make, many, queue),), sampler, params, count, each, queue, shape)
    if found is None:
        return None
    values, taken, _ = found
    (stream.skip_halves if single else stream.skip)(taken)
    return values


def attempted(
    ahead: Callable[[int], tuple[Node, ...]],
    sampler: Sampler,
    params: Sequence[float],
    count: int,
    each: float,
    queue: Queue,
    shape: Shape | None = None,
) -> tuple[Node, int, int] | None:
    """So many numbers, and how many words they take of those that `ahead` makes: the next ones, as many as it is told,
    of 64 bits or of 32, and what else the sampler needs. Then, at which word those normal numbers are of which one is
    left, or -1. The shape is ``(count,)`` or ``(count, width)`` by default.
    """
    given = from_host(numpy.array([*params, 0.0]), queue.device).value()
    if shape is None:
        shape = (count,) if sampler.width == 1 else (count, sampler.width)
    many = int(each * (count + 8 * sqrt(count))) + 4 * sampler.longest
    while True:
        results: Any = ((shape, sampler.dtype), ((4,), INT64))
        made_of, *more = ahead(many)
        values, counts = graph.library_call_outputs(
            "stream_sequence", sampler.options, (made_of, given, *more), results
        )
        kept = wrap(values)
        taken, made, stopped, left = to_host(wrap(counts)).tolist()
        if made >= count:
            return kept.value(), taken, left
        if 0 <= stopped <= many - sampler.longest:  # none stopped where an attempt ends with the words
            return None
        share = min(1.02 * count / max(made, 1), 4.0)
        many = int(many * share) + 4 * sampler.longest
