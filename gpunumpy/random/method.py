"""What a method of `Generator` that draws on the device is made of."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import wraps
from math import prod
from typing import Any

import numpy

from ..core import evaluate, layout
from ..core.array import ndarray, wrap
from ..core.device import Device, default_device
from ..core.dtypes import FLOAT64
from ..core.layout import Shape
from ..core.node import Node
from ..core.record import as_array, elementwise, reshaped, transposed
from ..reduction import any as any_of
from . import fast, words
from .on_host import drawn, inside
from .stream import LOCK, Stream

# From so many numbers on they are drawn on a device of these kinds; the host makes fewer of them sooner.
MANY = 1 << 14
KINDS = {"cuda"}

# A stream of nobody's, for NumPy's checks of parameters.
PROBE = numpy.random.Generator(numpy.random.PCG64(0))


class Target:
    """Where a draw goes: a new array of a shape, or the array `out`."""

    def __init__(self, shape: Shape, device: Device, out: ndarray | None = None) -> None:
        self.shape, self.out = shape, out
        self.count = prod(shape)
        self.queue = evaluate.queue_of(device)

    def filled(self, drawn: Node) -> ndarray:
        """The array, with numbers that were drawn in the order of its memory."""
        out = self.out
        if out is None:
            return wrap(drawn if drawn.form.shape == self.shape else reshaped(drawn, self.shape))
        if layout.is_c(out.shape, out.layout.strides):
            out.assign(reshaped(drawn, self.shape))
        else:
            out.assign(transposed(reshaped(drawn, self.shape[::-1]), range(len(self.shape))[::-1]))
        return out


def shape_of(size: Any) -> Shape | None:
    """The shape that a `size` asks for; None where NumPy is to judge it."""
    try:
        shape = (operator.index(size),) if hasattr(size, "__index__") else tuple(map(operator.index, size))
    except TypeError:
        return None
    return None if any(n < 0 for n in shape) else shape


def is_filled_in_order(out: ndarray, dtype: Any) -> bool:
    """Whether NumPy would take the array as `out`."""
    strides = out.layout.strides
    ordered = layout.is_c(out.shape, strides) or layout.is_c(out.shape[::-1], strides[::-1])
    return ordered and out.writeable and out.dtype == dtype


def broadcast(*shapes: Shape) -> Shape | None:
    try:
        return layout.broadcast_shapes(*shapes)
    except ValueError:
        return None


def is_number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, numpy.generic))


def parameter(x: Any) -> Any:
    """A parameter as NumPy takes it, in float64."""
    if is_number(x):
        return float(x)
    if isinstance(x, numpy.ndarray) and type(x) is not numpy.ndarray:
        raise TypeError("what an array of another class stands for, NumPy knows")
    array = as_array(x)
    return array if array.dtype == FLOAT64 else elementwise("cast", [array], (array.dtype, FLOAT64))


def fine(scale: Any) -> bool:
    """Whether no scale is negative."""
    if is_number(scale):
        return not numpy.signbit(float(scale)) or scale != scale
    x = parameter(scale)
    bad = elementwise("logical_and", [elementwise("signbit", [x]), elementwise("equal", [x, x])])
    return not bool(any_of(bad))


def on_device(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A method that draws on the device, or returns `NotImplemented` where NumPy is to draw on the host, or to raise.

    NumPy draws a few numbers, those of bit generators that the device does not know, and all numbers of the CPU.
    """
    theirs = getattr(numpy.random.Generator, name)
    host = drawn(theirs, f"Generator.{name}", silent=True)

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(theirs, updated=())
        def run(self: Drawing, *args: Any, **options: Any) -> Any:
            with LOCK:
                if self._stream.kind and not inside():
                    try:
                        made = method(self, *args, **options)
                    except TypeError:  # NumPy says what is wrong with the parameters
                        made = NotImplemented
                    if made is not NotImplemented:
                        self._stream.drawn(made)
                        return made
                self._stream.settle()
            return host(self, *args, **options)

        return run

    return decorate


class Drawing(numpy.random.Generator):
    """A generator that knows the stream of its bit generator: what the classes of methods share."""

    _stream: Stream
    _words: Any = words  # or `fast`: how the commonest draws are made

    def _standard(self, draws: dict[Any, words.Draw], size: Any, dtype: Any, out: Any) -> Any:
        draw = draws.get(numpy.dtype(dtype))
        if out is None:
            target = self._new(size, self._words)
        elif isinstance(out, ndarray) and is_filled_in_order(out, dtype) and shape_of(size) in (None, out.shape):
            target = (
                self._large(Target(out.shape, out.device, out), self._words) if size is None or shape_of(size) else None
            )
        else:
            target = None
        if draw is None or target is None:
            return NotImplemented
        return target.filled(draw(self._stream, target.count, target.queue))

    def _new(self, size: Any, source: Any = words) -> Target | None:
        """Where `size` numbers go, if the device is to draw them."""
        shape = None if size is None else shape_of(size)
        return None if shape is None else self._large(Target(shape, default_device()), source)

    def _large(self, target: Target, source: Any = words) -> Target | None:
        """The target, unless the host is to draw as few numbers: what is `fast` is drawn nowhere else."""
        large = target.count >= MANY and target.queue.device.kind in KINDS
        return target if large or source is fast else None

    def _over(self, size: Any, *params: Any, source: Any = words) -> list[Any]:
        """Where numbers go, as many as the parameters or `size` ask for, or None; and the parameters in float64."""
        given = [parameter(x) for x in params]
        arrays = [x for x in given if isinstance(x, ndarray)]
        whole = broadcast(*(x.shape for x in arrays))
        shape = whole if size is None else shape_of(size)
        if whole is None or shape is None or broadcast(shape, whole) != shape or (size is None and not arrays):
            return [None, *given]
        return [self._large(Target(shape, arrays[0].device if arrays else default_device()), source), *given]

    def _placed(self, draws: dict[Any, words.Draw], start: Any, scale: Any, size: Any) -> Any:
        """Numbers that are scaled and moved, as many as the parameters or `size` ask for."""
        target, *given = self._over(size, *(x for x in (scale, start) if x is not None), source=self._words)
        if target is None:
            return NotImplemented
        made = target.filled(draws[FLOAT64](self._stream, target.count, target.queue))
        made = elementwise("multiply", [given[0], made])
        return elementwise("add", [given[1], made]) if start is not None else made
