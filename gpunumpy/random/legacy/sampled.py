"""Numbers of a `RandomState` that take as many words as they need."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from math import gamma, pi, sqrt
from typing import Any

import numpy

from ...core.recording.array import from_host, ndarray, to_host
from ...core.recording.record import elementwise
from ...functions.manipulation.shape import reshape
from ...functions.products.stacked import matmul
from ...functions.reductions.reductions import sum as sum_of
from ...functions.ufuncs.output import hosted
from .. import distributions
from ..continuous import middle_of_cosines
from ..distributions import gamma_shape
from ..method import finite_numbers, floats, is_number, rows_of, shape_of
from ..mt19937 import Twister
from ..sequence import Sampler
from . import discrete as legacy_discrete
from .method import NUMPYS, PROBE, Legacy, on_device

_FILE = "samplers_legacy"
_given = partial(finite_numbers, PROBE)
_NORMAL = 4 / pi  # how many pairs of words a normal number takes on average: that share of points is in the unit disk
_FEW = 16  # so many shares are added up in the order in which NumPy adds them
_ANY_NORMAL = -1.0  # among the shapes of gamma numbers, says that it is a normal one


class _Factor(NUMPYS):
    """A state whose normal numbers are the identity, so that NumPy tells what it multiplies them by."""

    def standard_normal(self, size: Any = None) -> Any:
        return numpy.eye(*size)


def _times(x: Any, y: Any) -> Any:
    return elementwise("multiply", [x, y])


def _over(x: Any, y: Any) -> Any:
    return elementwise("divide", [x, y])


def _sum(x: Any, y: Any) -> Any:
    return elementwise("add", [x, y])


def _noncentral(shift: float, rest: Any, normal: Any) -> Any:
    """A noncentral chi-square number."""
    moved = _sum(normal, shift)
    return _sum(_times(2.0, rest), _times(moved, moved))


def _item(shape: float) -> tuple[float, float, float]:
    """A gamma number or a normal one, as its sampler is told."""
    if shape == _ANY_NORMAL:
        return 0.0, 0.0, 0.0
    return shape, *(gamma_shape(shape) if shape > 1 else (0.0, 0.0))


def _units(shape: float) -> float:
    """How many pairs of words a gamma number takes, or a normal one, on average, or a little more."""
    if shape == _ANY_NORMAL:
        return _NORMAL
    return 1.0 if shape == 1 else 3.0 if shape < 1 else (_NORMAL + 1) / 0.95


class Sampled(Legacy):
    """Methods of `RandomState`."""

    @on_device
    def standard_gamma(self, shape: Any, size: Any = None) -> Any:
        given = _given("standard_gamma", shape)
        return self._gamma(given[0], 1.0, size) if given else NotImplemented

    @on_device
    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        given = _given("gamma", shape, scale)
        return self._gamma(given[0], given[1], size) if given else NotImplemented

    @on_device
    def chisquare(self, df: Any, size: Any = None) -> Any:
        given = _given("chisquare", df)
        return self._gamma(given[0] / 2, 2.0, size) if given else NotImplemented

    @on_device
    def wald(self, mean: Any, scale: Any, size: Any = None) -> Any:
        given = _given("wald", mean, scale)
        if not given:
            return NotImplemented
        return self._sequence(Sampler("LegacyWald", _FILE, longest=8, phases=1, most=2), given, size, _NORMAL + 1)

    @on_device
    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        given = _given("beta", a, b)
        if not given:
            return NotImplemented
        if max(given) > 1:
            return self._of_rows(given, size, lambda x, y: _over(x, _sum(x, y)))
        accepted = gamma(1 + given[0]) * gamma(1 + given[1]) / gamma(1 + sum(given))
        return self._sequence(Sampler("LegacyBeta", _FILE, longest=32), given, size, 2 / accepted)

    @on_device
    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Any:
        given = _given("f", dfnum, dfden)
        return self._f(given[0], given[1], size) if given else NotImplemented

    def _f(self, dfnum: float, dfden: float, size: Any) -> Any:
        def ratio(above: Any, below: Any) -> Any:
            return _over(_times(_times(2.0, above), dfden), _times(_times(2.0, below), dfnum))

        return self._of_rows((dfnum / 2, dfden / 2), size, ratio)

    @on_device
    def standard_t(self, df: Any, size: Any = None) -> Any:
        given = _given("standard_t", df)
        if not given:
            return NotImplemented
        half = given[0] / 2

        def ratio(normal: Any, below: Any) -> Any:
            return _over(_times(sqrt(half), normal), elementwise("sqrt", [below]))

        return self._of_rows((_ANY_NORMAL, half), size, ratio)

    @on_device
    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Any:
        given = _given("noncentral_chisquare", df, nonc)
        if not given:
            return NotImplemented
        if given[1] == 0:
            return self._gamma(given[0] / 2, 2.0, size)
        if given[0] <= 1:
            return NotImplemented  # NumPy may keep a normal number for as many numbers as need none
        return self._of_rows(((given[0] - 1) / 2, _ANY_NORMAL), size, partial(_noncentral, sqrt(given[1])))

    @on_device
    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Any:
        given = _given("noncentral_f", dfnum, dfden, nonc)
        if not given:
            return NotImplemented
        many, few, centre = given
        if centre == 0:
            return self._f(many, few, size)
        if many <= 1:
            return NotImplemented

        def ratio(rest: Any, normal: Any, below: Any) -> Any:
            above = _times(_noncentral(sqrt(centre), rest, normal), few)
            return _over(above, _times(_times(2.0, below), many))

        return self._of_rows(((many - 1) / 2, _ANY_NORMAL, few / 2), size, ratio)

    @on_device
    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        shapes = floats(alpha)
        if shapes.ndim != 1 or not shapes.size or not numpy.isfinite(shapes).all():
            return NotImplemented
        PROBE.dirichlet(shapes)
        if (shapes == shapes[0]).all():
            shape = None if size is None else shape_of(size)
            made = NotImplemented if shape is None else self._gamma(float(shapes[0]), 1.0, (*shape, shapes.size))
        else:
            made = self._rows(shapes.tolist(), size)
        if made is NotImplemented:
            return made
        shares = [made[..., k : k + 1] for k in range(shapes.size)] if shapes.size <= _FEW else []
        whole = reduce(_sum, shares) if shares else sum_of(made, axis=-1, keepdims=True)
        return _times(made, _over(1.0, whole))

    def _gamma(self, shape: float, scale: float, size: Any) -> Any:
        return self._of_rows((shape,), size, lambda x: x if scale == 1 else _times(scale, x))

    def _of_rows(self, shapes: Sequence[float], size: Any, combined: Any) -> Any:
        """Numbers of which each is made of a row."""
        rows = self._rows(shapes, size)
        return rows if rows is NotImplemented else combined(*(rows[..., k] for k in range(len(shapes))))

    def _rows(self, shapes: Sequence[float], size: Any) -> Any:
        """Rows of gamma numbers of these shapes, or of normal ones, in the order in which NumPy draws them."""
        if 0 in shapes:
            return NotImplemented
        many, small = len(shapes), [shape for shape in shapes if not (shape > 1 or shape == _ANY_NORMAL)]
        if many == 1 and shapes[0] == 1:
            u = self._numbers(Twister.doubles, size)
            log = u if u is NotImplemented else elementwise("log", [elementwise("subtract", [1.0, u])])
            return log if log is NotImplemented else reshape(elementwise("negative", [log]), (*log.shape, 1))
        phases = 1 << (many - 1).bit_length()
        longest = 64 if small else 8
        if phases * longest > 256:
            return NotImplemented
        if len(small) == many:
            sampler = Sampler("LegacySmallGammas", _FILE, longest=longest, width=many)
        else:
            sampler = Sampler("LegacyGammas", _FILE, longest=longest, phases=phases, most=2 * many)
        params = [many, *(x for shape in shapes for x in _item(shape))]
        units = sum(map(_units, shapes))
        return self._sequence(sampler, params, size, units / many if sampler.phases else units, many)

    @on_device
    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        pvals = to_host(pvals) if isinstance(pvals, ndarray) else pvals
        if size is None or not is_number(n) or numpy.ndim(pvals) != 1:
            return NotImplemented
        PROBE.multinomial(n, pvals)
        plan = distributions.multinomial(int(n), numpy.asarray(pvals, numpy.float64).tolist(), old=True)
        return NotImplemented if plan is None else self._sequence(*plan[:2], size, plan[2], plan[0].width)

    @on_device
    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Any:
        given = _given("vonmises", mu, kappa)
        if not given or given[1] < 1e-8:
            return NotImplemented
        sampler = Sampler("VonMises", longest=32)
        return self._sequence(sampler, (*given, middle_of_cosines(given[1])), size, 4.25)

    @on_device
    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-8
    ) -> Any:
        shape, mean = None if size is None else rows_of(size), floats(hosted(mean))
        if shape is None or mean.ndim != 1:
            return NotImplemented
        check: Any = "raise" if check_valid == "warn" else check_valid
        try:
            factor = _Factor(0).multivariate_normal(numpy.zeros_like(mean), hosted(cov), mean.size, check, tol)
        except (ValueError, numpy.linalg.LinAlgError):  # NumPy draws before it raises, or warns
            return NotImplemented
        normal = self._numbers(Twister.normals, (*shape, mean.size))
        if normal is NotImplemented:
            return normal
        rows = matmul(reshape(normal, (-1, mean.size)), from_host(factor, normal.device))
        return reshape(elementwise("add", [mean, rows]), normal.shape)


def _discrete(name: str) -> Any:
    def draw(self: Sampled, *args: Any, **options: Any) -> Any:
        given = _SIGNATURES[name](*args, **options)
        size = given.pop()
        if size is None:
            return NotImplemented
        plan = legacy_discrete.drawn(name, *given)
        return NotImplemented if plan is None else self._sequence(plan[0], plan[1], size, plan[2])

    draw.__name__ = name
    return on_device(draw)


# The parameters in order, the size last.
_SIGNATURES: dict[str, Any] = {
    "binomial": lambda n, p, size=None: [n, p, size],
    "geometric": lambda p, size=None: [p, size],
    "hypergeometric": lambda ngood, nbad, nsample, size=None: [ngood, nbad, nsample, size],
    "logseries": lambda p, size=None: [p, size],
    "negative_binomial": lambda n, p, size=None: [n, p, size],
    "poisson": lambda lam=1.0, size=None: [lam, size],
    "zipf": lambda a, size=None: [a, size],
}
for _name in legacy_discrete.NAMES:
    setattr(Sampled, _name, _discrete(_name))
