"""How integers of a distribution are drawn, given its parameters: by which sampler, what that is given, and how many
units a number takes on average, or a little more.

A unit is an evenly distributed number. What the parameters make is computed in the order in which NumPy computes it, so
that it is the same to the last bit. There is no plan for numbers that take no units at all, or whose samplers compare
sums so large that the last bits of logarithms decide too often. What is `old` is how a `RandomState` draws them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from functools import cache, lru_cache

import numpy

from ..core.dtypes import INT64
from .sequence import Sampler

Plan = tuple[Sampler, Sequence[float], float]

_FILE = "samplers_discrete"
_EXACT = 1 << 53  # integers below are float64 too, exactly
_LARGE = 1e7  # of means and populations: the last bits of their logarithms decide on one number of 10^9
_CASES = 32  # of multinomial distributions: rows are drawn at once

# The series that decides on a few binomial numbers: how it begins, and the sign of half its terms. NumPy 2.5 mends it,
# and has a `RandomState` draw multinomial numbers by old binomial ones.
_OLD_SERIES = (13680.0, 1.0)
_MENDED = numpy.lib.NumpyVersion(numpy.__version__) >= "2.5.0"
_SERIES = (13860.0, -1.0) if _MENDED else _OLD_SERIES


def _sampler(name: str, longest: int = 32, width: int = 1, halves: bool = False) -> Sampler:
    return Sampler(name, _FILE, INT64, longest, width, halves)


def poisson(mean: float) -> Plan | None:
    if mean == 0 or mean > _LARGE:
        return None
    if mean < 10:
        return _sampler("PoissonProduct", 32 if mean <= 3 else 64), [math.exp(-mean)], mean + 1
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    params = [mean, math.log(mean), a, b, math.log(scale), 0.9277 - 3.6224 / (b - 2)]
    return _sampler("PoissonRatio"), params, 2 * scale


def negative_binomial(n: float, p: float) -> Plan | None:
    scale = (1 - p) / p
    if (n + 10 * math.sqrt(n)) * scale > _LARGE:
        return None
    files = f"samplers_continuous {_FILE} samplers_mixed"
    each = (2.2 if n >= 1 else 2.9) + _units_of_mixed(n, scale)
    return Sampler("NegativeBinomial", files, INT64, 128), [n, scale], each


def old_negative_binomial(n: float, p: float) -> Plan | None:
    scale = (1 - p) / p if p else math.inf
    if (n + 10 * math.sqrt(n)) * scale > _LARGE:
        return None
    each, files = _units_of_mixed(n, scale), f"{_FILE} samplers_legacy samplers_legacy_mixed"
    if n <= 1:
        return Sampler("LegacySmallNegativeBinomial", files, INT64, 128), [n, scale], each + 2.9
    b, c = gamma_shape(n)
    return Sampler("LegacyNegativeBinomial", files, INT64, 128, phases=1, most=2), [n, scale, b, c], each + 2.4


def gamma_shape(shape: float) -> tuple[float, float]:
    """What NumPy makes of the shape of gamma numbers that is greater than 1."""
    b = shape - 1.0 / 3.0
    return b, 1.0 / math.sqrt(9 * b)


def _units_of_mixed(n: float, scale: float) -> float:
    """How many units Poisson numbers of means take that are gamma numbers."""
    means = numpy.random.Generator(numpy.random.PCG64(0)).gamma(n, scale, 4096)
    units = numpy.where(means < 10, (means + 1) * (means > 0), 2.7)
    return float(units.mean() + units.std() / 16)


def binomial(n: int, p: float, old: bool = False) -> Plan | None:
    if n >= _EXACT or not (old or (n and p)):
        return None
    flipped = p > 0.5
    p = 1.0 - p if flipped else p
    q = 1.0 - p
    if p * n <= 30:
        mean = n * p
        bound = int(min(n, mean + 10.0 * math.sqrt(mean * q + 1)))
        none = math.exp(n * (math.log(q) if old else math.log1p(-p)))
        return _sampler("BinomialInversion"), [n, bound, p, q, none, flipped], 1.0
    # The area of the regions, in units of the most probable number's, by its probability.
    top = n * p + p
    p1 = math.floor(2.195 * math.sqrt(n * p * q) - 4.6 * q) + 0.5
    middle = math.floor(top) + 0.5
    c = 0.134 + 20.5 / (15.3 + math.floor(top))
    below, above = (top - (middle - p1)) / (top - (middle - p1) * p), (middle + p1 - top) / ((middle + p1) * q)
    area = p1 * (1 + 2 * c) + c / (below * (1 + below / 2)) + c / (above * (1 + above / 2))
    params = [n, p, flipped, *(_OLD_SERIES if old else _SERIES)]
    return _sampler("BinomialRegions"), params, 2.02 * area / math.sqrt(2 * math.pi * n * p * q)


def multinomial(n: int, chances: Sequence[float], old: bool = False) -> Plan | None:
    old = old and _MENDED
    rest, shares = 1.0, []
    for chance in chances[:-1]:
        shares.append(chance / rest if rest else math.nan)
        rest -= chance
    if not 0 < n < _EXACT or len(chances) > _CASES or not any(shares) or not all(share >= 0 for share in shares):
        return None
    name = f"Multinomial<{str(old).lower()}>"
    sampler = _sampler(name, 32 if n * max(shares) <= 30 else 256, width=len(chances))
    each = sum(1.0 if n * min(chance, 1 - chance) <= 30 else 2.9 for chance in chances[:-1])
    return sampler, [n, *(_OLD_SERIES if old else _SERIES), *shares], each


def logseries(p: float, old: bool = False) -> Plan:
    return _sampler(f"LogarithmicSeries<{str(old).lower()}>"), [p, math.log(1 - p) if old else math.log1p(-p)], 1 + p


def zipf(a: float, old: bool = False) -> Plan | None:
    less = a - 1
    beyond = float(1 << 63) ** -less  # the share that no integer can hold, which is drawn in vain of old
    if a >= 1025 or (old and beyond > 0.99):
        return None
    b = 2.0**less
    series = sum(k**-a for k in range(1, 21)) + 21**-less / less  # a little less than the zeta function
    params = [less, -1 / less, b, 0.0 if old else beyond]
    return _sampler("Zipf"), params, 2 / (series * (1 - 1 / b) * (1 - old * beyond))


def old_geometric(p: float) -> Plan | None:
    if p >= 1 / 3:
        return _sampler("GeometricSearch"), [p], 1.0
    return (_sampler("GeometricInversion"), [math.log(1 - p)], 1.0) if p > 1e-15 else None


# --- hypergeometric numbers -------------------------------------------------------------------------------------------


def hypergeometric(good: int, bad: int, sample: int) -> Plan | None:
    total = good + bad
    few = min(sample, total - sample)
    if 0 in (good, bad, few):
        return None
    if few >= 10:
        drawn, q = few, max(good, bad) / total
        p = min(good, bad) / total
        return _ratio(good, bad, sample, float(total - drawn) * drawn * p * q / (total - 1), _log_factorial)
    each = sum((1 << (k - 1).bit_length()) / k for k in range(total - few + 1, total + 1))  # halves of words
    return _sampler("HypergeometricFew", 128, halves=True), [good, bad, sample], each


def old_hypergeometric(good: int, bad: int, sample: int) -> Plan | None:
    total = good + bad
    if 0 in (good, bad):
        return None
    if sample > 10:
        p = min(good, bad) / total
        drawn = min(sample, total - sample)
        variance = float(total - drawn) * sample * p * (1.0 - p) / (total - 1)
        return _ratio(good, bad, sample, variance, lambda k: _log_gamma(k + 1.0), True)
    return _sampler("HypergeometricUnits"), [good, bad, sample], float(sample)


def _ratio(
    good: int, bad: int, sample: int, variance: float, log_factorial: Callable[[int], float], old: bool = False
) -> Plan | None:
    total, fewer, more = good + bad, min(good, bad), max(good, bad)
    if total > _LARGE:
        return None
    drawn = min(sample, total - sample)
    a = drawn * (fewer / total) + 0.5
    c = math.sqrt(variance + 0.5)
    h = 1.7155277699214135 * c + 0.8989161620588988
    top = math.floor(float(drawn + 1) * (fewer + 1) / (total + 2))
    g = sum(map(log_factorial, (top, fewer - top, drawn - top, more - drawn + top)))
    bound = min(min(drawn, fewer) + 1, math.floor(a + 16 * c))
    params = [good, fewer, more, drawn, a, h, bound, g, good > bad, drawn < sample, *_log_factorials()]
    # The most probable number's probability, by what of the area is refused.
    most = sum(map(log_factorial, (fewer, more, drawn, total - drawn))) - log_factorial(total) - g
    return _sampler(f"HypergeometricRatio<{str(old).lower()}>"), params, 4.1 * h * math.exp(most)


@cache
def _log_factorials() -> list[float]:
    with localcontext() as context:
        context.prec = 40
        return [float(Decimal(math.factorial(k)).ln()) for k in range(126)]


def _log_factorial(k: int) -> float:
    if k < 126:
        return _log_factorials()[k]
    return (k + 0.5) * math.log(k) - k + (0.9189385332046728 + (1.0 / k) * (1 / 12.0 - 1 / (360.0 * k * k)))


# The logarithm of the gamma function, by the series of Stirling from 7 on.
_STIRLING = (
    *(8.333333333333333e-02, -2.777777777777778e-03, 7.936507936507937e-04, -5.952380952380952e-04),
    *(8.417508417508418e-04, -1.917526917526918e-03, 6.410256410256410e-03, -2.955065359477124e-02),
    *(1.796443723688307e-01, -1.39243221690590e00),
)


def _log_gamma(x: float) -> float:
    if x in (1.0, 2.0):
        return 0.0
    steps = int(7 - x) if x <= 7 else 0
    y, total = x + steps, _STIRLING[-1]
    square = 1.0 / (y * y)
    for term in _STIRLING[-2::-1]:
        total = total * square + term
    value = total / y + 0.5 * math.log(2 * math.pi) + (y - 0.5) * math.log(y) - y
    for _ in range(steps):
        y -= 1.0
        value -= math.log(y)
    return value


# --- geometric numbers ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def geometric_sums(p: float) -> numpy.ndarray:
    """The probabilities of all numbers up to one, as long as they change."""
    sums, term = [p], p
    while (total := sums[-1] + (term := term * (1.0 - p))) != sums[-1]:
        sums.append(total)
    return numpy.array(sums)
