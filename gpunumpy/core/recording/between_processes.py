"""Arrays on a GPU that go to a process of the same machine, on that GPU or on one that reaches it, past the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from ..dtypes import DType
from ..graph import layout
from ..graph import node as graph
from ..graph.layout import Layout, Shape, equal_rows
from ..runtime import evaluate, memory
from ..runtime.async_copies import ArrivingBuffer
from ..runtime.device import Device, check, driver
from ..runtime.marks import Mark
from ..runtime.moves import mark_on
from ..runtime.shared_blocks import Handle, SharedBlock, give_back, opened, stream_beside, take_block
from .array import memory_on_host, ndarray, wrap_leaf
from .view_values import in_c_order

_MIN_ROW_BYTES = 128  # narrower rows are put in C order faster by a kernel
_MAX_PITCH = 2**31 - 1  # bytes from row to row that the driver copies at most


class LentArray(NamedTuple):
    """The elements of an array, in C order, in memory that another process may open by `block.handle`."""

    device: Device
    block: SharedBlock

    def end(self) -> None:
        """Take the memory back: the other process has read it, or never will."""
        give_back(self.device, self.block)


def lend(x: ndarray, after: Sequence[Mark] | None = None) -> LentArray | None:
    """Copy an array to memory that another process may open; None if the array is not in the memory of a GPU.

    Parameters
    ----------
    x
        The array.
    after
        The work that computes the array, if that is known: then the copy waits for no other work.

    Raises
    ------
    MemoryError
        If the GPU has no memory for the copy.
    DeviceError
        If memory of the GPU can't be shared with other processes.
    """
    device = x.device
    if not device.has_stream or not x.size or memory_on_host(x) is not None:
        return None
    computed = x.computed()
    node, itemsize = computed, computed.signature.dtype.itemsize
    rows = _rows_to_copy(graph.leaf_layout(computed), itemsize)
    if rows is None:
        node, where = in_c_order(computed)
        rows = Layout((1, x.size), (x.size, 1), where.offset)
    source = node.data
    lent = LentArray(device, take_block(device, x.nbytes))
    try:
        with x.queue.lock, memory.staying(source):
            if source.is_spilled or source.awaited() is not None:
                lent.end()
                return None
            # What has been put in order just now, and what a copy from the host writes, or has written again, only the
            # stream of the device waits for.
            is_new = node is not computed or isinstance(source, ArrivingBuffer) or device.has_spilled
            stream = device.stream if after is None or is_new else stream_beside(device, "out")
            for mark in after or ():
                mark.precede(stream)
            device.activate()
            _copy_rows(lent.block.ptr, source.ptr + rows.offset * itemsize, rows, itemsize, stream)
            if stream is not device.stream:  # later work may overwrite the elements, or get their memory
                mark_on(device, stream).precede(device.stream)
        check(driver().cuStreamSynchronize(stream))
    except BaseException:
        lent.end()
        raise
    return lent


def _rows_to_copy(where: Layout, itemsize: int) -> Layout | None:
    """Return the rows as which the driver copies elements; None where they have to be put in C order first."""
    rows = equal_rows(where)
    if rows is None or rows.shape[0] == 1:
        return rows
    (_, width), (step, _) = rows.shape, rows.strides
    return rows if width * itemsize >= _MIN_ROW_BYTES and step * itemsize <= _MAX_PITCH else None


def _copy_rows(target: int, source: int, rows: Layout, itemsize: int, stream: Any) -> None:
    """Queue a copy of rows within a GPU, to where they lie with nothing between them."""
    count, width = rows.shape
    if count == 1:
        check(driver().cuMemcpyDtoDAsync(target, source, width * itemsize, stream))
        return
    cuda: Any = driver()
    copy = cuda.CUDA_MEMCPY2D()
    copy.srcMemoryType = copy.dstMemoryType = cuda.CUmemorytype.CU_MEMORYTYPE_DEVICE
    copy.srcDevice, copy.dstDevice = source, target
    copy.srcPitch, copy.dstPitch = rows.strides[0] * itemsize, width * itemsize
    copy.Height, copy.WidthInBytes = count, width * itemsize
    check(cuda.cuMemcpy2DAsync(copy, stream))


def borrowed_copy(handle: Handle, shape: Shape, dtype: DType, device: Device) -> ndarray:
    """Return a new array with the elements that another process has lent.

    Parameters
    ----------
    handle
        That of the block.
    shape, dtype
        Those of the array.
    device
        The GPU of the result.

    Raises
    ------
    MemoryError
        If the GPU has no memory for the array.
    DeviceError
        If this process or its GPU can't reach the memory.
    """
    queue = evaluate.prove(evaluate.queue_of(device))
    nbytes = int(numpy.prod(shape)) * dtype.itemsize
    with opened(device, handle) as ptr:
        stream = stream_beside(device, "in")
        target = memory.allocate_beside(device, nbytes, stream)
        if target is None:  # the copy has to wait for the work before, which may use the memory
            target, stream = memory.allocate(device, nbytes), device.stream
        try:
            with queue.lock, memory.staying(target):
                device.activate()
                check(driver().cuMemcpyDtoDAsync(target.ptr, ptr, nbytes, stream))
            check(driver().cuStreamSynchronize(stream))
        except BaseException:
            target.mark_used_by_other_stream()  # the copy may go on
            raise
    return wrap_leaf(graph.leaf(target, dtype, layout.c_layout(shape), queue))
