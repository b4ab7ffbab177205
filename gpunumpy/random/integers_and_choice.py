"""Draws of a `Generator`: integers, and choices of elements."""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import numpy

from ..core.dtypes import FLOAT64, INT64
from ..core.recording.array import from_host, ndarray, require_device, to_host, wrap
from ..core.recording.record import as_array, elementwise, placed_array, reshaped
from ..core.runtime.device import default_device
from ..functions.indexing.selection import take
from .bounded_integers import chosen_by_weight, draw_integers, draw_sample, draw_weighted_sample
from .device_draws import Target, can_draw, stays_on_host
from .generator_draws import GeneratorDraws, generator_method
from .parameters import SCRATCH_GENERATOR, broadcast_shape, shape_of


class IntegersAndChoice(GeneratorDraws):
    """The methods `integers` and `choice` of `Generator`."""

    @generator_method
    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = numpy.int64, endpoint: Any = False
    ) -> Any:
        """Draw integers between scalars or arrays."""
        if numpy.ndim(low) or numpy.ndim(high):
            low, high = (0, low) if high is None else (low, high)
            return self._integers_between(low, high, size, numpy.dtype(dtype), bool(endpoint))
        target = self._standard_target(size)
        if target is None:
            return NotImplemented
        first, last = (0, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
        dtype = SCRATCH_GENERATOR.integers(first, last, 1, dtype, endpoint).dtype
        span = last - first + bool(endpoint)
        return NotImplemented if span == 1 else self._integers(target, first, span, dtype)

    def _integers(self, target: Target, low: int, span: int, dtype: Any) -> ndarray:
        """Draw integers from `low` to ``low + span - 1``."""
        return target.filled(self._standard_draws.integers(self._stream, target.count, target.queue, low, span, dtype))

    def _integers_between(self, low: Any, high: Any, size: Any, dtype: Any, closed: bool) -> Any:
        """Draw integers from `low` to `high`, arrays; `high` included if `closed`."""
        device = next((x.device for x in (low, high) if isinstance(x, ndarray)), default_device())
        arrays = [as_array(x, device) for x in (low, high)]
        params_shape = broadcast_shape(*(x.shape for x in arrays))
        shape = params_shape if size is None else shape_of(size)
        if shape is None or params_shape is None or broadcast_shape(shape, params_shape) != shape:
            return NotImplemented
        are_int64 = all(x.dtype.kind in "iu" and numpy.can_cast(x.dtype, INT64) for x in arrays)
        if not are_int64 or not dtype.isnative or dtype.kind not in "iub" or not Target(shape, device).is_for_device():
            return NotImplemented
        first, last = (elementwise("cast", [x], (x.dtype, INT64)) for x in arrays)
        integers = draw_integers(self._stream, first, last, shape, dtype, closed)
        return NotImplemented if integers is None else integers

    @generator_method
    def choice(
        self, a: Any, size: Any = None, replace: Any = True, p: Any = None, axis: Any = 0, shuffle: Any = True
    ) -> Any:
        """Draw positions of elements and take these elements."""
        shape, device = None if size is None else shape_of(size), default_device()
        if shape is None or (self._matches_numpy and not can_draw(device)):
            return NotImplemented
        is_array = isinstance(a, ndarray)
        # From an array on the device elements are taken there in any count; other small draws are left to NumPy.
        if (not a.ndim or a.device != device) if is_array else self._standard_target(shape) is None:
            return NotImplemented
        is_count = not is_array and numpy.ndim(a) == 0
        array = a if is_count else placed_array(a)
        if not is_count:
            if stays_on_host(array, prod(shape)):
                return NotImplemented
            require_device(array)
        population = operator.index(a) if is_count else array.shape[axis]
        if population < 1 or axis is True:
            return NotImplemented
        if p is not None:
            p = to_host(p) if isinstance(p, ndarray) else p
        SCRATCH_GENERATOR.choice(population, 1, replace, p)
        chosen = self._chosen(population, shape, replace, p, shuffle)
        if chosen is not NotImplemented:
            return chosen if is_count else take(array, chosen, axis)
        if not is_array:
            return NotImplemented
        # Draw the positions on the host, but take the elements on the device.
        self._stream.synchronize()
        positions = numpy.random.Generator(self._stream.bits).choice(population, shape, replace, p, 0, shuffle)
        return take(a, from_host(positions, a.device), axis)

    def _chosen(self, population: int, shape: tuple[int, ...], replace: Any, p: Any, shuffle: Any) -> Any:
        """Draw the positions of the chosen elements among `population`; `NotImplemented` if the host is to."""
        if replace:
            target = self._standard_target(shape)
            if target is None or population == 1:
                return NotImplemented
            if p is None:
                return self._integers(target, 0, population, INT64)
            return chosen_by_weight(p, self._draw_into(target, self._standard_draws.uniform[FLOAT64]))
        target = self._target(shape)
        if target is None or target.count > population:
            return NotImplemented
        if p is not None:
            if not self._matches_numpy or numpy.count_nonzero(numpy.asarray(p) > 0) < target.count:
                return NotImplemented
            return draw_weighted_sample(self.random, p, shape, target.queue)
        sample = draw_sample(self._stream, population, target.count, bool(shuffle), target.queue)
        return NotImplemented if sample is None else wrap(reshaped(sample, shape))
