"""What a method of `Generator` that draws on the device is made of."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import wraps
from inspect import signature
from math import isfinite, prod
from typing import Any

import numpy

from ..core.dtypes import FLOAT64
from ..core.graph import layout
from ..core.graph.layout import Shape
from ..core.graph.node import Node
from ..core.recording.array import from_host, ndarray, to_host, wrap
from ..core.recording.record import as_array, elementwise, reshaped, transposed
from ..core.runtime import evaluate
from ..core.runtime.device import Device, default_device
from ..functions.reductions.reductions import any as any_of
from . import fast, words
from .on_host import drawn, inside
from .stream import Stream

# From so many numbers on they are drawn on a device that is good at it; the host makes fewer of them sooner, and says
# what is wrong with as many as no memory holds.
MANY, TOO_MANY = 1 << 14, 1 << 44

# The methods that fill an array from end to end, where its dtype and it are among their arguments, and what NumPy says
# it is to be.
_FILLS = {
    "random": (1, 2, "contiguous"),
    "standard_normal": (1, 2, "contiguous"),
    "standard_exponential": (1, 3, "contiguous"),
    "standard_gamma": (2, 3, "C-contiguous"),
}

# Half of a smaller parameter may be 0.
_TINY = 1e-300

# The types of parameters that are no arrays.
_PLAIN = frozenset((bool, int, float, str, type, *(numpy.dtype(code).type for code in "?ilfd")))

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
            return wrap(drawn if drawn.signature.shape == self.shape else reshaped(drawn, self.shape))
        if layout.is_c(out.shape, out.layout.strides):
            out.assign(reshaped(drawn, self.shape))
        else:
            out.assign(transposed(reshaped(drawn, self.shape[::-1]), range(len(self.shape))[::-1]))
        return out


def is_large(target: Target) -> bool:
    """Whether the device is to draw as many numbers."""
    return MANY <= target.count < TOO_MANY and evaluate.traits_of(target.queue.device).draws_random


def shape_of(size: Any) -> Shape | None:
    """The shape that a `size` asks for; None where NumPy is to judge it."""
    try:
        given = (size,) if hasattr(size, "__index__") else tuple(size[:])
        shape = tuple(map(operator.index, given))
    except (TypeError, LookupError):
        return None
    return None if bool in map(type, given) or any(n < 0 for n in shape) else shape


def rows_of(size: Any) -> Shape | None:
    """The same where numbers are rows, for which NumPy takes no array without dimensions."""
    return None if isinstance(size, (ndarray, numpy.ndarray)) and not size.ndim else shape_of(size)


def _refuse_gaps(name: str, args: Any, options: Any) -> None:
    """Raise ValueError, as NumPy does, where `out` is not in the order of its memory."""
    kind, place, order = _FILLS[name]
    if numpy.dtype(args[kind] if len(args) > kind else options.get("dtype", FLOAT64)) not in words.EVEN:
        return  # what NumPy says first
    out = args[place] if len(args) > place else options.get("out")
    if not isinstance(out, ndarray):
        return
    shape, strides = out.layout.shape, out.layout.strides
    if not layout.is_c(shape, strides) and (order != "contiguous" or not layout.is_f(shape, strides)):
        raise ValueError(f"Supplied output array must be {order}, writable, aligned, and in machine byte-order.")


def broadcast(*shapes: Shape) -> Shape | None:
    try:
        return layout.broadcast_shapes(*shapes)
    except ValueError:
        return None


def is_number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, numpy.generic)) and not isinstance(x, numpy.complexfloating)


def parameter(x: Any) -> Any:
    """A parameter as NumPy takes it, in float64."""
    if is_number(x):
        return float(x)
    if isinstance(x, numpy.ndarray) and type(x) is not numpy.ndarray:
        raise TypeError("what an array of another class stands for, NumPy knows")
    array = None if x is None else as_array(x)
    if array is None or not numpy.can_cast(array.dtype, FLOAT64):
        raise TypeError("NumPy says what is wrong with it")
    return array if array.dtype == FLOAT64 else elementwise("cast", [array], (array.dtype, FLOAT64))


def floats(x: Any) -> Any:
    """A parameter of a row of numbers, on the host, in float64."""
    given = numpy.asarray(to_host(x) if isinstance(x, ndarray) else x)
    if not numpy.can_cast(given.dtype, FLOAT64):
        raise TypeError("NumPy says what is wrong with it")
    return given.astype(FLOAT64)


def fine(scale: Any) -> bool:
    """Whether no scale is negative."""
    if is_number(scale):
        return not numpy.signbit(float(scale)) or scale != scale
    x = parameter(scale)
    bad = elementwise("logical_and", [elementwise("signbit", [x]), elementwise("equal", [x, x])])
    return not bool(any_of(bad))


def finite_numbers(probe: Any, name: str, *params: Any) -> tuple[float, ...]:
    """The parameters of a method, which NumPy is let check on a stream of nobody's; none if the host is to draw."""
    if not all(is_number(x) and isfinite(x) and not 0 < abs(x) < _TINY for x in params):
        return ()
    getattr(probe, name)(*params)
    return tuple(map(float, params))


