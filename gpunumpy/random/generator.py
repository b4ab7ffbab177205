"""`Generator`: NumPy's, whose commonest draws are made on the device."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import wraps
from math import prod
from typing import Any

import numpy

from ..core import evaluate, layout
from ..core.array import from_host, ndarray, to_host, wrap
from ..core.device import Device, default_device
from ..core.dtypes import FLOAT64, INT64
from ..core.layout import Shape
from ..core.node import Node
from ..core.record import as_array, elementwise, reshaped, transposed
from ..reduction import any as any_of
from ..searching import searchsorted
from ..selection import take
from . import words
from .on_host import PLAIN, drawn, inside, methods
from .stream import LOCK, Stream

# From so many numbers on they are drawn on a device of these kinds; the host makes fewer of them sooner.
MANY = 1 << 14
KINDS = {"cuda"}

# A stream of nobody's, for NumPy's checks of parameters.
_probe = numpy.random.Generator(numpy.random.PCG64(0))


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
            return wrap(reshaped(drawn, self.shape))
        if layout.is_c(out.shape, out.layout.strides):
            out.assign(reshaped(drawn, self.shape))
        else:
            out.assign(transposed(reshaped(drawn, self.shape[::-1]), range(len(self.shape))[::-1]))
        return out


def _shape_of(size: Any) -> Shape | None:
    """The shape that a `size` asks for; None where NumPy is to judge it."""
    try:
        shape = (operator.index(size),) if hasattr(size, "__index__") else tuple(map(operator.index, size))
    except TypeError:
        return None
    return None if any(n < 0 for n in shape) else shape


def _is_filled_in_order(out: ndarray, dtype: Any) -> bool:
    """Whether NumPy would take the array as `out`."""
    strides = out.layout.strides
    ordered = layout.is_c(out.shape, strides) or layout.is_c(out.shape[::-1], strides[::-1])
    return ordered and out.writeable and out.dtype == dtype


def _on_device(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A method that draws on the device, or returns `NotImplemented` where NumPy is to draw on the host, or to raise.

    NumPy draws a few numbers, those of bit generators that the device does not know, and all numbers of the CPU.
    """
    theirs = getattr(numpy.random.Generator, name)
    host = drawn(theirs, f"Generator.{name}", silent=True)

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(theirs, updated=())
        def run(self: Generator, *args: Any, **options: Any) -> Any:
            with LOCK:
                if self._stream.kind and not inside():
                    try:
                        made = method(self, *args, **options)
                    except TypeError:  # NumPy says what is wrong with the parameters
                        made = NotImplemented
                    if made is not NotImplemented:
                        return made
                self._stream.settle()
            return host(self, *args, **options)

        return run

    return decorate


