"""Functions of arrays, a call each, beside CuPy: which ones take longer.

``GPUNUMPY_TIER=compiled python benchmarks/every_function.py`` prints a line for every call of `CALLS`, and then those
above the ratio of ``--above``, the largest first; without the setting, the kernels may be those of first runs. With
``--peer numpy --log2-size 18`` it does so beside NumPy, on the CPU device too.

Operands are random: `x`, `y` and the ascending `s` of float32, `d` of float64, `z` of complex64, `k` and `j` of int32
from 0 to 99, `i` of indices in any order and `b` of bools, 2^24 each; `m` and `n` are squares of as many float32, and
`w` is 256 of float32. A call that one of the two does not have has no ratio.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import Any

import numpy
from peers import Peer, peers_of
from table import heading
from timing import seconds

import gpunumpy

CALLS = """
x + y | x * 2 | x / y | x // y | x % y | abs(x) ** 0.5 | x > y | -x | abs(z) | z * z | ~k | k << 2 | k // 7 | k % 7
divmod(k, 7) | divmod(x, y)
xp.exp(x) | xp.sin(d) | xp.arctan2(x, y) | xp.hypot(x, y) | xp.power(abs(x), y) | xp.sign(x) | xp.rint(x)
xp.isnan(x)
xp.logaddexp(x, y) | xp.maximum(x, y) | xp.fmin(x, y) | xp.clip(x, -1, 1) | xp.where(b, x, y) | xp.nan_to_num(x)
xp.sinc(x)
xp.i0(x) | xp.angle(z) | xp.conj(z) | z.real + z.imag | xp.round(x, 2) | xp.heaviside(x, y) | xp.copysign(x, y)
xp.frexp(x)
xp.modf(x) | xp.ldexp(x, k) | xp.gcd(k, j) | xp.lcm(k, j) | xp.bitwise_count(k) | xp.isclose(x, y)
xp.float_power(abs(x), 3)
xp.sum(x) | xp.sum(m, 0) | xp.sum(m, 1) | xp.prod(x) | xp.mean(m, 0) | xp.std(x) | xp.var(m, 1) | xp.max(x)
xp.min(m, 0)
xp.ptp(m, 1) | xp.any(b) | xp.all(b) | xp.argmax(x) | xp.argmin(m, 0) | xp.count_nonzero(b) | xp.nansum(x)
xp.nanmean(m, 0)
xp.nanmax(x) | xp.nanargmax(x) | xp.nanstd(m, 1) | xp.average(x, weights=abs(y)) | xp.linalg.norm(x)
xp.linalg.norm(m, axis=1)
xp.median(x) | xp.median(m, axis=1) | xp.median(m, axis=0) | xp.percentile(x, 30) | xp.quantile(m, 0.3, axis=1)
xp.nanmedian(x) | xp.nanpercentile(x, 30)
xp.cumsum(x) | xp.cumsum(m, 0) | xp.cumsum(m, 1) | xp.cumprod(x) | xp.nancumsum(x) | xp.maximum.accumulate(x)
xp.diff(x) | xp.gradient(x)
xp.ediff1d(x) | xp.trapezoid(x) | xp.unwrap(x) | xp.convolve(x, w) | xp.correlate(x, w, "same")
xp.interp(x, s[:1000], w.repeat(4)[:1000])
xp.sort(x) | xp.sort(d) | xp.sort(k) | xp.sort(m, 1) | xp.sort(m, 0) | xp.argsort(x) | xp.argsort(k)
xp.argsort(m, 1) | xp.lexsort(xp.stack([x, y]))
xp.partition(x, 1000) | xp.argpartition(x, 1000) | xp.searchsorted(s, x) | xp.digitize(x, s[:1000]) | xp.unique(k)
xp.unique(x)
xp.unique(k, return_inverse=True) | xp.unique(k, return_counts=True) | xp.bincount(k) | xp.bincount(k, weights=x)
xp.histogram(x, 100)
xp.histogram2d(x, y, 50) | xp.isin(k, j[:50]) | xp.intersect1d(k, j) | xp.setdiff1d(k, j) | xp.union1d(k, j)
xp.setxor1d(k, j)
x[i] | x[b] | x[::2] + 1 | x[::-1] + 1 | m.T + 1 | m[:, ::2] + 1 | m[k[:4096]] | m[:, 2:-2][k[:4096]]
m[:, k[:4096]] | xp.take(x, i)
xp.take(m, k[:1000], 1)
xp.take_along_axis(m, n.argsort(1), 1) | xp.compress(b, x) | xp.extract(b, x) | xp.nonzero(b) | xp.flatnonzero(b)
xp.argwhere(b)
xp.choose(k % 2, [x, y]) | xp.select([b, ~b], [x, y]) | xp.where(b) | xp.diagonal(m) + 1 | xp.trace(m) | xp.tril(m)
xp.triu(m) | xp.diag(w)
set_item(x, i, 1) | set_item(x, b, 1) | set_item(x, slice(None, None, 2), 1) | set_item(m, (slice(None), 3), 1)
xp.put(x, i, y)
xp.place(x, b, y) | xp.putmask(x, b, y) | xp.copyto(x, y) | xp.copyto(x, y, where=b) | xp.add.at(x, k, y)
xp.add.at(k, j, 0) | xp.maximum.at(x, k, y)
xp.fill_diagonal(m, 1) | xp.put_along_axis(m, k[:len(m)].reshape(-1, 1), 1, 1)
xp.piecewise(x, [x < 0, x >= 0], [-1, 1])
xp.concatenate([x, y]) | xp.stack([x, y]) | xp.stack([x, y], 1) | xp.vstack([m, n]) | xp.hstack([m, n])
xp.dstack([m, n]) | xp.column_stack([x, y])
xp.block([[m, n], [n, m]]) | xp.tile(x, 2) | xp.tile(m, (1, 2)) | xp.repeat(x, 2) | xp.repeat(m, 2, 1)
xp.roll(x, 5) | xp.roll(m, 1, 0) | xp.roll(m, (1, 2), (0, 1))
xp.flip(m) | xp.fliplr(m) | xp.rot90(m) | xp.pad(m, 2) | xp.pad(m, 2, mode="reflect") | xp.pad(m, 2, mode="edge")
xp.pad(m, 2, mode="wrap") | xp.ravel(m.T)
m.T.copy() | xp.ascontiguousarray(m.T) | xp.asfortranarray(m) | m.astype("f8") | x.astype("i4") | k.astype("f4")
xp.moveaxis(m.reshape(64, -1, 64), 0, -1).copy()
xp.append(x, y) | xp.delete(x, i[:100]) | xp.insert(x, 5, 1) | xp.resize(x, (3, x.size)) | xp.trim_zeros(x)
xp.broadcast_to(w, (65536, 256)) + 1 | xp.split(m, 4)[1] + 1
xp.dot(x, y) | xp.vdot(z, z) | xp.inner(m[:64], m) | xp.outer(x[:4096], y[:4096]) | m @ n | xp.tensordot(m, n, 1)
xp.einsum("ij,ij->i", m, n) | xp.einsum("ij,jk->ik", m, n)
xp.kron(w, x[:65536]) | xp.cross(x[:3 * (x.size // 3)].reshape(-1, 3), y[:3 * (x.size // 3)].reshape(-1, 3))
xp.matmul(m.reshape(-1, 64, 64), n.reshape(-1, 64, 64))
xp.linalg.inv(m[:1024, :1024]) | xp.linalg.det(m[:1024, :1024]) | xp.linalg.solve(m[:256, :256], w)
xp.linalg.qr(m[:512, :512]) | xp.linalg.svd(m[:256, :256])
xp.linalg.eigh(m[:512, :512] + m[:512, :512].T)
xp.linalg.cholesky(m[:512, :512] @ m[:512, :512].T + 1000 * xp.eye(512)) | xp.linalg.pinv(m[:256, :256])
xp.linalg.lstsq(m[:, :64], m[:, 64]) | xp.linalg.matrix_power(m[:1024, :1024] / 64, 5)
xp.linalg.slogdet(m[:1024, :1024]) | xp.linalg.matrix_rank(m[:256, :256])
xp.cov(m[:512]) | xp.corrcoef(m[:512]) | xp.polyval(w[:5], x) | xp.polyfit(x, y, 2) | xp.vander(x[:65536], 8)
xp.meshgrid(x[:4096], y[:4096]) | xp.indices((4096, 4096))
xp.fft.fft(z) | xp.fft.ifft(z) | xp.fft.rfft(x) | xp.fft.fft2(m) | xp.fft.fftn(m.reshape(256, -1, 256))
xp.fft.fft(m, axis=0) | xp.fft.fftshift(m) | xp.fft.irfft(z)
xp.arange(x.size) | xp.linspace(0, 1, x.size) | xp.zeros(x.shape, "f4") | xp.ones(x.shape, "f4")
xp.full(x.shape, 3.0) | xp.eye(4096) | xp.tri(4096) | xp.zeros_like(m)
xp.packbits(b) | xp.unpackbits(k.view("u1")) | k.view("u1") + 1 | xp.apply_along_axis(xp.sum, 1, m[:64])
xp.array_equal(x, y) | xp.allclose(x, x) | x.item(5) | float(x.sum())
xp.sum(x, where=b) | xp.add.reduceat(x, xp.sort(k[:1000].astype("i8") * 1000).clip(0, x.size - 1))
xp.lib.stride_tricks.sliding_window_view(x, 8).sum(1) | xp.nanpercentile(m, 30, axis=1)
"""


def set_item(x: Any, index: Any, value: Any) -> None:
    """Write to elements, as a call of a function."""
    x[index] = value


def operands(log2_size: int) -> dict[str, Any]:
    """The operands, of NumPy."""
    rng = numpy.random.default_rng(0)
    size = 1 << log2_size
    side = 1 << log2_size // 2
    x, y = rng.standard_normal((2, size), "f4")
    return {
        "x": x,
        "y": y,
        "s": numpy.sort(rng.random(size, "f4")),
        "d": rng.standard_normal(size),
        "z": (x + 1j * y).astype("c8"),
        "k": rng.integers(0, 100, size, "i4"),
        "j": rng.integers(0, 100, size, "i4"),
        "i": rng.permutation(size),
        "b": rng.random(size) < 0.5,
        "m": rng.standard_normal((side, side), "f4"),
        "n": rng.standard_normal((side, side), "f4"),
        "w": rng.standard_normal(256, "f4"),
    }


def work_of(code: CodeType, names: dict[str, Any]) -> Callable[[], Any]:
    return lambda: eval(code, names)


def found(call: str, peer: Peer, names: dict[str, Any]) -> float | str:
    """The seconds of a call, or why there are none."""
    try:
        work = work_of(compile(call, call, "eval"), names)
        computed = peer.prepare(work) if peer.name != "gpunumpy" else partial(forced, work)
        return seconds(computed, peer.wait, batch=0.01, repeats=5)
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:80]}"


def forced(work: Callable[[], Any]) -> Any:
    """The result of a call, computed."""
    result = work()
    for x in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(x, gpunumpy.ndarray) and x.residence == "device":
            x.computed()
    return result


def main() -> int:
    """Print what each call takes, and the calls that take longer than the peer's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--peer", default="cupy")
    parser.add_argument("--log2-size", type=int, default=24)
    parser.add_argument("--above", type=float, default=1.3)
    parser.add_argument("--only", default="", help="calls that contain one of these, separated by semicolons")
    options = parser.parse_args()
    data = operands(options.log2_size)
    peers = peers_of([options.peer])[:2]
    places = [{"xp": peer.xp, "set_item": set_item, **{k: peer.array(v) for k, v in data.items()}} for peer in peers]
    print(f"{heading()}\n\n| call | gpunumpy (ms) | {peers[1].name} (ms) | ratio |\n|---|---|---|---|")
    slow: list[tuple[float, str]] = []
    for call in filter(None, (part.strip() for part in CALLS.replace("\n", "|").split("|"))):
        if not any(part in call for part in options.only.split(";")):
            continue
        took = [found(call, peer, names) for peer, names in zip(peers, places, strict=True)]
        ratio = took[0] / took[1] if isinstance(took[0], float) and isinstance(took[1], float) else None
        if ratio is not None and ratio > options.above:
            slow.append((ratio, call))
        cells = [f"{x * 1e3:.4g}" if isinstance(x, float) else x for x in took]
        print(f"| {call} | {cells[0]} | {cells[1]} | {'' if ratio is None else f'{ratio:.2f}'} |", flush=True)
    print(f"\nAbove {options.above}:")
    for ratio, call in sorted(slow, reverse=True):
        print(f"{ratio:.2f} {call}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
