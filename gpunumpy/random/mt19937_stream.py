"""The stream of a `Generator` over MT19937."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ..core.dtypes import DType
from ..core.graph.layout import Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.recording.array import from_host, ndarray, to_host, wrap
from ..core.recording.record import elementwise
from .mt19937 import UINT32, PeekedWords, Twister, cut_words
from .rejection_sampling import Sampler, draw_by_rejection
from .stream import Stream

# The samplers of numbers of the ziggurats, and how many words one takes on average, rounded up.
_ZIGGURATS = {"normal": ("Normal", 1.023), "exponential": ("Exponential", 1.035)}


class TwisterStream(Stream):
    """A `Stream` of MT19937, whose words are no functions of their positions: they are made in memory."""

    def __init__(self, bits: Any) -> None:
        self._twister = Twister(numpy.random.RandomState(bits), shared=True)
        super().__init__(bits)
        self.kind, self.memory_source = "mt19937", self
        self._peeked: tuple[ndarray, ...] = ()

    @property
    def shared(self) -> bool:
        return self._twister.shared

    @shared.setter
    def shared(self, value: bool) -> None:
        self._twister.shared = value

    def synchronize(self) -> None:
        self._twister.synchronize()

    def restore(self, state: Any) -> None:
        self._twister.discard()
        super().restore(state)

    def finish_draw(self, made: Any) -> None:
        self._peeked = ()  # words that were drawn, whose memory nobody needs any longer
        super().finish_draw(made)

    def move_by(self, taken: ndarray, bits: int) -> None:
        peeked = PeekedWords(*(x.value() for x in self._peeked))
        self._peeked = ()
        self._twister.move_by(peeked, -(-int(to_host(taken)) * bits // 32))

    def words64(self, count: int, queue: Queue) -> Node:
        """Words of 64 bits."""
        return self._twister.words64(count, queue)

    def words32(self, count: int, queue: Queue) -> Node:
        """Words of 32 bits."""
        peeked = self._twister.peek(count, UINT32, queue)
        self._peeked = tuple(map(wrap, peeked))
        self._twister.move_to(peeked.after, 0)
        return self._peeked[0].value()

    def small_words(self, count: int, bits: int, queue: Queue) -> Node:
        """Words of 1 to 16 bits."""
        cut = cut_words(wrap(self.words32(-(-count * bits // 32), queue)), bits, count)
        return elementwise("bitwise_and", [cut, UINT32.type((1 << bits) - 1)]).value()

    def uniforms(self, count: int, queue: Queue) -> Node:
        """Numbers of 53 bits in [0, 1)."""
        return self._twister.uniforms(count, queue)

    def numbers(self, options: tuple[Any, ...], dtype: DType, count: int, queue: Queue, *bounds: Node) -> Node:
        """Numbers that reject words: of a ziggurat, or integers."""
        what, *how = options
        if what == "integers":
            bits, words_of_64 = how
            return self._twister.accepted("product", bits, count, 64 / words_of_64, dtype, queue, *bounds)
        name, words_per_number = _ZIGGURATS[what]
        sampler = Sampler(name, dtype=dtype, max_words=32)
        made = draw_by_rejection(self, sampler, (), (count,), words_per_number, queue)
        if made is None:
            self.synchronize()
            draw = getattr(numpy.random.Generator(self.bits), f"standard_{what}")
            made = from_host(draw(count, dtype), queue.device).value()
        return made

    def draw_part(
        self, sampler: Sampler, params: Sequence[float], shape: Shape, words_per_number: float, queue: Queue
    ) -> Node | None:
        """A part of the numbers of a sampler, see `draw_by_rejection`."""
        return self._twister.draw_part(sampler, params, shape, words_per_number, queue)
