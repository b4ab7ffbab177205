"""Where operations are placed: six of them, at 10 to 10^7 elements, by residence "auto", and all in one place.

``python benchmarks/placement.py [--device cpu|cuda] [--largest 7]`` prints the microseconds of one operation whose
operands and result are on the host: NumPy arrays are made arrays, the operation runs, and its result is made a NumPy
array. "all host" has no array too large to be placed on the host. Beside a GPU CuPy does the same, if it is installed,
and there is a second table, of few elements that are on the device before and after the operation. The status is 1 if
"auto" takes more than twice the better of the other two, or a row of the second table more than CuPy.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy
from peers import Peer, peers_of
from table import heading
from timing import seconds

import gpunumpy
from gpunumpy.core.runtime.device import Device, default_device
from gpunumpy.core.runtime.evaluate import queue_of

MOST = 2.0
FEW = (1, 2, 3, 4)  # exponents of ten
Operation = Callable[[Any, Any, Any], Any]
# The operations, of two arrays; a matrix product has as many elements as the others.
OPERATIONS: dict[str, Operation] = {
    "a + b": lambda np, a, b: a + b,
    "exp(a)": lambda np, a, b: np.exp(a),
    "seven operations": lambda np, a, b: (np.sin(a) * 2 + b - 1) / np.sqrt(b * b + 1),
    "sum": lambda np, a, b: a.sum(),
    "sort": lambda np, a, b: np.sort(a),
    "matrix product": lambda np, a, b: a[: len(a) // 3 * 3].reshape(-1, 3) @ b[:9].reshape(3, 3),
}


def microseconds(call: Callable[[], Any], patience: float = 0.2) -> float:
    """The least time of a call, of those that fit into so many seconds, and of two at least."""
    best, start = float("inf"), time.perf_counter()
    call()
    for count in range(1_000_000):
        if count > 1 and time.perf_counter() - start > patience:
            break
        before = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - before)
    return best * 1e6


def time_of(place: str, operation: Operation, a: Any, b: Any) -> float:
    """The microseconds of an operation on NumPy arrays: "auto", all on the "device", or all on the "host"."""
    queue = queue_of(default_device())
    limits = queue.host_bytes, queue.host_multiplications
    gpunumpy.set_residence("device" if place == "device" else "auto")
    if place == "host":
        queue.host_bytes = queue.host_multiplications = 1 << 40
    try:
        return microseconds(lambda: gpunumpy.asnumpy(operation(gpunumpy, gpunumpy.asarray(a), gpunumpy.asarray(b))))
    finally:
        queue.host_bytes, queue.host_multiplications = limits


def round_trip(peer: Peer, operation: Operation, a: Any, b: Any) -> Any:
    """The result of an operation on NumPy arrays, as one."""
    return peer.get(operation(peer.xp, peer.array(a), peer.array(b)))


def time_on_device(peer: Peer, operation: Operation, a: Any, b: Any) -> float:
    """The microseconds of an operation on arrays of the device, whose result stays there, by "auto"."""
    gpunumpy.set_residence("device")
    operands = [peer.array(x) for x in (a, b)]
    gpunumpy.set_residence("auto")
    call = peer.prepare(lambda *xs: operation(peer.xp, *xs))
    return seconds(lambda: call(*operands), peer.wait) * 1e6


def from_the_host(exponents: Sequence[int], cupy: Peer | None) -> int:
    """Print the table of operands and results on the host; return how many rows miss the goal."""
    print("| operation | elements | auto | all device | all host | auto / the better | CuPy |\n" + "|---" * 7 + "|")
    misses = 0
    rng = numpy.random.default_rng(0)
    for name, operation in OPERATIONS.items():
        for exponent in exponents:
            a, b = rng.random(10**exponent), rng.random(10**exponent)
            auto, on_device, on_host = (time_of(x, operation, a, b) for x in ("auto", "device", "host"))
            ratio = auto / min(on_device, on_host)
            misses += ratio > MOST
            by_cupy = f"{microseconds(partial(round_trip, cupy, operation, a, b)):.1f}" if cupy else ""
            cells = f"{auto:.1f} | {on_device:.1f} | {on_host:.1f} | {ratio:.2f} | {by_cupy}"
            print(f"| {name} | 10^{exponent} | {cells} |", flush=True)
    return misses


def on_the_device(own: Peer, cupy: Peer) -> int:
    """Print the table of few elements on the device; return how many rows miss the goal."""
    print("\n| operation, on the device | elements | gpunumpy | CuPy | gpunumpy / CuPy |\n" + "|---" * 5 + "|")
    misses = 0
    rng = numpy.random.default_rng(0)
    for name, operation in OPERATIONS.items():
        for exponent in FEW:
            a, b = rng.random(10**exponent), rng.random(10**exponent)
            ours, theirs = (time_on_device(peer, operation, a, b) for peer in (own, cupy))
            misses += ours > theirs
            print(f"| {name} | 10^{exponent} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} |", flush=True)
    return misses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="cpu or cuda (default: a GPU if one is usable)")
    parser.add_argument("--largest", type=int, default=7, help="the exponent of ten of the largest size")
    given = parser.parse_args()
    device = Device(given.device) if given.device else default_device()
    peers = peers_of(["cupy"] if device.kind == "cuda" else [])
    cupy = peers[1] if len(peers) > 1 else None
    print(f"{heading()}; {device}; µs\n")
    with device:
        misses = from_the_host(range(1, given.largest + 1), cupy)
        if cupy is not None:
            misses += on_the_device(peers[0], cupy)
    sys.exit(misses > 0)


if __name__ == "__main__":
    main()
