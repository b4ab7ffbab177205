"""Draws of a `Generator`: permutations of elements."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.graph.node import Node, cast
from ..core.graph.queue import Queue
from ..core.recording.array import from_host, ndarray, one_step, require_device, wrap
from ..core.recording.overlap import overlaps
from ..core.recording.record import placed_array, reshaped, transposed
from ..core.runtime.device import default_device
from ..core.runtime.evaluate import queue_of
from ..functions.creation.arrays import array_in_memory_order, axes_in_memory
from ..functions.indexing.selection import take
from .bounded_integers import draw_order
from .device_draws import can_draw, min_count, stays_on_host
from .generator_draws import GeneratorDraws, generator_method

_MAX_ELEMENTS = 1 << 31  # kernels hold positions in 32 bits


class Permutations(GeneratorDraws):
    """The methods of `Generator` that permute elements."""

    @generator_method
    def permutation(self, x: Any, axis: Any = 0) -> Any:
        """Permute ``range(x)`` or a copy of `x` along an axis."""
        device = x.device if isinstance(x, ndarray) else default_device()
        if not can_draw(device):
            return NotImplemented
        if isinstance(x, (int, numpy.integer)):
            return wrap(self._order(int(x), queue_of(device))) if _min_count() <= x < _MAX_ELEMENTS else NotImplemented
        array = placed_array(x)
        if not _can_permute(array, axis):
            return NotImplemented
        return take(array, wrap(self._order(array.shape[axis], array.queue)), axis)

    @generator_method
    def shuffle(self, x: Any, axis: Any = 0) -> Any:
        """Permute `x` along an axis, in place."""
        if not isinstance(x, ndarray) or stays_on_host(x):
            return NotImplemented
        if not x.writeable or not x.size or overlaps(x) or not _can_permute(x, axis):
            return NotImplemented
        order = wrap(self._order(x.shape[axis], x.queue))
        with one_step(x):
            x.assign(take(x, order, axis).value())
        return None

    @generator_method
    def permuted(self, x: Any, *, axis: Any = None, out: Any = None) -> Any:
        """Permute the elements of `x` along an axis, each row independently of the others, or all elements."""
        if not isinstance(x, ndarray) and not can_draw(default_device()):
            return NotImplemented
        array = placed_array(x)
        if not _can_permute(array, 0 if axis is None else axis) or not _min_count() <= array.size < _MAX_ELEMENTS:
            return NotImplemented
        memory_axes = axes_in_memory("K", array.shape, array.element_strides)
        if out is not None:
            if not isinstance(out, ndarray) or (out.shape, out.queue) != (array.shape, array.queue):
                return NotImplemented
            if not out.writeable or overlaps(out) or not numpy.can_cast(array.dtype, out.dtype, "safe"):
                return NotImplemented
            is_fortran = out.f_contiguous and not out.c_contiguous
        else:
            long_axes = [axis for axis in memory_axes or () if array.shape[axis] > 1]
            is_fortran = len(long_axes) > 1 and long_axes == sorted(long_axes, reverse=True)
        axes = list(range(array.ndim))
        if axis is None:
            # One row of all elements, in Fortran order if that is the order of memory, else in C order.
            axis_order, rows = axes[::-1] if is_fortran else axes, 1
        else:
            axis %= array.ndim
            axis_order, rows = [*axes[:axis], *axes[axis + 1 :], axis], array.size // array.shape[axis]
        positions = draw_order(self._stream, array.size // rows, array.queue, rows)
        with one_step(out):
            moved = transposed(array.value(), axis_order)
            shuffled = take(wrap(reshaped(moved, (array.size,))), wrap(positions)).value()
            result = transposed(reshaped(shuffled, moved.signature.shape), [axis_order.index(k) for k in axes])
            if out is None:
                return array_in_memory_order(result, memory_axes)
            out.assign(cast(result, out.dtype))
        return out

    def _order(self, count: int, queue: Queue) -> Node:
        """Return the positions of `count` elements in a random order."""
        if count < _min_count():
            self._stream.synchronize()
            return from_host(numpy.random.Generator(self._stream.bits).permutation(count), queue.device).value()
        return draw_order(self._stream, count, queue)


def _min_count() -> int:
    """Return the least count of elements whose order is drawn on the device."""
    return min_count("Generator.permutation")


def _can_permute(array: ndarray, axis: Any) -> bool:
    """Return whether the device is to permute an array along an axis."""
    if stays_on_host(array):
        return False
    require_device(array)
    if not array.ndim or not can_draw(array.queue.device):
        return False
    return -array.ndim <= axis < array.ndim and array.shape[axis] < _MAX_ELEMENTS
