"""What a method of `RandomState` that draws on the device is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy

from ...core.graph.node import Node
from ...core.graph.queue import Queue
from ...core.recording.array import ndarray
from ...core.runtime.device import default_device
from ...functions.manipulation.joining import concatenate
from ..method import Target, broadcast, is_large, makes_few, ours, place_of_size, shape_of
from ..mt19937 import Twister
from ..mt19937_stream import part
from ..on_host import drawn, inside
from ..sequence import Sampler

Source = Callable[[Twister, int, Queue], Node]

# A state of nobody's, for NumPy's checks of parameters.
PROBE = numpy.random.RandomState(0)
NUMPYS = numpy.random.RandomState
# More pairs of words than that, or positions of attempts, are not in memory at once.
MOST_PAIRS = 1 << 28


def on_device(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that draws on the device, or returns `NotImplemented` where NumPy is to draw on the host, or to raise.

    NumPy draws a few numbers, those of bit generators that the device does not know, and all numbers of the CPU.
    """
    theirs = getattr(NUMPYS, function.__name__)
    first = place_of_size(theirs)
    host = drawn(theirs, f"RandomState.{function.__name__}", silent=True)

    @wraps(theirs, updated=())
    def run(self: Legacy, *args: Any, **options: Any) -> Any:
        with self._stream.lock:
            if makes_few(first, args, options):
                self._stream.settle()
                return ours(theirs(self._stream.numpys, *args, **options))
            if self._stream.kind and not inside():
                try:
                    made = function(self, *args, **options)
                except TypeError:  # NumPy says what is wrong with the parameters
                    made = NotImplemented
                if made is not NotImplemented:
                    return made
            self._stream.settle()
            return host(self._stream.numpys, *args, **options)

    return run


def large(target: Target) -> Target | None:
    """The target, unless the host is to draw as many numbers."""
    return target if is_large(target) else None


class Legacy:
    """What draws from a stream of words of 32 bits: what the classes of methods share."""

    _stream: Twister

    def _numbers(self, source: Source, size: Any, *given: Any) -> Any:
        """Numbers of float64, as many as parameters or `size` ask for."""
        arrays = [x for x in given if isinstance(x, ndarray)]
        whole = broadcast(*(x.shape for x in arrays))
        shape = whole if size is None and arrays else None if size is None else shape_of(size)
        if whole is None or shape is None or broadcast(shape, whole) != shape:
            return NotImplemented
        target = large(Target(shape, arrays[0].device if arrays else default_device()))
        return NotImplemented if target is None else target.filled(source(self._stream, target.count, target.queue))

    def _sequence(
        self, sampler: Sampler, params: Sequence[float], size: Any, each: float, row: int | None = None
    ) -> Any:
        """Numbers that take words as they need them, or rows of so many; `each` is how many pairs of words a number of
        the sampler takes on average, or a little more.
        """
        target = self._target(size)
        if target is None:
            return NotImplemented
        whole = target if row is None else Target((*target.shape, row), target.queue.device)
        attempts = (row or 1) // sampler.width  # that succeed, for one number or row
        share = max(int(MOST_PAIRS / (each * attempts * max(sampler.phases, 1))), 1)
        parts = [min(share, target.count - at) for at in range(0, target.count, share)]
        begin = self._begin() if len(parts) > 1 else None
        made: list[ndarray] = []
        try:
            for count in parts:
                numbers = part(self._stream, sampler, params, count * attempts, each, target.queue)
                if numbers is None:
                    break
                made.append(numbers)
        finally:
            if begin is not None and len(made) < len(parts):
                self._stream.forget()
                NUMPYS.set_state(self._stream.numpys, begin)
        if len(made) < len(parts):
            return NotImplemented
        return whole.filled((made[0] if len(made) == 1 else concatenate(made)).value())

    def _begin(self) -> Any:
        """NumPy's state, to which the stream has come."""
        self._stream.settle()
        return NUMPYS.get_state(self._stream.numpys, legacy=False)

    def _target(self, size: Any) -> Target | None:
        """Where `size` numbers go, if the device is to draw them."""
        shape = None if size is None else shape_of(size)
        return None if shape is None else large(Target(shape, default_device()))
