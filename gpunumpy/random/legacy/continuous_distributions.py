"""Numbers of a `RandomState` of continuous distributions of which each takes as many words as it needs."""

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
from ..continuous_distributions import middle_of_cosines
from ..device_draws import Target
from ..discrete_plans import gamma_shape
from ..mt19937 import Twister
from ..normal_vectors import draw_normal_vectors
from ..parameters import SCRATCH_STATE, finite_parameters, float64_row, shape_of
from ..rejection_sampling import Sampler
from .random_state_draws import RandomStateDraws, random_state_method

_FILE = "samplers_legacy"
_checked = partial(finite_parameters, SCRATCH_STATE)
# How many pairs of words a normal number takes on average: that share of points is in the unit disk.
_PAIRS_PER_NORMAL = 4 / pi
_MAX_ORDERED_SHARES = 16  # so many shares are added up in the order in which NumPy adds them
_NORMAL_ITEM = -1.0  # in the place of the shape of a gamma number, says that it is a normal one


def _times(x: Any, y: Any) -> Any:
    return elementwise("multiply", [x, y])


def _divided(x: Any, y: Any) -> Any:
    return elementwise("divide", [x, y])


def _sum(x: Any, y: Any) -> Any:
    return elementwise("add", [x, y])


def _noncentral_chisquare(shift: float, rest: Any, normal: Any) -> Any:
    moved = _sum(normal, shift)
    return _sum(_times(2.0, rest), _times(moved, moved))


def _item_parameters(shape: float) -> tuple[float, float, float]:
    """Return a gamma number or a normal one as its sampler is told."""
    if shape == _NORMAL_ITEM:
        return 0.0, 0.0, 0.0
    return shape, *(gamma_shape(shape) if shape > 1 else (0.0, 0.0))


def _pairs_per_item(shape: float) -> float:
    """Return an upper estimate of word pairs consumed per gamma (or normal) variate."""
    if shape == _NORMAL_ITEM:
        return _PAIRS_PER_NORMAL
    return 1.0 if shape == 1 else 3.0 if shape < 1 else (_PAIRS_PER_NORMAL + 1) / 0.95


