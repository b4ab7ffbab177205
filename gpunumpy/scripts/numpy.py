"""What scripts import as `numpy`: this package under NumPy's names and version, with an `ndarray` that is both classes.

A name is looked up in this package at its first use, and then is a global of this module. What this package lacks, such
as NumPy's private names, is NumPy's own.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as _numpy

from ..core._native import instance_test
from ..core.class_stand_ins import StandInMeta
from ..core.recording.array import ndarray as _ndarray

__all__ = _numpy.__all__
__version__ = _numpy.__version__
__path__: list[str] = []  # a package: its submodules are attributes
_PACKAGE = sys.modules[__name__.partition(".")[0]]
# NumPy's old module, which would be the folder of that name here.
_NUMPYS = ("core",)
_EITHER = (_ndarray, _numpy.ndarray)


class _Both(StandInMeta):
    """Metaclass of `ndarray`: the attributes, subclasses and calls are those of this package's class."""

    ORIGINAL = "stands_for"
    stands_for: type
    _OWN_NAMES = frozenset(
        (
            *("__bases__", "__class__", "__dict__", "__module__", "__mro__", "__name__", "__qualname__"),
            *("__subclasses__", "mro", "stands_for"),
        )
    )

    # Whether something is an array of this package or of NumPy: scripts ask that again and again.
    __instancecheck__ = staticmethod(instance_test(_EITHER))

    def __subclasscheck__(cls, subclass: type) -> bool:
        """Return whether a class is one of arrays of this package or of NumPy."""
        return subclass is cls or issubclass(subclass, _EITHER)

    def __call__(cls, *args: Any, **options: Any) -> Any:
        """Return an array of this package."""
        return cls.stands_for(*args, **options)

    def __getattribute__(cls, name: str) -> Any:
        """Return an attribute of this package's class."""
        if name in _Both._OWN_NAMES:
            return super().__getattribute__(name)
        return getattr(_ndarray, name)

    def __eq__(cls, other: object) -> bool:
        """Return whether a class is this one or this package's, as in ``type(x) == numpy.ndarray``."""
        return other is cls or other is _ndarray

    def __hash__(cls) -> int:
        """Return the hash of this package's class."""
        return hash(_ndarray)

    def __repr__(cls) -> str:
        """Return the text of this package's class."""
        return repr(_ndarray)


class ndarray(metaclass=_Both):
    """The class of arrays: arrays of this package and NumPy's arrays are instances."""

    stands_for = _ndarray


def __getattr__(name: str) -> Any:
    """Return what this package has under a name of NumPy's; what it lacks is NumPy's own."""
    try:
        value = getattr(_numpy, name)
    except AttributeError as error:
        if name not in _PACKAGE.__all__:
            raise
        error.args = (f"{error}; gpunumpy.{name} is this package's own: import gpunumpy",)
        raise
    if name not in _NUMPYS:
        value = getattr(_PACKAGE, name, value)
        if name in vars(_PACKAGE):
            globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return NumPy's public names."""
    return list(__all__)
