"""Statistics: means, variances, averages.

The variance of ordinary data is one reduction whose state is count, mean and sum of squares, so that mean, variance,
minimum and maximum of an array are one kernel that reads the array once.
"""

from __future__ import annotations

import builtins
from math import prod
from typing import Any

import numpy

from ...core.dtypes import BOOL, COMPLEX128, FLOAT64, INT64, KIND, DType, check
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.numpy_release import RELEASE
from ...core.recording.array import ndarray, to_host, wrap
from ...core.recording.calls import memoize_inside
from ...core.recording.memo import MemoizedOperation, shared_generator, shared_scalar
from ...core.recording.record import (
    as_array,
    as_dtype,
    as_nodes,
    elementwise,
    elementwise_value,
    reshaped,
    transposed,
    unary_operator,
)
from ...core.source_location import warn
from ..reductions.reductions import (
    NOT_GIVEN,
    any,
    filled,
    final_shape,
    keeps_dims,
    reduced,
    require_same_kind,
    write_result_to_out,
)
from ..reductions.reductions import sum as total
from ..ufuncs.errstate import warn_of_slices
from ..ufuncs.methods import reduction_loop
from ..ufuncs.output import checked_output, mask_node

__all__ = ["average", "mean", "std", "var"]

FLOAT32 = numpy.dtype(numpy.float32)
_OF_EMPTY_SLICES = "Mean of empty slice" if RELEASE >= "2.4.0" else "Mean of empty slice."
_root = unary_operator("sqrt")
_REAL_OF: dict[DType, DType] = {numpy.dtype("c8"): FLOAT32, COMPLEX128: FLOAT64}


def converted(array: ndarray, dtype: DType) -> ndarray:
    """Return the array cast to a dtype, whatever the cast loses."""
    return array if array.dtype == dtype else elementwise("cast", (array,), (array.dtype, dtype))


def divided(array: ndarray, by: Any, dtype: DType) -> ndarray:
    """Return the quotient in a dtype, computed in double precision: large counts are not rounded before they divide.

    A count is the node that recipes share, so that the first means make the same graph as those that repeat them.
    """
    wide = COMPLEX128 if array.dtype.kind == "c" else FLOAT64
    sums, count = as_nodes((array, by))
    return converted(_divide((sums, shared_generator(count)), (wide, wide, wide)), dtype)


@MemoizedOperation
def _divide(operands: tuple[Node, ...], loop: tuple[DType, ...]) -> tuple[Node, tuple[int, ...] | None]:
    return elementwise_value("divide", operands, loop)


def mask_over(where: Any, array: ndarray) -> ndarray:
    """Return the `where` argument as a mask of the array's shape; raise `ValueError` unless it broadcasts to that."""
    mask = mask_node(where, array.queue)
    if layout.broadcast_shapes(mask.signature.shape, array.shape) != array.shape:
        raise ValueError(
            "operands could not be broadcast together with remapped shapes "
            f"[original->remapped]: {mask.signature.shape} and requested shape {array.shape}"
        )
    if mask.signature.queue is None:
        return wrap(graph.fill(as_dtype(mask, BOOL), array.shape, array.queue))
    return wrap(graph.broadcast(mask, array.shape))


def count_of(array: ndarray, axes: tuple[int, ...], keepdims: bool, where: Any) -> Any:
    """Return the number of elements behind each result: an int, or an array if a mask decides."""
    if where is True:
        return prod(array.shape[d] for d in axes)
    if where is None or isinstance(where, str):
        raise TypeError(f"a mask is made of truth values, not of {type(where).__name__!r}")  # NumPy counts them
    return total(mask_over(where, array), axes, INT64, None, keepdims)


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NOT_GIVEN, *, where: Any = True
) -> ndarray:
    """Compute the arithmetic mean over axes. See `numpy.mean`.

    The warning for an empty slice is given if the shape shows one. A program that asks for "invalid" by `errstate` is
    warned of a slice that a mask leaves empty, too.
    """
    array, out = as_array(a), checked_output(out)
    if out is dtype is None and where is True and 0 not in array.shape:
        return _plain_mean(array, axis, keeps_dims(keepdims))
    return _mean(array, axis, dtype, out, keepdims, where)


@memoize_inside
def _plain_mean(array: ndarray, axis: Any, keepdims: bool) -> ndarray:
    """Return the mean without other options of an array that has elements: nothing to warn of."""
    return _mean(array, axis, None, None, keepdims, True)


