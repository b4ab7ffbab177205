"""NumPy's functions for masked arrays that NumPy writes in Python: its code, with this package's functions below it.

A copy of such a function has the same code. Its global names stand for functions, classes and modules of this package
where they stand for NumPy's of the same name.
"""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

import numpy

# The functions, which NumPy has in modules of `numpy.ma`.
NAMES = (
    *("clump_masked", "clump_unmasked", "common_fill_value", "compress_cols", "compress_nd", "compress_rowcols"),
    *("apply_over_axes", "compress_rows", "corrcoef", "cov", "ediff1d", "flatnotmasked_contiguous"),
    *("flatnotmasked_edges", "in1d", "intersect1d", "isin", "notmasked_contiguous", "notmasked_edges", "polyfit"),
    *("round_", "set_fill_value", "setdiff1d", "setxor1d", "union1d", "vander"),
)


class _Module:
    """One of NumPy's inner modules, whose attributes are this package's where it has them."""

    def __init__(self, module: types.ModuleType, own: Callable[[str, Any], Any]) -> None:
        self._module, self._own = module, own

    def __getattr__(self, name: str) -> Any:
        """Return an attribute, or what it stands for here."""
        return self._own(name, getattr(self._module, name))


class Copies:
    """Copies of NumPy's functions, made when they are first called.

    Parameters
    ----------
    names
        The functions and classes of `gpunumpy.ma`.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self._copies: dict[types.FunctionType, types.FunctionType] = {}

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return the functions by name, of those that the installed NumPy has."""
        return {name: self.function(getattr(numpy.ma, name)) for name in NAMES if hasattr(numpy.ma, name)}

    def function(self, by_numpy: Any) -> Callable[..., Any]:
        """Return a function that runs a copy of the code of one of NumPy's."""
        plain: Any = getattr(by_numpy, "__wrapped__", by_numpy)

        @wraps(by_numpy)
        def run(*args: Any, **options: Any) -> Any:
            return self._copied(plain)(*args, **options)

        return run

    def _copied(self, function: types.FunctionType) -> types.FunctionType:
        copied = self._copies.get(function)
        if copied is None:
            known = function.__globals__
            # Without builtins code in C that it calls cannot import. By the name its lines are not the user's.
            names: dict[str, Any] = {"__builtins__": builtins, "__name__": __name__}
            copied = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__)
            copied.__kwdefaults__ = function.__kwdefaults__
            self._copies[function] = copied  # which may be one of the names
            names |= {name: self._own(name, known[name]) for name in _global_names(function.__code__) if name in known}
        return copied

    def _own(self, name: str, x: Any) -> Any:
        """Return what a global name of NumPy's code stands for here."""
        package = sys.modules[__name__.partition(".")[0]]
        if x is numpy:
            return package
        if x is numpy.ma.core:
            return self
        if name in self._names and getattr(numpy.ma, name, None) is x:
            return self._names[name]
        if isinstance(x, types.ModuleType) and x.__name__.startswith("numpy._core."):
            return _Module(x, self._own)
        public_name = getattr(x, "__name__", "")
        if public_name and getattr(numpy, public_name, None) is x:
            return getattr(package, public_name)
        inner = getattr(x, "__wrapped__", x)  # without the dispatch to classes
        is_numpys = isinstance(inner, types.FunctionType) and inner.__module__.startswith("numpy.")
        return self._copied(inner) if is_numpys else x

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the module `numpy.ma.core`, of which this object takes the place."""
        return self._own(name, getattr(numpy.ma.core, name))


def _global_names(code: types.CodeType) -> Iterator[str]:
    """Yield the names that code, with that of functions in it, may look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)
