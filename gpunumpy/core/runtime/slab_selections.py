"""What masks and indices pick, slab by slab.

By a mask each slab is counted and picked from on the device, and what is picked comes to the host behind what was
picked before. By indices the host picks where the bytes are: the device would need all that can be picked.
"""

from __future__ import annotations

from math import prod

import numpy

from ..dtypes import BOOL, INT64
from ..graph.layout import Layout, broadcast_shapes
from ..graph.library_calls.elements import are_added_up, selected_count
from ..graph.node import Node, broadcast, gather, leaf, leaf_layout, library_call
from ..graph.primitives import LibraryCall
from ..graph.slab import Cut, Slab
from .host_copies import HostCopy
from .memory import Buffer, allocate
from .memory_copy import copy_to_host
from .slab_results import SlabResult, Stretches, bytes_of, device_of
from .spill import buffer_on_host


class Selected(Stretches):
    """The elements that a mask picks, or their positions."""

    count = 2

    def __init__(self, root: Node) -> None:
        super().__init__(root, 0)
        assert isinstance(root.signature.primitive, LibraryCall)
        self._call = root.signature.primitive
        *self._values, self._mask, _ = root.args
        self.extent = prod(self._mask.signature.shape)
        self._picked = 0

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab: the value has at most its length."""
        *values, mask = (cut.slab(Slab(arg, 0, start, stop)) for arg in (*self._values, self._mask))
        offsets = library_call("mask_offsets", self._call.options, [mask])
        result = (stop - start,), self.root.signature.dtype
        return [offsets, library_call(self._call.name, self._call.options, [*values, mask, offsets], result)]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take what is picked of a slab."""
        offsets = bytes_of(buffers[0]).view(INT64)
        count = selected_count(offsets)
        dtype, first = self.root.signature.dtype, self._picked
        picked = copy_to_host(buffers[1], 0, count * dtype.itemsize).view(dtype)
        self._content()[first : first + count] = picked if self._values else picked + start
        self._picked += count


class Counted(SlabResult):
    """How many elements a mask picks, tile by tile."""

    def __init__(self, root: Node) -> None:
        assert isinstance(root.signature.primitive, LibraryCall)
        super().__init__(root, root.signature.shape[0] - 1)
        self._options = root.signature.primitive.options
        (self._mask,) = root.args
        self._offsets = numpy.zeros(root.signature.shape, INT64)

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab of tiles."""
        (tile,), (size,) = self._options, self._mask.signature.shape
        mask = cut.slab(Slab(self._mask, 0, start * tile, min(stop * tile, size)))
        return [library_call("mask_offsets", self._options, [mask])]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the counts of a slab of tiles."""
        offsets = bytes_of(buffers[0]).view(INT64)
        self._offsets[start + 1 : stop + 1] = numpy.diff(offsets) if are_added_up(offsets) else offsets[1:]

    def result(self) -> Buffer:
        """Return the whole value."""
        content = self._offsets.cumsum() if are_added_up(self._offsets) else self._offsets
        return buffer_on_host(device_of(self.root), content.nbytes, HostCopy(content.view(numpy.uint8)))


class Gathered(Stretches):
    """The elements of a value on the host at indices, which the device computes and checks."""

    def __init__(self, root: Node) -> None:
        super().__init__(root, 0)
        base, *self._indices = root.args
        self.operands = (base,)
        self.count = 1 + len(self._indices)
        self._source: numpy.ndarray | None = None

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab: whether its indices are in bounds, and the indices."""
        (base,), queue = self.operands, self.root.signature.queue
        assert queue is not None
        shapes = [index.signature.shape for index in self._indices]
        shape = broadcast_shapes(*shapes)
        indices = [cut.slab(Slab(broadcast(index, shape), 0, start, stop)) for index in self._indices]
        bounds = base.signature.shape[: len(indices)]
        zero = leaf(allocate(queue.device, 1), BOOL, Layout(bounds, (0,) * len(bounds), 0), queue)
        return [gather(zero, indices, self.root.source_location), *indices]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the elements of a slab."""
        (base,) = self.operands
        if self._source is None:
            buffer, dtype = base.data, base.signature.dtype
            copy = buffer.owner if buffer.is_spilled else HostCopy(copy_to_host(buffer, 0, buffer.nbytes))
            self._source = copy.window(dtype, leaf_layout(base))
        content = self._content()[start:stop]
        shape = content.shape[: content.ndim - self._source.ndim + len(self._indices)]
        indices = []
        for buffer, extent in zip(buffers[1:], self._source.shape, strict=False):
            index = bytes_of(buffer).view(INT64).reshape(shape)
            # One that is out of bounds was noted, and is an error where the value is looked at.
            indices.append(numpy.where(index < 0, index + extent, index).clip(0, extent - 1))
        content[...] = self._source[tuple(indices)]
