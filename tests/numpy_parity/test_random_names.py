"""All of `numpy.random` is there: its names, parameters and types of results, and the state after any of it."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.numpy_release import signature
from gpunumpy.random import device_draws
from tests.support.host_executor import with_traits

from ..support.arrays import to_host

BITS = ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    before = np.host_fallback()
    np.host_fallback("ignore")
    yield
    np.host_fallback(before)


def parameters(function: Any) -> list[tuple[str, Any]]:
    return [(p.name, p.default) for p in inspect.signature(function).parameters.values()]


def public(reference: type) -> list[str]:
    return [name for name in dir(reference) if not name.startswith("_")]


@pytest.mark.parametrize("name", numpy.random.__all__)
def test_names(name: str) -> None:
    tested, reference = getattr(np.random, name), getattr(numpy.random, name)
    assert name in dir(np.random)
    assert tested.__doc__
    has_signature = signature(reference) is not None
    if has_signature and name not in ("ranf", "sample"):  # NumPy's have `*args`, and are `random_sample`
        assert parameters(tested) == parameters(reference)
    if isinstance(reference, type):
        assert issubclass(tested, reference)


def test_all_names_are_imported() -> None:
    names: dict[str, Any] = {}
    exec("from gpunumpy.random import *", names)
    assert set(names) - {"__builtins__"} == {*numpy.random.__all__, "PhiloxGPU"}
    assert names["Generator"] is np.random.Generator


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
def test_methods(kind: str) -> None:
    tested, reference = getattr(np.random, kind), getattr(numpy.random, kind)
    for name in public(reference):
        assert getattr(tested, name).__doc__, name
        if callable(getattr(reference, name)):
            assert parameters(getattr(tested, name)) == parameters(getattr(reference, name)), name
            assert getattr(tested, name).__name__ == name


def test_the_documents_tell_of_all_methods() -> None:
    page = (Path(__file__).parents[2] / "docs" / "random.md").read_text(encoding="utf-8")
    parts = dict(zip(("Generator", "RandomState"), page.split("\n## ")[2:4], strict=True))
    for kind, text in parts.items():
        assert kind in text.splitlines()[0]
        missing = [name for name in public(getattr(numpy.random, kind)) if f"`{name}`" not in text]
        assert set(missing) <= {"bit_generator", "spawn", "seed", "get_state", "set_state"}, missing


# What every method is called with, beside the size.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("random", "standard_normal", "standard_exponential", "standard_cauchy"), ()),
    **dict.fromkeys(("random_sample", "tomaxint"), ()),
    **dict.fromkeys(("uniform", "normal", "exponential", "lognormal", "rayleigh"), ()),
    **dict.fromkeys(("gumbel", "laplace", "logistic"), (0.5, 2.0)),
    **dict.fromkeys(("standard_gamma", "chisquare", "standard_t", "weibull", "pareto", "power"), (2.5,)),
    **dict.fromkeys(("gamma", "beta", "f", "wald", "vonmises", "noncentral_chisquare"), (2.5, 1.5)),
    **dict.fromkeys(("integers", "randint", "choice"), (50,)),
    **dict.fromkeys(("binomial", "negative_binomial"), (20, 0.3)),
    **dict.fromkeys(("geometric", "logseries"), (0.3,)),
    "dirichlet": ([1.0, 2.0, 3.0],),
    "hypergeometric": (20, 30, 10),
    "multinomial": (20, [0.2, 0.3, 0.5]),
    "multivariate_hypergeometric": ([5, 6, 7], 4),
    "multivariate_normal": ([0.0, 1.0], [[2.0, 0.3], [0.3, 1.0]]),
    "noncentral_f": (2.0, 3.0, 1.0),
    "poisson": (7.0,),
    "triangular": (0.0, 0.3, 1.0),
    "zipf": (2.5,),
}
# These take no size.
OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "bytes": lambda n, g: g.bytes(9),
    "permutation": lambda n, g: g.permutation(20),
    "permuted": lambda n, g: g.permuted(n.arange(20)),
    "shuffle": lambda n, g: g.shuffle(n.arange(20)),
    "rand": lambda n, g: g.rand(),
    "randn": lambda n, g: g.randn(),
    "random_integers": lambda n, g: g.integers(3, endpoint=True),
    "spawn": lambda n, g: g.spawn(2)[1].random(),
}
MADE: dict[str, Callable[[Any], Any]] = {
    "Generator": lambda n: n.random.default_rng(5),
    "RandomState": lambda n: n.random.RandomState(5),
}
STATE = {"bit_generator", "seed", "get_state", "set_state"}


def alike(tested: Any, reference: Any) -> None:
    """Of NumPy's values, but for last bits; of an array's type if NumPy's is one, and else of NumPy's own type."""
    if isinstance(reference, numpy.ndarray):
        assert isinstance(tested, np.ndarray)
        assert tested.shape == reference.shape
        assert tested.dtype == reference.dtype
        numpy.testing.assert_allclose(to_host(tested), reference, rtol=1e-13)
    else:
        assert type(tested) is type(reference)
        assert tested == reference


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in MADE for name in public(getattr(numpy.random, kind)) if name not in STATE],
)
def test_results(kind: str, name: str) -> None:
    tested, reference = MADE[kind](np), MADE[kind](numpy)
    if name in OTHERS:
        if name != "random_integers":
            alike(OTHERS[name](np, tested), OTHERS[name](numpy, reference))
        return
    for options in ({}, {"size": None}, {"size": 3}, {"size": (2, 3)}, {"size": 0}, {"size": ()}):
        if name == "multivariate_hypergeometric" and options == {"size": ()}:
            continue
        alike(getattr(tested, name)(*ARGUMENTS[name], **options), getattr(reference, name)(*ARGUMENTS[name], **options))


@pytest.mark.parametrize("bits", BITS)
def test_bit_generators(bits: str) -> None:
    tested, reference = getattr(np.random, bits)(7), getattr(numpy.random, bits)(7)
    assert repr(tested.state) == repr(reference.state)
    numpy.testing.assert_array_equal(tested.random_raw(5), reference.random_raw(5))
    for child, their in zip(tested.spawn(2), reference.spawn(2), strict=True):
        assert repr(child.state) == repr(their.state)
    for change in ("jumped", "advance"):
        if hasattr(reference, change):
            changed = getattr(tested, change)(3), getattr(reference, change)(3)
            assert repr(changed[0].state) == repr(changed[1].state)
    assert repr(pickle.loads(pickle.dumps(tested)).state) == repr(reference.state)
    assert repr(np.random.Generator(tested).bit_generator.state) == repr(reference.state)


def test_seed_sequences() -> None:
    tested, reference = np.random.SeedSequence([1, 2]), numpy.random.SeedSequence([1, 2])
    assert tested.spawn(2)[1].spawn_key == reference.spawn(2)[1].spawn_key
    numpy.testing.assert_array_equal(tested.generate_state(4, numpy.uint64), reference.generate_state(4, numpy.uint64))
    alike(np.random.default_rng(tested).random(3), numpy.random.default_rng(reference).random(3))


# From here on the device draws all, of the CPU too.


@pytest.fixture
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
    with_traits(monkeypatch, draws_faster_than_numpy=True)


DEVICES = ["PCG64", "PCG64DXSM", "Philox", "PhiloxGPU"]


def generator(bits: str) -> Any:
    """A generator in the middle of its stream, where it has half a word, and has not looked at how far it is."""
    rng = np.random.Generator(getattr(np.random, bits)(3))
    rng._stream.shared = False  # type: ignore[attr-defined]
    rng.random(33, "f4")
    rng.standard_normal(100)
    return rng


def draws(rng: Any) -> list[Any]:
    return [to_host(x) for x in (rng.standard_normal(50), rng.random(51, "f4"), rng.integers(0, 9, 20), rng.random(3))]


def equal(tested: list[Any], reference: list[Any]) -> None:
    for x, y in zip(tested, reference, strict=True):
        numpy.testing.assert_array_equal(x, y, strict=True)


# One number, of Python or of NumPy.
ONES: dict[str, Callable[[Any], Any]] = {
    "uniform": lambda g: g.uniform(2, high=5.0),
    "normal": lambda g: g.normal(loc=numpy.float64(1), scale=2),
    "gamma": lambda g: g.gamma(2.5),
    "triangular": lambda g: g.triangular(0, 1, 2),
    "standard_normal": lambda g: g.standard_normal(),
    "exponential": lambda g: g.exponential(),
    "poisson": lambda g: g.poisson(numpy.int64(3)),
    "choice": lambda g: g.choice(9, replace=True),
}
OF_RANDOM_STATE = {
    "rand": lambda g: g.rand(),
    "randn": lambda g: g.randn(),
    "tomaxint": lambda g: g.tomaxint(),
    "randint": lambda g: g.randint(3, high=9),
}
OF_GENERATOR = {
    "integers": lambda g: g.integers(3, high=9, endpoint=True),
    "random": lambda g: g.random(),
    "float32": lambda g: g.random(dtype="f4"),
}


@pytest.mark.usefixtures("on_the_device")
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("Generator", name) for name in ONES | OF_GENERATOR),
        *(("RandomState", name) for name in ONES | OF_RANDOM_STATE),
    ],
)
def test_one_number(kind: str, name: str) -> None:
    tested, reference = MADE[kind](np), MADE[kind](numpy)
    draw = (ONES | OF_GENERATOR | OF_RANDOM_STATE)[name]
    tested._stream.shared = False
    for _ in range(3):
        tested.uniform(size=3)
        reference.uniform(size=3)
        alike(draw(tested), draw(reference))
    for wrong in ({"loc": 1, "scale": -1}, {"scale": -2.5}, {"bogus": 1}):
        texts = []
        for rng in (tested, reference):
            with pytest.raises((TypeError, ValueError)) as caught:
                rng.normal(**wrong)
            texts.append((caught.type, str(caught.value)))
        assert texts[0] == texts[1]


@pytest.mark.usefixtures("on_the_device")
def test_arrays_of_numbers() -> None:
    rng, reference = np.random.default_rng(5), numpy.random.default_rng(5)
    alike(rng.normal(np.array([1.0])), reference.normal([1.0]))
    alike(rng.normal([1.0, 2.0]), reference.normal([1.0, 2.0]))
    alike(rng.normal(scale=[1.0, 2.0]), reference.normal(scale=[1.0, 2.0]))


@pytest.mark.usefixtures("on_the_device")
@pytest.mark.parametrize("bits", DEVICES)
def test_copies_of_their_own(bits: str) -> None:
    rng = generator(bits)
    for copied in (copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))):
        other = copied(rng)
        assert type(other) is type(rng)
        assert type(other.bit_generator) is type(rng.bit_generator)
        wanted = draws(copied(rng))
        equal(draws(other), wanted)
    equal(draws(rng), wanted)


@pytest.mark.usefixtures("on_the_device")
@pytest.mark.parametrize("bits", DEVICES)
def test_copies_of_one_stream(bits: str) -> None:
    rng, alone = generator(bits), generator(bits)
    other = copy.copy(rng)
    for turn in (rng, other, other, rng):
        equal(draws(turn), draws(alone))
    assert other.bit_generator is rng.bit_generator


@pytest.mark.usefixtures("on_the_device")
@pytest.mark.parametrize("bits", DEVICES)
def test_states_that_are_set(bits: str) -> None:
    rng = generator(bits)
    state = rng.bit_generator.state
    first = draws(rng)
    rng.bit_generator.state = state
    equal(draws(rng), first)
    fresh = np.random.Generator(getattr(np.random, bits)(99))
    fresh.bit_generator.state = state
    equal(draws(fresh), first)
    jumped = [np.random.Generator(fresh.bit_generator.jumped(k)) for k in (1, 1, 2)]
    one, again, two = map(draws, jumped)
    equal(one, again)
    assert (one[0] != two[0]).any()
    assert not np.array_equal(one[0], first[0])
    children = [draws(child) for child in np.random.Generator(getattr(np.random, bits)(5)).spawn(2)]
    equal(children[0], draws(np.random.Generator(getattr(np.random, bits)(5)).spawn(1)[0]))
    assert (children[0][0] != children[1][0]).any()


@pytest.mark.usefixtures("on_the_device")
@pytest.mark.parametrize("bits", DEVICES)
def test_threads_share_a_stream(bits: str) -> None:
    """Every draw is one of those that one thread makes: none is made twice, and none is mixed with another."""
    rng, alone = generator(bits), generator(bits)
    found: list[bytes] = []

    def work() -> None:
        for _ in range(10):
            found.append(to_host(rng.standard_normal(40)).tobytes())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(to_host(alone.standard_normal(40)).tobytes() for _ in range(40))


def of_one(kind: str) -> list[Any]:
    """A generator, as several threads have it."""
    rng = MADE[kind](np)
    rng._stream.shared = False
    return [rng] * 3


# The locks of NumPy before 2.4 may not be held twice: there, nothing keeps its generators from a bit generator while
# one of gpunumpy draws from it.
REENTRANT = isinstance(numpy.random.PCG64(5).lock, type(threading.RLock()))

# What threads draw from: one generator, or several over one bit generator, NumPy's among them.
SHARED: dict[str, Callable[[], list[Any]]] = {
    "Generator": lambda: of_one("Generator"),
    "RandomState": lambda: of_one("RandomState"),
    "over PCG64": lambda: [
        lib.random.Generator(bits) for bits in (np.random.PCG64(5),) for lib in (np, numpy if REENTRANT else np, np)
    ],
    "over MT19937": lambda: [
        make(bits)
        for bits in (np.random.MT19937(5),)
        for make in (np.random.RandomState, (numpy if REENTRANT else np).random.RandomState, np.random.Generator)
    ],
}


# One NumPy generator of the same stream.
WHOLE: dict[str, Callable[[], Any]] = {
    "Generator": lambda: MADE["Generator"](numpy),
    "RandomState": lambda: MADE["RandomState"](numpy),
    "over PCG64": lambda: MADE["Generator"](numpy),
    "over MT19937": lambda: numpy.random.Generator(numpy.random.MT19937(5)),
}


@pytest.mark.parametrize("name", SHARED)
def test_threads_of_which_some_draw_on_the_host(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_traits(monkeypatch, draws_faster_than_numpy=True)
    monkeypatch.setattr(device_draws, "MIN_COUNT", 50)
    generators = SHARED[name]()
    found: list[Any] = []

    def work(rng: Any, *sizes: int) -> None:
        for _ in range(200):
            found.extend(numpy.asarray(to_host(x) if isinstance(x, np.ndarray) else x) for x in map(drawn(rng), sizes))
            found.append([rng.uniform()])

    threads = [
        threading.Thread(target=work, args=(rng, *sizes))
        for rng, sizes in zip(generators, ((3, 50), (50, 7), (60,)), strict=True)
    ]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    numbers = numpy.concatenate(found)
    alone = WHOLE[name]()
    numpy.testing.assert_array_equal(numpy.sort(numbers), numpy.sort(alone.uniform(size=numbers.size)))


def drawn(rng: Any) -> Callable[[int], Any]:
    return lambda size: rng.uniform(size=size)
