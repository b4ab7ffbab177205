"""A `Generator` over MT19937 through the kernels of a GPU, compared with NumPy."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.random import device_draws, mt19937, rejection_sampling
from tests.numpy_parity.test_random_streams import EXACT, INEXACT, alike, pair, same_state
from tests.support.host_executor import run_on_host, with_traits

from ..support.arrays import to_host
from .random_library_calls import LIBRARY_CALLS

pytestmark = pytest.mark.usefixtures("host_functions")

CALLS: list[str] = []


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Even few numbers are drawn as a GPU draws them."""

    def counted(name: str) -> Callable[..., None]:
        def call(*args: Any) -> None:
            CALLS.append(name)
            LIBRARY_CALLS[name](*args)

        return call

    for name in LIBRARY_CALLS:
        run_on_host(monkeypatch, name, counted(name))
    monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
    with_traits(monkeypatch, draws_faster_than_numpy=True)
    with np.Device("cpu"):
        yield


OTHERS: dict[str, Callable[[Any, Any, int], Any]] = {
    "gamma": lambda n, g, size: g.gamma(2.5, 3, size),
    "gamma float32": lambda n, g, size: g.standard_gamma(2.5, size, "f4"),
    "standard_t": lambda n, g, size: g.standard_t(5, size),
    "vonmises": lambda n, g, size: g.vonmises(1, 2, size),
    "cauchy": lambda n, g, size: g.standard_cauchy(size),
    "laplace": lambda n, g, size: g.laplace(1, 2, size),
    "poisson": lambda n, g, size: g.poisson(20, size),
    "binomial": lambda n, g, size: g.binomial(100, 0.3, size),
    "geometric": lambda n, g, size: g.geometric(0.1, size),
    "geometric of many": lambda n, g, size: g.geometric(0.5, size),
    "hypergeometric": lambda n, g, size: g.hypergeometric(20, 30, 8, size),
    "multinomial": lambda n, g, size: g.multinomial(20, [0.2, 0.3, 0.5], size),
    "negative_binomial": lambda n, g, size: g.negative_binomial(5, 0.3, size),
    "dirichlet": lambda n, g, size: g.dirichlet([1, 2, 3.5], size),
    "permutation": lambda n, g, size: g.permutation(size + 2),
    "permuted": lambda n, g, size: g.permuted(n.arange(3 * size).reshape(3, size), axis=1),
    "choice of some": lambda n, g, size: g.choice(20 * size, size, replace=False),
    "choice of few": lambda n, g, size: g.choice(11000 + size, 20, replace=False),
    "integers between arrays": lambda n, g, size: g.integers(n.arange(size), 2 * size + 1),
    "few integers between arrays": lambda n, g, size: g.integers(n.zeros(size, "u1"), 3, dtype="u1"),
}


@pytest.mark.parametrize("name", EXACT)
def test_draws(name: str) -> None:
    tested, reference = pair("MT19937")
    for size in (1, 7, 1000, (40, 60)):
        alike(EXACT[name](tested, size), EXACT[name](reference, size), name not in INEXACT)
        same_state(tested, reference)
        assert tested.random() == reference.random()


@pytest.mark.parametrize("name", OTHERS)
def test_others(name: str) -> None:
    tested, reference = pair("MT19937", 5)
    for size in (3, 500, 3000):
        CALLS.clear()
        numpy.testing.assert_allclose(
            to_host(OTHERS[name](np, tested, size)),
            OTHERS[name](numpy, reference, size),
            rtol=2e-6 if name == "gamma float32" else 1e-13,
        )
        assert CALLS
        same_state(tested, reference)


@pytest.mark.parametrize("seed", range(6))
def test_draws_after_one_another(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a generator that shares its state with nobody, or does."""
    monkeypatch.setattr(mt19937, "MIN_BLOCKS_PER_RUN", 2)
    order = numpy.random.default_rng(seed)
    tested, reference = pair("MT19937", seed)
    if seed % 2:
        tested, reference = (g.spawn(1)[0] for g in (tested, reference))
    for _ in range(12):
        size = int(order.integers(1, 2000))
        if order.integers(2):
            name = list(EXACT)[order.integers(len(EXACT))]
            alike(EXACT[name](tested, size), EXACT[name](reference, size), name not in INEXACT)
        else:
            name = [name for name in OTHERS if "float32" not in name][order.integers(len(OTHERS) - 1)]
            numpy.testing.assert_allclose(
                to_host(OTHERS[name](np, tested, size)), OTHERS[name](numpy, reference, size), rtol=1e-13
            )
        if not order.integers(4):
            tested = pickle.loads(pickle.dumps(tested))
        if not order.integers(4):
            alike(tested.bytes(5), reference.bytes(5))
        if not order.integers(6):
            same_state(tested, reference)
    same_state(tested, reference)


def test_attempts_that_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejection_sampling, "draw_from_words", lambda *args: None)
    for draw in (
        lambda g: g.standard_normal(50),
        lambda g: g.standard_exponential(50, "f4"),
        lambda g: g.standard_gamma(2.5, 50),
    ):
        tested, reference = pair("MT19937")
        alike(draw(tested), draw(reference))
        same_state(tested, reference)


def test_words_are_let_go_of() -> None:
    tested, _ = pair("MT19937")
    for draw in (
        lambda: tested.random(99, "f4"),
        lambda: tested.integers(0, 8, 99, "u1"),
        lambda: tested.permutation(99),
    ):
        assert draw().size == 99
        assert not tested._stream._peeked
