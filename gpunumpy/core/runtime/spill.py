"""Spill: values for which a device has no room are moved to memory of the host, and come back when they are read.

A buffer whose bytes were moved changes its class, so whoever looks for memory of the pool finds none there and asks the
buffer for its address, which brings the bytes back. Nothing is noted of buffers before the first value is moved.
"""

from __future__ import annotations

import gc
import mmap
import weakref
from _thread import get_ident
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from math import prod
from typing import Any

import numpy

from .._native import compiled
from ..graph.layout import Layout, decompose
from ..graph.node import Node
from ..graph.queue import Queue
from . import memory
from .chunk_reads import read_part
from .device import CPU, Device, is_lost
from .host_copies import HostCopy, buffer_with
from .marks import Mark
from .memory import Buffer, may_move
from .memory_copy import copy_from_host, copy_on_host, move_to_host
from .memory_pool import BufferState, FreeList, LeavingBlock, Pool, PoolBuffer, has_views, size_class
from .moves import PinnedBlock, mark_on, moves_of
from .run import Run
from .spill_store import Place, SpillStore

# Of what a GPU may have, the largest value that leaves before its room is needed.
_SHARE_AHEAD = 1 / 8
# The fields of buffers, of which a spilled buffer shows others.
_STATE: Any = BufferState
# Values of fewer bytes are moved last: each takes as long as many more bytes of a large one.
_SMALL_BYTES = 1 << 16


class SpilledBuffer(PoolBuffer):
    """A buffer whose bytes are on the host: `owner` has them."""

    __slots__ = ()

    is_spilled = True

    def __repr__(self) -> str:
        """Return the size and the device; the address would move the bytes."""
        return f"<{self.nbytes} bytes of {self.device}, moved to the host>"

    @property
    def ptr(self) -> int:  # type: ignore[override]
        """The address, once the bytes are back."""
        bring_back(self)
        return self.ptr  # of another class now

    @property
    def host(self) -> numpy.ndarray | None:  # type: ignore[override]
        """The block as bytes, once they are back, on the CPU device."""
        if self.device is not CPU:
            return None
        bring_back(self)
        return self.host

    def mark_used_by_other_stream(self) -> None:
        """Mark the buffer as used by a stream of another library, once its bytes are back."""
        bring_back(self)
        self.mark_used_by_other_stream()

    def awaited(self, start: int = 0, stop: int | None = None) -> numpy.ndarray | None:
        """Return the bytes where they are."""
        owner = self.owner
        return owner.part(start, self.nbytes if stop is None else stop) if isinstance(owner, HostCopy) else None


class MovedCopy(HostCopy):
    """The bytes of a buffer in page-locked memory, to which a GPU may be copying them still."""

    __slots__ = ("_content", "copied", "pinned")

    def __init__(self, content: numpy.ndarray, pinned: PinnedBlock, copied: Mark | None = None) -> None:
        self._content = content
        self.copied = copied
        self.pinned = pinned

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return self._content.nbytes

    @property
    def content(self) -> numpy.ndarray:  # type: ignore[override]
        """The bytes, once they are there."""
        mark = self.copied
        if mark is not None:
            mark.wait()
            self.copied = None
        return self._content


_queues: dict[Device, Queue] = {}
_stores: dict[Device, SpillStore] = {}


def register(queue: Queue) -> None:
    """Have values of the device of a queue be moved to the host where there is no room for others."""
    _queues[queue.device] = queue


@contextmanager
def _alone_with(queue: Queue) -> Iterator[None]:
    """Context in which no other thread changes values of a device.

    A helper thread that runs a section stands in for the thread that waits for it and holds the lock.
    """
    run = queue.run
    job = run.entered[2] if run is not None and run.entered is not None else None
    if job is not None and job.thread == get_ident():
        yield
        return
    with queue.lock:
        run = queue.run
        job = run.entered[2] if run is not None and run.entered is not None else None
        if job is not None:  # a signal handler has come in while this thread waits for a section
            job.cancel_or_wait()
        yield


# --- to the host ------------------------------------------------------------------------------------------------------


