"""The names of `gpunumpy.random`, each looked up at its first use: NumPy's random modules are slow to import."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..core.late_imports import import_late
from ..functions.fallback import lookup

_NUMPY_MODULE = "numpy.random"


def default_rng(seed: Any = None) -> Any:
    """Make a `Generator` over NumPy's default bit generator. See `numpy.random.default_rng`.

    Parameters
    ----------
    seed : int, array_like of int, SeedSequence, BitGenerator, Generator or RandomState, optional
        The seed of the stream; by default a different one each time. A gpunumpy `Generator` is returned as it is. A
        NumPy `Generator`, a `RandomState` or a bit generator shares its stream with the result.

    Returns
    -------
    Generator
        The generator.
    """
    return _submodule("generator").seeded(seed)


def _submodule(module: str) -> Any:
    """Import a module of this package; they import NumPy's random modules, which many programs never need."""
    return import_late(f".{module}", __package__)


@cache
def find(name: str) -> Any:
    """Return the attribute `name` of `gpunumpy.random`.

    Raises
    ------
    AttributeError
        If there is no such attribute, or the name is private.
    """
    if name == "__all__":
        return [*import_late(_NUMPY_MODULE).__all__, "PhiloxGPU"]
    if name == "Generator":
        return _submodule("generator").Generator
    if name == "PhiloxGPU":
        return _submodule("philox_gpu").PhiloxGPU
    if name in _submodule("seeding").SEEDED:
        return _submodule("seeding").SEEDED[name]
    found = lookup(_NUMPY_MODULE, name)
    return _submodule("legacy.random_state").attribute(name, found)


def names() -> list[str]:
    """Return the public names of `gpunumpy.random`, with two that NumPy documents but leaves out of ``__all__``."""
    return sorted([*find("__all__"), "get_bit_generator", "set_bit_generator"])
