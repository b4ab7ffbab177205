"""Integers of distributions with parameters: NumPy's numbers, errors, and state after each draw."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.random import device_draws, discrete_plans

from ..support.arrays import to_host

np: Any = gpunumpy
SIZES = (None, (), 0, 1, 5, 3000, (2, 0), (7, 300))


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU draws few numbers too."""
    monkeypatch.setattr(device_draws, "MIN_COUNT", 1)


def alike(tested: Any, reference: Any) -> None:
    if not isinstance(reference, numpy.ndarray):
        assert type(tested) is type(reference)
        assert tested == reference
        return
    numpy.testing.assert_array_equal(to_host(tested), reference, strict=True)


DRAWS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "poisson": lambda n, g, size: g.poisson(4.5, size),
    "poisson by default": lambda n, g, size: g.poisson(size=size),
    "poisson of much": lambda n, g, size: g.poisson(lam=numpy.float32(444.4), size=size),
    "poisson of nothing": lambda n, g, size: g.poisson(0, size),
    "poisson of very much": lambda n, g, size: g.poisson(1e18, size),
    "binomial": lambda n, g, size: g.binomial(20, 0.3, size),
    "binomial of many": lambda n, g, size: g.binomial(numpy.int32(500), p=0.8, size=size),
    "binomial of a float": lambda n, g, size: g.binomial(6.7, 0.4, size),
    "binomial of none": lambda n, g, size: g.binomial(0, 0.8, size),
    "binomial of all": lambda n, g, size: g.binomial(2**60, 1, size),
    "negative_binomial": lambda n, g, size: g.negative_binomial(2.5, 0.3, size),
    "geometric": lambda n, g, size: g.geometric(0.6, size),
    "geometric of little": lambda n, g, size: g.geometric(1e-4, size),
    "geometric of next to nothing": lambda n, g, size: g.geometric(1e-18, size),
    "hypergeometric": lambda n, g, size: g.hypergeometric(20, 15, 12, size),
    "hypergeometric of floats": lambda n, g, size: g.hypergeometric(20.5, 15.9, numpy.float32(12), size),
    "hypergeometric of few": lambda n, g, size: g.hypergeometric(20, 15, 3, size),
    "hypergeometric of one kind": lambda n, g, size: g.hypergeometric(20, 0, 3, size),
    "hypergeometric of many": lambda n, g, size: g.hypergeometric(10**8, 10**8, 10**7, size),
    "logseries": lambda n, g, size: g.logseries(0.8, size),
    "zipf": lambda n, g, size: g.zipf(3, size),
    "zipf of ones": lambda n, g, size: g.zipf(1e4, size),
    "multinomial": lambda n, g, size: g.multinomial(9, [0.2, 0.3, 0.5], size),
    "multinomial of an array": lambda n, g, size: g.multinomial(9, n.asarray([0.25, 0.25, 0.5]), size),
    "multinomial of one case": lambda n, g, size: g.multinomial(9, [1.0], size),
    "multinomial of the last": lambda n, g, size: g.multinomial(9, [0.0, 0.0, 1.0], size),
    "multinomial of none": lambda n, g, size: g.multinomial(0, [0.5, 0.5], size),
    "multinomial of many cases": lambda n, g, size: g.multinomial(100, [1 / 64] * 64, size),
    "rows of hypergeometric": lambda n, g, size: g.multivariate_hypergeometric([3, 5, 9], 7, size),
    "counted rows": lambda n, g, size: g.multivariate_hypergeometric([3, 5, 9], 7, size, "count"),
}


