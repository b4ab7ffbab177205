"""Draws of a `RandomState` from continuous distributions by rejection: numbers consume a variable count of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from math import gamma, pi, sqrt
from typing import Any

import numpy

from ...core.recording.array import ndarray
from ...core.recording.record import elementwise
from ...functions.manipulation.shape import reshape
from ...functions.reductions.reductions import sum as sum_of
from .. import transforms
from ..continuous_distributions import wrapped_cauchy_parameter
from ..device_draws import Target
from ..discrete_plans import gamma_shape
from ..mt19937 import Twister
from ..normal_vectors import draw_normal_vectors
from ..parameters import SCRATCH_STATE, finite_parameters, float64_row, shape_of
from ..rejection_sampling import Sampler
from .random_state_draws import RandomStateDraws, random_state_method

_FILE = "samplers_legacy"
_finite_params = partial(finite_parameters, SCRATCH_STATE)
# Expected count of word pairs that a normal number consumes: the inverse of the unit disk's share of its square.
_PAIRS_PER_NORMAL = 4 / pi
_MAX_ORDERED_SHARES = 16  # longer Dirichlet rows are summed by a reduction, shorter ones in NumPy's order
_NORMAL_ITEM = -1.0  # in place of the shape of a gamma number: marks a normal number


def _times(x: Any, y: Any) -> Any:
    return elementwise("multiply", [x, y])


def _divided(x: Any, y: Any) -> Any:
    return elementwise("divide", [x, y])


def _sum(x: Any, y: Any) -> Any:
    return elementwise("add", [x, y])


def _noncentral_chisquare(shift: float, gamma_numbers: Any, normal: Any) -> Any:
    """Return noncentral chi-square numbers, given gamma numbers of shape ``(df - 1) / 2`` and normal numbers."""
    shifted = _sum(normal, shift)
    return _sum(_times(2.0, gamma_numbers), _times(shifted, shifted))


def _item_parameters(shape: float) -> tuple[float, float, float]:
    """Return the parameters by which a sampler knows a gamma number of this shape, or a normal number."""
    if shape == _NORMAL_ITEM:
        return 0.0, 0.0, 0.0
    return shape, *(gamma_shape(shape) if shape > 1 else (0.0, 0.0))


def _pairs_per_item(shape: float) -> float:
    """Return an upper estimate of word pairs consumed per gamma (or normal) variate."""
    if shape == _NORMAL_ITEM:
        return _PAIRS_PER_NORMAL
    return 1.0 if shape == 1 else 3.0 if shape < 1 else (_PAIRS_PER_NORMAL + 1) / 0.95


class ContinuousDistributions(RandomStateDraws):
    """The methods of `RandomState` that draw from continuous distributions by rejection, with scalar parameters."""

    @random_state_method
    def standard_gamma(self, shape: Any, size: Any = None) -> Any:
        """Draw standard gamma numbers."""
        params = _finite_params("standard_gamma", shape)
        return self._gamma(params[0], 1.0, size) if params else NotImplemented

    @random_state_method
    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw gamma numbers."""
        params = _finite_params("gamma", shape, scale)
        return self._gamma(params[0], params[1], size) if params else NotImplemented

    @random_state_method
    def chisquare(self, df: Any, size: Any = None) -> Any:
        """Draw chi-square numbers: gamma numbers of shape ``df / 2`` and scale 2."""
        params = _finite_params("chisquare", df)
        return self._gamma(params[0] / 2, 2.0, size) if params else NotImplemented

    @random_state_method
    def wald(self, mean: Any, scale: Any, size: Any = None) -> Any:
        """Draw Wald (inverse Gaussian) numbers."""
        params = _finite_params("wald", mean, scale)
        if not params:
            return NotImplemented
        sampler = Sampler("LegacyWald", _FILE, max_words=8, phases=1, max_numbers=2)
        return self._draw_by_rejection(size, sampler, params, _PAIRS_PER_NORMAL + 1)

    @random_state_method
    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        """Draw beta numbers: from two gamma numbers, or from powers of uniform numbers if `a` and `b` are at most 1."""
        params = _finite_params("beta", a, b)
        if not params:
            return NotImplemented
        if max(params) > 1:
            return self._of_rows(params, size, lambda x, y: _divided(x, _sum(x, y)))
        acceptance_rate = gamma(1 + params[0]) * gamma(1 + params[1]) / gamma(1 + sum(params))
        return self._draw_by_rejection(size, Sampler("LegacyBeta", _FILE, max_words=32), params, 2 / acceptance_rate)

    @random_state_method
    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Any:
        """Draw F numbers: ratios of two chi-square numbers."""
        params = _finite_params("f", dfnum, dfden)
        return self._f(params[0], params[1], size) if params else NotImplemented

    def _f(self, dfnum: float, dfden: float, size: Any) -> Any:
        """Draw F numbers with scalar parameters."""

        def ratio(numerator: Any, denominator: Any) -> Any:
            return _divided(_times(_times(2.0, numerator), dfden), _times(_times(2.0, denominator), dfnum))

        return self._of_rows((dfnum / 2, dfden / 2), size, ratio)

    @random_state_method
    def standard_t(self, df: Any, size: Any = None) -> Any:
        """Draw Student's t numbers: from a normal and a gamma number."""
        params = _finite_params("standard_t", df)
        if not params:
            return NotImplemented
        half_df = params[0] / 2

        def ratio(normal: Any, gamma_numbers: Any) -> Any:
            return _divided(_times(sqrt(half_df), normal), elementwise("sqrt", [gamma_numbers]))

        return self._of_rows((_NORMAL_ITEM, half_df), size, ratio)

    @random_state_method
    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Any:
        """Draw noncentral chi-square numbers; NumPy draws them up to one degree of freedom."""
        params = _finite_params("noncentral_chisquare", df, nonc)
        if not params:
            return NotImplemented
        if params[1] == 0:
            return self._gamma(params[0] / 2, 2.0, size)
        if params[0] <= 1:
            return NotImplemented  # a number may need no normal number, so one may stay left over through many numbers
        return self._of_rows(((params[0] - 1) / 2, _NORMAL_ITEM), size, partial(_noncentral_chisquare, sqrt(params[1])))

    @random_state_method
    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Any:
        """Draw noncentral F numbers; NumPy draws them for ``dfnum <= 1``."""
        params = _finite_params("noncentral_f", dfnum, dfden, nonc)
        if not params:
            return NotImplemented
        dfnum, dfden, nonc = params
        if nonc == 0:
            return self._f(dfnum, dfden, size)
        if dfnum <= 1:
            return NotImplemented

        def ratio(gamma_numbers: Any, normal: Any, denominator: Any) -> Any:
            numerator = _times(_noncentral_chisquare(sqrt(nonc), gamma_numbers, normal), dfden)
            return _divided(numerator, _times(_times(2.0, denominator), dfnum))

        return self._of_rows(((dfnum - 1) / 2, _NORMAL_ITEM, dfden / 2), size, ratio)

    @random_state_method
    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        """Draw Dirichlet vectors: rows of gamma numbers over their sum."""
        shapes = float64_row(alpha)
        if shapes.ndim != 1 or not shapes.size or not numpy.isfinite(shapes).all():
            return NotImplemented
        SCRATCH_STATE.dirichlet(shapes)
        if (shapes == shapes[0]).all():
            shape = None if size is None else shape_of(size)
            gammas = NotImplemented if shape is None else self._gamma(float(shapes[0]), 1.0, (*shape, shapes.size))
        else:
            gammas = self._rows(shapes.tolist(), size)
        if gammas is NotImplemented:
            return gammas
        columns = [gammas[..., k : k + 1] for k in range(shapes.size)] if shapes.size <= _MAX_ORDERED_SHARES else []
        row_sums = reduce(_sum, columns) if columns else sum_of(gammas, axis=-1, keepdims=True)
        return _times(gammas, _divided(1.0, row_sums))

    def _gamma(self, shape: float, scale: float, size: Any) -> Any:
        """Draw gamma numbers with scalar parameters."""
        return self._of_rows((shape,), size, lambda x: x if scale == 1 else _times(scale, x))

    def _of_rows(self, shapes: Sequence[float], size: Any, combine: Callable[..., Any]) -> Any:
        """Draw rows of gamma numbers of these shapes, and combine the columns into one number a row."""
        rows = self._rows(shapes, size)
        return rows if rows is NotImplemented else combine(*(rows[..., k] for k in range(len(shapes))))

    def _rows(self, shapes: Sequence[float], size: Any) -> Any:
        """Draw rows of gamma numbers of these shapes (normal numbers for `_NORMAL_ITEM`), in NumPy's order."""
        target = self._target(size)
        if 0 in shapes or target is None:
            return NotImplemented
        width, small_shapes = len(shapes), [shape for shape in shapes if not (shape > 1 or shape == _NORMAL_ITEM)]
        if width == 1 and shapes[0] == 1:
            exponentials = transforms.random_state_exponential(self._draw_into(target, Twister.uniforms))
            return reshape(exponentials, (*target.shape, 1))
        phases = 1 << (width - 1).bit_length()
        max_words = 64 if small_shapes else 8
        if phases * max_words > 256:
            return NotImplemented
        pairs_per_row = sum(map(_pairs_per_item, shapes))
        params = [width, *(x for shape in shapes for x in _item_parameters(shape))]
        rows = Target((*target.shape, width), target.queue.device)
        if len(small_shapes) == width:
            sampler = Sampler("LegacySmallGammas", _FILE, max_words=max_words, width=width)
            return self._reject_into(rows, sampler, params, pairs_per_row, width)
        sampler = Sampler("LegacyGammas", _FILE, max_words=max_words, phases=phases, max_numbers=2 * width)
        return self._reject_into(rows, sampler, params, pairs_per_row / width, width)

    @random_state_method
    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Any:
        """Draw von Mises angles."""
        params = _finite_params("vonmises", mu, kappa)
        if not params or params[1] < 1e-8:
            return NotImplemented
        sampler_params = (*params, wrapped_cauchy_parameter(params[1]))
        return self._draw_by_rejection(size, Sampler("VonMises", max_words=32), sampler_params, 4.25)

    @random_state_method
    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-8
    ) -> Any:
        """Draw multivariate normal vectors: see `draw_normal_vectors`."""

        def normals(target: Target) -> ndarray:
            return self._draw_into(target, Twister.normals)

        options = {"check_valid": check_valid, "tol": tol}
        return draw_normal_vectors(numpy.random.RandomState, self._target, normals, mean, cov, size, **options)
