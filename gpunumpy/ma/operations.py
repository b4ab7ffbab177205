"""Elementwise functions of masked arrays, made from the tables of `domains`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy

from ..core.recording.array import ndarray
from ..functions import fallback
from ..functions.every_dtype import is_for_numpy
from ..functions.manipulation.insert_delete import copyto
from ..functions.ufuncs import elementwise
from ..functions.ufuncs.errstate import ignoring
from ..functions.ufuncs.ufunc import UFUNCS
from . import domains
from .fill_values import checked_fill_value, maximum_fill_value, minimum_fill_value
from .masks import combined_masks, data_of, data_of_out, getmask, getmaskarray, operands, stored_mask, taken
from .selecting import filled, where, where_masked
from .state import MaskedArray, is_ours, masked, new, nomask, update_from

_or = UFUNCS["logical_or"]
# What these functions compute of masked elements, and outside of their domain, is no error of the program's.
outside_of_domain = ignoring(divide="ignore", invalid="ignore")


class MaskedFunction:
    """Function of masked arrays, computed by a function of arrays. See the function of `numpy.ma` of its name."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = (
            f"{(function.__doc__ or name).partition(chr(10))[0].partition(' See ')[0]} See `numpy.ma.{name}`."
        )
        self.f = function
        self._numpy: Any = getattr(numpy.ma, name)
        self.__signature__ = inspect.signature(self._numpy)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Compute the function; NumPy does so for dtypes that no kernel computes."""
        return self._run("__call__", self._call, args, options)

    def _call(self, *args: Any, **options: Any) -> Any:
        raise NotImplementedError

    def _run(self, name: str, method: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return a method's result, or that of NumPy's method for data that is on the host."""
        try:
            return method(*args, **options)
        except Exception as error:
            if not is_for_numpy(error, (args, options)):
                raise
        return fallback.on_host(getattr(self._numpy, name), "")(*args, **options)

    def __repr__(self) -> str:
        """Return the text that NumPy gives."""
        return f"Masked version of {self._numpy.f!r}"

    __str__ = __repr__

    def __reduce__(self) -> str:
        """Pickle the function by its name."""
        return self.__name__


class _Unary(MaskedFunction):
    """Function of one argument; elements outside of its domain are masked."""

    def __init__(self, name: str, function: Callable[..., Any], domain: domains.Domain | None = None) -> None:
        super().__init__(name, function)
        self.domain = domain

    @outside_of_domain
    def _call(self, a: Any, *args: Any, **options: Any) -> Any:
        (a,) = operands(a)
        data = data_of(a)
        computed = self.f(data, *args, **options)
        result, (mask, decider) = data_of(computed), stored_mask(a)
        if self.domain is not None:
            left = _or(UFUNCS["logical_not"](UFUNCS["isfinite"](result)), self.domain(data))
            mask, decider = left if mask is nomask else _or(left, mask), None
        if result.ndim and mask is not nomask and numpy.can_cast(data.dtype, result.dtype, "same_kind"):
            result = where_masked(mask, data, result)
        return finished(_written(result, computed, args, options), mask, decider, [a])


def _written(result: Any, computed: Any, args: Any, options: dict[str, Any]) -> Any:
    """Return a result; where what has been computed is an output that is given, its data with the result."""
    out = options.get("out")
    if all(x is not computed for x in (*args, *(out if isinstance(out, tuple) else (out,)))):
        return result
    target = data_of_out(computed)
    copyto(target, result, "unsafe")
    return target if isinstance(target, ndarray) else result


def _is_kept(decider: Any) -> bool:
    return decider is None or bool(decider)


def finished(result: Any, mask: Any, decider: Any, args: list[Any], keeps_fill_value: bool = True) -> Any:
    """Return a result with its mask: a scalar or `masked` if it has no dimension, else a masked array.

    Its class is the most special one of the masked arrays among `args`, and its fill value that of the first.
    """
    if not result.ndim:
        return masked if mask is not nomask and bool(mask) and _is_kept(decider) else result
    ours = [x for x in args if is_ours(x)]
    cls: type = MaskedArray
    for x in ours:
        cls = type(x) if issubclass(type(x), cls) else cls
    made = new(result, mask, None, decider, cls)
    return update_from(made, ours[0]) if ours and keeps_fill_value else made