def _mean(array: ndarray, axis: Any, dtype: Any, out: Any, keepdims: Any, where: Any) -> ndarray:
    axes = layout.checked_axes(axis, array.ndim)
    kind = KIND[array.dtype]
    is_half = dtype is None and kind == "e"
    sum_dtype = FLOAT32 if is_half else _sum_dtype(array, FLOAT64 if dtype is None and kind in "biu" else dtype, out)
    count = count_of(array, axes, keeps_dims(keepdims), where)
    if where is not True:
        warn_of_slices(_OF_EMPTY_SLICES, lambda: elementwise("equal", (count, 0)))
    elif count == 0:
        warn(_OF_EMPTY_SLICES, RuntimeWarning)
    is_plain = out is dtype is None and kind in "fc"  # summed in its own dtype, so known from sums
    sums = stored(total(array, axes, None if is_plain else sum_dtype, None, keepdims, where=where), out)
    result = divided(sums, count, array.dtype if is_half else sums.dtype)
    return result if out is None else write_result_to_out(result, out, "add")


def _sum_dtype(array: ndarray, dtype: Any, out: Any) -> DType:
    """Return the dtype in which NumPy would sum, which the dtype of an `out` argument takes part in."""
    loop_dtype = None if dtype is None else check(dtype)
    return reduction_loop("add", array.dtype, loop_dtype, None if out is None else out.dtype)[-1]


def stored(sums: ndarray, out: Any) -> ndarray:
    """Return sums in the dtype of `out` if either has integers or truth values: NumPy stores them before it divides."""
    is_exact = out is not None and (KIND[out.dtype] in "biu" or KIND[sums.dtype] in "biu")
    return converted(sums, out.dtype) if is_exact else sums


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = NOT_GIVEN,
    *,
    where: Any = True,
    mean: Any = NOT_GIVEN,
    correction: Any = NOT_GIVEN,
) -> ndarray:
    """Compute the variance over axes, in one pass. See `numpy.var`.

    The warning for no degrees of freedom is given if the shape shows that. A program that asks for "invalid" by
    `errstate` is warned if a mask leaves none, too.
    """
    array, out = as_array(a), checked_output(out)
    result = _variance(array, axis, dtype, out, freedom(ddof, correction), keeps_dims(keepdims), where, mean)
    return result if out is None else write_result_to_out(result, out, "add")


def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = NOT_GIVEN,
    *,
    where: Any = True,
    mean: Any = NOT_GIVEN,
    correction: Any = NOT_GIVEN,
) -> ndarray:
    """Compute the standard deviation over axes, in one pass. See `numpy.std`.

    The warning for no degrees of freedom is given if the shape shows that. A program that asks for "invalid" by
    `errstate` is warned if a mask leaves none, too.
    """
    array, out = as_array(a), checked_output(out)
    variance = _variance(array, axis, dtype, out, freedom(ddof, correction), keeps_dims(keepdims), where, mean)
    result = _root(variance)
    if out is not None:
        return write_result_to_out(result, out, "sqrt", True)
    if variance.ndim:  # NumPy writes the roots to it, but for those of numbers
        require_same_kind("sqrt", result.dtype, variance.dtype)
    return converted(result, variance.dtype)


def freedom(ddof: Any, correction: Any) -> Any:
    """Return whichever of `ddof` and `correction` was given; raise `ValueError` if both were."""
    if correction is NOT_GIVEN:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def _variance(
    array: ndarray, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: bool, where: Any, mean: Any
) -> ndarray:
    """Return the variance; warn at the caller of the public function if there are no degrees of freedom."""
    mean = NOT_GIVEN if mean is None else mean
    axes = layout.checked_axes(axis, array.ndim)
    kind = KIND[array.dtype]
    loop_dtype = FLOAT64 if dtype is None and kind in "biu" else None if dtype is None else check(dtype)
    if where is True and ddof >= prod(array.shape[d] for d in axes):
        warn("Degrees of freedom <= 0 for slice", RuntimeWarning)
    deviation_dtype = array.dtype if mean is NOT_GIVEN else _deviation_dtype(array, mean)
    squares_dtype: DType = _REAL_OF.get(deviation_dtype, deviation_dtype) if loop_dtype is None else loop_dtype
    result_dtype: DType = (
        squares_dtype if out is None else reduction_loop("add", squares_dtype, loop_dtype, out.dtype)[-1]
    )
    has_exact_result = KIND[result_dtype] in "biu" or (out is not None and KIND[out.dtype] in "biu")
    if where is not True or mean is not NOT_GIVEN or has_exact_result or (kind == "c" and loop_dtype is not None):
        return _two_passes(array, axes, loop_dtype, result_dtype, out, ddof, keepdims, where, mean)
    if 0 in array.shape:
        return divided(filled(0, result_dtype, final_shape(array, axes, keepdims), array), 0.0, result_dtype)
    if loop_dtype is not None and numpy.can_cast(array.dtype, loop_dtype):
        array = converted(array, loop_dtype)
    return _moments(array, axes, float(ddof), result_dtype, keepdims)


