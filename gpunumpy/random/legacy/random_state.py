"""`RandomState` and the functions of the module: NumPy's, whose commonest draws are made on the device.

The functions draw from the state of NumPy's own, so that ``numpy.random`` and ``gpunumpy.random`` have one stream.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy

from ...core.recording.array import ndarray, to_host
from ...functions.fallback import lookup
from ..mt19937 import BITS, Twister
from ..on_host import PLAIN, drawn, methods
from .method import NUMPYS, Legacy
from .sampled import Sampled
from .simple import Simple


class Draws(Simple, Sampled):
    """All methods that draw, those too that do on the host."""


class RandomState(Draws, NUMPYS):
    __doc__ = NUMPYS.__doc__
    __module__ = "gpunumpy.random"

    def __init__(self, seed: Any = None) -> None:
        super().__init__(to_host(seed) if isinstance(seed, ndarray) else seed)
        self._stream = Twister(self, shared=hasattr(seed, "capsule"))

    def __reduce__(self) -> tuple[Any, ...]:
        self._stream.settle()
        return _again, *NUMPYS.__reduce__(self._stream.numpys)[1:]

    def __copy__(self) -> RandomState:
        made = RandomState(self._bit_generator)  # which both draw from, from now on
        made.set_state(self.get_state(legacy=False))
        return made

    @property
    def _bit_generator(self) -> Any:  # type: ignore[override]
        """The bit generator, whose state is from now on always NumPy's."""
        self._stream.settle()
        self._stream.shared = True
        return BITS.__get__(self._stream.numpys)


def _again(bits: Any) -> RandomState:
    """What a pickle or a copy is of, whose bit generator is nobody else's."""
    made = RandomState(bits)
    made._stream.shared = False
    return made


def _settled(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of NumPy's, which goes on from where the draws of the device have come."""

    @wraps(method, updated=())
    def run(self: Legacy, *args: Any, **options: Any) -> Any:
        with self._stream.lock:
            self._stream.settle()
            return method(self._stream.numpys, *args, **options)

    return run


for _name, _method in methods(NUMPYS).items():
    if not hasattr(Draws, _name):
        setattr(Draws, _name, _settled(_method))
for _name in PLAIN & set(dir(NUMPYS)):
    setattr(Draws, _name, _settled(getattr(NUMPYS, _name)))


class _Module(RandomState):
    """The state of the module's functions, which is that of NumPy's module."""

    def __init__(self) -> None:
        theirs = numpy.random.mtrand._rand
        super().__init__(BITS.__get__(theirs))
        self._stream = Twister(theirs, shared=True)


_module = _Module()


def taken(name: str, found: Any) -> Any:
    """What `gpunumpy.random` has under a name of NumPy's."""
    if name == "RandomState":
        return RandomState
    if name == "mtrand":
        found.__dict__["_rand"] = _module
        found.__getattr__ = lambda inner: taken(inner, lookup("numpy.random.mtrand", inner))
        return found
    if isinstance(found, type) or not callable(found):
        return found
    theirs = getattr(numpy.random, name, found)
    if name in PLAIN:
        return theirs
    drawing = getattr(_module, {"ranf": "random_sample", "sample": "random_sample"}.get(name, name), None)
    return drawn(theirs, name) if drawing is None else drawing
