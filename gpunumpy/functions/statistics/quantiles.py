"""Medians, quantiles and percentiles, with NaN and without.

Every one is a sort of rows and then one kernel: the positions asked for, the elements there, and what lies between.
Which quantiles are asked for is looked at on the host, where those out of range are refused at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy

from ...core.dtypes import BOOL, FLOAT64, INT64, KIND, DType
from ...core.errors import allowed
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.node import Node
from ...core.ops import table
from ...core.recording.array import from_host, ndarray, to_host, wrap
from ...core.recording.record import as_array, elementwise, reshaped, transposed
from ..indexing.slices import sliced
from ..reductions.reductions import NOT_GIVEN, any, deliver, final_shape, kept
from ..reductions.reductions import sum as total
from ..reductions.scans import cumsum
from ..sorting.sort import argsort_rows, picked_in_rows, sort_rows
from ..ufuncs.output import output
from .averages import FLOAT32, converted, divided, mean, weights_over
from .nanfunctions import nanmean

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]


def _rows(array: ndarray, axes: tuple[int, ...]) -> Node:
    """The elements with the given axes as one, which is the last."""
    others = [d for d in range(array.ndim) if d not in axes]
    turned = transposed(array.value(), (*others, *axes))
    return reshaped(turned, (*(array.shape[d] for d in others), prod(array.shape[d] for d in axes)))


def _last(rows: Node) -> ndarray:
    """The last element of every row, which is NaN if any is, where rows are sorted."""
    shape = rows.signature.shape
    return wrap(graph.view(rows, Layout(shape[:-1], layout.c_strides(shape)[:-1], shape[-1] - 1)))


def _at(rows: Node, index: Any) -> ndarray:
    """The elements at positions within rows: those of the host are the same ones in every row.

    The last dimensions of the result, and of an array of ours, are those of the rows.
    """
    queue, shape = rows.signature.queue, rows.signature.shape[:-1]
    assert queue is not None
    index = index if isinstance(index, ndarray) else _given(index, rows)
    place = index.value() if isinstance(index, ndarray) else graph.typed_scalar(index, INT64)
    ones = (1,) * len(shape)
    numbers = [graph.iota((*ones[:k], n, *ones[k + 1 :]), k, queue) for k, n in enumerate(shape)]
    return wrap(graph.gather(rows, (*numbers, place), ""))


def _either(condition: ndarray, x: Any, y: Any, dtype: DType) -> ndarray:
    return elementwise("where", (condition, x, y), (BOOL, dtype, dtype, dtype))


def _numbers(rows: Node) -> Any:
    """How many elements of every row are not NaN."""
    return total(elementwise("logical_not", (elementwise("isnan", (wrap(rows),)),)), -1, INT64)


def _or_nan(result: ndarray, rows: Node) -> ndarray:
    """The result, or NaN where sorted rows have one."""
    if KIND[rows.signature.dtype] in "biu":
        return result
    last = _last(rows)
    return _either(elementwise("isnan", (last,)), converted(last, result.dtype), result, result.dtype)


def _delivered(
    result: ndarray, lead: tuple[int, ...], array: ndarray, axes: tuple[int, ...], keepdims: Any, into: Any
) -> ndarray:
    """The results for all rows in their final shape, written to an `out` argument if there is one."""
    shape = (*lead, *final_shape(array, axes, kept(keepdims)))
    shaped = result if result.shape == shape else wrap(reshaped(result.value(), shape))
    return shaped if into is None else deliver(shaped, into, "add")


# --- medians --------------------------------------------------------------------------------------------------------


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> ndarray:
    """The middle of the sorted elements over axes, or the mean of the two middle ones; see `numpy.median`."""
    array, into = as_array(a), output(out)
    axes = layout.normalize_axes(axis, array.ndim)
    rows = _rows(array, axes)
    n = rows.signature.shape[-1]
    if not n:
        return mean(array, axis, None, into, keepdims)
    rows = sort_rows(rows)
    middle = [_at(rows, numpy.int64(k)) for k in range((n - 1) // 2, n // 2 + 1)]
    return _delivered(_or_nan(_mean(middle), rows), (), array, axes, keepdims, into)


def _mean(values: Sequence[ndarray]) -> ndarray:
    """The mean of one or two values, as `numpy.mean` has it."""
    dtype = values[0].dtype
    exact = KIND[dtype] in "biu"
    wide = FLOAT64 if exact else FLOAT32 if KIND[dtype] == "e" else dtype
    added = elementwise("add", values, (wide,) * 3) if len(values) > 1 else converted(values[0], wide)
    return divided(added, len(values), wide if exact else dtype)


def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = NOT_GIVEN
) -> ndarray:
    """The median of the numbers over axes, NaN where there is none; see `numpy.nanmedian`."""
    array, into = as_array(a), output(out)
    if not array.size:
        return nanmean(array, axis, out=into, keepdims=keepdims)
    if KIND[array.dtype] in "biu":
        return median(array, axis, into, keepdims=keepdims)
    axes = layout.normalize_axes(axis, array.ndim)
    rows = sort_rows(_rows(array, axes))
    count = _numbers(rows)
    low, high = (_at(rows, k) for k in (numpy.maximum(count - 1, 0) // 2, count // 2))
    result = _either(count % 2 == 1, low, _mean((low, high)), array.dtype)
    return _delivered(result, (), array, axes, keepdims, into)


# --- methods --------------------------------------------------------------------------------------------------------


class _Method(NamedTuple):
    """How a method finds a quantile among sorted elements; both formulas hold on the host and for arrays of ours.

    Attributes
    ----------
    place
        Where it is, from the number of elements, the index of the last one, and the quantile.
    share
        Of the distance from one element to the next, from the place and its part after the point; None where the place
        is that of an element.
    """

    place: Callable[[Any, Any, Any], Any]
    share: Callable[[Any, Any], Any] | None = None


def _between(alpha: float, beta: float) -> _Method:
    """A continuous method of Hyndman and Fan, by its two parameters."""
    return _Method(lambda n, last, q: n * q + (alpha + q * (1 - alpha - beta)) - 1, lambda place, part: part)


def _inverted(n: Any, last: Any, q: Any) -> Any:
    """The first element at which the distribution of the elements reaches the quantile."""
    place = n * q - 1
    below = numpy.floor(place)
    return below + (place != below)


def _closest(n: Any, last: Any, q: Any) -> Any:
    """The nearest element; of two the one whose index is odd."""
    place = n * q - 1 - 0.5
    below = numpy.floor(place)
    return below + ((place != below) | (below % 2 != 1))


_METHODS: dict[str, _Method] = {
    "inverted_cdf": _Method(_inverted),
    "averaged_inverted_cdf": _Method(lambda n, last, q: n * q - 1, lambda place, part: 1 - 0.5 * (part == 0)),
    "closest_observation": _Method(_closest),
    "interpolated_inverted_cdf": _between(0, 1),
    "hazen": _between(0.5, 0.5),
    "weibull": _between(0, 0),
    "linear": _Method(lambda n, last, q: last * q, lambda place, part: part),
    "median_unbiased": _between(1 / 3, 1 / 3),
    "normal_unbiased": _between(3 / 8, 3 / 8),
    "lower": _Method(lambda n, last, q: numpy.floor(last * q)),
    "higher": _Method(lambda n, last, q: numpy.ceil(last * q)),
    "midpoint": _Method(
        lambda n, last, q: 0.5 * (numpy.floor(last * q) + numpy.ceil(last * q)),
        lambda place, part: 0.5 * (place % 1 != 0),
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
    """What a share `q` of the elements over axes is not above; see `numpy.quantile`."""
    return _quantile(a, _Asked(q, False), axis, out, method, keepdims, weights, False)


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
    """What `q` percent of the elements over axes are not above; see `numpy.percentile`."""
    return _quantile(a, _Asked(q, True), axis, out, method, keepdims, weights, False)


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
    """What a share `q` of the numbers over axes is not above; see `numpy.nanquantile`."""
    return _quantile(a, _Asked(q, False), axis, out, method, keepdims, weights, True)


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
    """What `q` percent of the numbers over axes are not above; see `numpy.nanpercentile`."""
    return _quantile(a, _Asked(q, True), axis, out, method, keepdims, weights, True)


class _Asked:
    """The quantiles asked for: on the host, and whether their type gives way to that of the elements."""

    def __init__(self, q: Any, percent: bool) -> None:
        self.weak = type(q) in (int, float)
        self.device = q.device if isinstance(q, ndarray) else None
        shares = to_host(q) if isinstance(q, ndarray) else numpy.asarray(q)
        self.shares = numpy.asarray(numpy.true_divide(shares, 100)) if percent else shares
        self.name = "Percentiles must be in the range [0, 100]" if percent else "Quantiles must be in the range [0, 1]"


def _quantile(
    a: Any, asked: _Asked, axis: Any, out: Any, method: str, keepdims: Any, weights: Any, skip: bool
) -> ndarray:
    array, into = as_array(a, asked.device), output(out)
    if KIND[array.dtype] == "c":
        raise TypeError("a must be an array of real numbers")
    if not ((asked.shares >= 0) & (asked.shares <= 1)).all():
        raise ValueError(asked.name)
    if weights is not None and method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    axes = layout.normalize_axes(axis, array.ndim)
    weight = None if weights is None else _weights(weights, array, None if axis is None else axes)
    if skip and not array.size:
        return nanmean(array, axis, out=into, keepdims=keepdims)
    if asked.shares.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    if method not in _METHODS:
        raise ValueError(f"{method!r} is not a valid method; {allowed(tuple(_METHODS))}")
    rows = _rows(array, axes)
    if not rows.signature.shape[-1]:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    skip = skip and KIND[array.dtype] not in "biu"
    if weight is not None:
        result = _weighted(rows, _rows(weight, axes), asked.shares, skip)
    else:
        result = _unweighted(sort_rows(rows), asked, method, skip)
    return _delivered(result, asked.shares.shape, array, axes, keepdims, into)


def _given(x: Any, rows: Node, more: int = 0) -> Any:
    """A number or an array of the host as an operand beside a value for every row, or one of `more` dimensions."""
    if not x.ndim:
        return x[()]
    assert rows.signature.queue is not None
    return from_host(x.reshape(*x.shape, *(1,) * (len(rows.signature.shape) - 1 + more)), rows.signature.queue.device)


def _unweighted(rows: Node, asked: _Asked, name: str, skip: bool) -> ndarray:
    """The quantiles of sorted rows; the last dimensions of the result are those of the rows.

    What all rows have in common is worked out on the host. Where NaNs are skipped, every row has its own places.
    """
    method, q = _METHODS[name], asked.shares
    n: Any = rows.signature.shape[-1]
    last: Any = n - 1
    end = last
    if skip:
        count, q = _numbers(rows), _given(q, rows)
        end = numpy.maximum(count - 1, 0)
        # As a Python number would, they take the dtype of the quantiles.
        like = q.dtype if KIND[q.dtype] in "ef" else INT64
        n, last = converted(count, like), converted(count - 1, like)
    place = method.place(n, last, q)
    if method.share is None or (name == "linear" and place.dtype.kind in "iu"):
        result = _at(rows, _within(place, end))
    else:
        below = numpy.floor(place)
        low, high = (_at(rows, _within(k, end)) for k in (below, below + 1))
        share = method.share(place, place - below).astype(place.dtype)
        result = _interpolated(low, high, share, asked.weak, rows)
    return result if skip else _or_nan(result, rows)


def _within(place: Any, last: Any) -> Any:
    """A place as the index of an element."""
    return numpy.minimum(numpy.maximum(place, 0), last).astype(INT64)


def _interpolated(low: ndarray, high: ndarray, share: Any, weak: bool, rows: Node) -> ndarray:
    """The point that lies a share of the way from one value to another, reckoned from the nearer one."""
    way = elementwise("subtract", (high, low))
    share = share if isinstance(share, ndarray) else _given(share, rows)
    rest, near = 1 - share, share < 0.5
    if not isinstance(share, ndarray):
        if weak:
            share, rest = float(share), float(rest)
        return _plus(low, way, share) if near else _minus(high, way, rest)
    if weak:
        dtype = table.resolve("multiply", (way.dtype, float))[-1]
        share, rest = converted(share, dtype), converted(rest, dtype)
    up = _plus(low, way, share)
    return _either(near, up, converted(_minus(high, way, rest), up.dtype), up.dtype)


def _plus(x: ndarray, way: ndarray, share: Any) -> ndarray:
    return elementwise("add", (x, elementwise("multiply", (way, share))))


def _minus(x: ndarray, way: ndarray, share: Any) -> ndarray:
    return elementwise("subtract", (x, elementwise("multiply", (way, share))))


# --- weights --------------------------------------------------------------------------------------------------------


def _weights(weights: Any, array: ndarray, axes: tuple[int, ...] | None) -> ndarray:
    """The weights in the array's shape; negative ones are refused at once."""
    weight = weights_over(as_array(weights, array.device), array, axes)
    if to_host(any(elementwise("less", (weight, 0)))):
        raise ValueError("Weights must be non-negative.")
    return wrap(graph.broadcast(weight.value(), array.shape))


