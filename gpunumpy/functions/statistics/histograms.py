"""Counting: `bincount`, and histograms in one dimension and more.

One library call finds the bin of each element and counts. Edges are made on the host by NumPy, so that they equal
NumPy's edges to the bit; where the minimum and the maximum decide them, these two are computed at once.
"""

from __future__ import annotations

import builtins
import operator
from math import prod
from typing import Any, NamedTuple

import numpy

from ...core.dtypes import BOOL, FLOAT64, INT64, KIND
from ...core.errors import OnHostError
from ...core.floating_errors import silent_unless_asked
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.ops import table
from ...core.recording.array import from_host, ndarray, wrap
from ...core.recording.record import as_array, elementwise, ndim_of, reshaped, warn_of_lost_parts
from ...core.source_location import warn
from ..creation.arrays import zeros
from ..indexing.getitem import getitem
from ..indexing.masks import contiguous_vector
from ..indexing.slices import laid_along_axis, sliced_copy
from ..manipulation.shape import transpose
from ..reductions import reductions
from ..sorting.searching import check_vector, common_dtype, insertion_positions
from ..ufuncs.elementwise import set_imag, set_real
from .bin_widths import WIDTHS, difference, number

__all__ = ["bincount", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]

_UINT8 = numpy.dtype(numpy.uint8)
_UINT64 = numpy.dtype(numpy.uint64)


# --- bincount -------------------------------------------------------------------------------------------------------


def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> ndarray:
    """Count the occurrences of each non-negative integer, or sum the weights of each. See `numpy.bincount`.

    The greatest integer is computed at once, as it decides the size of the result.
    """
    if minlength is None:
        raise TypeError("use 0 instead of None for minlength")
    min_size = operator.index(minlength)
    if min_size < 0:
        raise ValueError("'minlength' must not be negative")
    array = as_array(x, weights.device if isinstance(weights, ndarray) else None)
    if array.shape == (0,) and not isinstance(x, (ndarray, numpy.ndarray)):
        array = zeros(0, INT64, device=array.device)  # an empty list counts as integers
    check_vector(array)
    if KIND[array.dtype] not in "biu":
        if not isinstance(x, (ndarray, numpy.ndarray)):
            raise OnHostError("NumPy decides, in each of its releases, whether a list of floats may count")
        raise TypeError(f"Cannot cast array data from {array.dtype!r} to {INT64!r} according to the rule 'safe'")
    if not array.size:
        return zeros(min_size, INT64, device=array.device)
    weight = None if weights is None else _weights_of(weights, array)
    # Cast to unsigned, negative integers are the greatest: one maximum shows both the size and the error.
    unsigned = graph.cast(contiguous_vector(array.value()), _UINT64)
    greatest = int(number(wrap(graph.reduce("maximum", (_UINT64, _UINT64), (0,), (unsigned,)))))
    if greatest > layout.MAX_SIZE:
        raise ValueError("'list' argument must have no negative elements")
    return wrap(_record_counts(array, builtins.max(greatest + 1, min_size), weight))


def _checked_weights(weight: ndarray, count: int) -> ndarray:
    """Return weights that can be summed as float64; raise unless they are real and as many as the elements."""
    check_vector(weight)
    if KIND[weight.dtype] == "c":
        raise TypeError(f"Cannot cast array data from {weight.dtype!r} to {FLOAT64!r} according to the rule 'safe'")
    if weight.size != count:
        raise ValueError("The weights and list don't have the same length.")
    return weight


def _weights_of(weights: Any, x: ndarray) -> ndarray:
    """Return the weights of the elements of `x`; NumPy makes a float of each complex number in a list, if it can."""
    weight = as_array(weights, x.device)
    if KIND[weight.dtype] == "c" and not isinstance(weights, (ndarray, numpy.ndarray)):
        raise OnHostError("a list of complex weights")
    return _checked_weights(weight, x.size)


def _record_counts(x: ndarray, bins: int, weight: ndarray | None) -> Node:
    """Record the count of each integer below `bins`, or the sums of the weights of each."""
    layout.check_size((bins,), INT64.itemsize)
    args = [contiguous_vector(a.value()) for a in (x, weight) if a is not None]
    return graph.library_call("bincount", (), args, ((bins,), INT64 if weight is None else FLOAT64))


# --- edges ----------------------------------------------------------------------------------------------------------


