"""Residence: whether small arrays are on the host, where NumPy computes with them at once, or on their device.

By "auto", a new array of at most `Queue.host_bytes` of its device, made of host data or by operations on arrays of the
host alone, is on the host; it takes NumPy less time to compute with than a launch takes. An operation with an operand
on the device is on the device. A larger array that a program accesses element by element, or by small parts such as
rows, is moved to the host, and back where it is computed with as a whole. By "device" only arrays of dtypes that no
kernel computes are on the host.
"""

from __future__ import annotations

import os
from typing import Any

import numpy

from .._native import exchange_states, has_met_device, tell, tried_first
from ..dtypes import KIND, ML_DTYPES
from ..errors import allowed
from ..runtime import device as device_module
from ..runtime import evaluate, hints
from ..runtime.device import Device, default_device
from .array import (
    ORDERED,
    READ_ONLY,
    from_host,
    from_numpy,
    has_views,
    is_scalar,
    memory_on_host,
    ndarray,
    on_host_memory,
    require_device,
    to_host,
)
from .host_memory import is_writeable, window
from .states import take_state

_RESIDENCES = ("auto", "device")
# The dtypes that both kernels and NumPy compute.
DTYPES = frozenset(KIND.keys() - ML_DTYPES)


def set_residence(residence: str) -> str:
    """Set where small arrays are, and return what was set before.

    Parameters
    ----------
    residence : {"auto", "device"}
        "auto", the default: small arrays made of host data, and what is computed from such arrays alone, are on the
        host, and NumPy computes with them at once. "device": they are on their device like all others. Arrays stay
        where they are. The environment variable ``GPUNUMPY_RESIDENCE`` sets the initial value.

    Returns
    -------
    str
        The value before.

    Raises
    ------
    ValueError
        For another word.
    """
    global _residence
    if residence not in _RESIDENCES:
        raise ValueError(f"{residence!r} is no residence; {allowed(_RESIDENCES)}")
    before, _residence = _residence, residence
    tell(auto=residence == "auto")
    return before


def move_to_host(array: ndarray, value: Any, parts: list[ndarray]) -> Any:
    """Move an array that owns its storage, and is accessed element by element or by small parts, to the host.

    The core, which counts accesses, calls this. Return the value that is to be written, as NumPy takes it. Return None,
    and leave the array where it is, if there are views of it other than `parts`, which move with it, if its memory is
    seen by other libraries, or if the value is neither a number nor on the host.
    """
    is_number = isinstance(value, (bool, int, float, complex, numpy.generic))
    if not is_number and not (type(value) is ndarray and (not value.shape or memory_on_host(value) is not None)):
        return None
    node, queue = array.computed(), array.queue
    if array._flags & READ_ONLY or node.data.exported or not _are_all_views(array, parts):
        return None
    written = value if is_number else to_host(value)
    if queue.shares_memory:
        evaluate.flush(queue)  # what else reads the memory
    memory = None if queue.shares_memory else to_host(array)
    with queue.lock:
        if array._node is not node:  # another thread has written to it
            return None
        if queue.shares_memory and (queue.run is not None or evaluate.live_roots(queue)[0]):
            return None
        moved = _borrowed(array) if memory is None else on_host_memory(memory, array.device)
        exchange_states([array, *parts], [moved, *(_part_on_host(part, moved._base, array) for part in parts)])
    return written


def scalar_to_host(array: ndarray) -> bool:
    """Move the 0-d result of an operation, which has met many operands on the host, there; return whether it was moved.

    The core, which counts meetings, calls this. Such a result has no parts, and nothing that it shows is written to.
    """
    if array.dtype not in DTYPES or array.device.capture is not None:
        return False
    found = to_host(array)
    with array.queue.lock:
        if memory_on_host(array) is None:
            take_state(array, on_host_memory(found[()], array.device))
    return True


def _are_all_views(array: ndarray, parts: list[ndarray]) -> bool:
    """Return whether no views but these show an array, and all of them can move to the host with it."""
    are_plain = all(part._base is array and part._component == "" for part in parts)
    return are_plain and not has_views(array, len(parts))


