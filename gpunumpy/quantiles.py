"""Medians, quantiles and percentiles, with NaN and without.

Every one is a sort of rows and then one kernel: the positions asked for, the elements there, and what lies between.
Which quantiles are asked for is looked at on the host, where those out of range are refused at once.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy

from .core import layout
from .core import node as graph
from .core.array import from_host, ndarray, to_host, wrap
from .core.dtypes import BOOL, FLOAT64, INT64, KIND
from .core.errors import allowed
from .core.layout import Layout
from .core.node import DType, Node
from .core.record import as_array, elementwise, reshaped, transposed
from .kernels import table
from .nanfunctions import nanmean
from .reduction import NOT_GIVEN, any, deliver, filled, final_shape, kept
from .reduction import sum as total
from .scans import cumsum
from .sorting import argsort_rows, picked_in_rows, sort_rows
from .statistics import FLOAT32, converted, mean, weights_over
from .ufunc_output import output

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]


def _rows(array: ndarray, axes: tuple[int, ...]) -> Node:
    """The elements as rows over the given axes."""
    others = [d for d in range(array.ndim) if d not in axes]
    turned = transposed(array.value(), (*others, *axes))
    return reshaped(turned, (prod(array.shape[d] for d in others), prod(array.shape[d] for d in axes)))


def _columns(rows: Node, start: int, stop: int) -> ndarray:
    """Some columns of rows."""
    count, n = rows.form.shape
    return wrap(graph.view(rows, Layout((count, stop - start), (n, 1), start)))


def _last(rows: Node) -> ndarray:
    """The last element of every row, which is NaN if any is, where rows are sorted."""
    count, n = rows.form.shape
    return wrap(graph.view(rows, Layout((count,), (n,), n - 1)))


def _at(rows: Node, index: ndarray) -> ndarray:
    """The elements at positions within rows, the last dimension of which counts the rows."""
    queue = rows.form.queue
    assert queue is not None
    number = graph.iota(rows.form.shape[:1], 0, queue)
    return wrap(graph.gather(rows, (number, index.value()), ""))


def _either(condition: ndarray, x: Any, y: Any, dtype: DType) -> ndarray:
    return elementwise("where", (condition, x, y), (BOOL, dtype, dtype, dtype))


def _numbers(rows: Node) -> ndarray:
    """How many elements of every row are not NaN."""
    return total(elementwise("logical_not", (elementwise("isnan", (wrap(rows),)),)), 1, INT64)


def _or_nan(result: ndarray, rows: Node) -> ndarray:
    """The result, or NaN where sorted rows have one."""
    if KIND[rows.form.dtype] in "biu":
        return result
    last = _last(rows)
    return _either(elementwise("isnan", (last,)), converted(last, result.dtype), result, result.dtype)


# --- medians --------------------------------------------------------------------------------------------------------


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> ndarray:
    """The middle of the sorted elements over axes, or the mean of the two middle ones; see `numpy.median`."""
    array, into = as_array(a), output(out)
    axes = layout.normalize_axes(axis, array.ndim)
    rows = sort_rows(_rows(array, axes))
    n = rows.form.shape[1]
    result = mean(_columns(rows, max(0, n - 1) // 2, n // 2 + 1 if n else 0), 1)
    return _delivered(_or_nan(result, rows) if n else result, (), array, axes, keepdims, into)


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
    before = elementwise("maximum", (elementwise("subtract", (count, 1)), 0))
    low, high = (_at(rows, elementwise("floor_divide", (k, 2))) for k in (before, count))
    wide = FLOAT32 if KIND[array.dtype] == "e" else array.dtype
    both = elementwise("divide", (elementwise("add", (low, high), (wide,) * 3), 2))
    odd = elementwise("equal", (elementwise("remainder", (count, 2)), 1))
    result = _either(odd, low, converted(both, array.dtype), array.dtype)
    return _delivered(result, (), array, axes, keepdims, into)


def _delivered(
    result: ndarray, lead: tuple[int, ...], array: ndarray, axes: tuple[int, ...], keepdims: Any, into: Any
) -> ndarray:
    """The results for all rows in their final shape, written to an `out` argument if there is one."""
    shape = (*lead, *final_shape(array, axes, kept(keepdims)))
    shaped = wrap(reshaped(result.value(), shape))
    return shaped if into is None else deliver(shaped, into, "add")


# --- methods --------------------------------------------------------------------------------------------------------


class _Method(NamedTuple):
    """How a method finds a quantile among sorted elements.

    Attributes
    ----------
    place
        Where it is, from the number of elements, the index of the last one, and the quantile.
    fraction
        What the part of the index after the point, and the index, make of the distance from one element to the next;
        None where the index is that of an element.
    """

    place: Callable[[Any, Any, ndarray], ndarray]
    fraction: Callable[[ndarray, ndarray], ndarray] | None = None


def _product(x: Any, y: Any) -> ndarray:
    return elementwise("multiply", (x, y))


def _less(x: Any, y: Any) -> ndarray:
    return elementwise("subtract", (x, y))


def _floor(x: ndarray) -> ndarray:
    return elementwise("floor", (x,))


def _ceil(x: ndarray) -> ndarray:
    return elementwise("ceil", (x,))


def _is(x: ndarray, value: int) -> ndarray:
    return elementwise("equal", (x, value))


def _remainder(x: ndarray, y: int) -> ndarray:
    return elementwise("remainder", (x, y))


def _unchanged(part: ndarray, index: ndarray) -> ndarray:
    return part


def _between(alpha: float, beta: float) -> _Method:
    """A continuous method of Hyndman and Fan, by its two parameters."""

    def index(n: Any, last: Any, q: ndarray) -> ndarray:
        shift = elementwise("add", (alpha, _product(q, 1 - alpha - beta)))
        return _less(elementwise("add", (_product(n, q), shift)), 1)

    return _Method(index, _unchanged)


def _inverted(n: Any, last: Any, q: ndarray) -> ndarray:
    """The first element at which the distribution of the elements reaches the quantile."""
    index = _less(_product(n, q), 1)
    below = _floor(index)
    return elementwise("add", (below, elementwise("not_equal", (index, below))))


def _closest(n: Any, last: Any, q: ndarray) -> ndarray:
    """The nearest element; of two the one whose index is odd."""
    index = _less(_less(_product(n, q), 1), 0.5)
    below = _floor(index)
    stays = elementwise("logical_and", (elementwise("equal", (index, below)), _is(_remainder(below, 2), 1)))
    return elementwise("add", (below, elementwise("logical_not", (stays,))))


def _midpoint(n: Any, last: Any, q: ndarray) -> ndarray:
    index = _product(last, q)
    return _product(0.5, elementwise("add", (_floor(index), _ceil(index))))


_METHODS: dict[str, _Method] = {
    "inverted_cdf": _Method(_inverted),
    "averaged_inverted_cdf": _Method(
        lambda n, last, q: _less(_product(n, q), 1), lambda part, index: _either(_is(part, 0), 0.5, 1.0, FLOAT64)
    ),
    "closest_observation": _Method(_closest),
    "interpolated_inverted_cdf": _between(0, 1),
    "hazen": _between(0.5, 0.5),
    "weibull": _between(0, 0),
    "linear": _Method(lambda n, last, q: _product(last, q), _unchanged),
    "median_unbiased": _between(1 / 3, 1 / 3),
    "normal_unbiased": _between(3 / 8, 3 / 8),
    "lower": _Method(lambda n, last, q: _floor(_product(last, q))),
    "higher": _Method(lambda n, last, q: _ceil(_product(last, q))),
    "midpoint": _Method(_midpoint, lambda part, index: _either(_is(_remainder(index, 1), 0), 0.0, 0.5, FLOAT64)),
    "nearest": _Method(lambda n, last, q: elementwise("rint", (_product(last, q),))),
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

    def array(self, like: ndarray) -> ndarray:
        """The quantiles on an array's device, with a last dimension that broadcasts over rows."""
        shape = (*self.shares.shape, 1)
        if not self.shares.ndim:
            return filled(self.shares[()], self.shares.dtype, shape, like)
        return from_host(self.shares.reshape(shape), like.device)


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
    if not rows.form.shape[1]:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    skip = skip and KIND[array.dtype] not in "biu"
    if weight is not None:
        result = _weighted(rows, _rows(weight, axes), asked.array(array), skip)
    else:
        result = _unweighted(sort_rows(rows), asked, asked.array(array), _METHODS[method], skip)
    return _delivered(result, asked.shares.shape, array, axes, keepdims, into)


