"""`RandomState` and the functions of the module: NumPy's, whose commonest draws are made on the device.

The functions draw from the state of NumPy's own, so that ``numpy.random`` and ``gpunumpy.random`` have one stream.
"""

from __future__ import annotations

from typing import Any

import numpy

from ...core.recording.array import ndarray, to_host
from ...functions.fallback import lookup
from ..host_draws import STATE_NAMES, add_host_methods, with_device_arrays
from ..mt19937 import BIT_GENERATOR, Twister
from .continuous_distributions import ContinuousDistributions
from .discrete_distributions import DiscreteDistributions
from .integers_and_permutations import IntegersAndPermutations
from .transformed_distributions import TransformedDistributions

_NumpyRandomState = numpy.random.RandomState


class Draws(TransformedDistributions, IntegersAndPermutations, ContinuousDistributions, DiscreteDistributions):
    """All methods that draw, those too that do on the host."""


add_host_methods(Draws, _NumpyRandomState)


class RandomState(Draws, _NumpyRandomState):
    __doc__ = _NumpyRandomState.__doc__
    __module__ = "gpunumpy.random"

    def __init__(self, seed: Any = None) -> None:
        super().__init__(to_host(seed) if isinstance(seed, ndarray) else seed)
        self._stream = Twister(self, shared=hasattr(seed, "capsule"))

    def __reduce__(self) -> tuple[Any, ...]:
        self._stream.synchronize()
        return _unpickled, *_NumpyRandomState.__reduce__(self._stream.numpys)[1:]

    def __copy__(self) -> RandomState:
        made = RandomState(self._bit_generator)  # which both draw from, from now on
        made.set_state(self.get_state(legacy=False))
        return made

    @property
    def _bit_generator(self) -> Any:  # type: ignore[override]
        """The bit generator, whose state is from now on always NumPy's."""
        self._stream.synchronize()
        self._stream.shared = True
        return BIT_GENERATOR.__get__(self._stream.numpys)


def _unpickled(bits: Any) -> RandomState:
    """Return what a pickle or a copy is of, whose bit generator is nobody else's."""
    made = RandomState(bits)
    made._stream.shared = False
    return made


class _Module(RandomState):
    """The state of the module's functions, which is that of NumPy's module."""

    def __init__(self) -> None:
        theirs = numpy.random.mtrand._rand
        super().__init__(BIT_GENERATOR.__get__(theirs))
        self._stream = Twister(theirs, shared=True)


_module = _Module()


def attribute(name: str, found: Any) -> Any:
    """Return what `gpunumpy.random` has under a name of `numpy.random`; `found` is what NumPy has."""
    if name == "RandomState":
        return RandomState
    if name == "mtrand":
        found.__dict__["_rand"] = _module
        found.__getattr__ = lambda inner: attribute(inner, lookup("numpy.random.mtrand", inner))
        return found
    if isinstance(found, type) or not callable(found):
        return found
    theirs = getattr(numpy.random, name, found)
    if name in STATE_NAMES:
        return theirs
    drawing = getattr(_module, {"ranf": "random_sample", "sample": "random_sample"}.get(name, name), None)
    return with_device_arrays(theirs, name) if drawing is None else drawing
