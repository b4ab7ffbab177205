"""Numbers of a `RandomState` that take as many words as they need."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import gamma, pi, sqrt
from typing import Any

import numpy

from ..core.array import from_host, to_host
from ..core.node import Queue
from ..core.record import elementwise
from ..joining import concatenate
from ..products_stacked import matmul
from ..reduction import sum as sum_of
from ..scans import cumsum
from ..searching import searchsorted
from ..shape import reshape
from ..ufunc_output import hosted
from . import legacy_discrete
from .continuous import middle_of_cosines
from .legacy_method import NUMPYS, PROBE, Legacy, in_parts, on_device
from .method import finite_numbers, floats, rows_of, shape_of
from .sequence import Sampler
from .twister import Twister

_FILE = "samplers_legacy"
_given = partial(finite_numbers, PROBE)
# NumPy's `wald` of greater parameters, or of their inverses, may make NaN, which stands for no number here.
_GREAT = 1e150
_PAIRED = pi / 4  # the share of points that are in the unit disk


class _Factor(NUMPYS):
    """A state whose normal numbers are the identity, so that NumPy tells what it multiplies them by."""

    def standard_normal(self, size: Any = None) -> Any:
        return numpy.eye(*size)


class Sampled(Legacy):
    """Methods of `RandomState`."""

    @on_device
    def standard_gamma(self, shape: Any, size: Any = None) -> Any:
        given = _given("standard_gamma", shape)
        return self._gamma(given[0], 1.0, size, "standard_gamma", given) if given else NotImplemented

    @on_device
    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        given = _given("gamma", shape, scale)
        return self._gamma(given[0], given[1], size, "gamma", given) if given else NotImplemented

    @on_device
    def chisquare(self, df: Any, size: Any = None) -> Any:
        given = _given("chisquare", df)
        return self._gamma(given[0] / 2, 2.0, size, "chisquare", given) if given else NotImplemented

    def _gamma(self, shape: float, scale: float, size: Any, name: str, given: Sequence[float]) -> Any:
        if shape == 0:
            return NotImplemented
        if shape == 1:
            u = self._numbers(Twister.doubles, size)
            if u is NotImplemented:
                return u
            made = elementwise("negative", [elementwise("log", [elementwise("subtract", [1.0, u])])])
            return elementwise("multiply", [scale, made])
        if shape < 1:
            # An attempt of four words makes one in seven cases of ten, or more.
            return self._sequence(Sampler("LegacyGammaBelowOne", _FILE, longest=32), (shape, scale), size, 6.0)
        return self._of_pairs("LegacyGamma", (shape, scale), 0.95, size, name, given)

    @on_device
    def wald(self, mean: Any, scale: Any, size: Any = None) -> Any:
        given = _given("wald", mean, scale)
        if not given or not all(1 / _GREAT < x < _GREAT for x in given):
            return NotImplemented
        return self._of_pairs("LegacyWald", given, 1.0, size, "wald", given)

    @on_device
    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        given = _given("beta", a, b)
        if not given:
            return NotImplemented
        if max(given) > 1:
            return self._even_beta(given, size)
        accepted = gamma(1 + given[0]) * gamma(1 + given[1]) / gamma(1 + sum(given))
        return self._sequence(Sampler("LegacyBeta", _FILE, longest=32), given, size, 4 / accepted)

    def _even_beta(self, given: Sequence[float], size: Any) -> Any:
        """The share of one of two gamma numbers."""
        shape = None if size is None else shape_of(size)
        if shape is None or given[0] != given[1]:
            return NotImplemented
        pairs = self._gamma(given[0], 1.0, (*shape, 2), "standard_gamma", given[:1])
        if pairs is NotImplemented:
            return pairs
        return elementwise("divide", [pairs[..., 0], elementwise("add", [pairs[..., 0], pairs[..., 1]])])

    @on_device
    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        shape, given = None if size is None else shape_of(size), floats(alpha)
        if (
            shape is None
            or given.ndim != 1
            or not given.size
            or not numpy.isfinite(given).all()
            or (given != given[0]).any()
        ):
            return NotImplemented  # where shapes differ, it is not the same which number is made of a kept one
        PROBE.dirichlet(given)
        made = self._gamma(float(given[0]), 1.0, (*shape, given.size), "standard_gamma", given[:1].tolist())
        if made is NotImplemented:
            return made
        return elementwise("multiply", [made, elementwise("divide", [1.0, sum_of(made, axis=-1, keepdims=True)])])

    @on_device
    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Any:
        given = _given("vonmises", mu, kappa)
        if not given or given[1] < 1e-8:
            return NotImplemented
        sampler = Sampler("VonMises", longest=32)
        return self._sequence(sampler, (*given, middle_of_cosines(given[1])), size, 8.5)

    @on_device
    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-8
    ) -> Any:
        shape, mean = None if size is None else rows_of(size), numpy.array(hosted(mean))
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

    def _of_pairs(
        self, name: str, params: Sequence[float], share: float, size: Any, method: str, given: Sequence[float]
    ) -> Any:
        """Numbers of normal ones, which come in pairs: that share of them makes a number.

        A number for which half of a pair is left of an earlier draw, or that leaves half a pair, NumPy draws.
        """
        target = self._target(size)
        if target is None:
            return NotImplemented
        draw = partial(getattr(NUMPYS, method), self._stream.numpys, *given)
        made: list[Any] = []
        for count in in_parts(target.count, 8.0):
            made += self._part_of_pairs(name, params, share, count, draw, target.queue)
        return target.filled(concatenate(made).value())

    def _part_of_pairs(
        self, name: str, params: Sequence[float], share: float, count: int, draw: Any, queue: Queue
    ) -> list[Any]:
        begun: list[float] = []
        while len(begun) < count and self._begin()["has_gauss"]:
            begun.append(draw())
        count -= len(begun)
        expected = count / (2 * _PAIRED * share)
        attempts = int(expected + 8 * sqrt(expected)) + 16
        found = self._attempted(Sampler(name, _FILE, longest=32, width=3), params, attempts, 7.2, queue)
        made = 0
        numbers: list[Any] = [from_host(numpy.array(begun, numpy.float64), queue.device)]
        if found is not None:
            values: Any = found[0]
            made, whole, taken = _whole_attempts(values, count)
            self._stream.moved(found[1], from_host(numpy.array(taken), queue.device).value())
            flat: Any = reshape(values[:whole, :2], (-1,))
            numbers.append(flat[elementwise("equal", [flat, flat])])
        self._stream.settle()
        return [*numbers, from_host(draw(count - made), queue.device)]


def _whole_attempts(values: Any, count: int) -> tuple[int, int, int]:
    """How many numbers attempts make that make no more than so many; how many attempts these are, and their words."""
    made: Any = cumsum(sum_of(elementwise("equal", [values[:, :2], values[:, :2]]), axis=1))
    words: Any = cumsum(values[:, 2])
    whole = int(to_host(searchsorted(made, count, "left")))
    # The attempts before the one that makes the last number; and that one too, if its second half makes it.
    first = max(whole - 1, 0)
    near = [to_host(x[first : whole + 1]).tolist() for x in (made, words, values[:, 1])]
    upto = {first + 1 + k: each for k, each in enumerate(zip(*near, strict=True))}
    numbers, _, second = upto.get(whole + 1, (0, 0, 0.0))
    if numbers == count and second == second:
        whole += 1
    numbers, taken, _ = upto.get(whole, (0, 0, 0.0))
    return int(numbers), whole, int(taken)


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
    "poisson": lambda lam=1.0, size=None: [lam, size],
    "zipf": lambda a, size=None: [a, size],
}
for _name in legacy_discrete.NAMES:
    setattr(Sampled, _name, _discrete(_name))
