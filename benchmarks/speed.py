"""The table of docs/performance.md: every row beside its peers, against the time that moving its bytes must take.

Run on a machine with a GPU: ``python benchmarks/speed.py [--only NAME] [--peers gpunumpy,CuPy]``. The floor of a row is
its bytes over the rate of a device-to-device copy of 256 MiB measured in the same run.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy
from peers import Peer, all_peers
from timing import seconds

N = 1 << 26
SIDE = 8192
RANDOM = numpy.random.default_rng(1)


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


@dataclass
class Row:
    """A line of the table: `data` makes its host arrays, `nbytes` is what must move, `goal` what must be reached."""

    name: str
    work: Callable[..., Any]
    data: Callable[[], tuple[Any, ...]]
    nbytes: int
    goal: str
    skip: frozenset[str] = frozenset()
    change: Callable[[Any, tuple[Any, ...]], tuple[Any, ...]] = field(default=lambda xp, args: args)


def normal(*shape: int, dtype: str = "float32") -> Any:
    return RANDOM.standard_normal(shape, numpy.float32).astype(dtype, copy=False)


def _first_transposed(xp: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    return (args[0].T, args[1])


def _first_strided(xp: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    return (args[0][::2], args[1])


EAGER_ONLY = frozenset({"cupy.fuse", "jax.jit", "torch.compile"})
NO_FUSE = frozenset({"cupy.fuse"})

ROWS = (
    Row("expression float32", expression, lambda: (normal(N), normal(N)), 12 * N, "1.1 x floor"),
    Row("expression float64", expression, lambda: (normal(N, dtype="float64"), normal(N, dtype="float64")), 24 * N,
        "1.1 x floor"),
    Row("expression, broadcast row", expression, lambda: (normal(SIDE, SIDE), normal(SIDE)), 8 * N, "1.3 x floor"),
    Row("expression, transposed input", expression, lambda: (normal(SIDE, SIDE), normal(SIDE, SIDE)), 12 * N,
        "1.3 x floor", change=_first_transposed),
    Row("expression, strided input", expression, lambda: (normal(2 * N), normal(N)), 16 * N, "1.3 x floor",
        change=_first_strided),
    Row("expression, 1,024 elements", expression, lambda: (normal(1024), normal(1024)), 12 * 1024,
        "0.25 x CuPy, jax.jit"),
    Row("a+b, 1,024 elements", lambda xp, a, b: a + b, lambda: (normal(1024), normal(1024)), 12 * 1024, "CuPy"),
    Row("sum", along(None), lambda: (normal(SIDE, SIDE),), 4 * N, "1.15 x floor", NO_FUSE),
    Row("sum axis 0", along(0), lambda: (normal(SIDE, SIDE),), 4 * N, "1.15 x floor", NO_FUSE),
    Row("sum axis 1", along(1), lambda: (normal(SIDE, SIDE),), 4 * N, "1.15 x floor", NO_FUSE),
    Row("mean((a-b)**2)", lambda xp, a, b: ((a - b) ** 2).mean(), lambda: (normal(N), normal(N)), 8 * N,
        "1.2 x floor", NO_FUSE),
    Row("var", variance, lambda: (normal(N),), 4 * N, "1.2 x floor", NO_FUSE),
    Row("mean, var, min, max", moments, lambda: (normal(N),), 4 * N, "1.2 x floor", NO_FUSE),
    Row("softmax, rows of 8,192", softmax, lambda: (normal(SIDE, SIDE),), 8 * N, "1.25 x floor", NO_FUSE),
    Row("layer norm, rows of 8,192", layer_norm, lambda: (normal(SIDE, SIDE),), 8 * N, "1.25 x floor", NO_FUSE),
    Row("Jacobi step, 8192 x 8192", jacobi, lambda: (normal(SIDE, SIDE),), 8 * N, "1.3 x floor", NO_FUSE),
    Row("cumsum", cumulative, lambda: (normal(N),), 8 * N, "torch", NO_FUSE),
    Row("a[mask]", masked, lambda: (normal(N), RANDOM.random(N) < 0.5), 7 * N, "torch", EAGER_ONLY),
    Row("a[index]", picked, lambda: (normal(N), RANDOM.integers(0, N, N)), 16 * N, "torch", NO_FUSE),
)


def copy_rate() -> float:
    """Bytes a second, read and written, of a device-to-device copy."""
    import cupy

    source = cupy.asarray(normal(N))
    target = cupy.empty_like(source)
    return 8 * N / seconds(lambda: cupy.copyto(target, source), cupy.cuda.Device().synchronize)


def measure(row: Row, peer: Peer, data: tuple[Any, ...]) -> float:
    args = row.change(peer.xp, tuple(peer.array(x) for x in data))
    if peer.by_hand is not None:
        return seconds(peer.by_hand[row.name](*args), peer.wait)
    call = peer.prepare(lambda *xs: row.work(peer.xp, *xs))
    return seconds(lambda: call(*args), peer.wait)


def heading() -> str:
    versions = []
    for name in ("gpunumpy", "numpy", "cupy", "torch", "jax"):
        try:
            versions.append(f"{name} {__import__(name).__version__}")
        except ImportError:
            continue
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return (
        f"{datetime.date.today()}, {device_name()}, Python {platform.python_version()}, "
        f"{', '.join(versions)}, commit {commit.stdout.strip() or 'unknown'}"
    )


def device_name() -> str:
    import cupy

    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--peers", default="", help="names of libraries, separated by commas")
    options = parser.parse_args()
    peers = all_peers(set(options.peers.split(",")) if options.peers else None)
    rate = copy_rate()
    print(heading())
    print(f"copy {rate / 1e12:.2f} TB/s; times in ms\n")
    print("| work | floor | " + " | ".join(p.name for p in peers) + " | ours / floor | goal |")
    print("|---" * (len(peers) + 4) + "|")
    for row in ROWS:
        if options.only not in row.name:
            continue
        cells = []
        ours = float("nan")
        data = row.data()
        for peer in peers:
            if peer.name in row.skip or (peer.by_hand is not None and row.name not in peer.by_hand):
                cells.append("")
                continue
            try:
                took = measure(row, peer, data)
            except Exception as error:
                print(f"<!-- {row.name}, {peer.name}: {type(error).__name__}: {str(error)[:200]} -->")
                cells.append("failed")
                continue
            if peer.name == "gpunumpy":
                ours = took
            cells.append(f"{took * 1e3:.4g}")
        floor = row.nbytes / rate
        print(f"| {row.name} | {floor * 1e3:.4g} | " + " | ".join(cells) + f" | {ours / floor:.2f} | {row.goal} |",
              flush=True)


if __name__ == "__main__":
    main()
