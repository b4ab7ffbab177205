"""How many kernels programs over masked arrays take: data and mask in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np

from .counting import kernels

A, B, C = (
    np.ma.array(np.arange(4000.0).reshape(40, 100) + k, mask=np.arange(4000).reshape(40, 100) % 7 == k)
    for k in range(3)
)

# What is computed, and the kernels that it takes.
CALLS: tuple[tuple[str, int, Callable[[], Any]], ...] = (
    ("chain", 1, lambda: (A + B) * C - 1),
    ("sum", 1, lambda: ((A + B) * C).sum()),
    ("mean", 1, lambda: ((A + B) * C).mean()),
    ("sums of rows", 1, lambda: ((A + B) * C).sum(axis=1)),
    ("quotient", 1, lambda: A / (B - 3)),
    ("masked by a condition", 1, lambda: np.ma.masked_greater(A, 300).sum()),
)


@pytest.mark.parametrize(("count", "call"), [pytest.param(n, call, id=name) for name, n, call in CALLS])
def test_kernels(count: int, call: Callable[[], Any]) -> None:
    results: list[Any] = []

    def run() -> Any:
        results.append(call())
        last = results[-1]
        return (last.data, last.mask) if hasattr(last, "mask") else last

    assert len(kernels(run)) == count


def test_the_mean_is_right() -> None:
    expected = ((A.get() + B.get()) * C.get()).mean()
    numpy.testing.assert_allclose(float(((A + B) * C).mean()), expected)
