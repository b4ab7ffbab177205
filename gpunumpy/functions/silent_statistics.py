"""NumPy's functions that warn of slices without elements and of nothing but NaN: here if the shape says it.

Of slices that only the data leaves empty, NaN or a mask, a program hears if it asks, and then from the functions of
this package. Warnings are ignored for all threads at once: so these functions are not called while they are, but copies
of NumPy's own functions that see other names, among them a module `warnings` that issues no RuntimeWarning.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy
from numpy._core import _methods, fromnumeric
from numpy.lib import _nanfunctions_impl


def _warn(message: str, category: type[Warning], stacklevel: int = 1) -> None:
    """Issue a warning, unless it is one of numbers."""
    if category is not RuntimeWarning:
        warnings.warn(message, category, stacklevel + 1)


def _silent(module: ModuleType, **others: Any) -> dict[str, Any]:
    """Return a module's names, with `others` in it, and functions that are copies which see these names alone."""
    names: dict[str, Any] = vars(module) | {"warnings": SimpleNamespace(warn=_warn)} | others
    for name in vars(module).keys() - others.keys():
        function = inspect.unwrap(names[name]) if callable(names[name]) else None
        if type(function) is FunctionType and function.__globals__ is vars(module):
            copy = FunctionType(function.__code__, names, name, function.__defaults__, function.__closure__)
            copy.__kwdefaults__ = function.__kwdefaults__
            names[name] = copy
    return names


_METHODS = _silent(_methods)
_FUNCTIONS = _silent(fromnumeric, _methods=SimpleNamespace(**_METHODS))
_NUMPY = ModuleType("numpy")
vars(_NUMPY).update(vars(numpy) | {name: _FUNCTIONS[name] for name in ("mean", "std", "var")})
_NAN_FUNCTIONS = _silent(_nanfunctions_impl, np=_NUMPY)


def _of_mask(name: str, silent: dict[str, Any], warning: ModuleType) -> Callable[..., Any]:
    """Return a function that does not warn of slices that a mask leaves empty."""
    with_mask, function = silent[name], getattr(warning, name)

    @wraps(function)
    def run(a: Any, *args: Any, where: Any = True, **options: Any) -> Any:
        if where is True:
            return function(a, *args, **options)
        return with_mask(numpy.asanyarray(a), *args, where=where, **options)

    return run


def _of_numbers(name: str) -> Callable[..., Any]:
    """Return a function that does not warn of slices without numbers, unless there are no elements."""
    silent, function = _NAN_FUNCTIONS[name], getattr(_nanfunctions_impl, name)

    @wraps(function)
    def run(a: Any, *args: Any, **options: Any) -> Any:
        size = a.size if isinstance(a, _ARRAYS) else numpy.size(a)
        return (silent if size or "where" in options else function)(a, *args, **options)

    return run


def _of_freedom(name: str) -> Callable[..., Any]:
    """Return the same of a function that may warn of slices with elements, if they are few."""
    silent, function = _NAN_FUNCTIONS[name], getattr(_nanfunctions_impl, name)

    @wraps(function)
    def run(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, *args: Any, **options: Any
    ) -> Any:
        count = _METHODS["_count_reduce_items"](numpy.asanyarray(a), axis)
        is_silent = count > options.get("correction", ddof) or "where" in options
        return (silent if is_silent else function)(a, axis, dtype, out, ddof, *args, **options)

    return run


_ARRAYS = numpy.ndarray, numpy.generic
OF_MASKS = {name: _of_mask(name, _FUNCTIONS, fromnumeric) for name in ("mean", "std", "var")}
METHODS_OF_MASKS = {name: _of_mask(f"_{name}", _METHODS, _methods) for name in OF_MASKS}
OF_NUMBERS = {
    **{
        name: _of_numbers(name) for name in ("nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanquantile")
    },
    **{name: _of_freedom(name) for name in ("nanstd", "nanvar")},
}
