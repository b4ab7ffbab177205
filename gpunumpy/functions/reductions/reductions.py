"""Reductions: sums, products, extremes and their positions, truth values and counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from numpy._core._exceptions import _UFuncOutputCastingError

from ...core.arguments import is_set
from ...core.dtypes import INT64, DType, check
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.recording.array import ndarray, wrap, wrap_ordered
from ...core.recording.calls import memoize_inside, plain_reduction
from ...core.recording.record import as_array, elementwise, reshaped, transposed
from ..ufuncs.methods import NO_VALUE, record_plain_reduction, reduce_ufunc
from ..ufuncs.output import checked_output, write_to_output

__all__ = [
    *("sum", "prod", "max", "min", "amax", "amin", "any", "all", "ptp"),
    *("count_nonzero", "argmax", "argmin"),
]

# Default of `keepdims`, where NumPy's functions have a default that is not False; here it means False.
NOT_GIVEN = NO_VALUE


def keeps_dims(keepdims: Any) -> bool:
    """Return the `keepdims` argument of a reduction by a ufunc as a bool."""
    return keepdims is not NOT_GIVEN and is_set(keepdims)


def keeps_dims_if_true(keepdims: Any) -> bool:
    """Return the `keepdims` argument of any other reduction as a bool: it may be anything."""
    return keepdims is not NOT_GIVEN and bool(keepdims)


# --- reductions that are ufuncs -------------------------------------------------------------------------------------


def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NOT_GIVEN,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> ndarray:
    """Sum the elements over axes. See `numpy.sum`."""
    return reduce_ufunc("add", a, axis, dtype, out, keeps_dims(keepdims), initial, where)


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NOT_GIVEN,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> ndarray:
    """Multiply the elements over axes. See `numpy.prod`."""
    return reduce_ufunc("multiply", a, axis, dtype, out, keeps_dims(keepdims), initial, where)


def max(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = NOT_GIVEN,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> ndarray:
    """Return the maximum over axes; a NaN among the elements gives NaN. See `numpy.max`."""
    return reduce_ufunc("maximum", a, axis, None, out, keeps_dims(keepdims), initial, where)


def min(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = NOT_GIVEN,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> ndarray:
    """Return the minimum over axes; a NaN among the elements gives NaN. See `numpy.min`."""
    return reduce_ufunc("minimum", a, axis, None, out, keeps_dims(keepdims), initial, where)


amax = max
amin = min


def any(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NOT_GIVEN, *, where: Any = True) -> ndarray:
    """Test whether any element over axes is true. See `numpy.any`."""
    return reduce_ufunc("logical_or", a, axis, _dtype_of_truth(a), out, keeps_dims(keepdims), NO_VALUE, where)


def all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NOT_GIVEN, *, where: Any = True) -> ndarray:
    """Test whether all elements over axes are true. See `numpy.all`."""
    return reduce_ufunc("logical_and", a, axis, _dtype_of_truth(a), out, keeps_dims(keepdims), NO_VALUE, where)


_OPS: dict[Callable[..., Any], str] = {
    sum: "add",
    prod: "multiply",
    max: "maximum",
    min: "minimum",
    any: "logical_or",
    all: "logical_and",
}
for _function, _op in _OPS.items():
    _function.reduction = plain_reduction(_op, record_plain_reduction)  # type: ignore[attr-defined]


def _dtype_of_truth(a: Any) -> Any:
    """Return the `dtype` that has a reduction return truth values, which it does by itself but for objects."""
    return None if type(a) is ndarray else bool


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NOT_GIVEN) -> ndarray:
    """Return the range of values, maximum less minimum, over axes. See `numpy.ptp`."""
    array = as_array(a)
    result = elementwise("subtract", (max(array, axis, None, keepdims), min(array, axis, None, keepdims)))
    return result if out is None else write_result_to_out(result, out, "subtract", True)


# --- other reductions of the table ----------------------------------------------------------------------------------


def reduced(
    op: str,
    array: ndarray,
    axes: tuple[int, ...],
    result: DType,
    keepdims: bool = False,
    extra: tuple[Node, ...] = (),
) -> ndarray:
    """Record a reduction that is not a ufunc; its result has the memory order that a ufunc's would have.

    Parameters
    ----------
    op
        A name in `table.REDUCTIONS`.
    axes
        The axes to reduce, counted from the front; none has length 0.
    result
        The dtype of the result.
    extra
        Scalars for the last step of the reduction.
    """
    value = array.value()
    shape, strides = value.signature.shape, value.signature.strides
    kept_axes = [d for d in range(len(shape)) if keepdims or d not in axes]
    final = tuple(1 if d in axes else shape[d] for d in kept_axes)
    if not axes:  # every element is reduced alone
        value, axes = reshaped(value, (*shape, 1)), (len(shape),)
    order = layout.memory_order([(final, [0 if d in axes else strides[d] for d in kept_axes])], len(final))
    if order is not None:
        outer = [kept_axes[k] for k in order if kept_axes[k] not in axes]
        value = transposed(value, (*outer, *axes))
        axes = tuple(range(len(outer), len(outer) + len(axes)))
        final = tuple(final[k] for k in order)
    loop = (value.signature.dtype, *(e.signature.dtype for e in extra), result)
    node = graph.reduce(op, loop, axes, (value, *extra))
    return wrap_ordered(reshaped(node, final), order)


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return axes counted from the front; a 0-d array accepts axis 0 and -1 too, as in NumPy's ufuncs."""
    is_axis_of_scalar = ndim == 0 and axis is not None and not isinstance(axis, tuple) and axis in (0, -1)
    return () if is_axis_of_scalar else layout.checked_axes(axis, ndim)


