"""`RandomState` through the kernels of a GPU, against NumPy's: what takes as many words as it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.kernels import cuda_bounded, cuda_sequence, cuda_twister, host_calls
from gpunumpy.random import method, twister
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