def spill(device: Device, nbytes: int, is_ahead: bool = False) -> bool:
    """Move values of a device to the host until so many bytes are free, or a block of that size is.

    First those that the plan at hand does not need, the least recently used first, then those that it needs last. A
    value stays where its address is known: to other libraries, to a copy, to NumPy's views, or to the step at hand.

    Parameters
    ----------
    is_ahead : bool
        Whether nothing waits for the bytes yet: one value may begin to leave.

    Returns
    -------
    bool
        Whether any value was moved.
    """
    queue = _queues.get(device)
    if queue is None or is_lost(device) or nbytes > memory.most_bytes(device):
        return False
    if memory.is_in_call(spill.__code__):  # for what is moved no others are moved
        return False
    with _alone_with(queue):
        run = Run()
        if queue.run is None:
            queue.run = run  # so that a flush in the midst, by a signal handler, overwrites nothing: see `evaluate`
        try:
            is_any = not is_ahead and _move_until(queue, nbytes)
            _move_ahead(queue, nbytes, 0 if is_ahead else 1)
            return is_any
        finally:
            if queue.run is run:
                queue.run = None


def _move_until(queue: Queue, nbytes: int) -> bool:
    """Move values until there is room for a block of so many bytes. Return whether any was moved."""
    pool = memory.pool_of(queue.device)
    pool.why_none_moved = ""
    missing = nbytes if pool.limit is None else max(pool.excess_bytes(nbytes), 1)
    is_any = False
    try:
        for size in _freed_sizes(queue):
            is_any = True
            missing -= size
            if missing <= 0 or size == nbytes:
                break
    finally:
        pool.reclaim_leaving()
    return is_any


def _freed_sizes(queue: Queue) -> Iterator[int]:
    """Yield the sizes of the blocks that leave already, and of others as their values are moved."""
    pool = memory.pool_of(queue.device)
    yield from [left.free_list.size for left in pool.leaving]
    for is_last in (False, True):
        for buffer, _ in _candidates(queue):
            size = _moved_size(buffer, queue)
            if size:
                yield size
        if not is_last:
            _note_all(queue)


def _move_ahead(queue: Queue, size: int, expected_blocks: int) -> None:
    """Have a value begin to leave a GPU before its room is needed, so that the next one comes back meanwhile.

    Not a value that leaves without a copy, nor one that the plan at hand reads. Of the free blocks of this size
    `expected_blocks` are about to be taken.
    """
    device, pool = queue.device, memory.pool_of(queue.device)
    if device is CPU or not _SMALL_BYTES <= size <= memory.most_bytes(device) * _SHARE_AHEAD:
        return
    if pool.leaving or len(pool.free_list(size)) > expected_blocks or pool.has_room(size):
        return
    for buffer, is_needed in _candidates(queue):
        free_list = getattr(buffer, "_free_list", None)
        if isinstance(free_list, FreeList) and free_list.size == size:
            if not is_needed and not _has_copy(buffer, queue):
                with suppress(MemoryError):
                    _moved_size(buffer, queue)
            return


def _candidates(queue: Queue) -> Sequence[tuple[Buffer, bool]]:
    """Return the buffers that may be moved, those first that are needed last as far as it is known.

    With each stands whether the plan at hand needs it.
    """
    pool = memory.pool_of(queue.device)
    steps: dict[int, int] = {}
    found: dict[int, tuple[Buffer, tuple[int, ...]]] = {}
    for run in _runs(queue):
        if run.plan is not None:
            for step, buffer in run.plan.buffers_ahead(run):
                steps[id(buffer)] = min(step, steps.get(id(buffer), step))
                found[id(buffer)] = buffer, (0,)
    for buffer, times in _noted(pool):
        found[id(buffer)] = buffer, times
    at_hand = _at_hand(queue)
    movable = [entry for key, entry in found.items() if key not in at_hand]
    return [(buffer, id(buffer) in steps) for buffer in _in_order(movable, steps, pool.now)]


def _noted(pool: Pool) -> list[tuple[Buffer, tuple[int, ...]]]:
    """Return the buffers whose uses were noted, with the times of these."""
    found = []
    for reference in list(pool.uses):  # at once: garbage that is collected meanwhile is dropped from the table
        used, uses = reference(), pool.uses.get(reference)
        if used is not None and uses is not None:
            found.append((used, uses.times))
    return found


