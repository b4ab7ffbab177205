"""Ordering between a device's stream and the streams of other libraries, for memory that both use."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..core.errors import DeviceError
from ..core.runtime import evaluate
from ..core.runtime.async_copies import copies_begun
from ..core.runtime.device import Device, briefly_active, check, driver, is_lost
from ..core.runtime.marks import event_or_wait
from ..core.runtime.memory import new_event
from ..core.runtime.moves import mark_on

# The numbers that DLPack and __cuda_array_interface__ give to CUDA's default streams instead of a handle.
LEGACY, PER_THREAD = 1, 2


# Attributes by which streams of other libraries tell their handles: CuPy's and Numba's, and torch's.
_HANDLES = ("ptr", "cuda_stream", "handle")


def stream_handle(stream: Any, device: Device) -> int:
    """Return the handle of a CUDA stream: of one with ``__cuda_stream__``, of CuPy's and torch's, or a number.

    Parameters
    ----------
    stream
        The stream.
    device
        The device that it is to be of.

    Raises
    ------
    TypeError
        If it is no stream.
    ValueError
        If it says that it is of another device.
    """
    number = device_number(stream)
    if number is not None and number != device.index:
        raise ValueError(f"a stream of cuda:{number} is given for work of {device}")
    return _told_handle(stream) or LEGACY


def handle_on(stream: Any, device: Device) -> int | None:
    """Return the handle of a stream that work of a device is ordered with; None for None, and on the CPU.

    Raises
    ------
    TypeError
        If it is no stream, on the CPU too, which has none.
    ValueError
        If it says that it is of another GPU.
    """
    if stream is None:
        return None
    if device.has_stream:
        return stream_handle(stream, device)
    _told_handle(stream)
    return None


def _told_handle(stream: Any) -> int:
    """Return the handle that a stream tells, which is 0 for CUDA's default stream. Raise TypeError if it is none."""
    if hasattr(stream, "__cuda_stream__"):
        told = stream.__cuda_stream__
        return int((told() if callable(told) else told)[1])
    found = next((getattr(stream, name) for name in _HANDLES if hasattr(stream, name)), stream)
    try:
        return operator.index(getattr(found, "value", found) or 0)
    except TypeError:
        raise TypeError(f"a CUDA stream or its handle is needed, not {type(stream).__name__!r}") from None


def device_number(stream: Any) -> int | None:
    """Return the number of the GPU that a stream says to be of; None if it says nothing."""
    of = getattr(stream, "device", stream)
    found = next((n for name in ("index", "device_id") if isinstance(n := getattr(of, name, None), int)), None)
    return None if found is None or found < 0 else found


def consumer_waits(device: Device, stream: int) -> None:
    """Make another library's stream wait for the work queued so far on the device's stream."""
    if stream == LEGACY:
        return  # the driver orders the legacy default stream against the device's stream
    cuda = driver()
    event = new_event(device)
    check(cuda.cuEventRecord(event, device.stream))
    check(cuda.cuStreamWaitEvent(cuda.CUstream(stream), event, 0))
    check(cuda.cuEventDestroy(event))


def wait_for(device: Device, stream: int) -> None:
    """Make the device's stream, and copies beside it, wait for the work queued so far on another library's stream."""
    copies = copies_begun(device)
    if stream == LEGACY and copies is None:
        return
    mark = mark_on(device, driver().CUstream(stream))
    if stream != LEGACY:
        mark.precede(device.stream)
    if copies is not None:
        copies.wait_for(mark)


def waits_for_copies(device: Device, stream: int) -> None:
    """Make another library's stream wait for the copies between host and device that are queued so far."""
    if (copies := copies_begun(device)) is not None:
        copies.precede(driver().CUstream(stream))


@contextmanager
def ordered_with(stream: Any, device: Device) -> Iterator[None]:
    """Return a context whose work comes after what is on another library's stream, and before what comes to it later.

    Parameters
    ----------
    stream : object, int or None
        The stream, or its handle. None orders nothing.
    device : Device
        The device of the work; the CPU has no streams.
    """
    handle = handle_on(stream, device)
    if handle is not None:
        wait_for(device, handle)
    yield
    if handle is not None:
        evaluate.compute_pending(evaluate.queue_of(device))
        consumer_waits(device, handle)


def device_of(ptr: int) -> Device:
    """Return the GPU that an address belongs to; the default GPU for the null pointer of an empty array."""
    if not ptr:
        return Device("cuda")
    cuda = driver()
    ordinal = cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    Device("cuda").activate()
    return Device(f"cuda:{int(check(cuda.cuPointerGetAttribute(ordinal, ptr)))}")


class Borrowed:
    """Keeps the owner of another library's memory alive until the device's stream has finished with that memory."""

    __slots__ = ("device", "owner")

    def __init__(self, device: Device, owner: object) -> None:
        self.device = device
        self.owner = owner

    def __del__(self) -> None:
        """Leave the owner to `sweep` if the stream has work left."""
        if self.device.has_stream and not sys.is_finalizing() and not is_lost(self.device):
            _drop_when_done(self.device, self.owner)


# The device, the event after the last use, and the owner to drop then.
_dropping: list[tuple[Device, Any, object]] = []


def _drop_when_done(device: Device, owner: object) -> None:
    """Keep an owner until the work queued so far on the device's stream is done."""
    cuda = driver()
    if device.capture is not None:
        device.capture.keep([owner])
        return
    with suppress(DeviceError), briefly_active(device):  # after an error no work goes on
        if not cuda.cuStreamQuery(device.stream)[0]:
            return  # nothing is queued
        event = event_or_wait(device)
        if event is not None:
            _dropping.append((device, event, owner))


def sweep() -> None:
    """Drop borrowed memory that the devices' streams have finished with."""
    # Other threads, and signal handlers in between, sweep and append too: each entry is removed by itself.
    for entry in list(_dropping):
        device, event, _ = entry
        if not is_lost(device) and driver().cuEventQuery(event)[0]:
            continue
        try:
            _dropping.remove(entry)
        except ValueError:  # another sweep was first
            continue
        if not is_lost(device):
            check(driver().cuEventDestroy(event))
