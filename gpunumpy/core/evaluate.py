"""Flush: from the pending values of a device to computed ones.

A flush walks the graph from every pending array that is alive, finds (or makes) the plan for a graph of that
structure, and runs it on the device's executor. Plans are found by the forms of the roots and the way in which nodes
are shared; both are plain tuples made during the walk.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from ..kernels.host_executor import HostExecutor
from . import layout, memory
from .device import Device, default_device
from .device import synchronize as wait
from .layout import Layout
from .lower import Item, Source
from .memory import Buffer
from .node import CHECK_EVERY, Form, Leaf, Node, Queue, form
from .schedule import Adopt, Allocate, CallStep, Run, Step, schedule
from .schedule_verify import verify_plan


class Work:
    """The work of a step with its arguments; an observer calls it once.

    Attributes
    ----------
    device : Device
        Where it runs.
    plan : Plan
        What it is a part of.
    """

    __slots__ = ("_run", "_values", "device", "plan")

    def __init__(self, run: Callable[[Sequence[Any]], None], values: Sequence[Any], plan: Plan) -> None:
        self._run = run
        self._values = values
        self.device = plan.device
        self.plan = plan

    def __call__(self) -> None:
        self._run(self._values)


Observer: TypeAlias = Callable[[Step, Work], None]


class Executor(Protocol):
    """What runs the steps of a plan on one device."""

    def bind(self, buffer: Buffer, dtype: Any, offset: int) -> Any:
        """What a kernel takes for a pointer argument: the buffer from element `offset` on."""

    def prepare(self, kernel: Any) -> Callable[[Sequence[Any]], None]:
        """A function that runs the kernel over its bound arguments."""

    def routine(self, step: CallStep, out: Layout, dtype: Any) -> Callable[[Sequence[Any]], None]:
        """A function that runs a library call over the bound result and arguments."""

    def take_error(self) -> str:
        """The message of the first failure that data caused since the last call, or an empty string."""

    def site(self, text: str) -> int:
        """A number for the place `text`, for `take_error` to find it again."""


class Plan:
    """The steps for one structure of graph, ready to run.

    While it runs, what the plan allocates lives in slots. An action is a code and what it needs; the bindings of a
    piece of work say, for every argument, where it comes from: the slot or the position of a node.
    """

    def __init__(self, steps: Sequence[Step], items: Sequence[Item], roots: Sequence[int], executor: Executor) -> None:
        self.steps = steps
        self.items = items
        self.executor = executor
        queue = items[roots[0]].form.queue
        assert queue is not None
        self.device: Device = queue.device
        self._slots: dict[Source, int] = {}
        self._actions = [self._action(step, items) for step in steps]
        self._roots = [(r, self._slot(Source("new", r)), _leaf_form(items[r].form)) for r in roots]
        self._overwritten = _overwritten(steps)
        self._blank: list[Any] = [None] * len(self._slots)

    def _slot(self, source: Source) -> int:
        return self._slots.setdefault(source, len(self._slots))

    def _action(self, step: Step, items: Sequence[Item]) -> tuple[Any, ...]:
        if isinstance(step, Run):
            bound = [(s, arg.dtype) for s, arg in zip(step.args, step.kernel.args, strict=True)]
            return (_WORK, self.executor.prepare(step.kernel), self._bindings(bound), step)
        if isinstance(step, CallStep):
            f = items[step.position].form
            out = Layout(f.shape, layout.c_strides(f.shape), 0)
            sources = (Source("new", step.position), *(s for s, _ in step.args))
            bound = list(zip(sources, (f.dtype, *step.dtypes), strict=True))
            return (_WORK, self.executor.routine(step, out, f.dtype), self._bindings(bound), step)
        target = self._slot(step.target)
        if isinstance(step, Allocate):
            return (_ALLOCATE, target, step.nbytes)
        if isinstance(step, Adopt):
            kept = step.base.kind == "leaf"
            return (_ADOPT, target, kept, step.base.position if kept else self._slot(step.base))
        return (_FREE, target)

    def _bindings(self, bound: Sequence[tuple[Source, Any]]) -> list[tuple[int, int, Any]]:
        return [(_KINDS[s.kind], self._slot(s) if _KINDS[s.kind] == _SLOT else s.position, dtype) for s, dtype in bound]

    def run(self, nodes: Sequence[Node], observe: Observer | None = None) -> None:
        """Compute the roots among `nodes`, which have the structure that the plan was made for."""
        slots = self._blank.copy()
        bind = self.executor.bind
        action: tuple[Any, ...] = ()
        try:
            for action in self._actions:
                code = action[0]
                if code == _WORK:
                    values = []
                    for kind, k, dtype in action[2]:
                        if kind == _LEAF:
                            node = nodes[k]
                            value = node.bound
                            if value is None:
                                value = node.bound = bind(node.data, dtype, node.offset)
                            values.append(value)
                        elif kind == _CONST:
                            values.append(nodes[k].data)
                        elif kind == _SLOT:
                            values.append(bind(slots[k], dtype, 0))
                        else:
                            values.append(self.executor.site(nodes[k].site))
                    if observe is None:
                        action[1](values)
                    else:
                        observe(action[3], Work(action[1], values, self))
                elif code == _ALLOCATE:
                    slots[action[1]] = memory.allocate(self.device, action[2])
                elif code == _ADOPT:
                    if action[2]:
                        slots[action[1]] = nodes[action[3]].data
                    else:
                        slots[action[1]], slots[action[3]] = slots[action[3]], None
                else:
                    slots[action[1]] = None
        except BaseException:
            self._keep(next((k for k, one in enumerate(self._actions) if one is action), 0), slots, nodes)
            raise
        for r, slot, leaf_form in self._roots:
            _settle(nodes[r], slots[slot], leaf_form)
        self._settle_overwritten(nodes, len(self.steps))

    def _settle_overwritten(self, nodes: Sequence[Node], end: int) -> None:
        """Make leaves of the values that the steps before `end` wrote into memory of before.

        They can not be computed again. A thread that has just read one of them, and has not recorded yet what for,
        sees what the memory holds now: its own writes, and later ones of other threads.
        """
        for k, position, base in self._overwritten:
            if k < end and nodes[position].data is None:
                node = nodes[position]
                _settle(node, nodes[base].data, _leaf_form(node.form))

    def _keep(self, failed: int, slots: list[Any], nodes: Sequence[Node]) -> None:
        """Make leaves of the values that are complete, after action `failed` has raised.

        What was written in place must not be written again, and its old elements, which others were computed from, are
        not there any more.
        """
        self._settle_overwritten(nodes, failed)
        written = _written(self.steps)
        for step in reversed(self.steps[:failed]):
            if isinstance(step, Adopt) and written.get(step.target, -1) >= failed:
                buffer, slots[self._slots[step.target]] = slots[self._slots[step.target]], None
                if step.base.kind == "new":  # the memory holds the old value still
                    slots[self._slots[step.base]] = buffer
        for source, slot in self._slots.items():
            complete = source.kind == "new" and written.get(source, -1) < failed and slots[slot] is not None
            if complete and source.position < len(nodes):
                _settle(nodes[source.position], slots[slot], _leaf_form(nodes[source.position].form))


def _written(steps: Sequence[Step]) -> dict[Source, int]:
    """For every value, the last step that writes it."""
    return {target: k for k, step in enumerate(steps) for target in _targets(step)}


def _overwritten(steps: Sequence[Step]) -> list[tuple[int, int, int]]:
    """The values that are written into the memory of a leaf: their last step, their position, and the leaf's."""
    written = _written(steps)
    leaves: dict[Source, int] = {}
    for step in steps:
        if isinstance(step, Adopt) and (step.base.kind == "leaf" or step.base in leaves):
            leaves[step.target] = step.base.position if step.base.kind == "leaf" else leaves[step.base]
    return [(written.get(target, -1), target.position, leaf) for target, leaf in leaves.items()]