def _in_order(entries: Sequence[tuple[Buffer, tuple[int, ...]]], steps: Mapping[int, int], now: int) -> list[Buffer]:
    """Return those of some buffers that may be moved, the first to leave first.

    Parameters
    ----------
    entries
        Buffers, and when they were used.
    steps
        The first step of the plan at hand that needs a buffer, by its identity.
    """

    def order(entry: tuple[Buffer, tuple[int, ...]]) -> tuple[bool, bool, int]:
        buffer, times = entry
        step = steps.get(id(buffer))
        return buffer.nbytes >= _SMALL_BYTES, step is None, expected(times, now) if step is None else step

    movable = [entry for entry in entries if type(entry[0]) is PoolBuffer and may_move(entry[0])]
    return [buffer for buffer, _ in sorted(movable, key=order, reverse=True)]


def values_to_move(queue: Queue, nbytes: int, read: Sequence[Buffer]) -> list[Buffer]:
    """Return the values that would move to the host for so many bytes, in that order; none are moved.

    Parameters
    ----------
    read
        What the plan reads that needs the bytes, in order.
    """
    with _alone_with(queue):
        pool = memory.pool_of(queue.device)
        steps = {id(buffer): step for step, buffer in enumerate(read)}
        noted = dict(_noted(pool)) if queue.device.has_spilled else {}
        others = [(x, (0,)) for x in pool_buffers() if x.device is queue.device and x not in noted]
        chosen = []
        for buffer in [*_in_order(list(noted.items()), steps, pool.now), *_in_order(others, steps, pool.now)]:
            if nbytes <= 0:
                break
            chosen.append(buffer)
            nbytes -= size_class(buffer.nbytes)
        return chosen


def expected(times: Sequence[int], now: int) -> int:
    """Return when a buffer is expected to be used again that was used at these times.

    After the least of the intervals between its uses that has not passed since the last one; if all have, the longer
    ago that was the later. So what every pass of a loop uses at two times is expected at both.
    """
    last = times[-1]
    ahead = [last + after - before for before, after in pairwise(times) if last + after - before > now]
    return min(ahead, default=2 * now - last)


def _runs(queue: Queue) -> list[Run]:
    return [*([queue.run] if queue.run is not None else []), *queue.runs_beside]


def _at_hand(queue: Queue) -> set[int]:
    """Return the identities of the buffers that steps at hand have the addresses of, or that sections would restore."""
    found = set()
    for run in _runs(queue):
        if run.plan is not None:
            found |= {id(buffer) for step, buffer in run.plan.buffers_ahead(run) if step == run.step}
            if run.entered is not None:
                found |= {id(buffer) for buffer, _, _ in run.entered[1]}
    return found


def _moved_size(buffer: Buffer, queue: Queue) -> int:
    """Move the bytes of a buffer to the host. Return how many bytes of the device that frees; 0 if it stays."""
    assert isinstance(buffer, PoolBuffer)
    free_list = getattr(buffer, "_free_list", None)  # none where another buffer was given the block
    if not isinstance(free_list, FreeList) or has_views(buffer._block):
        return 0
    block, pool = buffer._block, memory.pool_of(queue.device)
    # A thread that has just allocated the buffer fills it without the lock of the queue, perhaps from here on.
    pool.moving = id(buffer)
    after = _mark_behind(buffer, queue)
    copy = buffer.copy
    if not _has_copy(buffer, queue):
        copy = _copied(buffer, queue, after)
        if copy is None:
            return 0
        after = copy.copied if isinstance(copy, MovedCopy) else None
    buffer.device.has_spilled = True
    # From the change of the class on, whoever wants the address waits for the lock of the queue, or, as a signal
    # handler, gives the buffer another block. So it is the old block that is free, if nobody has its address yet.
    buffer.owner = copy
    buffer.__class__ = SpilledBuffer
    if not may_move(buffer) or has_views(block) or pool.moving != id(buffer):
        buffer.__class__ = PoolBuffer
        buffer.owner = buffer.copy = None
        return 0
    if buffer._block is block:
        del buffer._free_list, buffer._block
        _STATE.host.__set__(buffer, None)
    if after is None:
        free_list.append(block)
    else:
        pool.leaving.append(LeavingBlock(pool.leaving, free_list, block, after))
    return free_list.size


