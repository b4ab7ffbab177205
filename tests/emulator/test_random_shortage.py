"""Draws that there is no memory for: an error, and the stream stays where it was."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import memory
from gpunumpy.random import device_draws
from tests.support.host_executor import run_on_host, with_traits

from ..support.arrays import to_host
from .random_library_calls import LIBRARY_CALLS

LARGE = 10**8  # numbers, for which the memory does not suffice here
DRAWS: dict[str, Any] = {
    "standard_normal": lambda g: g.standard_normal(LARGE),
    "standard_exponential": lambda g: g.standard_exponential(LARGE),
    "gamma": lambda g: g.gamma(2.5, size=LARGE),
    "poisson": lambda g: g.poisson(30.0, LARGE),
}


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(device_draws, "MIN_COUNT", 100)
    with_traits(monkeypatch, draws_faster_than_numpy=True)
    for name, function in LIBRARY_CALLS.items():
        run_on_host(monkeypatch, name, function)
    with np.Device("cpu"):
        memory.set_memory_limit(memory.memory_info().used + (1 << 26))
        yield
        memory.set_memory_limit(None)


def alike(tested: Any, reference: Any) -> None:
    numpy.testing.assert_allclose(to_host(tested), reference, rtol=1e-12)


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
def test_the_stream_goes_on(kind: str, name: str, shared: bool) -> None:
    tested, reference = (getattr(lib.random, kind)(5) for lib in (np, numpy))
    tested._stream.shared = shared
    for _ in range(2):
        alike(tested.standard_normal(500), reference.standard_normal(500))
        with pytest.raises(MemoryError):
            DRAWS[name](tested).computed()
        if not shared and name.startswith("standard"):
            with pytest.raises(MemoryError):  # of the draw that comes before, which NumPy would have refused at once
                tested.uniform(size=3)
        alike(tested.uniform(size=3), reference.uniform(size=3))
        alike(tested.standard_normal(500), reference.standard_normal(500))


def test_an_error_keeps_no_numbers() -> None:
    """Else they would be drawn by a later flush for which there is memory."""
    numbers = np.random.default_rng(5).standard_normal(LARGE)
    alive = weakref.ref(numbers)
    gc.disable()
    try:
        with pytest.raises(MemoryError):
            numbers.computed()
        del numbers
        assert alive() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
def test_draws_after_one_that_nobody_asked_for(kind: str) -> None:
    tested, reference = (getattr(lib.random, kind)(5) for lib in (np, numpy))
    tested._stream.shared = False
    alike(tested.standard_normal(500), reference.standard_normal(500))
    tested.standard_normal(LARGE)
    with pytest.raises(MemoryError):
        tested.standard_normal(500).computed()
    if kind == "RandomState":
        with pytest.raises(MemoryError):
            tested.seed(3)
    alike(tested.standard_normal(500), reference.standard_normal(500))


def test_functions_of_the_module() -> None:
    np.random.seed(3)
    with pytest.raises(MemoryError):
        np.random.randn(LARGE)
    alike(np.random.rand(3), numpy.random.RandomState(3).rand(3))


@pytest.mark.parametrize("size", [10**30, 1 << 62, (1 << 40, 1 << 40)])
@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
def test_sizes_beyond_all_memory(kind: str, name: str, size: Any) -> None:
    texts = []
    for lib in (np, numpy):
        rng = getattr(lib.random, kind)(5)
        args = {"gamma": (2.5,), "poisson": (30.0,)}.get(name, ())
        with pytest.raises((ValueError, MemoryError)) as caught:
            getattr(rng, name)(*args, size=size)
        texts.append((caught.type, str(caught.value)))
    assert texts[0] == texts[1]