def _targets(step: Step) -> list[Source]:
    """The values that a step writes."""
    if isinstance(step, Run):
        return [source for source, arg in zip(step.args, step.kernel.args, strict=True) if arg.kind == "out"]
    return [Source("new", step.position)] if isinstance(step, CallStep) else []


def _settle(node: Node, buffer: Buffer, leaf_form: Form) -> None:
    """Turn a pending node into a leaf. Other threads look at `data` first, so it comes when the rest is right."""
    node.offset = 0
    node.bound = None
    node.form = leaf_form
    node.data = buffer
    node.args = ()


_WORK, _ALLOCATE, _ADOPT, _FREE = range(4)
_LEAF, _CONST, _SLOT, _SITE = range(4)
_KINDS = {"leaf": _LEAF, "const": _CONST, "new": _SLOT, "aside": _SLOT, "site": _SITE}


def _leaf_form(f: Form) -> Form:
    return form(Leaf(layout.c_strides(f.shape), 0, True), (), f.shape, f.dtype, f.queue)


# The state of one device: its queue, its executor, its plans.


def _executor(device: Device) -> Executor:
    if device.kind == "cpu":
        return HostExecutor()
    from ..kernels.cuda import CudaExecutor  # code generation and CUDA, which a machine without a GPU never loads

    return CudaExecutor(device)