def _has_copy(buffer: Buffer, queue: Queue) -> bool:
    """Return whether the host has the bytes of a buffer."""
    written = [x for run in _runs(queue) if run.plan for x in (*run.slots, *run.plan.overwritten_leaves(run.nodes))]
    return (
        not any(buffer is other for other in written)
        and buffer.copy is not None
        and buffer.copy.nbytes == buffer.nbytes
    )


def _mark_behind(buffer: Buffer, queue: Queue) -> Mark | None:
    """Return the mark on a GPU behind all that has been queued for a buffer."""
    if queue.device is CPU:
        return None
    at_hand = [node.data for run in _runs(queue) if run.plan is not None for node in run.nodes]
    at_hand += [slot for run in _runs(queue) if run.plan is not None for slot in run.slots]
    uses = memory.pool_of(queue.device).uses.get(weakref.ref(buffer))
    if uses is None or uses.mark is None or any(buffer is other for other in at_hand):
        return mark_on(queue.device, queue.device.stream)
    return uses.mark


def _copied(buffer: Buffer, queue: Queue, after: Mark | None) -> HostCopy | None:
    """Return a copy of the bytes of a buffer behind a mark, or None if the host has no room for it."""
    store = _stores.get(buffer.device) or _stores.setdefault(buffer.device, SpillStore(buffer.device))
    place = store.place(buffer.nbytes)
    if place is None:
        _drop_copies(queue)
        place = store.place(buffer.nbytes)
        if place is None:
            memory.pool_of(buffer.device).why_none_moved = store.why_full
            return None
    if place.pinned is not None and after is not None:
        mark = moves_of(buffer.device).to_host(place.pinned, buffer, after)
        copy: HostCopy = MovedCopy(place.content, place.pinned, mark)
    else:
        move_to_host(place.content, buffer, False)
        copy = HostCopy(place.content)
    memory.pool_of(buffer.device).bytes_to_host += buffer.nbytes
    buffer.copy = copy
    return copy


def _drop_copies(queue: Queue) -> None:
    """Drop copies of values that are on the device too: they would only spare another copy."""
    for reference in list(memory.pool_of(queue.device).uses):
        buffer = reference()
        if buffer is not None and type(buffer) is PoolBuffer:
            buffer.copy = None


def move_out(buffer: Buffer, queue: Queue) -> None:
    """Move the bytes of a buffer to the host, if nobody has its address and the host has room for them."""
    with _alone_with(queue):
        if type(buffer) is PoolBuffer and may_move(buffer):
            _moved_size(buffer, queue)


# --- and back ---------------------------------------------------------------------------------------------------------


def bring_back(buffer: Buffer) -> None:
    """Copy the bytes of a buffer back to its device, if they are not there.

    Raises
    ------
    MemoryError
        If there is no room for them; they stay on the host.
    """
    with _alone_with(_queues[buffer.device]):
        while type(buffer) is SpilledBuffer:
            fresh, after = _block_for(buffer.device, buffer.nbytes)  # which may have signal handlers bring it back
            copy = buffer.owner
            if not isinstance(copy, HostCopy) or type(buffer) is not SpilledBuffer:
                continue
            if isinstance(copy, MovedCopy):
                load(fresh, copy, 0, after)
            else:
                if after is not None:
                    after.precede(buffer.device.stream)
                assert copy.content is not None
                copy_from_host(fresh, 0, copy.content)
            pool = memory.pool_of(buffer.device)
            pool.unmark(buffer)
            _give_block(buffer, fresh)
            pool.bytes_from_host += buffer.nbytes
            if after is not None:
                with memory.staying(buffer):
                    spill(buffer.device, buffer._free_list.size, is_ahead=True)


def _block_for(device: Device, nbytes: int) -> tuple[Buffer, Mark | None]:
    """Return a buffer for bytes that come back, and the mark behind which it may be written, if that is not now."""
    pool = memory.pool_of(device)
    if pool.leaving and (left := pool.take_leaving(size_class(nbytes))) is not None:
        return PoolBuffer(device, left.block, nbytes, left), left.mark
    return memory.allocate(device, nbytes), None


def load(target: Buffer, copy: MovedCopy, start: int, after: Mark | None = None) -> None:
    """Have the bytes that a copy has from `start` on come back to a buffer, behind a mark or all that is queued."""
    device = target.device
    moves_of(device).to_device(target, copy.pinned, start, after or mark_on(device, device.stream))


