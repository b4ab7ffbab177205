"""Copies of arrays on another device: one GPU sends to another directly, and all others by way of the host."""

from __future__ import annotations

from ..graph import layout
from ..graph import node as graph
from ..runtime import evaluate, memory, memory_copy
from ..runtime.device import Device
from .array import from_numpy, memory_on_host, ndarray, to_host, wrap_leaf
from .view_values import in_c_order


def copied_to(x: ndarray, device: Device) -> ndarray:
    """Return a copy of an array, in C order, on a device that it is not on."""
    sent = _sent(x, device)
    return from_numpy(to_host(x), device) if sent is None else sent


def _sent(x: ndarray, device: Device) -> ndarray | None:
    """Return a copy that one GPU sends to another behind their work; None where the host has part in it."""
    if not (x.device.has_stream and device.has_stream and x.size) or memory_on_host(x) is not None:
        return None
    node, where = in_c_order(x.computed())
    source, dtype = node.data, node.signature.dtype
    queue = evaluate.prove(evaluate.queue_of(device))
    target = memory.allocate(device, x.nbytes)
    with x.queue.lock, memory.staying(source):
        if source.is_spilled or source.awaited() is not None:
            return None
        memory_copy.copy(target, 0, source, where.offset * dtype.itemsize, x.nbytes)
    return wrap_leaf(graph.leaf(target, dtype, layout.c_layout(where.shape), queue))
