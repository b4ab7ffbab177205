"""Gathers of the CPU device: written at once where they go, in as few passes as there are, beside NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.kernels.host import gathers

from ..support.arrays import to_host

# What is picked of a vector, a matrix and indices of both signs; `n` is the vector's length.
CASES: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "a vector": lambda np, x, m, i: x[i],
    "a part": lambda np, x, m, i: x[5:][i[: len(i) // 2] // 2],
    "every other": lambda np, x, m, i: x[::2][i // 2],
    "from the end": lambda np, x, m, i: x[::-1][i],
    "a chain": lambda np, x, m, i: x[i] * 2 + x[i // 2],
    "what is picked, and more": lambda np, x, m, i: np.stack([x[i], x[i] + 1, x]),
    "indices that are computed": lambda np, x, m, i: x[(i * 3) % 7],
    "indices that are picked": lambda np, x, m, i: x[i[i]],
    "columns": lambda np, x, m, i: m[:, i[:40] % 20],
    "columns of parts of rows": lambda np, x, m, i: m[3:, 2:19][::2, i[:40] % 17],
    "columns from the end": lambda np, x, m, i: m[::-1, ::-1][:, i[:40] % 20],
    "columns of another order": lambda np, x, m, i: m.T[:, -1 - i[:40] % 20],
    "columns and rows from the end": lambda np, x, m, i: m[np.arange(19, -1, -1)[:, None], i[:40] % 20],
    "columns of a broadcast matrix": lambda np, x, m, i: np.broadcast_to(m[0], (9, 20))[:, i[:40] % 20],
    "many columns": lambda np, x, m, i: np.tile(m, (30, 1))[:, i[:2000] % 20],
    "rows": lambda np, x, m, i: m[i[:40] % 20],
    "many rows": lambda np, x, m, i: np.concatenate([m, m[::-1]], 1)[i % 20],
    "rows of matrices": lambda np, x, m, i: x[:400].reshape(2, 4, 50)[i[:80] % 2],
    "parts of rows": lambda np, x, m, i: m[:, 2:19][i[:40] % 20],
    "every other row": lambda np, x, m, i: m[::2][i[:40] % 10],
    "rows of several, and sums": lambda np, x, m, i: m[i[:40] % 20] + m[i[40:80] % 20],
    "rows into columns": lambda np, x, m, i: np.stack([m[i[:40] % 20], m[i[40:80] % 20]], -1),
    "elements": lambda np, x, m, i: m[i[:40] % 20, i[40:80] % 20],
    "a grid": lambda np, x, m, i: m[(i[:8] % 20)[:, None], i[8:14] % 20],
    "of a transposed matrix": lambda np, x, m, i: m.T[i[:9] % 20, 1:],
    "along an axis": lambda np, x, m, i: np.take_along_axis(m, i[:400].reshape(20, 20) % 20, 1),
    "into another order": lambda np, x, m, i: m[:, i[:40] % 20].T + 1,
    "one element": lambda np, x, m, i: x[i[:1]],
    "a sum": lambda np, x, m, i: x[i].sum() + m[:, i[:40] % 20].sum(1)[3],
}


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16"])
@pytest.mark.parametrize("n", [400, 300_000])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, n: int, dtype: str) -> None:
    rng = numpy.random.default_rng(1)
    x, m = rng.integers(0, 100, n).astype(dtype), rng.integers(0, 100, (20, 20)).astype(dtype)
    i = rng.integers(-n, n, n)
    with gpunumpy.Device("cpu"):
        found = CASES[name](gpunumpy, *map(gpunumpy.asarray, (x, m, i)))
    expected = CASES[name](numpy, x, m, i)
    assert found.dtype == expected.dtype
    numpy.testing.assert_array_equal(to_host(found), expected)


@pytest.mark.parametrize("n", [50, 300_000])
def test_what_is_picked_of_itself(n: int) -> None:
    rng = numpy.random.default_rng(2)
    data, i = rng.random(n), rng.integers(-n, n, n)
    x, index = gpunumpy.asarray(data, device="cpu"), gpunumpy.asarray(i, device="cpu")
    whole = x[:]
    x[:] = x[index]
    numpy.testing.assert_array_equal(to_host(whole), data[i])
    index[:] = index[index]
    numpy.testing.assert_array_equal(to_host(index), i[i])


@pytest.mark.parametrize("wrong", [-7, 6])
@pytest.mark.parametrize("start", [0, 3])
def test_an_index_out_of_bounds(start: int, wrong: int) -> None:
    x = gpunumpy.arange(start + 6.0, device="cpu")[start:]
    picked = x[gpunumpy.asarray([0, wrong, 2], device="cpu")]
    with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis with size 6"):
        to_host(picked)


def test_columns_are_picked_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the position of every element."""
    matrix = numpy.arange(60_000.0).reshape(300, 200)
    i = numpy.random.default_rng(3).integers(-200, 200, 150)
    x, index = gpunumpy.asarray(matrix, device="cpu"), gpunumpy.asarray(i, device="cpu")
    before = gpunumpy.set_residence("device")
    x, index = x + 0, index + 0
    monkeypatch.setattr(gathers, "_positions", None)
    try:
        for found in (gpunumpy.take(x, index, 1), x[:, index]):
            numpy.testing.assert_array_equal(to_host(found), matrix[:, i])
    finally:
        gpunumpy.set_residence(before)


@pytest.mark.parametrize("wrong", [-21, 20])
def test_a_column_out_of_bounds(wrong: int) -> None:
    picked = gpunumpy.ones((9, 20), device="cpu")[:, gpunumpy.asarray([0, wrong, 2] * 9, device="cpu")]
    with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis"):
        to_host(picked)
