"""`RandomState`, and the module's functions over a global one: those of NumPy, which draw on the device where they can.

The functions draw from the global state of ``numpy.random``, so that both modules share one stream.
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


class RandomStateMethods(
    TransformedDistributions, IntegersAndPermutations, ContinuousDistributions, DiscreteDistributions
):
    """All methods of `RandomState` that draw, also those that draw on the host alone."""


add_host_methods(RandomStateMethods, _NumpyRandomState)


class RandomState(RandomStateMethods, _NumpyRandomState):
    """Legacy generator that draws on the device where it can, and through NumPy on the host elsewhere.

    Users see the docstring of NumPy's class, which replaces this one.
    """

    __doc__ = _NumpyRandomState.__doc__
    __module__ = "gpunumpy.random"

    def __init__(self, seed: Any = None) -> None:
        super().__init__(to_host(seed) if isinstance(seed, ndarray) else seed)
        self._stream = Twister(self, shared=hasattr(seed, "capsule"))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the generator with its state after all draws so far."""
        self._stream.synchronize()
        return _unpickled, *_NumpyRandomState.__reduce__(self._stream.random_state)[1:]

    def __copy__(self) -> RandomState:
        """Return another `RandomState` over the same bit generator, as NumPy does."""
        copied = RandomState(self._bit_generator)
        copied.set_state(self.get_state(legacy=False))
        return copied

    @property
    def _bit_generator(self) -> Any:  # type: ignore[override]
        """NumPy's bit generator. Since the caller may read its state at any time, every later draw updates it."""
        self._stream.synchronize()
        self._stream.shared = True
        return BIT_GENERATOR.__get__(self._stream.random_state)


def _unpickled(bits: Any) -> RandomState:
    """Return the `RandomState` of a pickle or a deep copy: no other code has its bit generator."""
    unpickled = RandomState(bits)
    unpickled._stream.shared = False
    return unpickled


class _Module(RandomState):
    """The global `RandomState` of the module's functions, over that of NumPy's module."""

    def __init__(self) -> None:
        numpy_global = numpy.random.mtrand._rand
        super().__init__(BIT_GENERATOR.__get__(numpy_global))
        self._stream = Twister(numpy_global, shared=True)


_module = _Module()


def attribute(name: str, found: Any) -> Any:
    """Return the attribute of `gpunumpy.random` for a name of `numpy.random`, where NumPy has `found`."""
    if name == "RandomState":
        return RandomState
    if name == "mtrand":
        found.__dict__["_rand"] = _module
        found.__getattr__ = lambda inner: attribute(inner, lookup("numpy.random.mtrand", inner))
        return found
    if isinstance(found, type) or not callable(found):
        return found
    numpy_function = getattr(numpy.random, name, found)
    if name in STATE_NAMES:
        return numpy_function
    method = getattr(_module, {"ranf": "random_sample", "sample": "random_sample"}.get(name, name), None)
    return with_device_arrays(numpy_function, name) if method is None else method
