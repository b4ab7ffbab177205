"""NumPy's bit generators and `SeedSequence`, made to take gpunumpy arrays as seeds.

NumPy accepts only its own and Python's integers as seeds, also inside nested sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Signature
from typing import Any

import numpy

from ..core.nesting import holds_itself
from ..core.numpy_release import signature
from ..functions.fallback import on_host


def with_array_seeds(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a NumPy function that takes a seed as one whose seed may be or contain gpunumpy arrays.

    NumPy before 2.5 ends the process for a list that contains itself: such a seed raises TypeError.
    """
    with_host_arrays = on_host(function, "")

    @wraps(function, updated=())
    def run(*args: Any, **options: Any) -> Any:
        if holds_itself((args, options)):
            raise TypeError("SeedSequence does not accept nested sequences.")
        return with_host_arrays(*args, **options)

    return run


class NumpyInstances(type):
    """Metaclass of stand-ins for NumPy's classes, and of what a program derives from them.

    A call of a stand-in returns an instance of NumPy's class; type checks against a stand-in ask NumPy's class.
    """

    def __call__(cls, *args: Any, **options: Any) -> Any:
        """Make an instance: of NumPy's class if `cls` is a stand-in, else of the derived class."""
        return with_array_seeds(_NUMPY_CLASSES.get(cls, super().__call__))(*args, **options)

    @property
    def __signature__(cls) -> Signature | None:
        """The signature of NumPy's class. It is read from a text, which takes long, and few programs ask for it."""
        return signature(next(base for base in cls.__mro__ if base.__module__.startswith("numpy.")))

    def __instancecheck__(cls, x: Any) -> bool:
        """Return whether `x` is an instance of NumPy's class if `cls` is a stand-in, else of `cls`."""
        return isinstance(x, _NUMPY_CLASSES[cls]) if cls in _NUMPY_CLASSES else super().__instancecheck__(x)

    def __subclasscheck__(cls, x: type) -> bool:
        """Return whether `x` derives from NumPy's class if `cls` is a stand-in, else from `cls`."""
        return issubclass(x, _NUMPY_CLASSES[cls]) if cls in _NUMPY_CLASSES else super().__subclasscheck__(x)


# NumPy's class of each stand-in.
_NUMPY_CLASSES: dict[type, type] = {}
# The stand-ins by name.
SEEDED: dict[str, type] = {}
for _name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence"):
    _numpy_class = getattr(numpy.random, _name)
    _attributes = {"__module__": "gpunumpy.random", "__doc__": _numpy_class.__doc__}
    SEEDED[_name] = NumpyInstances(_name, (_numpy_class,), _attributes)
    _NUMPY_CLASSES[SEEDED[_name]] = _numpy_class
