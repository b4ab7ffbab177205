"""Conjugate gradients, whose loop looks at a norm in every step, beside CuPy and NumPy: the same program by each.

``python benchmarks/conjugate_gradients.py [--n 1000] [--peers cupy numpy]`` solves one implicit step of heat on n by n
points: a five-point operator by slices, until the norm of the residual is a millionth of the right side's. Every result
is put into the equation by NumPy before it is timed; the status is 1 if a library failed or its result solves nothing.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy
from peers import Peer, peers_of
from table import heading
from timing import seconds

DIFFUSION = 50.0  # of a step, in squares of the grid
TOLERANCE = 1e-6


def operator(x: Any) -> Any:
    """The five-point operator of an implicit step, with zeros around the grid."""
    y = (1 + 4 * DIFFUSION) * x
    y[1:] -= DIFFUSION * x[:-1]
    y[:-1] -= DIFFUSION * x[1:]
    y[:, 1:] -= DIFFUSION * x[:, :-1]
    y[:, :-1] -= DIFFUSION * x[:, 1:]
    return y


def solve(np: Any, b: Any) -> tuple[Any, int]:
    """Return what `operator` makes `b` of, and the steps that it took to find it."""
    x, r, p, steps = np.zeros_like(b), b.copy(), b.copy(), 0
    square = (r * r).sum()
    end = TOLERANCE * np.linalg.norm(b)
    while np.linalg.norm(r) > end:
        q = operator(p)
        length = square / (p * q).sum()
        x += length * p
        r -= length * q
        before, square = square, (r * r).sum()
        p = r + square / before * p
        steps += 1
    return x, steps


def row(peer: Peer, data: Any) -> tuple[int, float]:
    """Return the steps and the seconds that a library takes.

    Raises
    ------
    ValueError
        If what it finds is no solution.
    """
    b = peer.array(data)
    x, steps = solve(peer.xp, b)
    left = numpy.linalg.norm(data - operator(peer.get(x))) / numpy.linalg.norm(data)
    if not left < 1.01 * TOLERANCE:
        raise ValueError(f"{left:.2g} of the right side is left")
    return steps, seconds(lambda: solve(peer.xp, b), peer.wait)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1000, help="points of a side of the grid")
    parser.add_argument("--peers", nargs="+", choices=("cupy", "numpy"), default=("cupy", "numpy"))
    given = parser.parse_args()
    peers = [peer for peer in peers_of(given.peers) if peer.name != "cupy.fuse"]
    data = numpy.random.default_rng(0).random((given.n, given.n))
    print(f"{heading()}; {given.n:,} by {given.n:,} points of float64; the goal is 0.8 of CuPy's time\n")
    print("| library | steps | ms | µs a step | gpunumpy / it |\n" + "|---" * 5 + "|")
    times: list[float] = []
    failed = False
    for peer in peers:
        try:
            steps, took = row(peer, data)
        except Exception as error:
            print(f"<!-- {peer.name}: {type(error).__name__}: {str(error)[:300]} -->", flush=True)
            failed = True
            continue
        times.append(took)
        cells = f"{took * 1e3:.1f} | {took * 1e6 / steps:.1f} | {times[0] / took:.2f}"
        print(f"| {peer.name} | {steps} | {cells} |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
