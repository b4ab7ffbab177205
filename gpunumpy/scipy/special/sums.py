"""Logarithms of sums of exponentials: elementwise functions over reductions, which fuse with what is around them."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import FLOAT64
from ...core.recording.array import ndarray, wrap
from ...core.recording.record import as_array, as_dtype
from ...functions.indexing.getitem import getitem
from ...functions.manipulation.shape import squeeze
from ...functions.reductions.reductions import max as largest
from ...functions.reductions.reductions import sum as total
from ...functions.ufuncs.elementwise import where
from ...functions.ufuncs.ufunc import (
    absolute,
    add,
    divide,
    equal,
    exp,
    greater,
    isfinite,
    less,
    log,
    log1p,
    multiply,
    negative,
    sign,
    subtract,
)
from ..modules import lookup


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials, without overflow. See `scipy.special.logsumexp`.

    The largest elements are added apart from the others, so that a sum a little above 1 has all its places.

    Parameters
    ----------
    a : array_like
        The exponents.
    axis : int or tuple of int, optional
        The axes that are reduced; all by default.
    b : array_like, optional
        Factors of the exponentials. Where one is 0 the exponent does not matter.
    keepdims : bool
        Whether reduced axes stay, with one element.
    return_sign : bool
        Whether the sign of the sum is returned too. Without it, the logarithm of a negative sum is NaN.
    """
    exponents = _as_floats(a)
    factors = None if b is None else _as_floats(b)
    if "c" in (exponents.dtype.kind, "" if factors is None else factors.dtype.kind):
        return lookup("special", "logsumexp")(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)
    if factors is not None:
        exponents = where(equal(factors, 0), float("-inf"), exponents)
    of_nothing = {} if exponents.size else {"initial": float("-inf")}
    top = largest(exponents, axis, keepdims=True, **of_nothing)
    shift = where(isfinite(top), top, 0)
    is_top = equal(exponents, top)
    powers = where(is_top, 0, exp(subtract(exponents, shift)))
    dtype = powers.dtype
    if factors is None:
        of_top, rest = total(is_top, axis, dtype, keepdims=True), total(powers, axis, dtype, keepdims=True)
    else:
        of_top = total(where(is_top, factors, 0), axis, keepdims=True)
        rest = total(multiply(factors, powers), axis, keepdims=True)
    result, signs = _log_of_sum(of_top, rest)
    result = add(result, top)
    if not return_sign and factors is not None:
        result = where(less(signs, 0), float("nan"), result)
    if not keepdims:
        result, signs = (getitem(squeeze(x, axis), ()) for x in (result, signs))
    return (result, signs) if return_sign else result


def _log_of_sum(first: ndarray, rest: ndarray) -> tuple[ndarray, ndarray]:
    """Return the logarithm of the size of ``first + rest``, and its sign; `first` decides the result's places."""
    is_alone = equal(first, 0)
    beside = divide(rest, where(is_alone, 1, first))
    size = where(greater(beside, -1), log1p(beside), log(negative(add(beside, 1))))
    result = where(is_alone, log(absolute(rest)), add(log(absolute(first)), size))
    return result, where(is_alone, sign(rest), multiply(sign(first), sign(add(beside, 1))))


def softmax(x: Any, axis: Any = None) -> ndarray:
    """Return exponentials divided by their sum. See `scipy.special.softmax`.

    Parameters
    ----------
    x : array_like
        The exponents.
    axis : int or tuple of int, optional
        The axes that are summed over; all by default.
    """
    exponents = _as_floats(x)
    powers = exp(subtract(exponents, largest(exponents, axis, keepdims=True)))
    return divide(powers, total(powers, axis, keepdims=True))


def log_softmax(x: Any, axis: Any = None) -> ndarray:
    """Return the logarithm of `softmax`. See `scipy.special.log_softmax`.

    Parameters
    ----------
    x : array_like
        The exponents.
    axis : int or tuple of int, optional
        The axes that are summed over; all by default.
    """
    exponents = _as_floats(x)
    top = largest(exponents, axis, keepdims=True)
    shifted = subtract(exponents, where(isfinite(top), top, 0))
    return subtract(shifted, log(total(exp(shifted), axis, keepdims=True)))


def _as_floats(x: Any) -> ndarray:
    """Return an array, in float64 if it is one of integers."""
    array = as_array(x)
    return wrap(as_dtype(array.value(), FLOAT64)) if array.dtype.kind in "biu" else array
