"""A user's program with types, which mypy and pyright check in their strictest modes and a test runs.

What a checker is to know of a value stands in `assert_type` beside it.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, assert_type

import numpy

import gpunumpy as np
import gpunumpy.distributed as dist
import gpunumpy.typing as npt
from gpunumpy.fft import fftfreq, irfft2, rfft2
from gpunumpy.linalg import LinAlgError, norm, solve
from gpunumpy.random import Generator, default_rng

Array: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool]
Matrix: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Transform: TypeAlias = Callable[[Array], Array]

GRAVITY = 9.81
AXES: tuple[int, int] = (0, 1)


# Making arrays -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """A rectangle of points at equal distances."""

    shape: tuple[int, int]
    length: float = 1.0

    @property
    def spacing(self) -> float:
        return self.length / self.shape[0]

    def points(self) -> tuple[Array, Array]:
        rows, columns = self.shape
        y = np.linspace(0, self.length, rows)
        x = np.linspace(0.0, self.length, columns, endpoint=False, dtype=np.float64)
        assert_type(x, np.ndarray)
        ys, xs = np.meshgrid(y, x, indexing="ij")
        return ys, xs

    def zeros(self, dtype: npt.DTypeLike = float, device: np.Device | str | None = None) -> Array:
        return np.zeros(self.shape, dtype, device=device)


def from_anything(values: npt.ArrayLike) -> Array:
    """Lists, numbers, NumPy arrays and gpunumpy arrays become a gpunumpy array."""
    made = np.asarray(values, dtype=np.float64)
    if made.ndim == 0:
        made = made[None]
    return np.ascontiguousarray(made)


def added(i: Array, j: Array) -> Array:
    return i + j


def constructors() -> list[Array]:
    grid = Grid((4, 5))
    return [
        np.array([[1, 2, 3], [4, 5, 6]], dtype="f8"),
        np.ones(3),
        np.ones((2, 3), np.float32).astype(np.float64),
        np.full((2, 2), np.pi),
        np.eye(3, k=1) + np.identity(3),
        np.arange(0, 10, 2, dtype=float),
        np.geomspace(1, 1000, num=4),
        np.tile(np.arange(3.0), (2, 1)),
        np.zeros_like(grid.zeros()),
        np.fromfunction(added, (3, 3)),
        np.mgrid[0:3, 0:4][0] * 1.0,
        from_anything([1, 2.5, True]),
        from_anything(3),
        from_anything(grid.zeros()),
        np.stack([np.ones(3), np.zeros(3)], axis=-1),
        np.concatenate((np.ones((1, 3)), np.zeros((2, 3)))),
    ]


# Operators and indices -----------------------------------------------------------------------------------------------


def heat(grid: Grid, steps: int, diffusivity: float = 0.1) -> Array:
    u = grid.zeros()
    u[0, :] = 1
    u[:, 0] = u[:, -1] = np.linspace(1, 0, u.shape[0])
    for _ in range(steps):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        assert_type(around, np.ndarray)
        u[1:-1, 1:-1] += diffusivity * (around - 4 * u[1:-1, 1:-1])
    return u


def life(alive: Mask, steps: int) -> Mask:
    for _ in range(steps):
        around = sum(np.roll(alive.astype(int), (i, j), AXES) for i in (-1, 0, 1) for j in (-1, 0, 1)) - alive
        alive = (around == 3) | (alive & (around == 2))
    return ~alive if not alive.any() else alive


def operators(x: Array, y: Array, n: int) -> dict[str, np.ndarray]:
    results = {
        "sum": x + y,
        "left": 2 * x - y,
        "right": x / 2.0 + 1j * y,
        "power": x**2 + 2**y,
        "integers": (x // 1).astype(np.int64) % 3 << n,
        "bits": (x > 0) & ~(y >= 1) ^ np.asarray([True, False, True]),
        "product": x @ y,
        "absolute": abs(-x) + (+y),
        "scalar": np.float64(2.0) + x,
    }
    quotient, rest = divmod(x, 2)
    results["divided"] = quotient * 2 + rest
    x -= 1
    x *= y
    x[x < 0] = 0
    x[[0, 2]] = y[::2]
    x[..., -1] = np.nan
    x[np.isnan(x)] = 0.0
    assert_type(x == y, np.ndarray)
    assert_type(x.T, np.ndarray)
    return results


def rows(x: Array) -> Iterator[tuple[int, float]]:
    for k, row in enumerate(x):
        assert_type(row, np.ndarray)
        yield k, float(row.sum())
    for a, b in zip(x, reversed(x.tolist()), strict=True):
        assert float(a[0]) + b[0] is not None


def scalars(x: Array) -> dict[str, bool | int | float | complex | str]:
    """What Python makes of an array of no dimensions."""
    total, place = x.sum(), x.argmax()
    names = ["first", "second", "third"]
    return {
        "bool": bool(total > 0),
        "int": int(total),
        "float": float(x.mean()),
        "complex": complex(total),
        "index": names[place % len(names)],
        "range": len(range(place)),
        "root": math.sqrt(abs(total)),
        "rounded": round(total),
        "text": f"{total:.2f}",
        "size": x.size + x.ndim + x.itemsize + x.nbytes,
        "shape": x.shape[0] * math.prod(x.shape),
        "item": x.item(0),
    }


# Functions -----------------------------------------------------------------------------------------------------------


def elementwise(x: Array, out: Array | None = None) -> Array:
    y = np.sin(x) ** 2 + np.cos(x) ** 2
    np.sqrt(y, out=out)
    np.add(x, y, out=out, where=x > 0)
    y = np.where(y > 0.5, np.exp(-y), np.log1p(np.abs(y)))
    y = np.maximum(y, 0).clip(0, 1)
    fraction, whole = np.modf(y)
    assert_type(fraction, np.ndarray)
    edges: Array = np.add.reduce(np.multiply.outer(y, whole), axis=0)
    return np.hypot(edges, fraction) if np.isfinite(y).all() else np.nan_to_num(y)


def statistics(x: Array, weights: Array) -> dict[str, Array]:
    counts, edges = np.histogram(x, bins=10, range=(x.min(), x.max()))
    mean, total = np.average(x, weights=weights, returned=True)
    assert_type(mean, np.ndarray)
    return {
        "mean": x.mean(axis=0, keepdims=True),
        "spread": np.std(x, axis=(0,), ddof=1, dtype=np.float64),
        "middle": np.median(x) + np.percentile(x, [25, 75], method="linear").sum(),
        "counts": counts,
        "edges": edges,
        "total": total,
        "correlation": np.corrcoef(x, weights),
        "sums": np.cumsum(x) + np.diff(x, prepend=0),
    }


def sorting(x: Array, words: Sequence[int]) -> tuple[Array, Array, Array]:
    order = np.argsort(x, kind="stable")
    x = x[order]
    x.sort()
    values, counts = np.unique(np.array(words), return_counts=True)
    every = np.unique_all(values)
    assert_type(every.counts, np.ndarray)
    (places,) = np.nonzero(values > 1)
    assert_type(np.where(values > 1), tuple[np.ndarray, ...])
    return x, counts[places], np.searchsorted(x, values, side="right")


def shapes(x: Array) -> Array:
    x = x.reshape(-1).reshape((1, -1)).reshape(1, x.size)
    x = x.transpose().transpose((1, 0)).swapaxes(0, 1).squeeze().ravel(order="C")
    parts: list[np.ndarray] = np.array_split(x, 3)
    both = np.vstack([np.pad(part, (0, 1), mode="edge") for part in parts[:1]])
    return np.moveaxis(np.expand_dims(both, 0), 0, -1)[..., 0].copy()


def solved(a: Matrix, b: Array) -> Array:
    try:
        x = solve(a, b)
    except LinAlgError:
        x, _, rank, _ = np.linalg.lstsq(a, b)
        assert int(rank) <= len(a)
    values, vectors = np.linalg.eigh(a + a.T)
    result = np.linalg.svd(a)
    assert_type(result.S, np.ndarray)
    assert_type(np.linalg.svd(a, compute_uv=False), np.ndarray)
    q, r = np.linalg.qr(a)
    assert norm(q @ r - a) < 1e-6 * (1 + norm(vectors) + np.abs(values).max())
    return x


def filtered(image: Array, width: float) -> Array:
    down, right = fftfreq(image.shape[0])[:, None], np.fft.rfftfreq(image.shape[1])
    blur = np.exp(-2 * (np.pi * width) ** 2 * (down**2 + right**2))
    return irfft2(rfft2(image, norm="ortho") * blur, s=image.shape, norm="ortho")


def drawn(rng: Generator, n: int) -> tuple[Array, float, int]:
    x = rng.normal(0.0, 1.0, size=(n, 2))
    assert_type(x, np.ndarray)
    single = rng.random()
    assert_type(single, float)
    k: int = rng.integers(10)
    rng.shuffle(x)
    np.random.seed(0)
    x += np.random.rand(n, 2) + rng.uniform(np.zeros(2), 1.0)
    return rng.permutation(x, axis=0), single, int(k)


# What only gpunumpy has, and what runs on the host -------------------------------------------------------------------


def on_devices(x: Array) -> str:
    places: tuple[np.Device, ...] = np.devices()
    with np.Device("cpu"):
        y = x.to_device(places[0]) if x.device in places else x
    with np.profile() as profile:
        np.synchronize()
    assert profile is not None
    host = np.asnumpy(y)
    assert host.flags.c_contiguous
    assert y.get().sum() == host.sum()
    before = np.host_fallback("ignore")
    used = np.memory_info().used + np.memory_info(x.device).cached
    return f"{x.device}: {used >= 0}, {before}, {np.default_device() or 'none'}"


def hosted(x: Array, path: Path) -> Array:
    np.save(path, x)
    coefficients = np.polyfit(np.arange(x.size), x, 2)
    assert_type(coefficients, np.ndarray)
    fitted: Array = np.polyval(coefficients, np.arange(x.size))
    windows = np.lib.stride_tricks.sliding_window_view(fitted, 2)
    assert_type(windows, np.ndarray)
    roots = np.emath.sqrt(np.array([-1.0, 4.0]))
    assert_type(roots, np.ndarray)
    labels = np.array2string(fitted, precision=2) + np.base_repr(5, 2)
    assert labels
    with np.errstate(divide="ignore", invalid="ignore"):
        return windows.mean(axis=-1) / np.float64(1.0)


def exchanged(x: Array) -> Array:
    """Libraries that take NumPy's array-likes take gpunumpy arrays."""
    host = numpy.asarray(x, dtype=np.float64)
    assert_type(x + host, np.ndarray)
    back = np.from_dlpack(x) + np.asarray(host, copy=True) + float(numpy.sqrt(host).mean())
    return back + [float(value) for value in x]


