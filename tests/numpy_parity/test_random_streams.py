"""Draws of a device: NumPy's numbers to the bit, and NumPy's state after each of them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.random import device_draws
from tests.support.host_executor import with_traits

from ..support.arrays import to_host

BITS = ("PCG64", "PCG64DXSM", "Philox")
SIZES = (1, 2, 7, 255, 256, 257, 1000, 4099, (3, 5, 7), (64, 64))


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever can be drawn on a device is, on the CPU device too, and whatever the size."""
    monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
    with_traits(monkeypatch, draws_faster_than_numpy=True)


def pair(bits: str, seed: int = 1) -> tuple[Any, Any]:
    return np.random.Generator(getattr(np.random, bits)(seed)), numpy.random.Generator(
        getattr(numpy.random, bits)(seed)
    )


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
        numpy.testing.assert_allclose(got, reference, rtol=4e-7 if got.dtype == "f" else 1e-15)


def same_state(tested: Any, reference: Any) -> None:
    assert repr(tested.bit_generator.state) == repr(reference.bit_generator.state)


EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "random": lambda g, size: g.random(size),
    "random float32": lambda g, size: g.random(size, dtype="f4"),
    "random float32 by name": lambda g, size: g.random(size, "float32"),
    "uniform": lambda g, size: g.uniform(-2, 5.5, size),
    "integers": lambda g, size: g.integers(0, 1000, size),
    "integers of a power": lambda g, size: g.integers(-4, 4, size),
    "integers below": lambda g, size: g.integers(10, size=size, endpoint=True),
    "integers of 32 bits in 64": lambda g, size: g.integers(-(2**31), 2**31, size),
    "integers of 64 bits": lambda g, size: g.integers(-(2**63), 2**63 - 1, size, endpoint=True),
    "integers of half of 64 bits": lambda g, size: g.integers(-(2**62), 2**62, size),
    "integers of much of 64 bits": lambda g, size: g.integers(-(2**62), 2**62 + 12345, size),
    "integers of two thirds": lambda g, size: g.integers(0, 2**64 // 3 * 2, size, dtype="u8"),
    "bits": lambda g, size: g.integers(0, 2, size, dtype=bool),
    "normal": lambda g, size: g.standard_normal(size),
    "normal float32": lambda g, size: g.standard_normal(size, dtype="f4"),
    "exponential": lambda g, size: g.standard_exponential(size),
    "exponential float32": lambda g, size: g.standard_exponential(size, dtype="f4"),
    "normal moved": lambda g, size: g.normal(3, 0.5, size),
    "exponential scaled": lambda g, size: g.exponential(0.1, size),
    "lognormal": lambda g, size: g.lognormal(1, 2, size),
    "rayleigh": lambda g, size: g.rayleigh(2.5, size),
    "weibull": lambda g, size: g.weibull(3, size),
    "pareto": lambda g, size: g.pareto(1.5, size),
    "power": lambda g, size: g.power(5, size),
    "choice": lambda g, size: g.choice(100, size),
    "choice of an array": lambda g, size: g.choice(numpy.arange(24.0).reshape(4, 6), size, axis=1),
    "choice by shares": lambda g, size: g.choice([1, 5, 7], size, p=[0.2, 0.5, 0.3]),
    "choice of the only one": lambda g, size: g.choice(1, size),
    **{
        f"integers {dtype} {low} {high}": lambda g, size, d=dtype, a=low, b=high: g.integers(a, b, size, d)
        for dtype, low, high in (
            *(("i1", -128, 128), ("i1", -5, 90), ("u1", 0, 256), ("u1", 7, 8 + 200), ("u1", 3, 35), ("u1", 0, 129)),
            *(("i2", -(2**15), 2**15), ("u2", 0, 1000), ("i2", -3, 5), ("u2", 0, 2**15 + 1)),
            *(("i4", -(2**31), 2**31), ("u4", 0, 2**32), ("i4", -7, 100), ("u4", 5, 2**31 + 6), ("i4", 0, 2**20)),
            *(("u8", 0, 2**64), ("u8", 2**63, 2**63 + 10), ("u8", 0, 2**33)),
        )
    },
}
INEXACT = {
    *("normal", "normal float32", "exponential", "exponential float32", "normal moved", "exponential scaled"),
    *("lognormal", "rayleigh", "weibull", "pareto", "power"),
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("bits", BITS)
def test_draws(bits: str, name: str) -> None:
    tested, reference = pair(bits)
    for size in SIZES:
        alike(EXACT[name](tested, size), EXACT[name](reference, size), name not in INEXACT)
    same_state(tested, reference)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("seed", range(12))
def test_draws_after_one_another(bits: str, seed: int) -> None:
    order = numpy.random.default_rng(seed)
    tested, reference = pair(bits, seed)
    names = list(EXACT)
    for _ in range(12):
        name, size = names[order.integers(len(names))], int(order.integers(1, 400))
        alike(EXACT[name](tested, size), EXACT[name](reference, size), name not in INEXACT)
        if not order.integers(3):
            same_state(tested, reference)
        if not order.integers(4):
            alike(tested.random(), reference.random())
        if not order.integers(4):
            alike(tested.bytes(5), reference.bytes(5))
        if not order.integers(4):
            tested = pickle.loads(pickle.dumps(tested))
    same_state(tested, reference)


def test_seeds_and_children() -> None:
    for seed in (lambda: 0, lambda: [1, 2, 3], lambda: numpy.random.SeedSequence(4)):
        tested, reference = np.random.default_rng(seed()), numpy.random.default_rng(seed())
        alike(tested.standard_normal(100), reference.standard_normal(100), False)
        alike(tested.random(100), reference.random(100))
    for child, their in zip(tested.spawn(2), reference.spawn(2), strict=True):
        alike(child.random(10), their.random(10))
        same_state(child, their)


def test_a_bit_generator_that_others_look_at() -> None:
    bits, other = numpy.random.PCG64(3), numpy.random.PCG64(3)
    tested, beside, reference = np.random.default_rng(bits), numpy.random.Generator(bits), numpy.random.Generator(other)
    for _ in range(3):
        alike(tested.standard_normal(50), reference.standard_normal(50), False)
        alike(tested.integers(0, 7, 33), reference.integers(0, 7, 33))
        assert bits.state == other.state
        assert beside.random() == reference.random()


@pytest.mark.parametrize("bits", BITS)
def test_jumps(bits: str) -> None:
    tested, reference = (numpy.random.Generator(g.bit_generator.jumped(3).advance(10**20)) for g in pair(bits))
    tested = np.random.default_rng(tested)
    alike(tested.random(1000), reference.random(1000))
    same_state(tested, reference)


@pytest.mark.parametrize("first", range(9))
def test_philox_whose_counter_overflows(first: int) -> None:
    given = {"counter": 2**192 - 3, "key": 2**100 + 17}
    tested, reference = (
        np.random.Generator(np.random.Philox(**given)),
        numpy.random.Generator(numpy.random.Philox(**given)),
    )
    for g in (tested, reference):
        g.bytes(8 * first) if first else None
    alike(tested.random(99), reference.random(99))
    same_state(tested, reference)


@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_out(name: str, dtype: str) -> None:
    tested, reference = pair("PCG64")
    for make in (
        lambda n: n.zeros((30, 20), dtype),
        lambda n: n.zeros((30, 20), dtype).T,
        lambda n: n.zeros((30, 20), dtype)[3:9],
        lambda n: n.zeros(200, dtype)[7:],
    ):
        tested_out, reference_out = make(np), make(numpy)
        result = getattr(tested, name)(dtype=dtype, out=tested_out)
        getattr(reference, name)(dtype=dtype, out=reference_out)
        assert result is tested_out
        alike(tested_out, reference_out, name == "random")
    alike(
        getattr(tested, name)((30, 20), dtype, out=np.zeros((30, 20), dtype)),
        getattr(reference, name)((30, 20), dtype, out=numpy.zeros((30, 20), dtype)),
        name == "random",
    ) if name != "standard_exponential" else None
    same_state(tested, reference)


PARAMETERS: dict[str, Callable[[Any, Any], Any]] = {
    "uniform": lambda n, g: g.uniform(n.arange(5.0), n.arange(5)[:, None] + 9),
    "uniform to a size": lambda n, g: g.uniform(n.arange(5.0), 9, (3, 5)),
    "uniform of lists": lambda n, g: g.uniform([0, 1], [1, 2.5]),
    "normal": lambda n, g: g.normal(n.arange(4), n.arange(4.0)),
    "normal of integers": lambda n, g: g.normal(n.arange(4, dtype="i2"), 2, size=(7, 4)),
    "exponential": lambda n, g: g.exponential(n.arange(6.0).reshape(2, 3)),
    "lognormal": lambda n, g: g.lognormal(0, n.ones(3)),
}


@pytest.mark.parametrize("draw", PARAMETERS.values(), ids=PARAMETERS)
def test_parameters(draw: Callable[[Any, Any], Any]) -> None:
    tested, reference = pair("PCG64")
    for _ in range(3):
        alike(draw(np, tested), draw(numpy, reference), False)
    same_state(tested, reference)


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "a size": lambda n, g: g.random(-1),
    "a size of a float": lambda n, g: g.random(2.5),
    "a dtype": lambda n, g: g.random(3, "i4"),
    "out of another dtype": lambda n, g: g.random(out=n.zeros(3, "f4")),
    "out of another shape": lambda n, g: g.random(4, out=n.zeros(3)),
    "a range": lambda n, g: g.integers(5, 5, 10),
    "a bound": lambda n, g: g.integers(0, 300, 10, "u1"),
    "a dtype of integers": lambda n, g: g.integers(0, 300, 10, "f4"),
    "a scale": lambda n, g: g.normal(0, -1, 10),
    "negative zero": lambda n, g: g.exponential(-0.0, 10),
    "scales": lambda n, g: g.normal(0, n.asarray([1, -1.0])),
    "an infinite range": lambda n, g: g.uniform(0, n.inf, 10),
    "infinite ranges": lambda n, g: g.uniform(0, n.asarray([1, n.inf])),
    "a range that falls": lambda n, g: g.uniform(2, 1, 10),
    "a shape": lambda n, g: g.normal(n.zeros(3), 1, (3, 2)),
    "a method": lambda n, g: g.standard_exponential(5, method="nonsense"),
    "a population": lambda n, g: g.choice(0, 10),
    "shares": lambda n, g: g.choice(3, 10, p=[0.5, 0.1, 0.1]),
    "an axis": lambda n, g: g.choice(n.zeros((2, 2)), 10, axis=3),
    "a shape of a distribution": lambda n, g: g.weibull(-1, 10),
    "a string": lambda n, g: g.normal("a", 1, 3),
}


@pytest.mark.parametrize("draw", REFUSED.values(), ids=REFUSED)
def test_what_numpy_refuses(draw: Callable[[Any, Any], Any]) -> None:
    tested, reference = pair("PCG64")
    outcomes = []
    for n, g in ((np, tested), (numpy, reference)):
        try:
            outcomes.append(to_host(draw(n, g)) if n is np else draw(n, g))
        except Exception as error:
            outcomes.append((type(error), str(error)))
    assert repr(outcomes[0]) == repr(outcomes[1])
    same_state(tested, reference)


def test_a_consumer_makes_the_numbers_itself() -> None:
    from tests.core.fusion.counting import kernels

    rng = np.random.default_rng(0)

    def pi() -> Any:
        return ((rng.random(5000) ** 2 + rng.random(5000) ** 2) < 1).mean()

    assert [type(step).__name__ for step in kernels(pi)] == ["RunKernel"]
    reference = numpy.random.default_rng(0)
    rng = np.random.default_rng(0)
    assert float(pi()) == ((reference.random(5000) ** 2 + reference.random(5000) ** 2) < 1).mean()
