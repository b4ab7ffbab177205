"""How every benchmark times: warm up, then batches of calls between two synchronisations, and the median batch."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def seconds(call: Callable[[], Any], synchronize: Callable[[], Any], batch: float = 0.03, repeats: int = 9) -> float:
    """The median time of one call, in seconds.

    Calls of one batch queue behind each other, as in a program; a batch lasts about `batch` seconds.
    """
    for _ in range(3):
        call()
    synchronize()
    start = time.perf_counter()
    call()
    synchronize()
    once = time.perf_counter() - start
    count = max(1, min(2000, int(batch / max(once, 1e-6))))
    for _ in range(count):
        call()
    synchronize()
    samples = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(count):
            call()
        synchronize()
        samples.append((time.perf_counter() - start) / count)
    return statistics.median(samples)
