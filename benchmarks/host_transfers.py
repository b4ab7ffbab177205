"""Arrays of NumPy's, in pageable memory, to a GPU and back: python benchmarks/host_transfers.py [--megabytes 1 64].

It prints the GB/s of `asarray(x)`, whose copy is waited for, and of `asnumpy(y)`, beside CuPy and PyTorch where they
are installed. Each result of `asnumpy` is new memory, whose pages the system gives as they are written.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
from peers import all_peers
from table import heading

SECONDS = 0.7  # that a cell may take


def rate(call: Callable[[], Any], synchronize: Callable[[], Any], nbytes: int) -> float:
    """The bytes a second of a call, the median of some."""
    took: list[float] = []
    result = call()
    begin = time.perf_counter()
    while len(took) < 3 or time.perf_counter() - begin < SECONDS:
        del result
        synchronize()
        start = time.perf_counter()
        result = call()
        synchronize()
        took.append(time.perf_counter() - start)
    return nbytes / statistics.median(took)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, nargs="+", default=[1, 4, 16, 64, 256, 1024])
    options = parser.parse_args()
    peers = all_peers({"gpunumpy", "CuPy", "torch"})
    names = [peer.name for peer in peers]
    print(f"{heading()}; GB/s\n")
    print("| MB |" + "".join(f" {way}, {name} |" for way in ("to the GPU", "to the host") for name in names))
    print("|---" * (1 + 2 * len(peers)) + "|")
    for megabytes in options.megabytes:
        x = numpy.random.default_rng(0).random(megabytes * 125_000)
        rates: list[float] = []
        for peer in peers:
            rates.append(rate(partial(peer.array, x), peer.wait, x.nbytes))
        for peer in peers:
            y = peer.array(x)
            rates.append(rate(partial(peer.get, y), peer.wait, x.nbytes))
        print(f"| {megabytes} |" + "".join(f" {r / 1e9:.1f} |" for r in rates), flush=True)


if __name__ == "__main__":
    main()
