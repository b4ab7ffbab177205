"""Values that do not fit a device together with what they are made of: they are computed slab by slab.

A slab is loaded and computed while the results of the one before it are taken to the host. What it reads of an operand
whose bytes are on the host, because they were moved there or were too many for the device from the beginning, is copied
to the device alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import TypeAlias

import numpy

from ..graph.layout import Layout
from ..graph.node import Node, computed_signature, leaf, leaf_layout
from ..graph.primitives import Output
from ..graph.queue import Queue
from ..graph.slab import Cut
from ..graph.substituted import substituted
from . import memory
from .device import CPU, Device
from .host_copies import HostCopy
from .memory import Buffer
from .memory_copy import copy_from_host
from .progress import progress_bar
from .run import publish
from .slab_results import SlabResult, Stretches, ways_to_cut
from .spill import MovedCopy, SpilledBuffer, load, move_out
from .spill_store import Place

# Of what a device may have, what a slab may read and write; and the bytes beyond which larger slabs are not faster.
_SHARE = 1 / 8
_MOST_BYTES = 1 << 28
_ALIGNED_BYTES = 64  # of the beginning of what is copied of an operand

_Compute: TypeAlias = Callable[[Queue, Sequence[Node]], None]
# Buffers by identity, each with the first byte that is read and the one behind the last.
_Reads: TypeAlias = dict[int, tuple[Buffer, int, int]]


def compute_slabs(
    queue: Queue, roots: Sequence[Node], compute: _Compute, places: Mapping[Node, Place] | None = None
) -> None:
    """Compute values that do not fit the device at once.

    Parameters
    ----------
    compute
        Computes nodes of the queue, all at once.
    places
        Memory of the host for some of the values, if slabs of them are parts of them.

    Raises
    ------
    MemoryError
        If a value, or something that it is made of, cannot be computed in parts that fit.
    """
    budget = _budget(queue.device)
    waiting = [list(roots)]
    while waiting:
        pending = [node for node in waiting[-1] if node.data is None]
        if not pending:
            waiting.pop()
            continue
        found = [_best_way(root, budget) for root in pending]
        before = dict.fromkeys(node for _, needed in found for node in needed if node.data is None)
        if before:
            # With what needs nothing before, as they may share a pass over the data.
            ready = [root for root, (_, needed) in zip(pending, found, strict=True) if not needed]
            waiting.append(list(dict.fromkeys([*before, *ready])))
            continue
        groups: defaultdict[int, list[SlabResult]] = defaultdict(list)
        at_once = []
        for root, (way, _) in zip(pending, found, strict=True):
            if way is None:
                at_once.append(root)
            else:
                if isinstance(way, Stretches) and places is not None:
                    way.place = places.get(root)
                groups[way.extent].append(way)
        _compute_at_once(queue, at_once, budget, compute)
        for ways in groups.values():
            _compute_group(queue, ways, budget, compute)


def slab_counts(device: Device, roots: Sequence[Node]) -> list[tuple[int, int]]:
    """Return in how many slabs values are computed for which a device has no room, and the lengths that are cut."""
    budget, found = _budget(device), []
    for root in roots:
        if _bytes_at_once([root], Cut()) > memory.most_bytes(device):
            way, _ = _best_way(root, budget)
            if way is not None:
                found.append((-(-way.extent // _width([way], budget)), way.extent))
    return found


def _budget(device: Device) -> int:
    """Return how many bytes a slab reads and writes."""
    return max(min(int(memory.most_bytes(device) * _SHARE), _MOST_BYTES), 1)


def _best_way(root: Node, budget: int) -> tuple[SlabResult | None, list[Node]]:
    """Return how to compute a value, None for all at once, and what is to be computed before.

    The best way is that which reads least for one index along the axis that is cut.
    """
    cut = Cut()
    for operand in root.args[0].args if isinstance(root.signature.primitive, Output) else root.args:
        cut.as_it_is(operand)
    best: tuple[int, SlabResult | None, list[Node]] = _bytes_at_once([root], cut), None, list(cut.whole)
    if best[0] <= budget:
        return best[1:]
    for way in ways_to_cut(root):
        cut = Cut()
        middle = way.extent // 2
        needed = _bytes_at_once(way.nodes(cut, middle, middle + 1), cut)
        if needed < best[0] and root not in cut.whole:
            best = needed, way, list(cut.whole)
    return best[1:]


def _bytes_at_once(roots: Sequence[Node], cut: Cut) -> int:
    """Return how many bytes are read and written for nodes, once what is needed as a whole is computed."""
    reads = sum(stop - start for _, start, stop in _reads(roots, cut.whole).values())
    return reads + sum(_bytes(node) for node in [*roots, *cut.whole])


def _reads(roots: Iterable[Node], computed: Iterable[Node] = ()) -> _Reads:
    """Return what pending nodes read of buffers; nodes of `computed` count as if they were leaves without a buffer."""
    found: _Reads = {}
    for node in leaves(roots, computed):
        where, itemsize, buffer = leaf_layout(node), node.signature.dtype.itemsize, node.data
        if 0 not in where.shape:
            start, stop = where.low() * itemsize, (where.high() + 1) * itemsize
            _, first, last = found.get(id(buffer), (buffer, start, stop))
            found[id(buffer)] = buffer, min(first, start), max(last, stop)
    return found


def leaves(roots: Iterable[Node], computed: Iterable[Node] = ()) -> list[Node]:
    """Return the leaves with buffers that nodes are made of; nodes of `computed` are left out."""
    seen = set(computed)
    stack, found = [root for root in roots if root not in seen], []
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.data is None:
            stack += node.args
        elif node.signature.queue is not None:
            found.append(node)
    return found


def _bytes(node: Node) -> int:
    return prod(node.signature.shape) * node.signature.dtype.itemsize


def _compute_at_once(queue: Queue, roots: Sequence[Node], budget: int, compute: _Compute) -> None:
    """Compute values out of those parts of their operands that they read: together, as outputs of one call may be."""
    if not roots:
        return
    try:
        copies = substituted(roots, _loaded(queue, roots, budget), {})
        compute(queue, copies)
    except MemoryError as error:
        if len(roots) == 1:
            raise _without_slabs(queue, roots[0], error) from None
        for root in roots:
            _compute_at_once(queue, [root], budget, compute)
    else:
        publish(queue, [(root, copy.data, copy.signature) for root, copy in zip(roots, copies, strict=True)])


def _without_slabs(queue: Queue, root: Node, error: MemoryError) -> MemoryError:
    """Return an error that tells what has no slabs, if it is too large for the device whatever is freed."""
    nbytes, primitive = _bytes_at_once([root], Cut()), root.signature.primitive
    if nbytes <= memory.most_bytes(queue.device):
        return error
    name = getattr(primitive, "name", None) or getattr(primitive, "op", None) or type(primitive).__name__.lower()
    return MemoryError(
        f"{error}; {name!r} takes its operands as a whole here, and with them and its result {nbytes:,} bytes: compute "
        "it of parts of them, or of a smaller dtype, or on the host by numpy"
    )


# --- one pass over the data -------------------------------------------------------------------------------------------


def _compute_group(queue: Queue, ways: Sequence[SlabResult], budget: int, compute: _Compute) -> None:
    """Compute values that are cut along axes of one length, in one pass over what they are made of."""
    reads = _reads(way.root for way in ways)
    for buffer, start, stop in reads.values():
        if stop - start > budget:
            move_out(buffer, queue)
    with progress_bar(sum(stop - start for _, start, stop in reads.values())) as progress:
        _take_slabs(queue, ways, budget, compute, progress)
    publish(queue, [(way.root, way.result(), computed_signature(way.root.signature)) for way in ways])


def _take_slabs(
    queue: Queue, ways: Sequence[SlabResult], budget: int, compute: _Compute, progress: Callable[[float], object]
) -> None:
    """Have results take all slabs, each while the next one is computed; `progress` is told of the part that is done."""
    extent, width = ways[0].extent, _width(ways, budget)
    queued: tuple[list[Node], int, int] | None = None
    start = 0
    while start < extent:
        stop = min(start + width, extent)
        cut = Cut()
        nodes = [node for way in ways for node in way.nodes(cut, start, stop)]
        try:
            copies = substituted(nodes, _loaded(queue, nodes, budget), {})
            compute(queue, copies)
        except MemoryError:
            if width == 1 and queued is None:
                raise
            width = max(width // 2, 1)
            copies = []
        if queued is not None:
            _take(ways, *queued)
            queued = None
        if copies:
            queued = copies, start, stop
            start = stop
            memory.pool_of(queue.device).slabs += 1
            progress(start / extent)
    assert queued is not None
    _take(ways, *queued)


def _take(ways: Sequence[SlabResult], copies: list[Node], start: int, stop: int) -> None:
    """Have results take what was computed of a slab."""
    buffers = iter([node.data for node in copies])
    for way in ways:
        way.take([next(buffers) for _ in range(way.count)], start, stop)


def _width(ways: Sequence[SlabResult], budget: int) -> int:
    """Return how many indices a slab has: as many as the budget allows, in slabs of about one size."""
    extent = ways[0].extent
    middle, few = extent // 2, min(extent - extent // 2, 16)
    one, several = (
        _bytes_at_once([node for way in ways for node in way.nodes(cut, middle, middle + n)], cut)
        for n, cut in ((1, Cut()), (few, Cut()))
    )
    each = max((several - one) / (few - 1), 1) if few > 1 else one
    # What is read as a whole for every slab may leave nothing of the budget: a slab then has as much besides.
    room = budget - one if one < budget else budget
    width = min(max(int(room / each) + 1, 1), extent)
    return -(-extent // -(-extent // width))


def _loaded(queue: Queue, nodes: Sequence[Node], budget: int) -> dict[Node, Node]:
    """Copy what nodes read of large operands on the host to the device; return leaves that stand for those of nodes."""
    parts: dict[int, tuple[Buffer, int]] = {}
    for buffer, start, stop in _reads(nodes).values():
        owner = buffer.owner
        if type(buffer) is SpilledBuffer and buffer.nbytes > budget and isinstance(owner, HostCopy):
            start -= start % _ALIGNED_BYTES
            if queue.device is CPU:
                content = owner.part(start, stop)
                part = memory.foreign_buffer(memory.address(content), stop - start, content, CPU)
            else:
                part = memory.allocate(queue.device, stop - start)
                if isinstance(owner, MovedCopy):
                    load(part, owner, start)
                else:
                    copy_from_host(part, 0, owner.part(start, stop))
            parts[id(buffer)] = part, start
    stand_ins = {}
    for node in leaves(nodes):
        if id(node.data) in parts:
            part, start = parts[id(node.data)]
            where, dtype = leaf_layout(node), node.signature.dtype
            moved = Layout(where.shape, where.strides, where.offset - start // dtype.itemsize)
            stand_ins[node] = leaf(part, dtype, moved, queue)
    return stand_ins


def is_read_by(memory_of_host: numpy.ndarray, root: Node) -> bool:
    """Return whether a pending value is made of what is in some memory of the host."""
    owners = [buffer.owner for buffer, _, _ in _reads([root]).values()]
    contents = [owner.content for owner in owners if isinstance(owner, HostCopy) and owner.is_in_memory]
    return any(content is not None and numpy.may_share_memory(content, memory_of_host) for content in contents)
