"""Rules for the width of histogram bins, by the names that `histogram` knows."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy

from ...core.recording.array import ndarray, to_host
from ...core.recording.record import elementwise
from ...core.source_location import warn
from ..reductions.reductions import max, min
from .averages import mean, std
from .quantiles import percentile

# Function from a number of bins of equal width to the number of values in each.
Counts = Callable[[int], ndarray]

_UNSIGNED = {numpy.dtype(f"i{n}"): numpy.dtype(f"u{n}") for n in (1, 2, 4, 8)}


def number(array: ndarray) -> Any:
    """Return the element of a 0-d array as a NumPy scalar on the host."""
    return to_host(array)[()]


def difference(a: Any, b: Any) -> Any:
    """Return ``a - b`` of host scalars, where `b` is not the greater one.

    The difference of integers is unsigned, as a signed dtype may not hold it.
    """
    common = numpy.result_type(a, b)
    unsigned = _UNSIGNED.get(common)
    if unsigned is None:
        return numpy.subtract(a, b, dtype=common)
    operands = (numpy.asarray(x, common) for x in (a, b))
    return numpy.subtract(*operands, casting="unsafe", dtype=unsigned)


def spread(x: ndarray) -> Any:
    """Return the maximum less the minimum."""
    low, high = min(x), max(x)
    return difference(number(high), number(low))


def _sqrt(x: ndarray, counts: Counts) -> Any:
    return spread(x) / numpy.sqrt(x.size)


def _sturges(x: ndarray, counts: Counts) -> Any:
    return spread(x) / (numpy.log2(x.size) + 1.0)


def _rice(x: ndarray, counts: Counts) -> Any:
    return spread(x) / (2.0 * x.size ** (1.0 / 3))


def _scott(x: ndarray, counts: Counts) -> Any:
    return (24.0 * numpy.pi**0.5 / x.size) ** (1.0 / 3.0) * number(std(x))


def _stone(x: ndarray, counts: Counts) -> Any:
    """Choose the number of bins with the least estimated error, trying all numbers up to a bound."""
    n, width = x.size, spread(x)
    if n <= 1 or width == 0:
        return 0

    def error(bins: int) -> Any:
        shares = to_host(counts(bins)) / n
        return (2 - (n + 1) * shares.dot(shares)) / (width / bins)

    max_bins = builtins.max(100, int(numpy.sqrt(n)))
    bins = builtins.min(range(1, max_bins + 1), key=error)
    if bins == max_bins:
        warn("The number of bins estimated may be suboptimal.", RuntimeWarning)
    return width / bins


def _doane(x: ndarray, counts: Counts) -> Any:
    if x.size <= 2:
        return 0.0
    skew = numpy.sqrt(6.0 * (x.size - 2) / ((x.size + 1.0) * (x.size + 3)))
    sigma = std(x)
    if not number(sigma) > 0.0:
        return 0.0
    scaled = elementwise("divide", (elementwise("subtract", (x, mean(x))), sigma))
    g1 = number(mean(elementwise("power", (scaled, 3))))
    return spread(x) / (1.0 + numpy.log2(x.size) + numpy.log2(1.0 + numpy.absolute(g1) / skew))


def _freedman_diaconis(x: ndarray, counts: Counts) -> Any:
    upper, lower = to_host(percentile(x, [75, 25]))
    return 2.0 * (upper - lower) * x.size ** (-1.0 / 3.0)


def _auto(x: ndarray, counts: Counts) -> Any:
    relaxed = builtins.max(_freedman_diaconis(x, counts), _sqrt(x, counts) / 2)
    return builtins.min(relaxed, _sturges(x, counts))


WIDTHS: dict[str, Callable[[ndarray, Counts], Any]] = {
    "auto": _auto,
    "doane": _doane,
    "fd": _freedman_diaconis,
    "rice": _rice,
    "scott": _scott,
    "sqrt": _sqrt,
    "stone": _stone,
    "sturges": _sturges,
}
