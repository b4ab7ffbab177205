"""Random numbers of which the words themselves, or the ziggurats, are most of the work."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from ..core.array import from_host, ndarray, to_host
from ..core.dtypes import FLOAT64, INT64
from ..core.record import as_array, elementwise
from ..reduction import any as any_of
from ..searching import searchsorted
from ..selection import take
from .method import PROBE, Drawing, fine, is_number, on_device, parameter


class Simple(Drawing):
    # Numbers of one distribution

    @on_device("random")
    def random(self, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        return self._standard(self._words.EVEN, size, dtype, out)

    @on_device("standard_normal")
    def standard_normal(self, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        return self._standard(self._words.NORMAL, size, dtype, out)

    @on_device("standard_exponential")
    def standard_exponential(self, size: Any = None, dtype: Any = FLOAT64, method: Any = "zig", out: Any = None) -> Any:
        if method != "zig":
            return NotImplemented
        return self._standard(self._words.EXPONENTIAL, size, dtype, out)

    @on_device("integers")
    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = numpy.int64, endpoint: Any = False
    ) -> Any:
        target = self._new(size, self._words)
        if target is None:
            return NotImplemented
        first, last = (0, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
        dtype = PROBE.integers(first, last, 1, dtype, endpoint).dtype
        span = last - first + bool(endpoint)
        if span == 1:
            return NotImplemented
        return target.filled(self._words.integers(self._stream, target.count, target.queue, first, span, dtype))

    @on_device("choice")
    def choice(
        self, a: Any, size: Any = None, replace: Any = True, p: Any = None, axis: Any = 0, shuffle: Any = True
    ) -> Any:
        target = self._new(size, self._words)
        if target is None or not replace:
            return NotImplemented
        number = not isinstance(a, ndarray) and numpy.ndim(a) == 0
        array = a if number else as_array(a, target.queue.device)
        many = operator.index(a) if number else array.shape[axis]
        if p is not None:
            p = to_host(p) if isinstance(p, ndarray) else p
        PROBE.choice(many, 1, p=p)
        if many == 1:
            return NotImplemented
        if p is None:
            chosen = target.filled(self._words.integers(self._stream, target.count, target.queue, 0, many, INT64))
        else:
            upto = numpy.cumsum(p, dtype=numpy.float64)
            evenly = target.filled(self._words.EVEN[FLOAT64](self._stream, target.count, target.queue))
            chosen = searchsorted(from_host(upto / upto[-1], target.queue.device), evenly, "right")
        return chosen if number else take(array, chosen, axis)

    # Numbers of a distribution with parameters

    @on_device("uniform")
    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        if is_number(low) and is_number(high):
            PROBE.uniform(low, high)
            return self._placed(self._words.EVEN, low, float(high) - float(low), size)
        spread = elementwise("subtract", [parameter(high), parameter(low)])
        endless = elementwise("logical_not", [elementwise("isfinite", [spread])])
        if not fine(spread) or bool(any_of(endless)):
            return NotImplemented
        return self._placed(self._words.EVEN, low, spread, size)

    @on_device("normal")
    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._placed(self._words.NORMAL, loc, scale, size) if fine(scale) else NotImplemented

    @on_device("exponential")
    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._placed(self._words.EXPONENTIAL, None, scale, size) if fine(scale) else NotImplemented

    @on_device("lognormal")
    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        made = self._placed(self._words.NORMAL, mean, sigma, size) if fine(sigma) else NotImplemented
        return made if made is NotImplemented else elementwise("exp", [made])

    @on_device("rayleigh")
    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        made = self._exponentials(size) if is_number(scale) and fine(scale) else NotImplemented
        if made is NotImplemented:
            return made
        return elementwise("multiply", [float(scale), elementwise("sqrt", [elementwise("multiply", [2.0, made])])])

    @on_device("weibull")
    def weibull(self, a: Any, size: Any = None) -> Any:
        made = self._exponentials(size) if is_number(a) and a > 0 else NotImplemented
        return made if made is NotImplemented else elementwise("power", [made, 1.0 / float(a)])

    @on_device("pareto")
    def pareto(self, a: Any, size: Any = None) -> Any:
        made = self._exponentials(size) if is_number(a) and a > 0 else NotImplemented
        return made if made is NotImplemented else elementwise("expm1", [elementwise("divide", [made, float(a)])])

    @on_device("power")
    def power(self, a: Any, size: Any = None) -> Any:
        made = self._exponentials(size) if is_number(a) and a > 0 else NotImplemented
        if made is NotImplemented:
            return made
        rest = elementwise("negative", [elementwise("expm1", [elementwise("negative", [made])])])
        return elementwise("power", [rest, 1.0 / float(a)])

    def _exponentials(self, size: Any) -> Any:
        return self._standard(self._words.EXPONENTIAL, size, FLOAT64, None)
