"""The names of `gpunumpy.ma`: those of this package, and NumPy's, which run on the host."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import numpy

from ..functions.fallback import lookup, namespace, public_names
from .binding import NAMES


@cache
def find(name: str) -> Any:
    """Return the attribute `name` of `gpunumpy.ma`.

    Raises
    ------
    AttributeError
        If there is no such attribute, or the name is private.
    """
    if name == "__all__":
        return list(numpy.ma.__all__)
    if name in ("core", "extras"):
        return _inner(name)
    return NAMES[name] if name in NAMES else lookup("numpy.ma", name)


def _inner(name: str) -> ModuleType:
    """Return a module like one of NumPy's inside of `numpy.ma`, with the names of this package."""
    module = namespace(f"numpy.ma.{name}")
    find_elsewhere = module.__getattr__

    def find_here(name: str) -> Any:
        return NAMES[name] if name in NAMES else find_elsewhere(name)

    module.__getattr__ = find_here  # type: ignore[method-assign]
    return module


def names() -> list[str]:
    """Return the public names of `gpunumpy.ma`."""
    return public_names("numpy.ma")
