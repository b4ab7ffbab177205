"""Flush: computes the pending values of a device.

A flush walks the graph from every pending array that is alive, finds (or makes) the plan for a graph of that structure,
and runs the plan on the executor of the device. The key of a plan is a tuple that the walk makes: the signatures of the
roots, and how nodes and buffers are shared.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import prod
from sys import getrefcount
from types import FrameType
from typing import Any

import numpy

from .._native import compiled, tell, tried_first
from ..errors import DeviceError
from ..fork import take_before_fork
from ..graph.bounded_table import BoundedTable
from ..graph.node import Node, as_new_node, scalar
from ..graph.queue import REVIEW_INTERVAL, Queue
from ..graph.substituted import substituted
from ..late_imports import import_late
from ..schedule.size_functions import evaluated
from ..schedule.traits import Traits
from ..schedule.variants import Variants
from . import device as devices
from . import memory
from .async_copies import copies_begun
from .device import Device, default_device
from .device import synchronize as wait_for_device
from .executors import executor_for
from .host_copies import HostCopy, VisibleBuffer
from .host_work import HostCalls, observed
from .loop_cut import BYTES_LIMIT, NODES_LIMIT, LoopCut
from .memory import Buffer, out_of_memory_hooks
from .memory_parts import parts_that_fit
from .plan import Observer, Plan, nothing
from .planner import GraphChanged, Planner
from .run import Run, publish, renew, settle, values_of
from .spill import is_too_large, register, spill
from .spill_store import Place

# What computes graphs for which memory is short, which few programs need.
_slabs = partial(import_late, ".slabs", __package__)


class _DeviceState:
    """The queue, the executor and the plans of one device."""

    __slots__ = ("cut", "executor", "former", "planner", "queue")

    def __init__(self, device: Device, queue: Queue | None = None) -> None:
        self.executor = executor_for(device)
        traits = self.executor.traits
        if queue is None:
            first = review if device is devices.CPU else _review_first
            queue = Queue(device, first, traits.alignment, traits.host_bytes, traits.host_multiplications)
            self.former = None
        else:
            queue.belong_to(device, traits.alignment, traits.host_bytes, traits.host_multiplications)
            self.former = queue.state  # which other threads may be reading
        self.queue = queue
        _schedule_review(queue)
        self.planner = Planner(self.executor)
        self.cut = LoopCut()
        self.queue.state = self


_states: dict[Device, _DeviceState] = {}
# Installed by `profile`: called with every step that runs work, and the work.
observer: Observer | None = None
# Installed by `profile`: called with every call that was NumPy's, for small arrays on the host.
host_calls: HostCalls | None = None
# Installed by `watch`: called with the value of every array as the array is made.
watcher: Callable[[Node], None] | None = None
# Whether every new plan is verified before it runs, as in tests: a defect then raises instead of giving wrong results.
CHECK = os.environ.get("GPUNUMPY_CHECK", "0") not in ("", "0")


def state_of(device: Device) -> _DeviceState:
    """Return the state of a device, made at its first use."""
    device_state = _states.get(device)
    if device_state is None:
        device_state = _states.setdefault(device, _DeviceState(device))  # of several threads one is first
        register(device_state.queue)
    return device_state


def read_ahead(device: Device) -> None:
    """Make ready what the last process of this program needed."""
    device_state = state_of(device)
    device_state.planner.read_ahead(device_state.queue)


devices.behind_context = read_ahead


def _flush_locks() -> list[Any]:
    """Return the locks that flushes hold while they change arrays, of which no two are taken together."""
    return [device_state.queue.lock for device_state in list(_states.values())]


take_before_fork(_flush_locks)


def _schedule_review(queue: Queue) -> None:
    """Set the length at which a queue is reviewed next: with a watcher, or if nothing was recorded, at the next one."""
    while True:
        seen = watcher
        is_due = seen is not None or queue.review is not review
        queue.review_at = -1 if is_due else len(queue.pending) + REVIEW_INTERVAL
        if seen is watcher:  # else another thread has changed it, and may have set the length before this one did
            return


def queue_of(device: Device) -> Queue:
    """Return the queue that values of the device are recorded in."""
    return state_of(device).queue


def prove(queue: Queue) -> Queue:
    """Make ready a device that a first value is about to go to; return the queue that the value is to be recorded in.

    Until then a default device that nobody has named may turn out to be unusable. Its arrays, which are all on the
    host, are then of the next device, unless that one has values already.
    """
    while queue.review is not review:
        old_device = queue.device
        device = devices.proven(old_device)  # without a lock that flushes need: this may take long, or be interrupted
        if device is old_device:
            queue.review = review
            _schedule_review(queue)
        elif not _moved(queue, old_device, device):
            return prove(queue_of(device))
    return queue


def _moved(queue: Queue, old_device: Device, device: Device) -> bool:
    """Have the arrays of a queue, none of which is in memory of its device, be of another one if that has none."""
    with queue.lock:
        if queue.device is old_device:  # else another thread has done it
            if device in _states:
                return False
            del _states[old_device]
            _states[device] = _DeviceState(device, queue)
            register(queue)
    return True


def _review_first(queue: Queue, recorded: Node) -> None:
    """Review the first value that is recorded on a GPU."""
    if prove(queue) is not queue:
        raise DeviceError(f"{queue.device} cannot be used; its arrays on the host can be, by way of x.to_device('cpu')")
    queue.review(queue, recorded)


def usable_default() -> Device:
    """Return the default device, which is made ready."""
    return prove(queue_of(default_device())).device


def traits_of(device: Device) -> Traits:
    """Return the properties of the executor of the device."""
    return state_of(device).executor.traits


def _reads_buffer(node: Node) -> bool:
    """Return whether a pending generator reads a buffer: a part of it may have been computed since it was recorded."""
    return any(a.signature.queue is not None if a.data is not None else _reads_buffer(a) for a in node.args)


@compiled
def live_roots(queue: Queue, extra: Sequence[Node] = ()) -> tuple[list[Node], int, list[weakref.ref[Any]]]:
    """Return the pending values of arrays that are alive, oldest first, then those of `extra`.

    Generators that read no buffer are left out unless `extra` names them: a value cheaper to compute than to read stays
    pending.

    Returns
    -------
    list, int, list
        The values, how many entries of the queue have been looked at, and those entries that stay in the queue once the
        values are computed.
    """
    pending = queue.pending
    pending_count = len(pending)  # another thread may append meanwhile
    roots: dict[Node, None] = {}
    kept_refs = []
    for ref in pending[:pending_count]:
        array = ref()
        if array is not None:
            node = array._node
            if node.data is None:
                if node.signature.generator and not _reads_buffer(node):
                    kept_refs.append(ref)
                else:
                    roots[node] = None
    for node in extra:
        if node.data is None:
            roots[node] = None
    return list(roots), pending_count, kept_refs


@compiled
def walk(roots: Sequence[Node]) -> tuple[list[Node], tuple[Any, ...]]:
    """Return all nodes that the roots need, and a key: two graphs have equal keys exactly if one plan serves both."""
    nodes = list(roots)
    if len(nodes) == 1:
        # The most frequent graph, one operation on computed arrays, needs no bookkeeping.
        (root,) = nodes
        args = root.args
        if len(args) == 1:
            (first,) = args
            if first.data is not None:
                return [root, first], (root.signature, first.signature)
        elif len(args) == 2:
            first, second = args
            if first.data is not None and second.data is not None and first.data is not second.data:
                return [root, first, second], (root.signature, first.signature, second.signature)
        nodes += args
        buffer_ids = {id(node.data) for node in nodes}
        if None not in [node.data for node in args] and len(buffer_ids) == len(nodes):
            return nodes, tuple([node.signature for node in nodes])
        del nodes[1:]
    position_of = {node: k for k, node in enumerate(nodes)}
    key: list[Any] = [node.signature for node in nodes]
    key.append(None)
    buffers: dict[int, tuple[int, int]] = {}
    count = len(nodes)
    for node in nodes:
        data = node.data
        if data is None:
            args = node.args
            if not args:
                key.append(None)  # else the next entries could be taken for arguments of this node
            for argument in args:
                position = position_of.get(argument)
                if position is None:
                    position = position_of[argument] = count
                    count += 1
                    nodes.append(argument)
                key.append(position)
        else:
            signature = node.signature
            key.append(signature)
            if signature.queue is not None:  # a buffer: the key tells which windows share it, and their offsets
                first_window = buffers.get(id(data))
                if first_window is None:
                    buffers[id(data)] = (-1 - len(buffers), node.offset)
                else:
                    key.append(first_window[0])
                    key.append(node.offset - first_window[1])
    return nodes, tuple(key)


@compiled
def survey(queue: Queue) -> tuple[int, int]:
    """Drop entries of a queue for values that are computed, or not alive; return how large the pending graph is.

    Returns
    -------
    int, int
        The nodes that the values need, themselves included, and the bytes of buffers that nothing else refers to.
    """
    roots, count, _ = live_roots(queue)
    arrays = [(ref, ref()) for ref in queue.pending[:count]]
    refs = {array._node: ref for ref, array in arrays if array is not None and array._node.data is None}
    del arrays
    queue.pending[:count] = refs.values()
    nodes = _reachable_nodes(roots)
    return len(nodes), _held_bytes(nodes)


def _reachable_nodes(roots: Sequence[Node]) -> list[Node]:
    """Return all nodes that the roots need."""
    seen = set(roots)
    nodes = list(roots)
    for node in nodes:
        if node.data is None:
            for argument in node.args:
                if argument not in seen:
                    seen.add(argument)
                    nodes.append(argument)
    return nodes


@tried_first
def flush(queue: Queue, *extra: Node, looked: Node | None = None) -> None:
    """Compute every pending array of a device that is alive, and the values `extra`.

    The host is about to read the value `looked`, one of `extra`.

    If that fails, the values `extra` are computed alone. A value that cannot be computed (for lack of memory, say) so
    stays pending, and raises only where that value is needed. All entries stay in the queue until their values are
    there.

    A flush that finds a run under way on its own thread, because a signal handler or a finalizer looks at a value in
    the middle of the run, computes what it is asked for beside that run.
    """
    with queue.lock, observed("flush", "flush"):
        if queue.run is not None and _is_under_way(queue):
            _compute_beside(queue, extra or live_roots(queue)[0])
            return
        run = Run()
        queue.run = run
        roots: list[Node] = []
        seen = queue.publications
        try:
            pending = queue.pending
            if len(extra) == 1 == len(pending) and pending[0] is extra[0].owner and extra[0].data is None:
                roots = list(extra)  # the case of a program that looks at every result
                _compute_roots(queue, roots, run, seen, looked=looked)
                del pending[:1]  # another thread may have appended meanwhile
            else:
                roots, count, kept_refs = live_roots(queue, extra)
                if roots:
                    _compute_roots(queue, roots, run, seen, looked=looked)
                pending[:count] = kept_refs
            _schedule_review(queue)
            if extra:
                queue.state.cut.looked()
            queue.run = None
        except BaseException as error:
            _recover(queue, run, extra, roots, error)


def _recover(queue: Queue, run: Run, extra: Sequence[Node], roots: Sequence[Node], error: BaseException) -> None:
    """Finish what an exception has left of a flush, and compute the values `extra` alone or raise the exception."""
    _settle(queue)
    try:
        if isinstance(error, MemoryError) and (shortage := _compute_parts_that_fit(queue, roots, error)) is not error:
            if shortage is None:
                return
            error = shortage
        requested = [node for node in dict.fromkeys(extra) if node.data is None]
        retry_alone = bool(extra) and len(requested) < len(roots)
        if not retry_alone or not isinstance(error, MemoryError if CHECK else Exception):
            raise error
        try:
            compute_only(queue, requested)
        except MemoryError as error_alone:
            shortage = _compute_parts_that_fit(queue, requested, error_alone)
            if shortage is not None:
                raise shortage from None
    finally:
        # The traceback has this frame: arrays of the program's frames would stay until garbage is collected.
        del error
        shortage = None


def _compute_parts_that_fit(
    queue: Queue, roots: Sequence[Node], error: MemoryError, slabs: Run | None = None
) -> MemoryError | None:
    """Compute roots for which memory was short in parts that read less at once; `slabs` is a run that waits meanwhile.

    Return None if all are computed, else the error that tells why not.
    """
    pending = [root for root in roots if root.data is None]
    if memory.spill is None or not pending:
        return error
    parts = parts_that_fit(pending, memory.most_bytes(queue.device) // 2)
    while parts:
        try:
            if slabs is None:
                compute_only(queue, parts[0])
            else:  # which would come here again, for the same part
                _compute_alone(slabs, queue, parts[0])
            del parts[0]
        except MemoryError:  # together, as they may share passes over the data
            break
    if parts:
        try:
            _compute_in_slabs(queue, [root for part in parts for root in part])
        except MemoryError as shortage:
            return shortage
    return None


def _is_under_way(queue: Queue) -> bool:
    """Return whether the queue's run is under way, on this thread; settle one that an exception has ended.

    The caller holds the lock, so a run under way can only be on this thread.
    """
    if queue.run.is_in_core:
        return True
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code in _RUNNING and frame.f_locals.get("run") is queue.run:
            return True
        frame = frame.f_back
    _settle(queue)
    return False


def _settle(queue: Queue, outer: Run | None = None) -> None:
    """Finish a run that an exception has ended. If this is interrupted too, the next flush finishes it.

    The run `outer` waits for it, if one does.
    """
    run = queue.run
    if run is not None:
        settle(run)
    _schedule_review(queue)
    queue.run = outer
    if run is not None and run.plan is not None:
        # Frames of the exception, which is being handled, hold the list: its buffers would take the room of a retry.
        run.slots[:] = [None] * len(run.slots)


def _compute_roots(
    queue: Queue, roots: Sequence[Node], run: Run, seen: int, overwrite: bool = True, looked: Node | None = None
) -> None:
    """Compute the roots; without `overwrite`, updates leave their leaves as they are, for other pending values.

    Parameters
    ----------
    seen
        The queue's `publications` at a time before the roots were seen to be pending.
    looked
        The root that the host is about to read, unless a flush beside this one has computed it.
    """
    planner = queue.state.planner
    while True:
        nodes, key = walk(roots)
        if not overwrite:
            key = (key, overwrite)
        plan = planner.plans.find(key)
        if plan is None:
            has_changed = partial(_has_published, queue, seen)
            with suppress(GraphChanged):
                parts = planner.parts(key, nodes, len(roots), has_changed) if overwrite else []
                if parts:
                    parts_left = [[nodes[p] for p in part] for part in reversed(parts)]
                    del nodes
                    _compute_parts(queue, parts_left, run, looked)
                    return
                with observed("plan", "plan"):
                    plan = planner.plan(key, nodes, len(roots), overwrite, CHECK, has_changed)
        if plan is not None and queue.publications == seen:
            break
        seen = queue.publications  # a flush beside this one has computed some of the roots
        roots = [root for root in roots if root.data is None]
        if not roots:
            return
    capture = queue.device.capture
    if capture is None:
        plan.run(nodes, run, observer, roots.index(looked) if looked in roots else None)
        return
    buffers = [node.data for node in nodes if isinstance(node.data, Buffer)]
    with capture.running([*buffers, plan], plan.library_calls()):  # the plan has the kernels
        plan.run(nodes, run)


def _compute_parts(queue: Queue, parts: list[list[Node]], run: Run, looked: Node | None) -> None:
    """Compute the roots of each part of a graph, the last one first.

    Nothing keeps what later parts do not read, so that its memory is free for them.
    """
    while parts:
        renew(run)
        compute_part(queue, parts.pop(), run, looked)


@tried_first
def compute_part(queue: Queue, part: Sequence[Node], run: Run, looked: Node | None) -> None:
    """Compute those roots of a part that no flush beside this one has computed."""
    seen = queue.publications
    roots = [root for root in part if root.data is None]
    if roots:
        _compute_roots(queue, roots, run, seen, looked=looked)


def _has_published(queue: Queue, seen: int) -> bool:
    return queue.publications != seen


def _compute_beside(queue: Queue, requested: Sequence[Node]) -> None:
    """Compute values while a run on this thread waits: out of what is complete, and into memory of their own."""
    values, buffers = values_of(queue.run)
    seen = queue.publications
    pending = [node for node in dict.fromkeys(requested) if node.data is None]
    copies = substituted(pending, values, buffers) if values or buffers else pending
    if not copies:
        return
    outer = queue.device.launched
    queue.device.note_launches()  # the launches of this flush are none of the run that waits
    run = Run()
    queue.runs_beside.append(run)
    try:
        _compute_roots(queue, copies, run, seen, overwrite=False)
    except MemoryError as error:
        # Between two slabs, values of which slabs are computed may take what is left.
        if queue.run.plan is not None or _compute_parts_that_fit(queue, pending, error, queue.run) is not None:
            raise
    finally:
        queue.device.launched = outer
        queue.runs_beside.remove(run)
    if copies is not pending:
        results = [(node, copy.data, copy.signature) for node, copy in zip(pending, copies, strict=True)]
        publish(queue, results)


def _flush_for_memory(device: Device) -> None:
    """Compute what is pending, of which operands may be all that is left to free.

    Nothing is done while a run is under way: the run has not enough memory, or frees some itself.
    """
    device_state = _states.get(device)
    if device_state is None or device_state.queue.run is not None:
        return
    queue = device_state.queue
    lock: Any = queue.lock
    with suppress(Exception):  # that comes where the value is needed
        if lock._is_owned():
            flush(queue)
            return
        try:
            if lock.acquire(blocking=False) and queue.run is None:
                flush(queue)
        finally:
            if lock._is_owned():  # an exception of a signal handler may have come before the condition was known
                lock.release()


out_of_memory_hooks.append(_flush_for_memory)


def compute_only(queue: Queue, nodes: Sequence[Node]) -> None:
    """Compute only these values: other pending values stay pending, and no leaf is overwritten."""
    with queue.lock:
        if queue.run is not None and _is_under_way(queue):
            _compute_beside(queue, nodes)
        else:
            _compute_alone(None, queue, nodes)


def _compute_alone(outer: Run | None, queue: Queue, nodes: Sequence[Node]) -> None:
    """Compute only these values. The caller holds the lock; the run `outer`, that of slabs, waits meanwhile."""
    run = Run()
    queue.run = run
    seen = queue.publications
    try:
        roots = [node for node in dict.fromkeys(nodes) if node.data is None]
        if roots:
            _compute_roots(queue, roots, run, seen, overwrite=False)
        queue.run = outer
    except BaseException:
        _settle(queue, outer)
        raise


def _compute_in_slabs(queue: Queue, roots: Sequence[Node], places: Mapping[Node, Place] | None = None) -> None:
    """Compute values slab by slab; see `slabs.compute_slabs`. The caller holds the lock.

    From the first slab to the last the queue has a run, also between two of them. A flush that comes in between, of a
    signal handler's look or for memory, so overwrites no leaf: slabs that are still to come read it.
    """
    outer, run = queue.run, Run()
    queue.run = run
    try:
        _slabs().compute_slabs(queue, roots, partial(_compute_alone, run), places)
    finally:
        queue.run = outer


def compute_into(target: numpy.ndarray, node: Node) -> bool:
    """Compute a value that is too large for its device into memory of the host, slab by slab.

    Parameters
    ----------
    target
        The bytes of the value in C order: of a mapped file, perhaps.

    Returns
    -------
    bool
        Whether that was done: not if the value fits, has no slabs, or is made of what is in the memory.
    """
    queue = node.signature.queue
    if queue is None or not is_too_large(target.nbytes, queue.device):
        return False
    root = as_new_node(node)
    with queue.lock:
        if (queue.run is not None and _is_under_way(queue)) or _slabs().is_read_by(target, root):
            return False
        others = [other for other in live_roots(queue)[0] if _slabs().is_read_by(target, other)]
        _compute_in_slabs(queue, others)
        _compute_in_slabs(queue, [root], {root: Place(target, None)})
    check_errors(queue)
    owner = root.data.owner
    return isinstance(owner, HostCopy) and owner.content is target


def compute_all() -> None:
    """Compute all arrays on all devices; a value that cannot be computed raises only where it is needed."""
    for device_state in list(_states.values()):
        with suppress(Exception):
            compute_every_value(device_state.queue)


def compute_every_value(queue: Queue) -> None:
    """Compute all arrays of a device, also those that take less time to compute than to read."""
    with queue.lock:
        arrays = [ref() for ref in queue.pending]
        flush(queue, *(array._node for array in arrays if array is not None))


def watch(function: Callable[[Node], None] | None) -> None:
    """Call `function` with the value of every array as it is made, in whichever thread; None ends this."""
    global watcher
    watcher = function
    tell(watched=function is not None)
    for device_state in list(_states.values()):
        _schedule_review(device_state.queue)


@tried_first
def compute(node: Node) -> Node:
    """Compute a node and return it."""
    if node.data is None:
        queue = node.signature.queue
        assert queue is not None
        flush(queue, node)
    return node


def compute_pending(queue: Queue) -> None:
    """Compute what is pending, before others write to its operands. A value that cannot be computed stays so."""
    try:
        flush(queue)
    except Exception:
        for node in live_roots(queue)[0]:
            with suppress(Exception):
                compute(node)


@tried_first
def compute_to_look(node: Node) -> Node:
    """Compute a node whose value the host is about to read, and return it."""
    if node.data is None:
        queue = node.signature.queue
        assert queue is not None
        flush(queue, node, looked=node)
    return node


def compute_operands(nodes: Sequence[Node]) -> None:
    """Compute the nodes that belong to a device; the others are scalars."""
    for node in nodes:
        if node.signature.queue is not None:
            compute(node)


def synchronize(device: Device | str | int | None = None) -> None:
    """Compute the pending arrays of a device, and wait until its work is done, and all copies to and from the host.

    Arrays that are computed in less time than they are read (zeros, ranges and the like) stay as they are until they
    are needed in memory.

    Parameters
    ----------
    device : Device, str or int, optional
        The device; the default device if None.

    Raises
    ------
    IndexError
        If an operation recorded before had an index out of bounds.
    """
    wanted_device = default_device() if device is None else Device(device)
    device_state = _states.get(wanted_device)
    if device_state is not None:
        flush(device_state.queue)
    wait_for_device(wanted_device)
    if (copies := copies_begun(wanted_device)) is not None:
        copies.synchronize()
    if device_state is not None:
        check_errors(device_state.queue)


def check_errors(queue: Queue) -> None:
    """Raise the error that the data of a finished operation caused; called wherever the host reads a result."""
    message = queue.state.executor.take_error()
    if message:
        raise IndexError(message)


def review(queue: Queue, recorded: Node) -> None:
    """Add a value to a queue that is due for review, drop dead entries, and flush a graph that is too large.

    A `watcher` sees the value first, before other threads can find the value in the queue. A value that cannot be
    computed does not raise here, where another operation is recorded, but where the value is needed.
    """
    assert recorded.owner is not None
    try:
        if watcher is not None:
            watcher(recorded)
    finally:
        queue.pending.append(recorded.owner)
    if watcher is not None and len(queue.pending) % REVIEW_INTERVAL:
        return
    waiting = watcher is None and queue.review_at < 0
    if waiting and queue.state.cut.is_ahead(lambda: _live_bytes(queue)):
        return
    _flush_if_large(queue, waiting)


def _live_bytes(queue: Queue) -> int:
    """Return the bytes of the pending values that are alive."""
    signatures = [node.signature for node in live_roots(queue)[0]]
    return sum([prod(signature.shape) * signature.dtype.itemsize for signature in signatures])


def _flush_if_large(queue: Queue, waiting: bool) -> None:
    """Drop dead entries of a queue, and flush a graph that is too large if the program is at the place for that.

    `waiting` tells whether the graph has waited for the place.
    """
    with queue.lock:
        if queue.run is not None and _is_under_way(queue):
            return
        run = Run()
        queue.run = run
        try:
            node_count, held_bytes = survey(queue)
        finally:
            _settle(queue)
        cut = queue.state.cut
        is_ahead = False
        if node_count > NODES_LIMIT or held_bytes > BYTES_LIMIT:
            if watcher is not None or cut.is_here(waiting, held_bytes):
                structures = queue.state.planner.structure_count()
                with suppress(Exception):
                    flush(queue)
                cut.flushed(queue.state.planner.structure_count() != structures)
            else:
                is_ahead = True
        if is_ahead or (cut.is_searching and watcher is None):
            queue.review_at = -1  # every value that is recorded comes here until the place is reached, or found


def reads_alias(value: Node, buffer: Buffer) -> bool:
    """Return whether a value reads the memory of `buffer` through another buffer, as two imports of one array do."""
    return any(
        isinstance(node.data, Buffer)
        and node.data.exported  # as memory is that came from elsewhere
        and node.data is not buffer
        and node.data.ptr < buffer.ptr + buffer.nbytes
        and buffer.ptr < node.data.ptr + node.data.nbytes
        for node in walk([value])[0]
    )


def _other_references(nodes: Sequence[Any]) -> list[tuple[Any, int]]:
    """Return what nodes have as data, and how many references there are to it besides those of the nodes."""
    return [(data, getrefcount(data) - count) for data, count in Counter([node.data for node in nodes]).items()]


# The count for data that only nodes refer to. It is measured, as versions of Python count differently.
_UNSHARED_COUNT = _other_references([Node(scalar(0).signature, (), object())])[0][1]


def _held_bytes(nodes: Sequence[Node]) -> int:
    """Return the bytes of the buffers that nothing but these nodes refers to."""
    buffered = [node for node in nodes if isinstance(node.data, Buffer)]
    return sum([buffer.nbytes for buffer, count in _other_references(buffered) if count <= _UNSHARED_COUNT])


# The functions whose variable `run` is what a queue is at.
_RUNNING = frozenset(
    function.__code__ for function in (flush, _recover, _compute_alone, _compute_in_slabs, _flush_if_large, spill)
)


def tables_of_core() -> dict[str, Any]:
    """Return what the compiled core flushes with, by the names that it has for it."""
    return {
        **{kind.__name__: kind for kind in (_DeviceState, Planner, LoopCut, BoundedTable, Device, VisibleBuffer)},
        **{kind.__name__: kind for kind in (Plan, Variants)},
        "evaluate": globals(),
        "evaluated": evaluated,
        "nothing": nothing,
        "recover": _recover,
        "schedule_review": _schedule_review,
        "review": review,
        "flush_if_large": _flush_if_large,
    }
