"""What libraries of the host call on an array by names of their own, since they do not ask it for ``__array__``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..core.recording.array import ndarray, to_host


def to_numpy(x: ndarray) -> Any:
    """Copy the elements to a NumPy array, as pandas' and matplotlib's callers of this name expect. See `get`."""
    return to_host(x)


def arrow_array(x: Any, type: Any = None) -> Any:
    """Return the elements as an array of pyarrow, which calls this method: masked ones are null."""
    return import_module("pyarrow").array(x.get(), type=type)
