"""How far the functions of `scipy.special` are from exact values, which mpmath computes with 200 bits.

An error is in units in the last place (ULP) of the exact value. Near zeros of a function that oscillates, the unit is
that of the amplitude; of logarithms of gamma functions it is that of 1.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy

from gpunumpy.core.ops.special import SPECIAL
from gpunumpy.kernels.custom import host_loops
from gpunumpy.kernels.special.host import scipy_function

Array = numpy.ndarray[Any, Any]
DTYPES = {"float32": numpy.dtype("f4"), "float64": numpy.dtype("f8")}


class Interval(NamedTuple):
    """Where an argument is drawn from, evenly, or with its logarithm even: `is_log` (both ends of one sign)."""

    low: float
    high: float
    is_log: bool = False

    def draw(self, rng: numpy.random.Generator, count: int) -> Array:
        if not self.is_log:
            return rng.uniform(self.low, self.high, count)
        logarithms = rng.uniform(*sorted(numpy.log(numpy.abs([self.low, self.high]))), count)
        return numpy.sign(self.low) * numpy.exp(logarithms)


def _log(low: float, high: float) -> Interval:
    return Interval(low, high, True)


_SMALL = (Interval(1e-12, 100, True), Interval(-1e-12, -100, True))

# Of every function: the places where it is measured, each with the interval of each argument.
PLACES: dict[str, tuple[Interval | tuple[Interval, ...], ...]] = {
    "expit": (Interval(-40, 40), Interval(-700, 700), *_SMALL),
    "logit": (Interval(0, 1), _log(1e-30, 1)),
    "log_expit": (Interval(-40, 40), Interval(-700, 700), *_SMALL),
    "xlogy": ((Interval(-9, 9), Interval(0, 10)), (_log(1e-12, 100), _log(1e-30, 1e30))),
    "xlog1py": ((Interval(-9, 9), Interval(-1, 10)), (_log(1e-12, 100), _log(1e-12, 100))),
    "entr": (Interval(0, 10), _log(1e-30, 1e30), Interval(0.9, 1.1)),
    "rel_entr": ((Interval(0, 10), Interval(0, 10)), (_log(1e-3, 1e3), _log(1e-3, 1e3)), (Interval(1, 1.1),) * 2),
    "kl_div": ((Interval(0, 10), Interval(0, 10)), (_log(1e-3, 1e3), _log(1e-3, 1e3)), (Interval(1, 1.1),) * 2),
    "exprel": (Interval(-40, 40), Interval(-700, 700), *_SMALL),
    "cosm1": (Interval(-20, 20), Interval(-1, 1), *_SMALL),
    "log1pmx": (Interval(-1, 10), Interval(-0.5, 0.5), *_SMALL[:1], _log(1e-5, 1e30)),
    "boxcox": (
        (Interval(0, 10), Interval(-5, 5)),
        (_log(1e-5, 1e5), Interval(-20, 20)),
        (_log(1e-3, 1e3), _log(1e-10, 1)),
    ),
    "inv_boxcox": (
        (Interval(0, 10), Interval(-0.1, 5)),
        (Interval(-1, 1), Interval(-1, 1)),
        (_log(1e-3, 1e3), _log(1e-10, 1)),
    ),
    "huber": ((Interval(0, 10), Interval(-20, 20)),),
    "pseudo_huber": ((Interval(0, 10), Interval(-20, 20)), (_log(1e-5, 1e5), _log(1e-5, 1e5))),
    "erf": (Interval(-6, 6), Interval(-1, 1), *_SMALL),
    "erfc": (Interval(-6, 27), Interval(-1, 1), Interval(0.3, 10), *_SMALL),
    "erfcx": (Interval(-26, 50), Interval(-1, 5), _log(1e-20, 1e20)),
    "erfinv": (Interval(-1, 1), Interval(-0.1, 0.1), Interval(0.99, 1), *_SMALL),
    "erfcinv": (Interval(0, 2), _log(1e-300, 1)),
    "ndtr": (Interval(-38, 9), Interval(-2, 2), *_SMALL),
    "ndtri": (Interval(0, 1), _log(1e-300, 1), Interval(0.499, 0.501)),
    "gamma": (Interval(0, 10), Interval(-20, 35), Interval(-170, 171), _log(1e-10, 1)),
    "gammaln": (Interval(0, 10), Interval(-20, 0), Interval(0.9, 1.1), Interval(1.9, 2.1), _log(1e-10, 1e10)),
    "rgamma": (Interval(0, 10), Interval(-20, 35), Interval(-170, 171), _log(1e-10, 1)),
    "digamma": (Interval(0, 10), Interval(-20, 0), Interval(1.3, 1.6), _log(1e-10, 1e10)),
    "beta": ((Interval(0, 10), Interval(0, 10)), (_log(1e-3, 50), _log(1e-3, 50)), (_log(1, 1e3), _log(0.1, 10))),
    "betaln": ((Interval(0, 10), Interval(0, 10)), (_log(1e-3, 1e5), _log(1e-3, 1e5))),
    "binom": ((Interval(0, 60), Interval(0, 30)), (Interval(0, 1000), Interval(0, 10))),
    **dict.fromkeys(("j0", "j1", "y0", "y1"), (Interval(0, 8), Interval(0, 100), _log(1e-10, 1), _log(1, 1e6))),
    **dict.fromkeys(("i0", "i1", "i0e", "i1e"), (Interval(-8, 8), Interval(-90, 90), Interval(-700, 700), *_SMALL)),
    **dict.fromkeys(("k0", "k1", "k0e", "k1e"), (Interval(0, 2), Interval(2, 700), Interval(0, 90), _log(1e-30, 1))),
    "log_ndtr": (Interval(-40, 10), Interval(-2, 2), _log(1e-10, 35), _log(-1e10, -1)),
}


def arguments(name: str, dtype: numpy.dtype[Any], count: int) -> list[Array]:
    """About `count` arguments of a function, as many from each of its places; the same ones each time."""
    rng = numpy.random.default_rng(len(name) + dtype.itemsize)
    places = [place if isinstance(place[0], Interval) else (place,) for place in PLACES[name]]
    drawn = [[interval.draw(rng, count // len(places)) for interval in place] for place in places]
    return [numpy.concatenate(column).astype(dtype) for column in zip(*drawn, strict=True)]


@functools.cache
def _formulas() -> dict[str, Callable[..., Any]]:
    """Return each function over mpmath's numbers."""
    import mpmath
    from mpmath import mp

    from . import bessel

    mp.prec = 200
    found: dict[str, Callable[..., Any]] = {
        "expit": lambda x: 1 / (1 + mp.exp(-x)),
        "logit": lambda x: mp.log(x / (1 - x)),
        "log_expit": lambda x: -mp.log1p(mp.exp(-x)),
        "xlogy": lambda x, y: x * mp.log(y),
        "xlog1py": lambda x, y: x * mp.log1p(y),
        "entr": lambda x: -x * mp.log(x),
        "rel_entr": lambda x, y: x * mp.log(x / y),
        "kl_div": lambda x, y: x * mp.log(x / y) - x + y,
        "exprel": lambda x: mp.expm1(x) / x,
        "cosm1": lambda x: -2 * mp.sin(x / 2) ** 2,
        "log1pmx": lambda x: mp.log1p(x) - x,
        "boxcox": lambda x, y: mp.expm1(y * mp.log(x)) / y,
        "inv_boxcox": lambda x, y: mp.exp(mp.log1p(x * y) / y),
        "huber": lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2),
        "pseudo_huber": lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1),
        "erf": mp.erf,
        "erfc": mp.erfc,
        "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x) if x < 1e5 else (1 - 1 / (2 * x * x)) / (x * mp.sqrt(mp.pi)),
        "erfinv": mp.erfinv,
        "erfcinv": _erfcinv,
        "gamma": mp.gamma,
        "gammaln": lambda x: mp.log(abs(mp.gamma(x))) if x < 1e5 else mp.loggamma(x),
        "rgamma": mp.rgamma,
        "digamma": mp.digamma,
        "beta": mp.beta,
        "betaln": lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b),
        "binom": mp.binomial,
        **{f"{kind}{n}": lambda x, f=f, n=n: f(n, x) for kind, f in _bessel_functions().items() for n in (0, 1)},
        **{f"i{n}e": lambda x, n=n: mp.exp(-abs(x)) * mp.besseli(n, x) for n in (0, 1)},
        **{f"k{n}e": lambda x, n=n: mp.exp(x) * bessel.k(n, x) for n in (0, 1)},
        "ndtr": lambda x: mp.erfc(-x / mp.sqrt(2)) / 2,
        "ndtri": lambda p: -mp.sqrt(2) * _erfcinv(2 * p),
        "log_ndtr": _log_ndtr,
    }
    assert mpmath.__version__
    return found


