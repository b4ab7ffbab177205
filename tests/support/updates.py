"""Random programs of writes to parts of arrays, which several kernels might make, or one: NumPy's results are exact."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

SIZE = 6
SHAPES = ((SIZE, SIZE),) * 3 + ((SIZE,),) * 2

Statement = Callable[[Any, Any, Any, Any], None]  # of two matrices, which may be one, and two vectors


def _statements(i: int, j: int, k: int) -> tuple[Statement, ...]:
    """What a program may do, for three numbers below the size."""

    def row(x: Any, y: Any, v: Any, w: Any) -> None:
        x[i] = y[j] * 2 + k

    def column(x: Any, y: Any, v: Any, w: Any) -> None:
        x[:, i] = y[:, j] - k

    def column_of_row(x: Any, y: Any, v: Any, w: Any) -> None:
        x[:, i] = y[j] + v

    def rows_above(x: Any, y: Any, v: Any, w: Any) -> None:
        x[1:] = y[:-1] + x[1:]

    def inner_columns(x: Any, y: Any, v: Any, w: Any) -> None:
        x[:, 1:-1] += y[:, 1:-1] * y[:, 2:]

    def every_second(x: Any, y: Any, v: Any, w: Any) -> None:
        x[:, ::2] = y[:, 1::2]

    def symmetric(x: Any, y: Any, v: Any, w: Any) -> None:
        x[i:, i] = x[i, i:] = y[i:, j] - w[i:]

    def crossed(x: Any, y: Any, v: Any, w: Any) -> None:
        x[i], x[:, j] = v + 1, w - k

    def less_its_sum(x: Any, y: Any, v: Any, w: Any) -> None:
        x[i] -= x[i].sum()

    def sums_of_rows(x: Any, y: Any, v: Any, w: Any) -> None:
        v[...] = v - y.sum(axis=1)
        x[:, j] = y.sum(axis=1)

    def less_sums_of_rows(x: Any, y: Any, v: Any, w: Any) -> None:
        x -= y.sum(axis=1)[:, None]

    def greatest_of_columns(x: Any, y: Any, v: Any, w: Any) -> None:
        x[i] = y.max(axis=0) + v

    def vectors(x: Any, y: Any, v: Any, w: Any) -> None:
        v[...] = v + w
        w[...] = w * 2 - x[i]

    def eliminated(x: Any, y: Any, v: Any, w: Any) -> None:
        x[i:] -= (x[i:] * y[i]).sum(axis=1)[:, None] * y[i]

    def edges(x: Any, y: Any, v: Any, w: Any) -> None:
        x[:, -1] = x[:, -2]
        x[:, 0] = x[:, 1]
        x[0] = x[1]
        x[-1] = 0

    return (
        *(row, column, column_of_row, rows_above, inner_columns, every_second, symmetric, crossed, less_its_sum),
        *(sums_of_rows, less_sums_of_rows, greatest_of_columns, vectors, eliminated, edges),
    )


def program(seed: int, length: int = 8) -> Callable[[Sequence[Any]], None]:
    """A program over arrays of int64 of `SHAPES`; equal seeds make equal programs."""
    chance = random.Random(seed)
    steps = []
    for _ in range(length):
        statement = chance.choice(_statements(*(chance.randrange(SIZE) for _ in range(3))))
        matrices = chance.choices(range(3), k=2)
        steps.append((statement, matrices, chance.sample((3, 4), 2)))

    def run(arrays: Sequence[Any]) -> None:
        for statement, matrices, vectors in steps:
            statement(*(arrays[n] for n in (*matrices, *vectors)))

    return run
