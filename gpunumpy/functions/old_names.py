"""Functions under names that NumPy has deprecated, and newer releases of NumPy no longer have."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy

from ..core.source_location import warn
from . import calculus
from .every_dtype import as_called
from .fallback import OWN_FUNCTIONS
from .manipulation import joining, shape
from .sets import operations

isin, ravel, trapezoid, vstack = as_called(operations.isin, shape.ravel, calculus.trapezoid, joining.vstack)


def _in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None) -> Any:
    """Return for every element of the flattened array whether it is in the other array. See `numpy.isin`."""
    return isin(ravel(ar1), ar2, assume_unique, invert, kind=kind)


# The function that a name stands for, and what NumPy recommends instead.
OLD_NAMES: dict[str, tuple[Callable[..., Any], str]] = {
    "in1d": (_in1d, "isin"),
    "row_stack": (vstack, "vstack"),
    "trapz": (trapezoid, "trapezoid"),
}


def _deprecated(name: str, function: Callable[..., Any], successor: str) -> Callable[..., Any]:
    """Return a function that warns of its name."""

    @wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        warn(f"`{name}` is deprecated. Use `np.{successor}` instead.", DeprecationWarning)
        return function(*args, **options)

    return run


for _name, (_function, _successor) in OLD_NAMES.items():
    if hasattr(numpy, _name):
        OWN_FUNCTIONS[f"numpy.{_name}"] = _deprecated(_name, _function, _successor)
