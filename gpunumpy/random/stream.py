"""The stream of one bit generator: its state as kernels take it, and as NumPy leaves it after so many draws.

The truth is the state of NumPy's bit generator. A draw on the device takes the state as it is (`take`) and says by how
many words it moves on; where only the device knows that, by a count that is looked at when the state is needed next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy

from ..core.array import ndarray, to_host
from ..kernels.table_streams import CONGRUENTIAL, KEEPS, WORDS, jump
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

# One lock for all streams, since several generators may share a bit generator.
LOCK = threading.RLock()


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
    """

    def __init__(self, bits: Any) -> None:
        self.bits = bits
        self.kind = _KINDS.get(type(bits), "")
        self.shared = True
        self._drawn = numpy.random.Generator(bits)
        self._move: Callable[[], None] | None = None

    def settle(self) -> None:
        """Bring NumPy's state to where the draws so far have moved it."""
        with LOCK:
            if self._move is not None:
                self._move()
                self._move = None

    def take(self) -> Any:
        """The state, as an array of the host's that kernels take."""
        self.settle()
        state = self.bits.state
        inner = state["state"]
        words = [0] * WORDS
        if self.kind == "philox":
            words[:4] = inner["counter"].tolist()
            words[4:6] = inner["key"].tolist()
            words[KEEPS["first"]] = state["buffer_pos"]
        else:
            x, c = inner["state"], inner["inc"]
            words[:4] = x >> 64, x & _LOW, c >> 64, c & _LOW
        words[KEEPS["has"]], words[KEEPS["left"]] = state["has_uint32"], state["uinteger"]
        return numpy.array(words, numpy.uint64)

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

        self._move = move
        if self.shared:
            self.settle()
