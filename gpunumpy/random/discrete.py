"""Integers of distributions with parameters.

Where the parameters are arrays, how many words a number takes hangs on those before: NumPy draws on the host then, and
also where numbers take no words at all.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

import numpy

from ..core.array import from_host, ndarray, to_host
from ..core.dtypes import FLOAT64, INT64
from ..core.record import elementwise
from ..searching import searchsorted
from . import words
from .method import PROBE, Drawing, Target, is_number, on_device
from .sequence import Sampler, sequence

_FILE = "samplers_discrete"
_POISSON_PRODUCT = Sampler("PoissonProduct", _FILE, INT64, 64)
_POISSON_RATIO = Sampler("PoissonRatio", _FILE, INT64, 32)
_NEGATIVE_BINOMIAL = Sampler("NegativeBinomial", f"samplers_continuous {_FILE} samplers_mixed", INT64, 128)
_BINOMIAL_INVERSION = Sampler("BinomialInversion", _FILE, INT64, 32)
_BINOMIAL_REGIONS = Sampler("BinomialRegions", _FILE, INT64, 32)
_HYPERGEOMETRIC_FEW = Sampler("HypergeometricFew", _FILE, INT64, 128, halves=True)
_HYPERGEOMETRIC_RATIO = Sampler("HypergeometricRatio", _FILE, INT64, 32)
_LOGARITHMIC_SERIES = Sampler("LogarithmicSeries", _FILE, INT64, 32)
_ZIPF = Sampler("Zipf", _FILE, INT64, 32)

# Integers below are float64 too, exactly.
_EXACT = 1 << 53
# In how many cases a row of a multinomial distribution may be drawn at once.
_CASES = 32
# NumPy 2.5 mends the series that decides on a few binomial numbers: how it begins, and the sign of half its terms.
_SERIES = (13860.0, -1.0) if numpy.lib.NumpyVersion(numpy.__version__) >= "2.5.0" else (13680.0, 1.0)


class Discrete(Drawing):
    """Methods of `Generator`."""

    @on_device("poisson")
    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        target = self._new(size)
        if target is None or not is_number(lam):
            return NotImplemented
        PROBE.poisson(lam)
        mean = float(lam)
        if mean >= 10:
            params, each = _poisson(mean)
            return self._made(target, _POISSON_RATIO, params, each)
        return self._made(target, _POISSON_PRODUCT, [math.exp(-mean)], mean + 1) if mean else NotImplemented

    @on_device("binomial")
    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        target, n = self._new(size), operator.index(n)
        if target is None or not is_number(p):
            return NotImplemented
        PROBE.binomial(n, p)
        p = float(p)
        if n == 0 or p == 0 or n >= _EXACT:
            return NotImplemented
        flipped = p > 0.5
        p = 1.0 - p if flipped else p
        if p * n <= 30:
            return self._made(target, _BINOMIAL_INVERSION, _inversion(n, p, flipped), 1.0)
        return self._made(target, _BINOMIAL_REGIONS, [n, p, flipped, *_SERIES], _regions_each(n, p))

    @on_device("negative_binomial")
    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        target = self._new(size)
        if target is None or not (is_number(n) and is_number(p)):
            return NotImplemented
        PROBE.negative_binomial(n, p)
        n, p = float(n), float(p)
        scale = (1 - p) / p
        means = numpy.random.Generator(numpy.random.PCG64(0)).gamma(n, scale, 4096)
        taken = numpy.where(means < 10, means + 1, 2.7)
        each = (2.2 if n >= 1 else 2.9) + taken.mean() + taken.std() / 16
        return self._made(target, _NEGATIVE_BINOMIAL, [n, scale], each)

    @on_device("geometric")
    def geometric(self, p: Any, size: Any = None) -> Any:
        target = self._new(size)
        if target is None or not is_number(p):
            return NotImplemented
        PROBE.geometric(p)
        p = float(p)
        if p < 1e-16:
            return NotImplemented
        if p < 1 / 3:
            exponential = target.filled(words.EXPONENTIAL[FLOAT64](self._stream, target.count, target.queue))
            tried = elementwise("divide", [elementwise("negative", [exponential]), math.log1p(-p)])
            return elementwise("cast", [elementwise("ceil", [tried])], (FLOAT64, INT64))
        evenly = target.filled(words.EVEN[FLOAT64](self._stream, target.count, target.queue))
        found = searchsorted(from_host(_geometric_sums(p), target.queue.device), evenly, "left")
        return elementwise("add", [found, 1])

    @on_device("hypergeometric")
    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        target = self._new(size)
        good, bad, sample = map(operator.index, (ngood, nbad, nsample))
        if target is None:
            return NotImplemented
        PROBE.hypergeometric(good, bad, sample)
        total = good + bad
        if 10 <= sample <= total - 10:
            params, each = _hypergeometric_ratio(good, bad, sample)
            return self._made(target, _HYPERGEOMETRIC_RATIO, params, each)
        few = min(sample, total - sample)
        if 0 in (good, bad, few):
            return NotImplemented
        each = sum((1 << (k - 1).bit_length()) / k for k in range(total - few + 1, total + 1))
        return self._made(target, _HYPERGEOMETRIC_FEW, [good, bad, sample], each)

    @on_device("logseries")
    def logseries(self, p: Any, size: Any = None) -> Any:
        target = self._new(size)
        if target is None or not is_number(p):
            return NotImplemented
        PROBE.logseries(p)
        return self._made(target, _LOGARITHMIC_SERIES, [float(p), math.log1p(-float(p))], 1 + float(p))

    @on_device("zipf")
    def zipf(self, a: Any, size: Any = None) -> Any:
        target = self._new(size)
        if target is None or not is_number(a):
            return NotImplemented
        PROBE.zipf(a)
        a = float(a)
        if a >= 1025:
            return NotImplemented
        less = a - 1
        b = 2.0**less
        series = sum(k**-a for k in range(1, 21)) + 21**-less / less  # a little less than zeta(a)
        params = [less, -1 / less, b, float(1 << 63) ** -less]
        return self._made(target, _ZIPF, params, 2 / (series * (1 - 1 / b)))

    @on_device("multinomial")
    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        rows = self._new(size)
        n, pvals = operator.index(n), to_host(pvals) if isinstance(pvals, ndarray) else pvals
        chances = numpy.asarray(pvals, numpy.float64)
        if rows is None or chances.ndim != 1:
            return NotImplemented
        PROBE.multinomial(n, pvals)
        cases, rest = len(chances), 1.0
        shares: list[float] = []
        for chance in chances[:-1].tolist():
            shares.append(chance / rest if rest else math.nan)
            rest -= chance
        if n in (0, _EXACT) or n > _EXACT or cases > _CASES or not any(shares) or not all(s >= 0 for s in shares):
            return NotImplemented
        sampler = Sampler("Multinomial", _FILE, INT64, 32 if n * max(shares) <= 30 else 256, width=cases)
        each = sum(1.0 if n * min(p, 1 - p) <= 30 else 2.9 for p in chances[:-1].tolist())
        target = Target((*rows.shape, cases), rows.queue.device)
        return self._made(target, sampler, [n, *_SERIES, *shares], each)

    @on_device("multivariate_hypergeometric")
    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: Any = "marginals"
    ) -> Any:
        # Halves of words that are left, or the order of the colours, go from row to row.
        return NotImplemented

    def _made(self, target: Target, sampler: Sampler, params: Sequence[float], each: float) -> Any:
        count = target.count // sampler.width
        drawn = sequence(self._stream, sampler, [float(x) for x in params], count, each, target.queue)
        return NotImplemented if drawn is None else target.filled(drawn)


# What the parameters make, in the order in which NumPy computes it; and how many words a number takes on average.


def _poisson(mean: float) -> tuple[list[float], float]:
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    return [mean, math.log(mean), a, b, math.log(scale), 0.9277 - 3.6224 / (b - 2)], 2 * scale


def _inversion(n: int, p: float, flipped: bool) -> list[float]:
    mean = n * p
    bound = min(n, mean + 10.0 * math.sqrt(mean * (1.0 - p) + 1))
    return [n, int(bound), p, 1.0 - p, math.exp(n * math.log1p(-p)), flipped]


def _regions_each(n: int, p: float) -> float:
    """The area of the regions, in units of the most probable number's, by its probability."""
    q, mode = 1.0 - p, math.floor(n * p + p)
    p1 = math.floor(2.195 * math.sqrt(n * p * q) - 4.6 * q) + 0.5
    c = 0.134 + 20.5 / (15.3 + mode)
    centre = n * p + p
    below = (centre - (mode + 0.5 - p1)) / (centre - (mode + 0.5 - p1) * p)
    above = (mode + 0.5 + p1 - centre) / ((mode + 0.5 + p1) * q)
    area = p1 * (1 + 2 * c) + c / (below * (1 + below / 2)) + c / (above * (1 + above / 2))
    return 2.02 * area / math.sqrt(2 * math.pi * n * p * q)


