"""Draws of a `RandomState`: integers, choices of elements, and permutations."""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import numpy

from ...core.dtypes import INT64
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.graph.queue import Queue
from ...core.recording.array import ndarray, one_step, require_device, to_host, wrap
from ...core.recording.overlap import overlaps
from ...core.recording.record import elementwise, placed_array
from ...core.runtime.device import default_device
from ...core.runtime.evaluate import queue_of
from ...core.source_location import warn
from ...functions.indexing.selection import take
from ..bounded_integers import chosen_by_weight, order_of_words, words_to_shuffle
from ..device_draws import can_draw, min_count, stays_on_host
from ..mt19937 import UINT32, Twister
from ..parameters import SCRATCH_STATE, shape_of
from .random_state_draws import RandomStateDraws, random_state_method

_MAX_ELEMENTS = 1 << 31  # kernels hold positions in 32 bits


class IntegersAndPermutations(RandomStateDraws):
    """The methods of `RandomState` that draw integers, choose elements, or permute them."""

    # Integers

    @random_state_method
    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        """Draw integers from `low` to below `high`, scalars."""
        first, last = (0, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
        return self._integers(first, last, size, numpy.dtype(dtype), "RandomState.randint")

    @random_state_method
    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
        """Draw integers from `low` to `high`, both included, and warn as NumPy does that this is deprecated."""
        first, last = (1, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
        integers = self._integers(first, last + 1, size, INT64, "RandomState.randint")
        if integers is not NotImplemented:
            shown_low = 1 if high is None else low
            text = f"This function is deprecated. Please call randint({shown_low}, {last} + 1) instead"
            warn(text, DeprecationWarning)
        return integers

    def _integers(self, first: int, end: int, size: Any, dtype: Any, name: str) -> Any:
        """Draw integers from `first` to below `end`; `name` is the draw's in MIN_COUNT_FACTORS."""
        spread, target = end - first - 1, self._target(size, draw=name)
        if target is None or spread < 1 or not dtype.isnative:
            return NotImplemented
        dtype = SCRATCH_STATE.randint(first, end, 1, dtype).dtype
        bits = 1 if dtype.kind == "b" else 32 if dtype.itemsize == 8 and spread < 1 << 32 else 8 * dtype.itemsize
        return target.filled(self._stream.integers(target.count, bits, first, spread, dtype, target.queue))

    @random_state_method
    def tomaxint(self, size: Any = None) -> Any:
        """Draw nonnegative int64 integers."""
        return self._draw(_positive_int64, size)

    @random_state_method
    def choice(self, a: Any, size: Any = None, replace: Any = True, p: Any = None) -> Any:
        """Draw positions of elements and take these elements."""
        is_count = not isinstance(a, ndarray) and numpy.ndim(a) == 0
        array = a if is_count else placed_array(a)
        if size is None or not (is_count or (array.ndim == 1 and array.device == default_device())):
            return NotImplemented
        if not is_count:
            if stays_on_host(array, prod(shape_of(size) or ())):
                return NotImplemented
            require_device(array)
        population = operator.index(a) if is_count else array.shape[0]
        chosen = self._chosen(population, size, p) if replace else self._sample(population, shape_of(size), p)
        return chosen if is_count or chosen is NotImplemented else take(array, chosen, 0)

    def _chosen(self, population: int, size: Any, p: Any) -> Any:
        """Draw positions among `population` with replacement; `NotImplemented` if the host is to."""
        if p is not None:
            p = to_host(p) if isinstance(p, ndarray) else p
        if self._target(size) is None or population < 1:
            return NotImplemented
        SCRATCH_STATE.choice(population, 1, p=p)
        if p is None:
            return self._integers(0, population, size, INT64, "RandomState.choice")
        uniforms = self._draw(Twister.uniforms, size)
        return uniforms if uniforms is NotImplemented else chosen_by_weight(p, uniforms)

    def _sample(self, population: int, shape: Any, p: Any) -> Any:
        """Draw positions without replacement: the first of a permutation of `population`."""
        if p is not None or shape is None or prod(shape) > population:
            return NotImplemented
        order = self._order(population, queue_of(default_device()))
        return order if order is NotImplemented else order[: prod(shape)].reshape(shape)

    # Permutations

    @random_state_method
    def shuffle(self, x: Any) -> Any:
        """Permute `x` along its first axis, in place."""
        if not isinstance(x, ndarray) or not x.ndim or not x.size or not x.writeable or overlaps(x) or stays_on_host(x):
            return NotImplemented
        require_device(x)
        order = self._order(x.shape[0], x.queue)
        if order is NotImplemented:
            return order
        with one_step(x):
            x.assign(take(x, order, 0).value())
        return None

    @random_state_method
    def permutation(self, x: Any) -> Any:
        """Permute ``range(x)`` or a copy of `x` along its first axis."""
        if isinstance(x, (int, numpy.integer)):
            is_int64 = numpy.result_type(x, numpy.long) == INT64
            return self._order(int(x), queue_of(default_device())) if is_int64 else NotImplemented
        array = placed_array(x)
        if stays_on_host(array):
            return NotImplemented
        require_device(array)
        order = self._order(array.shape[0], array.queue) if array.ndim else NotImplemented
        return order if order is NotImplemented else take(array, order, 0)

    def _order(self, count: int, queue: Queue) -> Any:
        """Draw a permutation of `count` positions; `NotImplemented` if the host is to."""
        if not min_count("RandomState.permutation") <= count < _MAX_ELEMENTS or not can_draw(queue.device):
            return NotImplemented
        peeked = self._stream.peek(words_to_shuffle(count), UINT32, queue)
        order, words_taken = order_of_words(peeked.words, count)
        permutation = wrap(order)
        self._stream.move_by_count_on_device(peeked, words_taken)
        return permutation


def _positive_int64(stream: Twister, count: int, queue: Queue) -> Node:
    halved = elementwise("right_shift", [wrap(stream.words64(count, queue)), numpy.uint64(1)])
    return graph.cast(halved.value(), INT64)
