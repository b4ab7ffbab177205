"""What the host pays to record functions of arrays on a GPU: of shapes that it has seen before, and of new ones.

``python benchmarks/recording.py`` pretends a GPU (see pretended_gpu.py), whose arrays are all on the device, and prints
a table in microseconds of the processor's time, the least of several turns. ``--only TEXTS`` has rows that contain one
of the texts, with commas between them.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import gpunumpy as np
from benchmarks.pretended_gpu import pretend, wait

TURNS, CALLS, NEW_TURNS, NEW_SHAPES = 20, 200, 3, 10
ROWS, COLUMNS = 64, 128
# Statements with a matrix `b`, vectors `v` and `w`, a matrix `big` of 16 more rows, and a mask `m` of the matrix.
STATEMENTS = (
    *("b + b", "b * 2.0", "b[1:-1, 1:-1]", "-b", "abs(b)", "b > 0"),
    *("b.T", "b.reshape(-1)", "b.ravel()", "np.reshape(b, (-1, 2))", "np.transpose(b)", "np.swapaxes(b, 0, 1)"),
    *("np.expand_dims(v, 1)", "np.squeeze(b[:1])", "np.flip(v)", "np.broadcast_to(v, b.shape)", "np.moveaxis(b, 0, 1)"),
    *("np.diagonal(b)", "np.atleast_2d(v)"),
    *("v @ v", "b @ v", "big[16:] @ b.T", "np.dot(b, v)", "np.outer(v, w)", "np.tensordot(b, v, 1)"),
    *("np.einsum('ij,j->i', b, v)", "np.cross(b[:, :3], b[:, 3:6])", "np.linalg.norm(v)", "np.linalg.norm(b, axis=1)"),
    *("np.trace(b)", "np.vdot(v, w)", "np.inner(v, w)", "np.kron(v[:4], w[:4])"),
    *("np.where(b > 0, b, v)", "np.where(m, b, 0.0)", "np.clip(b, 0, 1)", "b.clip(0.0, 1.0)"),
    *("np.maximum(b, v)", "np.minimum(b, 0.5)", "np.abs(b)", "np.sqrt(b)", "np.isnan(b)", "np.logical_and(m, m)"),
    *("np.fmod(v, w)", "np.add(v, w)", "np.add(v, w, out=w)", "np.sign(v)", "np.round(v)", "np.isclose(v, w)"),
    *("np.zeros((64, 64))", "np.ones((64, 64))", "np.full((64, 64), 2.0)", "np.empty((64, 64))", "np.arange(2048.0)"),
    *("np.eye(64)", "np.linspace(0, 1, 2048)", "np.zeros_like(b)", "np.ones_like(b)", "np.empty_like(b)"),
    *("v.astype('f4')", "b.copy()", "np.copy(b)", "np.array(b)", "np.asarray(b)", "b.real", "b.imag"),
    *("v.sum()", "b.sum(axis=0)", "np.sum(b, axis=1)", "b.sum(axis=0, keepdims=True)", "v.prod()", "v.min()"),
    *("np.max(b, axis=0)", "v.any()", "np.all(m)", "v.mean()", "np.mean(b, axis=0)", "v.std()", "v.var()", "np.ptp(v)"),
    *(
        "np.std(b, axis=1)",
        "v.argmax()",
        "np.argmin(b, axis=1)",
        "np.count_nonzero(m)",
        "np.average(v)",
        "np.median(v)",
    ),
    *("np.cumsum(v)", "b.cumsum(axis=0)", "np.cumprod(v)", "np.diff(v)", "np.gradient(v)", "np.trapezoid(v)"),
    *("np.sort(v)", "np.argsort(v)", "np.searchsorted(v, w)", "np.take(v, i)", "v[i]", "v.take(i)", "np.roll(v, 1)"),
    *(
        "np.repeat(v, 2)",
        "np.tile(v, 2)",
        "np.meshgrid(v, w)",
        "np.tril(b)",
        "np.triu(b)",
        "np.pad(b, 1)",
        "np.diag(b)",
    ),
    *(
        "np.stack([v, w])",
        "np.concatenate([v, w])",
        "np.hstack((v, w))",
        "np.vstack((v, w))",
        "np.column_stack((v, w))",
    ),
    *("np.split(b, 2)", "np.dot(v, w)", "x = b[3]; x /= s[0]", "b[3] = v", "b[:, 2] += 1.0"),
)


def names(columns: int) -> dict[str, Any]:
    """Return the arrays that statements use, for a number of columns, all computed."""
    random = numpy.random.default_rng(0)
    big = random.random((ROWS + 16, columns))
    vectors = {name: random.random(columns) for name in "vws"}
    made = {**vectors, "big": big, "b": big[16:] - 0.5, "m": big[16:] > 0.5, "i": random.integers(0, columns, columns)}
    found = {name: np.asarray(x) for name, x in made.items()}
    wait(*found.values())
    return {"np": np, **found}


def function_of(statement: str) -> Callable[[dict[str, Any]], Callable[[], None]]:
    """Return what makes a function of a statement, which uses the names that are given."""
    code = compile(f"def run():\n    {statement}\n", statement, "exec")

    def function(given: dict[str, Any]) -> Callable[[], None]:
        exec(code, given)
        run: Callable[[], None] = given["run"]
        return run

    return function


def microseconds(statement: str, columns: Iterator[int], turns: int, shapes: int, calls: int) -> float:
    """Return the least time of a call over some turns, each with some numbers of columns and so many calls of each."""
    least = float("inf")
    make = function_of(statement)
    for _ in range(turns):
        runs = [make(names(next(columns))) for _ in range(shapes)]
        start = time.thread_time()
        for run in runs:
            for _ in range(calls):
                run()
        least = min(least, (time.thread_time() - start) / calls / shapes)
        np.synchronize()
    return least * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="texts, with commas between them")
    texts = parser.parse_args().only.split(",")
    with pytest.MonkeyPatch.context() as patch:
        pretend(patch, "compiled")
        print("| recorded, µs | shape seen before | new shape |\n|---|---|---|")
        for statement in STATEMENTS:
            if any(text in statement for text in texts):
                seen = microseconds(statement, itertools.repeat(COLUMNS), TURNS, 1, CALLS)
                new = itertools.count(2 * COLUMNS)
                fresh = microseconds(statement, new, NEW_TURNS, NEW_SHAPES, 1)
                print(f"| {statement} | {seen:.2f} | {fresh:.2f} |", flush=True)


if __name__ == "__main__":
    main()
