"""Operators of masked arrays: arithmetic, in place, comparisons, and conversions to Python scalars."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy

from ..core.graph.layout import broadcast_shapes
from ..core.ops.operators import BINARY, ORDERING, OTHERS, UNARY
from ..functions.indexing.selection import where
from ..functions.products import stacked
from ..functions.ufuncs.ufunc import UFUNCS
from . import domains
from .fill_values import checked_fill_value
from .masks import combined_masks, data_of, getmask, mask_or, operands, shrunk, stored_mask, taken
from .operations import FUNCTIONS, finished, outside_of_domain, power
from .selecting import where_masked
from .state import MaskedArray, is_ours, masked, new, no_masked_elements, nomask, store_mask

_choose: Any = where
_BINARY: dict[str, Callable[..., Any]] = {
    **{name: FUNCTIONS[BINARY[name]] for name in ("add", "sub", "mul", "truediv", "floordiv")},
    "pow": power,
}
PRODUCTS = frozenset(stacked.__all__)
# Operators that NumPy's class has from arrays: its ufuncs mask where an operand is masked.
_OF_ARRAYS = {name: ufunc for name, ufunc in (BINARY | OTHERS).items() if name not in _BINARY}


def leaves_to(y: Any) -> bool:
    """Return whether an operator leaves the operation to the class of an operand."""
    override = getattr(type(y), "__array_ufunc__", False)
    if override is False:
        return getattr(y, "__array_priority__", -math.inf) > MaskedArray.__array_priority__
    return override is None


def _operator(function: Callable[..., Any], reflected: bool) -> Callable[..., Any]:
    def record(x: Any, y: Any) -> Any:
        if not reflected and leaves_to(y):
            return NotImplemented
        return function(y, x) if reflected else function(x, y)

    return record


def plain_ufunc(name: str) -> Callable[..., Any]:
    """Return the function of `protocols` that runs a ufunc of NumPy on masked arrays."""
    return lambda *args: apply_ufunc(name, args, {})


def apply_ufunc(name: str, args: Any, options: dict[str, Any]) -> Any:
    """Compute a ufunc of NumPy: masked where an operand is, and filled and masked where the domain is left.

    Unlike the functions of `numpy.ma`, it leaves in masked elements what the ufunc computes for them.
    """
    given = operands(*args)
    data = [x if isinstance(x, (bool, int, float, complex)) else data_of(x) for x in given]
    function: Any = getattr(stacked, name) if name in PRODUCTS else UFUNCS[name]
    if (where := options.pop("where", numpy._NoValue)) is not numpy._NoValue:
        options["where"] = data_of(taken(where))
    out = options.pop("out", None)
    outs = out if isinstance(out, tuple) else (out,)
    if any(x is not None for x in outs):
        options["out"] = tuple(x._data if isinstance(x, MaskedArray) else x for x in outs)
    results = function(*data, **options)
    maker: Any = max(filter(is_ours, given), key=lambda x: x.__array_priority__, default=None)
    is_made_by_subclass = maker is not None and type(maker).__array_wrap__ is not array_wrap
    made = []
    for k, result in enumerate(results if isinstance(results, tuple) else (results,)):
        target = outs[k] if k < len(outs) else None
        if is_made_by_subclass and target is None:
            made.append(maker.__array_wrap__(result, (function, args, k), not result.ndim))
        else:
            made.append(_with_mask(name, result, given, data, maker, target))
    return tuple(made) if isinstance(results, tuple) else made[0]


def array_wrap(self: Any, obj: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """Return a result as an array of this class, masked as a ufunc masks it. Subclasses do more to it.

    See `numpy.ma.MaskedArray.__array_wrap__`.
    """
    (obj,) = operands(obj)
    result, (mask, decider) = data_of(obj), stored_mask(obj)
    if context is not None:
        function, args, _ = context
        given = operands(*args[: function.nin])
        result, mask, decider, _ = _masked_result(function.__name__, result, given, list(map(data_of, given)))
        if not result.ndim and mask is not nomask and bool(mask):
            return masked
    return self if obj is self and context is None else new(result, mask, self, decider)


def _with_mask(name: str, result: Any, given: list[Any], data: list[Any], maker: Any, out: Any) -> Any:
    """Return one result of a ufunc with its mask, of the class of `maker`: None if only `masked` was given."""
    if out is not None and not isinstance(out, MaskedArray):
        return out
    result, mask, decider, is_filled = _masked_result(name, result, given, data)
    if name in PRODUCTS:
        return new(result, mask, maker) if result.ndim else result
    if out is None:
        return finished(result, mask, decider, [maker])
    if is_filled:
        data_of_out: Any = out._data
        data_of_out[...] = result if is_ours(out) else result.get()
    if is_ours(out):
        store_mask(out, mask, decider)
    else:
        mask = shrunk(mask) if decider is not None else mask
        out._mask = mask if mask is nomask else mask.get()
    return out


def _masked_result(name: str, result: Any, given: list[Any], data: list[Any]) -> tuple[Any, Any, Any, bool]:
    """Return a result of a ufunc, filled where the domain is left, its mask, what decides it, and if it is filled."""
    if name in PRODUCTS:
        return result, _mask_of_product(given, result.shape), None, False
    mask = combined_masks(result.shape, *given)[0]
    left = _left_domain(name, data)
    if left is not None:
        if mask is not nomask and name in domains.UNARY:  # by NumPy the domain is left where it cannot be told
            left = UFUNCS["logical_or"](left, mask)
        fill = domains.UNARY[name][0] if name in domains.UNARY else domains.QUOTIENT_FILLS[-1]
        result = where_masked(left, numpy.array(fill)[()], result)
        mask = left if mask is nomask else UFUNCS["logical_or"](mask, left)
    if mask is nomask and len(given) == 1 and result.ndim:
        mask = no_masked_elements(result)
    decider = None if mask is nomask or len(given) == 1 else mask.any()
    return result, mask, decider, left is not None


def _mask_of_product(given: list[Any], shape: tuple[int, ...]) -> Any:
    """Return the mask of a matrix product: that of a product of elements, if it has the result's shape.

    Raises
    ------
    ValueError
        If it has another shape, and an element is masked: NumPy makes an array of it that nothing can be done with.
    """
    masks = [x._mask for x in given if is_ours(x) and x._mask is not nomask]
    if not masks:
        return nomask
    try:
        fits = broadcast_shapes(*map(numpy.shape, given)) == shape
    except ValueError:
        fits = False
    if fits:
        return combined_masks(shape, *given)[0]
    if any(bool(mask.any()) for mask in masks):
        raise ValueError(f"the masks of the operands do not have the product's shape {shape}; np.ma.dot takes such")
    return nomask


def _left_domain(name: str, data: list[Any]) -> Any:
    """Return where the arguments are outside of the domain of a function; None if it has no domain."""
    if name in domains.QUOTIENTS:
        return domains.quotient_overflows(*data)
    domain = domains.UNARY.get(name, (0, None))[1]
    return None if domain is None else domain(*data)


# --- in place ---------------------------------------------------------------------------------------------------------


def _in_place(name: str, neutral: int) -> Callable[..., Any]:
    """Return an in-place operator, which leaves masked elements as they are."""
    update = getattr(operator, f"i{name}")

    def run(x: Any, y: Any) -> Any:
        (_, y) = operands(x, y)
        mask, decider = stored_mask(y)
        if x._stored_mask is nomask:
            if mask is not nomask and (decider is None or bool(decider)) and bool(mask.any()):
                x._mask = no_masked_elements(x._data)
                x._mask |= mask
        elif mask is not nomask and (decider is None or bool(decider)):
            mask_of_x = x._mask
            if mask_of_x is nomask:
                x._mask = mask_of_x = no_masked_elements(x._data)
            mask_of_x |= mask
        x._data = update(x._data, _neutralized(x._stored_mask, data_of(y), neutral))
        return x

    return run


def _neutralized(mask: Any, data: Any, neutral: int) -> Any:
    """Return an operand with a neutral value where a mask is true."""
    return data if mask is nomask else _choose(mask, data.dtype.type(neutral), data)


def _dividing_in_place(name: str) -> Callable[..., Any]:
    """Return the in-place operator of a quotient, which masks where the divisor is too small."""
    update = getattr(operator, f"i{name}")

    def run(x: Any, y: Any) -> Any:
        (_, y) = operands(x, y)
        data = data_of(y)
        left = domains.quotient_overflows(x._data, data)
        data = _choose(left, data.dtype.type(1), data)
        other = stored_mask(y)[0]
        mask = left if other is nomask else UFUNCS["logical_or"](left, other)
        if x._mask is nomask:
            store_mask(x, mask, mask.any())
        else:
            x._mask |= mask
        x._data = update(x._data, _neutralized(x._stored_mask, data, 1))
        return x

    return run


@outside_of_domain
def _power_in_place(x: Any, y: Any) -> Any:
    """Raise elements that are not masked to powers, in place; what is not finite is masked."""
    (_, y) = operands(x, y)
    data: Any = x._data
    data **= _neutralized(x._stored_mask, data_of(y), 1)
    invalid = UFUNCS["logical_not"](UFUNCS["isfinite"](data))
    if data.dtype.kind in "fc" and bool(invalid.any()):
        if x._mask is nomask:
            x._mask = invalid
        else:
            x._mask |= invalid
        data[...] = where_masked(invalid, x.fill_value, data)
    x._data = data
    x._mask = mask_or(x._mask, mask_or(getmask(y), invalid))
    return x


def _updating(name: str) -> Callable[..., Any]:
    """Return the in-place operator of a ufunc, with the ufunc's mask."""
    return lambda x, y: apply_ufunc(name, (x, y), {"out": x})


