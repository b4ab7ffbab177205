"""Draws of a `Generator` from discrete distributions.

Where parameters are arrays NumPy draws on the host: the parameters of a number, and so its count of words, would depend
on the words of all numbers before it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ..core.dtypes import FLOAT64, INT64
from ..core.recording.array import from_host, ndarray, to_host
from ..core.recording.record import elementwise
from ..functions.sorting.searching import searchsorted
from .device_draws import Target
from .discrete_plans import PLANS, Plan, geometric_sums, multinomial, plan_of
from .generator_draws import GeneratorDraws, generator_method
from .parameters import SCRATCH_GENERATOR, is_number
from .words import NUMPY_DRAWS


class DiscreteDistributions(GeneratorDraws):
    """The methods of `Generator` that draw from discrete distributions."""

    @generator_method
    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """Draw Poisson numbers."""
        return self._planned("poisson", size, lam)

    @generator_method
    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Draw negative binomial numbers."""
        return self._planned("negative_binomial", size, n, p)

    @generator_method
    def logseries(self, p: Any, size: Any = None) -> Any:
        """Draw logarithmic series numbers."""
        return self._planned("logseries", size, p)

    @generator_method
    def zipf(self, a: Any, size: Any = None) -> Any:
        """Draw Zipf numbers."""
        return self._planned("zipf", size, a)

    @generator_method
    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Draw binomial numbers."""
        return self._planned("binomial", size, n, p)

    @generator_method
    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        """Draw hypergeometric numbers."""
        return self._planned("hypergeometric", size, ngood, nbad, nsample)

    @generator_method
    def geometric(self, p: Any, size: Any = None) -> Any:
        """Draw geometric numbers: by inversion for `p` below 1/3, else by search, as NumPy does."""
        target = self._target(size)
        if target is None or not is_number(p):
            return NotImplemented
        SCRATCH_GENERATOR.geometric(p)
        p = float(p)
        if p < 1e-16:
            return NotImplemented
        if p < 1 / 3:
            exponential = self._draw_into(target, NUMPY_DRAWS.exponential[FLOAT64])
            trials = elementwise("divide", [elementwise("negative", [exponential]), math.log1p(-p)])
            return elementwise("cast", [elementwise("ceil", [trials])], (FLOAT64, INT64))
        uniform = self._draw_into(target, NUMPY_DRAWS.uniform[FLOAT64])
        sums = from_host(geometric_sums(p), target.queue.device)
        return elementwise("add", [searchsorted(sums, uniform, "left"), 1])

    @generator_method
    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        """Draw multinomial rows: counts of `n` trials by outcome."""
        rows = self._target(size)
        pvals = to_host(pvals) if isinstance(pvals, ndarray) else pvals
        if rows is None or not is_number(n) or numpy.ndim(pvals) != 1:
            return NotImplemented
        SCRATCH_GENERATOR.multinomial(n, pvals)
        probabilities = numpy.asarray(pvals, numpy.float64).tolist()
        target = Target((*rows.shape, len(probabilities)), rows.queue.device)
        return self._draw_plan(target, multinomial(int(n), probabilities))

    @generator_method
    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: Any = "marginals"
    ) -> Any:
        """Leave the draw to NumPy: each row continues with half a word, or the order of colors, that the last left."""
        return NotImplemented

    def _planned(self, name: str, size: Any, *params: Any) -> Any:
        """Draw numbers of a distribution by its plan in `PLANS`."""
        target = self._target(size)
        if target is None:
            return NotImplemented
        return self._draw_plan(target, plan_of(PLANS, SCRATCH_GENERATOR, name, *params))

    def _draw_plan(self, target: Target, plan: Plan | None) -> Any:
        """Draw the numbers of a target by a plan; `NotImplemented` without one."""
        return NotImplemented if plan is None else self._reject_into(target, *plan)
