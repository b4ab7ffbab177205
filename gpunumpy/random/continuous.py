"""Numbers of continuous distributions of which each takes several words, as many as it needs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import gamma, pi, sqrt
from typing import Any

import numpy

from ..core.dtypes import FLOAT64
from ..core.recording.array import from_host
from ..core.recording.record import elementwise
from ..functions.manipulation.shape import reshape
from ..functions.products.stacked import matmul
from ..functions.reductions.reductions import sum as sum_of
from ..functions.ufuncs.output import hosted
from . import words
from .method import PROBE, Drawing, Target, fine, finite_numbers, floats, on_device, rows_of, shape_of
from .sequence import Sampler, sequence

_FLOAT32 = numpy.dtype(numpy.float32)
_given = partial(finite_numbers, PROBE)
# How many words a number of a ziggurat takes on average, or a little more.
_NORMAL, _EXPONENTIAL = 1.023, 1.035
# Rows of more shares take too many words to be measured from every one of them.
_MOST_SHARES = 32
# Poisson numbers of greater means are decided by fewer digits than logarithms have.
_MOST_CENTRE = 2e7
# Where both parameters are smaller, NumPy's beta numbers are 0 or 1, drawn in another way.
_TINY = 3e-103


class _Factor(numpy.random.Generator):
    """A generator whose normal numbers are the identity, so that NumPy tells what it multiplies them by."""

    def __init__(self) -> None:
        super().__init__(numpy.random.PCG64(0))

    def standard_normal(self, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        return numpy.eye(*size)


class Continuous(Drawing):
    """Methods of `Generator`."""

    @on_device("standard_gamma")
    def standard_gamma(self, shape: Any, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        dtype = numpy.dtype(dtype)
        target = self._new(size) if out is None else self._into(out, size, dtype)
        if target is None or dtype not in (FLOAT64, _FLOAT32):
            return NotImplemented
        given = _given("standard_gamma", shape)
        if not given or not dtype.type(given[0]):
            return NotImplemented
        return self._filled(target, Sampler("Gamma", dtype=dtype), (*given, 1), _words_of_gamma(*given))

    @on_device("gamma")
    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        given = _given("gamma", shape, scale)
        if given:
            return self._gamma(given[0], given[1], size) if given[0] else NotImplemented
        given = _given("standard_gamma", shape)
        target, scales = self._over(size, scale)
        if not given or not given[0] or target is None or not fine(scale):
            return NotImplemented
        made = self._filled(target, Sampler("Gamma"), (*given, 1.0), _words_of_gamma(*given))
        return made if made is NotImplemented else elementwise("multiply", [scales, made])

    @on_device("chisquare")
    def chisquare(self, df: Any, size: Any = None) -> Any:
        given = _given("chisquare", df)
        return self._gamma(given[0] / 2, 2.0, size) if given else NotImplemented

    def _gamma(self, shape: float, scale: float, size: Any) -> Any:
        return self._sequence(Sampler("Gamma"), (shape, scale), _words_of_gamma(shape), size)

    @on_device("beta")
    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        given = _given("beta", a, b)
        if not given or max(given) < _TINY:
            return NotImplemented
        if max(given) > 1:
            return self._sequence(Sampler("Beta"), given, sum(map(_words_of_gamma, given)), size)
        accepted = gamma(1 + given[0]) * gamma(1 + given[1]) / gamma(1 + sum(given))
        return self._sequence(Sampler("BetaOfPowers"), given, 2.005 / accepted, size)

    @on_device("f")
    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Any:
        given = _given("f", dfnum, dfden)
        return self._f(given[0], given[1], size) if given else NotImplemented

    def _f(self, dfnum: float, dfden: float, size: Any) -> Any:
        each = _words_of_gamma(dfnum / 2) + _words_of_gamma(dfden / 2)
        return self._sequence(Sampler("F"), (dfnum, dfden), each, size)

    @on_device("noncentral_f")
    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Any:
        given = _given("noncentral_f", dfnum, dfden, nonc)
        if not given:
            return NotImplemented
        above, below, centre = given
        if centre == 0:
            return self._f(above, below, size)
        sampler, each = _noncentral("F", above, centre)
        if sampler is None:
            return NotImplemented
        return self._sequence(sampler, (above, centre, below), each + _words_of_gamma(below / 2), size)

    @on_device("noncentral_chisquare")
    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Any:
        given = _given("noncentral_chisquare", df, nonc)
        if not given:
            return NotImplemented
        if given[1] == 0:
            return self._gamma(given[0] / 2, 2.0, size)
        sampler, each = _noncentral("Chisquare", *given)
        return NotImplemented if sampler is None else self._sequence(sampler, given, each, size)

    @on_device("standard_t")
    def standard_t(self, df: Any, size: Any = None) -> Any:
        given = _given("standard_t", df)
        if not given:
            return NotImplemented
        return self._sequence(Sampler("StandardT"), given, _NORMAL + _words_of_gamma(given[0] / 2), size)

    @on_device("wald")
    def wald(self, mean: Any, scale: Any, size: Any = None) -> Any:
        given = _given("wald", mean, scale)
        return self._sequence(Sampler("Wald"), given, _NORMAL + 1, size) if given else NotImplemented

    @on_device("vonmises")
    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Any:
        given = _given("vonmises", mu, kappa)
        if not given:
            return NotImplemented
        if not 1e-8 <= given[1] <= 1e6:
            return self._angles(given[0], given[1], size)
        return self._sequence(
            Sampler("VonMises"), (*given, middle_of_cosines(given[1])), 3 + min(1.05, 0.4 * given[1]), size
        )

    def _angles(self, mu: float, kappa: float, size: Any) -> Any:
        """Angles that are evenly distributed, or all but normally."""
        target = self._new(size)
        if target is None:
            return NotImplemented
        draw = (words.EVEN if kappa < 1 else words.NORMAL)[FLOAT64]
        made: Any = target.filled(draw(self._stream, target.count, target.queue))
        if kappa < 1:
            return pi * (2.0 * made - 1.0)
        made = mu + sqrt(1.0 / kappa) * made
        made = elementwise("where", [made < -pi, made + 2 * pi, made])
        return elementwise("where", [made > pi, made - 2 * pi, made])

    @on_device("dirichlet")
    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        shapes, rows = floats(alpha), None if size is None else shape_of(size)
        if (
            rows is None
            or shapes.ndim != 1
            or not shapes.size
            or shapes.max() < 0.1
            or not numpy.isfinite(shapes).all()
        ):
            return NotImplemented
        target, alike = self._new((*rows, shapes.size)), (shapes == shapes[0]).all()
        if target is None or not (alike or shapes.size <= _MOST_SHARES):
            return NotImplemented
        PROBE.dirichlet(shapes)
        if alike:
            made = self._filled(target, Sampler("Gamma"), (shapes[0], 1.0), _words_of_gamma(shapes[0]))
            if made is NotImplemented:
                return made
            whole: Any = sum_of(made, axis=-1, keepdims=True)
            return made * (1.0 / whole)
        each = sum(_words_of_gamma(shape) for shape in shapes.tolist() if shape)
        longest = 64 if each < 20 else 128 if each < 50 else 256
        sampler = Sampler("Dirichlet", longest=longest, width=shapes.size)
        return self._filled(target, sampler, shapes.tolist(), each)

    @on_device("multivariate_normal")
    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-8, *, method: Any = "svd"
    ) -> Any:
        shape, mean = None if size is None else rows_of(size), floats(hosted(mean))
        target = None if shape is None or mean.ndim != 1 else self._new((*shape, mean.size), self._words)
        if target is None:
            return NotImplemented
        check: Any = "raise" if check_valid == "warn" else check_valid
        try:
            factor = _Factor().multivariate_normal(
                numpy.zeros_like(mean), hosted(cov), mean.size, check, tol, method=method
            )
        except (ValueError, numpy.linalg.LinAlgError):  # NumPy draws before it raises, or warns
            return NotImplemented
        normal = target.filled(self._words.NORMAL[FLOAT64](self._stream, target.count, target.queue))
        rows = matmul(reshape(normal, (-1, mean.size)), from_host(factor, target.queue.device))
        return reshape(elementwise("add", [mean, rows]), target.shape)

    def _sequence(self, sampler: Sampler, params: Sequence[float], each: float, size: Any) -> Any:
        """Numbers of a sampler, one of which takes `each` words on average."""
        target = self._new(size)
        return NotImplemented if target is None else self._filled(target, sampler, params, each)

    def _filled(self, target: Target, sampler: Sampler, params: Sequence[float], each: float) -> Any:
        made = sequence(self._stream, sampler, params, target.shape, each, target.queue)
        return NotImplemented if made is None else target.filled(made)


def _words_of_gamma(shape: float) -> float:
    """How many words a gamma number takes on average, or a little more."""
    if shape == 1:
        return _EXPONENTIAL
    return (1 + _EXPONENTIAL) / gamma(1 + shape) if shape < 1 else (1 + _NORMAL) / (1 - 0.045 / shape)


def _noncentral(name: str, freedoms: float, centre: float) -> tuple[Sampler | None, float]:
    """The sampler of noncentral numbers, and how many words one takes."""
    if freedoms > 1:
        return Sampler(f"Noncentral{name}"), _words_of_gamma((freedoms - 1) / 2) + _NORMAL
    if centre > _MOST_CENTRE:
        return None, 0.0
    files = "samplers_continuous samplers_discrete samplers_noncentral"
    return Sampler(f"Mixed{name}", files), (centre / 2 + 1 if centre < 20 else 3.0) + 2.3


def middle_of_cosines(kappa: float) -> float:
    """Around what the cosines of angles are drawn."""
    if kappa < 1e-5:
        return 1 / kappa + kappa
    r = 1 + sqrt(1 + 4 * kappa * kappa)
    rho = (r - sqrt(2 * r)) / (2 * kappa)
    return (1 + rho * rho) / (2 * rho)
