"""A table of work beside its peers: its rows, how they are measured, and how they are printed.

The floor of a row is the bytes that must move over the rate of a device-to-device copy of 256 MiB in the same run.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
from peers import Peer, all_peers
from timing import seconds

import gpunumpy

N = 1 << 26
RANDOM = numpy.random.default_rng(1)
# Libraries that compile a function for one shape of its result.
EAGER_ONLY = frozenset({"cupy.fuse", "jax.jit", "torch.compile"})
NO_FUSE = frozenset({"cupy.fuse"})


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
    return gpunumpy.default_device().hardware


def main(description: str | None, rows: Sequence[Row]) -> None:
    """Print the table of `rows` that the command line asks for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--peers", default="", help="names of libraries, separated by commas")
    options = parser.parse_args()
    peers = all_peers(set(options.peers.split(",")) if options.peers else None)
    rate = copy_rate()
    print(heading())
    print(f"copy {rate / 1e12:.2f} TB/s; times in ms\n")
    print("| work | floor | " + " | ".join(p.name for p in peers) + " | gpunumpy / floor | goal |")
    print("|---" * (len(peers) + 4) + "|")
    for row in rows:
        if options.only not in row.name:
            continue
        cells = []
        own_time = float("nan")
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
                own_time = took
            cells.append(f"{took * 1e3:.4g}")
        floor = row.nbytes / rate
        print(
            f"| {row.name} | {floor * 1e3:.4g} | " + " | ".join(cells) + f" | {own_time / floor:.2f} | {row.goal} |",
            flush=True,
        )
