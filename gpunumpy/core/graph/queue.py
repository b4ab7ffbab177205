"""The queue of a device: its recorded values that are not computed yet."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ..locks import ReentrantLock


class Queue:
    """Pending values of one device, as weak references to the arrays that own them.

    A value recorded when `pending` has `review_at` entries is handed to `review`, with the queue, instead of being
    appended. An entry stands for the array's value at the time of the flush, so one too many, or one for a value that
    is computed, is harmless; but one that is missing loses a write. `lock` is held by a thread that changes values of
    the device. Of two devices' locks a thread holds one at a time; `tests/core/runtime/test_lock_order.py` has the
    order of all locks. `state`, `run` and `runs_beside` belong to evaluation: `run` is what is being computed,
    `runs_beside` what flushes compute that signal handlers call in its midst. `publications` counts how often nodes of
    the device have been turned into leaves. `alignment` tells which addresses count as aligned, as multiples of how
    many bytes. `host_bytes` are those of the largest arrays of the device that are placed on the host,
    `host_multiplications` those of the largest products. `shares_memory` tells whether its memory is the host's.
    """

    __slots__ = (
        *("alignment", "device", "host_bytes", "host_multiplications", "lock", "pending", "publications", "review"),
        *("review_at", "run", "runs_beside", "shares_memory", "state"),
    )

    state: Any

    def __init__(
        self,
        device: Any,
        review: Callable[[Queue, Any], None],
        alignment: int,
        host_bytes: int,
        host_multiplications: int,
    ) -> None:
        self.belong_to(device, alignment, host_bytes, host_multiplications)
        self.pending: list[weakref.ref[Any]] = []
        self.lock = ReentrantLock()
        self.review_at = REVIEW_INTERVAL
        self.review = review
        self.run: Any = None
        self.runs_beside: list[Any] = []
        self.publications = 0

    def belong_to(self, device: Any, alignment: int, host_bytes: int, host_multiplications: int) -> None:
        """Have the values be of a device: of another one than before only if none of them is in memory of that one."""
        self.device = device
        self.shares_memory: bool = device.shares_host_memory
        self.alignment = alignment
        self.host_bytes, self.host_multiplications = host_bytes, host_multiplications


# Recorded values between two reviews. A review removes dead entries and flushes a graph that has grown too large.
REVIEW_INTERVAL = 128
