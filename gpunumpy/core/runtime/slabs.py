"""Values that do not fit a device together with what they are made of: they are computed slab by slab.

A slab is loaded and computed while the results of the one before it are taken to the host. What it reads of an operand
whose bytes are on the host, because they were moved there or were too many for the device from the beginning, is copied
to the device alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import inf, prod
from typing import Any, TypeAlias

import numpy

from ..graph.node import Node, computed_signature
from ..graph.primitives import Gather, Output
from ..graph.queue import Queue
from ..graph.slab import Cut
from ..graph.slab_rewrites import rewritten_for_slabs
from ..graph.substituted import substituted
from . import memory
from .device import Device
from .host_copies import HostCopy
from .memory_pool import size_class
from .progress import progress_bar
from .run import publish
from .slab_reads import loaded, readings
from .slab_results import SlabResult, Stretches
from .slab_ways import ways_to_cut
from .spill import SpilledBuffer, move_out
from .spill_store import Place

# Of what a device may have, what a slab may read and write; and the bytes beyond which larger slabs are not faster.
_SHARE = 1 / 8
_MOST_BYTES = 1 << 28
_SHARE_OF_LINE = 1 / 8  # of what a device may have, for a line that is transformed: it has a result, and work space
_SHARE_OF_OPERANDS = 1 / 3  # of what a device may have, for what slabs of slabs have in common
_ATTEMPTS = 4  # each with a quarter of the room of the one before
_WHOLE = 4  # times the bytes of a slab may have what each slab picks elements from

_Compute: TypeAlias = Callable[[Queue, Sequence[Node]], None]


class _NoSlabs(MemoryError):
    """An operation takes more than a device could ever have, and has no slabs: smaller ones would not help."""


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
    room = memory.most_bytes(queue.device)
    for is_last in (False,) * (_ATTEMPTS - 1) + (True,):
        try:
            _compute_within(queue, roots, compute, places or {}, room)
        except _NoSlabs as error:
            raise MemoryError(*error.args) from None
        except MemoryError:  # libraries keep some of it, or others know the addresses of arrays
            if is_last:
                raise
            room //= 4
        else:
            return


def _compute_within(
    queue: Queue, roots: Sequence[Node], compute: _Compute, places: Mapping[Node, Place], room: int
) -> None:
    """Compute values in slabs for so many bytes on the device."""
    roots = [root for root in roots if root.data is None]
    copies = rewritten_for_slabs(roots, int(room * _SHARE_OF_LINE))
    places_of_copies = {new: places[root] for new, root in zip(copies, roots, strict=True) if root in places}
    _compute_in_order(queue, copies, compute, places_of_copies, room)
    publish(
        queue, [(root, new.data, new.signature) for root, new in zip(roots, copies, strict=True) if root is not new]
    )


def _compute_in_order(
    queue: Queue,
    roots: Sequence[Node],
    compute: _Compute,
    places: Mapping[Node, Place],
    room: int,
    *,
    is_nested: bool = False,
) -> None:
    """Compute values, each behind those that slabs of it need as a whole.

    Parameters
    ----------
    room
        The bytes that the device may have.
    is_nested
        Whether the values are slabs themselves.
    """
    budget = _budget(room)
    waiting = [list(roots)]
    while waiting:
        pending = [node for node in waiting[-1] if node.data is None]
        if not pending:
            waiting.pop()
            continue
        found = [_best_way(root, budget, is_nested=is_nested) for root in pending]
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
                if isinstance(way, Stretches):
                    way.place = places.get(root)
                groups[way.extent].append(way)
        try:
            _compute_at_once(queue, at_once, budget, compute)
        except _NoSlabs as error:
            if is_nested:  # of a smaller slab it may fit
                raise MemoryError(*error.args) from None
            raise
        for ways in groups.values():
            together = ways if is_nested else _that_fit_together(ways, budget, room)
            _compute_group(queue, together, room, compute, is_nested)  # the others come when this is looked at again


def _that_fit_together(ways: Sequence[SlabResult], budget: int, room: int) -> Sequence[SlabResult]:
    """Return the first of some values, and those of which a slab fits together with one of it.

    Products of several matrices that are read as a whole for each slab would need slabs of slabs together, each of them
    smaller than that of one product.
    """
    if _bytes_of_slab(ways, 1, budget) <= room:
        return ways
    chosen = [ways[0]]
    for way in ways[1:]:
        if _bytes_of_slab([*chosen, way], 1, budget) <= room:
            chosen.append(way)
    return chosen


def slab_counts(device: Device, roots: Sequence[Node]) -> list[tuple[int, int]]:
    """Return in how many slabs values are computed for which a device has no room, and the lengths that are cut."""
    room = memory.most_bytes(device)
    budget, found = _budget(room), []
    for root in rewritten_for_slabs(roots, int(room * _SHARE_OF_LINE)):
        if _bytes_at_once([root], Cut(), budget) > room:
            way, _ = _best_way(root, budget)
            if way is not None:
                found.append((-(-way.extent // _width([way], budget)), way.extent))
    return found


def _budget(room: int) -> int:
    """Return how many bytes a slab reads and writes, of those that a device may have."""
    return max(min(int(room * _SHARE), _MOST_BYTES), 1)


def _best_way(root: Node, budget: int, *, is_nested: bool = False) -> tuple[SlabResult | None, list[Node]]:
    """Return how to compute a value, None for all at once, and what is to be computed before.

    The best way fits, takes one pass, and reads ranges of its operands: windows of them have to be put together by the
    host. Among such it is the one that reads least for one index along the axis that is cut. Where none fits it is the
    one that reads least in all, in slabs of slabs.
    """
    cut = Cut()
    for operand in root.args[0].args if isinstance(root.signature.primitive, Output) else root.args:
        cut.as_it_is(operand)
    at_once = _bytes_at_once([root], cut, budget, is_nested=is_nested)
    if isinstance(root.signature.primitive, Gather) and root.args[0].data is None:
        at_once += _bytes(root.args[0])  # which is in memory where elements at indices are taken, even if it is a range
    if at_once <= budget:
        return None, list(cut.whole)
    share = budget * _SHARE_OF_OPERANDS / _SHARE
    best: tuple[tuple[Any, ...], SlabResult | None, list[Node]] = (True, True, inf), None, list(cut.whole)
    for way in ways_to_cut(root):
        cut = Cut(_WHOLE * budget)
        middle = way.extent // 2
        nodes = way.nodes(cut, middle, middle + 1)
        needed = _bytes_at_once(nodes, cut, budget, is_nested=is_nested)
        by_windows = any(reading.is_by_windows(budget) for reading in readings(nodes, cut.whole))
        fits = needed <= budget
        passes = way.passes if fits else needed * -(-way.extent // _width_of_outer([way], share, budget))
        rank = way.extent * needed > way.most_slabs * budget, not fits, passes, by_windows, needed
        if needed < at_once and rank < best[0] and root not in cut.whole:
            best = rank, way, [*cut.whole, *way.operands]
    return best[1:]


def _bytes_at_once(roots: Sequence[Node], cut: Cut, budget: int, *, is_nested: bool = False) -> int:
    """Return how many bytes are read and written for nodes, once what is needed as a whole is computed.

    Slabs of slabs do not count what is on the device: it has a share of its own.
    """
    found = [r for r in readings(roots, cut.whole) if not is_nested or type(r.buffer) is SpilledBuffer]
    return sum(reading.nbytes(budget) for reading in found) + sum(map(_bytes, roots)) + _bytes_as_whole(cut)


def _bytes_as_whole(cut: Cut) -> int:
    """Return how many bytes are read of what slabs need in memory."""
    return sum(cut.window_bytes.get(node, _bytes(node)) for node in cut.whole)


def _bytes(node: Node) -> int:
    return prod(node.signature.shape) * node.signature.dtype.itemsize


def _compute_at_once(queue: Queue, roots: Sequence[Node], budget: int, compute: _Compute) -> None:
    """Compute values out of those parts of their operands that they read: together, as outputs of one call may be."""
    if not roots:
        return
    if len(roots) > 1 and _block_bytes(roots, budget) > memory.most_bytes(queue.device):
        half = len(roots) // 2  # to find no room takes longer than to compute them
        for part in (roots[:half], roots[half:]):
            _compute_at_once(queue, part, budget, compute)
        return
    try:
        copies = substituted(roots, loaded(queue, roots, budget), {})
        compute(queue, copies)
    except MemoryError as error:
        if len(roots) == 1:
            raise _without_slabs(queue, roots[0], budget, error) from None
        for root in roots:
            _compute_at_once(queue, [root], budget, compute)
    else:
        publish(queue, [(root, copy.data, copy.signature) for root, copy in zip(roots, copies, strict=True)])


def _block_bytes(roots: Sequence[Node], budget: int) -> int:
    """Return how many bytes the blocks have that values need for what they read and for themselves."""
    sizes = [reading.nbytes(budget) for reading in readings(roots)] + list(map(_bytes, roots))
    return sum(map(size_class, sizes))


def _without_slabs(queue: Queue, root: Node, budget: int, error: MemoryError) -> MemoryError:
    """Return an error that tells what has no slabs, if it is too large for the device whatever is freed."""
    nbytes, primitive = _bytes_at_once([root], Cut(), budget), root.signature.primitive
    if isinstance(primitive, Output):
        primitive = root.args[0].signature.primitive
    if nbytes <= memory.most_bytes(queue.device):
        return error
    name = getattr(primitive, "name", None) or getattr(primitive, "op", None) or type(primitive).__name__.lower()
    return _NoSlabs(
        f"{error}; {name!r} takes its operands as a whole here, and with them and its result {nbytes:,} bytes: compute "
        "it of parts of them, or of a smaller dtype, or on the host by numpy"
    )


# --- one pass over the data -------------------------------------------------------------------------------------------


def _compute_group(queue: Queue, ways: Sequence[SlabResult], room: int, compute: _Compute, is_nested: bool) -> None:
    """Compute values that are cut along axes of one length, in one pass over what they are made of."""
    if is_nested:  # what the slabs have in common was brought to the device, and the bar is that of the whole
        _take_slabs(queue, ways, room, compute, lambda part: None, is_nested=True)
    else:
        reads = readings(way.root for way in ways)
        for reading in reads:
            if reading.stop - reading.start > _budget(room):
                move_out(reading.buffer, queue)
        with progress_bar(sum(reading.stop - reading.start for reading in reads)) as progress:
            _take_slabs(queue, ways, room, compute, progress, is_nested=False)
    for way in ways:
        result = way.result()
        if isinstance(result, SlabResult):
            _compute_group(queue, [result], room, compute, is_nested)
        else:
            publish(queue, [(way.root, result, computed_signature(way.root.signature))])


def _take_slabs(
    queue: Queue,
    ways: Sequence[SlabResult],
    room: int,
    compute: _Compute,
    progress: Callable[[float], object],
    *,
    is_nested: bool,
) -> None:
    """Have results take all slabs, each while the next one is computed; `progress` is told of the part that is done.

    Where one index needs more than the device may have, as both operands of a product may be too large, or than it has,
    the slabs are cut along another axis in turn. What is read for a slab of one operand then stays on the device for
    all of these.
    """
    extent, budget = ways[0].extent, _budget(room)
    needs_slabs = not is_nested and _bytes_of_slab(ways, 1, budget) > room
    share = int(room * _SHARE_OF_OPERANDS)
    width = _width_of_outer(ways, share, budget) if needs_slabs else _width(ways, budget, is_nested=is_nested)
    queued: tuple[list[Node], int, int] | None = None
    start = 0
    while start < extent:
        stop = min(start + width, extent)
        cut = Cut(_WHOLE * budget)
        nodes = [node for way in ways for node in way.nodes(cut, start, stop)]
        try:
            if needs_slabs:
                copies = substituted(nodes, loaded(queue, nodes, budget, share), {})
                _compute_in_order(queue, copies, compute, {}, room, is_nested=True)
            else:
                copies = substituted(nodes, loaded(queue, nodes, budget), {})
                compute(queue, copies)
        except MemoryError:
            if width == 1 and queued is None:
                if needs_slabs or is_nested:
                    raise
                needs_slabs = True
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


def _width(ways: Sequence[SlabResult], budget: int, *, is_nested: bool = False) -> int:
    """Return how many indices a slab has: as many as the budget allows, in slabs of about one size."""
    one = _bytes_of_slab(ways, 1, budget, is_nested=is_nested)
    # Few indices that lie far apart are read as a range, and many as windows, which have less for each.
    counts = {n for n in (_few(ways), ways[0].extent // 2) if n > 1}
    rest = [(_bytes_of_slab(ways, n, budget, is_nested=is_nested) - one) / (n - 1) for n in counts]
    each = max(min(rest), 1) if rest else one
    # What is read as a whole for every slab may leave nothing of the budget: a slab then has half as much besides.
    return _even_width(ways[0].extent, max(budget - one, budget / 2) / each)


def _width_of_outer(ways: Sequence[SlabResult], share: float, budget: int) -> int:
    """Return how many indices a slab has that is cut along another axis in turn.

    What it reads of the one operand has the share for itself: nothing else of it stays on the device. What it writes
    leaves slab by slab, and counts as much as a slab of it has.
    """
    few = _few(ways)
    one, several = (_bytes_of_outer(ways, n, budget) for n in (1, few))
    return _even_width(ways[0].extent, share / max((several - one) / max(few - 1, 1), 1))


def _few(ways: Sequence[SlabResult]) -> int:
    """Return how many indices from the middle on tell what one more of them takes."""
    extent = ways[0].extent
    return min(extent - extent // 2, 16)


def _even_width(extent: int, most: float) -> int:
    """Return how many indices slabs of about one size have, which have one more than `most` at most."""
    width = min(max(int(most) + 1, 1), extent)
    return -(-extent // -(-extent // width))


def _bytes_of_slab(ways: Sequence[SlabResult], count: int, budget: int, *, is_nested: bool = False) -> int:
    """Return how many bytes a slab of so many indices in the middle reads and writes."""
    nodes, cut = _middle_slab(ways, count, budget)
    return _bytes_at_once(nodes, cut, budget, is_nested=is_nested)


def _bytes_of_outer(ways: Sequence[SlabResult], count: int, budget: int) -> float:
    """Return how many bytes windows have that such a slab reads, and what slabs of it write."""
    nodes, cut = _middle_slab(ways, count, budget)
    # Windows of one operand count each, as slabs of slabs read one of them at a time.
    reads = sum(reading.window_bytes for reading in readings(nodes, cut.whole))
    return reads + _bytes_as_whole(cut) + sum(map(_bytes, nodes)) * _SHARE


def _middle_slab(ways: Sequence[SlabResult], count: int, budget: int) -> tuple[list[Node], Cut]:
    """Return what is to be computed for a slab of so many indices in the middle."""
    cut, middle = Cut(_WHOLE * budget), ways[0].extent // 2
    return [node for way in ways for node in way.nodes(cut, middle, middle + count)], cut


def is_read_by(memory_of_host: numpy.ndarray, root: Node) -> bool:
    """Return whether a pending value is made of what is in some memory of the host."""
    owners = [reading.buffer.owner for reading in readings([root])]
    contents = [owner.content for owner in owners if isinstance(owner, HostCopy) and owner.is_in_memory]
    return any(content is not None and numpy.may_share_memory(content, memory_of_host) for content in contents)