class _Binary(MaskedFunction):
    """Function of two arguments: a result is masked where one of them is, and keeps the first one's element there."""

    def __init__(self, name: str, function: Callable[..., Any], fillx: float, filly: float) -> None:
        super().__init__(name, function)
        self.fillx, self.filly = fillx, filly
        if name in domains.WITHOUT_REDUCE:
            self.reduce = None  # type: ignore[method-assign, assignment]

    @outside_of_domain
    def _call(self, a: Any, b: Any, *args: Any, **options: Any) -> Any:
        a, b = operands(a, b)
        left, right = data_of(a), data_of(b)
        computed = self.f(left, right, *args, **options)
        result = data_of(computed)
        mask, decider = combined_masks(result.shape, a, b)
        if mask is not nomask and result.ndim:
            result = where_masked(mask, left, result)
        return finished(_written(result, computed, args, options), mask, decider, [a, b])

    def reduce(self, target: Any, axis: Any = 0, dtype: Any = None) -> Any:
        """Reduce over an axis, with masked elements left out. See `numpy.ufunc.reduce`."""
        return self._run("reduce", self._reduce, (target, axis), {"dtype": dtype})

    def _reduce(self, target: Any, axis: Any = 0, dtype: Any = None) -> Any:
        target = taken(target)
        mask, decider = stored_mask(target)
        elements = filled(target, self.filly)
        if not elements.ndim:
            elements, mask = elements.reshape(1), mask if mask is nomask else mask.reshape(1)
        function: Any = self.f
        if mask is nomask:
            return finished(function.reduce(elements, axis), nomask, None, [target], keeps_fill_value=False)
        result = function.reduce(elements, axis, dtype)
        return finished(result, UFUNCS["logical_and"].reduce(mask, axis), decider, [target], keeps_fill_value=False)

    def accumulate(self, target: Any, axis: Any = 0) -> Any:
        """Return every intermediate result of a reduction. See `numpy.ufunc.accumulate`."""
        return self._run("accumulate", self._accumulate, (target, axis), {})

    def _accumulate(self, target: Any, axis: Any = 0) -> Any:
        function: Any = self.f
        target = taken(target)
        return new(
            function.accumulate(filled(target, self.filly), axis), cls=type(target) if is_ours(target) else MaskedArray
        )

    def outer(self, a: Any, b: Any) -> Any:
        """Apply the function to every pair of elements. See `numpy.ufunc.outer`."""
        return self._run("outer", self._outer, (a, b), {})

    def _outer(self, a: Any, b: Any) -> Any:
        a, b = operands(a, b)
        function: Any = self.f
        result = function.outer(data_of(a), data_of(b))
        if stored_mask(a)[0] is nomask and stored_mask(b)[0] is nomask:
            return finished(result, nomask, None, [a, b], keeps_fill_value=False)
        mask = _or.outer(getmaskarray(a), getmaskarray(b))
        if mask.ndim:
            result = where_masked(mask, _as_column(data_of(a), data_of(b).ndim), result)
        return finished(result, mask, _either(stored_mask(a), stored_mask(b)), [a, b], keeps_fill_value=False)


def _either(*pairs: tuple[Any, Any]) -> Any:
    """Return what decides whether the or of masks is kept."""
    deciders = [decider for mask, decider in pairs if mask is not nomask]
    return None if any(decider is None for decider in deciders) else _or(deciders[0], deciders[-1])


def _as_column(data: Any, ndim: int) -> Any:
    """Return data with dimensions of size 1 at its end."""
    return data.reshape(data.shape + (1,) * ndim)


class _Quotient(_Binary):
    """Function of two arguments that masks results which are not finite, and where the divisor is too small."""

    @outside_of_domain
    def _call(self, a: Any, b: Any, *args: Any, **options: Any) -> Any:
        a, b = operands(a, b)
        left, right = data_of(a), data_of(b)
        computed = self.f(left, right, *args, **options)
        result = data_of(computed)
        mask = _or(UFUNCS["logical_not"](UFUNCS["isfinite"](result)), domains.quotient_overflows(left, right))
        for operand in (a, b):
            own = stored_mask(operand)[0]
            mask = mask if own is nomask else _or(mask, own)
        if result.ndim:
            # Masked results are the dividend, if its dtype is safe to convert, or else zero. So NumPy adds the dividend
            # times the mask, by which a zero result of a dividend of the other sign changes its own.
            result = where_masked(mask, numpy.zeros((), result.dtype)[()], result)
            if numpy.can_cast(numpy.result_type(numpy.bool, left.dtype), result.dtype, "safe"):
                result = UFUNCS["add"](result, UFUNCS["multiply"](mask, left))
        return finished(_written(result, computed, args, options), mask, None, [a, b])

    reduce = accumulate = outer = None  # type: ignore[assignment]


