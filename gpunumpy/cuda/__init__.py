"""Devices, streams, events and memory under CuPy's names: `cupy.cuda` for programs whose imports alone change.

All operations on arrays of a GPU run on the one stream of its device, and copies that the host does not wait for beside
it. What would need another stream is not here, and says so.
"""

from typing import Any as _Any

from ..core.runtime.device import Device
from . import memory, runtime, stream
from . import missing as _missing
from .memory import (
    MemoryPool,
    PinnedMemoryPool,
    alloc_pinned_memory,
    get_allocator,
    set_allocator,
)
from .runtime import is_available
from .stream import Event, ExternalStream, Stream, get_current_stream, get_elapsed_time


def __getattr__(name: str) -> _Any:
    """Tell what to write instead of something of CuPy's that is not here."""
    instead = f": {_missing.INSTEAD[name]}" if name in _missing.INSTEAD else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{instead}")


def get_device_id() -> int:
    """Return the number of the default device of this thread."""
    return Device().id


__all__ = [
    "Device",
    "Event",
    "ExternalStream",
    "MemoryPool",
    "PinnedMemoryPool",
    "Stream",
    "alloc_pinned_memory",
    "get_allocator",
    "get_current_stream",
    "get_device_id",
    "get_elapsed_time",
    "is_available",
    "memory",
    "runtime",
    "set_allocator",
    "stream",
]
