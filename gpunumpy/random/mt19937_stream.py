"""Sequences of numbers over the words of MT19937, and the stream of a `Generator` over these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy

from ..core.dtypes import DType
from ..core.graph.layout import Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.recording.array import from_host, ndarray, to_host, wrap
from ..core.recording.record import elementwise
from . import sequence
from .mt19937 import UINT32, UINT64, Twister, cut
from .sequence import Sampler
from .stream import Stream

# The samplers of numbers of the ziggurats, and how many words one takes, or a little more.
_ZIGGURATS = {"normal": ("Normal", 1.023), "exponential": ("Exponential", 1.035)}


def part(
    stream: Twister,
    sampler: Sampler,
    params: Sequence[float],
    count: int,
    each: float,
    queue: Queue,
    shape: Shape | None = None,
) -> ndarray | None:
    """The numbers of so many attempts, and the stream is moved on; None if NumPy is to draw them.

    Words are pairs of those of 32 bits, unless the sampler takes single ones.
    """
    single = sampler.halves or sampler.dtype.itemsize == 4
    dtype, share = (UINT32, 1) if single else (UINT64, 2)
    held: list[ndarray] = []

    def ahead(many: int) -> tuple[Node, ...]:
        words, *states = stream.ahead(many, dtype, queue)
        held[:] = map(wrap, (words, *states))
        return words, *states[: int(sampler.phases > 0)]

    found = sequence.attempted(ahead, replace(sampler, paired=not single), params, count, each, queue, shape)
    if found is None:
        return None
    numbers, taken, left = found
    words, before, after = (x.value() for x in held)
    stream.moved_to((words, before, after), share * taken, (2 * left if left >= 0 else -1) if sampler.phases else None)
    return wrap(numbers)


class TwisterStream(Stream):
    """What `Stream` is, of MT19937, whose words are no functions of their positions: they are made in memory."""

    def __init__(self, bits: Any) -> None:
        self._twister = Twister(numpy.random.RandomState(bits), shared=True)
        super().__init__(bits)
        self.kind, self.own = "mt19937", self
        self._ahead: tuple[ndarray, ...] = ()

    @property
    def shared(self) -> bool:
        return self._twister.shared

    @shared.setter
    def shared(self, value: bool) -> None:
        self._twister.shared = value

    def settle(self) -> None:
        self._twister.settle()

    def back(self, state: Any) -> None:
        self._twister.forget()
        super().back(state)

    def drawn(self, made: Any) -> None:
        self._ahead = ()  # words that were drawn, whose memory nobody needs any longer
        super().drawn(made)

    def moves(self, taken: ndarray, bits: int) -> None:
        words, before, after = (x.value() for x in self._ahead)
        self._ahead = ()
        self._twister.moved_to((words, before, after), -(-int(to_host(taken)) * bits // 32))

    def longs(self, count: int, queue: Queue) -> Node:
        """Words of 64 bits."""
        return self._twister.longs(count, queue)

    def halves(self, count: int, queue: Queue) -> Node:
        """Words of 32 bits."""
        words, before, after = self._twister.ahead(count, UINT32, queue)
        self._ahead = tuple(map(wrap, (words, before, after)))
        self._twister.move(after, 0)
        return self._ahead[0].value()

    def pieces(self, count: int, bits: int, queue: Queue) -> Node:
        """Words of 16 bits or fewer."""
        made = cut(wrap(self.halves(-(-count * bits // 32), queue)), bits, count)
        made = elementwise("bitwise_and", [made, UINT32.type((1 << bits) - 1)])
        return made.value()

    def doubles(self, count: int, queue: Queue) -> Node:
        """Numbers of 53 bits that are evenly distributed between 0 and 1."""
        return self._twister.doubles(count, queue)

    def numbers(self, options: tuple[Any, ...], dtype: DType, count: int, queue: Queue, *given: Node) -> Node:
        """Numbers that reject words: of a ziggurat, or integers."""
        what, *how = options
        if what == "integers":
            bits, share = how
            return self._twister.picked("product", bits, count, 64 / share, dtype, queue, *given)
        name, each = _ZIGGURATS[what]
        made = sequence.sequence(self, Sampler(name, dtype=dtype, longest=32), (), (count,), each, queue)
        if made is None:
            self.settle()
            draw = getattr(numpy.random.Generator(self.bits), f"standard_{what}")
            made = from_host(draw(count, dtype), queue.device).value()
        return made

    def part(
        self, sampler: Sampler, params: Sequence[float], shape: Shape, count: int, each: float, queue: Queue
    ) -> Node | None:
        """A part of a sequence."""
        made = part(self._twister, sampler, params, count, each, queue, shape)
        return None if made is None else made.value()
