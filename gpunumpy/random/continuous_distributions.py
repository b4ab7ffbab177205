"""Numbers of a `Generator` of continuous distributions of which each takes several words, as many as it needs."""

from __future__ import annotations

from functools import partial
from math import gamma, pi, sqrt
from typing import Any

import numpy

from ..core.dtypes import FLOAT64
from ..core.recording.record import elementwise
from ..functions.reductions.reductions import sum as sum_of
from .device_draws import Target
from .generator_draws import GeneratorDraws, generator_method
from .normal_vectors import draw_normal_vectors
from .parameters import SCRATCH_GENERATOR, finite_parameters, float64_parameter, float64_row, is_scale, shape_of
from .rejection_sampling import Sampler
from .words import NUMPY_DRAWS

_FLOAT32 = numpy.dtype(numpy.float32)
_checked = partial(finite_parameters, SCRATCH_GENERATOR)
# How many words a number of a ziggurat takes on average, rounded up.
_WORDS_PER_NORMAL, _WORDS_PER_EXPONENTIAL = 1.023, 1.035
# Rows of more shares take too many words to be measured from every one of them.
_MAX_SHARES = 32
# Poisson numbers of greater means are decided by fewer digits than logarithms have.
_MAX_CENTRE = 2e7
# Where both parameters are smaller, NumPy's beta numbers are 0 or 1, drawn in another way.
_MIN_BETA_PARAMETER = 3e-103


