"""The queue of a device: its recorded values that are not computed yet."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any


class Queue:
    """Pending values of one device, as weak references to the arrays that own them.

    A value recorded when `pending` has `review_at` entries is handed to `review`, with the queue, instead of being
    appended. `lock` is held by a thread that changes values of the device. Of two devices' locks a thread holds one at
    a time; `tests/core/runtime/test_lock_order.py` has the order of all locks. `state` belongs to evaluation.
    """

    state: Any

    def __init__(self, device: Any, review: Callable[[Queue, Any], None]) -> None:
        self.device = device
        self.pending: list[weakref.ref[Any]] = []
        self.lock = threading.RLock()
        self.review_at = REVIEW_INTERVAL
        self.review = review


# Recorded values between two reviews. A review removes dead entries and flushes a graph that has grown too large.
REVIEW_INTERVAL = 128
