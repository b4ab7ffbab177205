"""Draws on the device: which ones they are, where their numbers go, and what the methods that make them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from math import prod
from typing import Any

import numpy

from ..core.dtypes import FLOAT64
from ..core.graph import layout
from ..core.graph.layout import Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.recording.array import ndarray, wrap
from ..core.recording.record import reshaped, transposed
from ..core.runtime import evaluate
from ..core.runtime.device import Device, default_device
from .host_draws import from_numpy, is_inside_numpy, with_device_arrays
from .parameters import broadcast_shape, shape_of
from .rejection_sampling import Sampler, draw_by_rejection

# Numbers are drawn on a device that is good at it from so many on; the host makes fewer of them sooner. And it says
# what is wrong with more than any memory holds.
MIN_COUNT, MAX_COUNT = 1 << 14, 1 << 44

# Draws that are worth while only from a multiple of MIN_COUNT on. Up to there NumPy's draw with a copy of it to the
# device takes less time: the figures are the device's and NumPy's on an H200, in ms for 16,384 numbers.
# docs/performance.md has them for all draws of a RandomState.
MIN_COUNT_FACTORS = {
    "Generator.permutation": 2,  # a sort: not measured
    "RandomState.randint": 2,  # 0.094 beside 0.077
    "RandomState.choice": 2,  # 0.108 beside 0.081, with replacement and without probabilities
    "RandomState.triangular": 2,  # 0.402 beside 0.237
}

# The methods that fill an array from end to end: where its dtype and it are among their arguments, and what NumPy says
# it is to be.
_FILLED_IN_ORDER = {
    "random": (1, 2, "contiguous"),
    "standard_normal": (1, 2, "contiguous"),
    "standard_exponential": (1, 3, "contiguous"),
    "standard_gamma": (2, 3, "C-contiguous"),
}
_FILLED_DTYPES = (FLOAT64, numpy.dtype(numpy.float32))

# The types of parameters that are no arrays.
_SCALAR_TYPES = frozenset((bool, int, float, str, type, *(numpy.dtype(code).type for code in "?ilfd")))


def min_count(draw: str) -> int:
    """Return from how many numbers on a draw of this name is made on the device."""
    return MIN_COUNT * MIN_COUNT_FACTORS.get(draw, 1)


def can_draw(device: Device) -> bool:
    """Whether a device draws random numbers itself."""
    return evaluate.traits_of(device).draws_random


class Target:
    """Where the numbers of a draw go: a new array of a shape, or the array `out`."""

    def __init__(self, shape: Shape, device: Device, out: ndarray | None = None) -> None:
        self.shape, self.out = shape, out
        self.count = prod(shape)
        self.queue = evaluate.queue_of(device)

    def is_for_device(self, draw: str = "") -> bool:
        """Whether the device is to make as many numbers, by a draw of this name."""
        return min_count(draw) <= self.count < MAX_COUNT and can_draw(self.queue.device)

    def filled(self, numbers: Node) -> ndarray:
        """Return the array, with numbers that were drawn in the order of its memory."""
        out = self.out
        if out is None:
            return wrap(numbers if numbers.signature.shape == self.shape else reshaped(numbers, self.shape))
        if layout.is_c(out.shape, out.layout.strides):
            out.assign(reshaped(numbers, self.shape))
        else:
            out.assign(transposed(reshaped(numbers, self.shape[::-1]), range(len(self.shape))[::-1]))
        return out


class DeviceDraws:
    """What the generators that draw on the device share.

    Attributes
    ----------
    _stream
        The words that it draws from: a `Stream` or a `Twister`.
    _numpys
        NumPy's generator over the same bit generator, which draws on the host.
    _few_are_numpys
        Whether NumPy's numbers are the device's, so that NumPy makes a few of them.
    """

    _stream: Any
    _numpys: Any
    _few_are_numpys = True

    def _target(self, size: Any, *params: Any, draw: str = "", any_count: bool = False) -> Target | None:
        """Return where numbers go, as many as `size` or the arrays among the parameters ask for; None if the host is to
        draw them.
        """
        arrays = [x for x in params if isinstance(x, ndarray)]
        whole = broadcast_shape(*(x.shape for x in arrays))
        shape = (whole if arrays else None) if size is None else shape_of(size)
        if whole is None or shape is None or broadcast_shape(shape, whole) != shape:
            return None
        target = Target(shape, arrays[0].device if arrays else default_device())
        return target if any_count or target.is_for_device(draw) else None

    def _draw_into(self, target: Target, draw: Callable[[Any, int, Queue], Node]) -> ndarray:
        """Draw the numbers of a target."""
        return target.filled(draw(self._stream, target.count, target.queue))

    def _draw_by_rejection(self, size: Any, sampler: Sampler, params: Sequence[float], words_per_number: float) -> Any:
        """Draw the numbers of a sampler: see `draw_by_rejection`."""
        target = self._target(size)
        return NotImplemented if target is None else self._reject_into(target, sampler, params, words_per_number)

    def _reject_into(
        self, target: Target, sampler: Sampler, params: Sequence[float], words_per_number: float, row: int = 1
    ) -> Any:
        """Draw the numbers of a target by rejection, or rows of so many."""
        made = draw_by_rejection(self._stream, sampler, params, target.shape, words_per_number, target.queue, row=row)
        return NotImplemented if made is None else target.filled(made)


def drawn_on_device(numpys: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a method that draws on the device the public one of that name in NumPy's class.

    The method returns `NotImplemented`, or raises TypeError, where NumPy is to draw on the host, or to raise. NumPy
    also draws a few numbers, those of bit generators that the device does not know, and all numbers of the CPU.
    """

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        name = method.__name__
        on_host = getattr(numpys, name)
        size_at = _position_of_size(on_host)
        fills = name in _FILLED_IN_ORDER and "out" in signature(on_host).parameters
        with_arrays = with_device_arrays(on_host, f"{numpys.__name__}.{name}", silent=True)

        @wraps(on_host, updated=())
        def run(self: DeviceDraws, *args: Any, **options: Any) -> Any:
            stream = self._stream
            with stream.lock:
                if _asks_for_few(size_at, args, options, self._few_are_numpys):
                    stream.synchronize()
                    return from_numpy(on_host(self._numpys, *args, **options))
                if fills:
                    _raise_on_gaps(name, args, options)
                if stream.kind and not is_inside_numpy():
                    try:
                        made = method(self, *args, **options)
                    except TypeError:  # NumPy says what is wrong with the parameters
                        made = NotImplemented
                    if made is not NotImplemented:
                        stream.finish_draw(made)
                        return made
                stream.synchronize()
                return with_arrays(self._numpys, *args, **options)

        return run

    return decorate