def place_of_size(theirs: Callable[..., Any]) -> int | None:
    """How many arguments come before the size of what a method makes, if there is one; -1 if all are the size."""
    parameters = list(signature(theirs).parameters)[1:]
    if parameters == ["args"]:
        return -1
    # `choice` calls other methods, which would take it for their caller.
    return parameters.index("size") if "size" in parameters and "replace" not in parameters else None


def makes_few(place: int | None, args: tuple[Any, ...], options: dict[str, Any], sized: bool = True) -> bool:
    """Whether NumPy makes one number of a method's arguments, or few of them if it may be `sized`: it is the sooner
    asked at once.
    """
    if place is None:
        return False
    size: Any = None
    if place < 0:
        size = args or None
    elif len(args) > place:
        size, args = args[place], args[:place] + args[place + 1 :]
    for x in args:
        if type(x) not in _PLAIN:
            return False
    for name, x in options.items():
        if name == "size":
            size = x
        elif type(x) not in _PLAIN:
            return False
    if size is None:
        return True
    if type(size) is int:
        return sized and size < MANY
    return sized and type(size) is tuple and all(type(n) is int for n in size) and prod(size) < MANY


def ours(made: Any) -> Any:
    """What NumPy has made, an array as ours where it is a program that asked."""
    return from_host(made, default_device()) if isinstance(made, numpy.ndarray) and not inside() else made


def on_device(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A method that draws on the device, or returns `NotImplemented` where NumPy is to draw on the host, or to raise.

    NumPy draws a few numbers, those of bit generators that the device does not know, and all numbers of the CPU.
    """
    theirs, fills = getattr(numpy.random.Generator, name), name in _FILLS
    first = place_of_size(theirs)
    host = drawn(theirs, f"Generator.{name}", silent=True)

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(theirs, updated=())
        def run(self: Drawing, *args: Any, **options: Any) -> Any:
            with self._stream.lock:
                if makes_few(first, args, options, self._words is words):
                    self._stream.settle()
                    return ours(theirs(self, *args, **options))
                if fills:
                    _refuse_gaps(name, args, options)
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
        target = self._new(size, self._words) if out is None else self._into(out, size, dtype, self._words)
        if draw is None or target is None:
            return NotImplemented
        return target.filled(draw(self._stream, target.count, target.queue))

    def _new(self, size: Any, source: Any = words) -> Target | None:
        """Where `size` numbers go, if the device is to draw them."""
        shape = None if size is None else shape_of(size)
        return None if shape is None else self._large(Target(shape, default_device()), source)

    def _into(self, out: Any, size: Any, dtype: Any, source: Any = words) -> Target | None:
        """The array `out`, if NumPy would take it and the device is to fill it."""
        fits = isinstance(out, ndarray) and out.writeable and out.dtype == dtype
        sized = fits and (size is None or (out.shape and shape_of(size) == out.shape))
        return self._large(Target(out.shape, out.device, out), source) if sized else None

    def _large(self, target: Target, source: Any = words) -> Target | None:
        """The target, unless the host is to draw as many numbers: what is `fast` is drawn nowhere else."""
        return target if source is fast or is_large(target) else None

    def _over(self, size: Any, *params: Any, source: Any = words) -> list[Any]:
        """Where numbers go, as many as the parameters or `size` ask for, or None; and the parameters in float64."""
        given = [parameter(x) for x in params]
        arrays = [x for x in given if isinstance(x, ndarray)]
        whole = broadcast(*(x.shape for x in arrays))
        shape = whole if size is None else shape_of(size)
        if whole is None or shape is None or broadcast(shape, whole) != shape or (size is None and not arrays):
            return [None, *given]
        return [self._large(Target(shape, arrays[0].device if arrays else default_device()), source), *given]

    def _placed(self, draws: dict[Any, words.Draw], size: Any, scale: Any, *start: Any) -> Any:
        """Numbers that are scaled, and moved if there is a start; as many as the parameters or `size` ask for."""
        target, *given = self._over(size, scale, *start, source=self._words)
        if target is None:
            return NotImplemented
        made = target.filled(draws[FLOAT64](self._stream, target.count, target.queue))
        made = elementwise("multiply", [given[0], made])
        return elementwise("add", [given[1], made]) if start else made