class _Span(NamedTuple):
    """Interval that uniform bins cover, in the dtypes that NumPy computes with; and if it is a `range` argument."""

    first: Any
    last: Any
    is_argument: bool


def _extremes(x: ndarray) -> tuple[ndarray, ndarray] | None:
    """Return the minimum and the maximum, not computed yet; None for an empty array."""
    return (reductions.min(x), reductions.max(x)) if x.size else None


def _extremes_on_host(ends: tuple[ndarray, ndarray] | None) -> tuple[Any, Any]:
    """Return the minimum and the maximum as scalars on the host; 0 and 1 for an empty array."""
    return (0, 1) if ends is None else (number(ends[0]), number(ends[1]))


def _span(ends: tuple[ndarray, ndarray] | None, range: Any) -> _Span:
    """Return the interval that the bins cover, by a `range` argument or by the elements."""
    if range is not None:
        first, last = (number(x) if isinstance(x, ndarray) else x for x in range)
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
    else:
        first, last = _extremes_on_host(ends)
    if not (numpy.isfinite(first) and numpy.isfinite(last)):
        raise ValueError(f"{'autodetected' if range is None else 'supplied'} range of [{first}, {last}] is not finite")
    if first == last:
        first, last = first - 0.5, last + 0.5
    return _Span(first, last, range is not None)


def _edges(x: ndarray, bins: Any, range: Any, weighted: bool) -> tuple[ndarray, _Span | None]:
    """Return the edges, and the interval that the bins cover if they are uniform."""
    if isinstance(bins, str):
        if bins not in WIDTHS:
            raise ValueError(f"{bins!r} is not a valid estimator for `bins`")
        if weighted:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        return _uniform_edges(x, *_estimated_bins(x, bins, range))
    if ndim_of(bins) == 0:
        try:
            count = operator.index(bins)
        except TypeError as error:
            raise TypeError("`bins` must be an integer, a string, or an array") from error
        if count < 1:
            raise ValueError("`bins` must be positive, when an integer")
        return _uniform_edges(x, count, _span(None if range is not None else _extremes(x), range))
    if ndim_of(bins) == 1:
        edges = as_array(bins, x.device)
        if _decreases(bins):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges, None
    raise ValueError("`bins` must be 1d, when an array")


def _decreases(edges: Any) -> bool:
    """Return whether an edge is greater than the next one; edges on a device are computed for that."""
    if not isinstance(edges, ndarray):
        host = numpy.asarray(edges)
        return bool((host[:-1] > host[1:]).any())
    n = edges.size
    return bool(reductions.any(elementwise("greater", (sliced_copy(edges, 0, 0, n - 1), sliced_copy(edges, 0, 1, n)))))


def _estimated_bins(x: ndarray, name: str, range: Any) -> tuple[int, _Span]:
    """Return the number of bins by a rule, and the interval that they cover."""
    span = _span(None if range is not None else _extremes(x), range)
    if range is not None:
        is_inside = [
            elementwise(op, (x, end)) for op, end in (("greater_equal", span.first), ("less_equal", span.last))
        ]
        x = getitem(x, elementwise("logical_and", is_inside))
    if not x.size:
        return 1, span
    width = WIDTHS[name](x, lambda count: histogram(x, count, span[:2])[0])
    if not width:
        return 1, span
    if KIND[x.dtype] in "iu" and width < 1:
        width = 1
    return int(numpy.ceil(difference(span.last, span.first) / width)), span


def _uniform_edges(x: ndarray, count: int, span: _Span) -> tuple[ndarray, _Span]:
    """Return the edges of bins of equal width, and the interval."""
    dtype = numpy.result_type(span.first, span.last, x.dtype)
    if dtype.kind in "iu":
        dtype = numpy.result_type(dtype, float)
    with silent_unless_asked():
        edges = numpy.linspace(span.first, span.last, count + 1, dtype=dtype)
    if (edges[:-1] >= edges[1:]).any():
        raise ValueError(f"Too many bins for data range. Cannot create {count} finite-sized bins.")
    return from_host(edges, x.device), span


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> ndarray:
    """Compute only the edges of the bins that `histogram` uses. See `numpy.histogram_bin_edges`."""
    x, weight = _flattened(a, weights)
    return _edges(x, bins, range, weight is not None)[0]


