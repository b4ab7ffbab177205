"""Loops over small statements, such as stencils and sweeps, beside the same loops compiled whole by hand with JAX.

``python benchmarks/loops.py [--size small|large|both] [--only NAME ...] [--peers jax cupy numpy] [--repeats N]``.
A statement of a small loop moves what an H200 moves in less than 5 µs, one of a large loop 10 to 50 µs. Every result is
compared with NumPy's before it is timed. gpunumpy, CuPy and NumPy run the same program (benchmarks/loop_programs), JAX
runs one call of `jax.jit`. Run it with ``GPUNUMPY_TIER=compiled``, so that kernels are those of later runs, and on a
GPU with ``GPUNUMPY_RESIDENCE=device``, so that no small array is computed on the host. On a GPU NumPy is timed at the
small size alone. "µs per operation" is gpunumpy's time over the array operations that the program asks for. The status
is 1 if a library failed or computed something else.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from math import exp, log
from typing import Any

import numpy
from loop_programs import LOOPS
from loop_programs.loop import Loop
from peers import Peer, peers_of
from table import heading
from timing import seconds

import gpunumpy

GPUNUMPY = "gpunumpy"
PEERS = ("jax", "cupy", "numpy")
BATCH_S = 0.02


def prepared(loop: Loop, peer: Peer, arrays: Sequence[Any], steps: int) -> Callable[[], Any]:
    """Return a call that runs the loop, with the arrays where the library computes."""
    program, library = loop.program, peer.xp
    if peer.name == "jax.jit":
        program, library = loop.by_hand, sys.modules["jax"]
    call = peer.prepare(lambda *args: program(library, *args, steps))
    args = tuple(peer.array(x) for x in arrays)
    return lambda: call(*args)


def check(loop: Loop, peer: Peer, result: Any, expected: Any) -> None:
    """Raise ValueError unless a result is NumPy's, but for rounding."""
    together = zip(*((x if isinstance(x, tuple) else (x,)) for x in (result, expected)), strict=True)
    for values, reference in ((peer.get(x), y) for x, y in together):
        if (values.dtype, values.shape) != (reference.dtype, reference.shape):
            raise ValueError(f"{values.dtype}{values.shape} instead of {reference.dtype}{reference.shape}")
        largest = numpy.abs(reference).max()
        if not numpy.isfinite(largest):
            raise ValueError("NumPy's own result is not finite")
        differences = numpy.abs(values - reference)
        share = 1 - numpy.mean(differences <= loop.tolerance * largest)  # what is not a number differs
        if share > loop.different:
            raise ValueError(
                f"{share:.2%} differ from NumPy's, by up to {differences.max():.3g} where {largest:.3g} is"
            )


def cell(loop: Loop, peer: Peer, size: str, arrays: Sequence[Any], expected: Any, repeats: int) -> float | str:
    """The seconds of a run, or a word for why there are none."""
    steps = loop.sizes[size][1]
    try:
        call = prepared(loop, peer, arrays, steps)
        check(loop, peer, call(), expected)
        return seconds(call, peer.wait, batch=BATCH_S, repeats=repeats)
    except Exception as error:
        print(f"<!-- {loop.name}, {size}, {peer.name}: {type(error).__name__}: {str(error)[:300]} -->", flush=True)
        return "failed"


def measure(loop: Loop, size: str, peers: Sequence[Peer], repeats: int) -> dict[str, float | str]:
    """What each library takes for a run, by its name."""
    n, steps = loop.sizes[size]
    arrays = loop.data(numpy.random.default_rng(0), n, steps)
    expected = loop.program(numpy, *arrays, steps)
    took = {}
    for peer in peers:
        if peer.name != "NumPy" or size == "small" or gpunumpy.default_device().kind == "cpu":
            took[peer.name] = cell(loop, peer, size, arrays, expected, repeats)
            gc.collect()
    return took


def host_ms() -> float:
    """What 10^5 additions of Python take: small loops are bound by the host, whose speed may change meanwhile."""
    start, total = time.perf_counter(), 0
    for k in range(100_000):
        total += k
    return (time.perf_counter() - start) * 1e3


def ratio(took: dict[str, float | str], name: str) -> float | None:
    own_time, peer_time = took[GPUNUMPY], took.get(name)
    return own_time / peer_time if isinstance(own_time, float) and isinstance(peer_time, float) else None


def line(loop: Loop, size: str, took: dict[str, float | str], names: Sequence[str]) -> str:
    """One row of the table."""
    n, steps = loop.sizes[size]
    times = [f"{x * 1e3:.2f}" if isinstance(x, float) else x for x in (took.get(name, "") for name in names)]
    ratios = ["" if x is None else f"{x:.2f}" for x in (ratio(took, name) for name in names[1:])]
    own_time = took[GPUNUMPY]
    each = f"{own_time * 1e6 / (steps * loop.operations):.2f}" if isinstance(own_time, float) else ""
    return "| " + " | ".join([loop.name, f"{size} {n}", str(steps), *times, *ratios, each]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=("small", "large", "both"), default="both")
    parser.add_argument("--only", nargs="+", default=[loop.name for loop in LOOPS], metavar="NAME", help="loops")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS, help="default: those installed")
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    if unknown := set(given.only) - {loop.name for loop in LOOPS}:
        parser.error(f"no such loops: {', '.join(sorted(unknown))}; there are {', '.join(x.name for x in LOOPS)}")
    peers = [peer for peer in peers_of(given.peers) if peer.name != "cupy.fuse"]
    names = [peer.name for peer in peers]
    print(f"{heading()}; times in ms\n")
    columns = ["loop", "size", "steps", *names, *(f"gpunumpy / {name}" for name in names[1:]), "µs per operation"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|", flush=True)
    found: dict[str, list[dict[str, float | str]]] = {}
    speeds = [host_ms()]
    for size in ("small", "large") if given.size == "both" else (given.size,):
        for loop in LOOPS:
            if loop.name in given.only and size in loop.sizes:
                took = measure(loop, size, peers, given.repeats)
                found.setdefault(size, []).append(took)
                print(line(loop, size, took, names), flush=True)
                speeds.append(host_ms())
    print(
        f"\n10^5 additions of Python, before, between and after the rows: {min(speeds):.1f} to {max(speeds):.1f} ms\n"
    )
    for size, rows in found.items():
        for name in names[1:]:
            if ratios := [x for x in (ratio(took, name) for took in rows) if x is not None]:
                mean = exp(statistics.fmean(map(log, ratios)))
                print(f"Geometric mean of gpunumpy / {name}, {size}: {mean:.2f} ({len(ratios)} loops)")
    sys.exit(any("failed" in took.values() for rows in found.values() for took in rows))


if __name__ == "__main__":
    main()