def _bessel_functions() -> dict[str, Callable[..., Any]]:
    from mpmath import mp

    from . import bessel

    return {"j": mp.besselj, "y": bessel.y, "i": mp.besseli, "k": bessel.k}


def _erfcinv(y: Any) -> Any:
    """Newton's steps, for ln(erfc), from SciPy's value."""
    from mpmath import mp

    x = mp.mpf(float(scipy_function("erfcinv")(float(y))))
    for _ in range(5):
        c = mp.erfc(x)
        x += (mp.log(c) - mp.log(y)) * c * mp.exp(x * x) * mp.sqrt(mp.pi) / 2
    return x


def _log_ndtr(x: Any) -> Any:
    from mpmath import mp

    if x > 0:
        return mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2)
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)


def _exact(task: tuple[str, list[tuple[float, ...]]]) -> list[tuple[float, float]]:
    """The exact values as sums of two doubles; NaN where there is none, or none that is real."""
    from mpmath import mpc, mpf

    name, points = task
    function, found = _formulas()[name], []
    for point in points:
        try:
            value = function(*map(mpf, point))
        except (ValueError, ZeroDivisionError, ArithmeticError):
            value = mpf("nan")
        high = float("nan") if isinstance(value, mpc) else float(value)
        found.append((high, float(value - mpf(high)) if numpy.isfinite(high) else 0.0))
    return found


