"""Numbers of a `RandomState` of which it is known how many words they take, or that are independent of each other."""

from __future__ import annotations

import operator
import warnings
from math import prod
from typing import Any

import numpy

from ...core.dtypes import INT64
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.graph.queue import Queue
from ...core.recording.array import from_host, ndarray, to_host, wrap
from ...core.recording.record import as_array, elementwise
from ...core.runtime.device import default_device
from ...core.runtime.evaluate import queue_of, traits_of
from ...functions.indexing.selection import take
from ...functions.reductions.reductions import any as any_of
from ...functions.sorting.searching import searchsorted
from .. import method
from ..bounded import enough_masked, permuted
from ..method import fine, is_number, parameter, shape_of
from ..mt19937 import UINT32, Twister
from .method import PROBE, Legacy, on_device

# Places in orders are numbers of 32 bits.
_MOST = 1 << 31


def _positive(x: Any) -> bool:
    """Whether all numbers of a parameter are greater than zero."""
    if is_number(x):
        return float(x) > 0
    return not bool(any_of(elementwise("logical_not", [elementwise("greater", [parameter(x), 0.0])])))


def _op(op: str, *args: Any) -> Any:
    return elementwise(op, args)


class Simple(Legacy):
    """Methods of `RandomState`."""

    # Numbers that are evenly distributed

    @on_device
    def random_sample(self, size: Any = None) -> Any:
        return self._numbers(Twister.doubles, size)

    @on_device
    def random(self, size: Any = None) -> Any:
        return self._numbers(Twister.doubles, size)

    @on_device
    def rand(self, *args: Any) -> Any:
        return self._numbers(Twister.doubles, args) if args else NotImplemented

    @on_device
    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        if is_number(low) and is_number(high):
            PROBE.uniform(low, high)
            low, spread = float(low), float(high) - float(low)
        else:
            low = parameter(low)
            spread = _op("subtract", parameter(high), low)
            if bool(any_of(_op("logical_not", _op("isfinite", spread)))):
                return NotImplemented
        made = self._numbers(Twister.doubles, size, low, spread)
        return made if made is NotImplemented else _op("add", low, _op("multiply", spread, made))

    @on_device
    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
        left, mode, right = (parameter(x) for x in (left, mode, right))
        wrong = [_op("greater", left, mode), _op("greater", mode, right), _op("equal", left, right)]
        if any(bool(any_of(x)) for x in wrong):
            return NotImplemented
        u = self._numbers(Twister.doubles, size, left, mode, right)
        if u is NotImplemented:
            return u
        # Of numbers alone, these are numbers, and on no device.
        base, low, above = right - left, mode - left, right - mode
        lower = _op("add", left, _op("sqrt", _op("multiply", u, _op("multiply", low, base))))
        rest = _op("multiply", above, base)
        upper = _op("subtract", right, _op("sqrt", _op("multiply", _op("subtract", 1.0, u), rest)))
        return _op("where", _op("less_equal", u, _op("divide", low, base)), lower, upper)

    # Integers

    @on_device
    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        first, last = (0, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
        return self._integers(first, last, size, numpy.dtype(dtype))

    @on_device
    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
        first, last = (1, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
        made = self._integers(first, last + 1, size, INT64)
        if made is not NotImplemented:
            begin = 1 if high is None else low
            text = f"This function is deprecated. Please call randint({begin}, {last} + 1) instead"
            warnings.warn(text, DeprecationWarning, stacklevel=3)
        return made

    def _integers(self, first: int, last: int, size: Any, dtype: Any) -> Any:
        """Integers from `first` to below `last`."""
        most, target = last - first - 1, self._target(size)
        if target is None or most < 1 or not dtype.isnative:
            return NotImplemented
        dtype = PROBE.randint(first, last, 1, dtype).dtype
        bits = 1 if dtype.kind == "b" else 32 if dtype.itemsize == 8 and most < 1 << 32 else 8 * dtype.itemsize
        draw = self._stream.masked if most & (most + 1) else self._stream.pieces
        return target.filled(draw(target.count, bits, first, most, dtype, target.queue))

    @on_device
    def tomaxint(self, size: Any = None) -> Any:
        return self._numbers(_positive_longs, size)

    @on_device
    def choice(self, a: Any, size: Any = None, replace: Any = True, p: Any = None) -> Any:
        number = not isinstance(a, ndarray) and numpy.ndim(a) == 0
        array = a if number else as_array(a)
        if size is None or not (number or (array.ndim == 1 and array.device == default_device())):
            return NotImplemented
        many = operator.index(a) if number else array.shape[0]
        if not replace:
            chosen = self._some(many, shape_of(size), p)
            return chosen if number or chosen is NotImplemented else take(array, chosen, 0)
        if p is not None:
            p = to_host(p) if isinstance(p, ndarray) else p
        if self._target(size) is None or many < 1:
            return NotImplemented
        PROBE.choice(many, 1, p=p)
        if p is None:
            chosen = self._integers(0, many, size, INT64)
        else:
            upto = numpy.cumsum(p, dtype=numpy.float64)
            chosen = self._numbers(Twister.doubles, size)
            if chosen is not NotImplemented:
                chosen = searchsorted(from_host(upto / upto[-1], chosen.device), chosen, "right")
        return chosen if number or chosen is NotImplemented else take(array, chosen, 0)

    # Orders

    @on_device
    def shuffle(self, x: Any) -> Any:
        if not isinstance(x, ndarray) or not x.ndim or not x.size or not x.writeable:
            return NotImplemented
        order = self._order(x.shape[0], x.queue)
        if order is NotImplemented:
            return order
        x.assign(take(x, order, 0).value())
        return None

    @on_device
    def permutation(self, x: Any) -> Any:
        if isinstance(x, (int, numpy.integer)):
            plain = numpy.result_type(x, numpy.long) == INT64
            return self._order(int(x), queue_of(default_device())) if plain else NotImplemented
        array = as_array(x)
        order = self._order(array.shape[0], array.queue) if array.ndim else NotImplemented
        return order if order is NotImplemented else take(array, order, 0)

    def _some(self, many: int, shape: Any, p: Any) -> Any:
        """The first ones of `many` integers in an order by chance."""
        if p is not None or shape is None or prod(shape) > many:
            return NotImplemented
        order = self._order(many, queue_of(default_device()))
        return order if order is NotImplemented else order[: prod(shape)].reshape(shape)

    def _order(self, count: int, queue: Queue) -> Any:
        """The order in which to take so many elements."""
        if not method.MANY <= count < _MOST or not traits_of(queue.device).draws_random:
            return NotImplemented
        words, before, after = self._stream.ahead(enough_masked(count), UINT32, queue)
        order, taken = permuted(words, count)
        made = wrap(order)
        self._stream.moved((words, before, after), taken)
        return made

    # Normal numbers, and what is made of them

    @on_device
    def standard_normal(self, size: Any = None) -> Any:
        return self._numbers(Twister.normals, size)

    @on_device
    def randn(self, *args: Any) -> Any:
        return self._numbers(Twister.normals, args) if args else NotImplemented

    @on_device
    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._normal(loc, scale, size)

    @on_device
    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        made = self._normal(mean, sigma, size)
        return made if made is NotImplemented else _op("exp", made)

    def _normal(self, loc: Any, scale: Any, size: Any) -> Any:
        loc, scale = parameter(loc), parameter(scale)
        made = self._numbers(Twister.normals, size, loc, scale) if fine(scale) else NotImplemented
        return made if made is NotImplemented else _op("add", loc, _op("multiply", scale, made))

    @on_device
    def standard_cauchy(self, size: Any = None) -> Any:
        return self._numbers(_ratios, size)

    # Exponential numbers, and what is made of them

    @on_device
    def standard_exponential(self, size: Any = None) -> Any:
        return self._exponential(size)

    @on_device
    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        made = self._exponential(size, scale) if fine(scale) else NotImplemented
        return made if made is NotImplemented else _op("multiply", parameter(scale), made)

    @on_device
    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        made = self._exponential(size, scale) if fine(scale) else NotImplemented
        return (
            made
            if made is NotImplemented
            else _op("multiply", parameter(scale), _op("sqrt", _op("multiply", 2.0, made)))
        )

    @on_device
    def weibull(self, a: Any, size: Any = None) -> Any:
        made = self._exponential(size, a) if _positive(a) else NotImplemented
        return made if made is NotImplemented else _op("power", made, _op("divide", 1.0, parameter(a)))

    @on_device
    def pareto(self, a: Any, size: Any = None) -> Any:
        made = self._exponential(size, a) if _positive(a) else NotImplemented
        return made if made is NotImplemented else _op("subtract", _op("exp", _op("divide", made, parameter(a))), 1.0)

    @on_device
    def power(self, a: Any, size: Any = None) -> Any:
        made = self._exponential(size, a) if _positive(a) else NotImplemented
        if made is NotImplemented:
            return made
        return _op("power", _op("subtract", 1.0, _op("exp", _op("negative", made))), _op("divide", 1.0, parameter(a)))

    def _exponential(self, size: Any, *given: Any) -> Any:
        u = self._numbers(Twister.doubles, size, *map(parameter, given))
        return u if u is NotImplemented else _op("negative", _op("log", _op("subtract", 1.0, u)))

    # Numbers of a word that is not zero

    @on_device
    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        loc, scale, u = self._above_zero(loc, scale, size)
        if u is NotImplemented:
            return u
        upper = _op("subtract", loc, _op("multiply", scale, _op("log", _op("subtract", _op("subtract", 2.0, u), u))))
        lower = _op("add", loc, _op("multiply", scale, _op("log", _op("add", u, u))))
        return _op("where", _op("greater_equal", u, 0.5), upper, lower)

    @on_device
    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        loc, scale, u = self._above_zero(loc, scale, size)
        if u is NotImplemented:
            return u
        twice = _op("log", _op("negative", _op("log", _op("subtract", 1.0, u))))
        return _op("subtract", loc, _op("multiply", scale, twice))

    @on_device
    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        loc, scale, u = self._above_zero(loc, scale, size)
        if u is NotImplemented:
            return u
        return _op("add", loc, _op("multiply", scale, _op("log", _op("divide", u, _op("subtract", 1.0, u)))))

    def _above_zero(self, loc: Any, scale: Any, size: Any) -> Any:
        loc, scale = parameter(loc), parameter(scale)
        return loc, scale, self._numbers(Twister.positives, size, loc, scale) if fine(scale) else NotImplemented


def _positive_longs(stream: Twister, count: int, queue: Queue) -> Node:
    halved = _op("right_shift", wrap(stream.longs(count, queue)), numpy.uint64(1))
    return graph.cast(halved.value(), INT64)


def _ratios(stream: Twister, count: int, queue: Queue) -> Node:
    pairs: Any = wrap(stream.normals(2 * count, queue))
    made: Node = _op("divide", pairs[::2], pairs[1::2]).value()
    return made
