"""How indexed writes run: by one launch where duplicate indices write equal values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.graph.library_calls.elements import EQUAL_VALUES
from gpunumpy.core.schedule.steps import RunLibraryCall

from .counting import kernels

N = 8


def _increment(a: Any, b: Any, i: Any, j: Any) -> None:
    a[i] += 1


def _scaled_by_others(a: Any, b: Any, i: Any, j: Any) -> None:
    a[i] = a[i] * b[i] - 2.0


def _rows(a: Any, b: Any, i: Any, j: Any) -> None:
    a[i] += b[0] * 2


def _elements(a: Any, b: Any, i: Any, j: Any) -> None:
    a[i, j] -= b[i, j]


def _by_others(a: Any, b: Any, i: Any, j: Any) -> None:
    a[i] = b[j] + 1


def _of_another_length(a: Any, b: Any, i: Any, j: Any) -> None:
    i %= N
    k = i % 4 - 4 * (i > 3)  # 3 and -1 are one element of `a`
    a[:4][k] = b[k]


def _by_values(a: Any, b: Any, i: Any, j: Any) -> None:
    a[i] = b * 2


def _by_positions(a: Any, b: Any, i: Any, j: Any) -> None:
    a[i] = a[i] + b[:, :1]


WRITES: tuple[tuple[Callable[..., None], bool], ...] = (
    *((write, True) for write in (_increment, _scaled_by_others, _rows, _elements)),
    *((write, False) for write in (_by_others, _of_another_length, _by_values, _by_positions)),
)


@pytest.mark.parametrize(("write", "is_equal"), WRITES, ids=[write.__name__ for write, _ in WRITES])
def test_duplicates_that_write_the_same_are_found(write: Callable[..., None], is_equal: bool) -> None:
    random = numpy.random.default_rng(1)
    a, b = random.random((2, N, N))
    i, j = random.integers(0, N, (2, N))
    i[1], i[2] = i[0], i[0] - N  # three times the same element
    arrays = [np.array(x) for x in (a, b, i, j)]
    np.synchronize()

    def run() -> Any:
        write(*arrays)
        return arrays[0]

    ops = [step.options[1] for step in kernels(run) if isinstance(step, RunLibraryCall) and step.name == "scatter"]
    write(a, b, i, j)
    numpy.testing.assert_array_equal(np.asnumpy(arrays[0]), a)
    assert ops == [EQUAL_VALUES if is_equal else ""]
