"""Plans of discrete distributions: for given parameters the sampler, its arguments, and the words that a number takes.

A plan is ``(sampler, params, words_per_number)``, the last an upper estimate of the mean. A word, of 64 bits or a pair
of 32 bits, makes one uniform number. What depends on the parameters alone is computed here in the order of NumPy's
operations, so that it equals NumPy's value to the last bit. There is no plan where numbers consume no words at all, or
where a sampler compares sums so large that the last bits of logarithms decide too often. `legacy` plans are those of a
`RandomState`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any

import numpy

from ..core.dtypes import INT64
from ..core.late_imports import import_late
from ..core.numpy_release import NUMPY_2_5
from .parameters import is_number
from .rejection_sampling import Sampler

Plan = tuple[Sampler, Sequence[float], float]

_FILE = "samplers_discrete"
_EXACT_BELOW = 1 << 53  # float64 represents all smaller integers exactly
# Greatest mean and greatest population: beyond, the last bits of logarithms decide more than one number in 10^9.
_MAX_MEAN = 1e7
_MAX_OUTCOMES = 32  # of a multinomial distribution: one attempt draws a whole row

# Stirling's series, which decides a few binomial numbers: its first coefficient, and the sign of half its terms. NumPy
# 2.5 corrects both, but a `RandomState` keeps the old ones, also for multinomial numbers.
_LEGACY_SERIES = (13680.0, 1.0)
_SERIES = (13860.0, -1.0) if NUMPY_2_5 else _LEGACY_SERIES


def _sampler(name: str, max_words: int = 32, width: int = 1, takes_words32: bool = False) -> Sampler:
    return Sampler(name, _FILE, INT64, max_words, width, takes_words32)


def poisson(mean: float) -> Plan | None:
    """Plan Poisson numbers: by products of uniform numbers below a mean of 10, else by transformed rejection (PTRS)."""
    if mean == 0 or mean > _MAX_MEAN:
        return None
    if mean < 10:
        return _sampler("PoissonProduct", 32 if mean <= 3 else 64), [math.exp(-mean)], mean + 1
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    params = [mean, math.log(mean), a, b, math.log(scale), 0.9277 - 3.6224 / (b - 2)]
    return _sampler("PoissonRatio"), params, 2 * scale


def negative_binomial(n: float, p: float) -> Plan | None:
    """Plan negative binomial numbers: Poisson numbers with gamma numbers as means."""
    scale = (1 - p) / p
    if (n + 10 * math.sqrt(n)) * scale > _MAX_MEAN:
        return None
    files = f"samplers_continuous {_FILE} samplers_mixed"
    words_per_number = (2.2 if n >= 1 else 2.9) + _words_per_mixed_poisson(n, scale)
    return Sampler("NegativeBinomial", files, INT64, 128), [n, scale], words_per_number


def legacy_negative_binomial(n: float, p: float) -> Plan | None:
    """Plan negative binomial numbers of a `RandomState`; above n = 1 their gamma numbers consume normal pairs."""
    scale = (1 - p) / p if p else math.inf
    if (n + 10 * math.sqrt(n)) * scale > _MAX_MEAN:
        return None
    words, files = _words_per_mixed_poisson(n, scale), f"{_FILE} samplers_legacy samplers_legacy_mixed"
    if n <= 1:
        return Sampler("LegacySmallNegativeBinomial", files, INT64, 128), [n, scale], words + 2.9
    b, c = gamma_shape(n)
    return Sampler("LegacyNegativeBinomial", files, INT64, 128, phases=1, max_numbers=2), [n, scale, b, c], words + 2.4


def gamma_shape(shape: float) -> tuple[float, float]:
    """Return the constants ``b, c`` of Marsaglia and Tsang's method (2000) for gamma numbers of a shape above 1."""
    b = shape - 1.0 / 3.0
    return b, 1.0 / math.sqrt(9 * b)


def _words_per_mixed_poisson(n: float, scale: float) -> float:
    """Return an upper estimate of the words per Poisson number whose mean is a gamma number, from a fixed sample."""
    means = numpy.random.Generator(numpy.random.PCG64(0)).gamma(n, scale, 4096)
    words = numpy.where(means < 10, (means + 1) * (means > 0), 2.7)
    return float(words.mean() + words.std() / 16)


