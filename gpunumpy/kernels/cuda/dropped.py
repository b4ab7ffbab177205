"""Handles of the driver that nothing holds any more: modules and CUDA graphs, which work on the GPU may still use.

All work of a GPU is queued on one stream, in order, so what nothing holds may be destroyed once what is queued by then
has run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, TypeVar

from ...core.runtime import memory
from ...core.runtime.device import Device, check, driver
from ...core.runtime.marks import event_or_wait

_Entry = TypeVar("_Entry")
# The name of the function that destroys a handle, and the handle.
Dropped = tuple[str, Any]

# For each GPU, the handles that nothing holds, and those for which an event has been recorded since.
_dropped: dict[Device, deque[Dropped]] = {}
_waiting: dict[Device, deque[tuple[Any, list[Dropped]]]] = {}


def dropped_on(device: Device) -> deque[Dropped]:
    """Return what takes the handles that nothing holds, from finalizers too: these call no driver."""
    return _dropped.setdefault(device, deque())


def destroy_dropped(device: Device) -> None:
    """Destroy what nothing holds: at this call the handles on which no work waits, and the others at a later one.

    It is called before more is made, and where memory is short.

    A signal handler may do the same in the middle. So a handle is taken out of its list first; if the handler raises an
    exception then, it is never destroyed.
    """
    if device not in _dropped or device.capture is not None:
        return
    cuda = driver()
    dropped, waiting = _dropped[device], _waiting.setdefault(device, deque())
    if not (dropped or waiting):
        return
    device.activate()  # a module is unloaded from the GPU that is active
    handles = list(_taken_out(dropped))
    if handles:
        try:
            event = event_or_wait(device)
        except BaseException:
            dropped.extend(handles)
            raise
        if event is None:
            _destroy(handles)
        else:
            waiting.append((event, handles))
    for event, handles in _taken_out(waiting):
        if cuda.cuEventQuery(event)[0]:  # it has not been reached
            waiting.appendleft((event, handles))
            return
        _destroy(handles)
        check(cuda.cuEventDestroy(event))


memory.out_of_memory_hooks.append(destroy_dropped)


def _destroy(handles: list[Dropped]) -> None:
    for destroy, handle in handles:
        check(getattr(driver(), destroy)(handle))


def _taken_out(entries: deque[_Entry]) -> Iterator[_Entry]:
    """Take the entries out of a list, the first one first, until there is none."""
    while True:
        try:
            entry = entries.popleft()
        except IndexError:
            return
        yield entry
