"""What it takes to lock pages: memory of the driver, and memory of the system that is registered with it.

``python benchmarks/page_locking.py [--gigabytes 4]`` prints seconds. The system gives pages that nobody has written one
after the other as they are locked; threads that write to each before have them given side by side.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy
from cuda.bindings import driver
from table import heading

import gpunumpy as np
from gpunumpy.core.runtime.device import check

PAGE = 4096
THREADS = (0, 1, 8)  # that write to the pages before these are locked


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def touch(memory: numpy.ndarray, count: int) -> None:
    """Write to each page, in so many threads."""
    pages = numpy.array_split(memory[::PAGE], count)
    threads = [threading.Thread(target=part.fill, args=(0,)) for part in pages]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=int, default=4)
    nbytes = parser.parse_args().gigabytes * 10**9
    np.Device("cuda:0").activate()
    print(f"{heading()}; {nbytes / 1e9:g} GB, s\n\n| memory | written before | locked | unlocked |\n|---|---|---|---|")
    flags = driver.CU_MEMHOSTALLOC_PORTABLE | driver.CU_MEMHOSTALLOC_DEVICEMAP
    locked, ptr = seconds(lambda: check(driver.cuMemHostAlloc(nbytes, flags)))
    unlocked, _ = seconds(lambda: check(driver.cuMemFreeHost(ptr)))
    print(f"| the driver's | | {locked:.2f} | {unlocked:.2f} |")
    flags = driver.CU_MEMHOSTREGISTER_PORTABLE | driver.CU_MEMHOSTREGISTER_DEVICEMAP
    for count in THREADS:
        memory = numpy.empty(nbytes, numpy.uint8)
        written, _ = seconds(lambda memory=memory, count=count: touch(memory, count)) if count else (0.0, None)
        address = memory.ctypes.data
        locked, _ = seconds(lambda address=address: check(driver.cuMemHostRegister(address, nbytes, flags)))
        unlocked, _ = seconds(lambda address=address: check(driver.cuMemHostUnregister(address)))
        threads = f"{written:.2f} by {count}" if count else ""
        print(f"| the system's | {threads} | {locked:.2f} | {unlocked:.2f} |", flush=True)


if __name__ == "__main__":
    main()
