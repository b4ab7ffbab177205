"""A word of host memory for each GPU, in which kernels tell that something failed: a look at it needs no copy."""

from __future__ import annotations

import threading

import numpy

from .device import Device, check, driver
from .memory import address, pinned

_words: dict[Device, tuple[numpy.ndarray, int]] = {}
_lock = threading.Lock()


def failure_word(device: Device) -> tuple[numpy.ndarray, int]:
    """The word as an array of one int32, and its address on the GPU.

    It is complete for what ran before the last synchronisation, and never cleared: threads could not tell whose failure
    they would forget. What is not zero is only a reason to look closer.
    """
    word = _words.get(device)
    if word is None:
        with _lock:
            word = _words.get(device)
            if word is None:
                device.activate()
                host = pinned(4, device).view(numpy.int32)
                host[0] = 0
                pointer = int(check(driver().cuMemHostGetDevicePointer(address(host), 0)))
                word = _words[device] = host, pointer
    return word


def is_clear(device: Device) -> bool:
    """Whether the device has such a word, and it is clear: then the next failure can be told by it alone."""
    return device.has_stream and not failure_word(device)[0][0]
