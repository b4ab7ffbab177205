"""Products of float8 by cuBLASLt: large ones, and the same bits every time."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.dtypes import float8_e4m3fn, float8_e5m2

from ..support.arrays import to_host

pytestmark = pytest.mark.gpu


def operands(m: int, k: int, n: int, right: Any = float8_e4m3fn) -> tuple[Any, Any]:
    rng = numpy.random.default_rng(m)
    return rng.normal(0, 2, (m, k)).astype(float8_e4m3fn), rng.normal(0, 2, (n, k)).astype(right)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("right", [float8_e4m3fn, float8_e5m2], ids=str)
@pytest.mark.parametrize("shape", [(1, 16, 16), (2048, 4096, 1024), (4099, 512, 8192)])
def test_errors(shape: tuple[int, int, int], right: Any, fast: bool) -> None:
    a, w = operands(*shape, right)
    wide = a.astype("f8"), w.astype("f8").T
    want, size = wide[0] @ wide[1], abs(wide[0]) @ abs(wide[1])
    with np.Device("cuda:0"):
        x, y = np.asarray(a), np.asarray(w).T
        got = [
            to_host(np.linalg.scaled_matmul(x, y, 0.5, 4.0, out_dtype="float32", fast_accumulation=fast))
            for _ in range(3)
        ]
    assert all(other.tobytes() == got[0].tobytes() for other in got)
    assert (abs(got[0] - 2 * want) <= 2 * 2.0 ** (-8 if fast else -11) * size).all()


def test_scales_of_rows_and_what_follows() -> None:
    a, w = operands(512, 512, 512)
    rows = numpy.linspace(1, 2, 512, dtype="f4")[:, None]
    with np.Device("cuda:0"):
        x, y, scale = np.asarray(a), np.asarray(w).T, np.asarray(rows)
        got = to_host(np.maximum(np.linalg.scaled_matmul(x, y, scale, 0.5, out_dtype="float32") + 1, 0))
    wide = a.astype("f8") * rows, w.astype("f8").T * 0.5
    want, size = wide[0] @ wide[1], abs(wide[0]) @ abs(wide[1])
    assert (abs(got - numpy.maximum(want + 1, 0)) <= 2.0**-11 * size).all()


@pytest.mark.parametrize("kinds", [("vectors", "vectors"), ("vectors", "blocks"), ("blocks", "vectors")])
@pytest.mark.parametrize("shape", [(4, 128, 16), (2048, 4096, 1024), (4100, 560, 8192)])
def test_scales_of_blocks(shape: tuple[int, int, int], kinds: tuple[str, str]) -> None:
    if np.Device("cuda:0").attributes.capability != (9, 0):
        pytest.skip("scales of blocks need compute capability 9.0")
    m, k, n = shape
    a, w = operands(m, k, n)
    rng = numpy.random.default_rng(1)
    scales, wide = [], []
    for x, kind in zip((a, w), kinds, strict=True):
        rows = len(x) if kind == "vectors" else -(-len(x) // 128)
        scale = rng.uniform(0.5, 2, (rows, -(-k // 128))).astype("f4")
        scales.append(scale)
        each = scale if kind == "vectors" else numpy.repeat(scale, 128, axis=0)[: len(x)]
        wide.append(x.astype("f8") * numpy.repeat(each, 128, axis=1)[:, :k])
    want, size = wide[0] @ wide[1].T, abs(wide[0]) @ abs(wide[1]).T
    with np.Device("cuda:0"):
        x, y = np.asarray(a), np.asarray(w).T
        made = np.linalg.scaled_matmul(x, y, np.asarray(scales[0]), np.asarray(scales[1]).T, out_dtype="float32")
        got = to_host(made)
    assert (abs(got - want) <= 2.0**-11 * size).all()
