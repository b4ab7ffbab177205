"""Matrix products on a real GPU against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy import products
from gpunumpy.core.array import from_host, ndarray, to_host
from gpunumpy.core.device import Device
from gpunumpy.core.dtypes import bfloat16

pytestmark = pytest.mark.gpu

DTYPES = ("?", "i1", "u2", "i4", "i8", "u8", "f2", "bfloat16", "f4", "f8", "c8", "c16")
TOLERANCE = {"f2": 2e-3, "bfloat16": 2e-2, "f4": 2e-5, "c8": 2e-5}
SHAPES = (
    *(((64, 48), (48, 80)), ((1, 5), (5, 1)), ((48,), (48, 80)), ((64, 48), (48,)), ((7, 3, 5), (5, 4))),
    *(((3, 5), (7, 5, 4)), ((7, 3, 5), (7, 5, 4)), ((6, 1, 3, 5), (7, 5, 4)), ((1000, 33), (33, 257))),
)
WAYS = (
    lambda x: x,
    lambda x: x[..., ::-1],
    lambda x: x[..., ::2],
)


def sample(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    rng = numpy.random.default_rng(seed)
    made = rng.integers(0, 2 if dtype == "?" else 5, shape)
    if dtype.startswith("c"):
        return (made + 1j * rng.integers(-3, 3, shape)).astype(dtype)
    return made.astype(bfloat16 if dtype == "bfloat16" else dtype)


def put(x: Any) -> ndarray:
    return from_host(x, Device("cuda"))


def same(got: ndarray, expected: Any, dtype: str) -> None:
    made = to_host(got)
    assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
    if made.dtype.kind in "biu":
        numpy.testing.assert_array_equal(made, expected)
        return
    wide = numpy.complex128 if made.dtype.kind == "c" else numpy.float64
    numpy.testing.assert_allclose(made.astype(wide), expected.astype(wide), rtol=TOLERANCE.get(dtype, 1e-12))


def product(a: Any, b: Any) -> Any:
    """NumPy's product, bfloat16 by way of float32."""
    if a.dtype == bfloat16:
        return numpy.matmul(a.astype("f4"), b.astype("f4")).astype(bfloat16)
    return numpy.matmul(a, b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_shapes(dtype: str) -> None:
    for left, right in SHAPES:
        a, b = sample(left, dtype, 1), sample(right, dtype, 2)
        same(products.matmul(put(a), put(b)), product(a, b), dtype)


@pytest.mark.parametrize("dtype", ["i4", "f4", "c16"])
def test_operands_are_taken_as_they_lie(dtype: str) -> None:
    a, b = sample((3, 32, 32), dtype, 1), sample((3, 32, 32), dtype, 2)
    x, y = put(a), put(b)
    for one in WAYS:
        for two in WAYS:
            left, right = one(a), two(b.swapaxes(-1, -2)).swapaxes(-1, -2)
            if left.shape[-1] == right.shape[-2]:
                device = products.matmul(one(x), two(y.swapaxes(-1, -2)).swapaxes(-1, -2))
                same(device, product(left, right), dtype)


def test_float32_is_not_rounded_to_tensor_float() -> None:
    a = numpy.random.default_rng(0).random((256, 256)).astype("f4") + 1
    expected = a.astype("f8") @ a.astype("f8")
    made = to_host(products.matmul(put(a), put(a)))
    assert numpy.abs(made / expected - 1).max() < 5e-6


def test_half_sums_are_carried_in_float32() -> None:
    a = numpy.ones((4, 4096), "f2")
    assert to_host(products.matmul(put(a), put(a.T))).tolist() == [[4096.0] * 4] * 4


def test_the_same_bits_every_time() -> None:
    a = put(numpy.random.default_rng(1).random((300, 5000)).astype("f4"))
    first = to_host(products.matmul(a, a.T))
    for _ in range(3):
        assert to_host(products.matmul(a, a.T)).tobytes() == first.tobytes()


def test_pending_operands() -> None:
    a, b = sample((40, 40), "f8", 1), sample((40, 40), "f8", 2)
    x, y = put(a), put(b)
    same(products.matmul(x + y, (x - y).T) * 2, (a + b) @ (a - b).T * 2, "f8")
