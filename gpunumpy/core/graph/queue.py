"""The queue of a device: the values that are recorded and not computed yet."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any


class Queue:
    """The values of one device that are recorded and not computed: weak references to their owning arrays.

    `state` is whatever the evaluation keeps for the device.
    """

    state: Any

    def __init__(self, device: Any, review: Callable[[Queue, Any], None]) -> None:
        self.device = device
        self.pending: list[weakref.ref[Any]] = []
        self.lock = threading.RLock()
        self.limit = CHECK_EVERY
        self.review = review


# After this many recordings the queue is reviewed: dead entries go, and a graph that has grown too large is flushed.
CHECK_EVERY = 128