def binomial(n: int, p: float, legacy: bool = False) -> Plan | None:
    """Plan binomial numbers: by inversion up to a mean of 30, else by the regions of BTPE."""
    if n >= _EXACT_BELOW or not (legacy or (n and p)):
        return None
    flipped = p > 0.5
    p = 1.0 - p if flipped else p
    q = 1.0 - p
    if p * n <= 30:
        mean = n * p
        bound = int(min(n, mean + 10.0 * math.sqrt(mean * q + 1)))
        none = math.exp(n * (math.log(q) if legacy else math.log1p(-p)))
        return _sampler("BinomialInversion"), [n, bound, p, q, none, flipped], 1.0
    # The acceptance rate is the area below the scaled probabilities over the area of the regions of BTPE.
    top = n * p + p
    p1 = math.floor(2.195 * math.sqrt(n * p * q) - 4.6 * q) + 0.5
    middle = math.floor(top) + 0.5
    c = 0.134 + 20.5 / (15.3 + math.floor(top))
    below, above = (top - (middle - p1)) / (top - (middle - p1) * p), (middle + p1 - top) / ((middle + p1) * q)
    area = p1 * (1 + 2 * c) + c / (below * (1 + below / 2)) + c / (above * (1 + above / 2))
    params = [n, p, flipped, *(_LEGACY_SERIES if legacy else _SERIES)]
    return _sampler("BinomialRegions"), params, 2.02 * area / math.sqrt(2 * math.pi * n * p * q)


def multinomial(n: int, probabilities: Sequence[float], legacy: bool = False) -> Plan | None:
    """Plan multinomial rows: each outcome but the last is a binomial number of the trials that are left."""
    legacy = legacy and NUMPY_2_5
    rest, shares = 1.0, []
    for probability in probabilities[:-1]:
        shares.append(probability / rest if rest else math.nan)
        rest -= probability
    if (
        not 0 < n < _EXACT_BELOW
        or len(probabilities) > _MAX_OUTCOMES
        or not any(shares)
        or not all(share >= 0 for share in shares)
    ):
        return None
    name = f"Multinomial<{str(legacy).lower()}>"
    sampler = _sampler(name, 32 if n * max(shares) <= 30 else 256, width=len(probabilities))
    words_per_row = sum(1.0 if n * min(p, 1 - p) <= 30 else 2.9 for p in probabilities[:-1])
    return sampler, [n, *(_LEGACY_SERIES if legacy else _SERIES), *shares], words_per_row


def logseries(p: float, legacy: bool = False) -> Plan:
    """Plan logarithmic series numbers."""
    return (
        _sampler(f"LogarithmicSeries<{str(legacy).lower()}>"),
        [p, math.log(1 - p) if legacy else math.log1p(-p)],
        1 + p,
    )


def zipf(a: float, legacy: bool = False) -> Plan | None:
    """Plan Zipf numbers."""
    a_minus_1 = a - 1
    beyond = float(1 << 63) ** -a_minus_1  # probability of numbers beyond int64, which a `RandomState` rejects
    if a >= 1025 or (legacy and beyond > 0.99):
        return None
    b = 2.0**a_minus_1
    series = sum(k**-a for k in range(1, 21)) + 21**-a_minus_1 / a_minus_1  # a little less than the zeta function
    params = [a_minus_1, -1 / a_minus_1, b, 0.0 if legacy else beyond]
    return _sampler("Zipf"), params, 2 / (series * (1 - 1 / b) * (1 - legacy * beyond))


def legacy_geometric(p: float) -> Plan | None:
    """Plan geometric numbers of a `RandomState`: by search from p = 1/3 on, else by inversion."""
    if p >= 1 / 3:
        return _sampler("GeometricSearch"), [p], 1.0
    return (_sampler("GeometricInversion"), [math.log(1 - p)], 1.0) if p > 1e-15 else None


# --- hypergeometric numbers -------------------------------------------------------------------------------------------


def hypergeometric(good: int, bad: int, sample: int) -> Plan | None:
    """Plan hypergeometric numbers: one item at a time for samples below 10, else by a ratio of uniform numbers."""
    total = good + bad
    few = min(sample, total - sample)
    if 0 in (good, bad, few):
        return None
    if few >= 10:
        drawn, q = few, max(good, bad) / total
        p = min(good, bad) / total
        return _ratio(good, bad, sample, float(total - drawn) * drawn * p * q / (total - 1), _log_factorial)
    words32 = sum((1 << (k - 1).bit_length()) / k for k in range(total - few + 1, total + 1))
    return _sampler("HypergeometricFew", 128, takes_words32=True), [good, bad, sample], words32