class ContinuousDistributions(GeneratorDraws):
    """Methods of `Generator`."""

    @generator_method
    def standard_gamma(self, shape: Any, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        dtype = numpy.dtype(dtype)
        target = self._target(size) if out is None else self._target_in(out, size, dtype)
        if target is None or dtype not in (FLOAT64, _FLOAT32):
            return NotImplemented
        given = _checked("standard_gamma", shape)
        if not given or not dtype.type(given[0]):
            return NotImplemented
        return self._reject_into(target, Sampler("Gamma", dtype=dtype), (*given, 1), _words_per_gamma(*given))

    @generator_method
    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        given = _checked("gamma", shape, scale)
        if given:
            return self._gamma(given[0], given[1], size) if given[0] else NotImplemented
        given = _checked("standard_gamma", shape)
        scale = float64_parameter(scale)
        target = self._target(size, scale)
        if not given or not given[0] or target is None or not is_scale(scale):
            return NotImplemented
        made = self._reject_into(target, Sampler("Gamma"), (*given, 1.0), _words_per_gamma(*given))
        return made if made is NotImplemented else elementwise("multiply", [scale, made])

    @generator_method
    def chisquare(self, df: Any, size: Any = None) -> Any:
        given = _checked("chisquare", df)
        return self._gamma(given[0] / 2, 2.0, size) if given else NotImplemented

    def _gamma(self, shape: float, scale: float, size: Any) -> Any:
        return self._draw_by_rejection(size, Sampler("Gamma"), (shape, scale), _words_per_gamma(shape))

    @generator_method
    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        given = _checked("beta", a, b)
        if not given or max(given) < _MIN_BETA_PARAMETER:
            return NotImplemented
        if max(given) > 1:
            return self._draw_by_rejection(size, Sampler("Beta"), given, sum(map(_words_per_gamma, given)))
        accepted = gamma(1 + given[0]) * gamma(1 + given[1]) / gamma(1 + sum(given))
        return self._draw_by_rejection(size, Sampler("BetaOfPowers"), given, 2.005 / accepted)

    @generator_method
    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Any:
        given = _checked("f", dfnum, dfden)
        return self._f(given[0], given[1], size) if given else NotImplemented

    def _f(self, dfnum: float, dfden: float, size: Any) -> Any:
        words_per_number = _words_per_gamma(dfnum / 2) + _words_per_gamma(dfden / 2)
        return self._draw_by_rejection(size, Sampler("F"), (dfnum, dfden), words_per_number)

    @generator_method
    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Any:
        given = _checked("noncentral_f", dfnum, dfden, nonc)
        if not given:
            return NotImplemented
        above, below, centre = given
        if centre == 0:
            return self._f(above, below, size)
        sampler, words_per_number = _noncentral("F", above, centre)
        if sampler is None:
            return NotImplemented
        words_per_number += _words_per_gamma(below / 2)
        return self._draw_by_rejection(size, sampler, (above, centre, below), words_per_number)

    @generator_method
    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Any:
        given = _checked("noncentral_chisquare", df, nonc)
        if not given:
            return NotImplemented
        if given[1] == 0:
            return self._gamma(given[0] / 2, 2.0, size)
        sampler, words_per_number = _noncentral("Chisquare", *given)
        if sampler is None:
            return NotImplemented
        return self._draw_by_rejection(size, sampler, given, words_per_number)

    @generator_method
    def standard_t(self, df: Any, size: Any = None) -> Any:
        given = _checked("standard_t", df)
        if not given:
            return NotImplemented
        words_per_number = _WORDS_PER_NORMAL + _words_per_gamma(given[0] / 2)
        return self._draw_by_rejection(size, Sampler("StandardT"), given, words_per_number)

    @generator_method
    def wald(self, mean: Any, scale: Any, size: Any = None) -> Any:
        given = _checked("wald", mean, scale)
        if not given:
            return NotImplemented
        return self._draw_by_rejection(size, Sampler("Wald"), given, _WORDS_PER_NORMAL + 1)

    @generator_method
    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Any:
        given = _checked("vonmises", mu, kappa)
        if not given:
            return NotImplemented
        if not 1e-8 <= given[1] <= 1e6:
            return self._angles(given[0], given[1], size)
        params, words_per_number = (*given, middle_of_cosines(given[1])), 3 + min(1.05, 0.4 * given[1])
        return self._draw_by_rejection(size, Sampler("VonMises"), params, words_per_number)

    def _angles(self, mu: float, kappa: float, size: Any) -> Any:
        """Draw angles whose distribution is uniform, or all but normal."""
        target = self._target(size)
        if target is None:
            return NotImplemented
        draw = (NUMPY_DRAWS.uniform if kappa < 1 else NUMPY_DRAWS.normal)[FLOAT64]
        made: Any = self._draw_into(target, draw)
        if kappa < 1:
            return pi * (2.0 * made - 1.0)
        made = mu + sqrt(1.0 / kappa) * made
        made = elementwise("where", [made < -pi, made + 2 * pi, made])
        return elementwise("where", [made > pi, made - 2 * pi, made])

    @generator_method
    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        shapes, rows = float64_row(alpha), None if size is None else shape_of(size)
        if (
            rows is None
            or shapes.ndim != 1
            or not shapes.size
            or shapes.max() < 0.1
            or not numpy.isfinite(shapes).all()
        ):
            return NotImplemented
        target, alike = self._target((*rows, shapes.size)), (shapes == shapes[0]).all()
        if target is None or not (alike or shapes.size <= _MAX_SHARES):
            return NotImplemented
        SCRATCH_GENERATOR.dirichlet(shapes)
        if alike:
            words_per_number = _words_per_gamma(shapes[0])
            made = self._reject_into(target, Sampler("Gamma"), (shapes[0], 1.0), words_per_number)
            if made is NotImplemented:
                return made
            whole: Any = sum_of(made, axis=-1, keepdims=True)
            return made * (1.0 / whole)
        words_per_row = sum(_words_per_gamma(shape) for shape in shapes.tolist() if shape)
        max_words = 64 if words_per_row < 20 else 128 if words_per_row < 50 else 256
        sampler = Sampler("Dirichlet", max_words=max_words, width=shapes.size)
        return self._reject_into(target, sampler, shapes.tolist(), words_per_row)

    @generator_method
    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-8, *, method: Any = "svd"
    ) -> Any:
        def normals(target: Target) -> Any:
            return self._draw_into(target, self._standard_draws.normal[FLOAT64])

        options = {"check_valid": check_valid, "tol": tol, "method": method}
        return draw_normal_vectors(numpy.random.Generator, self._standard_target, normals, mean, cov, size, **options)


def _words_per_gamma(shape: float) -> float:
    """Return how many words a gamma number takes on average, rounded up."""
    if shape == 1:
        return _WORDS_PER_EXPONENTIAL
    if shape < 1:
        return (1 + _WORDS_PER_EXPONENTIAL) / gamma(1 + shape)
    return (1 + _WORDS_PER_NORMAL) / (1 - 0.045 / shape)


def _noncentral(name: str, freedoms: float, centre: float) -> tuple[Sampler | None, float]:
    """Return the sampler of noncentral numbers, and how many words one takes on average, rounded up."""
    if freedoms > 1:
        return Sampler(f"Noncentral{name}"), _words_per_gamma((freedoms - 1) / 2) + _WORDS_PER_NORMAL
    if centre > _MAX_CENTRE:
        return None, 0.0
    files = "samplers_continuous samplers_discrete samplers_noncentral"
    return Sampler(f"Mixed{name}", files), (centre / 2 + 1 if centre < 20 else 3.0) + 2.3


def middle_of_cosines(kappa: float) -> float:
    """Return around what the cosines of von Mises angles are drawn."""
    if kappa < 1e-5:
        return 1 / kappa + kappa
    r = 1 + sqrt(1 + 4 * kappa * kappa)
    rho = (r - sqrt(2 * r)) / (2 * kappa)
    return (1 + rho * rho) / (2 * rho)