def _unweighted(rows: Node, asked: _Asked, q: ndarray, method: _Method, skip: bool) -> ndarray:
    """The quantiles of sorted rows; a dimension for the rows is the last one of the result."""
    n: Any = rows.form.shape[1]
    last: Any = n - 1
    end = last
    if skip:
        count = _numbers(rows)
        end = elementwise("maximum", (_less(count, 1), 0))
        # As a Python number would, they take the dtype of the quantiles.
        like = q.dtype if KIND[q.dtype] in "ef" else INT64
        n, last = converted(count, like), converted(_less(count, 1), like)
    index = method.place(n, last, q)
    if method.fraction is None or (KIND[index.dtype] in "iu" and method is _METHODS["linear"]):
        result = _at(rows, _within(index, end))
    else:
        below = _floor(index)
        low, high = (_at(rows, _within(k, end)) for k in (below, elementwise("add", (below, 1))))
        share = converted(method.fraction(_less(index, below), index), index.dtype)
        result = _interpolated(low, high, share, asked.weak)
    return result if skip else _or_nan(result, rows)


def _within(index: ndarray, last: Any) -> ndarray:
    """An index as an integer that names an element."""
    return elementwise("minimum", (elementwise("maximum", (converted(index, INT64), 0)), last))


def _interpolated(low: ndarray, high: ndarray, share: ndarray, weak: bool) -> ndarray:
    """The point that lies a share of the way from one value to another, reckoned from the nearer one."""
    way = _less(high, low)
    rest = _less(1, share)
    beyond = elementwise("greater_equal", (share, 0.5))
    if weak:
        dtype = table.resolve("multiply", (way.dtype, float))[-1]
        share, rest = converted(share, dtype), converted(rest, dtype)
    up = elementwise("add", (low, _product(way, share)))
    down = _less(high, _product(way, rest))
    return _either(beyond, converted(down, up.dtype), up, up.dtype)


