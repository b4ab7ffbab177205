"""Integers and samples."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from ..core.dtypes import FLOAT64, INT64
from ..core.recording.array import from_host, ndarray, to_host, wrap
from ..core.recording.record import as_array, elementwise, reshaped
from ..core.runtime.device import default_device
from ..core.runtime.evaluate import traits_of
from ..functions.indexing.selection import take
from ..functions.sorting.searching import searchsorted
from . import bounded, words
from .method import PROBE, Drawing, Target, broadcast, on_device, shape_of


class Sampling(Drawing):
    """Methods of `Generator`."""

    @on_device("integers")
    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = numpy.int64, endpoint: Any = False
    ) -> Any:
        if numpy.ndim(low) or numpy.ndim(high):
            low, high = (0, low) if high is None else (low, high)
            return self._between(low, high, size, numpy.dtype(dtype), bool(endpoint))
        target = self._new(size, self._words)
        if target is None:
            return NotImplemented
        first, last = (0, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
        dtype = PROBE.integers(first, last, 1, dtype, endpoint).dtype
        span = last - first + bool(endpoint)
        if span == 1:
            return NotImplemented
        return target.filled(self._words.integers(self._stream, target.count, target.queue, first, span, dtype))

    def _between(self, low: Any, high: Any, size: Any, dtype: Any, closed: bool) -> Any:
        """Integers between arrays."""
        device = next((x.device for x in (low, high) if isinstance(x, ndarray)), default_device())
        arrays = [as_array(x, device) for x in (low, high)]
        whole = broadcast(*(x.shape for x in arrays))
        shape = whole if size is None else shape_of(size)
        if shape is None or whole is None or broadcast(shape, whole) != shape:
            return NotImplemented
        fit = all(x.dtype.kind in "iu" and numpy.can_cast(x.dtype, INT64) for x in arrays)
        if not fit or not dtype.isnative or dtype.kind not in "iub" or self._large(Target(shape, device)) is None:
            return NotImplemented
        first, last = (elementwise("cast", [x], (x.dtype, INT64)) for x in arrays)
        made = bounded.integers(self._stream, first, last, shape, dtype, closed)
        return NotImplemented if made is None else made

    @on_device("choice")
    def choice(
        self, a: Any, size: Any = None, replace: Any = True, p: Any = None, axis: Any = 0, shuffle: Any = True
    ) -> Any:
        shape = None if size is None else shape_of(size)
        queue = Target((), default_device()).queue
        if shape is None or (self._words is words and not traits_of(queue.device).draws_random):
            return NotImplemented
        mine = isinstance(a, ndarray)
        on_host = not a.ndim or a.device != queue.device if mine else self._new(shape, self._words) is None
        if on_host:
            return NotImplemented
        number = not mine and numpy.ndim(a) == 0
        array = a if number else as_array(a, queue.device)
        many = operator.index(a) if number else array.shape[axis]
        if many < 1 or axis is True:
            return NotImplemented
        if p is not None:
            p = to_host(p) if isinstance(p, ndarray) else p
        PROBE.choice(many, 1, replace, p)
        chosen = self._chosen(many, shape, replace, p, shuffle)
        if chosen is not NotImplemented:
            return chosen if number else take(array, chosen, axis)
        if not isinstance(a, ndarray):
            return NotImplemented
        # Only the positions are drawn on the host.
        self._stream.settle()
        places = numpy.random.Generator(self._stream.bits).choice(many, shape, replace, p, 0, shuffle)
        return take(a, from_host(places, a.device), axis)

    def _chosen(self, many: int, shape: tuple[int, ...], replace: Any, p: Any, shuffle: Any) -> Any:
        """Which of so many are chosen."""
        target = self._new(shape, self._words)
        if replace:
            if target is None or many == 1:
                return NotImplemented
            if p is None:
                return target.filled(self._words.integers(self._stream, target.count, target.queue, 0, many, INT64))
            upto = numpy.cumsum(p, dtype=numpy.float64)
            evenly = target.filled(self._words.EVEN[FLOAT64](self._stream, target.count, target.queue))
            return searchsorted(from_host(upto / upto[-1], target.queue.device), evenly, "right")
        target = self._large(Target(shape, default_device()))
        if target is None or target.count > many:
            return NotImplemented
        if p is not None:
            if self._words is not words or numpy.count_nonzero(numpy.asarray(p) > 0) < target.count:
                return NotImplemented
            return bounded.weighted(self.random, p, shape, target.queue)
        made = bounded.sample(self._stream, many, target.count, bool(shuffle), target.queue)
        return NotImplemented if made is None else wrap(reshaped(made, shape))