def _weighted(rows: Node, weights: Node, q: Any, skip: bool) -> ndarray:
    """The first elements at which the weights so far reach shares of all of them.

    The sums of the weights are looked at on the host, where one that is no number is refused at once.
    """
    order = argsort_rows(rows)
    ordered, weight = picked_in_rows(rows, order), wrap(picked_in_rows(weights, order))
    end: Any = weight.shape[-1] - 1
    if skip:
        nan = elementwise("isnan", (wrap(ordered),))
        weight = _either(nan, weight.dtype.type(0), weight, weight.dtype)
        end = numpy.maximum(_numbers(rows) - 1, 0)
    sums = cumsum(weight, -1, FLOAT64)
    n, axis = sums.shape[-1], sums.ndim - 1
    reached = elementwise("divide", (sums, sliced(sums, axis, n - 1, n)))
    wrong: Any = elementwise("isnan", (_last(reached.value()),))
    if skip:  # a row without numbers has no weights
        wrong = wrong & (_numbers(rows) > 0)
    if to_host(any(wrong)):
        raise ValueError("Weights included NaN, inf or were all zero.")
    if KIND[q.dtype] in "ef":
        reached = converted(reached, q.dtype)
    # An element without weight before all others is below every quantile, 0 too.
    reached = _either(elementwise("equal", (reached, 0)), -1, reached, reached.dtype)
    index: Any = total(elementwise("less", (reached, _given(q, rows, 1))), -1, INT64)
    result = _at(ordered, numpy.minimum(index, end))
    return result if skip else _or_nan(result, ordered)