# --- weights --------------------------------------------------------------------------------------------------------


def _weights(weights: Any, array: ndarray, axes: tuple[int, ...] | None) -> ndarray:
    """The weights in the array's shape; negative ones are refused at once."""
    weight = weights_over(as_array(weights, array.device), array, axes)
    if to_host(any(elementwise("less", (weight, 0)))):
        raise ValueError("Weights must be non-negative.")
    return wrap(graph.broadcast(weight.value(), array.shape))


def _weighted(rows: Node, weights: Node, q: ndarray, skip: bool) -> ndarray:
    """The first elements at which the weights so far reach shares of all of them.

    The sums of the weights are looked at on the host, where one that is no number is refused at once.
    """
    n = rows.form.shape[1]
    order = argsort_rows(rows)
    ordered, weight = picked_in_rows(rows, order), wrap(picked_in_rows(weights, order))
    end: Any = n - 1
    count = _numbers(rows) if skip else n
    if skip:
        nan = elementwise("isnan", (wrap(ordered),))
        weight = _either(nan, weight.dtype.type(0), weight, weight.dtype)
        end = elementwise("maximum", (_less(count, 1), 0))
    sums = cumsum(weight, 1, FLOAT64)
    reached = elementwise("divide", (sums, _columns(sums.value(), n - 1, n)))
    wrong = elementwise("isnan", (_last(reached.value()),))
    if to_host(any(elementwise("logical_and", (wrong, elementwise("greater", (count, 0)))))):
        raise ValueError("Weights included NaN, inf or were all zero.")
    if KIND[q.dtype] in "ef":
        reached = converted(reached, q.dtype)
    # An element without weight before all others is below every quantile, 0 too.
    reached = _either(elementwise("equal", (reached, 0)), -1, reached, reached.dtype)
    short = elementwise("less", (reached, wrap(reshaped(q.value(), (*q.shape, 1)))))
    index = total(short, -1, INT64)
    result = _at(ordered, elementwise("minimum", (index, end)))
    return result if skip else _or_nan(result, ordered)
