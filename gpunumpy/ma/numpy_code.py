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

from ..core.recording.array import is_scalar, ndarray
from ..functions.creation.arrays import asarray
from ..functions.functional import loop_and_sizes
from .masks import taken
from .state import is_ours

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


class _Package:
    """The package, or its `lib`, for NumPy's code, which looks up private names too."""

    def __init__(self, package: Any, by_numpy: types.ModuleType, own: Callable[[str, Any], Any]) -> None:
        self._package, self._by_numpy, self._own = package, by_numpy, own

    def __getattr__(self, name: str) -> Any:
        """Return an attribute; a private one, `lib` and the class of arrays are what they stand for in copies."""
        if name.startswith("_") or name in ("lib", "ndarray") or name in _STAND_INS:
            return self._own(name, getattr(self._by_numpy, name))
        return getattr(self._package, name)


class _ArrayMeta(type):
    def __instancecheck__(cls, x: Any) -> bool:
        """Return whether an object is an instance of `numpy.ndarray` in NumPy: no result that acts as a scalar is."""
        return is_ours(x) or isinstance(x, numpy.ndarray) or (isinstance(x, ndarray) and not is_scalar(x))


class _Array(metaclass=_ArrayMeta):
    """The class of arrays, masked ones too, that NumPy's code asks for."""


class _ArrayConverter:
    """Arrays of arguments, and the class of theirs that results get. See `numpy._core.multiarray._array_converter`."""

    def __init__(self, *given: Any) -> None:
        self._given = [taken(x) for x in given]
        self._arrays: list[Any] = [x if is_ours(x) else asarray(x) for x in self._given]

    def __getitem__(self, k: int) -> Any:
        """Return an argument as an array, masked if it was."""
        return self._arrays[k]

    def as_arrays(self, /, subok: bool = True, pyscalars: str = "") -> tuple[Any, ...]:
        """Return the arguments as arrays, without masks unless `subok`."""
        return tuple(x if subok or not is_ours(x) else x._data for x in self._arrays)

    def result_type(self, /, extra_dtype: Any = None, ensure_inexact: bool = False) -> numpy.dtype[Any]:
        """Return the dtype that the arguments have together."""
        given = [
            x if isinstance(x, (bool, int, float, complex)) else a.dtype for x, a in zip(self._given, self._arrays)
        ]
        given += [] if extra_dtype is None else [extra_dtype]
        return numpy.result_type(*given, *([1.0] if ensure_inexact else ()))

    def wrap(self, arr: Any, /, to_scalar: bool | None = None) -> Any:
        """Return a result as an array of the class of the masked argument of the highest priority, if it is not yet."""
        maker: Any = max(filter(is_ours, self._given), key=lambda x: x.__array_priority__, default=None)
        return arr if maker is None or type(arr) is type(maker) else maker.__array_wrap__(arr, None, bool(to_scalar))


def _any(a: Any, *args: Any, **options: Any) -> Any:
    """Return whether an element is true: none is of None, by which quantiles say that nothing can be a NaN."""
    return False if a is None else taken(a).any(*args, **options)


# Modules of NumPy whose code calls each other's functions.
_MODULES = ("numpy._core.", "numpy.lib._", "numpy.polynomial.")
# What stands for NumPy's functions in C, and for one that makes arrays outside memory; without a hash table `unique`
# sorts.
_STAND_INS = {
    "any": _any,
    "_array_converter": _ArrayConverter,
    "_parse_input_dimensions": loop_and_sizes,
    "_unique_hash": lambda *args, **options: NotImplemented,
}


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
        if x is numpy or x is numpy.lib:
            return _Package(package if x is numpy else package.lib, x, self._own)
        if x is numpy.ndarray:
            return _Array
        if name in _STAND_INS:
            return _STAND_INS[name]
        if x is numpy.ma.core:
            return self
        if name in self._names and getattr(numpy.ma, name, None) is x:
            return self._names[name]
        if isinstance(x, types.ModuleType) and x.__name__.startswith(_MODULES):
            return _Module(x, self._own)
        public_name = getattr(x, "__name__", "")
        for by_numpy, own in ((numpy, package), (numpy.linalg, package.linalg)):
            public = getattr(by_numpy, public_name, None) if public_name else None
            if public is not None and (public is x or getattr(public, "__wrapped__", None) is x):
                return getattr(own, public_name)
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
