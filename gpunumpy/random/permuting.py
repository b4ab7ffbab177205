"""Orders of elements by chance.

A permutation is made in two steps, as on the host: the places that elements are swapped with, of which the words decide
how many of these they take ("bounded_draws"), and the order that the swaps leave ("swapped"), through a sort.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy

from ..core import node as graph
from ..core.array import from_host, ndarray, wrap
from ..core.device import default_device
from ..core.dtypes import INT64
from ..core.evaluate import queue_of
from ..core.node import Node, Queue
from ..core.record import as_array
from ..selection import take
from . import method, words
from .method import Drawing, on_device
from .stream import Stream

_UINT32 = numpy.dtype(numpy.uint32)

# Places are numbers of 32 bits.
_MOST = 1 << 31
# Blocks that draw together: as many as there are.
_ALL = 1 << 20


class Permuting(Drawing):
    """Methods of `Generator`."""

    @on_device("permutation")
    def permutation(self, x: Any, axis: Any = 0) -> Any:
        if isinstance(x, (int, numpy.integer)):
            queue = queue_of(default_device())
            if queue.device.kind not in method.KINDS or not method.MANY <= x < _MOST:
                return NotImplemented
            return wrap(self._order(int(x), queue))
        array = as_array(x)
        if not _takes(array, axis):
            return NotImplemented
        return take(array, wrap(self._order(array.shape[axis], array.queue)), axis)

    @on_device("shuffle")
    def shuffle(self, x: Any, axis: Any = 0) -> Any:
        if not isinstance(x, ndarray) or not x.writeable or not x.size or not _takes(x, axis):
            return NotImplemented
        order = self._order(x.shape[axis], x.queue)
        x.assign(take(x, wrap(order), axis).value())
        return None

    def _order(self, count: int, queue: Queue) -> Node:
        """The order in which to take so many elements."""
        if count < method.MANY:
            self._stream.settle()
            return from_host(numpy.random.Generator(self._stream.bits).permutation(count), queue.device).value()
        order, taken = permuted(ahead(self._stream, enough(count), queue), count)
        self._stream.moves(wrap(taken), 32)
        return order


def _takes(array: ndarray, axis: Any) -> bool:
    """Whether the elements along an axis are to be taken in another order on the device."""
    if array.queue.device.kind not in method.KINDS or not array.ndim:
        return False
    return -array.ndim <= axis < array.ndim and array.shape[axis] < _MOST


def ahead(stream: Stream, count: int, queue: Queue) -> Node:
    """The next words of 32 bits, which the stream is not moved on by."""
    stream.settle()
    before = stream.bits.state
    made = words.halves(stream, count, queue)
    stream.bits.state = before
    return made


def enough(count: int, rows: int = 1) -> int:
    """So many words of 32 bits are enough to permute rows of so many elements, but for one time in 10^30."""
    mean = spread = 0.0
    for bits in range(1, (count - 1).bit_length() + 1):
        masks, least, most = 1 << bits, 1 << bits - 1, min(1 << bits, count) - 1
        harmonic = 1 / (least + 1) + log((most + 1) / (least + 1))
        squares = 1 / (least + 1) ** 2 + 1 / (least + 1) - 1 / (most + 1)
        mean += masks * harmonic
        spread += max(masks * masks * squares - masks * harmonic, 0)
    return int(rows * mean + 12 * sqrt(rows * spread)) + 128


def permuted(given: Node, count: int, rows: int = 1) -> tuple[Node, Node]:
    """The order of the elements of permuted rows, one after the other, and how many words of those given that takes.

    The words have 32 bits; the elements are swapped with places that are found by masks, as NumPy shuffles.
    """
    return _swapped(given, "masked", count - 1, count, rows, _ALL)


def _swapped(given: Node, rule: str, last: int, count: int, rows: int, blocks: int) -> tuple[Node, Node]:
    """What is left at the last `count` places, up to `last`, by swaps."""
    results: Any = (((rows * count,), _UINT32), ((), INT64))
    places, taken = graph.routine("bounded_draws", (rule, 32, blocks, (last, rows)), (given,), results)
    order = graph.call("argsort", (False,), (places,), (rows * count,), INT64)
    lowest = last + 1 - count
    return graph.call("swapped", (lowest,), (places, order), (rows * count,), INT64), taken