def _multiply_matrix_in_place(x: Any, y: Any) -> Any:
    """Multiply by a matrix in place, with the mask of the product."""
    if numpy.ndim(y) < 2:
        raise ValueError("inplace matrix multiplication requires the second operand to have at least two dimensions.")
    product = apply_ufunc("matmul", (x, y), {"out": x})
    store_mask(x, product._stored_mask, product._has_masked)
    return x


# --- comparisons ------------------------------------------------------------------------------------------------------


def _comparison(name: str, ufunc: str) -> Callable[..., Any]:
    """Return a comparison; masked elements are equal to masked elements."""
    is_equality = ufunc in ("equal", "not_equal")
    dunder = f"__{name}__"

    def compare(x: Any, y: Any) -> Any:
        if leaves_to(y):
            return NotImplemented
        y = taken(y, x._data.device)
        (left, right) = x._data, y._data if is_ours(y) else y
        if y is masked:
            right = numpy.float64(0)
        elif isinstance(y, (bool, int, float, complex)):
            right = numpy.asarray(y)[()]
        elif isinstance(y, numpy.matrix):  # whose class would decide
            right = numpy.asarray(y)
        result = getattr(left, dunder)(right)
        if result is NotImplemented:
            return NotImplemented
        own, other = stored_mask(x)[0], stored_mask(y)[0]
        mask, decider = combined_masks(result.shape, x, y)
        if mask is not nomask:
            decider = mask.any() if mask.ndim else None
            if is_equality:
                same = UFUNCS[ufunc](numpy.False_ if own is nomask else own, numpy.False_ if other is nomask else other)
                result = _choose(mask, same, result)
        if not result.ndim:
            return masked if mask is not nomask and bool(mask) else result
        made = finished(result, mask, decider, [x])
        if x._fill_value is not None:
            made._fill_value = _boolean_fill_value(x._fill_value)
        return made

    return compare


