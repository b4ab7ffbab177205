"""Medians, quantiles and percentiles, of all elements or of those that are not NaN.

Each is a sort of rows and one kernel: the positions of the quantiles, the elements there, and the interpolation. Where
NumPy partitions long rows, and the positions are known, it does so instead of the sort. The
requested quantiles are read on the host, so that one out of range raises `ValueError` at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy

from ...core.dtypes import BOOL, FLOAT64, INT64, KIND, DType, of_data
from ...core.errors import allowed
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.node import Node
from ...core.ops import table
from ...core.recording.array import from_host, ndarray, to_host, wrap
from ...core.recording.record import as_array, elementwise, leave_function_to_class, reshaped, transposed
from ..indexing.slices import sliced_copy
from ..reductions.reductions import NOT_GIVEN, any, final_shape, keeps_dims_if_true, write_result_to_out
from ..reductions.reductions import sum as total
from ..reductions.scans import cumsum
from ..sorting.sort import are_long_rows, argsort_rows, elements_in_rows, partition_or_sort_rows, sort_rows
from ..ufuncs.errstate import defer_checks, ignoring, is_checking, warn_of_slices
from ..ufuncs.output import checked_output, write_to_output
from .averages import FLOAT32, converted, divided, mean, weights_over
from .nanfunctions import nanmean

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]


def _rows(array: ndarray, axes: tuple[int, ...]) -> Node:
    """Return the elements as rows: the given axes become one, the last."""
    others = [d for d in range(array.ndim) if d not in axes]
    axes_last = transposed(array.value(), (*others, *axes))
    return reshaped(axes_last, (*(array.shape[d] for d in others), prod(array.shape[d] for d in axes)))


def _sorted_at(rows: Node, positions: Sequence[Any]) -> Node:
    """Return rows sorted at these positions at least, and with their NaN, if they have any, last.

    Positions on the device are those of the only row.
    """
    on_device = [k.value() for k in positions if isinstance(k, ndarray)]
    on_host = {int(x) for k in positions if not isinstance(k, ndarray) for x in k.flat}
    if KIND[rows.signature.dtype] not in "biu":
        on_host.add(rows.signature.shape[-1] - 1)
    return partition_or_sort_rows(rows, [*on_device, *map(graph.scalar, sorted(on_host))])


def _sorted_unless_partitioned(rows: Node) -> Node:
    """Return rows as they are if they are a long one, which `_sorted_at` sorts once the positions are known."""
    return rows if len(rows.signature.shape) == 1 and are_long_rows(rows) else sort_rows(rows)


def _last(rows: Node) -> ndarray:
    """Return the last element of every row; in sorted rows it is NaN if the row has a NaN."""
    shape = rows.signature.shape
    return wrap(graph.view(rows, Layout(shape[:-1], layout.c_strides(shape)[:-1], shape[-1] - 1)))


def _at(rows: Node, index: Any) -> ndarray:
    """Return the elements at positions within rows.

    Host positions are the same for every row. The last dimensions of the result, and of an array of positions, are the
    dimensions that the rows stand in.
    """
    queue, shape = rows.signature.queue, rows.signature.shape[:-1]
    assert queue is not None
    index = index if isinstance(index, ndarray) else _beside_rows(index, rows)
    index_node = index.value() if isinstance(index, ndarray) else graph.typed_scalar(index, INT64)
    ones = (1,) * len(shape)
    row_indices = [graph.iota((*ones[:k], n, *ones[k + 1 :]), k, queue) for k, n in enumerate(shape)]
    return wrap(graph.gather(rows, (*row_indices, index_node), ""))


def _where(condition: ndarray, x: Any, y: Any, dtype: DType) -> ndarray:
    return elementwise("where", (condition, x, y), (BOOL, dtype, dtype, dtype))


def _count_numbers(rows: Node) -> Any:
    """Return the number of elements of every row that are not NaN."""
    return total(elementwise("logical_not", (elementwise("isnan", (wrap(rows),)),)), -1, INT64)


def _or_nan(result: ndarray, rows: Node) -> ndarray:
    """Return the result, with NaN where sorted rows contain NaN."""
    if KIND[rows.signature.dtype] in "biu":
        return result
    last = _last(rows)
    return _where(elementwise("isnan", (last,)), converted(last, result.dtype), result, result.dtype)


def _return_result(
    result: ndarray, q_shape: tuple[int, ...], array: ndarray, axes: tuple[int, ...], keepdims: Any, into: Any
) -> ndarray:
    """Return the results for all rows in their final shape, written into an `out` argument if there is one."""
    shape = (*q_shape, *final_shape(array, axes, keeps_dims_if_true(keepdims)))
    shaped = result if result.shape == shape else wrap(reshaped(result.value(), shape))
    return shaped if into is None else write_result_to_out(shaped, into, "add")


def _assigned(result: ndarray, into: ndarray, checked: bool) -> ndarray:
    """Write a result into an output, which may be larger: NumPy assigns it, or adds to it, which checks dtypes."""
    is_wider = len(result.shape) > len(into.shape)
    misfits = [n for n, size in zip(result.shape[::-1], into.shape[::-1]) if n not in (1, size)]
    loses_kind = checked and not numpy.can_cast(result.dtype, into.dtype, "same_kind")
    if is_wider or misfits or loses_kind:
        return write_result_to_out(result, into, "add", checked)  # which raises
    return write_to_output(into, result.value())


# --- medians --------------------------------------------------------------------------------------------------------


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> ndarray:
    """Compute the median over axes: the middle of the sorted elements, or the mean of two. See `numpy.median`."""
    array, into = as_array(a), checked_output(out)
    axes = layout.normalize_axes(axis, array.ndim)
    rows = _rows(array, axes)
    n = rows.signature.shape[-1]
    if not n:
        return mean(array, axis, None, into, keepdims)
    positions = [numpy.int64(k) for k in range((n - 1) // 2, n // 2 + 1)]
    rows = _sorted_at(rows, positions)
    middle = [_at(rows, k) for k in positions]
    return _return_result(_or_nan(_mean(middle), rows), (), array, axes, keepdims, into)


def _mean(values: Sequence[ndarray]) -> ndarray:
    """Return the mean of one or two values, with the dtypes of `numpy.mean`."""
    dtype = values[0].dtype
    is_integer = KIND[dtype] in "biu"
    sum_dtype = FLOAT64 if is_integer else FLOAT32 if KIND[dtype] == "e" else dtype
    sums = elementwise("add", values, (sum_dtype,) * 3) if len(values) > 1 else converted(values[0], sum_dtype)
    return divided(sums, len(values), sum_dtype if is_integer else dtype)


_mean_where_used = defer_checks(_mean)


def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = NOT_GIVEN
) -> ndarray:
    """Compute the median over axes, ignoring NaN; NaN for a slice with nothing else. See `numpy.nanmedian`."""
    array, into = as_array(a), checked_output(out)
    if not array.size:
        return nanmean(array, axis, out=into, keepdims=keepdims)
    result = _median_of_numbers(array, axis, keepdims)
    return result if into is None else _assigned(result, into, checked=False)


def _median_of_numbers(array: ndarray, axis: Any, keepdims: Any) -> ndarray:
    """Return the median of what is not NaN, of an array that has elements."""
    if KIND[array.dtype] in "biu":
        return median(array, axis, keepdims=keepdims)
    axes = layout.normalize_axes(axis, array.ndim)
    given = _rows(array, axes)
    rows = _sorted_unless_partitioned(given)
    count = _count_numbers(rows)
    warn_of_slices("All-NaN slice encountered", lambda: elementwise("equal", (count, 0)))
    middle = numpy.maximum(count - 1, 0) // 2, count // 2
    if rows is given:
        rows = _sorted_at(rows, middle)
    low, high = (_at(rows, k) for k in middle)
    result = _where(count % 2 == 1, low, _mean_where_used((low, high)), array.dtype)
    return _return_result(result, (), array, axes, keepdims, None)


# --- methods of estimation ------------------------------------------------------------------------------------------


class _Method(NamedTuple):
    """Formulas of a method that estimates a quantile from sorted elements; they work on host numbers and on arrays.

    Attributes
    ----------
    position
        Where the quantile lies among the elements, from the number of elements, the index of the last one, and the
        quantile.
    share
        The share of the distance from one element to the next, from the position and its fractional part; None if the
        position is that of an element.
    """

    position: Callable[[Any, Any, Any], Any]
    share: Callable[[Any, Any], Any] | None = None


def _continuous(alpha: float, beta: float) -> _Method:
    """Return a continuous method of Hyndman and Fan (1996), by its two parameters."""
    return _Method(lambda n, last, q: n * q + (alpha + q * (1 - alpha - beta)) - 1, lambda position, fraction: fraction)


def _inverted_index(n: Any, last: Any, q: Any) -> Any:
    """Return the first index at which the distribution function of the elements reaches the quantile."""
    position = n * q - 1
    below = numpy.floor(position)
    return below + (position != below)


def _closest_index(n: Any, last: Any, q: Any) -> Any:
    """Return the index of the nearest element; of two equally near ones, the odd index."""
    position = n * q - 1 - 0.5
    below = numpy.floor(position)
    return below + ((position != below) | (below % 2 != 1))


_METHODS: dict[str, _Method] = {
    "inverted_cdf": _Method(_inverted_index),
    "averaged_inverted_cdf": _Method(
        lambda n, last, q: n * q - 1, lambda position, fraction: 1 - 0.5 * (fraction == 0)
    ),
    "closest_observation": _Method(_closest_index),
    "interpolated_inverted_cdf": _continuous(0, 1),
    "hazen": _continuous(0.5, 0.5),
    "weibull": _continuous(0, 0),
    "linear": _Method(lambda n, last, q: last * q, lambda position, fraction: fraction),
    "median_unbiased": _continuous(1 / 3, 1 / 3),
    "normal_unbiased": _continuous(3 / 8, 3 / 8),
    "lower": _Method(lambda n, last, q: numpy.floor(last * q)),
    "higher": _Method(lambda n, last, q: numpy.ceil(last * q)),
    "midpoint": _Method(
        lambda n, last, q: 0.5 * (numpy.floor(last * q) + numpy.ceil(last * q)),
        lambda position, fraction: 0.5 * (position % 1 != 0),
    ),
    "nearest": _Method(lambda n, last, q: numpy.rint(last * q)),
}


# --- quantiles ------------------------------------------------------------------------------------------------------


def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> ndarray:
    """Compute the q-th quantile of the elements over axes. See `numpy.quantile`."""
    return _checked_quantile(a, _Requested(q, False), axis, out, method, keepdims, weights, False)


def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> ndarray:
    """Compute the q-th percentile of the elements over axes. See `numpy.percentile`."""
    return _checked_quantile(a, _Requested(q, True), axis, out, method, keepdims, weights, False)


def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = NOT_GIVEN,
    *,
    weights: Any = None,
) -> ndarray:
    """Compute the q-th quantile over axes, ignoring NaN. See `numpy.nanquantile`."""
    return _checked_quantile(a, _Requested(q, False), axis, out, method, keepdims, weights, True)


def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = NOT_GIVEN,
    *,
    weights: Any = None,
) -> ndarray:
    """Compute the q-th percentile over axes, ignoring NaN. See `numpy.nanpercentile`."""
    return _checked_quantile(a, _Requested(q, True), axis, out, method, keepdims, weights, True)


class _Requested:
    """Requested quantiles, on the host. They are weak in type promotion if they are one Python number."""

    def __init__(self, q: Any, percent: bool) -> None:
        leave_function_to_class(q)
        self.weak = type(q) in (int, float)
        self.device = q.device if isinstance(q, ndarray) else None
        shares = to_host(q) if isinstance(q, ndarray) else numpy.asarray(q)
        self.shares = numpy.asarray(numpy.true_divide(shares, 100)) if percent else shares
        of_data(self.shares.dtype)  # raises OnHostError, of fractions for example
        self.range_error = (
            "Percentiles must be in the range [0, 100]" if percent else "Quantiles must be in the range [0, 1]"
        )


def _checked_quantile(
    a: Any, requested: _Requested, axis: Any, out: Any, method: str, keepdims: Any, weights: Any, skip_nan: bool
) -> ndarray:
    """Check the arguments, compute the quantiles of all rows."""
    array, into = as_array(a, requested.device), checked_output(out)
    if KIND[array.dtype] == "c":
        raise TypeError("a must be an array of real numbers")
    if not ((requested.shares >= 0) & (requested.shares <= 1)).all():
        raise ValueError(requested.range_error)
    if weights is not None and method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    axes = layout.normalize_axes(axis, array.ndim)
    weight = None if weights is None else _checked_weights(weights, array, None if axis is None else axes)
    if skip_nan and not array.size:
        return nanmean(array, axis, out=into, keepdims=keepdims)
    if requested.shares.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    if method not in _METHODS:
        raise ValueError(f"{method!r} is not a valid method; {allowed(tuple(_METHODS))}")
    rows = _rows(array, axes)
    looks_for_nan = KIND[array.dtype] not in "biu"
    if not rows.signature.shape[-1] and (requested.shares.size or looks_for_nan):
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    skips_nan, skip_nan = skip_nan, skip_nan and KIND[array.dtype] not in "biu"
    if weight is not None:
        result = _weighted_quantiles(rows, _rows(weight, axes), requested.shares, skip_nan)
    else:
        result = _unweighted_quantiles(rows, requested, method, skip_nan)
    shaped = _return_result(result, requested.shares.shape, array, axes, keepdims, None)
    return shaped if into is None else _assigned(shaped, into, checked=not skips_nan)


def _beside_rows(x: Any, rows: Node, element_dims: int = 0) -> Any:
    """Return a host number or array as an operand whose dimensions come before the dimensions that the rows stand in.

    `element_dims` dimensions of length 1 come last, for an operand that is combined with the elements of the rows.
    """
    if not x.ndim:
        return x[()]
    assert rows.signature.queue is not None
    return from_host(
        x.reshape(*x.shape, *(1,) * (len(rows.signature.shape) - 1 + element_dims)), rows.signature.queue.device
    )


def _unweighted_quantiles(rows: Node, requested: _Requested, method_name: str, skip_nan: bool) -> ndarray:
    """Return the quantiles of rows; the last dimensions of the result are those of the rows.

    Positions that all rows share are computed on the host. If NaN is ignored, every row has its own positions.
    """
    method, q = _METHODS[method_name], requested.shares
    n: Any = rows.signature.shape[-1]
    last: Any = n - 1
    last_index = last
    given = rows
    if skip_nan:
        rows = _sorted_unless_partitioned(given)
        count, q = _count_numbers(rows), _beside_rows(q, rows)
        warn_of_slices("All-NaN slice encountered", lambda: elementwise("equal", (count, 0)))
        last_index = numpy.maximum(count - 1, 0)
        # Counts take the dtype of the quantiles, as a Python number would.
        dtype = q.dtype if KIND[q.dtype] in "ef" else INT64
        n, last = converted(count, dtype), converted(count - 1, dtype)
    position = method.position(n, last, q)
    is_exact = method.share is None or (method_name == "linear" and position.dtype.kind in "iu")
    below = position if is_exact else numpy.floor(position)
    indices = [_as_index(k, last_index) for k in ((below,) if is_exact else (below, below + 1))]
    if rows is given:
        rows = _sorted_at(rows, indices)
    result, *above = [_at(rows, index) for index in indices]
    if method.share is not None and above:
        share = method.share(position, position - below).astype(position.dtype)
        result = _interpolate(result, above[0], share, requested.weak, rows)
    return result if skip_nan else _or_nan(result, rows)


def _as_index(position: Any, last_index: Any) -> Any:
    """Return a position as the index of an element, limited to the elements of the row."""
    return numpy.minimum(numpy.maximum(position, 0), last_index).astype(INT64)


def _interpolate(low: ndarray, high: ndarray, share: Any, is_weak: bool, rows: Node) -> ndarray:
    """Interpolate linearly between two values; `share` is the share of the way from `low` to `high`.

    The result is computed from the nearer value, as in NumPy.
    """
    difference = elementwise("subtract", (high, low))
    share = share if isinstance(share, ndarray) else _beside_rows(share, rows)
    complement, is_near_low = 1 - share, share < 0.5
    if not isinstance(share, ndarray):
        if is_weak:
            share, complement = float(share), float(complement)
        # NumPy's errors are those of the first as well, whose result it may overwrite.
        from_low = _add_scaled(low, difference, share) if is_near_low or is_checking() else low
        return from_low if is_near_low else _subtract_scaled(high, difference, complement)
    if is_weak:
        dtype = table.resolve("multiply", (difference.dtype, float))[-1]
        share, complement = converted(share, dtype), converted(complement, dtype)
    from_low = _add_scaled(low, difference, share)
    from_high = _subtract_scaled_where_used(high, difference, complement, from_low.dtype)
    return _where(is_near_low, from_low, from_high, from_low.dtype)


def _add_scaled(x: ndarray, difference: ndarray, share: Any) -> ndarray:
    return elementwise("add", (x, elementwise("multiply", (difference, share))))


def _subtract_scaled(x: ndarray, difference: ndarray, share: Any) -> ndarray:
    return elementwise("subtract", (x, elementwise("multiply", (difference, share))))


@defer_checks
def _subtract_scaled_where_used(x: ndarray, difference: ndarray, share: Any, dtype: DType) -> ndarray:
    return converted(_subtract_scaled(x, difference, share), dtype)


# --- weights --------------------------------------------------------------------------------------------------------


def _checked_weights(weights: Any, array: ndarray, axes: tuple[int, ...] | None) -> ndarray:
    """Return the weights in the array's shape; they are computed at once, and a negative one raises `ValueError`."""
    weight = weights_over(as_array(weights, array.device), array, axes)
    if to_host(any(elementwise("less", (weight, 0)))):
        raise ValueError("Weights must be non-negative.")
    return wrap(graph.broadcast(weight.value(), array.shape))


