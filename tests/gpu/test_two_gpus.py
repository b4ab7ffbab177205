"""Arrays of one GPU, with elements wherever they lie, go to another."""

from __future__ import annotations

from collections.abc import Callable
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