class Generator(numpy.random.Generator):
    __doc__ = numpy.random.Generator.__doc__
    __module__ = "gpunumpy.random"

    _stream: Stream

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(bit_generator)
        self._stream = Stream(bit_generator)

    def __reduce__(self) -> tuple[Any, ...]:
        self._stream.settle()
        return Generator, *super().__reduce__()[1:]

    @property
    def bit_generator(self) -> Any:
        """The bit generator, whose state is from now on always NumPy's."""
        self._stream.settle()
        self._stream.shared = True
        return super().bit_generator

    def spawn(self, n_children: int) -> list[Any]:
        """Make generators of streams of their own. See `numpy.random.Generator.spawn`."""
        children: list[Any] = super().spawn(n_children)
        for child in children:
            child._stream.shared = False
        return children

    # Numbers of one distribution

    @_on_device("random")
    def random(self, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        return self._standard(words.EVEN, size, dtype, out)

    @_on_device("standard_normal")
    def standard_normal(self, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        return self._standard(words.NORMAL, size, dtype, out)

    @_on_device("standard_exponential")
    def standard_exponential(self, size: Any = None, dtype: Any = FLOAT64, method: Any = "zig", out: Any = None) -> Any:
        if method != "zig":
            return NotImplemented
        return self._standard(words.EXPONENTIAL, size, dtype, out)

    @_on_device("integers")
    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = numpy.int64, endpoint: Any = False
    ) -> Any:
        target = self._new(size)
        if target is None:
            return NotImplemented
        first, last = (0, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
        dtype = _probe.integers(first, last, 1, dtype, endpoint).dtype
        span = last - first + bool(endpoint)
        if span == 1:
            return NotImplemented
        return target.filled(words.integers(self._stream, target.count, target.queue, first, span, dtype))

    def _standard(self, draws: dict[Any, words.Draw], size: Any, dtype: Any, out: Any) -> Any:
        draw = draws.get(numpy.dtype(dtype))
        if out is None:
            target = self._new(size)
        elif isinstance(out, ndarray) and _is_filled_in_order(out, dtype) and _shape_of(size) in (None, out.shape):
            target = self._large(Target(out.shape, out.device, out)) if size is None or _shape_of(size) else None
        else:
            target = None
        if draw is None or target is None:
            return NotImplemented
        return target.filled(draw(self._stream, target.count, target.queue))

    def _new(self, size: Any) -> Target | None:
        """Where `size` numbers go, if the device is to draw them."""
        shape = None if size is None else _shape_of(size)
        return None if shape is None else self._large(Target(shape, default_device()))

    def _large(self, target: Target) -> Target | None:
        return target if target.count >= MANY and target.queue.device.kind in KINDS else None

    @_on_device("choice")
    def choice(
        self, a: Any, size: Any = None, replace: Any = True, p: Any = None, axis: Any = 0, shuffle: Any = True
    ) -> Any:
        target = self._new(size)
        if target is None or not replace:
            return NotImplemented
        number = not isinstance(a, ndarray) and numpy.ndim(a) == 0
        array = a if number else as_array(a, target.queue.device)
        many = operator.index(a) if number else array.shape[axis]
        if p is not None:
            p = to_host(p) if isinstance(p, ndarray) else p
        _probe.choice(many, 1, p=p)
        if many == 1:
            return NotImplemented
        if p is None:
            chosen = target.filled(words.integers(self._stream, target.count, target.queue, 0, many, INT64))
        else:
            upto = numpy.cumsum(p, dtype=numpy.float64)
            evenly = target.filled(words.EVEN[FLOAT64](self._stream, target.count, target.queue))
            chosen = searchsorted(from_host(upto / upto[-1], target.queue.device), evenly, "right")
        return chosen if number else take(array, chosen, axis)

    # Numbers of a distribution with parameters

    @_on_device("uniform")
    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        if _is_number(low) and _is_number(high):
            _probe.uniform(low, high)
            return self._placed(words.EVEN, low, float(high) - float(low), size)
        spread = elementwise("subtract", [_parameter(high), _parameter(low)])
        endless = elementwise("logical_not", [elementwise("isfinite", [spread])])
        if not _fine(spread) or bool(any_of(endless)):
            return NotImplemented
        return self._placed(words.EVEN, low, spread, size)

    @_on_device("normal")
    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._placed(words.NORMAL, loc, scale, size) if _fine(scale) else NotImplemented

    @_on_device("exponential")
    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._placed(words.EXPONENTIAL, None, scale, size) if _fine(scale) else NotImplemented

    @_on_device("lognormal")
    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        made = self._placed(words.NORMAL, mean, sigma, size) if _fine(sigma) else NotImplemented
        return made if made is NotImplemented else elementwise("exp", [made])

    @_on_device("rayleigh")
    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        made = self._exponentials(size) if _is_number(scale) and _fine(scale) else NotImplemented
        if made is NotImplemented:
            return made
        return elementwise("multiply", [float(scale), elementwise("sqrt", [elementwise("multiply", [2.0, made])])])

    @_on_device("weibull")
    def weibull(self, a: Any, size: Any = None) -> Any:
        made = self._exponentials(size) if _is_number(a) and a > 0 else NotImplemented
        return made if made is NotImplemented else elementwise("power", [made, 1.0 / float(a)])

    @_on_device("pareto")
    def pareto(self, a: Any, size: Any = None) -> Any:
        made = self._exponentials(size) if _is_number(a) and a > 0 else NotImplemented
        return made if made is NotImplemented else elementwise("expm1", [elementwise("divide", [made, float(a)])])

    @_on_device("power")
    def power(self, a: Any, size: Any = None) -> Any:
        made = self._exponentials(size) if _is_number(a) and a > 0 else NotImplemented
        if made is NotImplemented:
            return made
        rest = elementwise("negative", [elementwise("expm1", [elementwise("negative", [made])])])
        return elementwise("power", [rest, 1.0 / float(a)])

    def _exponentials(self, size: Any) -> Any:
        return self._standard(words.EXPONENTIAL, size, FLOAT64, None)

    def _placed(self, draws: dict[Any, words.Draw], start: Any, scale: Any, size: Any) -> Any:
        """Numbers that are scaled and moved, as many as the parameters or `size` ask for."""
        given = [_parameter(x) for x in (scale, start) if x is not None]
        arrays = [x for x in given if isinstance(x, ndarray)]
        whole = _broadcast(*(x.shape for x in arrays))
        shape = whole if size is None else _shape_of(size)
        if whole is None or shape is None or _broadcast(shape, whole) != shape:
            return NotImplemented
        device = arrays[0].device if arrays else default_device()
        target = self._large(Target(shape, device))
        if target is None:
            return NotImplemented
        made = target.filled(draws[FLOAT64](self._stream, target.count, target.queue))
        made = elementwise("multiply", [given[0], made])
        return elementwise("add", [given[1], made]) if start is not None else made


def _broadcast(*shapes: Shape) -> Shape | None:
    try:
        return layout.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _is_number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, numpy.generic))


def _parameter(x: Any) -> Any:
    """A parameter as NumPy takes it, in float64."""
    if _is_number(x):
        return float(x)
    array = as_array(x)
    return array if array.dtype == FLOAT64 else elementwise("cast", [array], (array.dtype, FLOAT64))


def _fine(scale: Any) -> bool:
    """Whether no scale is negative."""
    if _is_number(scale):
        return not numpy.signbit(float(scale)) or scale != scale
    x = _parameter(scale)
    bad = elementwise("logical_and", [elementwise("signbit", [x]), elementwise("equal", [x, x])])
    return not bool(any_of(bad))


def _settled(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of the host's, which goes on from where the draws of the device have come."""

    @wraps(method, updated=())
    def run(self: Generator, *args: Any, **options: Any) -> Any:
        self._stream.settle()
        return method(self, *args, **options)

    return run


for _name, _method in methods(numpy.random.Generator).items():
    if _name not in vars(Generator):
        setattr(Generator, _name, _settled(_method))
for _name in PLAIN & set(dir(numpy.random.Generator)) - {"bit_generator"}:
    setattr(Generator, _name, _settled(getattr(numpy.random.Generator, _name)))


def seeded(seed: Any) -> Generator:
    """The generator that `default_rng` returns."""
    if isinstance(seed, Generator):
        return seed
    made = Generator(numpy.random.default_rng(seed).bit_generator)
    made._stream.shared = isinstance(
        seed, (numpy.random.BitGenerator, numpy.random.Generator, numpy.random.RandomState)
    )
    return made
