"""A table of work whose goals are other libraries' times: its rows, how they are measured, and how they are printed."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any

import ml_dtypes
import numpy
from peers import Peer, all_peers
from table import RANDOM, heading
from timing import seconds

import gpunumpy

GPUNUMPY = "gpunumpy"
NOISE = 0.02  # by how much a library's time differs between two runs: nearer to a goal is "even"


@dataclass(frozen=True)
class Row:
    """A line of the table: `goal` has the libraries to be compared with, and at most how much of their time to take.

    A goal of infinity is none.
    """

    name: str
    work: Callable[..., Any]
    data: Callable[[], tuple[Any, ...]]
    goal: Mapping[str, float]
    calls: int = 1  # how many calls the work makes, where one of them is what counts


@cache
def _pool() -> Any:
    return RANDOM.standard_normal(1 << 26, numpy.float32)


def normal(*shape: int, dtype: str = "float32") -> Any:
    """Normally distributed numbers of any floating or complex dtype: other ones at every call, from a common store."""
    kind = numpy.dtype(getattr(ml_dtypes, dtype, dtype))
    parts = 2 if kind.kind == "c" else 1
    store = _pool()[RANDOM.integers(1 << 20) :]
    size = parts * int(numpy.prod(shape))
    flat = store[:size].copy() if size <= len(store) else numpy.resize(store, size)
    if parts == 2:
        return flat.view(numpy.complex64).astype(kind, copy=False).reshape(shape)
    return flat.astype(kind, copy=False).reshape(shape)


def measure(row: Row, peer: Peer, data: tuple[Any, ...]) -> float:
    """The seconds that a call takes, where calls queue behind each other."""
    args = tuple(peer.array(x) for x in data)
    call = peer.prepare(lambda *xs: row.work(peer.xp, *xs))
    return seconds(lambda: call(*args), peer.wait, batch=0.02, repeats=7) / row.calls


def _cell(row: Row, peer: Peer, data: tuple[Any, ...]) -> float | str:
    """What it took, or a word for why it did not run."""
    try:
        return measure(row, peer, data)
    except gpunumpy.HostFallbackWarning:
        return "on the host"
    except Exception as error:
        print(f"<!-- {row.name}, {peer.name}: {type(error).__name__}: {str(error)[:300]} -->", flush=True)
        return "failed"


def _verdict(row: Row, took: Mapping[str, float | str]) -> list[str]:
    """The cells about the goal: the time of gpunumpy over that of each peer, the goal, and whether it is met."""
    own_time = took.get(GPUNUMPY)
    ratios, worst = [], 0.0
    for name, factor in row.goal.items():
        peer_time = took.get(name)
        if isinstance(own_time, float) and isinstance(peer_time, float):
            ratio = own_time / peer_time
            ratios.append(f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.1g}")
            worst = max(worst, ratio / factor)
        else:
            ratios.append("-")
    goal = ", ".join(f"{factor:g} x {name}" for name, factor in row.goal.items() if factor < inf)
    if not goal:
        return [", ".join(ratios), "", ""]
    met = "no" if not isinstance(own_time, float) or worst > 1 + NOISE else "even" if worst > 1 else "yes"
    return [", ".join(ratios), goal, met]


def line(row: Row, peers: Sequence[Peer], columns: Sequence[str]) -> str:
    """Measure a row with every library that its goal names, and gpunumpy."""
    data = row.data()
    took = {peer.name: _cell(row, peer, data) for peer in peers if peer.name == GPUNUMPY or peer.name in row.goal}
    gc.collect()
    times = [f"{x * 1e3:.4g}" if isinstance(x, float) else x for x in (took.get(name, "") for name in columns)]
    return "| " + " | ".join([row.name, *times, *_verdict(row, took)]) + " |"


def main(description: str | None, rows: Sequence[Row]) -> None:
    """Print the table of `rows` that the command line asks for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--only", default="", help="rows whose name contains one of these, separated by semicolons")
    parser.add_argument("--peers", default="", help="names of libraries, separated by commas")
    options = parser.parse_args()
    gpunumpy.host_fallback("error")
    wanted = {name for row in rows for name in row.goal} | {GPUNUMPY}
    peers = all_peers(wanted & set(options.peers.split(",")) if options.peers else wanted)
    columns = [peer.name for peer in peers]
    print(f"{heading()}; times in ms\n")
    print("| work | " + " | ".join(columns) + " | gpunumpy / other | goal | met |")
    print("|---" * (len(columns) + 4) + "|")
    for row in rows:
        if any(part in row.name for part in options.only.split(";")):
            print(line(row, peers, columns), flush=True)
