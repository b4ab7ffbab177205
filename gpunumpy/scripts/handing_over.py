"""Functions of libraries that are given NumPy's arrays and numbers for this package's, and so are those they call."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial, wraps
from types import FunctionType, GeneratorType, MethodType
from typing import Any

import numpy

from ..core._native import PublicFunction
from ..core.recording.array import is_scalar, ndarray, to_host
from . import selection

_PACKAGE = sys.modules[__name__.partition(".")[0]]
# Of the elements of lists, tuples and dicts that are handed over as they are.
_PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None), type(...)))
_ITERATORS = frozenset((GeneratorType, map, zip))
_FUNCTIONS = (FunctionType, MethodType, PublicFunction)
_LOOKED_INTO = frozenset((list, tuple, dict, slice, partial, *_ITERATORS, *_FUNCTIONS))


class _MayHoldArrays(dict[Any, bool]):
    """Whether what is of a class may be an array, hold one or return one. It is found once for a class."""

    def __missing__(self, kind: type) -> bool:
        is_ours = str(kind.__module__).partition(".")[0] == _PACKAGE.__name__
        self[kind] = kind in _LOOKED_INTO or is_ours or issubclass(kind, ndarray)
        return self[kind]


_may_hold_arrays = _MayHoldArrays().__getitem__


def handed_over(x: Any) -> Any:
    """Return NumPy's arrays and numbers for this package's, also of those in lists, tuples, dicts and slices."""
    return _looked_through(x, handed_over)


def handed_over_or_called(x: Any) -> Any:
    """Return what `handed_over` does, and for a function one whose results are handed over.

    A function of this package is NumPy's then: libraries know some of those, and treat ufuncs by their class.
    """
    if callable(x) and _is_function(x):
        name = getattr(x, "__name__", "")
        is_numpys = vars(_PACKAGE).get(name) is x and hasattr(numpy, name)
        return getattr(numpy, name) if is_numpys else _handing_over_results(x)
    if type(x) is partial:
        return partial(handed_over_or_called(x.func), *x.args, **x.keywords)
    return _looked_through(x, handed_over_or_called)


def taking_numpys_arrays(
    function: Callable[..., Any], hand_over: Callable[[Any], Any] = handed_over
) -> Callable[..., Any]:
    """Return a function that is given NumPy's arrays in place of this package's."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        is_plain = not any(map(_may_hold_arrays, map(type, (*args, *options.values()))))
        if is_plain or selection.in_force is None:
            return function(*args, **options)
        args, options = tuple(map(hand_over, args)), {name: hand_over(x) for name, x in options.items()}
        return function(*args, **options)

    return call


def _is_function(x: Any) -> bool:
    """Return whether a callable is a function of the script or of this package, which has classes of them."""
    return isinstance(x, _FUNCTIONS) or str(type(x).__module__).partition(".")[0] == _PACKAGE.__name__


def _handing_over_results(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        return handed_over(function(*args, **options))

    return call


def _looked_through(x: Any, hand_over: Callable[[Any], Any]) -> Any:
    kind = type(x)
    if kind in _PLAIN:
        return x
    if kind is list or kind is tuple:
        return x if _PLAIN.issuperset(map(type, x)) else kind(map(hand_over, x))
    if kind is dict:
        if _PLAIN.issuperset(map(type, x.values())) and _PLAIN.issuperset(map(type, x)):
            return x
        return {handed_over(key): hand_over(value) for key, value in x.items()}
    if kind is slice:
        return slice(hand_over(x.start), hand_over(x.stop), hand_over(x.step))
    if kind in _ITERATORS:
        return map(hand_over, x)
    if isinstance(x, ndarray):
        return to_host(x)[()] if is_scalar(x) else to_host(x)
    return x
