"""A plan: the steps for graphs of one structure, bound to an executor and ready to run.

A plan that fails midway leaves a sound graph: complete values become leaves, values that were written in place too, and
all other values stay pending.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from ..graph import layout
from ..graph.layout import Layout
from ..graph.node import Node
from ..graph.primitives import Leaf
from ..graph.signature import Signature, intern_signature
from ..schedule.lower import Item, Source
from ..schedule.passes import Target
from ..schedule.steps import Adopt, Allocate, RunKernel, RunLibraryCall, Step
from . import memory
from .device import Device
from .memory import Buffer

# Runs one kernel or library call over its bound arguments: pointers and numbers on a GPU, arrays on the host.
Runner: TypeAlias = Callable[[Sequence[Any]], None]

_PROBE_BYTES = 1 << 36  # buffers from this size on are allocated once before kernels are prepared


class Work:
    """The work of a step with its bound arguments. An observer calls it once.

    Attributes
    ----------
    device : Device
        The device that runs the work.
    plan : Plan
        The plan of the step.
    """

    __slots__ = ("_run", "_values", "device", "plan")

    def __init__(self, run: Runner, values: Sequence[Any], plan: Plan) -> None:
        self._run = run
        self._values = values
        self.device = plan.device
        self.plan = plan

    def __call__(self) -> None:
        """Run the work."""
        self._run(self._values)


Observer: TypeAlias = Callable[[Step, Work], None]


class Executor(Target, Protocol):
    """The protocol of executors, which run the steps of plans on one device."""

    def bind(self, buffer: Buffer, dtype: Any, offset: int) -> Any:
        """Return what a kernel takes as a pointer argument: the buffer from element `offset` on."""

    def prepare(self, kernel: Any) -> Runner:
        """Return a function that runs the kernel on its bound arguments."""

    def library_call(self, step: RunLibraryCall, results: Sequence[tuple[Layout, Any]]) -> Runner:
        """Return a function that runs a library call on bound results, of these layouts and dtypes, and arguments."""

    def take_error(self) -> str:
        """Return the message of the first failure that data caused since the last call, or an empty string."""

    def source_location(self, text: str) -> int:
        """Return the number of a source location, by which kernels report it to `take_error`."""


class Plan:
    """The steps for graphs of one structure, ready to run.

    While the plan runs, its buffers are in slots. An action is a step made ready: a code and its operands. The bindings
    of a kernel or call say for every argument where it comes from: a slot, or the node at a position.
    """

    def __init__(self, steps: Sequence[Step], items: Sequence[Item], roots: Sequence[int], executor: Executor) -> None:
        self.steps = steps
        self.items = items
        self.executor = executor
        queue = items[roots[0]].signature.queue
        assert queue is not None
        self.device: Device = queue.device
        # A kernel for more elements than memory can hold takes very long to prepare: let its allocation fail first.
        for step in steps:
            if isinstance(step, Allocate) and step.nbytes >= _PROBE_BYTES:
                memory.allocate(self.device, step.nbytes)
        self._slots: dict[Source, int] = {}
        self._actions = [self._action(step, items) for step in steps]
        self._roots = [(r, self._slot(Source("new", r)), _leaf_signature(items[r].signature)) for r in roots]
        self._overwritten = _overwritten(steps)
        self._empty_slots: list[Any] = [None] * len(self._slots)

    def _slot(self, source: Source) -> int:
        return self._slots.setdefault(source, len(self._slots))

    def _action(self, step: Step, items: Sequence[Item]) -> tuple[Any, ...]:
        if isinstance(step, RunKernel):
            bound = [(s, arg.dtype) for s, arg in zip(step.args, step.kernel.args, strict=True)]
            return (_WORK, self.executor.prepare(step.kernel), self._bindings(bound), step)
        if isinstance(step, RunLibraryCall):
            signatures = [items[target.position].signature for target in step.targets]
            results = [(Layout(result.shape, layout.c_strides(result.shape), 0), result.dtype) for result in signatures]
            sources = (*step.targets, *(s for s, _ in step.args))
            bound = list(zip(sources, (*(dtype for _, dtype in results), *step.dtypes), strict=True))
            return (_WORK, self.executor.library_call(step, results), self._bindings(bound), step)
        target = self._slot(step.target)
        if isinstance(step, Allocate):
            return (_ALLOCATE, target, step.nbytes)
        if isinstance(step, Adopt):
            is_leaf = step.base.kind == "leaf"
            return (_ADOPT, target, is_leaf, step.base.position if is_leaf else self._slot(step.base))
        return (_FREE, target)

    def _bindings(self, bound: Sequence[tuple[Source, Any]]) -> list[tuple[int, int, Any]]:
        return [(_KINDS[s.kind], self._slot(s) if _KINDS[s.kind] == _SLOT else s.position, dtype) for s, dtype in bound]

    def run(self, nodes: Sequence[Node], observe: Observer | None = None) -> None:
        """Compute the roots among `nodes`, a graph of the structure of the plan; call `observe` with every work."""
        slots = self._empty_slots.copy()
        bind = self.executor.bind
        action: tuple[Any, ...] = ()
        try:
            for action in self._actions:
                code = action[0]
                if code == _WORK:
                    values = []
                    for source_kind, index, dtype in action[2]:
                        if source_kind == _LEAF:
                            node = nodes[index]
                            value = node.bound
                            if value is None:
                                value = node.bound = bind(node.data, dtype, node.offset)
                            values.append(value)
                        elif source_kind == _CONST:
                            values.append(nodes[index].data)
                        elif source_kind == _SLOT:
                            values.append(bind(slots[index], dtype, 0))
                        else:
                            values.append(self.executor.source_location(nodes[index].source_location))
                    if observe is None:
                        action[1](values)
                    else:
                        observe(action[3], Work(action[1], values, self))
                    # On the CPU the values are views of buffers: while views are alive, a block is not used again.
                    values = value = None  # type: ignore[assignment]
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
            self._materialize_complete(
                next((index for index, one in enumerate(self._actions) if one is action), 0), slots, nodes
            )
            raise
        for r, slot, leaf_signature in self._roots:
            _materialize(nodes[r], slots[slot], leaf_signature)
        self._materialize_overwritten(nodes, len(self.steps))

    def _materialize_overwritten(self, nodes: Sequence[Node], end: int) -> None:
        """Turn the values that the steps before `end` wrote into the memory of leaves into leaves themselves.

        Their inputs are overwritten, so they cannot be computed again. A thread that holds such a node and has not yet
        recorded its use sees the present content of the memory: its own writes, and later writes of other threads.
        """
        for step_number, position, base in self._overwritten:
            if step_number < end and nodes[position].data is None:
                node = nodes[position]
                _materialize(node, nodes[base].data, _leaf_signature(node.signature))

    def _materialize_complete(self, failed_action: int, slots: list[Any], nodes: Sequence[Node]) -> None:
        """Turn the values that are complete into leaves, after the action number `failed_action` has raised.

        An update that was done in place must not be done again: the elements that it was computed from are overwritten.
        """
        self._materialize_overwritten(nodes, failed_action)
        last_writer = _last_writers(self.steps)
        for step in reversed(self.steps[:failed_action]):
            if isinstance(step, Adopt) and last_writer.get(step.target, -1) >= failed_action:
                buffer, slots[self._slots[step.target]] = slots[self._slots[step.target]], None
                if step.base.kind == "new":  # the memory still holds the old value
                    slots[self._slots[step.base]] = buffer
        for source, slot in self._slots.items():
            is_complete = (
                source.kind == "new" and last_writer.get(source, -1) < failed_action and slots[slot] is not None
            )
            if is_complete and source.position < len(nodes):
                _materialize(nodes[source.position], slots[slot], _leaf_signature(nodes[source.position].signature))


def _last_writers(steps: Sequence[Step]) -> dict[Source, int]:
    """Return for every source the number of the last step that writes it."""
    return {target: number for number, step in enumerate(steps) for target in _targets(step)}


def _overwritten(steps: Sequence[Step]) -> list[tuple[int, int, int]]:
    """Return the values written into the memory of leaves: their last step, their position, and that of the leaf."""
    last_writer = _last_writers(steps)
    leaf_of_target: dict[Source, int] = {}
    for step in steps:
        if isinstance(step, Adopt) and (step.base.kind == "leaf" or step.base in leaf_of_target):
            leaf_of_target[step.target] = step.base.position if step.base.kind == "leaf" else leaf_of_target[step.base]
    return [(last_writer.get(target, -1), target.position, leaf) for target, leaf in leaf_of_target.items()]


def _targets(step: Step) -> list[Source]:
    """Return the sources that a step writes."""
    if isinstance(step, RunKernel):
        return [source for source, arg in zip(step.args, step.kernel.args, strict=True) if arg.kind == "out"]
    return list(step.targets) if isinstance(step, RunLibraryCall) else []


def _materialize(node: Node, buffer: Buffer, leaf_signature: Signature) -> None:
    """Turn a pending node into a leaf. Other threads read `data` first: set it once offset and signature are right."""
    node.offset = 0
    node.bound = None
    node.signature = leaf_signature
    node.data = buffer
    node.args = ()


# Codes of actions, and the places that arguments come from.
_WORK, _ALLOCATE, _ADOPT, _FREE = range(4)
_LEAF, _CONST, _SLOT, _LOCATION = range(4)
_KINDS = {"leaf": _LEAF, "const": _CONST, "new": _SLOT, "copy": _SLOT, "location": _LOCATION}


def _leaf_signature(pending: Signature) -> Signature:
    return intern_signature(
        Leaf(layout.c_strides(pending.shape), 0, True), (), pending.shape, pending.dtype, pending.queue
    )
