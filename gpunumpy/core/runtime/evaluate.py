"""Flush: from the pending values of a device to computed ones.

A flush walks the graph from every pending array that is alive, finds (or makes) the plan for a graph of that
structure, and runs it on the device's executor. Plans are found by the forms of the roots and the way in which nodes
are shared; both are plain tuples made during the walk.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ..graph.node import Node
from ..graph.queue import CHECK_EVERY, Queue
from ..schedule.lower import Item
from ..schedule.passes import run_passes
from ..schedule.traits import Traits
from .device import Device, default_device
from .device import synchronize as wait
from .executors import executor_for
from .memory import Buffer
from .plan import Observer, Plan

# The state of one device: its queue, its executor, its plans.


class _State:
    def __init__(self, device: Device) -> None:
        self.queue = Queue(device, review)
        _rest(self.queue)
        self.executor = executor_for(device)
        self.plans: dict[Any, Plan] = {}
        self.queue.state = self


_states: dict[Device, _State] = {}
_states_lock = threading.Lock()
_PLANS_LIMIT = 4096
# What `profile` installs: called with every step that runs work, and the work.
observer: Observer | None = None
# What `watch` installs: called at once with every value that an array is made of.
watcher: Callable[[Node], None] | None = None
# Whether every new plan is checked before it runs, as it is in tests: a defect shows as one, not as a wrong result.
CHECK = os.environ.get("GPUNUMPY_CHECK", "0") not in ("", "0")


def state(device: Device) -> _State:
    found = _states.get(device)
    if found is None:
        with _states_lock:
            found = _states.get(device) or _states.setdefault(device, _State(device))
    return found


def _rest(queue: Queue) -> None:
    """Say when a queue is to be reviewed next."""
    queue.limit = len(queue.pending) + CHECK_EVERY if watcher is None else -1


def queue_of(device: Device) -> Queue:
    """The queue that values on the device are recorded in."""
    return state(device).queue


def traits_of(device: Device) -> Traits:
    """What the executor of the device is good at."""
    return state(device).executor.traits


def _reads_memory(node: Node) -> bool:
    """Whether a pending generator reads a buffer after all: a part of it may have been computed since."""
    return any(a.signature.queue is not None if a.data is not None else _reads_memory(a) for a in node.args)


def live_roots(queue: Queue, extra: Sequence[Node] = (), forget: bool = True) -> list[Node]:
    """The pending values that arrays alive hold, oldest first; bare generators only where `extra` names them.

    With `forget`, entries that are not pending any more leave the queue.
    """
    pending = queue.pending
    count = len(pending)  # another thread may append meanwhile
    found: dict[Node, None] = {}
    stay = []
    for ref in pending[:count]:
        array = ref()
        if array is not None:
            node = array._node
            if node.data is None:
                if node.signature.generator and not _reads_memory(node):
                    stay.append(ref)
                else:
                    found[node] = None
    if forget:
        pending[:count] = stay
    for node in extra:
        if node.data is None:
            found[node] = None
    return list(found)


def walk(roots: Sequence[Node]) -> tuple[list[Node], tuple[Any, ...]]:
    """All nodes that the roots need, and a key that two graphs share exactly if one plan serves both."""
    nodes = list(roots)
    if len(nodes) == 1:
        # One operation on computed arrays, the commonest graph, needs no bookkeeping.
        (root,) = nodes
        args = root.args
        if len(args) == 1:
            (one,) = args
            if one.data is not None:
                return [root, one], (root.signature, one.signature)
        elif len(args) == 2:
            one, other = args
            if one.data is not None and other.data is not None and one.data is not other.data:
                return [root, one, other], (root.signature, one.signature, other.signature)
        nodes += args
        memory = {id(n.data) for n in nodes}
        if None not in [n.data for n in args] and len(memory) == len(nodes):
            return nodes, tuple([n.signature for n in nodes])
        del nodes[1:]
    place = {n: k for k, n in enumerate(nodes)}
    marks: list[Any] = [n.signature for n in nodes]
    marks.append(None)
    buffers: dict[int, tuple[int, int]] = {}
    count = len(nodes)
    for n in nodes:
        data = n.data
        if data is None:
            args = n.args
            if not args:
                marks.append(None)  # or it might be taken for the next value, and that for this one
            for a in args:
                p = place.get(a)
                if p is None:
                    p = place[a] = count
                    count += 1
                    nodes.append(a)
                marks.append(p)
        else:
            f = n.signature
            marks.append(f)
            if f.queue is not None:  # a buffer: what matters is whether, and where, another window of it is read
                first = buffers.get(id(data))
                if first is None:
                    buffers[id(data)] = (-1 - len(buffers), n.offset)
                else:
                    marks.append(first[0])
                    marks.append(n.offset - first[1])
    return nodes, tuple(marks)


def _needed(roots: Sequence[Node]) -> list[Node]:
    """All nodes that the roots need."""
    found = set(roots)
    nodes = list(roots)
    for n in nodes:
        if n.data is None:
            for a in n.args:
                if a not in found:
                    found.add(a)
                    nodes.append(a)
    return nodes


def items_of(nodes: Sequence[Node]) -> list[Item]:
    """The graph as the scheduler takes it."""
    place = {n: k for k, n in enumerate(nodes)}
    buffers: dict[int, tuple[int, int]] = {}
    items = []
    for n in nodes:
        if isinstance(n.data, Buffer):
            number, first = buffers.setdefault(id(n.data), (len(buffers), n.offset))
            items.append(Item(n.signature, (), number, n.offset - first))
        elif n.data is not None:
            items.append(Item(n.signature, ()))
        else:
            items.append(Item(n.signature, tuple(place[a] for a in n.args)))
    return items


def flush(queue: Queue, *extra: Node) -> None:
    """Compute every pending array of a device that is alive, and the values `extra`.

    Where that fails and `extra` names values, they are computed alone: what cannot be computed (there is no memory for
    it, say) stays pending, and raises for those alone who ask for it.
    """
    with queue.lock:
        pending = queue.pending
        if len(extra) == 1 == len(pending) and pending[0] is extra[0].owner and extra[0].data is None:
            roots = list(extra)  # as a program that looks at every result has it
            del pending[:1]  # another thread may have appended meanwhile
        else:
            roots = live_roots(queue, extra)
        _rest(queue)
        try:
            _run(queue, roots)
        except BaseException as error:
            try:
                wanted = [n for n in dict.fromkeys(extra) if n.data is None]
                alone = bool(extra) and len(wanted) < len(roots)
                if not alone or not isinstance(error, MemoryError if CHECK else Exception):
                    raise
                _run(queue, wanted, overwrite=False)
            finally:
                queue.pending.extend(n.owner for n in roots if n.data is None and n.owner is not None)


def _run(queue: Queue, roots: Sequence[Node], overwrite: bool = True) -> None:
    """Compute the roots; without `overwrite`, other pending values may need the leaves that these update."""
    if not roots:
        return
    nodes, key = walk(roots)
    its = queue.state
    if not overwrite:
        key = (key, overwrite)
    plan = its.plans.get(key)
    if plan is None:
        items: Sequence[Item] = items_of(nodes)
        if len(its.plans) > _PLANS_LIMIT:
            its.plans.clear()
        positions = range(len(roots))
        steps, items = run_passes(items, positions, its.executor, overwrite=overwrite, check=CHECK)
        plan = its.plans[key] = Plan(steps, items, positions, its.executor)
    plan.run(nodes, observer)


def compute_beside(queue: Queue, nodes: Sequence[Node]) -> None:
    """Compute values and leave what else is pending, and every leaf that they read, as it is."""
    with queue.lock:
        _run(queue, [n for n in dict.fromkeys(nodes) if n.data is None], overwrite=False)


def compute_all() -> None:
    """Compute the values of all arrays on all devices; those that cannot be computed raise where they are asked for."""
    for its in list(_states.values()):
        with its.queue.lock, suppress(Exception):
            arrays = [ref() for ref in its.queue.pending]
            flush(its.queue, *(a._node for a in arrays if a is not None))


def watch(function: Callable[[Node], None] | None) -> None:
    """Have `function` called with every value that an array is made of, whichever thread makes it; None ends it."""
    global watcher
    watcher = function
    for its in list(_states.values()):
        with its.queue.lock:
            _rest(its.queue)


def compute(node: Node) -> Node:
    """The node, computed."""
    if node.data is None:
        queue = node.signature.queue
        assert queue is not None
        flush(queue, node)
    return node


def synchronize(device: Device | str | int | None = None) -> None:
    """Compute everything that is pending on a device, and wait until it is done.

    Parameters
    ----------
    device : Device, str or int, optional
        The default device if None.

    Raises
    ------
    IndexError
        If an index of an operation recorded before was out of bounds.
    """
    where = default_device() if device is None else Device(device)
    found = _states.get(where)
    if found is not None:
        flush(found.queue)
    wait(where)
    if found is not None:
        check_errors(found.queue)


def check_errors(queue: Queue) -> None:
    """Raise what the data of a finished operation made wrong; called wherever the host looks at a result."""
    message = queue.state.executor.take_error()
    if message:
        raise IndexError(message)


# A pending graph is flushed when it holds more nodes than this, or keeps alive more bytes that nothing else needs.
NODES_LIMIT = 400
BYTES_LIMIT = 1 << 29


def review(queue: Queue, recorded: Node) -> None:
    """Take a value into a queue that has reached its limit, forget dead entries, and flush a graph that is too large.

    While there is a `watcher` it sees the value first, before other threads can find it in the queue. A value that
    cannot be computed does not raise here, where something else is recorded, but where it is asked for.
    """
    assert recorded.owner is not None
    try:
        if watcher is not None:
            watcher(recorded)
    finally:
        queue.pending.append(recorded.owner)
    if watcher is not None and len(queue.pending) % CHECK_EVERY:
        return
    with queue.lock:
        roots = live_roots(queue)
        queue.pending.extend(n.owner for n in roots if n.owner is not None)
        _rest(queue)
        nodes = _needed(roots)
        held = sum(n.data.nbytes for n in nodes if isinstance(n.data, Buffer) and n.owner is None)
        if len(nodes) > NODES_LIMIT or held > BYTES_LIMIT:
            with suppress(Exception):
                flush(queue)
