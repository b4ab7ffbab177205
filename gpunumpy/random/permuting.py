"""Orders of elements by chance."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.graph import layout
from ..core.graph.node import Node, cast
from ..core.graph.queue import Queue
from ..core.recording.array import from_host, ndarray, wrap
from ..core.recording.record import as_array, reshaped, transposed
from ..core.runtime.device import default_device
from ..core.runtime.evaluate import queue_of, traits_of
from ..functions.creation.arrays import axes_in_memory, laid_out
from ..functions.indexing.selection import take
from . import bounded, method
from .method import Drawing, on_device

# Places are numbers of 32 bits.
_MOST = 1 << 31


class Permuting(Drawing):
    """Methods of `Generator`."""

    @on_device("permutation")
    def permutation(self, x: Any, axis: Any = 0) -> Any:
        device = x.device if isinstance(x, ndarray) else default_device()
        if not traits_of(device).draws_random:
            return NotImplemented
        if isinstance(x, (int, numpy.integer)):
            return wrap(self._order(int(x), queue_of(device))) if _many() <= x < _MOST else NotImplemented
        array = as_array(x, device)
        if not _moves(array, axis):
            return NotImplemented
        return take(array, wrap(self._order(array.shape[axis], array.queue)), axis)

    @on_device("shuffle")
    def shuffle(self, x: Any, axis: Any = 0) -> Any:
        if not isinstance(x, ndarray) or not x.writeable or not x.size or not _moves(x, axis):
            return NotImplemented
        x.assign(take(x, wrap(self._order(x.shape[axis], x.queue)), axis).value())
        return None

    @on_device("permuted")
    def permuted(self, x: Any, *, axis: Any = None, out: Any = None) -> Any:
        if not isinstance(x, ndarray) and not traits_of(default_device()).draws_random:
            return NotImplemented
        array = as_array(x)
        if not _moves(array, 0 if axis is None else axis) or not _many() <= array.size < _MOST:
            return NotImplemented
        memory = axes_in_memory("K", array.shape, array.layout.strides)
        if out is not None:
            if not isinstance(out, ndarray) or (out.shape, out.queue) != (array.shape, array.queue):
                return NotImplemented
            if not out.writeable or not numpy.can_cast(array.dtype, out.dtype, "safe"):
                return NotImplemented
            backward = not layout.is_c(out.shape, out.layout.strides) and layout.is_f(out.shape, out.layout.strides)
        else:
            long = [axis for axis in memory or () if array.shape[axis] > 1]
            backward = len(long) > 1 and long == sorted(long, reverse=True)
        axes = list(range(array.ndim))
        if axis is None:
            # All elements, in the order of memory that is that of Fortran, or else of C.
            order, rows = axes[::-1] if backward else axes, 1
        else:
            axis %= array.ndim
            order, rows = [*axes[:axis], *axes[axis + 1 :], axis], array.size // array.shape[axis]
        moved = transposed(array.value(), order)
        places = bounded.order(self._stream, array.size // rows, array.queue, rows)
        mixed = take(wrap(reshaped(moved, (array.size,))), wrap(places)).value()
        made = transposed(reshaped(mixed, moved.signature.shape), [order.index(k) for k in axes])
        if out is None:
            return laid_out(made, memory)
        out.assign(cast(made, out.dtype))
        return out

    def _order(self, count: int, queue: Queue) -> Node:
        """The order in which to take so many elements."""
        if count < _many():
            self._stream.settle()
            return from_host(numpy.random.Generator(self._stream.bits).permutation(count), queue.device).value()
        return bounded.order(self._stream, count, queue)


def _many() -> int:
    """From so many elements on their order is drawn on the device: a sort has to be worth its while."""
    return 2 * method.MANY


def _moves(array: ndarray, axis: Any) -> bool:
    """Whether the device is to take the elements along an axis in another order."""
    if not array.ndim or not traits_of(array.queue.device).draws_random:
        return False
    return -array.ndim <= axis < array.ndim and array.shape[axis] < _MOST
