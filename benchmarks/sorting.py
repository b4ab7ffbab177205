"""Sorting, searching and counting beside their peers, at 2^26 and at 1,024 elements: docs/performance/libraries.md.

Run on a machine with a GPU: ``python benchmarks/sorting.py [--only NAME] [--peers gpunumpy,CuPy]``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from table import EAGER_ONLY, NO_FUSE, RANDOM, N, Row, main, normal

SMALL = 1024
BINS = 1000


def sort(xp: Any, a: Any) -> Any:
    return xp.sort(a).values if xp.__name__ == "torch" else xp.sort(a)


def argsort(xp: Any, a: Any) -> Any:
    return xp.argsort(a)


def unique(xp: Any, a: Any) -> Any:
    return xp.unique(a)


def searchsorted(xp: Any, a: Any, v: Any) -> Any:
    return xp.searchsorted(a, v)


def bincount(xp: Any, a: Any) -> Any:
    return xp.bincount(a, length=BINS) if xp.__name__.startswith("jax") else xp.bincount(a)


def histogram(xp: Any, a: Any) -> Any:
    return xp.histc(a, BINS, -4, 4) if xp.__name__ == "torch" else xp.histogram(a, BINS, (-4, 4))[0]


def nonzero(xp: Any, a: Any) -> Any:
    return xp.nonzero(a) if xp.__name__ == "torch" else xp.nonzero(a)[0]


def ints(dtype: str, least: int, most: int) -> Callable[[int], tuple[Any, ...]]:
    return lambda n: (RANDOM.integers(least, most, n, dtype),)


def _half_zeros(n: int) -> tuple[Any, ...]:
    return (normal(n) * (RANDOM.random(n, "float32") < 0.5),)


def _sorted(n: int) -> tuple[Any, ...]:
    a = normal(n)
    a.sort()
    return a, normal(n)


# The work, its data for a number of elements, the bytes an element that must move, and its goal at 2^26.
WORK: tuple[tuple[str, Callable[..., Any], Callable[[int], tuple[Any, ...]], float, str, frozenset[str]], ...] = (
    ("sort float32", sort, lambda n: (normal(n),), 8, "CuPy, torch", NO_FUSE),
    ("sort int32", sort, ints("int32", -(1 << 31), 1 << 31), 8, "CuPy, torch", NO_FUSE),
    ("sort int64", sort, ints("int64", -(1 << 63), (1 << 63) - 1), 16, "CuPy, torch", NO_FUSE),
    ("argsort float32", argsort, lambda n: (normal(n),), 12, "0.8 x CuPy", NO_FUSE),
    ("unique int32", unique, ints("int32", 0, 1 << 20), 4, "0.8 x CuPy", EAGER_ONLY),
    ("searchsorted float32", searchsorted, _sorted, 16, "0.8 x CuPy", NO_FUSE),
    ("bincount int32", bincount, ints("int32", 0, BINS), 4, "0.8 x CuPy", EAGER_ONLY - {"jax.jit"}),
    ("histogram float32", histogram, lambda n: (normal(n),), 4, "0.8 x CuPy", NO_FUSE),
    (
        "nonzero float32",
        nonzero,
        _half_zeros,
        8,
        "0.8 x CuPy",
        EAGER_ONLY,
    ),
)


def _row(work: Any, n: int, size: str, goal: str | None = None) -> Row:
    name, run, data, nbytes, large_goal, skip = work
    return Row(f"{name}, {size}", run, lambda: data(n), int(nbytes * n), goal or large_goal, skip)


ROWS = (*(_row(work, N, "2^26") for work in WORK), *(_row(work, SMALL, "1,024", "CuPy") for work in WORK))

if __name__ == "__main__":
    main(__doc__, ROWS)
