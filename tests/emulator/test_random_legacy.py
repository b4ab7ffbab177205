"""`RandomState` through the kernels of a GPU, against NumPy's: what takes as many words as it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.kernels import cuda_bounded, cuda_sequence, cuda_sort, cuda_twister, host_calls
from gpunumpy.random import legacy_method, method, twister
from tests.numpy_parity.test_random_legacy import DRAWS, EXACT, alike, pair, same_state

from .executor import run_program
from .test_routines import layout_of

Program = Callable[..., Any]


def routine(make: Program) -> Callable[..., None]:
    """A routine of the CPU device that runs a GPU's program on the emulated machine."""

    def call(options: tuple[Any, ...], *arrays: Any) -> None:
        program = make(options, [layout_of(x) for x in arrays], [x.dtype for x in arrays])
        assert run_program(program, arrays, seed=3) == 0

    return call


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Even few numbers are drawn as a GPU draws them."""
    programs: dict[str, Program] = {
        "bounded_draws": lambda options, layouts, dtypes: cuda_bounded.bounded(options, layouts, 1),
        "stream_sequence": cuda_sequence.stream_sequence,
        "sort_upper": cuda_sort.sort_upper,
        "swapped": cuda_bounded.swapped,
        **{make.__name__: make for make in cuda_twister.PROGRAMS},
    }
    for name, make in programs.items():
        monkeypatch.setitem(host_calls.CALLS, name, routine(make))
    monkeypatch.setattr(method, "MANY", 1)
    monkeypatch.setattr(method, "KINDS", {"cpu"})
    with np.Device("cpu"):
        yield


@pytest.mark.parametrize("seed", range(4))
def test_draws_after_one_another(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twister, "BLOCKS", 2)
    order = numpy.random.default_rng(seed)
    mine, theirs = pair(seed)
    names = list(DRAWS)
    for _ in range(12):
        name, size = names[order.integers(len(names))], int(order.integers(1, 3000))
        alike(DRAWS[name](mine, size), DRAWS[name](theirs, size), name in EXACT)
        if not order.integers(3):
            same_state(mine, theirs)
    same_state(mine, theirs)


ORDERS: dict[str, Callable[[Any, Any, int], Any]] = {
    "permutation": lambda n, g, size: g.permutation(size),
    "permutation of an array": lambda n, g, size: g.permutation(n.arange(float(size)) / 3),
    "permutation of rows": lambda n, g, size: g.permutation(n.arange(3.0 * size).reshape(size, 3)),
    "permutation of a list": lambda n, g, size: g.permutation(list(range(size))),
    "shuffle": lambda n, g, size: _shuffled(g, n.arange(size, dtype="i2")),
    "shuffle rows": lambda n, g, size: _shuffled(g, n.arange(3.0 * size).reshape(size, 3)),
    "shuffle columns": lambda n, g, size: _shuffled(g, n.arange(3.0 * size).reshape(3, size).T),
    "shuffle every second": lambda n, g, size: _shuffled(g, n.arange(2 * size)[::2]),
    "choice of all": lambda n, g, size: g.choice(size, size, replace=False),
    "choice of some": lambda n, g, size: g.choice(size + 4, (2, size // 2), replace=False),
    "choice of an array": lambda n, g, size: g.choice(n.arange(size) * 2.5, size // 2, False),
}


def _shuffled(g: Any, x: Any) -> Any:
    assert g.shuffle(x) is None
    return x


@pytest.mark.parametrize("draw", ORDERS.values(), ids=ORDERS)
def test_orders(draw: Callable[[Any, Any, int], Any]) -> None:
    mine, theirs = pair()
    for size in (2, 3, 7, 64, 65, 1000, 5001):
        alike(draw(np, mine, size), draw(numpy, theirs, size))
        alike(mine.randn(3), theirs.randn(3), False)
    same_state(mine, theirs)


SAMPLED: dict[str, list[tuple[Any, ...]]] = {
    "standard_gamma": [(0.3,), (1,), (1.5,), (40.0,), (0,)],
    "gamma": [(2.5, 3.0), (0.5, 2.0), (1, 2.5)],
    "chisquare": [(1,), (2,), (5.5,)],
    "wald": [(1.5, 2.0), (0.1, 7.0)],
    "beta": [(0.5, 0.5), (1, 1), (0.01, 0.02), (2, 3), (2.5, 2.5)],
    "dirichlet": [([1, 1, 1],), ([2.5] * 4,), ([0.3] * 2,), ([1, 2],), ([3],)],
    "vonmises": [(0.5, 2.0), (-3, 1e-6), (1, 1e-9), (0, 1e7)],
    "poisson": [(0.5,), (9.0,), (30.5,), (1e4,)],
    "binomial": [(10, 0.3), (100, 0.7), (1000, 0.4), (5, 0.0)],
    "geometric": [(0.5,), (0.01,), (1.0,)],
    "hypergeometric": [(20, 30, 8), (20, 30, 25), (1000, 500, 700)],
    "logseries": [(0.3,), (0.99,)],
    "zipf": [(1.5,), (4.0,)],
}


@pytest.mark.parametrize("name", SAMPLED)
def test_numbers_that_take_words_as_they_need_them(name: str) -> None:
    for seed, given in enumerate(SAMPLED[name]):
        mine, theirs = pair(seed)
        for size in (1, 7, 3000, (30, 40)):
            alike(getattr(mine, name)(*given, size), getattr(theirs, name)(*given, size), False)
            same_state(mine, theirs)
            alike(mine.randn(3), theirs.randn(3), False)
            alike(mine.randint(0, 9, 3), theirs.randint(0, 9, 3))


@pytest.mark.parametrize("name", ["standard_gamma", "poisson", "beta"])
def test_numbers_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legacy_method, "MOST_WORDS", 4000)
    test_numbers_that_take_words_as_they_need_them(name)


def test_normal_vectors() -> None:
    mine, theirs = pair()
    for given in (([1, 2], [[2, 0.5], [0.5, 1]]), ([0, 0, 0], numpy.eye(3))):
        alike(mine.multivariate_normal(*given, 500), theirs.multivariate_normal(*given, 500), False)
        alike(mine.multivariate_normal(*given, (3, 5)), theirs.multivariate_normal(*given, (3, 5)), False)
        same_state(mine, theirs)


def test_pairs_of_which_the_second_half_is_rejected() -> None:
    """As an attempt makes the last number with its first half, and then would go on."""
    for seed in range(60):
        mine, theirs = pair(seed)
        alike(mine.standard_gamma(1.01, 9), theirs.standard_gamma(1.01, 9), False)
        same_state(mine, theirs)
