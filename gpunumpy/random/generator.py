"""`Generator`: NumPy's, which draws on the device what it can."""

from __future__ import annotations

from typing import Any

import numpy

from .continuous_distributions import ContinuousDistributions
from .discrete_distributions import DiscreteDistributions
from .host_draws import add_host_methods
from .integers_and_choice import IntegersAndChoice
from .mt19937_stream import TwisterStream
from .permutations import Permutations
from .philox_gpu import PhiloxGPU
from .philox_gpu_draws import PHILOX_GPU_DRAWS
from .seeding import of_seeds
from .standard_distributions import StandardDistributions
from .stream import Stream
from .transformed_distributions import TransformedDistributions


class Generator(
    StandardDistributions,
    TransformedDistributions,
    ContinuousDistributions,
    DiscreteDistributions,
    Permutations,
    IntegersAndChoice,
):
    __doc__ = numpy.random.Generator.__doc__
    __module__ = "gpunumpy.random"

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(bit_generator)
        twisted = type(bit_generator) is numpy.random.MT19937
        self._stream = TwisterStream(bit_generator) if twisted else Stream(bit_generator)
        if isinstance(bit_generator, PhiloxGPU):
            self._standard_draws, self._few_are_numpys = PHILOX_GPU_DRAWS, False

    def __reduce__(self) -> tuple[Any, ...]:
        self._stream.synchronize()
        return Generator, *super().__reduce__()[1:]

    def __copy__(self) -> Generator:
        return Generator(self.bit_generator)

    @property
    def bit_generator(self) -> Any:
        """The bit generator, whose state is from now on always NumPy's."""
        self._stream.synchronize()
        self._stream.shared = True
        return super().bit_generator

    def spawn(self, n_children: int) -> list[Any]:
        """Make generators of streams of their own. See `numpy.random.Generator.spawn`."""
        self._stream.synchronize()
        children: list[Any] = super().spawn(n_children)
        for child in children:
            child._stream.shared = False
        return children


add_host_methods(Generator, numpy.random.Generator)

_numpys_default_rng = of_seeds(numpy.random.default_rng)


def seeded(seed: Any) -> Generator:
    """Return the generator that `default_rng` returns."""
    if isinstance(seed, Generator):
        return seed
    made = Generator(_numpys_default_rng(seed).bit_generator)
    made._stream.shared = isinstance(
        seed, (numpy.random.BitGenerator, numpy.random.Generator, numpy.random.RandomState)
    )
    return made
