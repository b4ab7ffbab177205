"""Random numbers beside their peers, at 2^26 and at 1,024 numbers: a table of docs/performance.md.

Run on a machine with a GPU: ``python benchmarks/random_numbers.py [--only NAME] [--peers gpunumpy,CuPy,torch]``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from table import EAGER_ONLY, N, Row, main

SMALL = 1024
# JAX and compiled functions make their numbers from keys, which are arguments: another thing.
SKIP = EAGER_ONLY | {"jax", "JAX"}


@cache
def generator(xp: Any) -> Any:
    return xp.random.default_rng(0)


def evenly(xp: Any, n: int, dtype: str) -> Any:
    if xp.__name__ == "torch":
        return xp.rand(n, device="cuda", dtype=getattr(xp, dtype))
    return generator(xp).random(n, dtype=getattr(xp, dtype))


def normally(xp: Any, n: int, dtype: str) -> Any:
    if xp.__name__ == "torch":
        return xp.randn(n, device="cuda", dtype=getattr(xp, dtype))
    return generator(xp).standard_normal(n, dtype=getattr(xp, dtype))


def exponentially(xp: Any, n: int) -> Any:
    if xp.__name__ == "torch":
        return xp.empty(n, device="cuda", dtype=xp.float64).exponential_()
    return generator(xp).standard_exponential(n)


def integers(xp: Any, n: int) -> Any:
    if xp.__name__ == "torch":
        return xp.randint(0, 1000, (n,), device="cuda")
    return generator(xp).integers(0, 1000, n)


def centred(xp: Any, n: int) -> Any:
    return evenly(xp, n, "float64") * 2 - 1


def pi(xp: Any, n: int) -> Any:
    inside = (evenly(xp, n, "float64") ** 2 + evenly(xp, n, "float64") ** 2) < 1
    return (inside.double() if xp.__name__ == "torch" else inside).mean()


# The work, the bytes a number that must move, and the goal at 2^26.
WORK: tuple[tuple[str, Callable[[Any, int], Any], int, str], ...] = (
    ("random float64", lambda xp, n: evenly(xp, n, "float64"), 8, "CuPy"),
    ("random float32", lambda xp, n: evenly(xp, n, "float32"), 4, "CuPy"),
    ("standard_normal float64", lambda xp, n: normally(xp, n, "float64"), 8, "1.5 x CuPy"),
    ("standard_normal float32", lambda xp, n: normally(xp, n, "float32"), 4, "1.5 x CuPy"),
    ("standard_exponential float64", exponentially, 8, ""),
    ("integers(0, 1000)", integers, 8, "1.5 x CuPy"),
    ("random * 2 - 1", centred, 8, ""),
    ("pi by Monte-Carlo", pi, 0, "0.3 x CuPy"),
)


def _row(work: Any, n: int, size: str, goal: str | None = None) -> Row:
    name, run, nbytes, large_goal = work
    least = max(nbytes * n, 1)  # a sum moves nothing to speak of
    return Row(f"{name}, {size}", lambda xp: run(xp, n), tuple, least, large_goal if goal is None else goal, SKIP)


ROWS = (*(_row(work, N, "2^26") for work in WORK), *(_row(work, SMALL, "1,024", "") for work in WORK))

if __name__ == "__main__":
    main(__doc__, ROWS)
