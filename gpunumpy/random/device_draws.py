"""Draws on the device: when a draw runs there, where its numbers go, and the base class of generators that do so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import CO_VARARGS
from math import prod
from typing import Any

import numpy

from ..core._native import small_draw
from ..core.dtypes import FLOAT64
from ..core.graph import layout
from ..core.graph.layout import Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.locks import held
from ..core.recording import residence
from ..core.recording.array import memory_on_host, ndarray, wrap
from ..core.recording.record import reshaped, transposed
from ..core.runtime import evaluate
from ..core.runtime.device import Device, default_device
from .host_draws import array_of, called_by_numpy, running, with_device_arrays
from .parameters import broadcast_shape, shape_of
from .rejection_sampling import Sampler, draw_by_rejection

# Counts of numbers that are drawn on a GPU. NumPy draws fewer faster on the host, and raises its own exception for more
# than any memory holds.
MIN_COUNT, MAX_COUNT = 1 << 14, 1 << 44

# Draws that are faster on the device only from a multiple of MIN_COUNT on. Below it NumPy's draw and a copy to the
# device take less time. The figures are those of the device and of NumPy, on an H200, in ms for 16,384 numbers;
# docs/performance/random-numbers.md has them for all draws of a RandomState.
MIN_COUNT_FACTORS = {
    "Generator.permutation": 2,  # a sort: not measured
    "RandomState.randint": 2,  # 0.094 beside 0.077
    "RandomState.choice": 2,  # 0.108 beside 0.081, with replacement and without probabilities
    "RandomState.triangular": 2,  # 0.402 beside 0.237
}

# The methods with `out`, which NumPy fills in the order of its memory: the positions of `dtype` and `out` among the
# arguments, and the order that NumPy demands of `out`, in the words of its exception.
_FILLED_IN_ORDER = {
    "random": (1, 2, "contiguous"),
    "standard_normal": (1, 2, "contiguous"),
    "standard_exponential": (1, 3, "contiguous"),
    "standard_gamma": (2, 3, "C-contiguous"),
}
_FILLED_DTYPES = (FLOAT64, numpy.dtype(numpy.float32))

# The types of parameters that are scalars.
_SCALAR_TYPES = frozenset((bool, int, float, str, type, *(numpy.dtype(code).type for code in "?ilfd")))


def min_count(draw: str) -> int:
    """Return the least count of numbers for which a draw, named as in MIN_COUNT_FACTORS, runs on the device."""
    return MIN_COUNT * MIN_COUNT_FACTORS.get(draw, 1)


def stays_on_host(x: ndarray, count: int = 0) -> bool:
    """Return whether NumPy permutes an array, or chooses `count` of its elements: all are on the host, and few."""
    nbytes = max(x.size, count) * x.itemsize
    return residence.is_auto() and memory_on_host(x) is not None and nbytes <= residence.host_bytes(x.device)


def can_draw(device: Device) -> bool:
    """Return whether a device draws random numbers itself: GPUs do, the CPU device leaves draws to NumPy."""
    return evaluate.traits_of(device).draws_faster_than_numpy


class Target:
    """Destination of a draw: a new array of a shape on a device, or the array `out`."""

    def __init__(self, shape: Shape, device: Device, out: ndarray | None = None) -> None:
        self.shape, self.out = shape, out
        self.count = prod(shape)
        self.queue = evaluate.queue_of(device)

    def is_for_device(self, draw: str = "") -> bool:
        """Return whether the device is to draw this count of numbers; `draw` is a name in MIN_COUNT_FACTORS."""
        return min_count(draw) <= self.count < MAX_COUNT and can_draw(self.queue.device)

    def filled(self, numbers: Node) -> ndarray:
        """Return the array filled with `numbers`, which are in the order of its memory."""
        out = self.out
        if out is None:
            return wrap(numbers if numbers.signature.shape == self.shape else reshaped(numbers, self.shape))
        if layout.is_c_contiguous(out.shape, out.layout.strides):
            out.assign(reshaped(numbers, self.shape))
        else:
            out.assign(transposed(reshaped(numbers, self.shape[::-1]), range(len(self.shape))[::-1]))
        return out


class DeviceDraws:
    """Base class of generators that draw on the device.

    Attributes
    ----------
    _stream
        The words that the generator draws from: a `Stream` or a `Twister`.
    _numpy_generator
        NumPy's generator over the same bit generator, which draws on the host.
    _matches_numpy
        Whether the device draws the same numbers as NumPy, so that NumPy may draw small counts.
    """

    _stream: Any
    _numpy_generator: Any
    _matches_numpy = True

    def _target(self, size: Any, *params: Any, draw: str = "", any_count: bool = False) -> Target | None:
        """Return the target of a draw; None if the host is to draw.

        Its shape is `size`, or the broadcast shape of the arrays among `params` if `size` is None. With `any_count` the
        device draws however few the numbers are; else `draw` is a name in MIN_COUNT_FACTORS.
        """
        arrays = [x for x in params if isinstance(x, ndarray)]
        params_shape = broadcast_shape(*(x.shape for x in arrays))
        shape = (params_shape if arrays else None) if size is None else shape_of(size)
        if params_shape is None or shape is None or broadcast_shape(shape, params_shape) != shape:
            return None
        target = Target(shape, arrays[0].device if arrays else default_device())
        return target if any_count or target.is_for_device(draw) else None

    def _draw_into(self, target: Target, draw: Callable[[Any, int, Queue], Node]) -> ndarray:
        """Draw the numbers of a target by `draw`, a function of the stream, the count and the queue."""
        return target.filled(draw(self._stream, target.count, target.queue))

    def _draw_by_rejection(self, size: Any, sampler: Sampler, params: Sequence[float], words_per_number: float) -> Any:
        """Draw numbers by rejection, `size` of them; `NotImplemented` if the host is to: see `draw_by_rejection`."""
        target = self._target(size)
        return NotImplemented if target is None else self._reject_into(target, sampler, params, words_per_number)

    def _reject_into(
        self, target: Target, sampler: Sampler, params: Sequence[float], words_per_number: float, row: int = 1
    ) -> Any:
        """Draw the numbers of a target by rejection, in rows of `row`; `NotImplemented` if the host is to."""
        numbers = draw_by_rejection(
            self._stream, sampler, params, target.shape, words_per_number, target.queue, row=row
        )
        return NotImplemented if numbers is None else target.filled(numbers)


def drawn_on_device(numpy_class: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator of methods that draw on the device, for a subclass of NumPy's class or one with its methods.

    The public method, with NumPy's docstring, calls the decorated one under the stream's lock. Where that returns
    `NotImplemented` or raises TypeError, NumPy's method runs on the host, and draws or raises. NumPy also draws small
    counts, and all numbers from bit generators that the device does not know.
    """

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        name = method.__name__
        on_host = getattr(numpy_class, name)
        size_at = _position_of_size(on_host)
        draw_few = called_by_numpy(on_host) if name == "choice" else on_host
        has_out = name in _FILLED_IN_ORDER and "out" in _parameters(on_host)
        with_arrays = with_device_arrays(on_host, f"{numpy_class.__name__}.{name}", silent=True)

        @wraps(on_host, updated=())
        def run(self: DeviceDraws, *args: Any, **options: Any) -> Any:
            stream = self._stream
            with held(stream.lock):
                if _is_small_draw(size_at, args, options, self._matches_numpy):
                    stream.synchronize()
                    result = draw_few(self._numpy_generator, *args, **options)
                    return array_of(result) if type(result) is numpy.ndarray else result
                if has_out:
                    _raise_on_wrong_order(name, args, options)
                if stream.kind and not running.inside:
                    try:
                        result = method(self, *args, **options)
                    except TypeError:  # NumPy raises its own for the parameters, or accepts them
                        result = NotImplemented
                    if result is not NotImplemented:
                        stream.finish_draw(result)
                        return result
                stream.synchronize()
                return with_arrays(self._numpy_generator, *args, **options)

        if size_at is None:
            return run
        owner = "random_state" if numpy_class is numpy.random.RandomState else None
        return small_draw(run, draw_few, size_at, owner, globals())

    return decorate


