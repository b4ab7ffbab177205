"""Where the results of ufuncs go: `out` arguments, `where` masks, casts that the user is told of."""

from __future__ import annotations

import warnings
from typing import Any

import numpy

from .core import layout
from .core import node as graph
from .core.array import is_scalar, ndarray, wrap, wrap_ordered
from .core.dtypes import BOOL
from .core.layout import Shape
from .core.node import DType, Node
from .core.record import as_node, transposed


def outputs(out: Any, count: int) -> tuple[ndarray | None, ...]:
    """The `out` argument of a ufunc as one array or None for each of its `count` results."""
    if out is None:
        return (None,) * count
    if not isinstance(out, tuple):
        if count > 1 and isinstance(out, ndarray):
            raise TypeError("'out' must be a tuple of arrays")
        out = (out,)
    if len(out) != count:
        raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
    for array in out:
        if array is not None and not is_array(array):
            raise TypeError(f"return arrays must be of ArrayType, which {type(array).__name__!r} is not")
    return out


def is_array(x: Any) -> bool:
    """Whether `x` can be written: one of our arrays, and not a 0-d result, which acts as a scalar."""
    return isinstance(x, ndarray) and not is_scalar(x)


def mask_node(where: Any, like: ndarray | None = None) -> Node:
    """The `where` argument as a value of dtype bool."""
    if hasattr(where, "dtype"):
        if where.dtype != BOOL:
            raise TypeError(
                f"Cannot cast array data from {where.dtype!r} to dtype('bool') according to the rule 'safe'"
            )
    else:
        where = numpy.asarray(where, BOOL)
    return as_node(where, like.queue if like is not None else None)


def select(mask: Node, value: Node, other: Node) -> Node:
    """``where(mask, value, other)`` over values of one dtype."""
    dtype = value.form.dtype
    return graph.map_node("where", (BOOL, dtype, dtype, dtype), (mask, value, other))


def check_shape(out: ndarray, shape: Shape) -> None:
    """Refuse an `out` that has not the broadcast shape."""
    if out.shape != shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {_words(out.shape)} doesn't match the broadcast shape "
            f"{_words(shape)}"
        )


def _words(shape: Shape) -> str:
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def told_cast(node: Node, dtype: DType) -> Node:
    """The value in another dtype; a lost imaginary part is told of."""
    if node.form.dtype.kind == "c" and dtype.kind not in "cb":
        warnings.warn(
            "Casting complex values to real discards the imaginary part", numpy.exceptions.ComplexWarning, stacklevel=4
        )
    return graph.cast(node, dtype)


def write(out: ndarray, value: Node, mask: Node | None = None) -> ndarray:
    """Give `out` the value, in its dtype, where the mask allows; whether it may be cast was checked by the caller."""
    value = told_cast(value, out.dtype)
    if mask is not None:
        value = select(mask, value, out.value())
    out.assign(value)
    return out


def release(array: ndarray) -> Node:
    """The value of a temporary array that nobody else holds, free to be given to another owner."""
    node = array.value()
    if node.owner is not None and array._base is None:
        node.owner = None
    return node


def in_order(array: ndarray, order: str) -> ndarray:
    """A result in memory order "C" or "F"."""
    ndim = array.ndim
    if order == "C":
        return array if array._base is None else wrap(array.value())
    reverse = tuple(range(ndim))[::-1]
    where = array.layout
    if ndim < 2 or layout.is_f(where.shape, where.strides):
        return array
    return wrap_ordered(transposed(array.value(), reverse), reverse)
