"""Counts and sums of weights by bin on the CPU device, as the kernels of a GPU have them."""

from __future__ import annotations

from typing import Any

import numpy

# So many values at once stay in the cache.
_BLOCK = 1 << 16


def bincount(options: tuple[Any, ...], out: Any, x: Any, weights: Any = None) -> None:
    """How many of the integers have each value, or the sums of their weights; those beyond the bins do not count."""
    x = x.astype(numpy.int64, copy=False)
    inside = (x >= 0) & (x < out.size)
    if not inside.all():
        x, weights = x[inside], None if weights is None else weights[inside]
    out[...] = numpy.bincount(x, weights, out.size)


def histogram(options: tuple[Any, ...], out: Any, x: Any, edges: Any, *rest: Any) -> None:
    """How many of the values are in each bin, or the sums of their weights."""
    uniform, limits = options
    weights = rest[-1] if len(rest) > uniform else None
    out[...] = 0
    for start in range(0, x.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        found = _computed(x[part], edges, rest[0], limits) if uniform else _searched(x[part], edges)
        inside = found >= 0
        out += numpy.bincount(found[inside], None if weights is None else weights[part][inside], out.size)


def _searched(values: Any, edges: Any) -> Any:
    """The bins of values, -1 for none; the last edge is inside the last bin."""
    found = numpy.searchsorted(edges, values, "right")
    at_end = numpy.searchsorted(edges[-1:], values, "left") == 0
    return numpy.where(found < edges.size, found - 1, numpy.where(at_end, edges.size - 2, -1))


def _computed(values: Any, edges: Any, width: Any, limits: tuple[int, int] | None) -> Any:
    """The same for uniform bins, as NumPy computes it, and as it corrects that by the edges."""
    bins = edges.size - 1
    fitted = values.astype(edges.dtype)
    if limits:
        inside = (values >= limits[0]) & (values <= limits[1])
    else:
        inside = (fitted >= edges[0]) & (fitted <= edges[-1])
    fitted = numpy.where(inside, fitted, edges[0])
    found = ((fitted - edges[0]) / width * bins).real.astype(numpy.int64)
    found = numpy.minimum(found, bins - 1)
    found -= fitted < edges[found]
    found += (fitted >= edges[found + 1]) & (found != bins - 1)
    return numpy.where(inside, found, -1)
