"""How a `RandomState` draws integers of distributions with parameters: as NumPy's first releases did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .. import distributions
from ..distributions import Plan
from ..method import is_number

_PROBE = numpy.random.RandomState(0)


def _integers(plan: Callable[..., Plan | None], count: int) -> Callable[..., Plan | None]:
    """A plan whose first parameters, so many, are integers; the others are numbers."""
    return lambda *given: plan(*map(int, given[:count]), *map(float, given[count:]))


_PLANS: dict[str, Callable[..., Plan | None]] = {
    "binomial": _integers(lambda n, p: distributions.binomial(n, p, old=True), 1),
    "geometric": _integers(distributions.old_geometric, 0),
    "hypergeometric": _integers(distributions.old_hypergeometric, 3),
    "logseries": _integers(lambda p: distributions.logseries(p, old=True), 0),
    "negative_binomial": _integers(distributions.old_negative_binomial, 0),
    "poisson": _integers(distributions.poisson, 0),
    "zipf": _integers(lambda a: distributions.zipf(a, old=True), 0),
}
NAMES = tuple(_PLANS)


def drawn(name: str, *given: Any) -> Plan | None:
    """By which sampler numbers are drawn, with what parameters, and how many pairs of words each takes; None where
    NumPy draws on the host, and an error where NumPy raises one.
    """
    if not all(map(is_number, given)):
        return None
    getattr(_PROBE, name)(*given)
    return _PLANS[name](*given)