def _part_on_host(part: ndarray, memory: Any, owner: ndarray) -> ndarray:
    """Return what a view of an array is once the array's elements are in memory of the host."""
    shape, strides, offset = part._layout
    itemsize = memory.itemsize
    if 0 in shape:
        shown = memory.reshape(-1)[:0].reshape(shape)
    else:
        shown = numpy.ndarray(shape, memory.dtype, memory, offset * itemsize, tuple(n * itemsize for n in strides))
    if part._flags & READ_ONLY:
        shown.flags.writeable = False
    moved = on_host_memory(shown, owner.device, owner)
    moved._flags |= part._flags & ORDERED
    return moved


def look_to_write(target: ndarray, value: ndarray) -> ndarray | None:
    """Return a copy on the host of a value of the device that is to be written to an array which was moved to the host.

    None if NumPy does not write it: the array may have met the device so often that it goes back.
    """
    if value.dtype not in DTYPES or value.queue is not target.queue:
        return None
    if has_met_device(target):
        require_device(target)
        return None
    found = to_host(value)
    return on_host_memory(found[()] if is_scalar(value) else found, value.device)


def given(array: ndarray) -> ndarray:
    """Return a new array of data of the host, on the host until it is computed with as a whole if that costs nothing.

    So it is where the device shares the host's memory.
    """
    is_borrowed = is_auto() and array.queue.shares_memory and array._base is None and array.dtype in DTYPES
    if is_borrowed and array.nbytes > host_bytes(array.device) and not array._node.data.is_spilled:
        take_state(array, _borrowed(array))
    return array


def _borrowed(array: ndarray) -> ndarray:
    """Return an array on the host that shows the memory of another one's computed value, which its device shares.

    No pending value may read that memory, as NumPy writes to it from now on.
    """
    shown = on_host_memory(window(array._node), array.device)
    shown._source = array._node
    return shown


tell(move_to_host=move_to_host, scalar_to_host=scalar_to_host, look_to_write=look_to_write)
if hints.IS_ON:
    tell(note_elements=(hints.note_elements, hints.ELEMENT_COUNT))
tell(default_queue=(device_module.with_devices, vars(device_module), lambda: evaluate.queue_of(default_device())))
_residence = "auto"
set_residence(os.environ.get("GPUNUMPY_RESIDENCE") or "auto")


def is_auto() -> bool:
    """Return whether small arrays may be on the host now.

    They may not while the program has errors of floating-point operations checked: the device's operations are watched.
    """
    return _residence == "auto" and evaluate.watcher is None


def host_bytes(device: Device) -> int:
    """Return the bytes of the largest arrays of a device that are placed on the host."""
    return evaluate.queue_of(device).host_bytes


def is_for_host(data: Any, device: Device) -> bool:
    """Return whether a new array of NumPy data belongs on the host: it is small, of a dtype that kernels compute."""
    return is_auto() and data.nbytes <= host_bytes(device) and data.dtype in DTYPES


@tried_first
def resident(data: Any, device: Device | None = None) -> ndarray:
    """Return NumPy data that nothing else refers to, an array or a scalar, as an array where size and dtype put it.

    Its device is the default device if none is given.
    """
    device = default_device() if device is None else device
    if is_for_host(data, device):
        return on_host_memory(data, device)
    return from_numpy(numpy.asarray(data), device)


def resident_copy(data: Any, device: Device | None = None) -> ndarray:
    """Return `resident` of NumPy data that others refer to."""
    target = default_device() if device is None else device
    return resident(data.copy("K"), target) if is_for_host(data, target) else from_host(data, target)


def result_on_host(memory: Any, device: Device) -> ndarray:
    """Return an array on the host with a result of NumPy's that shows no memory of an array of this package.

    The memory of an array that is no view has no gaps: so views find its elements where they were once `require_device`
    has packed them.
    """
    base = memory.base
    if base is None or memory.flags.forc:
        return on_host_memory(memory, device)
    if not is_writeable(memory) and base.dtype == memory.dtype and base.flags.forc and base.base is None:
        return on_host_memory(memory, device, on_host_memory(base, device))  # an element that is shown several times
    return on_host_memory(memory.copy("K"), device)
