"""What a process takes to read memory of another one on the same machine, while its GPU is idle and while it works.

``python benchmarks/between_processes.py``, on a machine with a GPU, or with two: then the other process has the second.
Times are in milliseconds, the medians of three, for 1 GiB: to lend an array, to open and to close its block, and to
read it from a block that is open.
"""

from __future__ import annotations

import os
import pickle
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from table import heading

import gpunumpy as np
from gpunumpy.core.recording.between_processes import borrowed_copy, lend
from gpunumpy.core.runtime import shared_blocks

SIDE, REPEATS = 16384, 3


def tell(
    what: str,
    call: Callable[[Any], Any],
    before: Callable[[], Any] = lambda: None,
    after: Callable[[Any], Any] = lambda result: None,
) -> None:
    """Print the time of a call, on an idle GPU and behind a matrix product.

    It is given what `before` returns, and `after` its result: these are not timed.
    """
    a = np.ones((SIDE, SIDE), np.float32)
    (a @ a).computed()
    cells = []
    for is_busy in (False, True):
        took = []
        for _ in range(REPEATS):
            given = before()
            np.synchronize()
            product = (a @ a).computed() if is_busy else None
            start = time.perf_counter()
            result = call(given)
            took.append(time.perf_counter() - start)
            del product
            after(result)
        cells.append(f"{statistics.median(took) * 1e3:.2f}")
    print(f"| {what} | {' | '.join(cells)} |", flush=True)


def read(handle: shared_blocks.Handle) -> None:
    device, dtype = np.default_device(), np.dtype(np.float32)

    def opened() -> int:
        return shared_blocks._open(device, handle)

    def close(ptr: int) -> None:
        shared_blocks._close(device, ptr)

    tell("open", lambda _: opened(), after=close)
    tell("close", close, before=opened)
    borrowed_copy(handle, (SIDE, SIDE), dtype, device)
    tell("read", lambda _: borrowed_copy(handle, (SIDE, SIDE), dtype, device))


def main() -> None:
    if len(sys.argv) > 1:
        read(shared_blocks.Handle(*pickle.loads(bytes.fromhex(sys.argv[1]))))
        return
    x = np.ones((SIDE, SIDE), np.float32)
    lent = lend(x)
    assert lent is not None
    print(f"{heading()}\n\n| 1 GiB, ms | idle | behind a product |\n|---|---|---|")
    tell("lend", lambda _: lend(x, ()), after=lambda each: each.end())
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": str(len(np.devices()) - 2)}
    command = [sys.executable, __file__, pickle.dumps(tuple(lent.block.handle)).hex()]
    subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    main()
