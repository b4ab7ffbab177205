"""`RandomState` through the kernels of a GPU, compared with NumPy: what takes as many words as it needs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.random import cuda_bounded, cuda_rejection_sampling
from gpunumpy.kernels.sort import cuda as cuda_sort
from gpunumpy.random import device_draws, discrete_plans, mt19937, rejection_sampling
from gpunumpy.random.discrete_plans import LEGACY_PLANS, plan_of
from gpunumpy.random.parameters import SCRATCH_STATE
from gpunumpy.random.rejection_sampling import Sampler
from tests.numpy_parity.test_random_legacy import DRAWS, EXACT, alike, pair, same_state
from tests.support.host_executor import run_on_host, with_traits

from .executor import run_program
from .random_library_calls import TWISTER
from .test_masks_and_scatter import layout_of

pytestmark = pytest.mark.usefixtures("host_functions")

Program = Callable[..., Any]
ASKED: list[Program] = []  # for which programs, call by call


def emulated(make: Program) -> Callable[..., None]:
    """The function of a library call on the CPU device: it runs a GPU's program on the emulated machine."""

    def call(options: tuple[Any, ...], *arrays: Any) -> None:
        ASKED.append(make)
        program = make(options, [layout_of(x) for x in arrays], [x.dtype for x in arrays])
        assert run_program(program, arrays, seed=3) == 0

    return call


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Even few numbers are drawn as a GPU draws them."""
    programs: dict[str, Program] = {
        "bounded_draws": lambda options, layouts, dtypes: cuda_bounded.bounded_draws_program(options, layouts, 1),
        "rejection_sampling": cuda_rejection_sampling.rejection_sampling,
        "sort_upper": cuda_sort.sort_upper,
        "permutation_of_swaps": cuda_bounded.permutation_of_swaps,
        **{make.__name__: make for make in TWISTER},
    }
    for name, make in programs.items():
        run_on_host(monkeypatch, name, emulated(make))
    monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
    with_traits(monkeypatch, draws_faster_than_numpy=True)
    with np.Device("cpu"):
        yield


@pytest.mark.parametrize("seed", range(4))
def test_draws_after_one_another(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mt19937, "MIN_BLOCKS_PER_RUN", 2)
    order = numpy.random.default_rng(seed)
    tested, reference = pair(seed)
    names = list(DRAWS)
    for _ in range(12):
        name, size = names[order.integers(len(names))], int(order.integers(1, 3000))
        alike(DRAWS[name](tested, size), DRAWS[name](reference, size), name in EXACT)
        if not order.integers(3):
            same_state(tested, reference)
    same_state(tested, reference)


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
    tested, reference = pair()
    for size in (2, 3, 7, 64, 65, 1000, 5001):
        alike(draw(np, tested, size), draw(numpy, reference, size))
        alike(tested.randn(3), reference.randn(3), False)
    same_state(tested, reference)


SAMPLED: dict[str, list[tuple[Any, ...]]] = {
    "standard_gamma": [(0.3,), (1,), (1.5,), (40.0,), (0,)],
    "gamma": [(2.5, 3.0), (0.5, 2.0), (1, 2.5)],
    "chisquare": [(1,), (2,), (5.5,)],
    "wald": [(1.5, 2.0), (0.1, 7.0), (1e300, 0.7), (1e200, 1e200), (1.0, 1e-320)],
    "beta": [(0.5, 0.5), (1, 1), (0.01, 0.02), (2, 3), (2.5, 2.5), (0.5, 3), (3, 1), (1, 7.5)],
    "f": [(5, 7.5), (2, 9), (9, 2), (1.5, 6), (6, 0.5), (1, 1.5), (2, 2)],
    "standard_t": [(5,), (2,), (1,), (2.5,)],
    "noncentral_chisquare": [(5, 1.5), (3, 0.1), (2, 20), (1.5, 3), (4, 0), (1, 2), (0.5, 30)],
    "noncentral_f": [(5, 7.5, 2), (3, 4, 0.1), (2, 1, 30), (5, 2, 1), (1.5, 6, 2), (3, 6, 0), (0.7, 5, 2)],
    "dirichlet": [
        *(([1, 1, 1],), ([2.5] * 4,), ([0.3] * 2,), ([1, 2],), ([3],), ([2, 3, 4.5],), ([0.2, 5, 1, 3.5],)),
        *(([0.2, 0.3, 1],), (numpy.arange(2.0, 10),), ([0.5, 1, 2, 3, 4],)),
    ],
    "vonmises": [(0.5, 2.0), (-3, 1e-6), (1, 1e-9), (0, 1e7)],
    "poisson": [(0.5,), (9.0,), (30.5,), (1e4,)],
    "binomial": [(10, 0.3), (100, 0.7), (1000, 0.4), (5, 0.0)],
    "negative_binomial": [(5, 0.3), (2.5, 0.01), (0.5, 0.2), (1, 0.5), (30, 1.0), (0.3, 0.001), (1.01, 0.9), (3, 1e-8)],
    "multinomial": [
        *((20, [0.2, 0.5, 0.3]), (1000, [0.2, 0.5, 0.3]), (5, [1 / 6] * 6), (30, [0.0, 0.5, 0.5]), (7, [1.0])),
        *((100, [0.7, 0.3]), (50, [0.5, 0.5, 0.0]), (0, [0.5, 0.5]), (10, [1.0, 0.0, 0.0])),
    ],
    "geometric": [(0.5,), (0.01,), (1.0,)],
    "hypergeometric": [(20, 30, 8), (20, 30, 25), (1000, 500, 700)],
    "logseries": [(0.3,), (0.99,)],
    "zipf": [(1.5,), (4.0,), (1.02,), (1.0001,)],
}
# What NumPy draws nevertheless.
ON_HOST = {
    str(case)
    for case in (
        ("standard_gamma", 0),
        ("vonmises", 1, 1e-9),
        ("noncentral_chisquare", 1, 2),
        ("noncentral_chisquare", 0.5, 30),
        ("noncentral_f", 0.7, 5, 2),
        ("dirichlet", [0.5, 1, 2, 3, 4]),
        ("negative_binomial", 3, 1e-8),
        ("wald", 1.0, 1e-320),
        ("zipf", 1.0001),
        ("multinomial", 7, [1.0]),
        ("multinomial", 0, [0.5, 0.5]),
        ("multinomial", 10, [1.0, 0.0, 0.0]),
    )
}


@pytest.mark.parametrize("name", SAMPLED)
def test_numbers_that_take_words_as_they_need_them(name: str) -> None:
    for seed, given in enumerate(SAMPLED[name]):
        tested, reference = pair(seed)
        for size in (1, 7, 3000, (30, 40)):
            ASKED.clear()
            alike(getattr(tested, name)(*given, size), getattr(reference, name)(*given, size), False)
            assert bool(ASKED) != (str((name, *given)) in ON_HOST)
            same_state(tested, reference)
            alike(tested.randn(3), reference.randn(3), False)
            alike(tested.randint(0, 9, 3), reference.randint(0, 9, 3))


@pytest.mark.parametrize("name", ["standard_gamma", "poisson", "noncentral_f"])
def test_numbers_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejection_sampling, "MAX_WORDS", 2000)
    test_numbers_that_take_words_as_they_need_them(name)


@pytest.mark.parametrize("name", ["RandomState", "Generator"])
def test_a_part_that_is_broken_off(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, parts = rejection_sampling.draw_from_words, []

    def breaks(*args: Any) -> Any:
        parts.append(args)
        if len(parts) % 3 == 0:
            raise KeyboardInterrupt
        return begun(*args)

    monkeypatch.setattr(rejection_sampling, "draw_from_words", breaks)
    monkeypatch.setattr(rejection_sampling, "MAX_WORDS", 1000)
    make = {"RandomState": lambda n: n.random.RandomState(5)}.get(name, lambda n: n.random.default_rng(5))
    tested, reference = make(np), make(numpy)
    alike(tested.standard_normal(3), reference.standard_normal(3))
    with pytest.raises(KeyboardInterrupt):
        tested.standard_gamma(1.5, 3000)
    alike(tested.standard_normal(3), reference.standard_normal(3))


def test_there_are_enough_words_where_most_numbers_are_too_large() -> None:
    tested, reference = pair()
    ASKED.clear()
    alike(tested.zipf(1.005, 3000), reference.zipf(1.005, 3000))
    assert ASKED.count(cuda_rejection_sampling.rejection_sampling) == 1
    same_state(tested, reference)


def test_normal_vectors() -> None:
    tested, reference = pair()
    for given in (([1, 2], [[2, 0.5], [0.5, 1]]), ([0, 0, 0], numpy.eye(3))):
        alike(tested.multivariate_normal(*given, 500), reference.multivariate_normal(*given, 500), False)
        alike(tested.multivariate_normal(*given, (3, 5)), reference.multivariate_normal(*given, (3, 5)), False)
        same_state(tested, reference)


@pytest.mark.parametrize("name", ["standard_gamma", "f", "standard_t", "noncentral_f", "dirichlet", "wald"])
def test_few_numbers_of_pairs(name: str) -> None:
    """The first ones take the half of a pair that was left, the last one may leave half of its own, used or not."""
    given = {"standard_gamma": 1.01, "f": (2, 2.01), "standard_t": 2.02, "noncentral_f": (3.01, 2.5, 2), "wald": (1, 2)}
    args: Any = numpy.atleast_1d(given.get(name, 0)).tolist() if name in given else [[1.01, 1.02, 1.1]]
    for seed in range(30):
        tested, reference = pair(seed)
        for size in (seed % 7 + 1, seed % 3 + 1, 1):
            alike(getattr(tested, name)(*args, size), getattr(reference, name)(*args, size), False)
            same_state(tested, reference)


@pytest.mark.parametrize("name", ["standard_t", "negative_binomial"])
def test_too_few_words(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = rejection_sampling.draw_from_words
    few = lambda *args: begun(*args[:4], args[4] / 3, *args[5:])  # type: ignore[call-arg]  # noqa: E731
    monkeypatch.setattr(rejection_sampling, "draw_from_words", few)
    test_numbers_that_take_words_as_they_need_them(name)


def test_attempts_that_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    shorter = lambda sampler, **new: replace(sampler, max_words=16, **new)  # noqa: E731
    monkeypatch.setattr(mt19937, "replace", shorter)
    for parts in (1 << 28, 2000):
        monkeypatch.setattr(rejection_sampling, "MAX_WORDS", parts)
        tested, reference = pair()
        for g in (tested, reference):
            g.randn(1)
        ASKED.clear()
        alike(tested.negative_binomial(1.5, 0.2, 3000), reference.negative_binomial(1.5, 0.2, 3000))
        assert ASKED
        same_state(tested, reference)


@pytest.mark.parametrize(
    ("name", "params", "factor"),
    [
        *(("random_sample", (), 1), ("standard_gamma", (2.5,), 1), ("permutation", (), 1), ("geometric", (0.9,), 1)),
        *(("randint", (0, 9), 2), ("random_integers", (1, 9), 2), ("choice", (9,), 2), ("triangular", (0, 1, 3), 2)),
    ],
)
def test_draws_slower_than_numpy_and_a_copy_run_through_numpy(
    name: str, params: tuple[Any, ...], factor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_draws, "MIN_COUNT", 1000)
    tested, reference = pair()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for count in (1000 * factor - 1, 1000 * factor):
            ASKED.clear()
            alike(
                getattr(tested, name)(*params, count),
                getattr(reference, name)(*params, count),
                name != "standard_gamma",
            )
            assert bool(ASKED) == (count == 1000 * factor)
    same_state(tested, reference)


def test_nvrtc_compiles_them() -> None:
    rows = Sampler("LegacyGammas", "samplers_legacy", phases=2, max_numbers=4)
    mixed = [plan_of(LEGACY_PLANS, SCRATCH_STATE, "negative_binomial", n, 0.5) for n in (0.5, 2)]
    plan = discrete_plans.multinomial(20, [0.1, 0.2, 0.7], legacy=True)
    for sampler in (
        *(rows, replace(rows, phases=4, max_words=8), Sampler("LegacySmallGammas", "samplers_legacy", width=2)),
        *(Sampler("LegacySmallGammas", "samplers_legacy"), replace(rows, name="LegacyWald", phases=1, max_words=8)),
        *(found[0] for found in (*mixed, plan) if found),
        *(Sampler(name, max_words=32) for name in ("Normal", "Exponential")),
    ):
        counts, words, params = numpy.zeros(4, "i8"), numpy.zeros(9000, "u8"), numpy.zeros(9)
        numbers = numpy.zeros(4000 * sampler.width, sampler.dtype)
        arrays = [numbers, counts, words, params, *[numpy.zeros(640, "u4")] * bool(sampler.phases)]
        layouts, dtypes = [layout_of(x) for x in arrays], [x.dtype for x in arrays]
        program = cuda_rejection_sampling.rejection_sampling(replace(sampler, paired=True).options, layouts, dtypes)
        for arch in ("sm_75", "sm_90", "sm_100") if sampler is rows else ("sm_90",):
            assert compile_cubin(program.text, arch)