def _give_block(buffer: Buffer, fresh: Buffer) -> None:
    """Give a buffer the block of another one. An exception in between loses the block to the pool, and no value."""
    assert isinstance(fresh, PoolBuffer)
    block, free_list, host, ptr = fresh._block, fresh._free_list, fresh.host, fresh.ptr
    if isinstance(free_list, LeavingBlock):  # it is as any other block now
        free_list = free_list.free_list
    del fresh._free_list
    _STATE.host.__set__(buffer, host)
    _STATE.ptr.__set__(buffer, ptr)
    buffer._block, buffer._free_list = block, free_list
    buffer.__class__ = PoolBuffer
    buffer.owner = None


# --- what never was on the device -------------------------------------------------------------------------------------

_LARGE_BYTES = 1 << 20  # that every device has
_SHARE = 1 / 2  # of what a device may have: a larger value leaves no room for another one of its size


def is_too_large(nbytes: int, device: Device) -> bool:
    """Return whether a value of so many bytes stays on the host, as it leaves no room for others on its device."""
    return nbytes >= _LARGE_BYTES and nbytes > memory.most_bytes(device) * _SHARE


def buffer_of(data: numpy.ndarray, device: Device) -> Buffer:
    """Return a buffer of a device with the bytes of an array in C order.

    What is too large, or finds no room, stays on the host: as a copy, or in the file that is mapped to the array.
    """
    if not is_too_large(data.nbytes, device):
        try:
            return buffer_with(data, device)
        except MemoryError:  # also where a CUDA graph is made, which replays what is on its device
            if not _has_place_elsewhere(data, device) or memory.pool_of(device).is_reserving:
                raise
    elif not _has_place_elsewhere(data, device):
        return buffer_with(data, device)
    content = data.reshape(-1).view(numpy.uint8)
    if _is_mapped(data):
        return buffer_on_host(device, data.nbytes, HostCopy(content))
    # To lock its pages takes longer than to read it a dozen times.
    place = place_on_host(device, data.nbytes, to_lock=False)
    copy_on_host(place.content, content)
    return buffer_on_host(device, data.nbytes, copy_in(place))


def _has_place_elsewhere(data: numpy.ndarray, device: Device) -> bool:
    """Return whether the bytes of an array can be in a file, or in other memory than that of a device."""
    return device is not CPU or memory.pool_of(device).limit is not None or _is_mapped(data)


def copy_in(place: Place) -> HostCopy:
    """Return the copy whose bytes are in a place of the host."""
    return HostCopy(place.content) if place.pinned is None else MovedCopy(place.content, place.pinned)


class _Chunks(HostCopy):
    """The bytes of an array that another library keeps in chunks, in a file perhaps, read when they are needed.

    The array has a shape, a dtype, and parts that NumPy makes arrays of, as those of h5py and zarr have.
    """

    is_in_memory = False

    __slots__ = ("_array", "_dtype", "_shape")

    def __init__(self, array: Any) -> None:
        self._array = array
        self._shape, self._dtype = tuple(array.shape), numpy.dtype(array.dtype)

    def _read(self, key: tuple[slice, ...]) -> numpy.ndarray:
        """Return a part of the array.

        Raises
        ------
        ValueError
            If it is not what the array was to have there.
        """
        part = read_part(self._array, key)
        lengths = [len(range(*of_axis.indices(n))) for of_axis, n in zip(key, self._shape, strict=False)]
        expected = (*lengths, *self._shape[len(key) :])
        if part.shape != expected or part.dtype != self._dtype:
            raise ValueError(
                f"an array in chunks gave {part.dtype} of shape {part.shape} where it had {self._dtype} of shape "
                f"{expected}: it must not change before what is made of it is computed"
            )
        return part

    @property
    def content(self) -> numpy.ndarray:  # type: ignore[override]
        """All bytes."""
        return _flat_bytes(self._read((slice(None),)))

    def part(self, start: int, stop: int) -> numpy.ndarray:
        """Return the bytes from `start` to before `stop`."""
        row = prod(self._shape[1:]) * self._dtype.itemsize
        first, last = start // row, -(-stop // row)
        return _flat_bytes(self._read((slice(first, last),)))[start - first * row : stop - first * row]

    def window(self, dtype: Any, where: Layout) -> numpy.ndarray:
        """Return the elements that a layout selects: of slices of the array if its axes are these."""
        shape = self._shape
        found = decompose(shape, where.strides, where.offset, where.shape)
        if found is None or self._dtype != dtype:
            return super().window(dtype, where)
        starts, steps = found
        axes = [[k for k, step in enumerate(of_axis) if step] for of_axis in steps]
        if any(len(of_axis) != 1 for of_axis in axes) or len({k for (k,) in axes}) < len(axes):
            return super().window(dtype, where)
        key = [slice(start, start + 1) for start in starts]
        for (k,), of_axis, n in zip(axes, steps, where.shape, strict=True):
            ends = sorted((starts[k], starts[k] + of_axis[k] * (n - 1)))
            key[k] = slice(ends[0], ends[1] + 1, abs(of_axis[k]))  # as h5py has no negative steps
        part = self._read(tuple(key))
        part = part[
            tuple([slice(None, None, -1 if any(of_axis[k] < 0 for of_axis in steps) else 1) for k in range(len(shape))])
        ]
        order = [k for (k,) in axes]
        return part.transpose(*order, *[k for k in range(len(shape)) if k not in order]).reshape(where.shape)


