"""Bit generators and sequences of seeds: NumPy's, which take arrays of ours for seeds.

NumPy looks at a seed, and into a sequence of them, for its own integers and those of Python.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy

from ..core.numpy_release import signature
from ..functions.fallback import on_host


def of_seeds(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's that makes something of a seed, for seeds that have arrays of ours.

    A list that contains itself, on which NumPy breaks down before 2.5, is no seed.
    """
    make = on_host(function, "")

    @wraps(function, updated=())
    def run(*args: Any, **options: Any) -> Any:
        try:
            return make(*args, **options)
        except RecursionError:
            raise TypeError("SeedSequence does not accept nested sequences.") from None

    return run


class Numpys(type):
    """The class of one of NumPy's classes, whose instances are NumPy's own, and of what a program derives from it."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        return of_seeds(_THEIRS.get(cls, super().__call__))(*args, **options)

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, _THEIRS[cls]) if cls in _THEIRS else super().__instancecheck__(x)

    def __subclasscheck__(cls, x: type) -> bool:
        return issubclass(x, _THEIRS[cls]) if cls in _THEIRS else super().__subclasscheck__(x)


_THEIRS: dict[type, type] = {}
SEEDED: dict[str, type] = {}
for _name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence"):
    _found = getattr(numpy.random, _name)
    _own = {"__module__": "gpunumpy.random", "__doc__": _found.__doc__, "__signature__": signature(_found)}
    SEEDED[_name] = Numpys(_name, (_found,), _own)
    _THEIRS[SEEDED[_name]] = _found
