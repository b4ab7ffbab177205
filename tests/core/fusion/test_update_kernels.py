"""How many kernels writes to parts of an array take: one where what is read of the array lies apart from them."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.schedule.steps import RunKernel

from .counting import kernels

# What is written, and what is read.
WRITES: tuple[tuple[str, Any, Any], ...] = (
    ("a row by another", 3, 2),
    ("a row by a later one", 3, 5),
    ("rows by those above", slice(3, 6), slice(0, 3)),
    ("a column by another", (..., -1), (..., -2)),
    ("every second column by the others", (..., slice(None, None, 2)), (..., slice(1, None, 2))),
    ("rows in reverse by those below", slice(2, None, -1), slice(3, 6)),
    ("itself", slice(1, 4), slice(1, 4)),
)


@pytest.mark.parametrize(("written", "read"), [case[1:] for case in WRITES], ids=[case[0] for case in WRITES])
def test_one_kernel(written: Any, read: Any) -> None:
    expected = numpy.arange(60.0).reshape(6, 10)
    a = np.array(expected)
    np.synchronize()

    def write(a: Any) -> Any:
        a[written] = a[read] * 2 + 1
        return a

    steps = kernels(lambda: write(a))
    numpy.testing.assert_array_equal(np.asnumpy(a), write(expected))
    assert len([step for step in steps if isinstance(step, RunKernel)]) == 1


def _part(chance: random.Random, n: int) -> slice:
    return slice(
        chance.choice([None, *range(-n, n)]),
        chance.choice([None, *range(-n, n + 1)]),
        chance.choice([1, 1, 2, 3, -1, -2]),
    )


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_written_from_other_parts(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(50):
        shape = tuple(chance.choice([1, 2, 3, 4, 5, 7]) for _ in range(chance.choice([1, 2, 3])))
        expected = numpy.random.default_rng(chance.randrange(1 << 30)).random(shape)
        a = np.array(expected)
        np.synchronize()

        def key(shape: tuple[int, ...] = shape) -> Any:
            return tuple(chance.choice([_part(chance, n), chance.randrange(n), slice(None)]) for n in shape)

        written = key()
        wanted = expected[written].shape
        read = next((found for found in (key() for _ in range(60)) if expected[found].shape == wanted), None)
        if read is not None:
            for x in (expected, a):
                x[written] = x[read] * 2 + 1
                x[read] -= x[written]
            numpy.testing.assert_array_equal(np.asnumpy(a), expected, str((shape, written, read)))
