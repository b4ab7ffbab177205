"""Continuous distributions with parameters on a device: NumPy's numbers, and NumPy's state after them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.array import to_host
from gpunumpy.core.device import Device
from gpunumpy.kernels import host_calls
from gpunumpy.random import method, sequence

from ..emulator.test_sequence import emulated

BITS = ("PCG64", "PCG64DXSM", "Philox")


@pytest.fixture(autouse=True)
def on_the_device(device: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """All numbers are drawn on the device, and those of the CPU on the emulated machine."""
    monkeypatch.setattr(method, "MANY", 1)
    monkeypatch.setattr(method, "KINDS", {"cpu", "cuda"})
    monkeypatch.setitem(host_calls.CALLS, "stream_sequence", emulated)
    attempted = sequence.attempted
    counted: list[int] = []

    def count(ahead: Any, sampler: Any, params: Any, count: int, *rest: Any) -> Any:
        counted.append(count)
        return attempted(ahead, sampler, params, count, *rest)

    monkeypatch.setattr(sequence, "attempted", count)
    with Device(device):
        yield counted


def pair(bits: str, seed: int = 1) -> tuple[Any, Any]:
    return tuple(n.random.Generator(getattr(n.random, bits)(seed)) for n in (np, numpy))


def alike(mine: Any, theirs: Any) -> None:
    got = to_host(mine)
    assert got.dtype == theirs.dtype
    assert got.shape == theirs.shape
    # What is near 0 may be a difference of larger numbers.
    numpy.testing.assert_allclose(got, theirs, rtol=2e-6 if got.dtype == "f" else 4e-14, atol=1e-15)


def same_state(mine: Any, theirs: Any) -> None:
    assert repr(mine.bit_generator.state) == repr(theirs.bit_generator.state)


def _gamma(shape: float, dtype: str) -> Callable[[Any, Any], Any]:
    return lambda g, size: g.standard_gamma(shape, size, dtype)


COVARIANCE = numpy.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])
DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        f"standard gamma {shape} {dtype}": _gamma(shape, dtype)
        for shape in (0.01, 0.7, 1, 1.25, 20)
        for dtype in ("f8", "f4")
    },
    "gamma": lambda g, size: g.gamma(2.5, 3, size),
    "gamma of a small shape": lambda g, size: g.gamma(0.4, 1e-3, size),
    "chi-square": lambda g, size: g.chisquare(5, size),
    "chi-square of an integer of 1": lambda g, size: g.chisquare(numpy.int8(1), size),
    "beta": lambda g, size: g.beta(2, 0.5, size),
    "beta of ones": lambda g, size: g.beta(1, 1.0, size),
    "beta of halves": lambda g, size: g.beta(0.5, 0.25, size),
    "beta of little": lambda g, size: g.beta(1e-3, 2e-3, size),
    "f": lambda g, size: g.f(3, 8, size),
    "noncentral f": lambda g, size: g.noncentral_f(3, 8, 1.5, size),
    "noncentral f of a centre": lambda g, size: g.noncentral_f(3, 8, 0, size),
    "noncentral chi-square": lambda g, size: g.noncentral_chisquare(4.5, 2, size),
    "noncentral chi-square of a centre": lambda g, size: g.noncentral_chisquare(4.5, 0, size),
    "t": lambda g, size: g.standard_t(6, size),
    "t of few": lambda g, size: g.standard_t(0.8, size),
    "wald": lambda g, size: g.wald(3, 2, size),
    "wald far out": lambda g, size: g.wald(1e3, 1e-2, size),
    "angles": lambda g, size: g.vonmises(0.5, 4, size),
    "angles all around": lambda g, size: g.vonmises(-2, 3e-6, size),
    "angles close by": lambda g, size: g.vonmises(3, 1e5, size),
    "shares": lambda g, size: g.dirichlet([3, 0.5, 1], size),
    "many shares": lambda g, size: g.dirichlet(numpy.arange(12) / 4, size),
    "shares with none": lambda g, size: g.dirichlet([0, 2.0], size),
    "vectors": lambda g, size: g.multivariate_normal([1, 2, 3], COVARIANCE, size),
    "vectors by eigenvalues": lambda g, size: g.multivariate_normal(numpy.zeros(3), COVARIANCE, size, method="eigh"),
    "vectors by a factor": lambda g, size: g.multivariate_normal(numpy.zeros(3), COVARIANCE, size, method="cholesky"),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("bits", BITS)
def test_draws(bits: str, name: str, on_the_device: list[int]) -> None:
    mine, theirs = pair(bits)
    for size in (1, 7, 300, (33, 64)):
        alike(DRAWS[name](mine, size), DRAWS[name](theirs, size))
        same_state(mine, theirs)
    assert len(on_the_device) == (0 if "vectors" in name else 4)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("seed", range(4))
def test_draws_after_one_another(bits: str, seed: int) -> None:
    order = numpy.random.default_rng(seed)
    mine, theirs = pair(bits, seed)
    names = list(DRAWS)
    for _ in range(10):
        name, size = names[order.integers(len(names))], int(order.integers(1, 400))
        alike(DRAWS[name](mine, size), DRAWS[name](theirs, size))
        if not order.integers(3):
            alike(mine.random(5, "f4"), theirs.random(5, "f4"))
        if not order.integers(3):
            alike(mine.standard_normal(100), theirs.standard_normal(100))
    same_state(mine, theirs)
