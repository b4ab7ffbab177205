"""The stream of one bit generator: its state as kernels take it, and how far draws have advanced it.

The state of NumPy's bit generator is authoritative. A draw on the device reads it (`state_words`) and advances it by
the count of words that the draw consumes. Where only the device knows that count, or the state after the draw, NumPy's
state is advanced when something reads it next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

import numpy

from ..core.dtypes import DType
from ..core.fork import renew_in_child
from ..core.graph.layout import Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.locks import ReentrantLock, held
from ..core.ops.streams import CONGRUENTIAL, jump
from ..core.recording.array import from_host, ndarray, to_host
from ..kernels.random.host_words import read_state_words, write_state_words
from .philox_gpu import PhiloxGPU

_LOW_WORD = (1 << 64) - 1
_KINDS: dict[type, str] = {
    numpy.random.PCG64: "pcg64",
    numpy.random.PCG64DXSM: "pcg64dxsm",
    numpy.random.Philox: "philox",
    PhiloxGPU: "philox",
}
# The count of a draw's last words that NumPy draws itself, so that its buffers of words and halves are right.
_DRAWN_BY_NUMPY = 8

_Lock: Any = type(threading.RLock())
_PlainLock: Any = type(threading.Lock())


# Reentrant locks in place of locks that a thread may not acquire twice: those of NumPy's bit generators before 2.4, and
# of bit generators from other libraries.
_reentrant_locks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
# In a forked child, a draw that another thread of the parent had begun is given up.
_locks: WeakSet[Any] = WeakSet()
renew_in_child(lambda: list(_locks))


def lock_of(bits: Any) -> Any:
    """Return the lock that a thread holds while it draws: the bit generator's own, which all its users share."""
    lock = bits.lock
    if not isinstance(lock, _Lock):
        if isinstance(lock, _PlainLock):  # NumPy takes it while it draws
            _locks.add(lock)
        lock = _reentrant_locks.setdefault(lock, ReentrantLock())
    _locks.add(lock)
    return lock


class MemorySource(Protocol):
    """Source of a stream's words in memory, and of the numbers drawn from them."""

    def words64(self, count: int, queue: Queue) -> Node:
        """Draw words of 64 bits."""

    def words32(self, count: int, queue: Queue) -> Node:
        """Draw words of 32 bits."""

    def small_words(self, count: int, bits: int, queue: Queue) -> Node:
        """Draw words of 1 to 16 bits."""

    def uniforms(self, count: int, queue: Queue) -> Node:
        """Draw uniform float64 numbers in [0, 1)."""

    def numbers(self, options: tuple[Any, ...], dtype: DType, count: int, queue: Queue, *bounds: Node) -> Node:
        """Draw integers or ziggurat numbers. `options`: those of the library call "piecewise_draws" after the kind."""

    def draw_part(
        self, sampler: Any, params: Sequence[float], shape: Shape, words_per_number: float, queue: Queue
    ) -> Node | None:
        """Draw numbers of `shape` by rejection and advance the stream: one part of `draw_by_rejection`."""


class RestorableStream(Protocol):
    """A stream that can return to a saved state, for draws in several parts of which one fails."""

    @property
    def memory_source(self) -> Any:
        """A source with `MemorySource.draw_part`; None if words are functions of their positions."""

    def saved_state(self) -> Any:
        """Return the state."""

    def restore(self, state: Any) -> None:
        """Return to a saved state, discarding later draws."""