def final_shape(array: ndarray, axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    """Return the shape of the result of a reduction."""
    return tuple(1 if d in axes else n for d, n in enumerate(array.shape) if keepdims or d not in axes)


def write_result_to_out(result: ndarray, out: Any, name: str, checked: bool = False) -> ndarray:
    """Write a result into an `out` argument of the same shape.

    A reduction may write into any dtype. `checked` is for a result whose last step is elementwise: see
    `require_same_kind`.
    """
    into = checked_output(out)
    if into.shape != result.shape:
        raise ValueError(
            f"output parameter for reduction operation {name} has the shape {into.shape}, expected is {result.shape}"
        )
    if checked:
        require_same_kind(name, result.dtype, into.dtype)
    return write_to_output(into, result.value())


def require_same_kind(name: str, dtype: DType, target: DType) -> None:
    """Raise NumPy's `TypeError` unless a ufunc's result of one dtype may be written into an output of another."""
    if not numpy.can_cast(dtype, target, "same_kind"):
        raise _UFuncOutputCastingError(getattr(numpy, name), "same_kind", dtype, target, 0)


def filled(value: Any, dtype: DType, shape: tuple[int, ...], like: ndarray) -> ndarray:
    """Return an array of one value, on the device of another array, which is of a dtype that kernels compute."""
    check(like.dtype)  # an array without elements is not looked at, but of records NumPy counts not even none
    return wrap(graph.fill(graph.typed_scalar(dtype.type(value), dtype), shape, like.queue))


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> ndarray:
    """Count the elements other than zero, as int64. See `numpy.count_nonzero`."""
    array, keepdims = as_array(a), bool(keepdims) and is_set(keepdims)
    axes = axes_of(axis, array.ndim)
    if not array.size:
        return filled(0, INT64, final_shape(array, axes, keepdims), array)
    return reduced("count_nonzero", array, axes, INT64, keepdims)


def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NOT_GIVEN) -> ndarray:
    """Return the index of the maximum along an axis, the first of equal ones. See `numpy.argmax`."""
    return position("argmax", as_array(a), axis, out, keeps_dims_if_true(keepdims))


def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NOT_GIVEN) -> ndarray:
    """Return the index of the minimum along an axis, the first of equal ones. See `numpy.argmin`."""
    return position("argmin", as_array(a), axis, out, keeps_dims_if_true(keepdims))


def position(op: str, array: ndarray, axis: Any, out: Any, keepdims: bool) -> ndarray:
    """Return the first index of an extreme along one axis, or in C order if `axis` is None."""
    if axis is None:
        axes = tuple(range(array.ndim))
    elif array.ndim == 0:
        layout.checked_axis(axis, 1)
        axes = ()
    else:
        axes = (layout.checked_axis(axis, array.ndim),)
    shape = final_shape(array, axes, keepdims)
    if 0 in [array.shape[d] for d in axes]:
        raise ValueError(f"attempt to get {op} of an empty sequence")
    result = filled(0, INT64, shape, array) if 0 in shape else _position(array, op, axes, keepdims)
    into = checked_output(out)
    if into is None:
        return result
    if into.shape != shape:
        raise ValueError(f"output array does not match result of np.{op}.")
    if not numpy.can_cast(into.dtype, INT64, "safe"):
        raise TypeError(f"Cannot cast array data from {into.dtype!r} to dtype('int64') according to the rule 'safe'")
    return write_to_output(into, result.value())


@memoize_inside
def _position(array: ndarray, op: str, axes: tuple[int, ...], keepdims: bool) -> ndarray:
    return reduced(op, array, axes, INT64, keepdims)
