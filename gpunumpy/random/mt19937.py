"""The stream of a `RandomState`: MT19937's words, and the state from draw to draw.

The truth is the state of NumPy's `RandomState`. While draws on a device follow one another the state stays there, and
NumPy's is brought to it when somebody asks for it.
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
from ..core.recording.array import from_host, ndarray, to_host, wrap
from ..core.recording.record import elementwise
from ..kernels.random.host_mt19937 import packed, unpacked
from ..kernels.random.mt19937_jumps import KINDS, LENGTH, STATE, attempts, jumps
from . import rejection_sampling
from .rejection_sampling import Sampler
from .stream import lock_of
from .words import counted_from

UINT32, UINT64 = numpy.dtype(numpy.uint32), numpy.dtype(numpy.uint64)

# Words are made in as many runs at most, of as many blocks of 624 at least: a run is made by one block of threads, and
# each has to be found by jumping ahead.
MAX_RUNS, MIN_BLOCKS_PER_RUN = 256, 256

_NumpyRandomState = numpy.random.RandomState
# NumPy's attribute, whatever a subclass makes of it.
BIT_GENERATOR: Any = _NumpyRandomState._bit_generator


class PeekedWords(NamedTuple):
    """The next words of a stream that stays where it is, with the states before and after them."""

    words: Node
    before: Node
    after: Node


class Twister:
    """The stream of a `RandomState`.

    Parameters
    ----------
    numpys
        The `RandomState` whose stream it is.
    shared
        Whether somebody else may look at its state at any time.
    """

    def __init__(self, numpys: Any, shared: bool) -> None:
        self.numpys, self.shared = numpys, shared
        self._bits: Any = None  # whose lock it is
        self._lock: Any = None
        self._state: ndarray | None = None
        self._before: list[ndarray] = []  # the states before, back to one that is computed
        self._normals_left = 0

    @property
    def kind(self) -> bool:
        """Whether the device knows the bit generator."""
        return type(BIT_GENERATOR.__get__(self.numpys)) is numpy.random.MT19937

    @property
    def lock(self) -> Any:
        """What a thread holds that draws."""
        bits = BIT_GENERATOR.__get__(self.numpys)
        if bits is not self._bits:
            self._bits, self._lock = bits, lock_of(bits)
        return self._lock

    def synchronize(self) -> None:
        """Bring NumPy's state to where the draws so far have moved it."""
        with self.lock:
            if self._state is None:
                return
            try:
                state = to_host(self._state)
            except MemoryError:  # a draw that there is no memory for moves nowhere
                while self._before:
                    with suppress(MemoryError):
                        _NumpyRandomState.set_state(self.numpys, unpacked(to_host(self._before.pop())))
                        self._before.clear()
                self._state = None
                raise
            self._state = None
            self._before.clear()
            _NumpyRandomState.set_state(self.numpys, unpacked(state))

    @property
    def memory_source(self) -> Twister:
        """What makes the words: see `Stream`."""
        return self

    def finish_draw(self, made: Any) -> None:
        """End a draw: nothing is left to do, as each has moved the state on."""

    def saved_state(self) -> Any:
        """Return NumPy's state, to which the draws so far have moved it."""
        self.synchronize()
        return _NumpyRandomState.get_state(self.numpys, legacy=False)

    def restore(self, state: Any) -> None:
        """Go back to a state, whatever was drawn since."""
        self.discard()
        _NumpyRandomState.set_state(self.numpys, state)

    def words32(self, count: int, queue: Queue) -> Node:
        """Return words of 32 bits."""
        return self._words(count, UINT32, queue)

    def words64(self, count: int, queue: Queue) -> Node:
        """Return words of 64 bits as NumPy makes them, the first half being the upper one."""
        pairs = self._words(count, UINT64, queue)
        halves = _with_number("left_shift", pairs, 32), _with_number("right_shift", pairs, 32)
        return graph.map_node("bitwise_or", (UINT64,) * 3, halves)

    def uniforms(self, count: int, queue: Queue) -> Node:
        """Return numbers of 53 bits in [0, 1): of a pair of words 27 and 26."""
        pairs = self._words(count, UINT64, queue)
        first = _with_number("left_shift", _with_number("bitwise_and", pairs, 0xFFFFFFE0), 21)
        bits = graph.map_node("bitwise_or", (UINT64,) * 3, (first, _with_number("right_shift", pairs, 38)))
        unit = graph.typed_scalar(1 / 9007199254740992, FLOAT64)
        return graph.map_node("multiply", (FLOAT64,) * 3, (graph.cast(bits, FLOAT64), unit))

    def positive_uniforms(self, count: int, queue: Queue) -> Node:
        """Return numbers of 53 bits in (0, 1)."""
        return self.accepted("positive", 64, count, 1.0, FLOAT64, queue)

    def normals(self, count: int, queue: Queue) -> Node:
        """Return normal numbers, which are made in pairs."""
        self._bring_state_to(queue)
        return self.accepted("normal", 64, count, numpy.pi / 4, FLOAT64, queue, left=self._normals_left)

    def integers(self, count: int, bits: int, low: int, spread: int, dtype: DType, queue: Queue) -> Node:
        """Return integers from `low` to ``low + spread``: of a word of so many bits the lower ones, of the next word
        while these are too great.
        """
        if spread & (spread + 1) == 0:
            return self._integers_of_all_bits(count, bits, low, spread, dtype, queue)
        mask = (1 << spread.bit_length()) - 1
        bounds = from_host(numpy.array([spread, mask, low % (1 << 64)], UINT64), queue.device).value()
        return self.accepted("masked", bits, count, (spread + 1) / (mask + 1), dtype, queue, bounds)

    def _integers_of_all_bits(self, count: int, bits: int, low: int, mask: int, dtype: DType, queue: Queue) -> Node:
        """The same where none is too great. The lowest bits of a word come first."""
        if bits == 64:
            words: Any = wrap(self.words64(count, queue))
        else:
            words = cut_words(wrap(self.words32(-(-count * bits // 32), queue)), bits, count)
        masked = elementwise("bitwise_and", [words, words.dtype.type(mask)])
        return counted_from(low, masked.value(), dtype)

    def accepted(
        self, kind: str, bits: int, count: int, share: float, dtype: DType, queue: Queue, *bounds: Node, left: int = 0
    ) -> Node:
        """Return the numbers of attempts that are independent of each other, of which that share succeeds.

        `left` is how many are there from earlier draws.
        """
        _, words_per_attempt, made = KINDS[kind]
        tries = attempts(-(-(count - left) // made), share)
        words = max(1, -(-tries * bits // 64)) * 2 if bounds else tries * words_per_attempt
        results = (((count,), dtype), ((STATE,), UINT32))
        numbers, state = graph.library_call_outputs(
            "twister_picks", (kind, bits, left), (*self.peek(words, UINT32, queue), *bounds), results
        )
        kept = wrap(numbers)
        self.move_to(state, (count - left) % 2 if kind == "normal" else self._normals_left)
        return kept.value()

    def draw_part(
        self, sampler: Sampler, params: Sequence[float], shape: Shape, words_per_number: float, queue: Queue
    ) -> Node | None:
        """Draw a part of the numbers of a sampler: see `draw_by_rejection`."""
        dtype, per_word = (UINT32, 1) if sampler.has_words32 else (UINT64, 2)
        held: list[ndarray] = []

        def peek(count: int) -> tuple[Node, ...]:
            peeked = self.peek(count, dtype, queue)
            held[:] = map(wrap, peeked)
            return (peeked.words, peeked.before) if sampler.phases else (peeked.words,)

        sampler = replace(sampler, paired=not sampler.has_words32)
        drawn = rejection_sampling.draw_from_words(peek, sampler, params, shape, words_per_number, queue)
        if drawn is None:
            return None
        kept = wrap(drawn.numbers)
        left_at = (2 * drawn.pair_left_at if drawn.pair_left_at >= 0 else -1) if sampler.phases else None
        self.move_by(PeekedWords(*(x.value() for x in held)), per_word * drawn.words_taken, left_at)
        return kept.value()

    def peek(self, count: int, dtype: DType, queue: Queue) -> PeekedWords:
        """Return the next words, of 32 bits or pairs of them, the first one in the lower half."""
        self._bring_state_to(queue)
        before = self._state.value()  # type: ignore[union-attr]
        blocks = -(-count * (dtype.itemsize // 4) // LENGTH)
        run_blocks = MIN_BLOCKS_PER_RUN
        while blocks > run_blocks * MAX_RUNS:
            run_blocks *= 2
        runs = -(-blocks // run_blocks)
        levels = (runs - 1).bit_length()
        table = from_host(jumps(run_blocks, levels), queue.device).value() if levels else before
        results = (((count,), dtype), ((STATE,), UINT32))
        words, after = graph.library_call_outputs("twister_words", (run_blocks, runs), (before, table), results)
        return PeekedWords(words, before, after)

    def move_by_count_on_device(self, peeked: PeekedWords, taken: Node) -> None:
        """Move on by as many of the words as the device has in `taken`."""
        state = graph.library_call("twister_stand", (), (*peeked, taken))
        self.move_to(state, self._normals_left)

    def move_by(self, peeked: PeekedWords, taken: int, pair_left_at: int | None = None) -> None:
        """Move on by so many of the words; one of the two normal numbers that begin at a word is left, or none if that
        is -1.
        """
        queue = peeked.words.signature.queue
        assert queue is not None
        given = numpy.array([taken] if pair_left_at is None else [taken, pair_left_at])
        where = from_host(given, queue.device).value()
        state = graph.library_call("twister_stand", (), (*peeked, where))
        self.move_to(state, self._normals_left if pair_left_at is None else int(pair_left_at >= 0))

    def move_to(self, state: Node, normals_left: int) -> None:
        """Go on from a state on the device, with so many normal numbers left."""
        if self._state is not None:
            if self._state.value().data is not None:
                self._before.clear()
            self._before.append(self._state)
        self._state, self._normals_left = wrap(state), normals_left
        if self.shared:
            self.synchronize()

    def discard(self) -> None:
        """Go on from NumPy's state, wherever draws have moved."""
        self._state = None
        self._before.clear()

    def _words(self, count: int, dtype: DType, queue: Queue) -> Node:
        words, _, after = self.peek(count, dtype, queue)
        kept = wrap(words)
        self.move_to(after, self._normals_left)
        return kept.value()

    def _bring_state_to(self, queue: Queue) -> None:
        """Have the state on the device of a queue."""
        if self._state is not None and self._state.device != queue.device:
            self.synchronize()
        if self._state is None:
            given = _NumpyRandomState.get_state(self.numpys, legacy=False)
            self._state, self._normals_left = from_host(packed(given), queue.device), int(given["has_gauss"])


def cut_words(words: ndarray, bits: int, count: int) -> Any:
    """Return so many pieces of words of 32 bits, the lowest bits of a word first, with other bits above."""
    if bits == 32:
        return words
    whole: Any = words
    shifts = from_host(numpy.arange(0, 32, bits).astype(UINT32), words.device)
    shifted: Any = elementwise("right_shift", [whole[:, None], shifts])
    return shifted.reshape(-1)[:count]


def _with_number(op: str, x: Node, y: int) -> Node:
    return graph.map_node(op, (UINT64,) * 3, (x, graph.typed_scalar(y, UINT64)))
