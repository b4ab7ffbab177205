"""Draws of a `Generator` from continuous distributions by rejection: each number consumes a variable count of words."""

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
from .parameters import SCRATCH_GENERATOR, finite_parameters, float64_parameter, float64_row, is_valid_scale, shape_of
from .rejection_sampling import Sampler
from .words import NUMPY_DRAWS

_FLOAT32 = numpy.dtype(numpy.float32)
_finite_params = partial(finite_parameters, SCRATCH_GENERATOR)
# Expected count of words that a ziggurat number consumes, rounded up.
_WORDS_PER_NORMAL, _WORDS_PER_EXPONENTIAL = 1.023, 1.035
# Greatest length of a Dirichlet row with unequal shapes. A longer row consumes so many words that it does not pay to
# measure an attempt at every word, as `rejection_sampling` does.
_MAX_SHARES = 32
# Greatest noncentrality with at most one degree of freedom: for Poisson numbers of greater means the last digits of
# logarithms, in which a GPU differs from NumPy, decide too often.
_MAX_NONCENTRALITY = 2e7
# Where both parameters are smaller, NumPy draws beta numbers, which are then 0 or 1, by another method.
_MIN_BETA_PARAMETER = 3e-103


class ContinuousDistributions(GeneratorDraws):
    """The methods of `Generator` that draw from continuous distributions by rejection.

    Where parameters are arrays, NumPy draws on the host; only the scale of `gamma` may be one.
    """

    @generator_method
    def standard_gamma(self, shape: Any, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        """Draw standard gamma numbers."""
        dtype = numpy.dtype(dtype)
        target = self._target(size) if out is None else self._target_in(out, size, dtype)
        if target is None or dtype not in (FLOAT64, _FLOAT32):
            return NotImplemented
        params = _finite_params("standard_gamma", shape)
        if not params or not dtype.type(params[0]):
            return NotImplemented
        return self._reject_into(target, Sampler("Gamma", dtype=dtype), (*params, 1), _words_per_gamma(*params))

    @generator_method
    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw gamma numbers; `scale` may be an array."""
        params = _finite_params("gamma", shape, scale)
        if params:
            return self._gamma(params[0], params[1], size) if params[0] else NotImplemented
        params = _finite_params("standard_gamma", shape)
        scale = float64_parameter(scale)
        target = self._target(size, scale)
        if not params or not params[0] or target is None or not is_valid_scale(scale):
            return NotImplemented
        gammas = self._reject_into(target, Sampler("Gamma"), (*params, 1.0), _words_per_gamma(*params))
        return gammas if gammas is NotImplemented else elementwise("multiply", [scale, gammas])

    @generator_method
    def chisquare(self, df: Any, size: Any = None) -> Any:
        """Draw chi-square numbers: gamma numbers of shape ``df / 2`` and scale 2."""
        params = _finite_params("chisquare", df)
        return self._gamma(params[0] / 2, 2.0, size) if params else NotImplemented

    def _gamma(self, shape: float, scale: float, size: Any) -> Any:
        """Draw gamma numbers with scalar parameters."""
        return self._draw_by_rejection(size, Sampler("Gamma"), (shape, scale), _words_per_gamma(shape))

    @generator_method
    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        """Draw beta numbers: from two gamma numbers, or from powers of uniform numbers if `a` and `b` are at most 1."""
        params = _finite_params("beta", a, b)
        if not params or max(params) < _MIN_BETA_PARAMETER:
            return NotImplemented
        if max(params) > 1:
            return self._draw_by_rejection(size, Sampler("Beta"), params, sum(map(_words_per_gamma, params)))
        acceptance_rate = gamma(1 + params[0]) * gamma(1 + params[1]) / gamma(1 + sum(params))
        return self._draw_by_rejection(size, Sampler("BetaOfPowers"), params, 2.005 / acceptance_rate)

    @generator_method
    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Any:
        """Draw F numbers: ratios of two chi-square numbers."""
        params = _finite_params("f", dfnum, dfden)
        return self._f(params[0], params[1], size) if params else NotImplemented

    def _f(self, dfnum: float, dfden: float, size: Any) -> Any:
        """Draw F numbers with scalar parameters."""
        words_per_number = _words_per_gamma(dfnum / 2) + _words_per_gamma(dfden / 2)
        return self._draw_by_rejection(size, Sampler("F"), (dfnum, dfden), words_per_number)

    @generator_method
    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Any:
        """Draw noncentral F numbers: ratios of a noncentral and a central chi-square number."""
        params = _finite_params("noncentral_f", dfnum, dfden, nonc)
        if not params:
            return NotImplemented
        dfnum, dfden, nonc = params
        if nonc == 0:
            return self._f(dfnum, dfden, size)
        sampler, words_per_number = _noncentral_sampler("F", dfnum, nonc)
        if sampler is None:
            return NotImplemented
        words_per_number += _words_per_gamma(dfden / 2)
        return self._draw_by_rejection(size, sampler, (dfnum, nonc, dfden), words_per_number)

    @generator_method
    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Any:
        """Draw noncentral chi-square numbers."""
        params = _finite_params("noncentral_chisquare", df, nonc)
        if not params:
            return NotImplemented
        if params[1] == 0:
            return self._gamma(params[0] / 2, 2.0, size)
        sampler, words_per_number = _noncentral_sampler("Chisquare", *params)
        if sampler is None:
            return NotImplemented
        return self._draw_by_rejection(size, sampler, params, words_per_number)

    @generator_method
    def standard_t(self, df: Any, size: Any = None) -> Any:
        """Draw Student's t numbers."""
        params = _finite_params("standard_t", df)
        if not params:
            return NotImplemented
        words_per_number = _WORDS_PER_NORMAL + _words_per_gamma(params[0] / 2)
        return self._draw_by_rejection(size, Sampler("StandardT"), params, words_per_number)

    @generator_method
    def wald(self, mean: Any, scale: Any, size: Any = None) -> Any:
        """Draw Wald (inverse Gaussian) numbers."""
        params = _finite_params("wald", mean, scale)
        if not params:
            return NotImplemented
        return self._draw_by_rejection(size, Sampler("Wald"), params, _WORDS_PER_NORMAL + 1)

    @generator_method
    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Any:
        """Draw von Mises angles."""
        params = _finite_params("vonmises", mu, kappa)
        if not params:
            return NotImplemented
        if not 1e-8 <= params[1] <= 1e6:
            return self._limit_of_vonmises(params[0], params[1], size)
        params, words_per_number = (*params, wrapped_cauchy_parameter(params[1])), 3 + min(1.05, 0.4 * params[1])
        return self._draw_by_rejection(size, Sampler("VonMises"), params, words_per_number)

    def _limit_of_vonmises(self, mu: float, kappa: float, size: Any) -> Any:
        """Draw von Mises angles for extreme `kappa` as NumPy does: uniform if below 1e-8, normal if above 1e6."""
        target = self._target(size)
        if target is None:
            return NotImplemented
        draw = (NUMPY_DRAWS.uniform if kappa < 1 else NUMPY_DRAWS.normal)[FLOAT64]
        standard: Any = self._draw_into(target, draw)
        if kappa < 1:
            return pi * (2.0 * standard - 1.0)
        angles: Any = mu + sqrt(1.0 / kappa) * standard
        angles = elementwise("where", [angles < -pi, angles + 2 * pi, angles])
        return elementwise("where", [angles > pi, angles - 2 * pi, angles])

    @generator_method
    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        """Draw Dirichlet vectors: rows of gamma numbers over their sum."""
        shapes, rows = float64_row(alpha), None if size is None else shape_of(size)
        if (
            rows is None
            or shapes.ndim != 1
            or not shapes.size
            or shapes.max() < 0.1
            or not numpy.isfinite(shapes).all()
        ):
            return NotImplemented
        target, are_equal = self._target((*rows, shapes.size)), (shapes == shapes[0]).all()
        if target is None or not (are_equal or shapes.size <= _MAX_SHARES):
            return NotImplemented
        SCRATCH_GENERATOR.dirichlet(shapes)
        if are_equal:
            words_per_number = _words_per_gamma(shapes[0])
            gammas = self._reject_into(target, Sampler("Gamma"), (shapes[0], 1.0), words_per_number)
            if gammas is NotImplemented:
                return gammas
            row_sums: Any = sum_of(gammas, axis=-1, keepdims=True)
            return gammas * (1.0 / row_sums)
        words_per_row = sum(_words_per_gamma(shape) for shape in shapes.tolist() if shape)
        max_words = 64 if words_per_row < 20 else 128 if words_per_row < 50 else 256
        sampler = Sampler("Dirichlet", max_words=max_words, width=shapes.size)
        return self._reject_into(target, sampler, shapes.tolist(), words_per_row)

    @generator_method
    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-8, *, method: Any = "svd"
    ) -> Any:
        """Draw multivariate normal vectors: see `draw_normal_vectors`."""

        def normals(target: Target) -> Any:
            return self._draw_into(target, self._standard_draws.normal[FLOAT64])

        options = {"check_valid": check_valid, "tol": tol, "method": method}
        return draw_normal_vectors(numpy.random.Generator, self._standard_target, normals, mean, cov, size, **options)


