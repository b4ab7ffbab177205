"""`numpy.ctypeslib`: arrays over memory of ctypes objects, and ctypes objects over memory of arrays."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.recording.array import host_only_memory, ndarray, on_lent_memory
from .fallback import OWN_FUNCTIONS


def as_array(obj: Any, shape: Any = None) -> ndarray:
    """Return an array over the memory of a ctypes array or pointer, which it shares. See `numpy.ctypeslib.as_array`."""
    return obj if isinstance(obj, ndarray) else on_lent_memory(numpy.ctypeslib.as_array(obj, shape))


def as_ctypes(obj: Any) -> Any:
    """Return a ctypes object over the memory of an array, which it shares. See `numpy.ctypeslib.as_ctypes`.

    Raises
    ------
    BufferError
        If the memory is that of a GPU.
    """
    if isinstance(obj, ndarray):
        memory = host_only_memory(obj)
        obj = numpy.from_dlpack(obj) if memory is None else memory  # type: ignore[arg-type]
    return numpy.ctypeslib.as_ctypes(obj)


OWN_FUNCTIONS |= {"numpy.ctypeslib.as_array": as_array, "numpy.ctypeslib.as_ctypes": as_ctypes}
