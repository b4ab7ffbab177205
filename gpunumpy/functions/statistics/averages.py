"""Statistics: means, variances, averages.

The variance of plain data is one reduction that carries count, mean and squares together, so that mean, variance,
least and greatest element of an array are one kernel that reads it once.
"""

from __future__ import annotations

import builtins
import warnings
from math import prod
from typing import Any

import numpy

from ...core.dtypes import BOOL, COMPLEX128, FLOAT64, INT64, KIND, DType, check
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.recording.array import ndarray, to_host, wrap
from ...core.recording.record import as_array, as_dtype, elementwise, reshaped, transposed
from ..reductions.reductions import NOT_GIVEN, any, deliver, filled, final_shape, kept, reduced
from ..reductions.reductions import sum as total
from ..ufuncs.methods import reduction_loop
from ..ufuncs.output import mask_node, output

__all__ = ["average", "mean", "std", "var"]

FLOAT32 = numpy.dtype(numpy.float32)
_REAL_OF: dict[DType, DType] = {numpy.dtype("c8"): FLOAT32, COMPLEX128: FLOAT64}


def converted(array: ndarray, dtype: DType) -> ndarray:
    """The array in another dtype, whatever is lost."""
    return array if array.dtype == dtype else elementwise("cast", (array,), (array.dtype, dtype))


def divided(array: ndarray, by: Any, dtype: DType) -> ndarray:
    """The quotient in double precision, in a dtype: a large count is not rounded before it divides."""
    wide = COMPLEX128 if array.dtype.kind == "c" else FLOAT64
    return converted(elementwise("divide", (array, by), (wide, wide, wide)), dtype)


def mask_over(where: Any, array: ndarray) -> ndarray:
    """The `where` argument as a mask of the array's shape."""
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
    """How many elements each result is made of: an int, or an array where a mask decides."""
    if where is True:
        return prod(array.shape[d] for d in axes)
    return total(mask_over(where, array), axes, INT64, None, keepdims)


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NOT_GIVEN, *, where: Any = True
) -> ndarray:
    """Arithmetic mean over axes; see `numpy.mean`.

    The warning for an empty slice is given where the shape says so; a mask that leaves a slice empty gives NaN alone.
    """
    array, out = as_array(a), output(out)
    axes = layout.normalize_axes(axis, array.ndim)
    count = count_of(array, axes, kept(keepdims), where)
    if where is True and count == 0:
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=2)
    kind = KIND[array.dtype]
    half = dtype is None and kind == "e"
    wanted = FLOAT32 if half else _sum_dtype(array, FLOAT64 if dtype is None and kind in "biu" else dtype, out)
    added = stored(total(array, axes, wanted, None, keepdims, where=where), out)
    average = divided(added, count, array.dtype if half else added.dtype)
    return average if out is None else deliver(average, out, "add")


def _sum_dtype(array: ndarray, dtype: Any, out: Any) -> DType:
    """The dtype in which NumPy would sum: that of an `out` argument takes part."""
    wanted = None if dtype is None else check(dtype)
    return reduction_loop("add", array.dtype, wanted, None if out is None else out.dtype)[-1]


def stored(sums: ndarray, out: Any) -> ndarray:
    """Sums as they are after NumPy has written them into an exact `out`, where it divides them afterwards."""
    return sums if out is None or KIND[out.dtype] not in "biu" else converted(sums, out.dtype)


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
    """Variance over axes, in one pass; see `numpy.var`.

    The warning for no degrees of freedom is given where the shape says so, not where a mask does.
    """
    array, out = as_array(a), output(out)
    result = _variance(array, axis, dtype, out, freedom(ddof, correction), kept(keepdims), where, mean)
    return result if out is None else deliver(result, out, "add")


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
    """Standard deviation over axes, in one pass; see `numpy.std`.

    The warning for no degrees of freedom is given where the shape says so, not where a mask does.
    """
    array, out = as_array(a), output(out)
    square = _variance(array, axis, dtype, out, freedom(ddof, correction), kept(keepdims), where, mean)
    result = elementwise("sqrt", (square,))
    if out is not None:
        return deliver(result, out, "sqrt", True)
    return converted(result, square.dtype)


