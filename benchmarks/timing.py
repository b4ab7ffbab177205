"""How every benchmark times: warm up, then batches of calls between two synchronisations, and the median batch."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 0.25  # seconds of one call that is timed but twice


def seconds(call: Callable[[], Any], synchronize: Callable[[], Any], batch: float = 0.03, repeats: int = 9) -> float:
    """The median time of one call, in seconds.

    Calls of one batch queue behind each other, as in a program; a batch lasts about `batch` seconds. There
    are fewer batches of a call that takes long.
    """

    def once_alone() -> float:
        start = time.perf_counter()
        call()
        synchronize()
        return time.perf_counter() - start

    once_alone()
    once = once_alone()
    if once > PATIENCE:
        return min(once, once_alone())
    repeats = max(3, min(repeats, int(PATIENCE / once)))
    call()
    once = once_alone()
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
