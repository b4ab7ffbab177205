"""Elements of arrays for the host, which does not wait for them: they are in page-locked memory later."""

from __future__ import annotations

from typing import Any

import numpy

from ..runtime.async_copies import can_copy, copies_of
from ..runtime.host_copies import COPIED_BYTES
from ..runtime.page_locked import new_array
from .array import memory_on_host, ndarray
from .view_values import in_c_order


def read_later(x: ndarray, out: Any) -> Any:
    """Queue a copy of the elements, in C order, to page-locked memory, and return that.

    Parameters
    ----------
    x : ndarray
        The array.
    out : numpy.ndarray or None
        Where to write the elements; by default to a new array.

    Returns
    -------
    numpy.ndarray or None
        The elements, once the copies of the device are over. None if the host has to wait for them, or has them.
    """
    device = x.device
    if not device.has_stream or x.nbytes <= COPIED_BYTES or memory_on_host(x) is not None:
        return None
    if out is not None and not (out.dtype == x.dtype and out.flags.writeable and can_copy(out, device)):
        return None
    node, where = in_c_order(x.computed())
    if node.data.is_spilled:
        return None
    result = new_array(x.shape, x.dtype, device) if out is None else out
    with x.queue.lock:
        copies_of(device).to_host(result.reshape(-1).view(numpy.uint8), node.data, where.offset * x.itemsize)
    return result
