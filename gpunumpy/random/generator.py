"""`Generator`: NumPy's generator, drawing on the device where it can."""

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
from .seeding import with_array_seeds
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
    """Generator that draws on the device where it can, and through NumPy on the host elsewhere.

    Users see the docstring of NumPy's class, which replaces this one.
    """

    __doc__ = numpy.random.Generator.__doc__
    __module__ = "gpunumpy.random"

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(bit_generator)
        is_twister = type(bit_generator) is numpy.random.MT19937
        self._stream = TwisterStream(bit_generator) if is_twister else Stream(bit_generator)
        if isinstance(bit_generator, PhiloxGPU):
            self._standard_draws, self._matches_numpy = PHILOX_GPU_DRAWS, False

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the generator with its state after all draws so far."""
        self._stream.synchronize()
        return Generator, *super().__reduce__()[1:]

    def __copy__(self) -> Generator:
        """Return another generator over the same bit generator."""
        return Generator(self.bit_generator)

    @property
    def bit_generator(self) -> Any:
        """NumPy's bit generator. Since the caller may read its state at any time, every later draw updates it."""
        self._stream.synchronize()
        self._stream.shared = True
        return super().bit_generator

    def spawn(self, n_children: int) -> list[Any]:
        """Create generators with independent streams. See `numpy.random.Generator.spawn`.

        Parameters
        ----------
        n_children : int
            The count of generators.

        Returns
        -------
        list of Generator
            The generators.
        """
        self._stream.synchronize()
        children: list[Any] = super().spawn(n_children)
        for child in children:
            child._stream.shared = False
        return children


add_host_methods(Generator, numpy.random.Generator)

_numpy_default_rng = with_array_seeds(numpy.random.default_rng)


def seeded(seed: Any) -> Generator:
    """Return the generator that `default_rng` returns for a seed."""
    if isinstance(seed, Generator):
        return seed
    generator = Generator(_numpy_default_rng(seed).bit_generator)
    generator._stream.shared = isinstance(
        seed, (numpy.random.BitGenerator, numpy.random.Generator, numpy.random.RandomState)
    )
    return generator
