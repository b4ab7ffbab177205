"""The stream of a `RandomState`: MT19937's words, and the state from draw to draw.

The truth is the state of NumPy's. While draws on a device follow one another it stays there, and NumPy's is brought to
it when somebody asks for it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy

from ..core.dtypes import FLOAT64, DType
from ..core.graph import node as graph
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.recording.array import from_host, ndarray, to_host, wrap
from ..core.recording.record import elementwise
from ..kernels.random.host_mt19937 import packed, unpacked
from ..kernels.random.mt19937_jumps import KINDS, LENGTH, STATE, attempts, jumps
from .stream import lock_of

UINT32, UINT64 = numpy.dtype(numpy.uint32), numpy.dtype(numpy.uint64)

# Words, and the states before and after them.
Ahead = tuple[Node, Node, Node]

# Words are made in as many runs at most, of as many blocks of 624 at least: a run is made by one block of threads, and
# each has to be found by jumping ahead.
RUNS, BLOCKS = 256, 256

_Numpys = numpy.random.RandomState
# NumPy's attribute, whatever a subclass makes of it.
BITS: Any = _Numpys._bit_generator


class Twister:
    """
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
        self._left = 0

    @property
    def kind(self) -> bool:
        """Whether the device knows the bit generator."""
        return type(BITS.__get__(self.numpys)) is numpy.random.MT19937

    @property
    def lock(self) -> Any:
        """What a thread holds that draws."""
        bits = BITS.__get__(self.numpys)
        if bits is not self._bits:
            self._bits, self._lock = bits, lock_of(bits)
        return self._lock

    def settle(self) -> None:
        """Bring NumPy's state to where the draws so far have moved it."""
        with self.lock:
            if self._state is None:
                return
            try:
                state = to_host(self._state)
            except MemoryError:  # a draw that there is no memory for moves nowhere
                while self._before:
                    with suppress(MemoryError):
                        _Numpys.set_state(self.numpys, unpacked(to_host(self._before.pop())))
                        self._before.clear()
                self._state = None
                raise
            self._state = None
            self._before.clear()
            _Numpys.set_state(self.numpys, unpacked(state))

    def words(self, count: int, dtype: DType, queue: Queue) -> Node:
        """Words of 32 bits, or pairs of them as words of 64, the first one in the lower half."""
        words, _, after = self.ahead(count, dtype, queue)
        kept = wrap(words)
        self.move(after, self._left)
        return kept.value()

    def doubles(self, count: int, queue: Queue) -> Node:
        """Numbers of 53 bits that are evenly distributed between 0 and 1: of a pair of words 27 and 26."""
        pairs = self.words(count, UINT64, queue)
        first = _of(_of(pairs, "bitwise_and", 0xFFFFFFE0), "left_shift", 21)
        bits = graph.map_node("bitwise_or", (UINT64,) * 3, (first, _of(pairs, "right_shift", 38)))
        unit = graph.typed_scalar(1 / 9007199254740992, FLOAT64)
        return graph.map_node("multiply", (FLOAT64,) * 3, (graph.cast(bits, FLOAT64), unit))

    def longs(self, count: int, queue: Queue) -> Node:
        """Words of 64 bits as NumPy makes them, the first half being the upper one."""
        pairs = self.words(count, UINT64, queue)
        return graph.map_node(
            "bitwise_or", (UINT64,) * 3, (_of(pairs, "left_shift", 32), _of(pairs, "right_shift", 32))
        )

    def normals(self, count: int, queue: Queue) -> Node:
        """Normal numbers, made in pairs."""
        self._begin(queue)
        left = self._left
        return self.picked("normal", 64, count, numpy.pi / 4, FLOAT64, queue, left=left)

    def positives(self, count: int, queue: Queue) -> Node:
        """Numbers as `doubles` has them without zeros."""
        return self.picked("positive", 64, count, 1.0, FLOAT64, queue)

    def masked(self, count: int, bits: int, low: int, most: int, dtype: DType, queue: Queue) -> Node:
        """Integers from `low` to ``low + most``: the lower ones of so many bits, again while they are too great."""
        mask = (1 << most.bit_length()) - 1
        bounds = from_host(numpy.array([most, mask, low % (1 << 64)], UINT64), queue.device).value()
        return self.picked("masked", bits, count, (most + 1) / (mask + 1), dtype, queue, bounds)

    def pieces(self, count: int, bits: int, low: int, most: int, dtype: DType, queue: Queue) -> Node:
        """The same where `most` is all of the mask: none is too great. The lowest bits of a word come first."""
        made: Any
        if bits == 64:
            made = wrap(self.longs(count, queue))
        else:
            made = cut(wrap(self.words(-(-count * bits // 32), UINT32, queue)), bits, count)
        made = elementwise("bitwise_and", [made, made.dtype.type(most)])
        made = made.astype(dtype if dtype.kind == "b" else f"u{dtype.itemsize}")
        if low and dtype.kind != "b":
            made = elementwise("add", [made, made.dtype.type(low % (1 << 8 * dtype.itemsize))])
        return made.astype(dtype).value()

    def picked(
        self, kind: str, bits: int, count: int, share: float, dtype: DType, queue: Queue, *bounds: Node, left: int = 0
    ) -> Node:
        """Numbers of attempts that are independent of each other, of which that share succeeds."""
        _, words, made = KINDS[kind]
        tries = attempts(-(-(count - left) // made), share)
        words = max(1, -(-tries * bits // 64)) * 2 if bounds else tries * words
        given = self.ahead(words, UINT32, queue)
        results = (((count,), dtype), ((STATE,), UINT32))
        numbers, state = graph.library_call_outputs("twister_picks", (kind, bits, left), (*given, *bounds), results)
        kept = wrap(numbers)
        self.move(state, (count - left) % 2 if kind == "normal" else self._left)
        return kept.value()

    def ahead(self, count: int, dtype: DType, queue: Queue) -> Ahead:
        """The next words, with the states before and after them; the stream stays where it is."""
        self._begin(queue)
        before = self._state.value()  # type: ignore[union-attr]
        blocks = -(-count * (dtype.itemsize // 4) // LENGTH)
        length = BLOCKS
        while blocks > length * RUNS:
            length *= 2
        runs = -(-blocks // length)
        levels = (runs - 1).bit_length()
        table = from_host(jumps(length, levels), queue.device).value() if levels else before
        results = (((count,), dtype), ((STATE,), UINT32))
        words, after = graph.library_call_outputs("twister_words", (length, runs), (before, table), results)
        return words, before, after

    def moved(self, given: Ahead, taken: Node) -> None:
        """Move on by as many of the words that were `ahead` as the device has in `taken`."""
        self.move(graph.library_call("twister_stand", (), (*given, taken)), self._left)

    def moved_to(self, given: Ahead, taken: int, left: int | None = None) -> None:
        """Move on by so many of the words that were `ahead`; one of two normal numbers that begin at a word is left, or
        none if that is -1.
        """
        queue = given[0].signature.queue
        assert queue is not None
        where = from_host(numpy.array([taken] if left is None else [taken, left]), queue.device).value()
        state = graph.library_call("twister_stand", (), (*given, where))
        self.move(state, self._left if left is None else int(left >= 0))

    def forget(self) -> None:
        """Go on from NumPy's state, wherever draws have moved."""
        self._state = None
        self._before.clear()

    def move(self, state: Node, left: int) -> None:
        """Go on from a state of the device's, with so many normal numbers left."""
        if self._state is not None:
            if self._state.value().data is not None:
                self._before.clear()
            self._before.append(self._state)
        self._state, self._left = wrap(state), left
        if self.shared:
            self.settle()

    def _begin(self, queue: Queue) -> None:
        """Have the state on the device."""
        if self._state is not None and self._state.device != queue.device:
            self.settle()
        if self._state is None:
            given = _Numpys.get_state(self.numpys, legacy=False)
            self._state, self._left = from_host(packed(given), queue.device), int(given["has_gauss"])


def cut(words: ndarray, bits: int, count: int) -> Any:
    """The first so many pieces of words of 32 bits, the lowest bits of a word first, and above them other bits."""
    if bits == 32:
        return words
    whole: Any = words
    turned: Any = elementwise("right_shift", [whole[:, None], from_host(_turns(bits), words.device)])
    return turned.reshape(-1)[:count]


def _turns(bits: int) -> Any:
    return numpy.arange(0, 32, bits).astype(UINT32)


def _of(x: Node, op: str, y: int) -> Node:
    return graph.map_node(op, (UINT64,) * 3, (x, graph.typed_scalar(y, UINT64)))
