"""What a method of `RandomState` that draws on the device is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy

from ..core.array import from_host, ndarray, wrap
from ..core.device import default_device
from ..core.node import Node, Queue
from ..joining import concatenate
from . import method
from .method import Target, broadcast, shape_of
from .on_host import drawn, inside
from .sequence import Sampler, attempted
from .stream import LOCK
from .twister import UINT32, Ahead, Twister

Source = Callable[[Twister, int, Queue], Node]

# A state of nobody's, for NumPy's checks of parameters.
PROBE = numpy.random.RandomState(0)
NUMPYS = numpy.random.RandomState
# More words than that are not in memory at once.
MOST_WORDS = 1 << 29


def on_device(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that draws on the device, or returns `NotImplemented` where NumPy is to draw on the host, or to raise.

    NumPy draws a few numbers, those of bit generators that the device does not know, and all numbers of the CPU.
    """
    theirs = getattr(NUMPYS, function.__name__)
    host = drawn(theirs, f"RandomState.{function.__name__}", silent=True)

    @wraps(theirs, updated=())
    def run(self: Legacy, *args: Any, **options: Any) -> Any:
        with LOCK:
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
    """The target, unless the host is to draw as few numbers."""
    return target if target.count >= method.MANY and target.queue.device.kind in method.KINDS else None


def in_parts(count: int, each: float) -> list[int]:
    """How many numbers to make at a time, of so many that take so many words each."""
    share = max(int(MOST_WORDS / each), 1)
    return [min(share, count - at) for at in range(0, count, share)] or [0]


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

    def _sequence(self, sampler: Sampler, params: Sequence[float], size: Any, each: float) -> Any:
        """Numbers that take words as they need them; `each` is how many of 32 bits on average, or a little more."""
        target = self._target(size)
        if target is None:
            return NotImplemented
        parts = in_parts(target.count, each)
        begin = self._begin() if len(parts) > 1 else None
        made: list[ndarray] = []
        for count in parts:
            found = self._attempted(sampler, params, count, each, target.queue)
            if found is None:
                if begin is not None:
                    self._begin()
                    NUMPYS.set_state(self._stream.numpys, begin)
                return NotImplemented
            numbers, ahead, taken = found
            self._stream.moved(ahead, taken)
            made.append(numbers)
        return target.filled((made[0] if len(made) == 1 else concatenate(made)).value())

    def _begin(self) -> Any:
        """NumPy's state, to which the stream has come."""
        self._stream.settle()
        return NUMPYS.get_state(self._stream.numpys, legacy=False)

    def _attempted(
        self, sampler: Sampler, params: Sequence[float], count: int, each: float, queue: Queue
    ) -> tuple[ndarray, Ahead, Node] | None:
        """The numbers of so many attempts that succeed, the words ahead that these are of, and how many they take."""
        held: list[tuple[ndarray, Node, Node]] = []

        def ahead(many: int) -> Node:
            words, before, after = self._stream.ahead(many, UINT32, queue)
            held[:] = [(wrap(words), before, after)]
            return words

        found = attempted(ahead, sampler, params, count, each, queue)
        if found is None:
            return None
        words, before, after = held[0]
        taken = from_host(numpy.array(found[1]), queue.device).value()
        return wrap(found[0]), (words.value(), before, after), taken

    def _target(self, size: Any) -> Target | None:
        """Where `size` numbers go, if the device is to draw them."""
        shape = None if size is None else shape_of(size)
        return None if shape is None else large(Target(shape, default_device()))
