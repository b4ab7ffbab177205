"""Random numbers beside their peers, at 2^26 and at 1,024 numbers: docs/performance/random-numbers.md.

Run on a machine with a GPU: ``python benchmarks/random_numbers.py [--only NAME;NAME] [--peers gpunumpy,CuPy,torch]``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from math import inf
from typing import Any

from beside import Row, main

N, SMALL = 1 << 26, 1024
CUPY, CUPY_1_5, CUPY_0_3 = {"CuPy": 1.0}, {"CuPy": 1.5}, {"CuPy": 0.3}
TORCH = {"torch": 1.0}
NO_GOAL = {"CuPy": inf, "torch": inf}


@cache
def generator(xp: Any, fast: bool) -> Any:
    """The default generator; or that of the faster stream of gpunumpy, which has no counterpart elsewhere."""
    if fast and xp.__name__ == "gpunumpy":
        return xp.random.Generator(xp.random.PhiloxGPU(0))
    return xp.random.default_rng(0)


@cache
def legacy(xp: Any) -> Any:
    return xp.random.RandomState(0)


Work = Callable[..., Any]


def evenly(xp: Any, n: int, dtype: str, fast: bool = False) -> Any:
    if xp.__name__ == "torch":
        return xp.rand(n, device="cuda", dtype=getattr(xp, dtype))
    return generator(xp, fast).random(n, dtype=getattr(xp, dtype))


def normally(xp: Any, n: int, dtype: str, fast: bool = False) -> Any:
    if xp.__name__ == "torch":
        return xp.randn(n, device="cuda", dtype=getattr(xp, dtype))
    return generator(xp, fast).standard_normal(n, dtype=getattr(xp, dtype))


def exponentially(xp: Any, n: int, dtype: str, fast: bool = False) -> Any:
    if xp.__name__ == "torch":
        return xp.empty(n, device="cuda", dtype=getattr(xp, dtype)).exponential_()
    return generator(xp, fast).standard_exponential(n, dtype=getattr(xp, dtype))


def integers(xp: Any, n: int, fast: bool = False) -> Any:
    if xp.__name__ == "torch":
        return xp.randint(0, 1000, (n,), device="cuda")
    return generator(xp, fast).integers(0, 1000, n)


def centred(xp: Any, n: int, fast: bool = False) -> Any:
    return evenly(xp, n, "float64", fast) * 2 - 1


def pi(xp: Any, n: int, fast: bool = False) -> Any:
    inside = (evenly(xp, n, "float64", fast) ** 2 + evenly(xp, n, "float64", fast) ** 2) < 1
    return (inside.double() if xp.__name__ == "torch" else inside).mean()


def of(name: str, *args: Any) -> Work:
    """A method of the default generator, or the function of that name where it has none."""

    def work(xp: Any, n: int) -> Any:
        rng = generator(xp, False)
        return getattr(rng if hasattr(rng, name) else xp.random, name)(*args, n)

    return work


def old(name: str, *args: Any) -> Work:
    """A method of `RandomState`."""
    return lambda xp, n: getattr(legacy(xp), name)(*args, n)


# NumPy's stream: what is drawn, and the goal at 2^26.
STREAM: tuple[tuple[str, Work, Mapping[str, float]], ...] = (
    ("random float64", partial(evenly, dtype="float64"), CUPY),
    ("random float32", partial(evenly, dtype="float32"), CUPY),
    ("standard_normal float64", partial(normally, dtype="float64"), CUPY_1_5),
    ("standard_normal float32", partial(normally, dtype="float32"), CUPY_1_5),
    ("integers(0, 1000)", integers, CUPY_1_5),
    ("pi by Monte-Carlo", pi, CUPY_0_3),
    ("standard_exponential float64", partial(exponentially, dtype="float64"), {"CuPy": inf}),
    ("random * 2 - 1", centred, {"CuPy": inf}),
)
FASTER_STREAM: tuple[tuple[str, Work, Mapping[str, float]], ...] = (
    ("PhiloxGPU: random float64", partial(evenly, dtype="float64", fast=True), TORCH),
    ("PhiloxGPU: random float32", partial(evenly, dtype="float32", fast=True), TORCH),
    ("PhiloxGPU: standard_normal float64", partial(normally, dtype="float64", fast=True), TORCH),
    ("PhiloxGPU: standard_normal float32", partial(normally, dtype="float32", fast=True), TORCH),
    ("PhiloxGPU: standard_exponential float64", partial(exponentially, dtype="float64", fast=True), {"torch": inf}),
    ("PhiloxGPU: standard_exponential float32", partial(exponentially, dtype="float32", fast=True), {"torch": inf}),
    ("PhiloxGPU: integers(0, 1000)", partial(integers, fast=True), {"torch": inf}),
    ("PhiloxGPU: random * 2 - 1", partial(centred, fast=True), {"torch": inf}),
    ("PhiloxGPU: pi by Monte-Carlo", partial(pi, fast=True), {"torch": inf}),
)
OTHERS: tuple[tuple[str, Work], ...] = (
    ("standard_gamma(2.5)", of("standard_gamma", 2.5)),
    ("beta(2, 3)", of("beta", 2.0, 3.0)),
    ("standard_t(5)", of("standard_t", 5.0)),
    ("poisson(50)", of("poisson", 50.0)),
    ("binomial(100, 0.3)", of("binomial", 100, 0.3)),
    ("permutation", of("permutation")),
    ("RandomState: random_sample", old("random_sample")),
    ("RandomState: standard_normal", old("standard_normal")),
    ("RandomState: randint(0, 1000)", old("randint", 0, 1000)),
    ("RandomState: standard_gamma(2.5)", old("standard_gamma", 2.5)),
    ("RandomState: standard_t(5)", old("standard_t", 5.0)),
)


def _row(name: str, work: Work, n: int, size: str, goal: Mapping[str, float]) -> Row:
    return Row(f"{name}, {size}", lambda xp: work(xp, n), tuple, goal)


ROWS = (
    *(_row(name, work, N, "2^26", goal) for name, work, goal in (*STREAM, *FASTER_STREAM)),
    *(_row(name, work, 1 << 24, "2^24", {"CuPy": inf}) for name, work in OTHERS),
    *(_row(name, work, SMALL, "1,024", NO_GOAL) for name, work, _ in STREAM),
)

if __name__ == "__main__":
    main(__doc__, ROWS)