@memoize_inside
def _moments(array: ndarray, axes: tuple[int, ...], ddof: float, dtype: DType, keepdims: bool) -> ndarray:
    """Return the variance of an array that has elements, in one pass."""
    variance = reduced("moments", array, axes, _REAL_OF.get(dtype, dtype), keepdims, (shared_scalar(ddof),))
    return converted(variance, dtype)


def _deviation_dtype(array: ndarray, mean: Any) -> DType:
    """Return the dtype of the differences from a mean that the caller gives."""
    if not isinstance(mean, (bool, int, float, complex, ndarray, numpy.generic)):
        mean = numpy.asarray(mean)
    return check(numpy.result_type(array.dtype, getattr(mean, "dtype", mean)))


def _two_passes(
    array: ndarray,
    axes: tuple[int, ...],
    loop_dtype: DType | None,
    result_dtype: DType,
    out: Any,
    ddof: Any,
    keepdims: bool,
    where: Any,
    mean: Any,
) -> ndarray:
    """Return the mean of the squared differences from the mean, in two passes."""
    count = count_of(array, axes, True, where)
    if where is not True:
        warn_of_slices("Degrees of freedom <= 0 for slice", lambda: elementwise("less_equal", (count, ddof)))
    if loop_dtype is None and KIND[array.dtype] == "e":
        array = converted(array, FLOAT32)  # squares soon overflow float16
    if mean is NOT_GIVEN:
        sums = total(array, axes, loop_dtype, None, True, where=where)
        mean = divided(sums, count, sums.dtype)
    deviations = elementwise("subtract", (array, mean))
    if KIND[deviations.dtype] == "c":
        parts = [elementwise("square", (elementwise(part, (deviations,)),)) for part in ("real", "imag")]
        squares = elementwise("add", parts)
    else:
        squares = elementwise("multiply", (deviations, deviations))
    sums = stored(
        total(squares, axes, result_dtype if KIND[result_dtype] != "e" else None, None, keepdims, where=where), out
    )
    if KIND[result_dtype] in "biu":
        result_dtype = sums.dtype
    if where is True:
        return divided(sums, float(builtins.max(count - ddof, 0)), result_dtype)
    degrees = elementwise("maximum", (elementwise("subtract", (count, ddof)), 0))
    return divided(sums, wrap(reshaped(degrees.value(), sums.shape)), result_dtype)


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NOT_GIVEN) -> Any:
    """Compute the weighted average over axes. See `numpy.average`.

    The sum of the weights is computed at once, so that a zero raises `ZeroDivisionError` here.
    """
    array = as_array(a)
    axes = layout.normalize_axes(axis, array.ndim)
    if weights is None:
        result = mean(array, axes, keepdims=keepdims)
        count = array.size / result.size  # raises NumPy's ZeroDivisionError if there are no averages
        return (result, filled(count, result.dtype, result.shape, array)) if returned else result
    weight = weights_over(as_array(weights, array.device), array, None if axis is None else axes)
    common = numpy.result_type(array.dtype, weight.dtype, *([FLOAT64] if KIND[array.dtype] in "biu" else []))
    common = check(common)
    weight_sums = total(weight, axes, common, None, keepdims)
    if to_host(any(elementwise("equal", (weight_sums, 0.0)))):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    scaled = elementwise("multiply", (array, weight), (common, common, common))
    result = elementwise("divide", (total(scaled, axes, None, None, keepdims), weight_sums))
    if not returned:
        return result
    return result, weight_sums if weight_sums.shape == result.shape else wrap(
        graph.broadcast(weight_sums.value(), result.shape)
    )


def weights_over(weight: ndarray, array: ndarray, axes: tuple[int, ...] | None) -> ndarray:
    """Return the weights in a shape that broadcasts against the array; raise unless their shape fits `axes`."""
    if weight.shape == array.shape:
        return weight
    if axes is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weight.shape != tuple(array.shape[d] for d in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    node = transposed(weight.value(), tuple(axes.index(d) for d in sorted(axes)))
    return wrap(reshaped(node, tuple(n if d in axes else 1 for d, n in enumerate(array.shape))))
