"""Draws on the host: NumPy's functions and methods, made to take and return gpunumpy arrays.

What NumPy fills or shuffles in place is written back to the gpunumpy array, also through a view.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from types import NoneType
from typing import Any

import numpy

from ..core.locks import held
from ..core.recording.array import memory_on_host, ndarray, on_host_memory
from ..core.recording.residence import DTYPES, is_for_host, resident
from ..core.runtime.device import Device
from ..functions.fallback import on_host

# Names that neither take nor return arrays, except the state of a stream, which stays on the host.
STATE_NAMES = frozenset(
    (
        *("bytes", "get_bit_generator", "get_state", "seed", "set_bit_generator", "set_state", "spawn", "test"),
        "bit_generator",
    )
)


# Functions that permute or choose elements of an array, which small arrays on the host lend them.
_OF_ELEMENTS = (".choice", ".permutation", ".shuffle")
_PLAIN = frozenset((bool, int, float, NoneType))


class _Running(threading.local):
    """Whether this thread is inside a function of NumPy's that `with_device_arrays` or `called_by_numpy` wraps."""

    inside = False


# NumPy's methods call one another: only the outermost call takes and returns gpunumpy arrays.
running = _Running()


def is_inside_numpy() -> bool:
    """Return whether the caller is NumPy."""
    return running.inside


def called_by_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of NumPy's generators that calls others of them, which are to know that NumPy is the caller."""

    def run(*args: Any, **options: Any) -> Any:
        outer, running.inside = is_inside_numpy(), True
        try:
            return function(*args, **options)
        finally:
            running.inside = outer

    return run


def with_device_arrays(function: Callable[..., Any], name: str, silent: bool = False) -> Callable[..., Any]:
    """Return a NumPy function or method that draws random numbers, wrapped to take and return gpunumpy arrays.

    A call warns under `name` that it runs on the host, unless `silent`.
    """
    wrapped = on_host(function, "" if silent else f"gpunumpy.random.{name}")
    shuffles = name.endswith("shuffle")
    takes_memory = name.endswith(_OF_ELEMENTS)

    @wraps(function, updated=())
    def run(*args: Any, **options: Any) -> Any:
        # A list is shuffled in place even if its elements are gpunumpy arrays.
        if is_inside_numpy() or (shuffles and not any(map(_is_array, (*args, *options.values())))):
            return function(*args, **options)
        running.inside = True
        try:
            memories = _memories(args) if takes_memory and not options else None
            if memories is None:
                return wrapped(*args, **options)
            result = function(*memories)
        finally:
            running.inside = False
        if isinstance(result, numpy.generic) and result.dtype in DTYPES:
            return on_host_memory(result, _device_of(args))
        return resident(result, _device_of(args)) if type(result) is numpy.ndarray else result

    return run


def _memories(args: tuple[Any, ...]) -> list[Any] | None:
    """Return a generator and arguments with the memory of small arrays on the host in their place; None for others.

    NumPy then shuffles that memory, or takes elements of it. There has to be an array.
    """
    found, has_array = list(args), False
    for k, x in enumerate(args[1:], 1):
        memory = memory_on_host(x) if type(x) is ndarray else None
        if isinstance(memory, numpy.ndarray) and is_for_host(memory, x.device):
            found[k], has_array = memory, True
        elif type(x) not in _PLAIN:
            return None
    return found if has_array else None


def _device_of(args: tuple[Any, ...]) -> Device:
    """Return the device of the first array among some arguments."""
    return next(x.device for x in args if type(x) is ndarray)


def _is_array(x: Any) -> bool:
    return isinstance(x, ndarray) or hasattr(type(x), "is_masked_array")


def array_of(result: Any) -> Any:
    """Return NumPy's result, with an array of this package for one of NumPy's unless NumPy itself is the caller."""
    return resident(result) if isinstance(result, numpy.ndarray) and not is_inside_numpy() else result


def add_host_methods(cls: type, numpy_class: type) -> None:
    """Add to a class of generators those methods of NumPy's class that draw on the host alone.

    They continue the stream after draws on the device.
    """
    for name in dir(numpy_class):
        inherited = getattr(numpy_class, name)
        if name in STATE_NAMES:
            if name not in vars(cls):
                setattr(cls, name, _after_device_draws(inherited))
        elif not name.startswith("_") and getattr(cls, name, inherited) is inherited:
            wrapped = with_device_arrays(inherited, f"{numpy_class.__name__}.{name}")
            setattr(cls, name, _after_device_draws(wrapped))


def _after_device_draws(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of NumPy's generator, to be called once its state is past all draws on the device."""

    @wraps(method, updated=())
    def run(self: Any, *args: Any, **options: Any) -> Any:
        with held(self._stream.lock):
            self._stream.synchronize()
            return method(self._numpy_generator, *args, **options)

    return run
