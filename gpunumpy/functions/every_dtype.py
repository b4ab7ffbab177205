"""Arrays of every dtype: where a function meets data on the host, NumPy does the function's work.

Kernels compute the dtypes of `core.dtypes`. An array of any other dtype, and every view of its memory, is on the host
(`core.recording.host_memory`). A function of this package that needs the value or the layout of such an array, or makes
a value of such a dtype, raises `OnHostError` before it has changed anything. Then NumPy's function runs instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from types import FunctionType
from typing import Any

import numpy

from ..core.dtypes import KIND
from ..core.errors import MaskedOperandError, OnHostError, OverlapError
from ..core.graph import layout
from ..core.recording import residence
from ..core.recording.array import SUBCLASSES, as_class, memory_on_host, ndarray, to_host
from ..core.recording.record import array_of_protocol
from .fallback import WRITE_TO_OVERLAP, has_unasked_class, holds_host_data, host_fallback, late_on_host, on_host, report
from .placement import ELSEWHERE, MAKERS, Placement, placed
from .repeated_calls import repeated
from .subclasses import (
    ClassRule,
    by_subclass,
    call_for_subclass,
    deciding_subclasses,
    has_method_for_numpy,
    has_subclass,
    rule_of,
)


def takes_every_dtype(
    function: Callable[..., Any],
    by_numpy: Callable[..., Any],
    rule: ClassRule | None = None,
    place: Placement | None = None,
) -> Callable[..., Any]:
    """Return a function that calls `by_numpy`, with the same arguments, where `function` meets data on the host.

    Parameters
    ----------
    function
        The function of this package.
    by_numpy
        Does the same through NumPy.
    rule
        Of which class the results are if arguments are of a subclass: by default that of the function's name.
    place
        Does the same for small arrays on the host, or returns `ELSEWHERE`; None for functions that make no difference.
    """
    asks_class = hasattr(getattr(by_numpy, "__wrapped__", None), "_implementation")
    class_rule = rule_of(function.__name__)._replace(asks_class=asks_class) if rule is None else rule
    method = class_rule.method_of_others

    @wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        if SUBCLASSES and has_subclass((args, options)):
            if not class_rule.takes_array_itself:
                return call_for_subclass(public, class_rule, args, options)
            if class_rule.asks_class and (asked := deciding_subclasses((args, options))):
                return by_subclass(public, asked, args, options)
        if place is not None and place.is_asked(options) and residence.is_auto():
            result = place(args, options)
            if result is not ELSEWHERE:
                return result
        if method and args and type(args[0]) is not ndarray and has_method_for_numpy(args[0], method):
            return by_numpy(*args, **options)
        try:
            return function(*args, **options)
        except Exception as error:
            if not is_for_numpy(error, (args, options)):
                raise
        return by_numpy(*args, **options)

    public = run if place is None else place.in_front_of(run, getattr(function, "call_memo", None))
    if class_rule.asks_class:
        # What a class calls that leaves a function as it is: `ndarray.__array_function__` does.
        unasked = class_rule._replace(asks_class=False)
        as_asked = function if class_rule.takes_array_itself else partial(_run_unasked, public, unasked)
        run._implementation = as_asked  # type: ignore[attr-defined]
    return public


def _run_unasked(run: Callable[..., Any], rule: ClassRule, *args: Any, **options: Any) -> Any:
    return call_for_subclass(run, rule, args, options) if has_subclass((args, options)) else run(*args, **options)


def operator_of_every_dtype(
    function: Callable[..., Any], by_numpy: Callable[..., Any], rule: ClassRule, place: Placement
) -> Callable[..., Any]:
    """Return `takes_every_dtype` of a function of one or two arguments, in half the time of a call with any."""

    @wraps(function)
    def unary(x: Any) -> Any:
        if SUBCLASSES and has_subclass(x):
            return call_for_subclass(public, rule, (x,), {})
        if place.is_asked() and residence.is_auto():
            result = place((x,), {})
            if result is not ELSEWHERE:
                return result
        try:
            return function(x)
        except Exception as error:
            if not is_for_numpy(error, x):
                raise
        return by_numpy(x)

    @wraps(function)
    def binary(x: Any, y: Any) -> Any:
        if SUBCLASSES and has_subclass((x, y)):
            return call_for_subclass(public, rule, (x, y), {})
        if place.is_asked() and residence.is_auto():
            result = place((x, y), {})
            if result is not ELSEWHERE:
                return result
        try:
            return function(x, y)
        except Exception as error:
            if not is_for_numpy(error, (x, y)):
                raise
        return by_numpy(x, y)

    run = unary if function.__code__.co_argcount == 1 else binary
    public = place.in_front_of(run, getattr(function, "call_memo", None))
    return public


def is_for_numpy(error: Exception, arguments: Any) -> bool:
    """Return whether NumPy is to do the work of a function of this package that raised an error.

    So it is for arguments of which some are on the host, whatever the error: what a function checks is written for the
    dtypes that kernels compute. With ``host_fallback("error")`` it is never so, nor for an array that holds itself,
    whose every level would be tried twice.
    """
    if isinstance(error, RecursionError):
        return False
    if isinstance(error, MaskedOperandError) or has_unasked_class(error, arguments):
        return True
    if host_fallback() == "error":
        return False
    if isinstance(error, OverlapError):
        report(WRITE_TO_OVERLAP)
    return isinstance(error, OnHostError) or holds_host_data(arguments)


def take_every_dtype(names: dict[str, Any], numpy_module: Any) -> dict[str, Any]:
    """Return those of some names that are functions NumPy has too, made to take arrays of every dtype."""
    package = __name__.partition(".")[0]
    wrapped: dict[Any, Any] = {}  # by function: its aliases stay one object
    for name, x in names.items():
        is_public = not name.startswith("_") and type(x) is FunctionType and x.__module__.startswith(package)
        if is_public and hasattr(numpy_module, name) and x not in wrapped:
            by_numpy = late_on_host(getattr(numpy_module, name))
            by_numpy = _keeping_elements(by_numpy, MAKERS[name]) if name in MAKERS else by_numpy
            # So NumPy marks functions that ask classes for their results: all but those that make arrays.
            asks_class = hasattr(getattr(numpy_module, name), "_implementation")
            rule = rule_of(name, names)._replace(asks_class=asks_class)
            wrapped[x] = takes_every_dtype(repeated(x, name), by_numpy, rule, placed(getattr(numpy_module, name), name))
    return {name: wrapped[x] for name, x in names.items() if type(x) is FunctionType and x in wrapped}


def as_called(*functions: Any) -> list[Any]:
    """Return functions of this package as programs call them: for every dtype, and on the host where parts are small.

    A function made of such parts has its results where it would have them if the program wrote the parts itself.
    """
    public = take_every_dtype({function.__name__: function for function in functions}, numpy)
    return [public[function.__name__] for function in functions]


def _keeping_elements(by_numpy: Callable[..., Any], data: str) -> Callable[..., Any]:
    """Return NumPy's function that makes an array of `data`: one of objects has arrays of this package as elements."""

    def run(*args: Any, **options: Any) -> Any:
        return run_with(*args, **options) if args else run_with(options.pop(data), **options)

    def run_with(x: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
        if isinstance(x, (list, tuple)) and dtype is not None and numpy.dtype(dtype) == object:
            depth = {"ndmax": options["ndmax"]} if "ndmax" in options else {}
            x = _array_of_objects(x, dtype, options.get("ndmax") or layout.MAX_DIMENSIONS, depth)
        return by_numpy(x, dtype, *args, **options)

    return run


class _Holder:
    """Stands for an object whose ``__array__`` returns an array of this package, where NumPy would call that."""

    def __init__(self, held: Any) -> None:
        self.held = held


class _ArrayHolder(_Holder):
    """The same for one whose elements may become those of an array."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return to_host(array_of_protocol(self.held))


def _with_holders(x: Any, depth: int) -> Any:
    """Return nested sequences, `depth` of which are dimensions of an array, with such objects in their places."""
    if isinstance(x, (list, tuple)):
        return [_with_holders(part, depth - 1) for part in x] if depth else x
    is_held = not isinstance(x, (ndarray, numpy.ndarray)) and isinstance(array_of_protocol(x), ndarray)
    return (_ArrayHolder if depth else _Holder)(x) if is_held else x


def _array_of_objects(x: Any, dtype: Any, depth: int, options: dict[str, Any]) -> Any:
    """Return nested sequences as NumPy's array of a dtype of objects, of at most `depth` dimensions."""
    try:
        return numpy.array(x, dtype, **options)
    except ValueError:
        made: Any = numpy.array(_with_holders(x, depth), dtype, **options)
    for position in numpy.ndindex(made.shape):
        if isinstance(made[position], _Holder):
            made[position] = made[position].held
    return made


def construct_on_host(cls: type[ndarray], *args: Any, **options: Any) -> Any:
    """Return an array on the host, of an explicit memory layout. See `numpy.ndarray`."""
    array = _construct(*args, **options)
    return array if cls is ndarray else as_class(array, cls, None)


_construct = on_host(numpy.ndarray, "")


def get_item_on_host(a: ndarray, key: Any) -> Any:
    """Return ``a[key]``; an element of an array of objects is the object itself."""
    memory = memory_on_host(a)
    if memory is None or memory.dtype in KIND:
        return _get_item(a, key)
    position = key if type(key) is tuple else (key,)
    if len(position) == memory.ndim and all(type(k) is int for k in position):  # an element, as loops ask for it
        return memory[position]
    if not memory.dtype.hasobject:
        return _get_item(a, key)
    found = _get_object(a, key)
    return found() if type(found) is FunctionType else found


def _object_or_part(a: Any, key: Any) -> Any:
    """Return a part of an array, or a function that returns an element, which then reaches the caller as it is."""
    found = a[key]
    is_part = isinstance(found, (numpy.ndarray, numpy.void)) and found is not a[key]
    return found if is_part else lambda: found


_get_item = on_host(numpy.ndarray.__getitem__, "")
_get_object = on_host(_object_or_part, "")


def set_item_on_host(a: ndarray, key: Any, value: Any) -> None:
    """Write ``a[key] = value``; an array of objects keeps an array of this package that becomes its element."""
    memory = memory_on_host(a)
    if memory is None or not memory.dtype.hasobject:
        _set_item(a, key, value)
    else:
        try:
            _set_objects(a, key, lambda: value)  # an argument that is no array reaches NumPy as it is
        except ValueError:
            if not isinstance(value, (list, tuple)):
                raise
            objects = _array_of_objects(value, object, memory[key].ndim, {})
            _set_objects(a, key, lambda: objects)


def fill_on_host(a: ndarray, value: Any, /) -> None:
    """Write one value to all elements; those of an array of objects become the value itself."""
    memory = memory_on_host(a)
    if memory is None or memory.dtype != object:
        _fill(a, value)
    else:
        _fill_objects(a, lambda: value)


_fill = on_host(numpy.ndarray.fill, "")
_fill_objects = on_host(lambda a, value: numpy.ndarray.fill(a, value()), "")
cast_on_host = on_host(numpy.ndarray.astype, "")
_set_item = on_host(numpy.ndarray.__setitem__, "")
_set_objects = on_host(lambda a, key, value: numpy.ndarray.__setitem__(a, key, value()), "")
