"""The memory of arrays on the host is kept for later ones; without the compiled core, and of small ones, NumPy's is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from numpy._core.multiarray import get_handler_name  # type: ignore[attr-defined]

import gpunumpy as np
from gpunumpy.core._native import IS_COMPILED
from gpunumpy.core.recording.array import memory_on_host
from gpunumpy.kernels.host.threads import quietly

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="the core in Python has NumPy's memory")

LARGE = 100_000
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "a copy": lambda xp, x: xp.array(x),
    "a sum": lambda xp, x: xp.asarray(x) + 1,
    "a comparison": lambda xp, x: xp.asarray(x) > 0.5,
    "a function": lambda xp, x: xp.sort(xp.asarray(x)),
    "several": lambda xp, x: xp.concatenate([xp.asarray(x), xp.asarray(x[::-1])]),
    "zeros of a function": lambda xp, x: xp.zeros_like(xp.asarray(x)),
    "a NumPy array as an operand": lambda xp, x: xp.asarray(x) * x,
}


@pytest.fixture(autouse=True)
def on_host() -> Iterator[None]:
    """Of a GPU's arrays none is on the host that is so large."""
    before = np.set_residence("auto")
    with np.Device("cpu"):
        yield
    np.set_residence(before)


@pytest.mark.parametrize("name", CALLS)
def test_values(name: str) -> None:
    """Whatever the memory had before."""
    for seed in range(4):
        x = numpy.random.default_rng(seed).random(LARGE)
        found = CALLS[name](np, x)
        assert found.residence == "host"
        numpy.testing.assert_array_equal(np.asnumpy(found), CALLS[name](numpy, x))


def test_memory_is_used_again() -> None:
    x = np.asarray(numpy.random.default_rng(1).random(LARGE))
    addresses = set()
    for _ in range(20):
        y = x + 1
        addresses.add(memory_on_host(y).ctypes.data)
        del y
    assert len(addresses) == 1


def test_memory_of_living_arrays_is_their_own() -> None:
    x = np.asarray(numpy.zeros(LARGE))
    arrays = [x + k for k in range(20)]
    parts = [array[k:] for k, array in enumerate(arrays)]
    del arrays
    others = [x - k for k in range(20)]
    for k in range(20):
        assert (np.asnumpy(parts[k]) == k).all()
        assert (np.asnumpy(others[k]) == -k).all()


@pytest.mark.parametrize(("size", "name"), [(1000, "default_allocator"), (LARGE, "gpunumpy")])
def test_only_large_arrays_have_it(size: int, name: str) -> None:
    x = np.asarray(numpy.ones(size))
    assert get_handler_name(memory_on_host(x + 1)) == name
    assert get_handler_name(numpy.ones(size)) == "default_allocator"
    assert get_handler_name() == "default_allocator"


def test_kernels_have_it_for_all_that_they_make() -> None:
    assert quietly(lambda: get_handler_name(numpy.ones(LARGE))) == "gpunumpy"
    assert get_handler_name() == "default_allocator"


def test_an_error_leaves_numpys_memory() -> None:
    x = np.asarray(numpy.ones(LARGE))
    with pytest.raises(numpy.exceptions.AxisError):
        np.sort(x, axis=1)
    with pytest.raises(ValueError, match="could not be broadcast"):
        x + x[1:]
    assert get_handler_name() == "default_allocator"


def test_arrays_that_change_their_size() -> None:
    expected = numpy.arange(float(LARGE))
    memory = memory_on_host(np.asarray(expected) + 0)
    for size in (3, 200_000, 50_000, 400_000, LARGE):
        memory.resize(size, refcheck=False)
        expected.resize(size, refcheck=False)
        numpy.testing.assert_array_equal(memory, expected)