def _divided(one: ndarray, two: ndarray) -> ndarray:
    """Return the quotient."""
    return elementwise("divide", (one, two))


_divided_quietly = ignoring(invalid="ignore")(_divided)


def _weighted_quantiles(rows: Node, weights: Node, q: Any, skip_nan: bool) -> ndarray:
    """Return the first elements at which the cumulative weight reaches shares of the total weight.

    The cumulative weights are computed at once, and NaN among them raises `ValueError`.
    """
    order = argsort_rows(rows)
    ordered, weight = elements_in_rows(rows, order), wrap(elements_in_rows(weights, order))
    last_index: Any = weight.shape[-1] - 1
    if skip_nan:
        is_nan = elementwise("isnan", (wrap(ordered),))
        weight = _where(is_nan, weight.dtype.type(0), weight, weight.dtype)
        count = _count_numbers(rows)
        warn_of_slices("All-NaN slice encountered", lambda: elementwise("equal", (count, 0)))
        last_index = numpy.maximum(count - 1, 0)
    sums = cumsum(weight, -1, FLOAT64)
    n, axis = sums.shape[-1], sums.ndim - 1
    share_reached = (_divided_quietly if skip_nan else _divided)(sums, sliced_copy(sums, axis, n - 1, n))
    is_invalid: Any = elementwise("isnan", (_last(share_reached.value()),))
    if skip_nan:  # a row of NaN alone has no weight
        is_invalid = is_invalid & (_count_numbers(rows) > 0)
    if to_host(any(is_invalid)):
        raise ValueError("Weights included NaN, inf or were all zero.")
    if KIND[q.dtype] in "ef":
        share_reached = converted(share_reached, q.dtype)
    # Elements of weight 0 before all others lie below every quantile, even below quantile 0.
    share_reached = _where(elementwise("equal", (share_reached, 0)), -1, share_reached, share_reached.dtype)
    index: Any = total(elementwise("less", (share_reached, _beside_rows(q, rows, 1))), -1, INT64)
    result = _at(ordered, numpy.minimum(index, last_index))
    return result if skip_nan else _or_nan(result, ordered)
