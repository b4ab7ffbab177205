"""Counts and sums of weights by bin on the CPU device, with the rules of the GPU kernels."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy

# Values processed at once, so that they stay in the cache.
_BLOCK_ELEMENTS = 1 << 16


def bincount(options: tuple[Any, ...], out: Any, x: Any, weights: Any = None) -> None:
    """Count integers by value, or sum their weights; integers beyond the bins do not count."""
    if x.size and not 0 <= x.min() <= x.max() < out.size:
        inside = (x >= 0) & (x < out.size)
        x, weights = x[inside], None if weights is None else weights[inside]
    if x.dtype == numpy.uint64:  # which NumPy does not count
        x = x.astype(numpy.int64)
    out[...] = numpy.bincount(x, weights, out.size)


def histogram(options: tuple[Any, ...], out: Any, x: Any, edges: Any, *rest: Any) -> None:
    """Count values by bin, or sum their weights."""
    uniform, limits = options
    weights = rest[-1] if len(rest) > uniform else None
    find = partial(_uniform_bins, width=rest[0], limits=limits) if uniform else _searched_bins
    out[...] = 0
    for start in range(0, x.size, _BLOCK_ELEMENTS):
        block = slice(start, start + _BLOCK_ELEMENTS)
        bins, inside = find(x[block], edges)
        out += numpy.bincount(bins, None if weights is None else _chosen(weights[block], inside), out.size)


def _chosen(values: Any, inside: Any) -> Any:
    """Return those of some values that a mask chooses: all of them as they are, without a copy."""
    return values if inside.all() else values[inside]


def _searched_bins(values: Any, edges: Any) -> tuple[Any, Any]:
    """Return the bins of values that are in one, and where those are; the last edge is inside the last bin."""
    places = numpy.searchsorted(edges, values, "right")
    at_end = numpy.searchsorted(edges[-1:], values, "left") == 0
    bins = numpy.where(places < edges.size, places - 1, numpy.where(at_end, edges.size - 2, -1))
    inside = bins >= 0
    return _chosen(bins, inside), inside


def _uniform_bins(values: Any, edges: Any, width: Any, limits: tuple[int, int] | None) -> tuple[Any, Any]:
    """Return the same for uniform bins, computed and then corrected by the edges as NumPy does."""
    bin_count = edges.size - 1
    in_edge_dtype = values.astype(edges.dtype, copy=False)
    if limits:
        inside = (values >= limits[0]) & (values <= limits[1])
    else:
        inside = (in_edge_dtype >= edges[0]) & (in_edge_dtype <= edges[-1])
    in_edge_dtype = _chosen(in_edge_dtype, inside)
    bins = ((in_edge_dtype - edges[0]) / width * bin_count).real.astype(numpy.int64)
    bins = numpy.minimum(bins, bin_count - 1)
    bins -= in_edge_dtype < edges[bins]
    bins += (in_edge_dtype >= edges[bins + 1]) & (bins != bin_count - 1)
    return bins, inside