# --- histogram ------------------------------------------------------------------------------------------------------


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[ndarray, ndarray]:
    """Compute the histogram of a data set: the count of each bin, and the edges of the bins. See `numpy.histogram`.

    Without `range`, the minimum and the maximum are computed at once.
    """
    x, weight = _flattened(a, weights)
    edges, span = _edges(x, bins, range, weight is not None)
    counts = _record_histogram(x, edges, span, weight)
    if density:
        widths = wrap(graph.cast(_bin_widths(edges).value(), FLOAT64))
        counts = elementwise("divide", (elementwise("divide", (counts, widths)), reductions.sum(counts)))
    return counts, edges


def _flattened(a: Any, weights: Any) -> tuple[ndarray, ndarray | None]:
    """Return the elements and their weights, in one dimension."""
    x = as_array(a, weights.device if isinstance(weights, ndarray) else None)
    if x.dtype == BOOL:
        text = f"Converting input from {x.dtype} to {numpy.uint8} for compatibility."
        warn(text, RuntimeWarning)
        x = wrap(graph.cast(x.value(), _UINT8))
    if weights is None:
        return wrap(contiguous_vector(x.value())), None
    weight = as_array(weights, x.device)
    if weight.shape != x.shape:
        raise ValueError("weights should have the same shape as a.")
    return wrap(contiguous_vector(x.value())), wrap(contiguous_vector(weight.value()))


def _bin_widths(edges: ndarray) -> ndarray:
    n = edges.size
    return elementwise("subtract", (sliced_copy(edges, 0, 1, n), sliced_copy(edges, 0, 0, n - 1)))


def _record_histogram(x: ndarray, edges: ndarray, span: _Span | None, weight: ndarray | None) -> ndarray:
    """Record the number of elements in each bin, or the sums of the weights in their dtype."""
    if weight is None:
        return wrap(_record_bins(x, edges, span, None))
    if KIND[weight.dtype] == "c":
        result = zeros(builtins.max(0, edges.size - 1), weight.dtype, device=x.device)
        for name, write in (("real", set_real), ("imag", set_imag)):
            write(result, wrap(_record_bins(x, edges, span, elementwise(name, (weight,)))))
        return result
    if span is None and weight.dtype == BOOL:
        raise TypeError(f"Cannot cast ufunc 'add' output from {INT64!r} to {BOOL!r} with casting rule 'same_kind'")
    return wrap(graph.cast(_record_bins(x, edges, span, weight), weight.dtype))


def _record_bins(x: ndarray, edges: ndarray, span: _Span | None, weight: ndarray | None) -> Node:
    """Record the number of elements in each bin, or the sums of the weights in float64."""
    dtype = INT64 if weight is None else FLOAT64
    if not edges.size:
        return graph.fill(graph.typed_scalar(0, dtype), (0,), x.queue)
    if span is not None and KIND[x.dtype] == "c":
        warn_of_lost_parts()  # of the positions, of which NumPy casts the quotients
    args, limits = [contiguous_vector(x.value())], None
    if span is None:
        args.append(contiguous_vector(graph.cast(edges.value(), common_dtype(x.dtype, edges.dtype))))
    else:
        width = difference(span.last, span.first)
        width_dtype = table.resolve("divide", (edges.dtype, width.dtype))[-1]
        args += [edges.value(), graph.fill(graph.typed_scalar(width_dtype.type(width), width_dtype), (1,), x.queue)]
        limits = _integer_limits(x, span)
    if weight is not None:
        args.append(contiguous_vector(weight.value()))
    return graph.library_call("histogram", (span is not None, limits), args)


def _integer_limits(x: ndarray, span: _Span) -> tuple[int, int] | None:
    """Return the least and the greatest integer within a given range, for 64-bit integers; None for other data.

    Edges in float64 cannot tell such integers apart. A range that holds none gives limits in reverse order.
    """
    if not span.is_argument or KIND[x.dtype] not in "iu" or x.itemsize < 8:
        return None
    if not all(isinstance(end, (int, numpy.integer)) for end in span[:2]):
        return None
    dtype_min, dtype_max = numpy.iinfo(x.dtype).min, numpy.iinfo(x.dtype).max
    low, high = builtins.max(int(span.first), dtype_min), builtins.min(int(span.last), dtype_max)
    return (low, high) if low <= high else (dtype_max, dtype_min)


