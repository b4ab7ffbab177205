"""Draws on the host: NumPy's functions and methods, for the arrays of this library.

Arrays that NumPy fills or shuffles in place are written back, views too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy

from ..core.recording.array import from_host, ndarray
from ..core.runtime.device import default_device
from ..functions.fallback import on_host

# What neither takes nor makes arrays, but for the state of a stream, which stays on the host.
STATE_NAMES = frozenset(
    (
        *("bytes", "get_bit_generator", "get_state", "seed", "set_bit_generator", "set_state", "spawn", "test"),
        "bit_generator",
    )
)

# NumPy's methods call one another: only the call from outside takes and gives arrays of this library.
_running = threading.local()


def is_inside_numpy() -> bool:
    """Whether it is NumPy that calls, from one of the functions that are wrapped here."""
    return getattr(_running, "inside", False)


def with_device_arrays(function: Callable[..., Any], name: str, silent: bool = False) -> Callable[..., Any]:
    """Return a function or a method of NumPy's that draws random numbers as one for arrays of this library.

    It warns that it runs on the host, with its name, unless it is `silent`.
    """
    visited = on_host(function, "" if silent else f"gpunumpy.random.{name}")
    shuffles = name.endswith("shuffle")

    @wraps(function, updated=())
    def run(*args: Any, **options: Any) -> Any:
        # A list is shuffled itself, whatever it holds.
        if is_inside_numpy() or (shuffles and not any(isinstance(x, ndarray) for x in (*args, *options.values()))):
            return function(*args, **options)
        _running.inside = True
        try:
            return visited(*args, **options)
        finally:
            _running.inside = False

    return run


def from_numpy(made: Any) -> Any:
    """Return what NumPy has made; an array as one of the default device if a program asked for it."""
    return from_host(made, default_device()) if isinstance(made, numpy.ndarray) and not is_inside_numpy() else made


def add_host_methods(cls: type, numpys: type) -> None:
    """Give a class of generators the methods of NumPy's class that it does not draw on the device.

    They go on from where the draws of the device have moved the stream.
    """
    for name in dir(numpys):
        inherited = getattr(numpys, name)
        if name in STATE_NAMES:
            if name not in vars(cls):
                setattr(cls, name, _after_device_draws(inherited))
        elif not name.startswith("_") and getattr(cls, name, inherited) is inherited:
            wrapped = with_device_arrays(inherited, f"{numpys.__name__}.{name}")
            setattr(cls, name, _after_device_draws(wrapped))


def _after_device_draws(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method, updated=())
    def run(self: Any, *args: Any, **options: Any) -> Any:
        with self._stream.lock:
            self._stream.synchronize()
            return method(self._numpys, *args, **options)

    return run