def freedom(ddof: Any, correction: Any) -> Any:
    """The one of `ddof` and `correction` that was given."""
    if correction is NOT_GIVEN:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def _variance(
    array: ndarray, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: bool, where: Any, mean: Any
) -> ndarray:
    """Return the variance, and warn the caller's caller of no degrees of freedom."""
    axes = layout.normalize_axes(axis, array.ndim)
    if where is True and ddof >= prod(array.shape[d] for d in axes):
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=3)
    kind = KIND[array.dtype]
    given = FLOAT64 if dtype is None and kind in "biu" else None if dtype is None else check(dtype)
    squares: DType = _REAL_OF.get(array.dtype, array.dtype) if given is None else given
    result: DType = squares if out is None else reduction_loop("add", squares, given, out.dtype)[-1]
    exact = KIND[result] in "biu" or (out is not None and KIND[out.dtype] in "biu")
    if where is not True or mean is not NOT_GIVEN or exact or (kind == "c" and given is not None):
        return _two_passes(array, axes, given, result, out, ddof, keepdims, where, mean)
    if 0 in array.shape:
        return filled(numpy.nan, result, final_shape(array, axes, keepdims), array)
    if given is not None and numpy.can_cast(array.dtype, given):
        array = converted(array, given)
    real = _REAL_OF.get(result, result)
    value = reduced("moments", array, axes, real, keepdims, (graph.scalar(float(ddof)),))
    return converted(value, result)


def _two_passes(
    array: ndarray,
    axes: tuple[int, ...],
    given: DType | None,
    result: DType,
    out: Any,
    ddof: Any,
    keepdims: bool,
    where: Any,
    mean: Any,
) -> ndarray:
    """The mean square of what is left when the mean is taken away."""
    count = count_of(array, axes, True, where)
    if given is None and KIND[array.dtype] == "e":
        array = converted(array, FLOAT32)  # squares of halves soon overflow
    if mean is NOT_GIVEN:
        sums = total(array, axes, given, None, True, where=where)
        mean = divided(sums, count, sums.dtype)
    rest = elementwise("subtract", (array, mean))
    if KIND[rest.dtype] == "c":
        parts = [elementwise("square", (elementwise(part, (rest,)),)) for part in ("real", "imag")]
        squares = elementwise("add", parts)
    else:
        squares = elementwise("multiply", (rest, rest))
    sums = stored(total(squares, axes, result if KIND[result] != "e" else None, None, keepdims, where=where), out)
    if where is True:
        return divided(sums, float(builtins.max(count - ddof, 0)), result)
    degrees = elementwise("maximum", (elementwise("subtract", (count, ddof)), 0))
    return divided(sums, wrap(reshaped(degrees.value(), sums.shape)), result)


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NOT_GIVEN) -> Any:
    """Weighted mean over axes; see `numpy.average`.

    The sum of the weights is looked at on the host, where zero is refused at once.
    """
    array = as_array(a)
    axes = layout.normalize_axes(axis, array.ndim)
    if weights is None:
        result = mean(array, axes, keepdims=keepdims)
        scale = filled(count_of(array, axes, False, True), result.dtype, result.shape, array)
        return (result, scale) if returned else result
    weight = weights_over(as_array(weights, array.device), array, None if axis is None else axes)
    common = numpy.result_type(array.dtype, weight.dtype, *([FLOAT64] if KIND[array.dtype] in "biu" else []))
    common = check(common)
    scale = total(weight, axes, common, None, keepdims)
    if to_host(any(elementwise("equal", (scale, 0.0)))):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    scaled = elementwise("multiply", (array, weight), (common, common, common))
    result = elementwise("divide", (total(scaled, axes, None, None, keepdims), scale))
    if not returned:
        return result
    return result, scale if scale.shape == result.shape else wrap(graph.broadcast(scale.value(), result.shape))


def weights_over(weight: ndarray, array: ndarray, axes: tuple[int, ...] | None) -> ndarray:
    """The weights, made to broadcast against the array."""
    if weight.shape == array.shape:
        return weight
    if axes is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weight.shape != tuple(array.shape[d] for d in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    node = transposed(weight.value(), tuple(axes.index(d) for d in sorted(axes)))
    return wrap(reshaped(node, tuple(n if d in axes else 1 for d, n in enumerate(array.shape))))