def legacy_hypergeometric(good: int, bad: int, sample: int) -> Plan | None:
    """Plan hypergeometric numbers of a `RandomState`: one item at a time for samples up to 10, else by a ratio."""
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
    good: int, bad: int, sample: int, variance: float, log_factorial: Callable[[int], float], legacy: bool = False
) -> Plan | None:
    """Plan hypergeometric numbers by the ratio-of-uniforms method HRUA (E. Stadlober, 1989)."""
    total, fewer, more = good + bad, min(good, bad), max(good, bad)
    if total > _MAX_MEAN:
        return None
    drawn = min(sample, total - sample)
    a = drawn * (fewer / total) + 0.5
    c = math.sqrt(variance + 0.5)
    h = 1.7155277699214135 * c + 0.8989161620588988
    top = math.floor(float(drawn + 1) * (fewer + 1) / (total + 2))
    g = sum(map(log_factorial, (top, fewer - top, drawn - top, more - drawn + top)))
    bound = min(min(drawn, fewer) + 1, math.floor(a + 16 * c))
    params = [good, fewer, more, drawn, a, h, bound, g, good > bad, drawn < sample, *_log_factorials()]
    # The logarithm of the mode's probability: with the width of the hat it gives the expected count of attempts.
    log_mode_probability = sum(map(log_factorial, (fewer, more, drawn, total - drawn))) - log_factorial(total) - g
    return _sampler(f"HypergeometricRatio<{str(legacy).lower()}>"), params, 4.1 * h * math.exp(log_mode_probability)


@cache
def _log_factorials() -> list[float]:
    """Return the logarithms of the factorials of 0 to 125, correctly rounded: NumPy has a table of them."""
    decimal = import_late("decimal")  # few programs need it
    with decimal.localcontext() as context:
        context.prec = 40
        return [float(decimal.Decimal(math.factorial(k)).ln()) for k in range(126)]


def _log_factorial(k: int) -> float:
    """Return the logarithm of a factorial, as NumPy's `logfactorial`: by Stirling's series from 126 on."""
    if k < 126:
        return _log_factorials()[k]
    return (k + 0.5) * math.log(k) - k + (0.9189385332046728 + (1.0 / k) * (1 / 12.0 - 1 / (360.0 * k * k)))


# The coefficients of Stirling's series for the logarithm of the gamma function.
_STIRLING = (
    *(8.333333333333333e-02, -2.777777777777778e-03, 7.936507936507937e-04, -5.952380952380952e-04),
    *(8.417508417508418e-04, -1.917526917526918e-03, 6.410256410256410e-03, -2.955065359477124e-02),
    *(1.796443723688307e-01, -1.39243221690590e00),
)


def _log_gamma(x: float) -> float:
    """Return the logarithm of the gamma function, as NumPy's `random_loggam`: by Stirling's series above 7."""
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
    """Return the cumulative probabilities of 1, 2, 3, ... up to where they no longer change."""
    sums, term = [p], p
    while (total := sums[-1] + (term := term * (1.0 - p))) != sums[-1]:
        sums.append(total)
    return numpy.array(sums)


# --- plans by name ----------------------------------------------------------------------------------------------------

# The count of leading parameters that are integers; all others are floats.
_INTEGER_PARAMETERS = {"binomial": 1, "hypergeometric": 3}

PLANS: dict[str, Callable[..., Plan | None]] = {
    "binomial": binomial,
    "hypergeometric": hypergeometric,
    "logseries": logseries,
    "negative_binomial": negative_binomial,
    "poisson": poisson,
    "zipf": zipf,
}
LEGACY_PLANS: dict[str, Callable[..., Plan | None]] = {
    "binomial": partial(binomial, legacy=True),
    "geometric": legacy_geometric,
    "hypergeometric": legacy_hypergeometric,
    "logseries": partial(logseries, legacy=True),
    "negative_binomial": legacy_negative_binomial,
    "poisson": poisson,
    "zipf": partial(zipf, legacy=True),
}


def plan_of(plans: Mapping[str, Callable[..., Plan | None]], scratch: Any, name: str, *params: Any) -> Plan | None:
    """Return the plan of a distribution; None where NumPy draws on the host.

    Raises
    ------
    ValueError
        If NumPy refuses the parameters: its scratch generator validates them by drawing.
    """
    if not all(map(is_number, params)):
        return None
    getattr(scratch, name)(*params)
    integers = _INTEGER_PARAMETERS.get(name, 0)
    return plans[name](*map(int, params[:integers]), *map(float, params[integers:]))
