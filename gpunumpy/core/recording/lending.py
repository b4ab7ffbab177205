"""Memory of arrays that other code sees, libraries or the program: it keeps its address, and both write to it."""

from __future__ import annotations

from typing import Any

import numpy

from ..graph import node as graph
from ..graph.layout import Layout
from ..graph.node import Node
from ..runtime import evaluate, memory
from ..runtime.memory import Buffer
from .array import host_only_memory, is_scalar, keep_on_host, memory_on_host, ndarray, one_step, owner_of, to_host
from .residence import host_bytes
from .view_values import component_layout


def export(x: ndarray) -> tuple[Node, Layout]:
    """Compute an array, and what was recorded from it; mark its memory as exported. Return the leaf and its layout."""
    node = x.memory()
    if x.queue.pending:
        evaluate.compute_pending(x.queue)
    evaluate.check_errors(x.queue)
    _mark_exported(node.data)
    while (latest := x.memory()).data is not node.data:
        # A write before the mark, by a signal handler or another thread, has given the array other memory.
        node = latest
        _mark_exported(node.data)
    return node, graph.leaf_layout(node)


def _mark_exported(buffer: Buffer) -> None:
    """Mark memory as exported: others can write to it from now on, so what the host has of it may be old.

    A value that a kernel stores where the host reads it is awaited: from then on its address is in the device's memory.
    """
    buffer.awaited()
    with memory.staying(buffer):
        _ = buffer.ptr  # what is on the host moves first, for which there may be no room
        buffer.exported = True
        buffer.copy = None
    if buffer.device.capture is not None:
        buffer.device.capture.keep([buffer])  # it is exported after the capture too


def host_window(x: ndarray) -> Any:
    """Return a NumPy array over the memory of an array on the CPU device."""
    node, where = export(x)
    itemsize = x.itemsize
    strides = tuple(s * itemsize for s in where.strides)
    window = numpy.ndarray(where.shape, x.dtype, node.data.host, where.offset * itemsize, strides)
    window.flags.writeable = x.writeable and not is_scalar(x)
    return window


def lent_memory(x: ndarray) -> Any:
    """Lend the memory of an array to code on the host. Return it as a NumPy array, or None if a GPU has it.

    The address stays. An array that is on the host for its size or for what is written to it stays there with it.
    """
    shares_memory = x.device.shares_host_memory
    with one_step(x):
        memory = memory_on_host(x)
        if memory is not None:
            if shares_memory and host_only_memory(x) is None and owner_of(x).nbytes > host_bytes(x.device):
                return host_window(x)  # the device's own memory, so that to compute with it copies nothing
            keep_on_host(x)
            return memory
    return host_window(x) if shares_memory else None


def window_of_storage(x: ndarray) -> Any:
    """Return an array as a NumPy array beside all that its owner stores, so that strides may lead out of the window.

    It is the memory itself, lent, or a read-only copy where a GPU has that.
    """
    memory = None if is_scalar(x) else lent_memory(x)
    if memory is not None:
        return memory
    if x._base is None or not x.size:
        window = to_host(x)
    else:
        where = component_layout(x.layout, x._component) if x._component in ("real", "imag") else x.layout
        stored, step = to_host(x._base).reshape(-1).view(numpy.uint8), x.itemsize
        strides = tuple(s * step for s in where.strides)
        window = numpy.ndarray(where.shape, x.dtype, stored, where.offset * step, strides)
    window.flags.writeable = False
    return window
