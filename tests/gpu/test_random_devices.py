"""Random numbers of arrays on one device while the other is the default: their values, and their device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np

from ..support.arrays import to_host

pytestmark = pytest.mark.gpu

MANY = 40_000
Uses = dict[str, Callable[[Any, Any], Any]]


def shuffled(g: Any, x: Any) -> Any:
    g.shuffle(x)
    return x


# What both kinds have, by a function that makes an array, and the generator.
USES: Uses = {
    "normal": lambda array, g: g.normal(array(range(MANY)), 2.0),
    "few normal": lambda array, g: g.normal(array(range(3))),
    "uniform": lambda array, g: g.uniform(array(range(MANY)), 2 * MANY),
    "exponential": lambda array, g: g.exponential(array(range(1, 5)), (MANY // 4, 4)),
    "triangular": lambda array, g: g.triangular(array([0.0, 0.1, 0.2]), 0.5, 1, (MANY, 3)),
    "poisson": lambda array, g: g.poisson(array(range(MANY))),
    "choice": lambda array, g: g.choice(array(range(100)), MANY),
    "choice of each once": lambda array, g: g.choice(array(range(2 * MANY)), MANY, replace=False),
    "permutation": lambda array, g: g.permutation(array(range(MANY))),
    "shuffle": lambda array, g: shuffled(g, array(range(MANY))),
}
OF_GENERATOR: Uses = {
    "random": lambda array, g: g.random(out=array([0.0] * MANY)),
    "standard_normal": lambda array, g: g.standard_normal(out=array([0.0] * MANY)),
    "permuted": lambda array, g: g.permuted(array(range(MANY))),
    "integers": lambda array, g: g.integers(0, array(range(1, MANY + 1))),
    "choice of columns": lambda array, g: g.choice(array([[1, 2, 3]]), MANY, axis=1),
}
CASES = [
    *(("default_rng", name) for name in USES | OF_GENERATOR),
    *(("RandomState", name) for name in USES),
]


@pytest.mark.parametrize("where", ["cpu", "cuda:0"])
@pytest.mark.parametrize("default", ["cpu", "cuda:0"])
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_devices(kind: str, name: str, default: str, where: str) -> None:
    use = (USES | OF_GENERATOR)[name]
    with np.Device(default):
        tested, reference = (getattr(lib.random, kind)(3) for lib in (np, numpy))
        made = use(lambda values: np.array(values, device=where), tested)
        wanted = use(numpy.array, reference)
        assert made.device == np.Device(where)
        numpy.testing.assert_allclose(to_host(made), wanted, rtol=1e-12)
        numpy.testing.assert_array_equal(tested.uniform(size=3), reference.uniform(size=3))
