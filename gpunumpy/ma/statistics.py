"""Products and averages of masked arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..functions.products import tensor_products
from ..functions.ufuncs.ufunc import UFUNCS
from .masks import data_of_out, getmaskarray, operands, shape, stored_mask
from .selecting import filled_for
from .state import MaskedArray, as_data, is_ours, new, nomask


def dot(a: Any, b: Any, strict: bool = False, out: Any = None) -> Any:
    """Return the product of two arrays, with masked elements as zeros. See `numpy.ma.dot`.

    A result is masked if every pair of factors has a masked one; with `strict`, if any has.
    """
    a, b = operands(a, b)
    if strict and all(len(shape(x)) for x in (a, b)):
        a, b = _spread(a, -1), _spread(b, -1 if b.ndim == 1 else -2)
    left, right = (UFUNCS["logical_not"](getmaskarray(x)) for x in (a, b))
    data = tensor_products.dot(filled_for(a, 0), filled_for(b, 0), out=data_of_out(out))
    mask = as_data(UFUNCS["logical_not"](tensor_products.dot(left, right)))
    if out is not None:
        out._mask = mask
        return out
    cls = next((type(x) for x in (a, b) if is_ours(x)), MaskedArray)
    return new(data, mask, None, None if mask.ndim else mask, cls)


def _spread(x: Any, axis: int) -> Any:
    """Return an array whose vectors along an axis are all masked where one of their elements is."""
    if not is_ours(x) or not x.ndim or x._mask is nomask:
        return x
    return new(x._data, UFUNCS["logical_or"](x._mask, x._mask.any(axis=axis, keepdims=True)))


def inner(a: Any, b: Any) -> Any:
    """Return the inner product, with masked elements as zeros. See `numpy.ma.inner`."""
    left, right = (filled_for(x, 0) for x in operands(a, b))
    left, right = (x if x.ndim else x.reshape(1) for x in (left, right))
    product = tensor_products.inner(left, right)
    return new(product) if product.ndim else product


def outer(a: Any, b: Any) -> Any:
    """Return the outer product, masked where a factor is. See `numpy.ma.outer`."""
    a, b = operands(a, b)
    data = tensor_products.outer(filled_for(a, 0).ravel(), filled_for(b, 0).ravel())
    if stored_mask(a)[0] is nomask and stored_mask(b)[0] is nomask:
        return new(data)
    mask = UFUNCS["logical_or"].outer(getmaskarray(a).ravel(), getmaskarray(b).ravel())
    return new(data, mask, None, mask.any())


FUNCTIONS: dict[str, Callable[..., Any]] = {"dot": dot, "inner": inner, "outer": outer}
FUNCTIONS |= {"innerproduct": inner, "outerproduct": outer}
