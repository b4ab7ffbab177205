"""Programs all of whose arrays are small ask nothing of a GPU that is named: its driver makes no context."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime.evaluate import queue_of

from ..support import fake_driver

# What makes a context, and what follows.
CONTEXT_CALLS = {"cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuStreamCreate"}
PROGRAM = """
a = np.linspace(0, 1, 50)
m = np.outer(a[:8], a[:8]) + np.eye(8)
x = np.linalg.solve(m, a[:8])
assert float(abs(m @ x - a[:8]).max()) < 1e-9
a[3] = a[4:].mean()
a[a > 0.5] *= 2
b = np.sort(np.concatenate([a, np.random.default_rng(0).normal(size=5)]))
assert bool((np.diff(b) >= 0).all())
assert np.fft.ifft(np.fft.fft(b)).shape == b.shape == (55,)
assert "e" in str(np.sqrt(b[-1])) + f"{b.std():.1e}"
assert np.histogram(b, 5)[0].sum() == sum(1 for _ in b)
assert np.default_device().kind == "cuda"
"""


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[fake_driver.FakeDriver]:
    """A GPU that is not there is named as the default device, and small arrays are on the host."""
    before = np.set_residence("auto")
    found = fake_driver.install(monkeypatch)
    monkeypatch.setenv("GPUNUMPY_DEVICE", "cuda:0")
    yield found
    np.set_residence(before)


def test_small_programs_make_no_context(driver: fake_driver.FakeDriver) -> None:
    exec(PROGRAM, {"np": np})
    assert not CONTEXT_CALLS & {*driver.calls}


def test_small_arrays_on_the_device_need_a_context(driver: fake_driver.FakeDriver) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    np.set_residence("device")
    np.ones(2).computed()
    assert {*driver.calls} >= CONTEXT_CALLS


def test_large_arrays_need_a_context(driver: fake_driver.FakeDriver) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    np.ones(1 << 20).computed()
    assert {*driver.calls} >= CONTEXT_CALLS


@pytest.mark.gpu
@pytest.mark.parametrize("residence", ["auto", "device"])
def test_the_driver_tells_of_no_context(residence: str) -> None:
    look = """
from cuda.bindings import driver
error, flags, is_active = driver.cuDevicePrimaryCtxGetState(driver.cuDeviceGet(0)[1])
print(int(error), is_active)
"""
    run = subprocess.run(
        [sys.executable, "-c", "import gpunumpy as np" + PROGRAM + look],
        env={**os.environ, "GPUNUMPY_RESIDENCE": residence, "GPUNUMPY_DEVICE": "cuda:0"},
        capture_output=True,
        text=True,
    )
    assert run.stdout.split() == ["0", str(int(residence == "device"))], run.stderr


SQUARES: dict[str, Callable[[Any, int], Any]] = {
    "eye": lambda xp, n: xp.eye(n),
    "eye with options": lambda xp, n: xp.eye(N=n, M=n - 1, k=1, dtype="f4"),
    "identity": lambda xp, n: xp.identity(n),
    "tri": lambda xp, n: xp.tri(n, k=-1),
    "diag": lambda xp, n: xp.diag(xp.arange(n - 1), 1),
    "diagflat": lambda xp, n: xp.diagflat(xp.arange(n)),
}


@pytest.mark.parametrize("name", SQUARES)
def test_squares_are_on_the_host_if_they_are_small(name: str) -> None:
    np.set_residence("auto")
    make = SQUARES[name]
    assert make(np, 50).residence == "host"
    assert np.diag(np.ones((50, 50)), 1).residence == "host"
    queue = queue_of(np.default_device())
    np.synchronize()
    large = make(np, 600)
    assert len(queue.pending) > 0  # NumPy has not made it
    numpy.testing.assert_array_equal(np.asnumpy(large), make(numpy, 600))