class Stream:
    """The words of a NumPy bit generator, and how far draws have advanced it.

    Parameters
    ----------
    bits
        NumPy's bit generator.

    Attributes
    ----------
    kind
        The name of the bit generator's algorithm; "" if the device does not know it.
    shared
        Whether other code may read the bit generator's state at any time, so that each draw must update it.
    memory_source
        The source of words that are not functions of their positions; None if they are.
    """

    memory_source: MemorySource | None = None

    def __init__(self, bits: Any) -> None:
        self.bits, self.lock = bits, lock_of(bits)
        self.kind = next((_KINDS[cls] for cls in type(bits).__mro__ if cls in _KINDS), "")
        self.shared = True
        self._numpy_generator = numpy.random.Generator(bits)
        self._pending_move: Callable[[], None] | None = None
        self._state_after: ndarray | None = None

    def synchronize(self) -> None:
        """Advance NumPy's state past all draws so far."""
        if self._pending_move is None:
            return
        with held(self.lock):
            if self._pending_move is not None:
                try:
                    self._pending_move()
                except MemoryError:  # a draw that ran out of memory does not advance the stream
                    self._pending_move = self._state_after = None
                    raise
                self._pending_move = self._state_after = None

    def state_words(self) -> list[int]:
        """Return the state in the words that kernels take: see `core.ops.streams`."""
        self.synchronize()
        return read_state_words(self.kind, self.bits)

    def state_on_device(self, queue: Queue) -> Node:
        """Return the state as an argument of a library call: left on the device by the last one, or NumPy's state."""
        if self._state_after is not None and self._state_after.device == queue.device:
            with suppress(MemoryError):
                return self._state_after.computed()
        return from_host(numpy.array(self.state_words(), numpy.uint64), queue.device).value()

    def saved_state(self) -> Any:
        """Return NumPy's state after all draws so far."""
        self.synchronize()
        return self.bits.state

    def restore(self, state: Any) -> None:
        """Return to a saved state, discarding later draws."""
        self._pending_move = self._state_after = None
        self.bits.state = state

    def peek(self, make: Callable[..., Node], *args: Any) -> Node:
        """Return ``make(self, *args)``, a draw from the next words, without advancing the stream."""
        before = self.saved_state()
        try:
            return make(self, *args)
        finally:
            self.restore(before)

    def move_to(self, after: ndarray) -> None:
        """Advance to the state `after`, on the device; NumPy's state follows when something reads it."""
        before = self._state_after  # computed: the draw that led to `after` read it

        def move() -> None:
            try:
                state = to_host(after)
            except MemoryError:
                if before is not None:
                    write_state_words(self.kind, self.bits, to_host(before).tolist())
                raise
            write_state_words(self.kind, self.bits, state.tolist())

        self._pending_move, self._state_after = move, after

    def finish_draw(self, result: Any) -> None:
        """End a draw: bring NumPy's state up to date if it is shared."""
        if self.shared and self._state_after is not None:
            if isinstance(result, ndarray):
                with suppress(MemoryError):  # `synchronize` raises it
                    result.computed()  # one library call makes the numbers and the state after them
            self.synchronize()

    def skip(self, count: int) -> None:
        """Advance NumPy's state by `count` words of 64 bits."""
        jumped = count - _DRAWN_BY_NUMPY
        if jumped > 0:
            count -= jumped
            state = self.bits.state
            inner = state["state"]
            if self.kind == "philox":
                # Jump to the start of a block of four words; NumPy draws those before the next word again.
                consumed = state["buffer_pos"] + jumped
                counter = sum(int(word) << 64 * k for k, word in enumerate(inner["counter"])) + consumed // 4 - 1
                inner["counter"] = numpy.array([counter >> 64 * k & _LOW_WORD for k in range(4)], numpy.uint64)
                state["buffer_pos"] = 4
                count += consumed % 4
            else:
                power, total = jump(CONGRUENTIAL[self.kind][0], jumped)
                inner["state"] = (power * inner["state"] + total * inner["inc"]) % (1 << 128)
            self.bits.state = state
        self.bits.random_raw(count, False)

    def skip_halves(self, count: int) -> None:
        """Advance NumPy's state by `count` words of 32 bits: NumPy cuts a word in two and buffers the second half."""
        if count > 2 * _DRAWN_BY_NUMPY:
            state = self.bits.state
            count -= state["has_uint32"]
            if state["has_uint32"]:
                state["has_uint32"] = 0
                self.bits.state = state
            self.skip((count - 1) // 2)
            count = 2 - count % 2
        self._numpy_generator.random(count, numpy.float32)

    def move_by(self, words_taken: ndarray, bits: int) -> None:
        """Advance by `words_taken` words of `bits` bits, a count on the device."""

        def move() -> None:
            count = int(to_host(words_taken))
            if bits == 64:
                self.skip(count)
            else:
                self.skip_halves(-(-count * bits // 32))

        self._pending_move, self._state_after = move, None
        if self.shared:
            self.synchronize()