class _State:
    def __init__(self, device: Device) -> None:
        self.queue = Queue(device, review)
        self.executor = _executor(device)
        self.plans: dict[Any, Plan] = {}
        self.queue.state = self


_states: dict[Device, _State] = {}
_states_lock = threading.Lock()
_PLANS_LIMIT = 4096
# What `profile` installs: called with every step that runs work, and the work.
observer: Observer | None = None
# Whether every new plan is checked before it runs, as it is in tests: a defect shows as one, not as a wrong result.
CHECK = os.environ.get("GPUNUMPY_CHECK", "0") not in ("", "0")


def state(device: Device) -> _State:
    found = _states.get(device)
    if found is None:
        with _states_lock:
            found = _states.get(device) or _states.setdefault(device, _State(device))
    return found


def queue_of(device: Device) -> Queue:
    """The queue that values on the device are recorded in."""
    return state(device).queue


def _reads_memory(node: Node) -> bool:
    """Whether a pending generator reads a buffer after all: a part of it may have been computed since."""
    return any(a.form.queue is not None if a.data is not None else _reads_memory(a) for a in node.args)


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
                if node.form.generator and not _reads_memory(node):
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
        nodes += nodes[0].args
        memory = {id(n.data) for n in nodes}
        if None not in [n.data for n in nodes[1:]] and len(memory) == len(nodes):
            return nodes, tuple([n.form for n in nodes])
        del nodes[1:]
    place = {n: k for k, n in enumerate(nodes)}
    marks: list[Any] = [n.form for n in nodes]
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
            f = n.form
            marks.append(f)
            if f.queue is not None:  # a buffer: what matters is whether, and where, another window of it is read
                first = buffers.get(id(data))
                if first is None:
                    buffers[id(data)] = (-1 - len(buffers), n.offset)
                else:
                    marks.append(first[0])
                    marks.append(n.offset - first[1])
    return nodes, tuple(marks)


def items_of(nodes: Sequence[Node]) -> list[Item]:
    """The graph as the scheduler takes it."""
    place = {n: k for k, n in enumerate(nodes)}
    buffers: dict[int, tuple[int, int]] = {}
    items = []
    for n in nodes:
        if isinstance(n.data, Buffer):
            number, first = buffers.setdefault(id(n.data), (len(buffers), n.offset))
            items.append(Item(n.form, (), number, n.offset - first))
        elif n.data is not None:
            items.append(Item(n.form, ()))
        else:
            items.append(Item(n.form, tuple(place[a] for a in n.args)))
    return items


def flush(queue: Queue, *extra: Node) -> None:
    """Compute every pending array of a device that is alive, and the values `extra`."""
    with queue.lock:
        roots = live_roots(queue, extra)
        queue.limit = len(queue.pending) + CHECK_EVERY
        if not roots:
            return
        try:
            nodes, key = walk(roots)
            its = queue.state
            plan = its.plans.get(key)
            if plan is None:
                items = items_of(nodes)
                if len(its.plans) > _PLANS_LIMIT:
                    its.plans.clear()
                positions = range(len(roots))
                steps = schedule(items, positions)
                if CHECK:
                    verify_plan(steps, items, positions)
                plan = its.plans[key] = Plan(steps, items, positions, its.executor)
            plan.run(nodes, observer)
        except BaseException:
            # What was not computed stays pending.
            queue.pending.extend(n.owner for n in roots if n.data is None and n.owner is not None)
            raise


def compute(node: Node) -> Node:
    """The node, computed."""
    if node.data is None:
        queue = node.form.queue
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
BYTES_LIMIT = 1 << 32


def review(queue: Queue) -> None:
    """Forget dead entries of a queue, and flush it if its graph has grown too large."""
    with queue.lock:
        roots = live_roots(queue)
        queue.pending.extend(n.owner for n in roots if n.owner is not None)
        queue.limit = len(queue.pending) + CHECK_EVERY
        nodes, _ = walk(roots)
        held = sum(n.data.nbytes for n in nodes if isinstance(n.data, Buffer) and n.owner is None)
        if len(nodes) > NODES_LIMIT or held > BYTES_LIMIT:
            flush(queue)