_AT_A_TIME = 2000


def exact(name: str, given: Sequence[Array]) -> Array:
    """The exact values for arguments, as two rows whose sum they are; of many by several processes."""
    points = list(zip(*[x.astype("f8").tolist() for x in given], strict=True))
    tasks = [(name, points[k : k + _AT_A_TIME]) for k in range(0, len(points), _AT_A_TIME)]
    if len(tasks) == 1:
        found = [_exact(tasks[0])]
    else:
        with get_context("spawn").Pool(os.cpu_count() or 1) as pool:
            found = pool.map(_exact, tasks, chunksize=1)
    return numpy.array([pair for part in found for pair in part]).T


@dataclass(frozen=True)
class Worst:
    """The largest error, and where it is."""

    error: float
    arguments: tuple[float, ...]
    got: float
    exact: float


# What an error is measured by where the value is smaller.
_AMPLITUDES: dict[str, Callable[[Array], Array]] = {
    "gammaln": lambda x: (x < 0).astype(float),
    "digamma": lambda x: (x < 0).astype(float),
    "betaln": numpy.ones_like,
    **dict.fromkeys(("j0", "j1", "y0", "y1"), lambda x: numpy.where(x > 0.5, numpy.sqrt(2 / (numpy.pi * x)), 0)),
}


def worst(name: str, given: Sequence[Array], got: Array, values: Array) -> Worst:
    """Return the largest error of results, where neither they nor the exact values leave the normal numbers."""
    info, (high, low) = numpy.finfo(got.dtype), values
    with numpy.errstate(all="ignore"):
        size = numpy.abs(high)
        is_ordinary = (size < float(info.max)) & (size >= float(info.tiny))
        if name in _AMPLITUDES:
            size = numpy.maximum(size, _AMPLITUDES[name](given[0].astype("f8")))
        unit = 2.0 ** numpy.floor(numpy.log2(numpy.where(is_ordinary, size, 1))) * float(info.eps)
        error = numpy.abs((got.astype("f8") - high) - low) / unit
    error = numpy.where(is_ordinary, numpy.where(numpy.isnan(got), numpy.inf, error), 0)
    at = int(error.argmax())
    return Worst(float(error[at]), tuple(float(x[at]) for x in given), float(got[at]), float(high[at]))


def by_own_text(name: str, *given: Array) -> Array:
    """What a function's C++ computes, compiled for the host."""
    return numpy.asarray(host_loops.function(name, (given[0].dtype,) * (len(given) + 1))(*given))


def by_scipy(name: str, *given: Array) -> Array:
    with numpy.errstate(all="ignore"):
        return numpy.asarray(scipy_function(name)(*given, dtype=given[0].dtype))


NAMES = tuple(SPECIAL)
