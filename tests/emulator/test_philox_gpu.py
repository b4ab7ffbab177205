"""The rows of Philox4x32 in generated kernels, beside the same draws on the CPU device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np

from . import available
from .emulated import emulated

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")


def written(a: Any, where: Any, values: Any) -> Any:
    a[where] = values
    return a


# Alone, in vectors that begin inside of a block or in which lanes skip some, in rows of any length, and in sums.
USES: dict[str, Callable[[Any], Any]] = {
    "float64": lambda g: g.random(1003),
    "float32": lambda g: g.random(1003, "f4"),
    "scaled": lambda g: g.random(1003) * 2 - 1,
    "a window": lambda g: g.random(1003, "f4")[3:777] + 1,
    "every third": lambda g: g.random(1003)[::3] + 1,
    "backwards": lambda g: g.random(1003, "f4")[::-1] + 1,
    "rows": lambda g: g.random((7, 13), "f4") + np.ones((7, 1), "f4"),
    "turned": lambda g: g.random((64, 40), "f4").T + np.ones((40, 64), "f4"),
    "beside another dtype": lambda g: g.random(1003, "f4") + np.ones(1003),
    "of booleans": lambda g: g.random((5, 64)) < 0.5,
    "a sum": lambda g: g.random(5000).sum(),
    "sums of rows": lambda g: g.random((30, 47), "f4").sum(1),
    "sums of columns": lambda g: g.random((30, 48), "f4").sum(0),
    "sums of squares": lambda g: ((g.random(5003) ** 2 + g.random(5003) ** 2) < 1).mean(),
    "a share of a row": lambda g: (lambda x: x / x.sum(1, keepdims=True))(g.random((20, 33), "f4")),
    "a running sum": lambda g: np.cumsum(g.random(3000)),
    "written to a part": lambda g: written(np.zeros(1200, "f4"), slice(4, 1004), g.random(1000, "f4")),
    "written to every second": lambda g: written(
        np.zeros((40, 64)), (slice(None), slice(1, None, 2)), g.random((40, 32))
    ),
    "joined": lambda g: np.concatenate([np.ones(5, "f4"), g.random(1003, "f4"), np.ones(8, "f4"), g.random(40, "f4")]),
    "picked": lambda g: g.random(3000)[np.arange(2999, 0, -7)],
    "repeated": lambda g: g.random(100, "f4")[:, None] + np.arange(3.0),
    "neighbours": lambda g: np.diff(g.random(1003)),
    "normal float64": lambda g: g.standard_normal(1003),
    "normal float32": lambda g: g.standard_normal(1003, "f4"),
    "normal in rows": lambda g: g.normal(np.arange(5.0), 2, (31, 5)),
    "exponential float64": lambda g: g.standard_exponential(1003),
    "exponential float32": lambda g: g.standard_exponential(1003, "f4"),
    "integers": lambda g: g.integers(0, 1000, 1003),
    "integers of three quarters": lambda g: g.integers(-5, 3 * 2**30, 1003),
    "integers of 64 bits": lambda g: g.integers(-(2**62), 2**63 - 1, 1003),
    "all integers": lambda g: g.integers(0, 2**64, 1003, dtype="u8"),
    "bytes": lambda g: g.integers(-128, 128, 1003, dtype="i1"),
    "one": lambda g: g.random((1,)),
    "none": lambda g: g.random((0, 3)),
}


@pytest.mark.parametrize("name", USES)
def test_kernels_and_the_cpu_device_agree(name: str) -> None:
    def drawn() -> list[Any]:
        rng = np.random.default_rng(np.random.PhiloxGPU(len(name)))
        return [np.asnumpy(x) for x in (USES[name](rng), USES[name](rng), rng.random(5))]

    wanted = drawn()
    with emulated():
        got = drawn()
    for tested, reference in zip(got, wanted, strict=True):
        assert tested.dtype == reference.dtype
        exact = tested.dtype.kind in "biu" or name in ("float64", "float32", "one", "none")
        tolerance = 0 if exact else 1e-6 if tested.dtype == "f4" else 1e-14
        numpy.testing.assert_allclose(tested, reference, tolerance, tolerance)