class _Extremum(MaskedFunction):
    """The larger or the smaller of two arguments."""

    def __init__(self, name: str, compare: MaskedFunction, fill_value: Callable[[Any], Any]) -> None:
        super().__init__(name, UFUNCS[name])
        self.compare, self._fill_value = compare, fill_value

    def _call(self, a: Any, b: Any) -> Any:
        return where(self.compare(a, b), a, b)

    def reduce(self, target: Any, axis: Any = numpy._NoValue) -> Any:
        """Reduce over an axis, with masked elements left out. See `numpy.ufunc.reduce`."""
        if axis is numpy._NoValue:
            axis = None
            if getattr(target, "ndim", 0) > 1:
                text = f"In the future the default for ma.{self.__name__}.reduce will be axis=0, not None"
                warnings.warn(text, numpy.ma.core.MaskedArrayFutureWarning, stacklevel=2)
        return self._run("reduce", self._reduce, (target, axis), {})

    def _reduce(self, target: Any, axis: Any) -> Any:
        target = taken(target)
        function: Any = self.f
        mask, decider = stored_mask(target)
        if mask is nomask:
            result = function.reduce(data_of(target), axis)
            return new(result, cls=type(target)) if is_ours(target) else result
        result = function.reduce(filled(target, self._fill_value(target)), axis)
        mask = UFUNCS["logical_and"].reduce(mask, axis)
        return new(result, mask, None, decider if mask.ndim else mask, type(target))

    def outer(self, a: Any, b: Any) -> Any:
        """Apply the function to every pair of elements. See `numpy.ufunc.outer`."""
        return self._run("outer", self._outer, (a, b), {})

    def _outer(self, a: Any, b: Any) -> Any:
        a, b = operands(a, b)
        function: Any = self.f
        masks = getmask(a), getmask(b)
        both = masks[0] is nomask and masks[1] is nomask
        mask = nomask if both else _or.outer(getmaskarray(a), getmaskarray(b))
        return new(function.outer(filled(a), filled(b)), mask)


@outside_of_domain
def power(a: Any, b: Any, third: Any = None) -> Any:
    """Raise elements to powers; results that are not finite are masked. See `numpy.ma.power`."""
    if third is not None:
        raise numpy.ma.MaskError("3-argument power not supported.")
    a, b = operands(a, b)
    left, right = data_of(a), data_of(b)
    result = UFUNCS["power"](left, right)
    mask, decider = combined_masks(result.shape, a, b)
    is_kept = mask is not nomask and (decider is None or bool(decider)) and bool(mask.any())
    if is_kept:
        result = where_masked(mask, left, result)
    if not result.ndim and is_kept:
        return masked
    return _without_infinite(result, mask if is_kept else nomask, a)


def _without_infinite(result: Any, mask: Any, a: Any) -> Any:
    """Return powers with those masked that are not finite, which become the fill value."""
    invalid = UFUNCS["logical_not"](UFUNCS["isfinite"](result))
    if not result.ndim:
        return masked if result.dtype.kind in "fc" and bool(invalid) else new(result)
    decider = None
    if mask is not nomask:
        mask = _or(mask, invalid)
    elif result.dtype.kind in "fc":
        mask, decider = invalid, invalid.any()
    made = finished(result, mask, decider, [a] if is_ours(a) else [])
    if mask is not nomask:
        fill_value = checked_fill_value(None, made.dtype) if made._fill_value is None else made._fill_value
        made._data = where_masked(invalid, fill_value[()], result)
    return made


def _functions() -> dict[str, MaskedFunction]:
    """Return the functions by their names in `numpy.ma`."""
    found: dict[str, MaskedFunction] = {}
    for name, (_, domain) in domains.UNARY.items():
        found[name] = _Unary(name, UFUNCS[name], domain)
    found["angle"], found["around"] = _Unary("angle", elementwise.angle), _Unary("around", elementwise.round)
    for name, (fillx, filly) in domains.BINARY.items():
        found[name] = _Binary(name, UFUNCS[name], fillx, filly)
    for name in domains.QUOTIENTS:
        found[name] = _Quotient(name, UFUNCS[name], *domains.QUOTIENT_FILLS)
    for name, compare, fill_value in (
        ("maximum", "greater", maximum_fill_value),
        ("minimum", "less", minimum_fill_value),
    ):
        found[name] = _Extremum(name, found[compare], fill_value)
    aliases = {"abs": "absolute", "true_divide": "divide", "mod": "remainder"}
    return found | {alias: found[name] for alias, name in aliases.items()}


FUNCTIONS = _functions()
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "alltrue": _Binary("logical_and", UFUNCS["logical_and"], 1, 1).reduce,
    "sometrue": _Binary("logical_or", UFUNCS["logical_or"], 0, 0).reduce,
}
