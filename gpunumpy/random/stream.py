"""The stream of one bit generator: its state as kernels take it, and as NumPy leaves it after so many draws.

The truth is the state of NumPy's bit generator. A draw on the device takes the state as it is (`state_words`) and says
by how many words it moves on; where only the device knows that, by a count that is looked at when the state is needed
next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy

from ..core.dtypes import DType
from ..core.graph.layout import Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.ops.streams import CONGRUENTIAL, jump
from ..core.recording.array import from_host, ndarray, to_host
from ..kernels.random.host_words import given_to, taken_from
from .philox_gpu import PhiloxGPU

_LOW_WORD = (1 << 64) - 1
_KINDS: dict[type, str] = {
    numpy.random.PCG64: "pcg64",
    numpy.random.PCG64DXSM: "pcg64dxsm",
    numpy.random.Philox: "philox",
    PhiloxGPU: "philox",
}
# How many of a draw's last words NumPy draws itself, so that what it keeps of them is right.
_DRAWN_BY_NUMPY = 8

_Lock: Any = type(threading.RLock())


# Locks in the place of those that may not be held twice: of NumPy's bit generators before 2.4, and of others' ones.
_twice: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def lock_of(bits: Any) -> Any:
    """Return the lock that a thread holds while it draws: NumPy's, which all of a bit generator's users share."""
    lock = bits.lock
    return lock if isinstance(lock, _Lock) else _twice.setdefault(lock, threading.RLock())


class MemorySource(Protocol):
    """What makes a stream's words in memory, and the numbers that are drawn from them."""

    def words64(self, count: int, queue: Queue) -> Node:
        """Words of 64 bits."""

    def words32(self, count: int, queue: Queue) -> Node:
        """Words of 32 bits."""

    def small_words(self, count: int, bits: int, queue: Queue) -> Node:
        """Words of 1 to 16 bits."""

    def uniforms(self, count: int, queue: Queue) -> Node:
        """Numbers of 53 bits in [0, 1)."""

    def numbers(self, options: tuple[Any, ...], dtype: DType, count: int, queue: Queue, *bounds: Node) -> Node:
        """Numbers that reject words, by the options of the library call "stream_draws": of a ziggurat, or integers."""

    def draw_part(
        self, sampler: Any, params: Sequence[float], shape: Shape, words_per_number: float, queue: Queue
    ) -> Node | None:
        """A part of the numbers of a sampler, see `draw_by_rejection`."""


class RestorableStream(Protocol):
    """A stream that goes back to a state if a draw of several parts fails."""

    @property
    def memory_source(self) -> Any:
        """What makes its words and draws, where these are no functions of their positions: `MemorySource.draw_part`."""

    def saved_state(self) -> Any:
        """The state that it is in."""

    def restore(self, state: Any) -> None:
        """Go back to a state."""


class Stream:
    """Words of NumPy's streams, and how far these have moved.

    Parameters
    ----------
    bits
        NumPy's bit generator.

    Attributes
    ----------
    kind
        Which one it is, or "" if the device does not know it.
    shared
        Whether somebody else may look at its state at any time, so that counts are looked at at once.
    memory_source
        What makes its words, where these are no functions of their positions.
    """

    memory_source: MemorySource | None = None

    def __init__(self, bits: Any) -> None:
        self.bits, self.lock = bits, lock_of(bits)
        self.kind = _KINDS.get(type(bits), "")
        self.shared = True
        self._numpys = numpy.random.Generator(bits)
        self._pending_move: Callable[[], None] | None = None
        self._state_after: ndarray | None = None

    def synchronize(self) -> None:
        """Bring NumPy's state to where the draws so far have moved it."""
        with self.lock:
            if self._pending_move is not None:
                try:
                    self._pending_move()
                except MemoryError:  # a draw that there is no memory for moves nowhere
                    self._pending_move = self._state_after = None
                    raise
                self._pending_move = self._state_after = None

    def state_words(self) -> list[int]:
        """Return the state as kernels take it."""
        self.synchronize()
        return taken_from(self.kind, self.bits)

    def state_on_device(self, queue: Queue) -> Node:
        """Return the state on a device, for a library call: what the last one left there, or NumPy's."""
        if self._state_after is not None and self._state_after.device == queue.device:
            with suppress(MemoryError):
                return self._state_after.computed()
        return from_host(numpy.array(self.state_words(), numpy.uint64), queue.device).value()

    def saved_state(self) -> Any:
        """Return NumPy's state, to which the draws so far have moved it."""
        self.synchronize()
        return self.bits.state

    def restore(self, state: Any) -> None:
        """Go back to a state, whatever was drawn since."""
        self._pending_move = self._state_after = None
        self.bits.state = state

    def peek(self, make: Callable[..., Node], *args: Any) -> Node:
        """Return what is made of the next words; the stream stays where it is."""
        before = self.saved_state()
        try:
            return make(self, *args)
        finally:
            self.restore(before)

    def move_to(self, after: ndarray) -> None:
        """Move on to the state that the device has in `after`, which is looked at when NumPy's is asked for."""
        before = self._state_after  # computed, as what is drawn after it takes it

        def move() -> None:
            try:
                state = to_host(after)
            except MemoryError:
                if before is not None:
                    given_to(self.kind, self.bits, to_host(before).tolist())
                raise
            given_to(self.kind, self.bits, state.tolist())

        self._pending_move, self._state_after = move, after

    def finish_draw(self, made: Any) -> None:
        """End a draw: somebody else may look at NumPy's state from now on, if it is shared."""
        if self.shared and self._state_after is not None:
            if isinstance(made, ndarray):
                with suppress(MemoryError):  # which `synchronize` raises
                    made.computed()  # with the state after it
            self.synchronize()

    def skip(self, count: int) -> None:
        """Move on by so many words of 64 bits."""
        more = count - _DRAWN_BY_NUMPY
        if more > 0:
            count -= more
            state = self.bits.state
            inner = state["state"]
            if self.kind == "philox":
                # From the start of a block on, of which the words before the next one are drawn again.
                gone = state["buffer_pos"] + more
                counter = sum(int(word) << 64 * k for k, word in enumerate(inner["counter"])) + gone // 4 - 1
                inner["counter"] = numpy.array([counter >> 64 * k & _LOW_WORD for k in range(4)], numpy.uint64)
                state["buffer_pos"] = 4
                count += gone % 4
            else:
                power, total = jump(CONGRUENTIAL[self.kind][0], more)
                inner["state"] = (power * inner["state"] + total * inner["inc"]) % (1 << 128)
            self.bits.state = state
        self.bits.random_raw(count, False)

    def skip_halves(self, count: int) -> None:
        """Move on by so many words of 32 bits, of which NumPy takes two of one word and keeps the second."""
        if count > 2 * _DRAWN_BY_NUMPY:
            state = self.bits.state
            count -= state["has_uint32"]
            if state["has_uint32"]:
                state["has_uint32"] = 0
                self.bits.state = state
            self.skip((count - 1) // 2)
            count = 2 - count % 2
        self._numpys.random(count, numpy.float32)

    def move_by(self, taken: ndarray, bits: int) -> None:
        """Move on by as many words, of so many bits, as the device has in `taken`."""

        def move() -> None:
            count = int(to_host(taken))
            if bits == 64:
                self.skip(count)
            else:
                self.skip_halves(-(-count * bits // 32))

        self._pending_move, self._state_after = move, None
        if self.shared:
            self.synchronize()