def _flat_bytes(data: Any) -> numpy.ndarray:
    return numpy.ascontiguousarray(data).reshape(-1).view(numpy.uint8)


def buffer_of_chunks(array: Any, device: Device) -> Buffer:
    """Return a buffer of a device whose bytes are read from an array in chunks, a part at a time."""
    return buffer_on_host(device, prod(array.shape) * numpy.dtype(array.dtype).itemsize, _Chunks(array))


def _is_mapped(data: Any) -> bool:
    """Return whether the memory of an array is that of a file."""
    while isinstance(data, (numpy.ndarray, memoryview)):
        data = data.base if isinstance(data, numpy.ndarray) else data.obj
    return isinstance(data, mmap.mmap)


def place_on_host(device: Device, nbytes: int, to_lock: bool = True) -> Place:
    """Return a place on the host for a value of a device, in page-locked memory if that is asked for and can be had.

    Raises
    ------
    MemoryError
        If the host has none.
    """
    store = _stores.get(device) or _stores.setdefault(device, SpillStore(device))
    place = store.place(nbytes, to_lock)
    if place is None:
        memory.pool_of(device).why_none_moved = store.why_full
        raise memory.shortage(device, f"no room on the host for a value of {nbytes:,} bytes")
    if place.pinned is not None:
        place.pinned.wait()  # for what has used the memory before
    return place


def buffer_on_host(device: Device, nbytes: int, copy: HostCopy) -> Buffer:
    """Return a buffer of a device whose bytes are on the host, as if they had been moved there."""
    buffer = SpilledBuffer.__new__(SpilledBuffer)
    buffer.device, buffer.phase, buffer.nbytes = device, 0, nbytes
    buffer.exported = False
    buffer.copy, buffer.owner = None, copy
    device.has_spilled = True
    return buffer


# --- what is used when ------------------------------------------------------------------------------------------------


def note_uses(queue: Queue, nodes: Sequence[Node], slots: Sequence[Any]) -> None:
    """Note that a run has used buffers, and drop the copies that the host has of those that it has written."""
    used = [node.data for node in nodes if isinstance(node.data, PoolBuffer)]
    for buffer in slots:
        if isinstance(buffer, PoolBuffer):
            buffer.copy = None
            used.append(buffer)
    memory.pool_of(queue.device).note_uses(used)


@compiled
def pool_buffers() -> list[PoolBuffer]:
    """Return the buffers of all devices that have memory from a pool: Python's collector knows them.

    The core lets no other thread run meanwhile: one that is just making a tuple fails if that tuple is referred to.
    """
    return [x for x in gc.get_objects() if type(x) is PoolBuffer]


def _note_all(queue: Queue) -> None:
    """Note the buffers of a device that were made and used before values were moved."""
    pool = memory.pool_of(queue.device)
    found = [x for x in pool_buffers() if x.device is queue.device]
    pool.note_uses(buffer for buffer in found if weakref.ref(buffer) not in pool.uses)


memory.spill = spill
