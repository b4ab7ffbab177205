"""`where` on the CPU device: NumPy's values, by bits where the mask is in no order."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy
from gpunumpy.kernels.host import selection

from ..support.arrays import to_host

DTYPES = ("?", "i1", "u2", "f2", ml_dtypes.bfloat16, "f4", "i8", "f8", "c8", "c16")
COUNT = 100_003  # no multiple of a part
MASKS = {
    "random": numpy.random.default_rng(1).random(COUNT) < 0.5,
    "every other": numpy.arange(COUNT) % 2 == 0,
    "one half": numpy.arange(COUNT) < COUNT // 2,
    "none": numpy.zeros(COUNT, bool),
    "most": numpy.arange(COUNT) % 1000 > 9,
}


def elements(dtype: Any, seed: int) -> Any:
    """Elements of which some are NaN, where there is one, and some negative zeros."""
    rng = numpy.random.default_rng(seed)
    data = rng.integers(0, 100, COUNT).astype(dtype)
    if data.dtype.kind in "fcV":
        data[::7], data[::5] = numpy.nan, data[::5] * 0 * -1
    return data


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_bits_are_numpys(dtype: Any, mask: str) -> None:
    x, y = elements(dtype, 2), elements(dtype, 3)
    for operands in ((x, y), (x[3], y), (x, y[3:4]), (x[::-1], y), (numpy.array(x[1]), y[5])):
        out = numpy.empty(COUNT, x.dtype)
        assert selection.where(MASKS[mask], *operands, out=out) is out
        assert out.tobytes() == numpy.where(MASKS[mask], *operands).tobytes()


@pytest.mark.parametrize(("mask", "count"), [("random", 1), ("every other", 1), ("one half", 0), ("none", 0)])
def test_only_a_mask_in_no_order_is_taken_by_bits(mask: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    by_bits = selection._by_bits
    monkeypatch.setattr(selection, "_by_bits", lambda *args: (calls.append(args), by_bits(*args)))
    x, y = elements("f4", 2), elements("f4", 3)
    selection.where(MASKS[mask], x, y, numpy.empty_like(x))
    assert len(calls) == count


def test_masks_and_operands_that_are_not_dense() -> None:
    """They are left to NumPy."""
    matrix = elements("f4", 2)[: 300 * 300].reshape(300, 300)
    mask, out = MASKS["random"][: 300 * 300].reshape(300, 300), numpy.empty_like(matrix)
    for condition, x, y in (
        (mask.T, matrix, -matrix),
        (mask, matrix.T, -matrix),
        (mask[0], matrix, -matrix),
        (mask, matrix[0], matrix[:, :1]),
    ):
        selection.where(condition, x, y, out)
        assert out.tobytes() == numpy.where(condition, x, y).tobytes()


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16"])
def test_elements_of_a_mask(dtype: str, mask: str) -> None:
    data = elements(dtype, 2)
    found = gpunumpy.asarray(data, device="cpu")[gpunumpy.asarray(MASKS[mask], device="cpu")]
    assert to_host(found).tobytes() == data[MASKS[mask]].tobytes()


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16"])
def test_writes_by_a_mask(dtype: str) -> None:
    """Also into a part, over the elements that it reads."""
    mask = MASKS["random"]
    for write in (
        lambda np, a, m: a.__setitem__(m, 1),
        lambda np, a, m: np.putmask(a, m, a[::-1].copy()),
        lambda np, a, m: np.putmask(a, m, a[::-1]),
        lambda np, a, m: np.copyto(a, a[7], where=m),
        lambda np, a, m: a[5:].__setitem__(Ellipsis, np.where(m[5:], a[:-5], a[5:])),
    ):
        data = elements(dtype, 4)
        array = gpunumpy.asarray(data, device="cpu")
        write(gpunumpy, array, gpunumpy.asarray(mask, device="cpu"))
        write(numpy, data, mask)
        assert to_host(array).tobytes() == data.tobytes()
