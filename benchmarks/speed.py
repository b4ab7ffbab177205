"""The table of docs/performance.md: every row beside its peers, against the time that moving its bytes must take.

Run on a machine with a GPU: ``python benchmarks/speed.py [--only NAME] [--peers gpunumpy,CuPy]``. The floor of a row is
its bytes over the rate of a device-to-device copy of 256 MiB measured in the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from table import EAGER_ONLY, NO_FUSE, RANDOM, N, Row, main, normal

SIDE = 8192


def expression(xp: Any, a: Any, b: Any) -> Any:
    """The twelve operations that every design measures."""
    return (xp.sin(a) * 2 + b - 1) * xp.exp(a * 0.1) / xp.sqrt(b * b + 1) + a * 0.5


def moments(xp: Any, a: Any) -> Any:
    if xp.__name__ == "torch":
        return a.mean(), a.var(correction=0), a.min(), a.max()
    return a.mean(), a.var(), a.min(), a.max()


def variance(xp: Any, a: Any) -> Any:
    return a.var(correction=0) if xp.__name__ == "torch" else a.var()


def along(axis: int | None) -> Callable[[Any, Any], Any]:
    def total(xp: Any, a: Any) -> Any:
        return a.sum() if axis is None else a.sum(axis)

    return total


def largest(xp: Any, a: Any) -> Any:
    return xp.amax(a, -1, True) if xp.__name__ == "torch" else a.max(-1, keepdims=True)


def softmax(xp: Any, a: Any) -> Any:
    e = xp.exp(a - largest(xp, a))
    return e / e.sum(-1, keepdims=True)


def layer_norm(xp: Any, a: Any) -> Any:
    mean = a.mean(-1, keepdims=True)
    if xp.__name__ == "torch":
        return (a - mean) / xp.sqrt(a.var(-1, keepdim=True, correction=0) + 1e-5)
    return (a - mean) / xp.sqrt(a.var(-1, keepdims=True) + 1e-5)


def jacobi(xp: Any, u: Any) -> Any:
    new = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    if xp.__name__.startswith("jax"):
        return u.at[1:-1, 1:-1].set(new)
    u[1:-1, 1:-1] = new
    return u


def cumulative(xp: Any, a: Any) -> Any:
    return xp.cumsum(a, 0)


def masked(xp: Any, a: Any, mask: Any) -> Any:
    return a[mask]


def picked(xp: Any, a: Any, index: Any) -> Any:
    return a[index]


def _first_transposed(xp: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    return (args[0].T, args[1])


def _first_strided(xp: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    return (args[0][::2], args[1])


ROWS = (
    Row("expression float32", expression, lambda: (normal(N), normal(N)), 12 * N, "1.1 x floor"),
    Row(
        "expression float64",
        expression,
        lambda: (normal(N, dtype="float64"), normal(N, dtype="float64")),
        24 * N,
        "1.1 x floor",
    ),
    Row("expression, broadcast row", expression, lambda: (normal(SIDE, SIDE), normal(SIDE)), 8 * N, "1.3 x floor"),
    Row(
        "expression, transposed input",
        expression,
        lambda: (normal(SIDE, SIDE), normal(SIDE, SIDE)),
        12 * N,
        "1.3 x floor",
        change=_first_transposed,
    ),
    Row(
        "expression, strided input",
        expression,
        lambda: (normal(2 * N), normal(N)),
        16 * N,
        "1.3 x floor",
        change=_first_strided,
    ),
    Row(
        "expression, 1,024 elements",
        expression,
        lambda: (normal(1024), normal(1024)),
        12 * 1024,
        "0.25 x CuPy, jax.jit",
    ),
    Row("a+b, 1,024 elements", lambda xp, a, b: a + b, lambda: (normal(1024), normal(1024)), 12 * 1024, "CuPy"),
    Row("sum", along(None), lambda: (normal(SIDE, SIDE),), 4 * N, "1.15 x floor", NO_FUSE),
    Row("sum axis 0", along(0), lambda: (normal(SIDE, SIDE),), 4 * N, "1.15 x floor", NO_FUSE),
    Row("sum axis 1", along(1), lambda: (normal(SIDE, SIDE),), 4 * N, "1.15 x floor", NO_FUSE),
    Row(
        "mean((a-b)**2)",
        lambda xp, a, b: ((a - b) ** 2).mean(),
        lambda: (normal(N), normal(N)),
        8 * N,
        "1.2 x floor",
        NO_FUSE,
    ),
    Row("var", variance, lambda: (normal(N),), 4 * N, "1.2 x floor", NO_FUSE),
    Row("mean, var, min, max", moments, lambda: (normal(N),), 4 * N, "1.2 x floor", NO_FUSE),
    Row("softmax, rows of 8,192", softmax, lambda: (normal(SIDE, SIDE),), 8 * N, "1.25 x floor", NO_FUSE),
    Row("layer norm, rows of 8,192", layer_norm, lambda: (normal(SIDE, SIDE),), 8 * N, "1.25 x floor", NO_FUSE),
    Row("Jacobi step, 8192 x 8192", jacobi, lambda: (normal(SIDE, SIDE),), 8 * N, "1.3 x floor", NO_FUSE),
    Row("cumsum", cumulative, lambda: (normal(N),), 8 * N, "torch", NO_FUSE),
    Row("a[mask]", masked, lambda: (normal(N), RANDOM.random(N) < 0.5), 7 * N, "torch", EAGER_ONLY),
    Row("a[index]", picked, lambda: (normal(N), RANDOM.integers(0, N, N)), 16 * N, "torch", NO_FUSE),
)


if __name__ == "__main__":
    main(__doc__, ROWS)
