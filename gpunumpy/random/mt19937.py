"""The stream of a `RandomState`: words of MT19937, and the state from draw to draw.

The state of NumPy's `RandomState` is authoritative. While draws on one device follow one another the newest state stays
on that device; NumPy's state is brought up to date when something reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy

from ..core.dtypes import FLOAT64, DType
from ..core.graph import node as graph
from ..core.graph.layout import Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.locks import held
from ..core.recording.array import from_host, ndarray, to_host, wrap
from ..core.recording.record import elementwise
from ..kernels.random.host_mt19937 import pack_state, unpack_state
from ..kernels.random.mt19937_jumps import KINDS, LENGTH, STATE_WORDS, attempts, jumps
from . import rejection_sampling
from .rejection_sampling import Sampler
from .stream import lock_of
from .words import counted_from

UINT32, UINT64 = numpy.dtype(numpy.uint32), numpy.dtype(numpy.uint64)

# A call generates its words in runs of consecutive blocks of 624 words. One thread block generates a run, after a jump
# ahead to its first state: more runs run in parallel, but each costs a jump.
MAX_RUNS, MIN_BLOCKS_PER_RUN = 256, 256

_NumpyRandomState = numpy.random.RandomState
# The attribute as NumPy defines it: `random_state.RandomState` overrides it with a property.
BIT_GENERATOR: Any = _NumpyRandomState._bit_generator


class PeekedWords(NamedTuple):
    """The next words of a stream that has not advanced, with the states before and after them."""

    words: Node
    before: Node
    after: Node


class Twister:
    """The stream of a `RandomState`.

    Parameters
    ----------
    random_state
        NumPy's `RandomState` that owns the stream.
    shared
        Whether other code may read the state of `random_state` at any time, so that each draw must update it.
    """

    def __init__(self, random_state: Any, shared: bool) -> None:
        self.random_state, self.shared = random_state, shared
        self._bits: Any = None  # the bit generator that `_lock` belongs to
        self._lock: Any = None
        self._state: ndarray | None = None  # the newest state on a device; None if NumPy's state is the newest
        self._earlier_states: list[ndarray] = []  # earlier states, back to the last one that is computed
        self._normals_left = 0  # 1 if a normal number of the last pair is left for the next draw

    @property
    def kind(self) -> bool:
        """Whether the bit generator is MT19937, which the device can continue. Truthy as `Stream.kind`."""
        return type(BIT_GENERATOR.__get__(self.random_state)) is numpy.random.MT19937

    @property
    def lock(self) -> Any:
        """The lock that a thread holds while it draws."""
        bits = BIT_GENERATOR.__get__(self.random_state)
        if bits is not self._bits:
            self._bits, self._lock = bits, lock_of(bits)
        return self._lock

    def synchronize(self) -> None:
        """Advance NumPy's state past all draws so far."""
        if self._state is None:
            return
        with held(self.lock):
            if self._state is None:
                return
            try:
                state = to_host(self._state)
            except MemoryError:  # undo the draws that ran out of memory: return to the newest state that computes
                while self._earlier_states:
                    with suppress(MemoryError):
                        earlier = to_host(self._earlier_states.pop())
                        _NumpyRandomState.set_state(self.random_state, unpack_state(earlier))
                        self._earlier_states.clear()
                self._state = None
                raise
            self._state = None
            self._earlier_states.clear()
            _NumpyRandomState.set_state(self.random_state, unpack_state(state))

    @property
    def memory_source(self) -> Twister:
        """The source of words and draws: see `Stream`."""
        return self

    def finish_draw(self, result: Any) -> None:
        """Do nothing: each draw has already advanced the state. `Stream.finish_draw` has work to do."""

    def saved_state(self) -> Any:
        """Return NumPy's state after all draws so far."""
        self.synchronize()
        return _NumpyRandomState.get_state(self.random_state, legacy=False)

    def restore(self, state: Any) -> None:
        """Return to a saved state, discarding later draws."""
        self.discard()
        _NumpyRandomState.set_state(self.random_state, state)

    def words32(self, count: int, queue: Queue) -> Node:
        """Return the next `count` words of 32 bits."""
        return self._words(count, UINT32, queue)

    def words64(self, count: int, queue: Queue) -> Node:
        """Return the next `count` words of 64 bits, the first word of 32 bits in the upper half as NumPy has it."""
        pairs = self._words(count, UINT64, queue)
        halves = _map_with_scalar("left_shift", pairs, 32), _map_with_scalar("right_shift", pairs, 32)
        return graph.map_node("bitwise_or", (UINT64,) * 3, halves)

    def uniforms(self, count: int, queue: Queue) -> Node:
        """Return uniform float64 numbers in [0, 1): the upper 27 bits of one word, then the upper 26 of the next."""
        pairs = self._words(count, UINT64, queue)
        first = _map_with_scalar("left_shift", _map_with_scalar("bitwise_and", pairs, 0xFFFFFFE0), 21)
        bits = graph.map_node("bitwise_or", (UINT64,) * 3, (first, _map_with_scalar("right_shift", pairs, 38)))
        unit = graph.typed_scalar(1 / 9007199254740992, FLOAT64)
        return graph.map_node("multiply", (FLOAT64,) * 3, (graph.cast(bits, FLOAT64), unit))

    def positive_uniforms(self, count: int, queue: Queue) -> Node:
        """Return uniform float64 numbers in (0, 1): NumPy rejects zeros where it takes a logarithm."""
        return self.draw_by_attempts("positive", 64, count, 1.0, FLOAT64, queue)

    def normals(self, count: int, queue: Queue) -> Node:
        """Return standard normal numbers. The polar method makes them in pairs; one may be left over."""
        self._bring_state_to(queue)
        return self.draw_by_attempts("normal", 64, count, numpy.pi / 4, FLOAT64, queue, left=self._normals_left)

    def integers(self, count: int, bits: int, low: int, spread: int, dtype: DType, queue: Queue) -> Node:
        """Return integers from `low` to ``low + spread``, both included, by masked rejection.

        An integer is the lower bits of a word of `bits` bits; while it exceeds `spread` the next word is tried.
        """
        if spread & (spread + 1) == 0:
            return self._integers_without_rejection(count, bits, low, spread, dtype, queue)
        mask = (1 << spread.bit_length()) - 1
        bounds = from_host(numpy.array([spread, mask, low % (1 << 64)], UINT64), queue.device).value()
        return self.draw_by_attempts("masked", bits, count, (spread + 1) / (mask + 1), dtype, queue, bounds)

    def _integers_without_rejection(
        self, count: int, bits: int, low: int, mask: int, dtype: DType, queue: Queue
    ) -> Node:
        """Return integers from `low` to ``low + mask``, where `mask` is all ones: the masked bits of any word serve.

        Of a word of 32 bits the lowest bits make the first integer.
        """
        if bits == 64:
            words: Any = wrap(self.words64(count, queue))
        else:
            words = cut_words(wrap(self.words32(-(-count * bits // 32), queue)), bits, count)
        masked = elementwise("bitwise_and", [words, words.dtype.type(mask)])
        return counted_from(low, masked.value(), dtype)

    def draw_by_attempts(
        self,
        kind: str,
        bits: int,
        count: int,
        acceptance_rate: float,
        dtype: DType,
        queue: Queue,
        *bounds: Node,
        left: int = 0,
    ) -> Node:
        """Draw by independent attempts, each of as many words as every other, and advance the stream.

        Parameters
        ----------
        kind
            What an attempt makes: a name of `KINDS`.
        bits
            The bits that an attempt consumes, where it has bounds.
        acceptance_rate
            The probability that an attempt succeeds.
        *bounds
            The bounds of integers, on the device.
        left
            How many numbers of the result are left over from earlier draws.
        """
        _, words_per_attempt, numbers_per_attempt = KINDS[kind]
        attempt_count = attempts(-(-(count - left) // numbers_per_attempt), acceptance_rate)
        words = max(1, -(-attempt_count * bits // 64)) * 2 if bounds else attempt_count * words_per_attempt
        results = (((count,), dtype), ((STATE_WORDS,), UINT32))
        numbers, state = graph.library_call_outputs(
            "twister_numbers", (kind, bits, left), (*self.peek(words, UINT32, queue), *bounds), results
        )
        array = wrap(numbers)
        self.move_to(state, (count - left) % 2 if kind == "normal" else self._normals_left)
        return array.value()

    def draw_part(
        self, sampler: Sampler, params: Sequence[float], shape: Shape, words_per_number: float, queue: Queue
    ) -> Node | None:
        """Draw numbers of `shape` by rejection and advance the stream: one part of `draw_by_rejection`."""
        dtype, per_word = (UINT32, 1) if sampler.has_words32 else (UINT64, 2)
        peeked_arrays: list[ndarray] = []

        def peek(count: int) -> tuple[Node, ...]:
            peeked = self.peek(count, dtype, queue)
            peeked_arrays[:] = map(wrap, peeked)
            return (peeked.words, peeked.before) if sampler.phases else (peeked.words,)

        sampler = replace(sampler, paired=not sampler.has_words32)
        drawn = rejection_sampling.draw_from_words(peek, sampler, params, shape, words_per_number, queue)
        if drawn is None:
            return None
        array = wrap(drawn.numbers)
        left_at = (2 * drawn.pair_left_at if drawn.pair_left_at >= 0 else -1) if sampler.phases else None
        self.move_by(PeekedWords(*(x.value() for x in peeked_arrays)), per_word * drawn.words_taken, left_at)
        return array.value()

    def peek(self, count: int, dtype: DType, queue: Queue) -> PeekedWords:
        """Return the next words without advancing: uint32, or uint64 for pairs with the first in the lower half."""
        self._bring_state_to(queue)
        before = self._state.value()  # type: ignore[union-attr]
        blocks = -(-count * (dtype.itemsize // 4) // LENGTH)
        run_blocks = MIN_BLOCKS_PER_RUN
        while blocks > run_blocks * MAX_RUNS:
            run_blocks *= 2
        runs = -(-blocks // run_blocks)
        levels = (runs - 1).bit_length()
        table = from_host(jumps(run_blocks, levels), queue.device).value() if levels else before
        results = (((count,), dtype), ((STATE_WORDS,), UINT32))
        words, after = graph.library_call_outputs("twister_words", (run_blocks, runs), (before, table), results)
        return PeekedWords(words, before, after)

    def move_by_count_on_device(self, peeked: PeekedWords, words_taken: Node) -> None:
        """Advance past the first `words_taken` of the peeked words, a count on the device."""
        state = graph.library_call("twister_advance", (), (*peeked, words_taken))
        self.move_to(state, self._normals_left)

    def move_by(self, peeked: PeekedWords, words_taken: int, pair_left_at: int | None = None) -> None:
        """Advance past the first `words_taken` of the peeked words.

        `pair_left_at` is the word at which the pair of normal numbers begins of which one is left over, or -1 if none
        is. None keeps what was left over before.
        """
        queue = peeked.words.signature.queue
        assert queue is not None
        position = numpy.array([words_taken] if pair_left_at is None else [words_taken, pair_left_at])
        position_on_device = from_host(position, queue.device).value()
        state = graph.library_call("twister_advance", (), (*peeked, position_on_device))
        self.move_to(state, self._normals_left if pair_left_at is None else int(pair_left_at >= 0))

    def move_to(self, state: Node, normals_left: int) -> None:
        """Continue from `state`, a state on the device, with `normals_left` (0 or 1) normal numbers left over."""
        if self._state is not None:
            if self._state.value().data is not None:
                self._earlier_states.clear()
            self._earlier_states.append(self._state)
        self._state, self._normals_left = wrap(state), normals_left
        if self.shared:
            self.synchronize()

    def discard(self) -> None:
        """Forget the state on the device: draws continue from NumPy's state."""
        self._state = None
        self._earlier_states.clear()

    def _words(self, count: int, dtype: DType, queue: Queue) -> Node:
        words, _, after = self.peek(count, dtype, queue)
        array = wrap(words)
        self.move_to(after, self._normals_left)
        return array.value()

    def _bring_state_to(self, queue: Queue) -> None:
        """Bring the state to the device of `queue`."""
        if self._state is not None and self._state.device != queue.device:
            self.synchronize()
        if self._state is None:
            state = _NumpyRandomState.get_state(self.random_state, legacy=False)
            self._state, self._normals_left = from_host(pack_state(state), queue.device), int(state["has_gauss"])


def cut_words(words: ndarray, bits: int, count: int) -> Any:
    """Cut words of 32 bits into `count` pieces of `bits` bits, the lowest first; bits above a piece are not cleared."""
    if bits == 32:
        return words
    whole: Any = words
    shifts = from_host(numpy.arange(0, 32, bits).astype(UINT32), words.device)
    shifted: Any = elementwise("right_shift", [whole[:, None], shifts])
    return shifted.reshape(-1)[:count]


def _map_with_scalar(op: str, x: Node, y: int) -> Node:
    """Record an operation between uint64 words and an integer constant."""
    return graph.map_node(op, (UINT64,) * 3, (x, graph.typed_scalar(y, UINT64)))
