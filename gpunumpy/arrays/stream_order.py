"""The order of work on our stream and on other libraries' streams, for memory that both see."""

from __future__ import annotations

import sys
import threading
from typing import Any

from ..core.runtime.device import Device, check, driver

# The handles that stand for streams, as DLPack and __cuda_array_interface__ number them.
LEGACY, PER_THREAD = 1, 2


def consumer_waits(device: Device, stream: int) -> None:
    """Make another library's stream wait for what is queued on ours so far."""
    if stream == LEGACY:
        return  # the driver itself orders the legacy default stream against ours
    cuda = driver()
    device.activate()
    event = check(cuda.cuEventCreate(cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING.value))
    check(cuda.cuEventRecord(event, device.stream))
    check(cuda.cuStreamWaitEvent(cuda.CUstream(stream), event, 0))
    check(cuda.cuEventDestroy(event))


def wait_for(device: Device, stream: int) -> None:
    """Make our stream wait for what is queued so far on another library's."""
    if stream == LEGACY:
        return
    cuda = driver()
    device.activate()
    event = check(cuda.cuEventCreate(cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING.value))
    check(cuda.cuEventRecord(event, cuda.CUstream(stream)))
    check(cuda.cuStreamWaitEvent(device.stream, event, 0))
    check(cuda.cuEventDestroy(event))


def device_of(ptr: int) -> Device:
    """The GPU whose memory is at an address; the default one for the null pointer of an empty array."""
    if not ptr:
        return Device("cuda")
    cuda = driver()
    ordinal = cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    Device("cuda").activate()
    return Device(f"cuda:{int(check(cuda.cuPointerGetAttribute(ordinal, ptr)))}")


class Borrowed:
    """Keeps another library's memory until our stream has done the work that was queued on it."""

    __slots__ = ("device", "thing")

    def __init__(self, device: Device, thing: object) -> None:
        self.device = device
        self.thing = thing

    def __del__(self) -> None:
        if self.device.has_stream and not sys.is_finalizing():
            _drop_when_done(self.device, self.thing)


_leaving: list[tuple[Any, object]] = []  # the event after the last use, and what to drop then
_lock = threading.Lock()


def _drop_when_done(device: Device, thing: object) -> None:
    cuda = driver()
    device.activate()
    if not cuda.cuStreamQuery(device.stream)[0]:
        return  # nothing is queued
    event = check(cuda.cuEventCreate(cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING.value))
    check(cuda.cuEventRecord(event, device.stream))
    _leaving.append((event, thing))


def sweep() -> None:
    """Drop the borrowed memory that our streams have finished with."""
    if not _leaving:
        return
    cuda = driver()
    done: list[tuple[Any, object]] = []
    with _lock:
        count = len(_leaving)  # a finaliser may append meanwhile
        stay: list[tuple[Any, object]] = []
        for entry in _leaving[:count]:
            (stay if cuda.cuEventQuery(entry[0])[0] else done).append(entry)
        _leaving[:count] = stay
    for event, _ in done:
        check(cuda.cuEventDestroy(event))