def _boolean_fill_value(value: Any) -> Any:
    try:
        return checked_fill_value(value, numpy.dtype(bool))
    except (TypeError, ValueError):
        return checked_fill_value(None, numpy.dtype(bool))


# --- conversions ------------------------------------------------------------------------------------------------------


def _scalar_of(x: Any) -> Any:
    if x.size > 1:
        raise TypeError("Only length-1 arrays can be converted to Python scalars")
    return None if x._mask is not nomask and bool(x._mask.any()) else x._data.item()


def to_float(x: Any) -> float:
    """Return ``float(x)``: NaN, with a warning, for a masked element."""
    value = _scalar_of(x)
    if value is None:
        warnings.warn("Warning: converting a masked element to nan.", stacklevel=2)
        return float("nan")
    return float(value)


def to_int(x: Any) -> int:
    """Return ``int(x)``. Raise `MaskError` for a masked element."""
    value = _scalar_of(x)
    if value is None:
        raise numpy.ma.MaskError("Cannot convert masked element to a Python int.")
    return int(value)


OPERATORS: dict[str, Callable[..., Any]] = {
    **{f"__{name}__": _operator(function, False) for name, function in _BINARY.items()},
    **{f"__r{name}__": _operator(function, True) for name, function in _BINARY.items()},
    **{f"__{name}__": _operator(plain_ufunc(op), False) for name, op in _OF_ARRAYS.items()},
    **{f"__r{name}__": _operator(plain_ufunc(op), True) for name, op in _OF_ARRAYS.items()},
    **{f"__{name}__": plain_ufunc(op) for name, op in UNARY.items()},
    **{f"__i{name}__": _in_place(name, neutral) for name, neutral in (("add", 0), ("sub", 0), ("mul", 1))},
    **{f"__i{name}__": _dividing_in_place(name) for name in ("truediv", "floordiv")},
    **{f"__i{name}__": _updating(_OF_ARRAYS[name]) for name in ("mod", "and", "or", "xor", "lshift", "rshift")},
    **{f"__{name}__": _comparison(name, op) for name, op in ORDERING.items()},
    "__eq__": _comparison("eq", "equal"),
    "__ne__": _comparison("ne", "not_equal"),
    "__imatmul__": _multiply_matrix_in_place,
    "__ipow__": _power_in_place,
    "__float__": to_float,
    "__int__": to_int,
    "__bool__": lambda x: bool(x._data),
    "__complex__": lambda x: complex(x._data),
    "__index__": lambda x: x._data.__index__(),
    "__len__": lambda x: len(x._data),
    "__contains__": lambda x, y: bool((x == y).any()),
}
