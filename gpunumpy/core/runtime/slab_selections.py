"""What masks and indices pick, slab by slab.

By a mask each slab is counted and picked from on the device, and what is picked comes to the host behind what was
picked before. By indices the host picks where the bytes are: the device would need all that can be picked.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from ..dtypes import BOOL, INT64
from ..graph.layout import Layout, Shape, broadcast_shapes
from ..graph.library_calls.elements import EQUAL_VALUES
from ..graph.node import Node, broadcast, fill, gather, leaf, leaf_layout, library_call, library_call_outputs
from ..graph.primitives import LibraryCall, Output, Scatter
from ..graph.slab import Cut, Slab
from ..numpy_ufuncs import UFUNCS as NUMPY_UFUNCS
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
        offsets, count = library_call_outputs("mask_offsets", self._call.options, [mask])
        result = (stop - start,), self.root.signature.dtype
        return [count, library_call(self._call.name, self._call.options, [*values, mask, offsets], result)]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take what is picked of a slab."""
        (count,) = bytes_of(buffers[0]).view(INT64).tolist()
        dtype, first = self.root.signature.dtype, self._picked
        picked = copy_to_host(buffers[1], 0, count * dtype.itemsize).view(dtype)
        self._content()[first : first + count] = picked if self._values else picked + start
        self._picked += count


class Counted(SlabResult):
    """How many elements a mask picks before each tile, or in all."""

    def __init__(self, root: Node) -> None:
        (call,) = root.args
        assert isinstance(root.signature.primitive, Output)
        assert isinstance(call.signature.primitive, LibraryCall)
        (offsets, _), _ = call.signature.primitive.results
        super().__init__(root, offsets[0] - 1)
        self._number = root.signature.primitive.number
        self._options = call.signature.primitive.options
        (self._mask,) = call.args
        self._offsets = numpy.zeros(offsets, INT64)

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab of tiles."""
        (tile,), (size,) = self._options, self._mask.signature.shape
        mask = cut.slab(Slab(self._mask, 0, start * tile, min(stop * tile, size)))
        return library_call_outputs("mask_offsets", self._options, [mask])[:1]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the counts of a slab of tiles."""
        self._offsets[start : stop + 1] = bytes_of(buffers[0]).view(INT64) + self._offsets[start]

    def result(self) -> Buffer:
        """Return the whole value."""
        content = self._offsets[-1:] if self._number else self._offsets
        return buffer_on_host(device_of(self.root), content.nbytes, HostCopy(content.view(numpy.uint8)))


class _Indexed(Stretches):
    """Elements at indices of a value on the host; the device computes the indices, and checks them.

    Slabs are stretches of the indices along their first axis.
    """

    def __init__(self, root: Node, base: Node, indices: Sequence[Node]) -> None:
        super().__init__(root, 0)
        self.operands = (base,)
        self._indices = indices
        self._shape = broadcast_shapes(*[index.signature.shape for index in indices])
        self._bounds = base.signature.shape[: len(indices)]
        self.extent = self._shape[0]
        self.count = 1 + len(indices)

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab: whether its indices are in bounds, and the indices."""
        queue = self.root.signature.queue
        assert queue is not None
        indices = [cut.slab(Slab(_spread(index, self._shape, queue), 0, start, stop)) for index in self._indices]
        zero = leaf(allocate(queue.device, 1), BOOL, Layout(self._bounds, (0,) * len(self._bounds), 0), queue)
        return [gather(zero, indices, self.root.source_location), *indices]

    def _base(self) -> numpy.ndarray:
        (base,) = self.operands
        buffer = base.data
        copy = buffer.owner if buffer.is_spilled else HostCopy(copy_to_host(buffer, 0, buffer.nbytes))
        return copy.window(base.signature.dtype, leaf_layout(base))

    def _taken(self, buffers: Sequence[Buffer], count: int) -> tuple[numpy.ndarray, ...]:
        """Return the indices of a slab of this length, none below 0."""
        indices = [bytes_of(buffer).view(INT64).reshape(count, *self._shape[1:]) for buffer in buffers]
        return tuple([numpy.where(k < 0, k + n, k) for k, n in zip(indices, self._bounds, strict=True)])


class Gathered(_Indexed):
    """The elements at indices."""

    def __init__(self, root: Node) -> None:
        base, *indices = root.args
        super().__init__(root, base, indices)
        self._source: numpy.ndarray | None = None

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the elements of a slab."""
        if self._source is None:
            self._source = self._base()
        indices = self._taken(buffers[1:], stop - start)
        # One that is out of bounds was noted, and is an error where the value is looked at.
        clipped = tuple([k.clip(0, n - 1) for k, n in zip(indices, self._bounds, strict=True)])
        self._content()[start:stop] = self._source[clipped]


class Scattered(_Indexed):
    """A value with other elements at indices, or with what a ufunc makes of them."""

    def __init__(self, root: Node) -> None:
        base, value, *indices = root.args
        super().__init__(root, base, indices)
        assert isinstance(root.signature.primitive, Scatter)
        self._op = root.signature.primitive.op
        self._value = value
        self.count += 1
        self._is_begun = self._is_out_of_bounds = False

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab: whether its indices are in bounds, the indices, the values."""
        shape = (*self._shape, *self.root.signature.shape[len(self._indices) :])
        value = cut.slab(Slab(_spread(self._value, shape, self.root.signature.queue), 0, start, stop))
        return [*super().nodes(cut, start, stop), value]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Write the values of a slab."""
        content = self._content()
        if not self._is_begun:
            content[...] = self._base()
            self._is_begun = True
        indices = self._taken(buffers[1:-1], stop - start)
        self._is_out_of_bounds |= any(((k < 0) | (k >= n)).any() for k, n in zip(indices, self._bounds, strict=True))
        if self._is_out_of_bounds:
            return
        value = bytes_of(buffers[-1]).view(self._value.signature.dtype)
        value = value.reshape(stop - start, *self._shape[1:], *content.shape[len(indices) :])
        with numpy.errstate(all="ignore"):
            if self._op in ("", EQUAL_VALUES):
                content[indices] = value
            else:
                function = NUMPY_UFUNCS[self._op]
                function.at(content, indices, *((value,) if function.nin == 2 else ()))

    def result(self) -> Buffer:
        """Return the whole value: as it was, if an index is out of bounds."""
        if self._is_out_of_bounds:
            self._content()[...] = self._base()
        return super().result()


def _spread(node: Node, shape: Shape, queue: Any) -> Node:
    """Return a value, or a scalar of no device, repeated over a shape."""
    return fill(node, shape, queue) if node.signature.queue is None else broadcast(node, shape)