# --- more dimensions ------------------------------------------------------------------------------------------------


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[ndarray, list[ndarray]]:
    """Compute the multidimensional histogram of points: the count of each cell, and the edges. See `numpy.histogramdd`.

    Where `range` does not give them, the minimum and the maximum of the coordinates are computed at once.
    """
    columns = _columns(sample)
    dims = len(columns)
    weight = None if weights is None else as_array(weights, columns[0].device)
    try:
        bins_count = len(bins)
    except TypeError:
        bins, bins_count = [bins] * dims, dims
    if bins_count != dims:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if range is None:
        range = (None,) * dims
    elif len(range) != dims:
        raise ValueError("range argument must have one entry per dimension")

    ends = [
        _extremes(c) if r is None and ndim_of(b) == 0 else None for c, b, r in zip(columns, bins, range, strict=True)
    ]
    edges = [_edges_of_axis(k, *axis) for k, axis in enumerate(zip(columns, bins, range, ends, strict=True))]
    # Points outside go to cells before the first edge and after the last, which the result leaves out.
    shape = tuple(edge.size + 1 for edge in edges)
    cell = _cell_indices(columns[0], edges[0])
    for column, edge in zip(columns[1:], edges[1:], strict=True):
        cell = elementwise("add", (elementwise("multiply", (cell, edge.size + 1)), _cell_indices(column, edge)))
    if columns[0].size:
        counts = _record_counts(
            cell, prod(shape), None if weight is None else _checked_weights(weight, columns[0].size)
        )
    else:
        counts = graph.fill(graph.typed_scalar(0, FLOAT64), (prod(shape),), columns[0].queue)
    grid = wrap(reshaped(graph.cast(counts, FLOAT64), shape))
    result = getitem(grid, (slice(1, -1),) * dims)
    if density:
        total = reductions.sum(result)
        for k, edge in enumerate(edges):
            result = elementwise("divide", (result, laid_along_axis(_bin_widths(edge), k, dims)))
        result = elementwise("divide", (result, total))
    return result, edges


def _columns(sample: Any) -> list[ndarray]:
    """Return the coordinates along each dimension: the columns of a 2-d array, or the items of a sequence."""
    points = as_array(sample)  # a masked array is no such array: its edges are those of what is not masked
    if not hasattr(sample, "shape") or points.ndim != 2:
        points = points if points.ndim > 1 else wrap(reshaped(points.value(), (1, points.size)))
        points = transpose(points)
    if points.ndim != 2:
        raise ValueError("too many values to unpack (expected 2)")
    if not points.shape[1]:
        raise ValueError("need at least one dimension to count in")
    return [getitem(points, (slice(None), k)) for k in range(points.shape[1])]


def _edges_of_axis(k: int, column: ndarray, bins: Any, range: Any, ends: tuple[ndarray, ndarray] | None) -> ndarray:
    """Return the edges along dimension `k`."""
    if ndim_of(bins) == 0:
        if bins < 1:
            raise ValueError(f"`bins[{k}]` must be positive, when an integer")
        span = _span(ends, range)
        try:
            count = operator.index(bins)
        except TypeError as error:
            raise TypeError(f"`bins[{k}]` must be an integer, when a scalar") from error
        return from_host(numpy.linspace(span.first, span.last, count + 1), column.device)
    if ndim_of(bins) != 1:
        raise ValueError(f"`bins[{k}]` must be a scalar or 1d array")
    edges = as_array(bins, column.device)
    if _decreases(bins):
        raise ValueError(f"`bins[{k}]` must be monotonically increasing, when an array")
    return edges


def _cell_indices(column: ndarray, edges: ndarray) -> ndarray:
    """Return the index of the cell of each coordinate along one dimension; 0 lies before the first edge."""
    edges_below = wrap(insertion_positions(edges.value(), column.value(), "right"))
    return elementwise("subtract", (edges_below, elementwise("equal", (column, getitem(edges, -1)))))


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[ndarray, ndarray, ndarray]:
    """Compute the histogram of points in the plane: the count of each cell, and the edges. See `numpy.histogram2d`."""
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    try:
        bins_count = len(bins)
    except TypeError:
        bins_count = 1
    counts, edges = histogramdd([x, y], [bins, bins] if bins_count not in (1, 2) else bins, range, density, weights)
    return counts, edges[0], edges[1]