def limits(dtype: npt.DTypeLike) -> tuple[float, int]:
    info: np.finfo = np.finfo(dtype)
    assert np.issubdtype(np.dtype(dtype), np.floating)
    kind: np.dtype[Any] = np.result_type(np.float32, info.dtype)
    return info.eps, np.iinfo(np.int32).max + kind.itemsize


@dataclass
class Pipeline:
    """Functions one after another, as programs have them."""

    steps: list[Transform] = field(default_factory=list[Transform])

    def __call__(self, x: npt.ArrayLike) -> Array:
        result = from_anything(x)
        for step in self.steps:
            result = step(result)
        return result


def together(part: Array) -> list[Array]:
    """Of one process of several; alone it has what it sends."""
    dist.init(device=np.default_device())
    assert_type(dist.rank() + dist.size() + dist.local_rank(), int)
    total = dist.all_reduce(part, "max", out=part)
    assert_type(total, np.ndarray)
    rows = dist.all_to_all(dist.all_gather([1.0, 2.0]))
    pieced = dist.all_to_all_in_pieces((part[k : k + 1, None] for k in range(3)), np.empty((1, 3)))
    assert_type(pieced, np.ndarray)
    passed = dist.sendrecv(part, dest=dist.rank(), source=dist.rank())
    if dist.size() > 1 and dist.rank() == 0:
        dist.send(part, 1)
        assert_type(dist.recv(np.empty_like(part), source=1), np.ndarray)
    dist.barrier()
    dist.finalize()
    assert not dist.is_initialized()
    return [total, rows, passed]


