"""Random numbers: NumPy's streams, drawn on the host into arrays of ours.

`Generator` and `RandomState` are NumPy's with methods that take and give our arrays. What they fill or shuffle in place
is ours, a view of ours too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import Any

from .core.array import ndarray, to_host
from .fallback import lookup, on_host, public

_NUMPYS = "numpy.random"
_CLASSES = ("Generator", "RandomState")
# What neither takes nor makes arrays, but for the state of a stream, which stays on the host.
_PLAIN = frozenset(
    (
        *("bytes", "get_bit_generator", "get_state", "seed", "set_bit_generator", "set_state", "spawn", "test"),
        "bit_generator",
    )
)

# NumPy's methods call one another: only the call from outside takes and gives our arrays.
_running = threading.local()


def _drawn(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function or a method of NumPy's that draws random numbers, for our arrays."""
    visited = on_host(function, f"gpunumpy.random.{name}")
    shuffles = name.endswith("shuffle")

    @wraps(function, updated=())
    def run(*args: Any, **options: Any) -> Any:
        inside = getattr(_running, "inside", False)
        # A list is shuffled itself, whatever it holds.
        if inside or (shuffles and not any(isinstance(x, ndarray) for x in (*args, *options.values()))):
            return function(*args, **options)
        _running.inside = True
        try:
            return visited(*args, **options)
        finally:
            _running.inside = False

    return run


@cache
def _class(name: str) -> type:
    """NumPy's class of that name, with methods for our arrays."""
    theirs: Any = getattr(import_module(_NUMPYS), name)

    def __reduce__(self: Any) -> tuple[Any, ...]:
        return _class(name), *theirs.__reduce__(self)[1:]

    methods = {
        method: _drawn(getattr(theirs, method), f"{name}.{method}")
        for method in dir(theirs)
        if not method.startswith("_") and method not in _PLAIN
    }
    return type(
        name, (theirs,), methods | {"__reduce__": __reduce__, "__doc__": theirs.__doc__, "__module__": __name__}
    )


def default_rng(seed: Any = None) -> Any:
    """A `Generator` with NumPy's default stream. See `numpy.random.default_rng`.

    Parameters
    ----------
    seed : int, array_like of int, SeedSequence, BitGenerator, Generator or RandomState, optional
        Where the stream begins; by default somewhere else each time. A generator is returned as it is, or goes on with
        the stream of NumPy's.

    Returns
    -------
    Generator
    """
    if isinstance(seed, _class("Generator")):
        return seed
    made = import_module(_NUMPYS).default_rng(to_host(seed) if isinstance(seed, ndarray) else seed)
    return _class("Generator")(made.bit_generator)


@cache
def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return _class(name)
    found = lookup(_NUMPYS, name)
    if isinstance(found, type) or not callable(found):
        return found
    theirs = getattr(import_module(_NUMPYS), name)
    return theirs if name in _PLAIN else _drawn(theirs, name)


def __dir__() -> list[str]:
    return public(_NUMPYS)
