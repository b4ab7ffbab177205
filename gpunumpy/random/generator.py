"""`Generator`: NumPy's, which draws on the device what it can."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy

from . import fast
from .continuous import Continuous
from .discrete import Discrete
from .mt19937_stream import TwisterStream
from .on_host import PLAIN, methods
from .permuting import Permuting
from .philox_gpu import PhiloxGPU
from .sampling import Sampling
from .seeding import of_seeds
from .simple import Simple
from .stream import Stream
from .transformed import Transformed


class Generator(Simple, Transformed, Continuous, Discrete, Permuting, Sampling):
    __doc__ = numpy.random.Generator.__doc__
    __module__ = "gpunumpy.random"

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(bit_generator)
        twisted = type(bit_generator) is numpy.random.MT19937
        self._stream = TwisterStream(bit_generator) if twisted else Stream(bit_generator)
        if isinstance(bit_generator, PhiloxGPU):
            self._words = fast

    def __reduce__(self) -> tuple[Any, ...]:
        self._stream.settle()
        return Generator, *super().__reduce__()[1:]

    def __copy__(self) -> Generator:
        return Generator(self.bit_generator)

    @property
    def bit_generator(self) -> Any:
        """The bit generator, whose state is from now on always NumPy's."""
        self._stream.settle()
        self._stream.shared = True
        return super().bit_generator

    def spawn(self, n_children: int) -> list[Any]:
        """Make generators of streams of their own. See `numpy.random.Generator.spawn`."""
        self._stream.settle()
        children: list[Any] = super().spawn(n_children)
        for child in children:
            child._stream.shared = False
        return children


def _settled(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of the host's, which goes on from where the draws of the device have come."""

    @wraps(method, updated=())
    def run(self: Generator, *args: Any, **options: Any) -> Any:
        with self._stream.lock:
            self._stream.settle()
            return method(self, *args, **options)

    return run


for _name, _method in methods(numpy.random.Generator).items():
    if getattr(Generator, _name) is getattr(numpy.random.Generator, _name):
        setattr(Generator, _name, _settled(_method))
for _name in PLAIN & set(dir(numpy.random.Generator)) - set(vars(Generator)):
    setattr(Generator, _name, _settled(getattr(numpy.random.Generator, _name)))


_numpys_rng = of_seeds(numpy.random.default_rng)


def seeded(seed: Any) -> Generator:
    """The generator that `default_rng` returns."""
    if isinstance(seed, Generator):
        return seed
    made = Generator(_numpys_rng(seed).bit_generator)
    made._stream.shared = isinstance(
        seed, (numpy.random.BitGenerator, numpy.random.Generator, numpy.random.RandomState)
    )
    return made
