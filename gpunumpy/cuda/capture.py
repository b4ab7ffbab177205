"""What begins and ends the capture of a GPU's work: by this package, and by libraries that capture a stream."""

from __future__ import annotations

from typing import Any

from ..arrays.stream_order import LEGACY
from ..core.recording.residence import set_residence
from ..core.runtime import evaluate
from ..core.runtime.async_copies import copies_begun
from ..core.runtime.capture import Capture
from ..core.runtime.device import Device, check, driver

# Captures of other libraries: nothing tells when the graphs that use their memory are gone.
_of_others: list[Capture] = []


def prepared_capture(device: Device, is_captured: bool = False) -> Capture:
    """Return a capture of the device's work, all of which until now is over; the queue is locked.

    Where the stream of the device is captured already, only copies beside it are over.
    """
    capture = Capture(evaluate.queue_of(device))
    try:
        capture.prepare()
        if not is_captured:
            evaluate.compute_every_value(capture.queue)
            evaluate.synchronize(device)
        elif (copies := copies_begun(device)) is not None:
            copies.synchronize()
        capture.residence = set_residence("device")
    except BaseException:
        capture.close()
        raise
    return capture


def close(capture: Capture) -> None:
    """Compute what is recorded, as a part of the graph, and have later work be no part of it."""
    try:
        evaluate.compute_pending(capture.queue)
    finally:
        set_residence(capture.residence)
        capture.close()


def undo(capture: Capture) -> None:
    """Have later work be no part of a capture that was opened, and whose stream may not have begun to capture."""
    set_residence(capture.residence)
    capture.close()
    if not capture.is_captured():
        capture.end()


def is_captured(handle: int) -> bool:
    """Return whether a stream captures."""
    if handle in (0, LEGACY):  # the legacy default stream cannot
        return False
    cuda = driver()
    status = check(cuda.cuStreamIsCapturing(cuda.CUstream(handle)))
    return bool(status != cuda.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE)


def join_capture(device: Device, handle: int) -> Capture:
    """Have the work of a device be of the graph that another library captures on a stream, until `leave_capture`."""
    known = device.capture
    if known is None or not known.is_captured():
        if known is not None:
            known.end()
        known = prepared_capture(device, is_captured=handle == int(device.stream))
        _of_others.append(known)
    else:
        known.prepare()
        known.residence = set_residence("device")
    try:
        known.open()
        wait_in_capture(device, driver().CUstream(handle), device.stream)
    except BaseException:
        undo(known)
        raise
    return known


def leave_capture(capture: Capture, handle: int) -> None:
    """Have the stream of another library wait for what is captured, and later work be no part of its graph."""
    try:
        close(capture)
    finally:
        wait_in_capture(capture.device, capture.device.stream, driver().CUstream(handle))


def wait_in_capture(device: Device, first: Any, second: Any) -> None:
    """Have what is captured on one stream of a GPU come after what is on another one: both are of one graph then."""
    if int(first) == int(second):
        return
    cuda = driver()
    device.activate()
    event = check(cuda.cuEventCreate(cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING.value))
    check(cuda.cuEventRecord(event, first))
    check(cuda.cuStreamWaitEvent(second, event, 0))
    check(cuda.cuEventDestroy(event))
