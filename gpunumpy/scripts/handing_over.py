"""Functions of libraries that are given NumPy's arrays and numbers for this package's, and so are those they call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from types import FunctionType, GeneratorType, MethodType
from typing import Any

from ..core._native import PublicFunction
from ..core.ops import table
from ..core.recording.array import is_scalar, ndarray, to_host
from ..functions.ufuncs.python_ufunc import PythonUfunc
from ..functions.ufuncs.ufunc import ufunc
from . import selection

# Of the elements of lists, tuples and dicts that are handed over as they are.
_PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None), type(...)))
_ITERATORS = frozenset((GeneratorType, map, zip))
_FUNCTIONS = frozenset((FunctionType, MethodType, PublicFunction, PythonUfunc))
_LOOKED_INTO = frozenset((list, tuple, dict, slice, partial, ufunc, *_ITERATORS, *_FUNCTIONS))


class _MayHoldArrays(dict[type, bool]):
    """Whether what is of a class may be an array, hold one or return one. It is found once for a class."""

    def __missing__(self, kind: type) -> bool:
        self[kind] = kind in _LOOKED_INTO or issubclass(kind, ndarray)
        return self[kind]


_may_hold_arrays = _MayHoldArrays().__getitem__


def handed_over(x: Any) -> Any:
    """Return NumPy's arrays and numbers for this package's, also of those in lists, tuples, dicts and slices."""
    return _looked_through(x, handed_over)


def handed_over_or_called(x: Any) -> Any:
    """Return what `handed_over` does, and for a function one whose results are handed over.

    A ufunc is NumPy's then: libraries treat its class in another way than functions.
    """
    if type(x) in _FUNCTIONS:
        return _handing_over_results(x)
    if type(x) is partial:
        return partial(_handing_over_results(x.func), *x.args, **x.keywords)
    if type(x) is ufunc:
        return table.ufunc_of(x.__name__)
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
