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

# The samplers of the ziggurats, with the words that a number consumes on average, rounded up.
_ZIGGURATS = {"normal": ("Normal", 1.023), "exponential": ("Exponential", 1.035)}


class TwisterStream(Stream):
    """A `Stream` of MT19937. Its words are generated in memory, as they are not functions of their positions."""

    def __init__(self, bits: Any) -> None:
        self._twister = Twister(numpy.random.RandomState(bits), shared=True)
        super().__init__(bits)
        self.kind, self.memory_source = "mt19937", self
        self._peeked: tuple[ndarray, ...] = ()

    @property
    def shared(self) -> bool:
        """Whether other code may read NumPy's state at any time: see `Stream`."""
        return self._twister.shared

    @shared.setter
    def shared(self, value: bool) -> None:
        self._twister.shared = value

    def synchronize(self) -> None:
        """Advance NumPy's state past all draws so far."""
        self._twister.synchronize()

    def restore(self, state: Any) -> None:
        """Return to a saved state, discarding later draws."""
        self._twister.discard()
        super().restore(state)

    def finish_draw(self, result: Any) -> None:
        """Release the words of the draw, and bring NumPy's state up to date if it is shared."""
        self._peeked = ()
        super().finish_draw(result)

    def move_by(self, words_taken: ndarray, bits: int) -> None:
        """Advance past the first `words_taken` words, of `bits` bits each, of those that `words32` returned last."""
        peeked = PeekedWords(*(x.value() for x in self._peeked))
        self._peeked = ()
        self._twister.move_by(peeked, -(-int(to_host(words_taken)) * bits // 32))

    def words64(self, count: int, queue: Queue) -> Node:
        """Return the next words of 64 bits."""
        return self._twister.words64(count, queue)

    def words32(self, count: int, queue: Queue) -> Node:
        """Return the next words of 32 bits, and keep the states around them for `move_by`."""
        peeked = self._twister.peek(count, UINT32, queue)
        self._peeked = tuple(map(wrap, peeked))
        self._twister.move_to(peeked.after, 0)
        return self._peeked[0].value()

    def small_words(self, count: int, bits: int, queue: Queue) -> Node:
        """Return words of 1 to 16 bits, cut from the lower end of words of 32 bits."""
        cut = cut_words(wrap(self.words32(-(-count * bits // 32), queue)), bits, count)
        return elementwise("bitwise_and", [cut, UINT32.type((1 << bits) - 1)]).value()

    def uniforms(self, count: int, queue: Queue) -> Node:
        """Return uniform float64 numbers in [0, 1)."""
        return self._twister.uniforms(count, queue)

    def numbers(self, options: tuple[Any, ...], dtype: DType, count: int, queue: Queue, *bounds: Node) -> Node:
        """Draw integers or ziggurat numbers, which reject some words; on the host if an attempt takes too many."""
        distribution, *integer_options = options
        if distribution == "integers":
            bits, words_per_64_integers = integer_options
            acceptance_rate = 64 / words_per_64_integers
            return self._twister.draw_by_attempts("product", bits, count, acceptance_rate, dtype, queue, *bounds)
        name, words_per_number = _ZIGGURATS[distribution]
        sampler = Sampler(name, dtype=dtype, max_words=32)
        numbers = draw_by_rejection(self, sampler, (), (count,), words_per_number, queue)
        if numbers is None:
            self.synchronize()
            draw = getattr(numpy.random.Generator(self.bits), f"standard_{distribution}")
            numbers = from_host(draw(count, dtype), queue.device).value()
        return numbers

    def draw_part(
        self, sampler: Sampler, params: Sequence[float], shape: Shape, words_per_number: float, queue: Queue
    ) -> Node | None:
        """Draw numbers of `shape` by rejection and advance the stream: one part of `draw_by_rejection`."""
        return self._twister.draw_part(sampler, params, shape, words_per_number, queue)
