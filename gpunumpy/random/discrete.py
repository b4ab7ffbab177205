"""Integers of distributions with parameters.

Where the parameters are arrays, how many words a number takes hangs on those before: NumPy draws on the host then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ..core.dtypes import FLOAT64, INT64
from ..core.recording.array import from_host, ndarray, to_host
from ..core.recording.record import elementwise
from ..functions.sorting.searching import searchsorted
from . import distributions, words
from .distributions import Plan
from .method import PROBE, Drawing, Target, is_number, on_device
from .sequence import sequence


class Discrete(Drawing):
    """Methods of `Generator`."""

    @on_device("poisson")
    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        return self._planned("poisson", size, lam)

    @on_device("negative_binomial")
    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return self._planned("negative_binomial", size, n, p)

    @on_device("logseries")
    def logseries(self, p: Any, size: Any = None) -> Any:
        return self._planned("logseries", size, p)

    @on_device("zipf")
    def zipf(self, a: Any, size: Any = None) -> Any:
        return self._planned("zipf", size, a)

    @on_device("binomial")
    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return self._planned("binomial", size, n, p, integers=1)

    @on_device("hypergeometric")
    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        return self._planned("hypergeometric", size, ngood, nbad, nsample, integers=3)

    @on_device("geometric")
    def geometric(self, p: Any, size: Any = None) -> Any:
        target = self._new(size)
        if target is None or not is_number(p):
            return NotImplemented
        PROBE.geometric(p)
        p = float(p)
        if p < 1e-16:
            return NotImplemented
        if p < 1 / 3:
            exponential = target.filled(words.EXPONENTIAL[FLOAT64](self._stream, target.count, target.queue))
            tried = elementwise("divide", [elementwise("negative", [exponential]), math.log1p(-p)])
            return elementwise("cast", [elementwise("ceil", [tried])], (FLOAT64, INT64))
        evenly = target.filled(words.EVEN[FLOAT64](self._stream, target.count, target.queue))
        sums = from_host(distributions.geometric_sums(p), target.queue.device)
        return elementwise("add", [searchsorted(sums, evenly, "left"), 1])

    @on_device("multinomial")
    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        rows = self._new(size)
        pvals = to_host(pvals) if isinstance(pvals, ndarray) else pvals
        if rows is None or not is_number(n) or numpy.ndim(pvals) != 1:
            return NotImplemented
        PROBE.multinomial(n, pvals)
        chances = numpy.asarray(pvals, numpy.float64).tolist()
        return self._made(
            Target((*rows.shape, len(chances)), rows.queue.device), distributions.multinomial(int(n), chances)
        )

    @on_device("multivariate_hypergeometric")
    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: Any = "marginals"
    ) -> Any:
        # Halves of words that are left, or the order of the colours, go from row to row.
        return NotImplemented

    def _planned(self, name: str, size: Any, *given: Any, integers: int = 0) -> Any:
        """Numbers of a distribution, of whose parameters so many are integers."""
        target = self._new(size)
        if target is None or not all(map(is_number, given)):
            return NotImplemented
        getattr(PROBE, name)(*given)
        plan: Callable[..., Plan | None] = getattr(distributions, name)
        return self._made(target, plan(*map(int, given[:integers]), *map(float, given[integers:])))

    def _made(self, target: Target, plan: Plan | None) -> Any:
        if plan is None:
            return NotImplemented
        sampler, params, each = plan
        made = sequence(self._stream, sampler, params, target.shape, each, target.queue)
        return NotImplemented if made is None else target.filled(made)