def _position_of_size(method: Callable[..., Any]) -> int | None:
    """Return how many arguments come before the size of a method, if it has one; -1 if all arguments are the size."""
    names = list(signature(method).parameters)[1:]
    if names == ["args"]:
        return -1
    # `choice` calls other methods, which would take it for their caller.
    return names.index("size") if "size" in names and "replace" not in names else None


def _asks_for_few(size_at: int | None, args: tuple[Any, ...], options: dict[str, Any], sized: bool = True) -> bool:
    """Whether the arguments, none of them an array, ask for one number, or for a few if they may have a size.

    NumPy makes these sooner than anything else is looked at.
    """
    if size_at is None:
        return False
    size: Any = None
    if size_at < 0:
        size = args or None
    elif len(args) > size_at:
        size, args = args[size_at], args[:size_at] + args[size_at + 1 :]
    for x in args:
        if type(x) not in _SCALAR_TYPES:
            return False
    for name, x in options.items():
        if name == "size":
            size = x
        elif type(x) not in _SCALAR_TYPES:
            return False
    if size is None:
        return True
    if type(size) is int:
        return sized and size < MIN_COUNT
    return sized and type(size) is tuple and all(type(n) is int for n in size) and prod(size) < MIN_COUNT


def _raise_on_gaps(name: str, args: Any, options: Any) -> None:
    """Raise ValueError, as NumPy does, where `out` is not in the order of its memory."""
    dtype_at, out_at, order = _FILLED_IN_ORDER[name]
    if numpy.dtype(args[dtype_at] if len(args) > dtype_at else options.get("dtype", FLOAT64)) not in _FILLED_DTYPES:
        return  # what NumPy says first
    out = args[out_at] if len(args) > out_at else options.get("out")
    if not isinstance(out, ndarray):
        return
    if not out.c_contiguous and (order != "contiguous" or not out.f_contiguous):
        raise ValueError(f"Supplied output array must be {order}, writable, aligned, and in machine byte-order.")
