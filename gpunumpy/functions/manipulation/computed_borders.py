"""Borders that `pad` computes from the array: ramps, statistics, odd reflections, and what a function writes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy

from ...core.dtypes import KIND
from ...core.recording.array import ndarray, to_host
from ..creation.ranges import linspace
from ..every_dtype import as_called
from ..indexing.getitem import getitem
from ..reductions.reductions import max, min
from ..statistics.averages import mean
from ..statistics.quantiles import median
from ..ufuncs.elementwise import round
from ..ufuncs.ufunc import UFUNCS
from .joining import concatenate
from .shape import astype, broadcast_to, flip, moveaxis

(moveaxis_as_called,) = as_called(moveaxis)

Width = tuple[int, int]

# The modes whose border is a statistic of the elements next to it.
STATISTICS: dict[str, Callable[..., Any]] = {"maximum": max, "mean": mean, "median": median, "minimum": min}


def with_ramps(x: ndarray, widths: list[Width], end_values: Any) -> ndarray:
    """Pad with ramps from an array's edges to values."""
    for axis, (width, ends) in enumerate(zip(widths, _pairs(end_values, x.ndim))):
        edges = [getitem(x, (*_before(axis), k)) for k in (0, -1)]
        left, right = (
            linspace(end, edge, n, endpoint=False, dtype=x.dtype, axis=axis) for end, edge, n in zip(ends, edges, width)
        )
        x = concatenate((left, x, flip(right, axis)), axis)
    return x


def with_statistic(x: ndarray, widths: list[Width], mode: str, stat_length: Any) -> ndarray:
    """Pad with a statistic of the elements nearest to each border, or of all."""
    statistic = STATISTICS[mode]
    if stat_length is None:
        lengths: Any = ((None, None),) * x.ndim
    else:
        host_lengths = numpy.round(to_host(stat_length) if isinstance(stat_length, ndarray) else stat_length).astype(
            int
        )
        if host_lengths.min() < 0:
            raise ValueError("index can't contain negative values")
        lengths = _pairs(host_lengths, x.ndim)
    for axis, (width, length) in enumerate(zip(widths, lengths)):
        n = x.shape[axis]
        left, right = (n if given is None or given > n else int(given) for given in length)
        if not (left and right) and mode in ("maximum", "minimum"):
            raise ValueError("stat_length of 0 yields no value for padding")
        borders = []
        for part, size in zip((_part(x, axis, 0, left), _part(x, axis, n - right, n)), width):
            value = statistic(part, axis=axis, keepdims=True)
            value = round(value) if KIND[x.dtype] in "iu" else value
            shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
            borders.append(broadcast_to(astype(value, x.dtype), shape))
        x = concatenate((borders[0], x, borders[1]), axis)
    return x


def with_odd_reflections(x: ndarray, widths: list[Width], mode: str) -> ndarray:
    """Pad with the array reflected at its edges, again and again, in both directions: twice the edge less elements."""
    is_symmetric = mode == "symmetric"
    for axis, (left, right) in enumerate(widths):
        period = x.shape[axis] - (not is_symmetric)
        if not period:  # a single element, which is repeated
            parts = [broadcast_to(x, (*x.shape[:axis], n, *x.shape[axis + 1 :])) for n in (left, right)]
            x = concatenate((parts[0], x, parts[1]), axis)
            continue
        while left or right:
            # What is reflected next is a multiple of the period, with the edge or without it.
            n = x.shape[axis]
            usable = (n - (not is_symmetric)) // period * period
            before, after = (usable if width > usable else width for width in (left, right))
            first, last = 1 - is_symmetric, n - 1 + is_symmetric
            x = concatenate(
                (
                    _odd(_part(x, axis, first, first + before), _part(x, axis, 0, 1), axis),
                    x,
                    _odd(_part(x, axis, last - after, last), _part(x, axis, n - 1, n), axis),
                ),
                axis,
            )
            left, right = left - before, right - after
    return x


def write_borders(padded: ndarray, widths: list[Width], function: Callable[..., Any], options: dict[str, Any]) -> None:
    """Have a function write the borders: of every vector along every axis, of which it gets a view."""
    for axis, width in enumerate(widths):
        vectors = moveaxis_as_called(padded, axis, -1)
        for index in product(*map(range, vectors.shape[:-1])):
            function(vectors[(*index, ...)], width, axis, options)


def _odd(elements: ndarray, edge: ndarray, axis: int) -> ndarray:
    reflected = UFUNCS["subtract"](UFUNCS["multiply"](2, edge), flip(elements, axis))
    return astype(reflected, edge.dtype)


def _before(axis: int) -> tuple[slice, ...]:
    return (slice(None),) * axis


def _part(x: ndarray, axis: int, start: int, stop: int) -> ndarray:
    return getitem(x, (*_before(axis), slice(start, stop)))


def _pairs(values: Any, ndim: int) -> Any:
    """Return a pair of values for each axis, on the host."""
    return numpy.broadcast_to(numpy.asarray(to_host(values) if isinstance(values, ndarray) else values), (ndim, 2))
