"""`RandomState` and the module's functions: NumPy's numbers to the bit, and NumPy's state after each call."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.kernels.random import host_mt19937
from gpunumpy.random import device_draws, mt19937
from tests.support.host_executor import run_on_host, with_traits

from ..support.arrays import to_host

pytestmark = pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
SIZES = (1, 2, 7, 311, 312, 313, 1000, (3, 5, 7), (64, 64))


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever can be drawn on a device is, on the CPU device too, and whatever the size."""
    monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
    with_traits(monkeypatch, draws_faster_than_numpy=True)


def pair(seed: int = 1) -> tuple[Any, Any]:
    return np.random.RandomState(seed), numpy.random.RandomState(seed)


def alike(tested: Any, reference: Any, exact: bool = True) -> None:
    if not isinstance(reference, numpy.ndarray):
        assert type(tested) is type(reference)
        assert tested == reference
        return
    got = to_host(tested)
    assert got.dtype == reference.dtype
    assert got.shape == reference.shape
    if exact:
        numpy.testing.assert_array_equal(got, reference)
    else:
        numpy.testing.assert_allclose(got, reference, rtol=2e-14, atol=1e-14)


def same_state(tested: Any, reference: Any) -> None:
    for a, b in zip(tested.get_state(), reference.get_state(), strict=True):
        numpy.testing.assert_array_equal(a, b)


EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "random_sample": lambda g, size: g.random_sample(size),
    "random": lambda g, size: g.random(size),
    "rand": lambda g, size: g.rand(*numpy.zeros(size).shape),
    "uniform": lambda g, size: g.uniform(-2, 5.5, size),
    "triangular": lambda g, size: g.triangular(-1, 2, 2.5, size),
    "randint": lambda g, size: g.randint(1000, size=size),
    "randint of a power": lambda g, size: g.randint(-4, 4, size),
    "randint of 32 bits in 64": lambda g, size: g.randint(-(2**31), 2**31, size),
    "randint of 64 bits": lambda g, size: g.randint(0, 2**64, size, "u8"),
    "randint of half of 64 bits": lambda g, size: g.randint(-(2**62), 2**62, size),
    "randint of much of 64 bits": lambda g, size: g.randint(-(2**62), 2**62 + 12345, size),
    "one value": lambda g, size: g.randint(5, 6, size),
    "bits": lambda g, size: g.randint(0, 2, size, bool),
    "zero bits": lambda g, size: g.randint(0, 1, size, bool),
    "tomaxint": lambda g, size: g.tomaxint(size),
    "choice": lambda g, size: g.choice(100, size),
    "choice of an array": lambda g, size: g.choice(numpy.arange(24.0), size),
    "choice by shares": lambda g, size: g.choice([1, 5, 7], size, p=[0.2, 0.5, 0.3]),
    "choice of the only one": lambda g, size: g.choice(1, size),
    **{
        f"randint {dtype} {low} {high}": lambda g, size, d=dtype, a=low, b=high: g.randint(a, b, size, d)
        for dtype, low, high in (
            *(("i1", -128, 128), ("i1", -5, 90), ("u1", 0, 256), ("u1", 7, 208), ("u1", 3, 35), ("u1", 0, 129)),
            *(("i2", -(2**15), 2**15), ("u2", 0, 1000), ("i2", -3, 5), ("u2", 0, 2**15 + 1)),
            *(("i4", -(2**31), 2**31), ("u4", 0, 2**32), ("i4", -7, 100), ("u4", 5, 2**31 + 6), ("i4", 0, 2**20)),
            *(("u8", 2**63, 2**63 + 10), ("u8", 0, 2**33)),
        )
    },
}
# But for the last bits of logarithms and the like.
CLOSE: dict[str, Callable[[Any, Any], Any]] = {
    "randn": lambda g, size: g.randn(*numpy.zeros(size).shape),
    "standard_normal": lambda g, size: g.standard_normal(size),
    "normal": lambda g, size: g.normal(3, 0.5, size),
    "lognormal": lambda g, size: g.lognormal(1, 2, size),
    "standard_cauchy": lambda g, size: g.standard_cauchy(size),
    "standard_exponential": lambda g, size: g.standard_exponential(size),
    "exponential": lambda g, size: g.exponential(0.1, size),
    "rayleigh": lambda g, size: g.rayleigh(2.5, size),
    "weibull": lambda g, size: g.weibull(3, size),
    "pareto": lambda g, size: g.pareto(1.5, size),
    "power": lambda g, size: g.power(5, size),
    "laplace": lambda g, size: g.laplace(1, 2, size),
    "gumbel": lambda g, size: g.gumbel(1, 2, size),
    "logistic": lambda g, size: g.logistic(-1, 2, size),
}
DRAWS = EXACT | CLOSE


@pytest.mark.parametrize("name", DRAWS)
def test_draws(name: str) -> None:
    tested, reference = pair()
    for size in SIZES:
        alike(DRAWS[name](tested, size), DRAWS[name](reference, size), name in EXACT)
    same_state(tested, reference)


