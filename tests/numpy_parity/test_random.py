"""Random numbers: NumPy's streams to the bit, into gpunumpy arrays."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.functions import fallback

from ..support.arrays import to_host
from .parity import same

pytestmark = pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")


@pytest.fixture(autouse=True)
def warn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning that this module caused is issued again elsewhere."""
    monkeypatch.setattr(fallback, "_warned", set())


def made(n: Any) -> Any:
    return n.arange(24.0).reshape(6, 4)


GENERATORS: dict[str, Callable[[Any], Any]] = {
    "default_rng": lambda n: n.random.default_rng(7),
    "Generator": lambda n: n.random.Generator(n.random.Philox(7)),
}

DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    "random": lambda n, rng: rng.random((2, 3)),
    "float32": lambda n, rng: rng.random(3, dtype=n.float32),
    "integers": lambda n, rng: rng.integers(0, made(n)[1] + 1),
    "normal": lambda n, rng: rng.normal(made(n), 2),
    "multivariate_normal": lambda n, rng: rng.multivariate_normal(n.zeros(2), n.eye(2), 4),
    "choice": lambda n, rng: rng.choice(made(n), 3, axis=1, p=n.full(4, 0.25)),
    "permutation": lambda n, rng: rng.permutation(made(n).T),
    "permutation of a number": lambda n, rng: rng.permutation(5),
    "permuted": lambda n, rng: rng.permuted(made(n), axis=1),
    "dirichlet": lambda n, rng: rng.dirichlet(n.ones(3), 2),
    "multinomial": lambda n, rng: rng.multinomial(5, [0.5, 0.5]),
    "scalar": lambda n, rng: n.asarray(rng.random()),
    "spawned": lambda n, rng: rng.spawn(1)[0].random(2),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
@pytest.mark.parametrize("generator", GENERATORS.values(), ids=GENERATORS)
def test_draws(generator: Callable[[Any], Any], draw: Callable[[Any, Any], Any]) -> None:
    tested = draw(np, generator(np))
    assert isinstance(tested, np.ndarray)
    same(to_host(tested), draw(numpy, generator(numpy)))


IN_PLACE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "shuffle": lambda n, rng, a: rng.shuffle(a),
    "shuffle a view": lambda n, rng, a: rng.shuffle(a[1::2]),
    "shuffle a transposed view": lambda n, rng, a: rng.shuffle(a.T),
    "shuffle a column": lambda n, rng, a: rng.shuffle(a[:, 2]),
    "permuted": lambda n, rng, a: rng.permuted(a, axis=1, out=a),
    "random": lambda n, rng, a: rng.random(out=a),
    "rows": lambda n, rng, a: rng.standard_normal(out=a[2]),
    "gamma": lambda n, rng, a: rng.standard_gamma(2.0, out=a),
}


@pytest.mark.parametrize("write", IN_PLACE.values(), ids=IN_PLACE)
def test_in_place(write: Callable[[Any, Any, Any], Any]) -> None:
    tested, reference = made(np), made(numpy)
    result = write(np, np.random.default_rng(3), tested)
    write(numpy, numpy.random.default_rng(3), reference)
    assert result is None or np.shares_memory(result, tested)
    same(to_host(tested), reference)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_shuffle_along_an_axis(axis: int) -> None:
    tested, reference = made(np), made(numpy)
    np.random.default_rng(0).shuffle(tested, axis=axis)
    numpy.random.default_rng(0).shuffle(reference, axis=axis)
    same(to_host(tested), reference)


def test_what_numpy_refuses() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(TypeError):
        rng.random(out=np.zeros(3, "f4"))
    with pytest.raises(ValueError):
        rng.random((2,), out=np.zeros(3))
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        rng.shuffle(fixed)


def test_lists_are_shuffled_themselves() -> None:
    tested: list[Any] = [np.zeros(1), 1, np.zeros(3), "x"]
    reference: list[Any] = [0, 1, 2, 3]
    held = list(tested)
    np.random.default_rng(5).shuffle(tested)
    numpy.random.default_rng(5).shuffle(reference)
    assert [next(k for k, thing in enumerate(held) if thing is x) for x in tested] == reference


def test_the_old_functions_have_the_stream_of_numpy() -> None:
    outcomes = []
    for n in (np, numpy):
        n.random.seed(11)
        a = made(n)
        n.random.shuffle(a[:, 1])
        state = n.random.get_state()
        first = n.random.randn(2, 2)
        n.random.set_state(state)
        old = n.random.RandomState(4)
        outcomes.append([a, first, n.random.randn(2, 2), old.rand(3), old.multivariate_normal([0, 0], n.eye(2), 2)])
    for tested, reference in zip(*outcomes, strict=True):
        assert isinstance(tested, np.ndarray)
        same(to_host(tested), reference)


def test_generators_are_numpy_generators_too() -> None:
    rng = np.random.default_rng(0)
    assert isinstance(rng, np.random.Generator)
    assert isinstance(rng, numpy.random.Generator)
    assert isinstance(np.random.RandomState(0), numpy.random.RandomState)
    assert np.random.default_rng(rng) is rng
    reference = numpy.random.default_rng(1)
    shared = np.random.default_rng(reference)
    assert shared.bit_generator is reference.bit_generator
    same(np.random.default_rng(np.arange(3)).random(), numpy.random.default_rng(numpy.arange(3)).random())
    assert type(np.random.PCG64(1)) is numpy.random.PCG64
    assert isinstance(numpy.random.PCG64(1), np.random.PCG64)
    with pytest.raises(AttributeError, match="nonsense"):
        np.random.nonsense  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
def test_copies_and_pickles(kind: str) -> None:
    rng = np.random.default_rng(9) if kind == "Generator" else np.random.RandomState(9)
    rng.standard_normal(3)
    for other in (pickle.loads(pickle.dumps(rng)), copy.deepcopy(rng)):
        assert type(other) is type(rng)
        expected = copy.deepcopy(rng).standard_normal(4)
        same(to_host(other.standard_normal(4)), to_host(expected))


def test_no_method_is_the_hosts_alone() -> None:
    np.host_fallback("error")
    try:
        for state in (np.random.RandomState(0), np.random):
            state.standard_t(2.0, size=3)
            state.multinomial(5, [0.5, 0.5], size=3)
        np.random.default_rng(0).random(3)
    finally:
        np.host_fallback("warn")
