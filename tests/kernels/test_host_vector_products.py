"""Products of vectors on the CPU device: NumPy's where vectors are in memory, and one kernel with what makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.schedule.steps import RunLibraryCall

from ..core.fusion.counting import kernels
from ..support.arrays import to_host

# What is computed of two matrices of one shape, and how many library calls it takes.
CASES: dict[str, tuple[Callable[[Any, Any, Any], Any], int]] = {
    "dot": (lambda np, a, b: np.dot(a[0], b[1]), 1),
    "an operator": (lambda np, a, b: a[0] @ b[1], 1),
    "inner": (lambda np, a, b: np.inner(a[0], b[1]), 1),
    "vdot": (lambda np, a, b: np.vdot(a[2], b[1]), 1),
    "vdot of matrices": (lambda np, a, b: np.vdot(a, b), 0),
    "vdot of one": (lambda np, a, b: np.vdot(a[3], a[3]), 1),
    "tensordot": (lambda np, a, b: np.tensordot(a, b), 1),
    "vecdot": (lambda np, a, b: np.vecdot(a, b), 1),
    "vecdot of some": (lambda np, a, b: np.vecdot(a[::2, 3:30], b[1::2, 2:29]), 1),
    "rows": (lambda np, a, b: np.einsum("ij,ij->i", a, b), 1),
    "what follows": (lambda np, a, b: np.dot(a[0], b[1]) / 2, 1),
    "short rows": (lambda np, a, b: np.vecdot(a[:, :9], b[:, :9]), 0),
    "every other": (lambda np, a, b: np.dot(a[0, ::2], b[1, ::2]), 0),
    "columns": (lambda np, a, b: np.einsum("ij,ij->j", a, b), 0),
    "a sum before": (lambda np, a, b: np.dot(a[0] + b[0], b[1]), 0),
    "a conjugate of a sum": (lambda np, a, b: np.vdot(a + 1, b), 0),
    "a sum of products": (lambda np, a, b: (a[0] * b[1]).sum(), 0),
}


def sample(dtype: str) -> tuple[Any, Any]:
    rng = numpy.random.default_rng(4)
    parts = rng.integers(-5, 5, (2, 2, 40, 64))
    first, second = (parts[0] + 1j * parts[1] if dtype in ("c8", "c16") else abs(parts[0])).astype(dtype)
    return first, second


@pytest.mark.parametrize("dtype", ["?", "u1", "i8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, dtype: str) -> None:
    call, _ = CASES[name]
    host = sample(dtype)
    found, expected = call(gpunumpy, *(gpunumpy.asarray(x, device="cpu") for x in host)), call(numpy, *host)
    assert found.dtype == expected.dtype
    numpy.testing.assert_allclose(to_host(found), expected, rtol=2e-3 if dtype == "f2" else 1e-6)


@pytest.mark.parametrize("dtype", ["f4", "c8"])
@pytest.mark.parametrize("name", CASES)
def test_library_calls(name: str, dtype: str) -> None:
    call, count = CASES[name]
    a, b = (gpunumpy.asarray(x, device="cpu") for x in sample(dtype))
    steps = kernels(lambda: call(gpunumpy, a, b))
    if name == "rows" and dtype == "c8":
        count = 0  # NumPy has no such product that does not conjugate
    assert [s.name for s in steps if isinstance(s, RunLibraryCall)] == ["vecdot"] * count


def test_what_is_written_later_is_not_read() -> None:
    data = numpy.arange(100.0)
    x = gpunumpy.asarray(data, device="cpu")
    product = x @ x
    x[:] = 0
    assert float(product) == data @ data


def test_overflow_is_told() -> None:
    x = gpunumpy.full(40, 1e200, device="cpu")
    with pytest.raises(FloatingPointError, match="overflow encountered in dot"), gpunumpy.errstate(over="raise"):
        float(gpunumpy.dot(x, x))


@pytest.mark.parametrize("shape", [(1 << 18,), (64, 1 << 12)])
def test_a_product_larger_than_the_memory(shape: tuple[int, ...]) -> None:
    """It is the sum of products of slabs, or is computed in slabs of rows."""
    data = numpy.random.default_rng(1).random(shape)
    x, y = (gpunumpy.asarray(a, device="cpu") for a in (data, data[::-1]))
    gpunumpy.set_memory_limit(gpunumpy.memory_info("cpu").used + (1 << 18), "cpu")
    try:
        numpy.testing.assert_allclose(to_host(gpunumpy.vecdot(x, y)), numpy.vecdot(data, data[::-1]), rtol=1e-12)
    finally:
        gpunumpy.set_memory_limit(None, "cpu")


@pytest.mark.parametrize(("count", "calls"), [(1 << 15, 1), (1 << 14, 0)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_norms_of_many_elements_are_products(count: int, calls: int, keepdims: bool) -> None:
    """As NumPy's are, with the same bits."""
    host = numpy.random.default_rng(6).standard_normal((2, count // 2)).astype("f4")
    array = gpunumpy.asarray(host, device="cpu")
    steps = kernels(lambda: gpunumpy.linalg.norm(array, keepdims=keepdims))
    assert sum(isinstance(step, RunLibraryCall) for step in steps) == calls
    found, expected = gpunumpy.linalg.norm(array, keepdims=keepdims), numpy.linalg.norm(host, keepdims=keepdims)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    numpy.testing.assert_allclose(to_host(found), expected, rtol=0 if calls else 1e-6)


def test_norms_of_an_expression_are_one_kernel() -> None:
    array = gpunumpy.asarray(numpy.ones((2, 1 << 15)), device="cpu")
    (step,) = kernels(lambda: gpunumpy.linalg.norm(array[0] + array[1]))
    assert not isinstance(step, RunLibraryCall)
