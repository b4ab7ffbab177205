"""NumPy's functions that draw random numbers, on the host, for our arrays.

What they fill or shuffle in place is ours, a view of ours too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

from ..core.recording.array import ndarray
from ..functions.fallback import on_host

# What neither takes nor makes arrays, but for the state of a stream, which stays on the host.
PLAIN = frozenset(
    (
        *("bytes", "get_bit_generator", "get_state", "seed", "set_bit_generator", "set_state", "spawn", "test"),
        "bit_generator",
    )
)

# NumPy's methods call one another: only the call from outside takes and gives our arrays.
_running = threading.local()


def inside() -> bool:
    """Whether it is NumPy that calls, from one of the functions that are wrapped here."""
    return getattr(_running, "inside", False)


def drawn(function: Callable[..., Any], name: str, silent: bool = False) -> Callable[..., Any]:
    """A function or a method of NumPy's that draws random numbers, for our arrays."""
    visited = on_host(function, "" if silent else f"gpunumpy.random.{name}")
    shuffles = name.endswith("shuffle")

    @wraps(function, updated=())
    def run(*args: Any, **options: Any) -> Any:
        # A list is shuffled itself, whatever it holds.
        if inside() or (shuffles and not any(isinstance(x, ndarray) for x in (*args, *options.values()))):
            return function(*args, **options)
        _running.inside = True
        try:
            return visited(*args, **options)
        finally:
            _running.inside = False

    return run


def methods(theirs: type) -> dict[str, Callable[..., Any]]:
    """The methods of a class of NumPy's that draw, for our arrays."""
    return {
        name: drawn(getattr(theirs, name), f"{theirs.__name__}.{name}")
        for name in dir(theirs)
        if not name.startswith("_") and name not in PLAIN
    }