@cache
def _geometric_sums(p: float) -> Any:
    """The probabilities of all numbers up to one, as long as they change."""
    sums, term = [p], p
    while (total := sums[-1] + (term := term * (1.0 - p))) != sums[-1]:
        sums.append(total)
    return numpy.array(sums)


@cache
def _log_factorials() -> list[float]:
    with localcontext() as context:
        context.prec = 40
        return [float(Decimal(math.factorial(k)).ln()) for k in range(126)]


def _log_factorial(k: int) -> float:
    if k < 126:
        return _log_factorials()[k]
    return (k + 0.5) * math.log(k) - k + (0.9189385332046728 + (1.0 / k) * (1 / 12.0 - 1 / (360.0 * k * k)))


def _hypergeometric_ratio(good: int, bad: int, sample: int) -> tuple[list[float], float]:
    total, fewer, more = good + bad, min(good, bad), max(good, bad)
    drawn = min(sample, total - sample)
    p, q = fewer / total, more / total
    a = drawn * p + 0.5
    variance = float(total - drawn) * drawn * p * q / (total - 1)
    c = math.sqrt(variance + 0.5)
    h = 1.7155277699214135 * c + 0.8989161620588988
    m = math.floor(float(drawn + 1) * (fewer + 1) / (total + 2))
    parts = m, fewer - m, drawn - m, more - drawn + m
    g = sum(map(_log_factorial, parts))
    bound = min(min(drawn, fewer) + 1, math.floor(a + 16 * c))
    given = [good, fewer, more, drawn, a, h, bound, g, good > bad, drawn < sample, *_log_factorials()]
    most = sum(map(_log_factorial, (fewer, more, drawn, total - drawn))) - _log_factorial(total) - g
    return given, 4.1 * h * math.exp(most)
