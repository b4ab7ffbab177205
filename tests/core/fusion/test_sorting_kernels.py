"""How many kernels and library calls sorting takes, and what is derived from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.schedule.steps import RunKernel

from .counting import kernels

# What is computed of an array of shape (24, 40): the library calls and the count of kernels.
CASES: dict[str, tuple[Callable[[Any], Any], tuple[str, ...], int]] = {
    "the last axis": (lambda a: gpunumpy.sort(a), ("sort",), 0),
    "a transposed array along what is in memory": (lambda a: gpunumpy.argsort(a.T, axis=0).T, ("argsort",), 1),
    "all of it": (lambda a: gpunumpy.sort(a, axis=None), ("sort",), 0),
    "the first axis": (lambda a: gpunumpy.argsort(a, axis=0), ("argsort",), 2),
    "a chain before and after": (lambda a: gpunumpy.sort(a * 2 + 1) - 1, ("sort",), 2),
    "several keys": (lambda a: gpunumpy.lexsort((a, a)), ("argsort", "argsort"), 2),
    "a median": (lambda a: gpunumpy.median(a), ("sort",), 1),
    "medians of rows": (lambda a: gpunumpy.median(a, axis=1), ("sort",), 1),
    "a percentile": (lambda a: gpunumpy.percentile(a, 30), ("sort",), 1),
    "percentiles of columns": (lambda a: gpunumpy.percentile(a, [30, 50, 90], axis=0), ("sort",), 2),
    "medians of numbers": (lambda a: gpunumpy.nanmedian(a, axis=1), ("sort",), 1),
    "percentiles of numbers": (lambda a: gpunumpy.nanpercentile(a, 30, axis=1), ("sort",), 1),
}


@pytest.mark.parametrize(("call", "library_calls", "count"), CASES.values(), ids=CASES)
def test_kernels(call: Callable[[Any], Any], library_calls: tuple[str, ...], count: int) -> None:
    a = gpunumpy.asarray(numpy.random.default_rng(0).standard_normal((24, 40)))
    ran = kernels(lambda: call(a))
    assert tuple(step.name for step in ran if not isinstance(step, RunKernel)) == library_calls
    assert sum(isinstance(step, RunKernel) for step in ran) == count


def test_a_sort_in_place_of_a_row_writes_that_row() -> None:
    a = gpunumpy.asarray(numpy.random.default_rng(0).standard_normal((24, 40)))

    def sort_a_row() -> Any:
        a[3].sort()
        return a

    ran = kernels(sort_a_row)
    assert [isinstance(step, RunKernel) for step in ran] == [False, True]
