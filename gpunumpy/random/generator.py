"""`Generator`: NumPy's, with methods for our arrays."""

from __future__ import annotations

from typing import Any

import numpy

from .on_host import methods


class Generator(numpy.random.Generator):
    __doc__ = numpy.random.Generator.__doc__
    __module__ = "gpunumpy.random"

    def __reduce__(self) -> tuple[Any, ...]:
        return Generator, *super().__reduce__()[1:]  # type: ignore[misc]


for _name, _method in methods(numpy.random.Generator).items():
    setattr(Generator, _name, _method)


def seeded(seed: Any) -> Generator:
    """The generator that `default_rng` returns."""
    if isinstance(seed, Generator):
        return seed
    return Generator(numpy.random.default_rng(seed).bit_generator)