def check() -> None:
    np.testing.assert_allclose(np.ones(3) * 2, [2, 2, 2], rtol=1e-12)
    np.testing.assert_array_equal(np.arange(3), np.array([0, 1, 2]))
    with np.testing.assert_raises(ValueError):
        np.zeros(3).reshape(2, 2)


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--file", type=Path, default=Path("array.npy"))
    chosen = parser.parse_args(arguments)
    size: int = chosen.size
    rng = default_rng(0)
    x, y = np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.5, 2.5])
    matrix: Matrix = np.eye(3) * 2 + np.ones((3, 3))
    report: dict[str, Any] = {"made": [made.shape for made in constructors()]}
    report["heat"] = float(heat(Grid((size, size)), 10).sum())
    report["life"] = int(life(rng.random((size, size)) > 0.5, 5).sum())
    report["operators"] = {name: made.tolist() for name, made in operators(x.copy(), y, 2).items()}
    report["rows"] = list(rows(matrix))
    report["scalars"] = scalars(x)
    report["elementwise"] = elementwise(x, np.empty(3)).tolist()
    report["statistics"] = {name: made.tolist() for name, made in statistics(x, y).items()}
    report["sorting"] = [made.tolist() for made in sorting(x, [3, 1, 2, 3])]
    report["shapes"] = shapes(x).shape
    report["solved"] = solved(matrix, x).tolist()
    report["filtered"] = filtered(rng.standard_normal((size, size)), 2.0).shape
    report["drawn"] = drawn(rng, size)[0].shape
    report["device"] = on_devices(x)
    report["hosted"] = hosted(x, chosen.file).shape
    report["exchanged"] = exchanged(x).shape
    report["together"] = [made.tolist() for made in together(x.copy())]
    report["limits"] = limits(np.float64)
    report["pipeline"] = Pipeline([np.sin, np.sqrt, lambda values: values + 1])([[0.5, 1.0]]).shape
    check()
    return report


if __name__ == "__main__":
    print(main())
