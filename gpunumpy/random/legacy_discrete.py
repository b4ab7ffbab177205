"""How a `RandomState` draws integers of distributions with parameters: as NumPy's first releases did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy

from . import distributions
from .distributions import Plan
from .method import is_number

_PROBE = numpy.random.RandomState(0)


def _integers(plan: Callable[..., Plan | None], count: int) -> Callable[..., Plan | None]:
    """A plan whose first parameters, so many, are integers; the others are numbers."""
    return lambda *given: plan(*map(int, given[:count]), *map(float, given[count:]))


_PLANS: dict[str, Callable[..., Plan | None]] = {
    "binomial": _integers(lambda n, p: distributions.binomial(n, p, old=True), 1),
    "geometric": _integers(distributions.old_geometric, 0),
    "hypergeometric": _integers(distributions.old_hypergeometric, 3),
    "logseries": _integers(lambda p: distributions.logseries(p, old=True), 0),
    "poisson": _integers(distributions.poisson, 0),
    "zipf": _integers(lambda a: distributions.zipf(a, old=True), 0),
}
NAMES = tuple(_PLANS)


def drawn(name: str, *given: Any) -> Plan | None:
    """By which sampler numbers are drawn, with what parameters, and how many words of 32 bits each takes; None where
    NumPy draws on the host, and an error where NumPy raises one.
    """
    if not all(map(is_number, given)):
        return None
    getattr(_PROBE, name)(*given)
    found = _PLANS[name](*given)
    if found is None:
        return None
    sampler, params, units = found
    return replace(sampler, longest=2 * sampler.longest), params, 2 * units
