"""Arrays of one GPU, with elements wherever they lie, go to another."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(len(np.devices()) < 3, reason="needs two GPUs"),
]

N = 300
VIEWS: dict[str, Callable[[Any], Any]] = {
    "all": lambda x: x,
    "some rows": lambda x: x[3:200],
    "every second column": lambda x: x[:, ::2],
    "transposed": lambda x: x.T,
    "backwards": lambda x: x[::-1],
    "pending": lambda x: x + x,
    "broadcast": lambda x: (
        numpy.broadcast_to(x[:1], (N, N)) if isinstance(x, numpy.ndarray) else np.broadcast_to(x[:1], (N, N))
    ),
    "no elements": lambda x: x[:0],
    "an element": lambda x: x[3, 4],
    "bytes": lambda x: x.view("u1"),
    "truth of bytes": lambda x: x.view("u1").view("?"),
    "parts": lambda x: x.imag if x.dtype.kind == "c" else x.real,
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i1", "?"])
@pytest.mark.parametrize("view", VIEWS)
def test_values(view: str, dtype: str) -> None:
    plain = (numpy.arange(N * N).reshape(N, N) % 7).astype(dtype)
    x = np.asarray(plain, device="cuda:0") * np.asarray(plain, device="cuda:0")
    wanted = VIEWS[view](plain * plain)
    for found in (VIEWS[view](x).to_device("cuda:1"), np.asarray(VIEWS[view](x), device="cuda:1")):
        assert str(found.device) == "cuda:1"
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        numpy.testing.assert_array_equal(found.get(), wanted)
        numpy.testing.assert_array_equal((found == found).get(), wanted == wanted)


def test_there_and_back() -> None:
    wanted = numpy.random.default_rng(0).random(1 << 22)
    x = np.asarray(wanted, device="cuda:0")
    for k in range(10):
        x = x.to_device(f"cuda:{(k + 1) % 2}") * 0.5
        wanted = wanted * 0.5
    numpy.testing.assert_array_equal(x.get(), wanted)


# Neighbours' edges go from one GPU to the other in every step, behind kernels over more than they take to copy.
STEPS = """
import gpunumpy as np

parts = [np.ones((2048, 2048), "f4", device=device) * (k + 1) for k, device in enumerate(np.devices()[:2])]
for _ in range(20):
    edges = [x[:, :1].copy() for x in parts]
    parts = [x + edges[1 - k].to_device(x.device) for k, x in enumerate(parts)]
assert all(bool((x == 3 * 2**19).all()) for x in parts), parts
"""


def test_a_later_process_launches_on_the_gpu_of_the_arrays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the process before it has left on disk serves both GPUs."""
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