def _words_per_gamma(shape: float) -> float:
    """Return the expected count of words that a gamma number consumes, rounded up."""
    if shape == 1:
        return _WORDS_PER_EXPONENTIAL
    if shape < 1:
        return (1 + _WORDS_PER_EXPONENTIAL) / gamma(1 + shape)
    return (1 + _WORDS_PER_NORMAL) / (1 - 0.045 / shape)


def _noncentral_sampler(name: str, df: float, nonc: float) -> tuple[Sampler | None, float]:
    """Return the sampler of noncentral numbers, and the expected count of words per number, rounded up.

    The sampler is None where NumPy is to draw on the host. For an F number the count is that of its numerator.
    """
    if df > 1:
        return Sampler(f"Noncentral{name}"), _words_per_gamma((df - 1) / 2) + _WORDS_PER_NORMAL
    if nonc > _MAX_NONCENTRALITY:
        return None, 0.0
    files = "samplers_continuous samplers_discrete samplers_noncentral"
    return Sampler(f"Mixed{name}", files), (nonc / 2 + 1 if nonc < 20 else 3.0) + 2.3


def wrapped_cauchy_parameter(kappa: float) -> float:
    """Return the parameter of the wrapped Cauchy envelope from which von Mises angles are drawn.

    It is `s` in NumPy's code and `r` in D. J. Best and N. I. Fisher (1979); the series replaces it for small `kappa`.
    """
    if kappa < 1e-5:
        return 1 / kappa + kappa
    r = 1 + sqrt(1 + 4 * kappa * kappa)
    rho = (r - sqrt(2 * r)) / (2 * kappa)
    return (1 + rho * rho) / (2 * rho)
