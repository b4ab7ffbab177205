"""How many kernels reductions take, and that they give NumPy's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.schedule.steps import RunKernel

from .counting import kernels


def softmax(np: Any, x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(np: Any, x: Any) -> Any:
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


# What is computed over two arrays of shape (96, 80), and how many kernels it takes.
CASES: dict[str, tuple[Callable[[Any, Any, Any], Any], int]] = {
    "a chain and its sum": (lambda np, a, b: np.sum(np.sqrt(a * a + b * b) - 1), 1),
    "a chain and its sum by rows": (lambda np, a, b: (a * 2 + b).sum(axis=1), 1),
    "a chain and its sum by columns": (lambda np, a, b: (a * 2 + b).sum(axis=0), 1),
    "mean square difference": (lambda np, a, b: np.mean((a - b) ** 2), 1),
    "what follows a mean": (lambda np, a, b: np.sqrt(np.mean(a * b)) * 2 + 1, 1),
    "moments and extremes": (lambda np, a, b: (a.mean(), a.var(), a.min(), a.max()), 1),
    "moments and extremes added": (lambda np, a, b: a.mean() + a.var() + a.min() + a.max(), 1),
    "moments and extremes by rows": (lambda np, a, b: (a.mean(1), a.var(1), a.min(1), a.max(1)), 1),
    "moments and extremes by columns": (lambda np, a, b: (a.mean(0), a.std(0), a.min(0), a.max(0)), 1),
    "moments with keepdims": (lambda np, a, b: (a.mean(1, keepdims=True), a.std(1, keepdims=True)), 1),
    "mean and standard deviation of an expression": (lambda np, a, b: (np.mean(a * b), np.std(a * b)), 1),
    "softmax": (lambda np, a, b: softmax(np, a), 1),
    "layer normalisation": (lambda np, a, b: layer_norm(np, a), 1),
    "argmax of an expression": (lambda np, a, b: np.argmax(a - b, axis=1), 1),
    "argmax and max": (lambda np, a, b: (np.argmax(a, axis=1), np.max(a, axis=1)), 1),
    "norms of rows": (lambda np, a, b: np.sqrt((a * a).sum(axis=1)), 1),
    "normalised rows": (lambda np, a, b: a / np.sqrt((a * a).sum(axis=1, keepdims=True)), 1),
    "counts": (lambda np, a, b: (np.count_nonzero(a > b), np.any(a > b), np.all(a > b)), 1),
    "a product of vectors": (lambda np, a, b: np.dot(a.ravel() + 1, b.ravel()), 1),
    "products of vectors": (lambda np, a, b: np.vecdot(a, b - a), 1),
    "cosine of an angle": (lambda np, a, b: np.vdot(a, b) / np.sqrt(np.vdot(a, a) * np.vdot(b, b)), 1),
    "trace": (lambda np, a, b: np.trace(a * b), 1),
    "ptp": (lambda np, a, b: np.ptp(a), 1),
    "nansum": (lambda np, a, b: np.nansum(a / b), 1),
    "nanmean": (lambda np, a, b: np.nanmean(a / b, axis=1), 1),
    "a masked sum": (lambda np, a, b: np.sum(a, where=a > b), 1),
    "a masked mean": (lambda np, a, b: np.mean(a, axis=1, where=a > b), 1),
    "diff and its sum": (lambda np, a, b: np.abs(np.diff(a, axis=1)).sum(), 1),
    "trapezoid": (lambda np, a, b: np.trapezoid(a * b, dx=0.5), 1),
    "cumsum of an expression": (lambda np, a, b: np.cumsum(a * b, axis=1), 1),
    "variance where": (lambda np, a, b: np.var(a, where=a > b), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_kernels(name: str) -> None:
    work, most = CASES[name]
    rng = numpy.random.default_rng(0)
    host = [rng.random((96, 80)).astype("f4") + 0.5 for _ in range(2)]
    arrays = [gpunumpy.asarray(x) for x in host]
    results: list[Any] = []

    def record() -> list[Any]:
        made = work(gpunumpy, *arrays)
        results.extend(made if isinstance(made, tuple) else (made,))
        return results

    steps = kernels(record)
    assert all(isinstance(step, RunKernel) for step in steps)
    reasons = [step.reason for step in steps]
    assert len(steps) == most, reasons
    expected = work(numpy, *host)
    for got, reference in zip(results, expected if isinstance(expected, tuple) else (expected,), strict=True):
        numpy.testing.assert_allclose(gpunumpy.asnumpy(got), reference, rtol=2e-5, atol=1e-6)


def test_the_parts_of_a_program_share_its_reading() -> None:
    """Arrays that are alive are computed with what is asked for, from one reading of what they share."""
    x = gpunumpy.asarray(numpy.arange(1000.0))
    shifted = x - 1

    def record() -> tuple[Any, ...]:
        return shifted.sum(), (shifted * 2).max(), shifted

    assert len(kernels(record)) == 1


def test_a_matrix_product_is_a_call_between_kernels() -> None:
    a = gpunumpy.asarray(numpy.ones((8, 8)), device="cpu")  # a GPU takes what follows into the product
    assert [type(step).__name__ for step in kernels(lambda: a @ a.T)] == ["RunLibraryCall"]
    steps = kernels(lambda: (a + 1) @ a * 2)
    assert [type(step).__name__ for step in steps] == ["RunKernel", "RunLibraryCall", "RunKernel"]
