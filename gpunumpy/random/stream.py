"""The stream of one bit generator: its state as kernels take it, and as NumPy leaves it after so many draws.

The truth is the state of NumPy's bit generator. A draw on the device takes the state as it is (`take`) and says by how
many words it moves on; where only the device knows that, by a count that is looked at when the state is needed next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy

from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.ops.streams import CONGRUENTIAL, jump
from ..core.recording.array import from_host, ndarray, to_host
from ..kernels.random.host_words import given_to, taken_from
from .philox_gpu import PhiloxGPU

_LOW = (1 << 64) - 1
_KINDS: dict[type, str] = {
    numpy.random.PCG64: "pcg64",
    numpy.random.PCG64DXSM: "pcg64dxsm",
    numpy.random.Philox: "philox",
    PhiloxGPU: "philox",
}
# The last words of a draw are drawn by NumPy itself, so that what it keeps of them is right.
_FEW = 8

_Lock: Any = type(threading.RLock())


def lock_of(bits: Any) -> Any:
    """What a thread holds that draws from a bit generator: NumPy's lock, which all of its generators share."""
    lock = bits.lock
    return lock if isinstance(lock, _Lock) else threading.RLock()  # those of others may not be held twice


class Stream:
    """
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
    own
        What makes its words, where these are no functions of their positions.
    """

    own: Any = None

    def __init__(self, bits: Any) -> None:
        self.bits, self.lock = bits, lock_of(bits)
        self.kind = _KINDS.get(type(bits), "")
        self.shared = True
        self._drawn = numpy.random.Generator(bits)
        self._move: Callable[[], None] | None = None
        self._after: ndarray | None = None

    def settle(self) -> None:
        """Bring NumPy's state to where the draws so far have moved it."""
        with self.lock:
            if self._move is not None:
                try:
                    self._move()
                except MemoryError:  # a draw that there is no memory for moves nowhere
                    self._move = self._after = None
                    raise
                self._move = self._after = None

    def take(self) -> list[int]:
        """The state, as kernels take it."""
        self.settle()
        return taken_from(self.kind, self.bits)

    def state(self, queue: Queue) -> Node:
        """The state on a device, for a routine: what the last one left there, or NumPy's."""
        if self._after is not None and self._after.device == queue.device:
            with suppress(MemoryError):
                return self._after.computed()
        return from_host(numpy.array(self.take(), numpy.uint64), queue.device).value()

    def back(self, state: Any) -> None:
        """Go back to a state, whatever was drawn since."""
        self._move = self._after = None
        self.bits.state = state

    def ahead(self, make: Callable[..., Node], *args: Any) -> Node:
        """What is made of the next words, and the stream stays where it is."""
        self.settle()
        before = self.bits.state
        made = make(self, *args)
        self.back(before)
        return made

    def follows(self, after: ndarray) -> None:
        """Say that a draw moves on to the state that the device has in `after`, which is looked at when NumPy's is
        asked for.
        """
        before = self._after  # computed, as what is drawn after it takes it

        def move() -> None:
            try:
                state = to_host(after)
            except MemoryError:
                if before is not None:
                    given_to(self.kind, self.bits, to_host(before).tolist())
                raise
            given_to(self.kind, self.bits, state.tolist())

        self._move, self._after = move, after

    def drawn(self, made: Any) -> None:
        """Say that a draw is done: somebody else may look at NumPy's state from now on, if it is shared."""
        if self.shared and self._after is not None:
            if isinstance(made, ndarray):
                with suppress(MemoryError):  # which `settle` raises
                    made.computed()  # with the state after it
            self.settle()

    def skip(self, count: int) -> None:
        """Move on by so many words of 64 bits."""
        more = count - _FEW
        if more > 0:
            count -= more
            state = self.bits.state
            inner = state["state"]
            if self.kind == "philox":
                # From the start of a block on, of which the words before the next one are drawn again.
                gone = state["buffer_pos"] + more
                counter = sum(int(word) << 64 * k for k, word in enumerate(inner["counter"])) + gone // 4 - 1
                inner["counter"] = numpy.array([counter >> 64 * k & _LOW for k in range(4)], numpy.uint64)
                state["buffer_pos"] = 4
                count += gone % 4
            else:
                power, total = jump(CONGRUENTIAL[self.kind][0], more)
                inner["state"] = (power * inner["state"] + total * inner["inc"]) % (1 << 128)
            self.bits.state = state
        self.bits.random_raw(count, False)

    def skip_halves(self, count: int) -> None:
        """Move on by so many words of 32 bits, of which NumPy takes two of one word and keeps the second."""
        if count > 2 * _FEW:
            state = self.bits.state
            count -= state["has_uint32"]
            if state["has_uint32"]:
                state["has_uint32"] = 0
                self.bits.state = state
            self.skip((count - 1) // 2)
            count = 2 - count % 2
        self._drawn.random(count, numpy.float32)

    def moves(self, taken: ndarray, bits: int) -> None:
        """Say that a draw moves on by as many words, of so many bits, as the device has in `taken`."""

        def move() -> None:
            count = int(to_host(taken))
            if bits == 64:
                self.skip(count)
            else:
                self.skip_halves(-(-count * bits // 32))

        self._move, self._after = move, None
        if self.shared:
            self.settle()
