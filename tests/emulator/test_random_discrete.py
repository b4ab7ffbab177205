"""Integers of distributions with parameters, through the kernels of a GPU, compared with NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import Device
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.random import cuda_draws, cuda_rejection_sampling
from gpunumpy.random import device_draws, discrete_plans
from gpunumpy.random.discrete_plans import LEGACY_PLANS, PLANS, Plan, plan_of
from gpunumpy.random.parameters import SCRATCH_GENERATOR, SCRATCH_STATE
from gpunumpy.random.rejection_sampling import draw_from_words
from tests.support.host_executor import run_on_host, with_traits

from ..support.arrays import from_host, to_host, wrap
from .executor import run_program
from .machine import MAX_SHARED_BYTES
from .test_masks_and_scatter import layout_of

pytestmark = pytest.mark.usefixtures("host_functions")

BITS = (numpy.random.PCG64, numpy.random.PCG64DXSM, numpy.random.Philox)


# The options of the library calls, one after the other.
ASKED: list[Any] = []


def emulated(make: Any) -> Any:
    """The function of a library call on the CPU device: it runs a GPU's program on the emulated machine."""

    def call(options: tuple[Any, ...], *arrays: Any) -> None:
        ASKED.append(options)
        program = make(options, [layout_of(x) for x in arrays], [x.dtype for x in arrays])
        assert run_program(program, arrays, seed=3) == 0

    return call


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Even few numbers are drawn as a GPU draws them."""
    ASKED.clear()
    monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
    with_traits(monkeypatch, draws_faster_than_numpy=True)
    run_on_host(monkeypatch, "rejection_sampling", emulated(cuda_rejection_sampling.rejection_sampling))
    draws = emulated(lambda *what: cuda_draws.piecewise_draws_program(*what, MAX_SHARED_BYTES))  # type: ignore[call-arg]
    run_on_host(monkeypatch, "piecewise_draws", draws)
    with gpunumpy.Device("cpu"):
        yield


DRAWS: dict[str, list[tuple[Any, ...]]] = {
    "poisson": [(0.003,), (1.0,), (9.99,), (10,), (17.3,), (1e3,), (123456.7,)],
    "binomial": [
        *((10, 0.3), (9.7, 0.3), (1, 0.5), (1000, 0.001), (40, 0.74), (7, 1.0), (100, 0.3), (61, 0.5), (10**6, 0.4)),
        *((10**5, 0.999), (10**12, 0.37), (900, 0.95)),
    ],
    "negative_binomial": [(0.3, 0.4), (1, 0.1), (5, 0.2), (2.5, 0.9), (100, 0.01), (3, 1.0)],
    "geometric": [(1.0,), (0.9,), (1 / 3,), (0.33,), (0.01,), (1e-9,)],
    "hypergeometric": [
        *((5, 7, 4), (20, 30, 45), (10**6, 3, 9), (1, 1, 1), (10, 15, 12), (100, 50, 60), (50, 100, 90)),
        *((10**6, 10**6, 10**5), (300, 10, 300), (20, 20, 31)),
    ],
    "logseries": [(0.0,), (0.1,), (0.6,), (0.9999,)],
    "zipf": [(1.05,), (2.0,), (3.7,), (60,), (1024,)],
}
# Numbers that take no words.
ON_THE_HOST = [
    ("hypergeometric", 300, 10, 300 + 10),
    ("poisson", 0),
    ("binomial", 0, 0.5),
    ("zipf", 2000),
    ("poisson", 1e17),
]
CASES = [*ON_THE_HOST, *((name, *args) for name, all_args in DRAWS.items() for args in all_args)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_numbers_and_state_equal_numpy(case: tuple[Any, ...]) -> None:
    name, *args = case
    for kind, count in zip(BITS, (3001, 1, 6000)):
        tested, reference = (n.random.Generator(kind(count)) for n in (gpunumpy, numpy))
        for n in (tested, reference):
            n.random(3, numpy.float32)
        got, want = (getattr(n, name)(*args, size=(count,)) for n in (tested, reference))
        got = to_host(got)
        if name == "zipf" and args[0] < 2:  # the last bits of powers
            numpy.testing.assert_allclose(got, want, rtol=1e-13)
        else:
            numpy.testing.assert_array_equal(got, want, strict=True)
        assert repr(tested.bit_generator.state) == repr(reference.bit_generator.state)
    elementwise = name == "geometric" and args[0] >= 1 / 3
    assert bool(ASKED) == (not elementwise and case not in ON_THE_HOST)


@pytest.mark.parametrize(
    ("n", "pvals"),
    [
        *(
            (20, [1 / 6] * 6),
            (1, [0.2, 0.3, 0.5]),
            (5, [0.0, 0.25, 0.0, 0.75]),
            (3, [0.5, 0.5, 0.0]),
            (200, [0.7, 0.3]),
        ),
        *((10**6, [0.01, 0.4, 0.09, 0.5]), (100, [0.05] * 20), (30, [1.0, 0.0])),
    ],
)
def test_rows_of_multinomial(n: int, pvals: list[float]) -> None:
    for kind in BITS:
        tested, reference = (each.random.Generator(kind(7)) for each in (gpunumpy, numpy))
        for size in (1, (40, 30)):
            got, want = (each.multinomial(n, pvals, size) for each in (tested, reference))
            numpy.testing.assert_array_equal(to_host(got), want, strict=True)
            assert repr(tested.bit_generator.state) == repr(reference.bit_generator.state)
    assert ASKED


def some_parameters(rng: Any) -> tuple[Any, ...]:
    """A distribution and parameters of it, small and large ones alike."""

    def spread(low: float, high: float) -> float:
        return float(numpy.exp(rng.uniform(numpy.log(low), numpy.log(high))))

    share = float(rng.choice([rng.uniform(), spread(1e-9, 1), 1 - spread(1e-9, 1)]))
    good, bad = int(spread(1, 5e5)), int(spread(1, 5e5))
    few = int(rng.integers(12))
    sample = int(rng.choice([rng.integers(good + bad + 1), min(few, good + bad), max(0, good + bad - few)]))
    chances = rng.dirichlet(numpy.full(rng.integers(2, 6), rng.choice([0.1, 1, 10]))).tolist()
    cases: list[tuple[Any, ...]] = [
        *(("poisson", spread(1e-3, 9e6)), ("binomial", int(spread(1, 1e13)), share), ("logseries", share)),
        *(("negative_binomial", spread(1e-2, 1e3), spread(1e-3, 1)), ("geometric", max(share, 1e-12))),
        *(("hypergeometric", good, bad, sample), ("zipf", 1.5 + spread(1e-3, 1000))),
        ("multinomial", int(spread(1, 1e6)), chances),
    ]
    return cases[rng.integers(len(cases))]


@pytest.mark.parametrize("seed", range(60))
def test_any_parameters(seed: int) -> None:
    rng = numpy.random.default_rng(seed)
    name, *args = some_parameters(rng)
    tested, reference = (n.random.default_rng(seed) for n in (gpunumpy, numpy))
    got, want = (getattr(n, name)(*args, size=2000) for n in (tested, reference))
    numpy.testing.assert_array_equal(to_host(got), want, strict=True)
    assert tested.bit_generator.state == reference.bit_generator.state


OLD_CASES: list[tuple[Any, ...]] = [
    *(("poisson", 2.5), ("poisson", 44), ("binomial", 10, 0.3), ("binomial", 0, 0.3), ("binomial", 5, 0.0)),
    *(("binomial", 1000, 0.03), ("binomial", 10**6, 0.4), ("binomial", 900, 0.95), ("geometric", 0.4)),
    *(("geometric", 0.02), ("logseries", 0.7), ("zipf", 2.5), ("hypergeometric", 20, 30, 11)),
    *(("hypergeometric", 9, 5, 4), ("hypergeometric", 5, 9, 10), ("hypergeometric", 1000, 700, 900)),
    *(("hypergeometric", 700, 5000, 70), ("poisson", 0), ("hypergeometric", 0, 3, 2)),
]


@pytest.mark.parametrize("case", OLD_CASES, ids=str)
def test_numbers_of_a_random_state(case: tuple[Any, ...]) -> None:
    name, *args = case
    plan = plan_of(LEGACY_PLANS, SCRATCH_STATE, name, *args)
    if plan is None:
        assert case in OLD_CASES[-2:]
        return
    sampler, params, each = plan
    reference: Any = numpy.random.RandomState(12)
    reference.bytes(100)
    bits: Any = numpy.random.MT19937()
    bits.state = reference.get_state(legacy=False)
    before = bits.state
    queue = evaluate.queue_of(Device("cpu"))

    def ahead(many: int) -> Any:
        bits.state = before
        return (from_host(bits.random_raw(2 * many).astype("u4").view("u8"), queue.device).value(),)

    found = draw_from_words(ahead, replace(sampler, paired=True), params, (4000,), each, queue)
    assert found is not None
    numbers, taken, _ = found
    numpy.testing.assert_array_equal(to_host(wrap(numbers)), getattr(reference, name)(*args, size=4000))
    bits.state = before
    bits.random_raw(2 * taken)
    assert bits.random_raw(3).tolist() == reference.randint(0, 2**32, 3, "u4").tolist()


def planned(name: str, *args: Any) -> Plan | None:
    """The plan of a method of `Generator`."""
    if name == "multinomial":
        return discrete_plans.multinomial(*args)
    return None if name == "geometric" else plan_of(PLANS, SCRATCH_GENERATOR, name, *args)


def plans() -> Iterator[Plan]:
    """Of all samplers that there are."""
    for name, *args in CASES:
        if plan := planned(name, *args):
            yield plan
    for name, *args in OLD_CASES:
        if plan := plan_of(LEGACY_PLANS, SCRATCH_STATE, name, *args):
            yield plan
    yield discrete_plans.multinomial(20, [0.1, 0.2, 0.7])  # type: ignore[misc]


@pytest.mark.full
def test_nvrtc_compiles_them() -> None:
    samplers = {sampler for sampler, _, _ in plans()}
    assert len({sampler.name for sampler in samplers}) == 15
    for sampler in {replace(sampler, max_words=32) for sampler in samplers}:
        shape = (4000,) if sampler.width == 1 else (4000, sampler.width)
        for word in ("u4",) if sampler.takes_words32 else ("u8", "u4"):
            arrays = numpy.zeros(shape, "i8"), numpy.zeros(4, "i8"), numpy.zeros(9000, word), numpy.zeros(9)
            options = sampler.options
            layouts, dtypes = [layout_of(x) for x in arrays], [x.dtype for x in arrays]
            assert compile_cubin(cuda_rejection_sampling.rejection_sampling(options, layouts, dtypes).text, "sm_90")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_there_are_enough_words(case: tuple[Any, ...]) -> None:
    """What a number takes on average is not much more than is expected, and hardly less."""
    name, *args = case
    plan = planned(name, *args)
    if plan is None:
        return
    sampler, _, each = plan
    bits = numpy.random.PCG64(1)
    words = bits.random_raw(1 << 17)
    bits = numpy.random.PCG64(1)
    getattr(numpy.random.Generator(bits), name)(*args, size=5000)
    begun = int(bits.state["has_uint32"])
    taken = int(numpy.flatnonzero(words == bits.random_raw())[0])
    ratio = (2 * taken - begun if sampler.takes_words32 else taken) / 5000 / each
    assert 0.65 < ratio < 1.03
