"""Matrix products on a real GPU, compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.dtypes import bfloat16
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.schedule.steps import RunKernel
from tests.core.fusion.counting import kernels

from ..support.arrays import from_host, ndarray, to_host

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
        same(np.matmul(put(a), put(b)), product(a, b), dtype)


@pytest.mark.parametrize("dtype", ["i4", "f4", "c16"])
def test_operands_are_taken_as_they_lie(dtype: str) -> None:
    a, b = sample((3, 32, 32), dtype, 1), sample((3, 32, 32), dtype, 2)
    x, y = put(a), put(b)
    for one in WAYS:
        for two in WAYS:
            left, right = one(a), two(b.swapaxes(-1, -2)).swapaxes(-1, -2)
            if left.shape[-1] == right.shape[-2]:
                device = np.matmul(one(x), two(y.swapaxes(-1, -2)).swapaxes(-1, -2))
                same(device, product(left, right), dtype)


def test_float32_is_not_rounded_to_tensor_float() -> None:
    a = numpy.random.default_rng(0).random((256, 256)).astype("f4") + 1
    expected = a.astype("f8") @ a.astype("f8")
    made = to_host(np.matmul(put(a), put(a)))
    assert numpy.abs(made / expected - 1).max() < 5e-6


def test_half_sums_are_carried_in_float32() -> None:
    a = numpy.ones((4, 4096), "f2")
    assert to_host(np.matmul(put(a), put(a.T))).tolist() == [[4096.0] * 4] * 4


def test_the_same_bits_every_time() -> None:
    a = put(numpy.random.default_rng(1).random((300, 5000)).astype("f4"))
    first = to_host(np.matmul(a, a.T))
    for _ in range(3):
        assert to_host(np.matmul(a, a.T)).tobytes() == first.tobytes()


def test_pending_operands() -> None:
    a, b = sample((40, 40), "f8", 1), sample((40, 40), "f8", 2)
    x, y = put(a), put(b)
    same(np.matmul(x + y, (x - y).T) * 2, (a + b) @ (a - b).T * 2, "f8")


FLOATS = ("f2", "bfloat16", "f4", "f8", "c8", "c16")


def wide(x: Any) -> Any:
    return x.astype("c16" if x.dtype.kind == "c" else "f8")


def close(got: ndarray, expected: Any, dtype: str) -> None:
    """Against the result in double precision."""
    made = to_host(got)
    assert made.shape == expected.shape
    numpy.testing.assert_allclose(wide(made), expected, rtol=TOLERANCE.get(dtype, 1e-12), atol=1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
def test_what_follows_a_product(dtype: str) -> None:
    # Small ones by a kernel of the package, the others by cuBLASLt.
    small = ((64, 32, 48), (33, 17, 5), (1, 40, 64), (64, 40, 1))
    for rows, inner, columns in (
        *small,
        (257, 100, 1000),
        (300, 90, 257),
        (1024, 64, 512),
        (1, 300, 999),
        (999, 300, 1),
    ):
        a, b = sample((rows, inner), dtype, 1), sample((inner, columns), dtype, 2)
        bias, residual = sample((columns,), dtype, 3), sample((rows, columns), dtype, 4)
        x, y, v, r = map(put, (a, b, bias, residual))
        ab, bias, residual = wide(a) @ wide(b), wide(bias), wide(residual)
        close(x @ y + v, ab + bias, dtype)
        close(x @ y + r, ab + residual, dtype)
        close(x @ y * 2, ab * 2, dtype)
        close(x @ y * 0, ab * 0, dtype)
        close(x @ y * 2 + r + v, ab * 2 + residual + bias, dtype)
        close(x @ y / 4 + v, ab / 4 + bias, dtype)
        close(x @ y / 3, ab / 3, dtype)
        close(x @ y * 2 - r, ab * 2 - residual, dtype)
        close(r - x @ y, residual - ab, dtype)
        if "c" not in dtype:
            for bound in (0, 30):
                close(np.maximum(x @ y, bound), numpy.maximum(ab, bound), dtype)
                close(np.maximum(x @ y + v, bound), numpy.maximum(ab + bias, bound), dtype)
                close(np.maximum(x @ y * -1 + v, bound), numpy.maximum(bias - ab, bound), dtype)


@pytest.mark.parametrize("dtype", ["f2", "bfloat16", "f4", "f8"])
def test_not_numbers_stay_after_a_product(dtype: str) -> None:
    for rows, inner, columns in ((64, 64, 64), (33, 17, 5), (1000, 1000, 1000), (4096, 128, 256), (512, 8192, 512)):
        a, b = sample((rows, inner), dtype, 1), sample((inner, columns), dtype, 2)
        a[1, 1] = numpy.nan
        x, y, v = put(a), put(b), put(sample((columns,), dtype, 3))
        for make in (
            lambda x, y, v: np.maximum(x @ y, 0),
            lambda x, y, v: np.maximum(x @ y + v, 0),
            lambda x, y, v: np.maximum(x @ y, 2),
            lambda x, y, v: x @ y * 0,
        ):
            made = to_host(make(x, y, v))
            assert numpy.isnan(made[1]).all(), (rows, inner, columns)
            assert not numpy.isnan(made[2]).any(), (rows, inner, columns)


def test_stacks_with_what_follows() -> None:
    a, b, bias = sample((6, 1, 30, 20), "f4", 1), sample((5, 20, 24), "f4", 2), sample((24,), "f4", 3)
    x, y, v = map(put, (a, b, bias))
    close(np.maximum(x @ y * 2 + v, 50), numpy.maximum(wide(a) @ wide(b) * 2 + bias, 50), "f4")
    residual = sample((6, 5, 30, 24), "f4", 4)
    close(x @ y + put(residual), wide(a) @ wide(b) + residual, "f4")


@pytest.mark.parametrize("dtype", FLOATS)
def test_operands_that_begin_anywhere(dtype: str) -> None:
    flat = sample((200_000,), dtype, 1)
    x = put(flat)
    for start, side in ((1, 40), (2, 40), (1, 300), (2, 300), (3, 300), (8, 300)):
        size = side * side
        a, b = flat[start:][:size].reshape(side, side), flat[start + size + 100 :][:size].reshape(side, side)
        p, q = x[start:][:size].reshape(side, side), x[start + size + 100 :][:size].reshape(side, side)
        close(p @ q, wide(a) @ wide(b), dtype)
        for first in (0, 1, 8):
            close(p @ q + x[first : first + side], wide(a) @ wide(b) + wide(flat[first : first + side]), dtype)
            residual, tested = (v[first : first + size].reshape(side, side) for v in (flat, x))
            close(p @ q - tested, wide(a) @ wide(b) - wide(residual), dtype)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_conjugated_operands(dtype: str) -> None:
    a, b = sample((400, 300), dtype, 1), sample((400, 200), dtype, 2)
    x, y = put(a), put(b)
    close(x.conj().T @ y, wide(a).conj().T @ wide(b), dtype)
    close(y.T @ x.conj(), wide(b).T @ wide(a).conj(), dtype)
    close(x.T.conj() @ y.conj(), wide(a).conj().T @ wide(b).conj(), dtype)
    close(np.vecmat(x[:, 3], y), wide(a)[:, 3].conj() @ wide(b), dtype)
    close(np.vecmat(x[0], x.T), wide(a)[0].conj() @ wide(a).T, dtype)


def test_precisions() -> None:
    rng = numpy.random.default_rng(0)
    a, b = rng.standard_normal((2, 512, 512))
    exact = a @ b

    def error(name: str, dtype: str) -> float:
        with np.linalg.matmul_precision(name):
            product = put(a.astype(dtype)) @ put(b.astype(dtype))
        return float(numpy.abs(to_host(product) - exact).max() / numpy.abs(exact).max())

    assert error("highest", "f4") < 2e-6
    assert 2e-5 < error("high", "f4") < 2e-3
    assert 2e-5 < error("medium", "f4") < 2e-2
    assert error("emulated", "f4") < 2e-6
    for name in ("highest", "high", "medium", "emulated"):
        assert error(name, "f8") < 1e-14


def test_a_large_matrix_times_a_vector() -> None:
    rng = numpy.random.default_rng(0)
    a, x = rng.random((4096, 1 << 14), "f4") - numpy.float32(0.5), rng.standard_normal(1 << 14, "f4")
    expected = wide(a) @ wide(x)
    tested, vector = put(a), put(x)
    (step,) = kernels(lambda: tested @ vector)
    assert isinstance(step, RunKernel)
    numpy.testing.assert_allclose(to_host(tested @ vector), expected, atol=1e-4 * abs(expected).max())
    numpy.testing.assert_allclose(
        to_host(vector[:4096] - tested @ vector), x[:4096] - expected, atol=1e-4 * abs(expected).max()
    )
