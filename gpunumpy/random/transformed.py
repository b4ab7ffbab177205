"""Numbers that are functions of one number of a simpler distribution each: values of the graph, made where they are
used.

NumPy draws again where a word of 53 bits is all zero, if the logarithm of that is asked for. Here such a word, one in
2^53, counts as the smallest one that is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.dtypes import FLOAT64
from ..core.recording.record import elementwise
from ..functions.reductions.reductions import all as all_of
from . import words
from .method import Drawing, fine, is_number, on_device, parameter, shape_of

_LEAST = 2.0**-53


class Transformed(Drawing):
    """Methods of `Generator`."""

    # Of evenly distributed numbers

    @on_device("laplace")
    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._moved(_laplace, loc, scale, size)

    @on_device("logistic")
    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._moved(_logistic, loc, scale, size)

    @on_device("gumbel")
    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._moved(_gumbel, loc, scale, size)

    def _moved(self, standard: Callable[[Any], Any], loc: Any, scale: Any, size: Any) -> Any:
        target, start, spread = self._over(size, loc, scale)
        if target is None or not fine(scale):
            return NotImplemented
        evenly = target.filled(words.EVEN[FLOAT64](self._stream, target.count, target.queue))
        return start + spread * standard(elementwise("maximum", [evenly, _LEAST]))

    @on_device("triangular")
    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
        target, low, middle, high = self._over(size, left, mode, right)
        if target is None or not (_true(low <= middle) and _true(middle <= high) and _true(low != high)):
            return NotImplemented
        base, rise = high - low, middle - low
        u: Any = target.filled(words.EVEN[FLOAT64](self._stream, target.count, target.queue))
        up, down = low + _root(u * (rise * base)), high - _root((1.0 - u) * ((high - middle) * base))
        return elementwise("where", [u <= rise / base, up, down])

    # Of normal and exponential ones

    @on_device("standard_cauchy")
    def standard_cauchy(self, size: Any = None) -> Any:
        shape = None if size is None else shape_of(size)
        target = None if shape is None else self._new((*shape, 2))
        if target is None:
            return NotImplemented
        pairs: Any = target.filled(words.NORMAL[FLOAT64](self._stream, target.count, target.queue))
        return pairs[..., 0] / pairs[..., 1]

    @on_device("rayleigh")
    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._of_exponential(lambda x, mode: mode * _root(2.0 * x), fine, scale, size)

    @on_device("weibull")
    def weibull(self, a: Any, size: Any = None) -> Any:
        return self._of_exponential(lambda x, a: elementwise("power", [x, 1.0 / a]), _positive, a, size)

    @on_device("pareto")
    def pareto(self, a: Any, size: Any = None) -> Any:
        return self._of_exponential(lambda x, a: elementwise("expm1", [x / a]), _positive, a, size)

    @on_device("power")
    def power(self, a: Any, size: Any = None) -> Any:
        return self._of_exponential(_power, _positive, a, size)

    def _of_exponential(
        self, transform: Callable[[Any, Any], Any], valid: Callable[[Any], bool], given: Any, size: Any
    ) -> Any:
        target, known = self._over(size, given, source=self._words)
        if target is None or not valid(given):
            return NotImplemented
        made = target.filled(self._words.EXPONENTIAL[FLOAT64](self._stream, target.count, target.queue))
        return transform(made, known)


def _laplace(u: Any) -> Any:
    upper = u >= 0.5
    log: Any = elementwise("log", [elementwise("where", [upper, 2.0 - u - u, u + u])])
    return elementwise("where", [upper, -log, log])


def _logistic(u: Any) -> Any:
    return elementwise("log", [u / (1.0 - u)])


def _gumbel(u: Any) -> Any:
    once: Any = elementwise("log", [1.0 - u])
    twice: Any = elementwise("log", [-once])
    return -twice


def _power(x: Any, a: Any) -> Any:
    rest: Any = elementwise("expm1", [-x])
    return elementwise("power", [-rest, 1.0 / a])


def _root(x: Any) -> Any:
    return elementwise("sqrt", [x])


def _positive(x: Any) -> bool:
    """Whether all are greater than 0."""
    return _true(parameter(x) > 0)


def _true(condition: Any) -> bool:
    return bool(condition if is_number(condition) else all_of(condition))