@pytest.mark.parametrize("seed", range(20))
def test_draws_after_one_another(seed: int) -> None:
    order = numpy.random.default_rng(seed)
    tested, reference = pair(seed)
    names = list(DRAWS)
    for _ in range(15):
        name, size = names[order.integers(len(names))], int(order.integers(1, 700))
        alike(DRAWS[name](tested, size), DRAWS[name](reference, size), name in EXACT)
        if not order.integers(3):
            same_state(tested, reference)
        if not order.integers(4):
            alike(tested.standard_normal(), reference.standard_normal())
        if not order.integers(4):
            alike(tested.bytes(5), reference.bytes(5))
        if not order.integers(4):
            alike(tested.noncentral_chisquare(1, 2, 3), reference.noncentral_chisquare(1, 2, 3))
        if not order.integers(4):
            tested = pickle.loads(pickle.dumps(tested)) if order.integers(2) else copy.deepcopy(tested)
            assert type(tested) is np.random.RandomState
        if not order.integers(4):
            state = tested.get_state(legacy=bool(order.integers(2)))
            tested.rand(30)
            tested.set_state(state)
        if not order.integers(6):
            for g in (tested, reference):
                g.seed(seed + 100)
    same_state(tested, reference)


def test_numbers_of_several_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mt19937, "MIN_BLOCKS_PER_RUN", 1)
    tested, reference = pair()
    for size in (100, 3000, 50000, 1):
        alike(tested.rand(size), reference.rand(size))
    same_state(tested, reference)


@pytest.fixture
def module() -> Iterator[None]:
    state = numpy.random.get_state()
    yield
    numpy.random.set_state(state)


@pytest.mark.usefixtures("module")
def test_the_module_has_the_state_of_numpy() -> None:
    outcomes = []
    for n in (np, numpy):
        n.random.seed(11)
        made = [
            n.random.rand(50),
            numpy.random.rand(3),
            n.random.randn(7),
            numpy.random.randn(2),
            n.random.randint(9, size=5),
        ]
        state = numpy.random.get_state()
        made += [n.random.sample(5), n.random.ranf(5), n.random.standard_normal(3)]
        n.random.set_state(state)
        outcomes.append(
            [*made, n.random.normal(2, 3, 9), n.random.choice(5, 4), n.random.noncentral_chisquare(1, 2, 3)]
        )
    for tested, reference in zip(*outcomes, strict=True):
        alike(tested if isinstance(tested, np.ndarray) else np.asarray(tested), reference, False)


@pytest.mark.usefixtures("module")
def test_another_bit_generator_of_the_module() -> None:
    held = numpy.random.get_bit_generator()  # type: ignore[attr-defined]
    try:
        for bits in (numpy.random.MT19937, numpy.random.PCG64):
            outcomes = []
            for n in (np, numpy):
                n.random.set_bit_generator(bits(3))
                n.random.seed(5)
                outcomes.append([n.random.rand(20), n.random.randn(5), n.random.randint(0, 9, 5)])
                assert type(n.random.get_bit_generator()) is bits
            for tested, reference in zip(*outcomes, strict=True):
                alike(tested, reference)
    finally:
        numpy.random.set_bit_generator(held)  # type: ignore[attr-defined]


def test_a_bit_generator_that_others_look_at() -> None:
    bits, other = numpy.random.MT19937(3), numpy.random.MT19937(3)
    tested, beside, reference = (
        np.random.RandomState(bits),
        numpy.random.Generator(bits),
        numpy.random.RandomState(other),
    )
    for _ in range(3):
        alike(tested.randn(51), reference.randn(51), False)
        alike(tested.randint(0, 7, 33), reference.randint(0, 7, 33))
        assert repr(bits.state) == repr(other.state)
        assert beside.random() == reference.random_sample()
    tested, reference = pair()
    looked, theirs_looked = tested._bit_generator, reference._bit_generator
    alike(tested.rand(9), reference.rand(9))
    assert repr(looked.state) == repr(theirs_looked.state)


PARAMETERS: dict[str, Callable[[Any, Any], Any]] = {
    "uniform": lambda n, g: g.uniform(n.arange(5.0), n.arange(5)[:, None] + 9),
    "uniform to a size": lambda n, g: g.uniform(n.arange(5.0), 9, (3, 5)),
    "uniform of lists": lambda n, g: g.uniform([0, 1], [1, 2.5]),
    "triangular": lambda n, g: g.triangular(n.arange(5.0), n.arange(5.0) + 1, 9),
    "normal": lambda n, g: g.normal(n.arange(4), n.arange(4.0)),
    "normal of integers": lambda n, g: g.normal(n.arange(4, dtype="i2"), 2, size=(7, 4)),
    "lognormal": lambda n, g: g.lognormal(0, n.ones(3)),
    "exponential": lambda n, g: g.exponential(n.arange(6.0).reshape(2, 3)),
    "rayleigh": lambda n, g: g.rayleigh(n.arange(6.0)),
    "weibull": lambda n, g: g.weibull(n.arange(6.0) + 1),
    "weibull of zero": lambda n, g: g.weibull(n.arange(6.0)),
    "pareto": lambda n, g: g.pareto(n.arange(6.0) + 1, (2, 6)),
    "power": lambda n, g: g.power(n.arange(6.0) + 1),
    "laplace": lambda n, g: g.laplace(n.arange(6.0), 2),
    "gumbel": lambda n, g: g.gumbel(0, n.arange(6.0)),
    "logistic": lambda n, g: g.logistic([0, 1], 2, (3, 2)),
    "randint": lambda n, g: g.randint(n.arange(6), 20),
}


