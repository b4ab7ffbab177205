"""Arrays over data that other libraries keep in chunks, and that are too large for a device."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from ..dtypes import KIND
from ..graph.layout import c_layout
from ..graph.node import leaf
from ..runtime.device import Device, default_device
from ..runtime.evaluate import queue_of
from ..runtime.spill import buffer_of_chunks, is_too_large
from .array import ndarray, wrap_leaf


def from_chunks(data: Any, device: Device | None = None) -> ndarray | None:
    """Return an array over another library's array in chunks that is too large for the device, else None.

    Its parts are read when they are computed with, so they must stay as they are until then.
    """
    if not hasattr(data, "chunks") or not hasattr(data, "shape") or not hasattr(data, "dtype"):
        return None
    device = default_device() if device is None else device
    dtype, shape = numpy.dtype(data.dtype), tuple(data.shape)
    if dtype not in KIND or not is_too_large(prod(shape) * dtype.itemsize, device):
        return None
    return wrap_leaf(leaf(buffer_of_chunks(data, device), dtype, c_layout(shape), queue_of(device)))