@pytest.mark.parametrize("bits", ["PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_draws_after_one_another(bits: str) -> None:
    tested, reference = (n.random.Generator(getattr(numpy.random, bits)(2)) for n in (np, numpy))
    for draw in DRAWS.values():
        for size in SIZES:
            if size == () and "rows" in draw.__code__.co_names:
                continue
            alike(draw(np, tested, size), draw(numpy, reference, size))
        alike(tested.random(3, "f4"), reference.random(3, "f4"))
        assert repr(tested.bit_generator.state) == repr(reference.bit_generator.state)


ARRAYS: dict[str, Callable[[Any, Any], Any]] = {
    "poisson": lambda n, g: g.poisson(n.linspace(0, 30, 600).reshape(3, 200), (2, 3, 200)),
    "binomial": lambda n, g: g.binomial(n.arange(50), n.linspace(0, 1, 30)[:, None]),
    "negative_binomial": lambda n, g: g.negative_binomial([1, 2.5], 0.3, (50, 2)),
    "geometric": lambda n, g: g.geometric(n.linspace(0.1, 1, 50)),
    "hypergeometric": lambda n, g: g.hypergeometric([5, 50], 40, n.asarray([4, 30])),
    "logseries": lambda n, g: g.logseries([0.1, 0.5], (3, 2)),
    "zipf": lambda n, g: g.zipf(n.linspace(2, 5, 9)),
    "multinomial": lambda n, g: g.multinomial([3, 9], [[0.5, 0.5], [0.1, 0.9]]),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_array_parameters(name: str) -> None:
    tested, reference = (n.random.default_rng(6) for n in (np, numpy))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alike(ARRAYS[name](np, tested), ARRAYS[name](numpy, reference))
    assert tested.bit_generator.state == reference.bit_generator.state


WRONG: list[tuple[Any, ...]] = [
    *(("poisson", -1), ("poisson", numpy.nan), ("poisson", 1e30), ("poisson", "x"), ("poisson", None)),
    *(("binomial", -1, 0.5), ("binomial", 5, 1.5), ("binomial", 5, numpy.nan)),
    *(("binomial", 2**70, 0.5), ("negative_binomial", 0, 0.5), ("negative_binomial", 3, 0)),
    *(("negative_binomial", 1e300, 1e-300), ("negative_binomial", numpy.nan, 0.5), ("geometric", 0)),
    *(("geometric", 1.5), ("geometric", numpy.nan), ("hypergeometric", -1, 3, 2), ("hypergeometric", 5, 3, 9)),
    *(("hypergeometric", 10**9, 3, 2), ("hypergeometric", 5, 3, -1)),
    *(("logseries", 1), ("logseries", -0.1), ("logseries", numpy.nan), ("zipf", 1), ("zipf", numpy.nan)),
    *(("multinomial", -1, [0.5, 0.5]), ("multinomial", 5, [0.9, 0.9, 0.1]), ("multinomial", 5, [-0.1, 1.1])),
    *(("multinomial", 5, []), ("multinomial", 5, 0.5), ("multinomial", "5", [1.0])),
    *(("multinomial", 5, numpy.array([0.6, 0.400001, 0.0], "f4")), ("multivariate_hypergeometric", [1, 2], 9)),
    *(("poisson", 1, (2, -3)), ("poisson", 1, "x"), ("binomial", 5, 0.5, 2.5), ("zipf", 3, -1)),
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_errors_equal_numpy_and_take_nothing(wrong: tuple[Any, ...]) -> None:
    name, *args = wrong
    many = {"poisson": 1, "geometric": 1, "logseries": 1, "zipf": 1, "hypergeometric": 3}.get(name, 2)
    given = args if len(args) > many else [*args, 2000]
    tested, reference = (n.random.default_rng(6) for n in (np, numpy))
    with pytest.raises((ValueError, TypeError, OverflowError)) as theirs_error:
        getattr(reference, name)(*given)
    with pytest.raises(theirs_error.type) as my_error:
        getattr(tested, name)(*given)
    assert str(my_error.value) == str(theirs_error.value)
    assert tested.bit_generator.state == reference.bit_generator.state


def test_what_is_kept_of_many_parameters() -> None:
    for p in numpy.linspace(0.4, 0.9, 1000).tolist():
        discrete_plans.geometric_sums(p)
    assert discrete_plans.geometric_sums.cache_info().currsize < 1000
