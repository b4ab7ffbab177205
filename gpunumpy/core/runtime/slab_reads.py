"""What slabs read of their operands, and how that comes to the device: as one range of bytes, or window by window.

A slab of rows reads one range of an operand in C order. A slab of columns would read nearly all of it as a range: what
it reads of each row is put together on the host instead, and that alone is copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, prod

from ..graph import layout
from ..graph.layout import Layout
from ..graph.node import Node, leaf, leaf_layout, view
from ..graph.primitives import View
from ..graph.queue import Queue
from . import memory
from .device import CPU
from .host_copies import HostCopy
from .memory import Buffer
from .memory_copy import copy_from_host
from .spill import MovedCopy, SpilledBuffer, load

_ALIGNED_BYTES = 64  # of the beginning of what is copied of an operand


class Reading:
    """What is read of one buffer.

    Attributes
    ----------
    buffer
        The buffer.
    start, stop
        The first byte and the one behind the last.
    """

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.start, self.stop = buffer.nbytes, 0
        self._windows: dict[Layout, int] = {}  # with the bytes of each

    def add(self, node: Node) -> None:
        """Add what a leaf with elements shows of the buffer."""
        where, itemsize = _distinct(leaf_layout(node)), node.signature.dtype.itemsize
        self.start = min(self.start, where.low() * itemsize)
        self.stop = max(self.stop, (where.high() + 1) * itemsize)
        self._windows[where] = prod(where.shape) * itemsize

    @property
    def window_bytes(self) -> int:
        """What all windows have together."""
        return sum(self._windows.values())

    def is_by_windows(self, budget: int) -> bool:
        """Return whether windows are copied, as the range has more than `budget` bytes and the windows have fewer."""
        return self.stop - self.start > max(budget, self.window_bytes)

    def nbytes(self, budget: int) -> int:
        """Return how many bytes are copied."""
        return self.window_bytes if self.is_by_windows(budget) else self.stop - self.start


def _distinct(where: Layout) -> Layout:
    """Return a layout without the axes along which it repeats elements."""
    kept = [(n, stride) for n, stride in zip(where.shape, where.strides, strict=True) if stride and n > 1]
    return Layout(tuple([n for n, _ in kept]), tuple([stride for _, stride in kept]), where.offset)


def readings(roots: Iterable[Node], computed: Iterable[Node] = ()) -> list[Reading]:
    """Return what pending nodes read of buffers; nodes of `computed` count as if they were leaves without a buffer."""
    found: dict[int, Reading] = {}
    for shown in leaves(roots, computed).values():
        if 0 not in shown.signature.shape:
            found.setdefault(id(shown.data), Reading(shown.data)).add(shown)
    return list(found.values())


def leaves(roots: Iterable[Node], computed: Iterable[Node] = ()) -> dict[Node, Node]:
    """Return the leaves with buffers that nodes are made of, by the nodes that they show; without those of `computed`.

    A pending view of what was computed since shows a window of it.
    """
    seen = set(computed)
    stack, found = [root for root in roots if root not in seen], {}
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        shown = node if node.data is not None else _window_of_leaf(node)
        if shown is None:
            stack += node.args
        elif node.signature.queue is not None:
            found[node] = shown
    return found


def _window_of_leaf(node: Node) -> Node | None:
    """Return the leaf that a pending node is the same as, if it is a view of one."""
    primitive = node.signature.primitive
    if not isinstance(primitive, View) or node.args[0].data is None or node.args[0].signature.queue is None:
        return None
    window = view(node.args[0], Layout(node.signature.shape, primitive.strides, primitive.offset))
    return window if window.data is not None else None


def loaded(queue: Queue, nodes: Sequence[Node], budget: int, most_bytes: float = inf) -> dict[Node, Node]:
    """Copy what nodes read of large operands on the host to the device; return leaves that stand for those of nodes.

    Windows of more than `most_bytes` stay on the host, while others of the same operand are copied by themselves.
    """
    on_host = {
        id(reading.buffer): reading
        for reading in readings(nodes)
        if type(reading.buffer) is SpilledBuffer and reading.buffer.nbytes > budget
    }
    ranges: dict[int, tuple[Buffer, int]] = {}
    windows: dict[tuple[int, Layout], Buffer] = {}
    stand_ins = {}
    for node, shown in leaves(nodes).items():
        reading = on_host.get(id(shown.data))
        if reading is None or not isinstance(copy := reading.buffer.owner, HostCopy) or 0 in node.signature.shape:
            continue
        where, dtype = leaf_layout(shown), node.signature.dtype
        if reading.is_by_windows(budget) or reading.nbytes(budget) > most_bytes:
            distinct = _distinct(where)
            key, nbytes = (id(shown.data), distinct), prod(distinct.shape) * dtype.itemsize
            if nbytes > most_bytes:
                continue
            if key not in windows:
                windows[key] = memory.allocate(queue.device, nbytes)
                copy_from_host(windows[key], 0, copy.window(dtype, distinct))
            stand_ins[node] = leaf(windows[key], dtype, _dense(where), queue)
        else:
            if id(shown.data) not in ranges:
                ranges[id(shown.data)] = _loaded_range(queue, reading, copy)
            part, start = ranges[id(shown.data)]
            moved = Layout(where.shape, where.strides, where.offset - start // dtype.itemsize)
            stand_ins[node] = leaf(part, dtype, moved, queue)
    return stand_ins


def _dense(where: Layout) -> Layout:
    """Return the layout of a window that was copied in C order, without its repetitions."""
    strides = iter(layout.c_strides(_distinct(where).shape))
    return Layout(where.shape, tuple([next(strides) if s and n > 1 else 0 for n, s in zip(*where[:2], strict=True)]), 0)


def _loaded_range(queue: Queue, reading: Reading, copy: HostCopy) -> tuple[Buffer, int]:
    """Copy a range of bytes to the device; return the copy, and which byte of the operand it begins with."""
    start, stop = reading.start - reading.start % _ALIGNED_BYTES, reading.stop
    if queue.device is CPU:
        content = copy.part(start, stop)
        return memory.foreign_buffer(memory.address(content), stop - start, content, CPU), start
    part = memory.allocate(queue.device, stop - start)
    if isinstance(copy, MovedCopy):
        load(part, copy, start)
    else:
        copy_from_host(part, 0, copy.part(start, stop))
    return part, start
