"""Seeds that are gpunumpy arrays, or hold elements of them, and the classes that take seeds."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.numpy_release import signature
from gpunumpy.random import device_draws
from tests.support.host_executor import with_traits

BITS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def seeds(n: Any) -> Any:
    return n.random.default_rng(0).integers(0, 99, 2)


USES: dict[str, Callable[[Any], Any]] = {
    "elements": lambda n: [n.random.default_rng(seed).random() for seed in seeds(n)],
    "a list of elements": lambda n: n.random.default_rng([seeds(n)[0], 3]).random(),
    "an array": lambda n: n.random.default_rng(seeds(n)).random(),
    "SeedSequence": lambda n: n.random.SeedSequence(seeds(n)).generate_state(3).tolist(),
    "SeedSequence of elements": lambda n: n.random.SeedSequence((seeds(n)[1], 3)).generate_state(3).tolist(),
    "spawn_key": lambda n: n.random.SeedSequence(1, spawn_key=seeds(n)).generate_state(3).tolist(),
    "key": lambda n: n.random.Philox(key=seeds(n)).random_raw(),
    "key and counter": lambda n: n.random.Philox(key=seeds(n)[0], counter=seeds(n)[1]).random_raw(),
    "RandomState": lambda n: [n.random.RandomState(seed).rand() for seed in seeds(n)],
    **{bits: lambda n, bits=bits: getattr(n.random, bits)(seeds(n)).random_raw() for bits in BITS},
    **{
        f"{bits} of an element": lambda n, bits=bits: getattr(n.random, bits)(seed=seeds(n)[0]).random_raw()
        for bits in BITS
    },
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_seeds(use: Callable[[Any], Any]) -> None:
    assert use(np) == use(numpy)


@pytest.mark.parametrize("seed", [1.5, "x", -1])
def test_what_is_no_seed(seed: Any) -> None:
    for name in (*BITS, "SeedSequence", "default_rng"):
        raised = []
        for n in (np, numpy):
            with pytest.raises((TypeError, ValueError)) as caught:
                getattr(n.random, name)(seed)
            raised.append((caught.type, str(caught.value)))
        assert raised[0] == raised[1]


def test_the_faster_stream() -> None:
    state = np.random.PhiloxGPU(seeds(np)[0]).state
    numpy.testing.assert_equal(state, np.random.PhiloxGPU(seeds(numpy)[0]).state)
    assert isinstance(np.random.PhiloxGPU(1), np.random.Philox)
    assert issubclass(np.random.PhiloxGPU, np.random.Philox)
    assert not isinstance(np.random.Philox(1), np.random.PhiloxGPU)


@pytest.mark.parametrize("name", [*BITS, "SeedSequence"])
def test_instances_are_of_numpy_classes(name: str) -> None:
    tested, reference = getattr(np.random, name), getattr(numpy.random, name)
    made = tested(5)
    assert type(made) is reference
    assert type(pickle.loads(pickle.dumps(made))) is reference
    assert pickle.loads(pickle.dumps(tested)) is tested
    assert isinstance(reference(5), tested)
    assert not isinstance(5, tested)
    assert issubclass(reference, tested)
    assert signature(reference) in (None, inspect.signature(tested))


def test_classes_of_a_program() -> None:
    class Mine(np.random.PCG64):  # type: ignore[name-defined,misc]
        pass

    bits = Mine(seeds(np)[0])
    assert type(bits) is Mine
    assert isinstance(bits, np.random.PCG64)
    assert not isinstance(np.random.PCG64(1), Mine)
    assert bits.random_raw() == numpy.random.PCG64(seeds(numpy)[0]).random_raw()


@pytest.fixture(params=["as they come", "on the device"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "on the device":
        monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
        with_traits(monkeypatch, draws_faster_than_numpy=True)


@pytest.mark.usefixtures("place")
def test_a_numpy_generator_goes_on_with_the_stream() -> None:
    """For compiled code that wants NumPy's arrays."""
    rng, alone = np.random.default_rng(3), numpy.random.default_rng(3)
    reference = numpy.random.Generator(rng.bit_generator)
    for size in (20000, 7):
        numpy.testing.assert_array_equal(np.asnumpy(rng.random(size)), alone.random(size))
        drawn = reference.random(5, numpy.float32)
        assert type(drawn) is numpy.ndarray
        numpy.testing.assert_array_equal(drawn, alone.random(5, numpy.float32))
    numpy.testing.assert_equal(rng.bit_generator.state, alone.bit_generator.state)


@pytest.mark.usefixtures("place")
def test_a_numpy_state_goes_on_with_the_stream() -> None:
    bits = np.random.MT19937(3)
    tested, reference = np.random.RandomState(bits), numpy.random.RandomState(bits)
    alone = numpy.random.RandomState(numpy.random.MT19937(3))
    for size in (20000, 7):
        numpy.testing.assert_array_equal(np.asnumpy(tested.random_sample(size)), alone.random_sample(size))
        drawn = reference.permutation(9)
        assert type(drawn) is numpy.ndarray
        numpy.testing.assert_array_equal(drawn, alone.permutation(9))
    numpy.testing.assert_equal(bits.state, alone._bit_generator.state)


@pytest.mark.parametrize("first", [np.asarray(1), 1], ids=["an array", "a number"])
@pytest.mark.parametrize("name", ["SeedSequence", "PCG64", "MT19937", "default_rng"])
def test_a_list_that_contains_itself(name: str, first: Any) -> None:
    """NumPy 2.4 breaks down on it; it raises this from 2.5 on."""
    seed: list[Any] = [first]
    seed.append(seed)
    with pytest.raises(TypeError, match="SeedSequence does not accept nested sequences"):
        getattr(np.random, name)(seed)
