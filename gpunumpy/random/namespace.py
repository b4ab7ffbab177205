"""The names of `numpy.random`, each found when it is first asked for: NumPy's modules are slow to import."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from ..functions.fallback import lookup

_NUMPYS = "numpy.random"


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
    return _ours("generator").seeded(seed)


def _ours(module: str) -> Any:
    """A module of this room, which wants NumPy's: that is slow to import, and many programs never need it."""
    return import_module(f".{module}", __package__)


@cache
def find(name: str) -> Any:
    """What `gpunumpy.random` has under a name.

    Raises
    ------
    AttributeError
        If it has nothing of that name, or the name is private.
    """
    if name == "__all__":
        return [*import_module(_NUMPYS).__all__, "PhiloxGPU"]
    if name == "Generator":
        return _ours("generator").Generator
    if name == "PhiloxGPU":
        return _ours("philox_gpu").PhiloxGPU
    if name in _ours("seeding").SEEDED:
        return _ours("seeding").SEEDED[name]
    found = lookup(_NUMPYS, name)
    return _ours("legacy.random_state").attribute(name, found)


def names() -> list[str]:
    """The public names of `gpunumpy.random`; two that NumPy documents it does not list."""
    return sorted([*find("__all__"), "get_bit_generator", "set_bit_generator"])