@pytest.mark.parametrize("draw", PARAMETERS.values(), ids=PARAMETERS)
def test_parameters(draw: Callable[[Any, Any], Any]) -> None:
    tested, reference = pair()
    for _ in range(3):
        alike(draw(np, tested), draw(numpy, reference), False)
    same_state(tested, reference)


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "a size": lambda n, g: g.rand(-1),
    "a size of a float": lambda n, g: g.random_sample(2.5),
    "a range": lambda n, g: g.randint(5, 5, 10),
    "a bound": lambda n, g: g.randint(0, 300, 10, "u1"),
    "a dtype": lambda n, g: g.randint(0, 300, 10, "f4"),
    "a scale": lambda n, g: g.normal(0, -1, 10),
    "scales": lambda n, g: g.normal(0, n.asarray([1, -1.0])),
    "negative zero": lambda n, g: g.exponential(-0.0, 10),
    "a scale of laplace": lambda n, g: g.laplace(0, -1, 10),
    "an infinite range": lambda n, g: g.uniform(0, n.inf, 10),
    "infinite ranges": lambda n, g: g.uniform(0, n.asarray([1, n.inf])),
    "a triangle": lambda n, g: g.triangular(3, 2, 5, 10),
    "a flat triangle": lambda n, g: g.triangular(2, 2, 2, 10),
    "triangles": lambda n, g: g.triangular(n.asarray([0, 5]), 2, 6, 2),
    "a shape": lambda n, g: g.normal(n.zeros(3), 1, (3, 2)),
    "a population": lambda n, g: g.choice(0, 10),
    "two dimensions": lambda n, g: g.choice(n.zeros((2, 2)), 10),
    "shares": lambda n, g: g.choice(3, 10, p=[0.5, 0.1, 0.1]),
    "a shape of a distribution": lambda n, g: g.weibull(-1, 10),
    "a power": lambda n, g: g.power(0, 10),
    "a string": lambda n, g: g.normal("a", 1, 3),
    "a seed": lambda n, g: g.seed(-1),
}


@pytest.mark.parametrize("draw", REFUSED.values(), ids=REFUSED)
def test_what_numpy_refuses(draw: Callable[[Any, Any], Any]) -> None:
    tested, reference = pair()
    outcomes = []
    for n, g in ((np, tested), (numpy, reference)):
        g.rand(10)
        try:
            outcomes.append(to_host(draw(n, g)) if n is np else draw(n, g))
        except Exception as error:
            outcomes.append((type(error), str(error)))
    assert repr(outcomes[0]) == repr(outcomes[1])
    same_state(tested, reference)


def test_random_integers() -> None:
    tested, reference = pair()
    for args in ((5,), (-3, 12)):
        with pytest.warns(DeprecationWarning, match="randint") as tested_warnings:
            got = tested.random_integers(*args, 40)
        with pytest.warns(DeprecationWarning, match="randint") as reference_warnings:
            alike(got, reference.random_integers(*args, 40))
        assert str(tested_warnings[0].message) == str(reference_warnings[0].message)
    same_state(tested, reference)


@pytest.mark.usefixtures("module")
def test_the_state_of_the_module_is_an_object() -> None:
    tested, reference = np.random.mtrand._rand, numpy.random.mtrand._rand  # type: ignore[attr-defined]
    assert isinstance(tested, np.random.RandomState)
    tested.seed(5)
    alike(tested.randn(5), numpy.random.RandomState(5).randn(5), False)
    same_state(tested, reference)
    again = pickle.loads(pickle.dumps(tested))
    alike(again.rand(5), copy.deepcopy(reference).rand(5))
    assert np.random.mtrand.RandomState is np.random.RandomState  # type: ignore[attr-defined]
    assert np.random.mtrand.rand(3).shape == (3,)  # type: ignore[attr-defined]


def test_a_copy_has_the_same_bit_generator() -> None:
    outcomes = []
    for n in (np, numpy):
        first = n.random.RandomState(3)
        first.randn(7)
        second = copy.copy(first)
        outcomes.append([first.rand(5), second.rand(5), first.rand(5), second.randn(3)])
    for tested, reference in zip(*outcomes, strict=True):
        alike(tested, reference, False)


def test_words_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    for name in ("twister_words", "twister_numbers"):
        known = getattr(host_mt19937, name)
        run_on_host(monkeypatch, name, lambda *args, known=known: (calls.append(0), known(*args)))
    with np.Device("cpu"):
        for made in (np.random.RandomState(3), np.random.RandomState(np.random.MT19937(3))):
            calls.clear()
            numbers = [made.randn(19), made.rand(19) * 2, made.randint(0, 9, 19)]
            made.get_state()
            for x in numbers:
                to_host(x)
            assert len(calls) == 5
