"""What a GPU has still to interpret: the host waits for the GPU rather than queue more than a little of it.

A kernel is interpreted until it is compiled. What is queued by then is interpreted all the same, and a host that runs
ahead would have queued all the rest of a loop.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import Any

from ...core.runtime.device import Device, check, driver
from ...core.runtime.memory import new_event

# That a GPU applies to points in a few milliseconds, so that the wait costs little, and the queue ends soon.
INSTRUCTIONS = 1 << 32


class Backlog:
    """Interpreted work in the queue of one GPU, in two parts: the host waits for the first, and queues the second.

    Parameters
    ----------
    device : Device
        The GPU.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._instructions = 0  # since the last event
        self._events: deque[Any] = deque()

    def add(self, instructions: int) -> None:
        """Note that so many instructions are about to be applied to points; wait if there are many before them."""
        self._instructions += instructions
        if self._instructions < INSTRUCTIONS:
            return
        self._instructions = 0
        cuda, stream = driver(), self._device.stream
        if check(cuda.cuStreamIsCapturing(stream)) != cuda.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE:
            return  # nothing runs before a program launches what it captures
        flags = cuda.CUevent_flags
        event = new_event(self._device, flags.CU_EVENT_DISABLE_TIMING.value | flags.CU_EVENT_BLOCKING_SYNC.value)
        check(cuda.cuEventRecord(event, stream))
        self._events.append(event)
        with suppress(IndexError):  # other threads take events out too
            while len(self._events) > 1:
                before = self._events.popleft()
                check(cuda.cuEventSynchronize(before))
                check(cuda.cuEventDestroy(before))
