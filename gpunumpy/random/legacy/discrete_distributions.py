"""Draws of a `RandomState` from discrete distributions, with scalar parameters."""

from __future__ import annotations

from typing import Any

import numpy

from ...core.recording.array import ndarray, to_host
from ..device_draws import Target
from ..discrete_plans import LEGACY_PLANS, multinomial, plan_of
from ..parameters import SCRATCH_STATE, is_number
from .random_state_draws import RandomStateDraws, random_state_method


class DiscreteDistributions(RandomStateDraws):
    """The methods of `RandomState` that draw from discrete distributions."""

    @random_state_method
    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Draw binomial numbers."""
        return self._planned("binomial", size, n, p)

    @random_state_method
    def geometric(self, p: Any, size: Any = None) -> Any:
        """Draw geometric numbers."""
        return self._planned("geometric", size, p)

    @random_state_method
    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        """Draw hypergeometric numbers."""
        return self._planned("hypergeometric", size, ngood, nbad, nsample)

    @random_state_method
    def logseries(self, p: Any, size: Any = None) -> Any:
        """Draw logarithmic series numbers."""
        return self._planned("logseries", size, p)

    @random_state_method
    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Draw negative binomial numbers."""
        return self._planned("negative_binomial", size, n, p)

    @random_state_method
    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """Draw Poisson numbers."""
        return self._planned("poisson", size, lam)

    @random_state_method
    def zipf(self, a: Any, size: Any = None) -> Any:
        """Draw Zipf numbers."""
        return self._planned("zipf", size, a)

    def _planned(self, name: str, size: Any, *params: Any) -> Any:
        """Draw numbers of a distribution by its plan in `LEGACY_PLANS`."""
        if size is None:
            return NotImplemented
        plan = plan_of(LEGACY_PLANS, SCRATCH_STATE, name, *params)
        return NotImplemented if plan is None else self._draw_by_rejection(size, *plan)

    @random_state_method
    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        """Draw multinomial rows: counts of `n` trials by outcome."""
        pvals = to_host(pvals) if isinstance(pvals, ndarray) else pvals
        if size is None or not is_number(n) or numpy.ndim(pvals) != 1:
            return NotImplemented
        SCRATCH_STATE.multinomial(n, pvals)
        plan = multinomial(int(n), numpy.asarray(pvals, numpy.float64).tolist(), legacy=True)
        rows = self._target(size)
        if plan is None or rows is None:
            return NotImplemented
        return self._reject_into(Target((*rows.shape, plan[0].width), rows.queue.device), *plan, plan[0].width)