def _position_of_size(method: Callable[..., Any]) -> int | None:
    """Return the position of the argument `size`; -1 if all arguments are the size, None if the method has none.

    A permutation is as long as its argument says, or has elements.
    """
    names = _parameters(method)
    if names == ("args",):
        return -1
    found = "x" if method.__name__ == "permutation" else "size"
    return names.index(found) if found in names else None


def _parameters(method: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of a method's parameters after the first; `inspect.signature` takes many times as long."""
    code = method.__code__
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & CO_VARARGS)
    return code.co_varnames[1:count]


def _is_small_draw(
    size_at: int | None, args: tuple[Any, ...], options: dict[str, Any], may_have_size: bool = True
) -> bool:
    """Return whether scalar arguments ask for one number or, if they may have a size, fewer than MIN_COUNT.

    This check comes before all others: NumPy draws such numbers in less time than the others take.
    """
    if size_at is None:
        return False
    if not args and not options:
        return True
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
        return may_have_size and size < MIN_COUNT
    return may_have_size and type(size) is tuple and all(type(n) is int for n in size) and prod(size) < MIN_COUNT


def _raise_on_wrong_order(name: str, args: Any, options: Any) -> None:
    """Raise ValueError, as NumPy does, if the memory of `out` does not have the order that the method demands."""
    dtype_at, out_at, order = _FILLED_IN_ORDER[name]
    if numpy.dtype(args[dtype_at] if len(args) > dtype_at else options.get("dtype", FLOAT64)) not in _FILLED_DTYPES:
        return  # NumPy checks the dtype first, and raises for it
    out = args[out_at] if len(args) > out_at else options.get("out")
    if not isinstance(out, ndarray):
        return
    if not out.c_contiguous and (order != "contiguous" or not out.f_contiguous):
        raise ValueError(f"Supplied output array must be {order}, writable, aligned, and in machine byte-order.")
