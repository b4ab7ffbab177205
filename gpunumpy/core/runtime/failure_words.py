"""A word of host memory for each GPU, in which kernels report a failure: reading it needs no copy."""

from __future__ import annotations

import numpy

from .device import Device, check, driver
from .memory import address, pinned

_words: dict[Device, tuple[numpy.ndarray, int]] = {}


def solver_failure_word(device: Device) -> tuple[numpy.ndarray, int]:
    """Return the failure word of a GPU as an array of one int32, and its address on the GPU.

    The word covers all work that ran before the last synchronisation. It is never cleared: a thread could clear the
    report of another thread's failure. So a word other than zero only means that results have to be checked.
    """
    word = _words.get(device)
    if word is None:
        device.activate()
        host_word = pinned(4, device).view(numpy.int32)
        host_word[0] = 0
        pointer = int(check(driver().cuMemHostGetDevicePointer(address(host_word), 0)))
        word = _words.setdefault(device, (host_word, pointer))
    return word


def is_failure_word_clear(device: Device) -> bool:
    """Return whether the device has a failure word and it is clear, so that the word alone tells of a failure."""
    return device.has_stream and not solver_failure_word(device)[0][0]
