"""Random numbers: NumPy's streams.

The bit generators are NumPy's own. A `Generator` is one of NumPy's too: what it draws on a GPU it draws from the state
of its bit generator, which it leaves as NumPy would, so that both draw from one stream. `RandomState`, and whatever is
drawn on the host, is NumPy's with functions that take and give our arrays.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from ..functions.fallback import lookup, public

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
    return import_module(f"{__name__}.{module}")


@cache
def __getattr__(name: str) -> Any:
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


def __dir__() -> list[str]:
    return [*public(_NUMPYS), "PhiloxGPU"]