class ContinuousDistributions(RandomStateDraws):
    """Methods of `RandomState`."""

    @random_state_method
    def standard_gamma(self, shape: Any, size: Any = None) -> Any:
        given = _checked("standard_gamma", shape)
        return self._gamma(given[0], 1.0, size) if given else NotImplemented

    @random_state_method
    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        given = _checked("gamma", shape, scale)
        return self._gamma(given[0], given[1], size) if given else NotImplemented

    @random_state_method
    def chisquare(self, df: Any, size: Any = None) -> Any:
        given = _checked("chisquare", df)
        return self._gamma(given[0] / 2, 2.0, size) if given else NotImplemented

    @random_state_method
    def wald(self, mean: Any, scale: Any, size: Any = None) -> Any:
        given = _checked("wald", mean, scale)
        if not given:
            return NotImplemented
        sampler = Sampler("LegacyWald", _FILE, max_words=8, phases=1, max_numbers=2)
        return self._draw_by_rejection(size, sampler, given, _PAIRS_PER_NORMAL + 1)

    @random_state_method
    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        given = _checked("beta", a, b)
        if not given:
            return NotImplemented
        if max(given) > 1:
            return self._of_rows(given, size, lambda x, y: _divided(x, _sum(x, y)))
        accepted = gamma(1 + given[0]) * gamma(1 + given[1]) / gamma(1 + sum(given))
        return self._draw_by_rejection(size, Sampler("LegacyBeta", _FILE, max_words=32), given, 2 / accepted)

    @random_state_method
    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Any:
        given = _checked("f", dfnum, dfden)
        return self._f(given[0], given[1], size) if given else NotImplemented

    def _f(self, dfnum: float, dfden: float, size: Any) -> Any:
        def ratio(above: Any, below: Any) -> Any:
            return _divided(_times(_times(2.0, above), dfden), _times(_times(2.0, below), dfnum))

        return self._of_rows((dfnum / 2, dfden / 2), size, ratio)

    @random_state_method
    def standard_t(self, df: Any, size: Any = None) -> Any:
        given = _checked("standard_t", df)
        if not given:
            return NotImplemented
        half = given[0] / 2

        def ratio(normal: Any, below: Any) -> Any:
            return _divided(_times(sqrt(half), normal), elementwise("sqrt", [below]))

        return self._of_rows((_NORMAL_ITEM, half), size, ratio)

    @random_state_method
    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Any:
        given = _checked("noncentral_chisquare", df, nonc)
        if not given:
            return NotImplemented
        if given[1] == 0:
            return self._gamma(given[0] / 2, 2.0, size)
        if given[0] <= 1:
            return NotImplemented  # NumPy may keep a normal number for as many numbers as need none
        return self._of_rows(((given[0] - 1) / 2, _NORMAL_ITEM), size, partial(_noncentral_chisquare, sqrt(given[1])))

    @random_state_method
    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Any:
        given = _checked("noncentral_f", dfnum, dfden, nonc)
        if not given:
            return NotImplemented
        freedoms_above, freedoms_below, centre = given
        if centre == 0:
            return self._f(freedoms_above, freedoms_below, size)
        if freedoms_above <= 1:
            return NotImplemented

        def ratio(rest: Any, normal: Any, below: Any) -> Any:
            above = _times(_noncentral_chisquare(sqrt(centre), rest, normal), freedoms_below)
            return _divided(above, _times(_times(2.0, below), freedoms_above))

        return self._of_rows(((freedoms_above - 1) / 2, _NORMAL_ITEM, freedoms_below / 2), size, ratio)

    @random_state_method
    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        shapes = float64_row(alpha)
        if shapes.ndim != 1 or not shapes.size or not numpy.isfinite(shapes).all():
            return NotImplemented
        SCRATCH_STATE.dirichlet(shapes)
        if (shapes == shapes[0]).all():
            shape = None if size is None else shape_of(size)
            made = NotImplemented if shape is None else self._gamma(float(shapes[0]), 1.0, (*shape, shapes.size))
        else:
            made = self._rows(shapes.tolist(), size)
        if made is NotImplemented:
            return made
        shares = [made[..., k : k + 1] for k in range(shapes.size)] if shapes.size <= _MAX_ORDERED_SHARES else []
        whole = reduce(_sum, shares) if shares else sum_of(made, axis=-1, keepdims=True)
        return _times(made, _divided(1.0, whole))

    def _gamma(self, shape: float, scale: float, size: Any) -> Any:
        return self._of_rows((shape,), size, lambda x: x if scale == 1 else _times(scale, x))

    def _of_rows(self, shapes: Sequence[float], size: Any, combine: Callable[..., Any]) -> Any:
        """Draw rows of gamma numbers, and make a number of each."""
        rows = self._rows(shapes, size)
        return rows if rows is NotImplemented else combine(*(rows[..., k] for k in range(len(shapes))))

    def _rows(self, shapes: Sequence[float], size: Any) -> Any:
        """Draw rows of gamma numbers of these shapes, or of normal ones, in the order in which NumPy draws them."""
        target = self._target(size)
        if 0 in shapes or target is None:
            return NotImplemented
        width, small = len(shapes), [shape for shape in shapes if not (shape > 1 or shape == _NORMAL_ITEM)]
        if width == 1 and shapes[0] == 1:
            made = transforms.minus_log_of_rest(self._draw_into(target, Twister.uniforms))
            return reshape(made, (*target.shape, 1))
        phases = 1 << (width - 1).bit_length()
        max_words = 64 if small else 8
        if phases * max_words > 256:
            return NotImplemented
        pairs_per_row = sum(map(_pairs_per_item, shapes))
        params = [width, *(x for shape in shapes for x in _item_parameters(shape))]
        rows = Target((*target.shape, width), target.queue.device)
        if len(small) == width:
            sampler = Sampler("LegacySmallGammas", _FILE, max_words=max_words, width=width)
            return self._reject_into(rows, sampler, params, pairs_per_row, width)
        sampler = Sampler("LegacyGammas", _FILE, max_words=max_words, phases=phases, max_numbers=2 * width)
        return self._reject_into(rows, sampler, params, pairs_per_row / width, width)

    @random_state_method
    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Any:
        given = _checked("vonmises", mu, kappa)
        if not given or given[1] < 1e-8:
            return NotImplemented
        params = (*given, middle_of_cosines(given[1]))
        return self._draw_by_rejection(size, Sampler("VonMises", max_words=32), params, 4.25)

    @random_state_method
    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-8
    ) -> Any:
        def normals(target: Target) -> ndarray:
            return self._draw_into(target, Twister.normals)

        options = {"check_valid": check_valid, "tol": tol}
        return draw_normal_vectors(numpy.random.RandomState, self._target, normals, mean, cov, size, **options)
