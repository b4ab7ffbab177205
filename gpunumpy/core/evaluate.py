"""Flush: from the pending values of a device to computed ones.

A flush walks the graph from every pending array that is alive, finds (or makes) the plan for a graph of that
structure, and runs it on the device's executor. Plans are found by the forms of the roots and the way in which nodes
are shared; both are plain tuples made during the walk.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..kernels.host_executor import HostExecutor
from . import layout, memory
from .device import Device
from .layout import Layout
from .lower import Item, Source
from .memory import Buffer
from .node import CHECK_EVERY, Form, Leaf, Node, Queue, form
from .schedule import Adopt, Allocate, CallStep, Free, Run, Step, schedule


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
    """The steps for one structure of graph, ready to run."""

    def __init__(self, steps: Sequence[Step], items: Sequence[Item], roots: Sequence[int], executor: Executor) -> None:
        self.steps = steps
        self.device: Any = items[roots[0]].form.queue.device  # type: ignore[union-attr]
        self.executor = executor
        self.roots = [(r, self._leaf_form(items[r].form)) for r in roots]
        self.actions = [self._action(step, items) for step in steps]

    @staticmethod
    def _leaf_form(f: Form) -> Form:
        return form(Leaf(layout.c_strides(f.shape), 0, True), (), f.shape, f.dtype, f.queue)

    def _action(self, step: Step, items: Sequence[Item]) -> tuple[Any, ...]:
        if isinstance(step, Run):
            bindings = tuple((s, arg.dtype) for s, arg in zip(step.args, step.kernel.args, strict=True))
            return (self.executor.prepare(step.kernel), bindings)
        if isinstance(step, CallStep):
            f = items[step.position].form
            out = Layout(f.shape, layout.c_strides(f.shape), 0)
            sources = (Source("new", step.position), *(s for s, _ in step.args))
            bindings = tuple(zip(sources, (f.dtype, *step.dtypes), strict=True))
            return (self.executor.routine(step, out, f.dtype), bindings)
        return ()

    def run(self, nodes: Sequence[Node], observe: Callable[[Step, Callable[[], None]], None] | None = None) -> None:
        """Compute the roots among `nodes`, which have the structure that the plan was made for."""
        buffers: dict[Source, Buffer] = {}
        bind = self.executor.bind
        for step, action in zip(self.steps, self.actions, strict=True):
            if action:
                work, bindings = action
                values = []
                for source, dtype in bindings:
                    kind = source.kind
                    if kind == "leaf":
                        node = nodes[source.position]
                        values.append(bind(node.data, dtype, node.offset))
                    elif kind == "const":
                        values.append(nodes[source.position].data)
                    elif kind == "site":
                        values.append(self.executor.site(nodes[source.position].site))
                    else:
                        values.append(bind(buffers[source], dtype, 0))
                if observe is None:
                    work(values)
                else:
                    observe(step, lambda work=work, values=values: work(values))  # type: ignore[misc]
            elif isinstance(step, Allocate):
                buffers[step.target] = memory.allocate(self.device, step.nbytes)
            elif isinstance(step, Adopt):
                base = step.base
                buffers[step.target] = nodes[base.position].data if base.kind == "leaf" else buffers.pop(base)
            elif isinstance(step, Free):
                del buffers[step.target]
        for r, leaf_form in self.roots:
            node = nodes[r]
            node.offset = 0
            node.data = buffers[Source("new", r)]
            node.form = leaf_form
            node.args = ()


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


_states: dict[Device, _State] = {}
_states_lock = threading.Lock()
_PLANS_LIMIT = 4096
# What `profile` installs: called with every step that runs work, and the work.
observer: Callable[[Step, Callable[[], None]], None] | None = None


def state(device: Device) -> _State:
    found = _states.get(device)
    if found is None:
        with _states_lock:
            found = _states.get(device) or _states.setdefault(device, _State(device))
    return found


def queue_of(device: Device) -> Queue:
    """The queue that values on the device are recorded in."""
    return state(device).queue


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
                if node.form.generator:
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
    place = {n: k for k, n in enumerate(nodes)}
    marks: list[Any] = [n.form for n in nodes]
    marks.append(None)
    buffers: dict[int, tuple[int, int]] = {}
    for n in nodes:
        data = n.data
        if data is None:
            for a in n.args:
                p = place.get(a)
                if p is None:
                    p = place[a] = len(nodes)
                    nodes.append(a)
                marks.append(p)
        else:
            marks.append(n.form)
            if isinstance(data, Buffer):
                first = buffers.setdefault(id(data), (len(buffers), n.offset))
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
        nodes, key = walk(roots)
        its = state(queue.device)
        plan = its.plans.get(key)
        if plan is None:
            items = items_of(nodes)
            if len(its.plans) > _PLANS_LIMIT:
                its.plans.clear()
            positions = range(len(roots))
            plan = its.plans[key] = Plan(schedule(items, positions), items, positions, its.executor)
        try:
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


def check_errors(queue: Queue) -> None:
    """Raise what the data of a finished operation made wrong; called wherever the host looks at a result."""
    message = state(queue.device).executor.take_error()
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
