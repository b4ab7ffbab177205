"""SciPy's special functions on the CPU: SciPy's ufuncs if it is installed; else NumPy's, or loops of their C++."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy

from ...core.dtypes import DType
from ...core.late_imports import import_late
from ...core.ops.special import SCIPY_NAMES
from ..custom import host_loops


@cache
def scipy_function(name: str) -> Any:
    """Return SciPy's ufunc of a name, or its function; None without SciPy, or if its release has neither.

    For arrays of other libraries SciPy may have functions around its ufuncs.
    """
    try:
        functions = import_late("scipy.special")
    except ImportError:
        return None
    name = SCIPY_NAMES.get(name, name)
    return getattr(functions._ufuncs, name, None) or getattr(functions, name, None)


# Those that NumPy has too.
_OF_NUMPY = {"i0": numpy.i0}


def function(op: str, loop: tuple[DType, ...]) -> Callable[..., Any]:
    """Return ``f(*args, out=None)`` over NumPy arrays and scalars."""
    ufunc, result = scipy_function(op), loop[-1]
    if ufunc is None and op in _OF_NUMPY:
        return partial(_into, _OF_NUMPY[op])
    if ufunc is None:
        return host_loops.function(op, loop)

    def call(*args: Any, out: Any = None) -> Any:
        return ufunc(*args, out=out, dtype=result)

    return call


def _into(function: Callable[..., Any], *args: Any, out: Any = None) -> Any:
    """Return what a function returns that has no `out`, or write it there."""
    if out is None:
        return function(*args)
    out[...] = function(*args)
    return out
