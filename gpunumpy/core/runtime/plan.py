"""A plan: the steps for graphs of one structure, bound to an executor and ready to run.

A plan that fails midway leaves a sound graph: complete values become leaves, values that were written in place too, and
all other values stay pending.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from ..graph import layout
from ..graph.layout import Layout
from ..graph.node import Node, leaf_signature
from ..graph.signature import Signature
from ..schedule.kernel import Kernel
from ..schedule.lift import sizes_in, with_sizes
from ..schedule.lower import Source
from ..schedule.passes import Scheduled, Target
from ..schedule.sizes import Integer, Trace
from ..schedule.steps import Adopt, Allocate, RunKernel, RunLibraryCall, Step
from ..schedule.substitute import in_step, put_in, taken_out
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

    def prepare(self, structure: Kernel) -> Callable[[Sequence[int]], Runner]:
        """Return what takes the sizes of a kernel of this structure, and returns what runs it on its arguments."""

    def library_call(self, step: RunLibraryCall, results: Sequence[tuple[Layout, Any]]) -> Runner:
        """Return a function that runs a library call on bound results, of these layouts and dtypes, and arguments."""

    def take_error(self) -> str:
        """Return the message of the first failure that data caused since the last call, or an empty string."""

    def source_location(self, text: str) -> int:
        """Return the number of a source location, by which kernels report it to `take_error`."""


class PlanTemplate:
    """A plan for all graphs of one structure whose sizes answer the guards of a trace alike.

    Attributes
    ----------
    steps, items
        The steps, and the items that they are for, with symbolic sizes.
    slots
        The number of the slot of every buffer that the plan allocates or adopts.
    roots
        The positions of the results, and their slots.
    """

    def __init__(self, scheduled: Scheduled, roots: Sequence[int], trace: Trace, executor: Executor) -> None:
        self.steps, self.items = scheduled
        self.executor = executor
        queue = self.items[roots[0]].signature.queue
        assert queue is not None
        self.device: Device = queue.device
        self.slots: dict[Source, int] = {}
        self.overwritten = _overwritten(self.steps)
        self._trace = trace
        self._structures: list[Step] = []
        self._starts: list[int] = []  # of the sizes of each step among all
        self._make_action: list[Callable[[Sequence[int]], tuple[Any, ...]]] = []
        sizes: list[Integer] = []
        for number, step in enumerate(self.steps):
            structure, sizes_of_step = taken_out(step, in_step)
            self._structures.append(structure)
            self._starts.append(len(sizes))
            self._make_action.append(self._action(number, structure, len(sizes_of_step)))
            sizes += sizes_of_step
            if isinstance(step, RunLibraryCall):
                for target in step.targets:
                    sizes += self.items[target.position].signature.shape
        self._sizes = trace.formulas(sizes)
        self.roots = [(r, self._slot(Source("new", r))) for r in roots]

    def _slot(self, source: Source) -> int:
        return self.slots.setdefault(source, len(self.slots))

    def _action(self, number: int, step: Step, count: int) -> Callable[[Sequence[int]], tuple[Any, ...]]:
        """Return what makes an action from sizes, of which the first `count` are those of its step."""
        if isinstance(step, RunKernel):
            bound = [(s, arg.dtype) for s, arg in zip(step.args, step.kernel.args, strict=True)]
            prepare, bindings = self.executor.prepare(step.kernel), self._bindings(bound)
            return lambda sizes: (_WORK, prepare(sizes[:count]), bindings, number)
        if isinstance(step, RunLibraryCall):
            return self._library_call(number, step, count)
        target = self._slot(step.target)
        if isinstance(step, Allocate):
            return lambda sizes: (_ALLOCATE, target, sizes[0])
        action: tuple[Any, ...] = (_FREE, target)
        if isinstance(step, Adopt):
            is_leaf = step.base.kind == "leaf"
            action = (_ADOPT, target, is_leaf, step.base.position if is_leaf else self._slot(step.base))
        return lambda sizes: action

    def _library_call(
        self, number: int, step: RunLibraryCall, count: int
    ) -> Callable[[Sequence[int]], tuple[Any, ...]]:
        signatures = [self.items[target.position].signature for target in step.targets]
        dtypes = [result.dtype for result in signatures]
        sources = (*step.targets, *(source for source, _ in step.args))
        bindings = self._bindings(list(zip(sources, (*dtypes, *step.dtypes), strict=True)))

        def make(sizes: Sequence[int]) -> tuple[Any, ...]:
            results, start = [], count
            for result in signatures:
                shape = tuple(sizes[start : start + len(result.shape)])
                results.append((Layout(shape, layout.c_strides(shape), 0), result.dtype))
                start += len(shape)
            return (_WORK, self.executor.library_call(put_in(step, in_step, sizes), results), bindings, number)

        return make

    def _bindings(self, bound: Sequence[tuple[Source, Any]]) -> list[tuple[int, int, Any]]:
        return [(_KINDS[s.kind], self._slot(s) if _KINDS[s.kind] == _SLOT else s.position, dtype) for s, dtype in bound]

    def actions(self, values: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return the actions for values of the trace's symbols."""
        sizes = self._sizes(values)
        # A kernel for more elements than memory can hold takes very long to prepare: let its allocation fail first.
        for step, start in zip(self.steps, self._starts, strict=True):
            if isinstance(step, Allocate) and sizes[start] >= _PROBE_BYTES:
                memory.allocate(self.device, sizes[start])
        return [make(sizes[start:]) for make, start in zip(self._make_action, self._starts, strict=True)]

    def scheduled(self, values: Sequence[int]) -> Scheduled:
        """Return the steps for values of the trace's symbols, and the items that they are for."""
        sizes = self._sizes(values)
        pairs = zip(self._structures, self._starts, strict=True)
        steps = [put_in(structure, in_step, sizes[start:]) for structure, start in pairs]
        symbolic = list(dict.fromkeys(sizes_in(self.items)))
        known = dict(zip(symbolic, self._trace.formulas(symbolic)(values), strict=True))
        return Scheduled(tuple(steps), with_sizes(self.items, known))


class Plan:
    """A template at some sizes, ready to run.

    While the plan runs, its buffers are in slots. An action is a step made ready: a code and its operands. The bindings
    of a kernel or call say for every argument where it comes from: a slot, or the node at a position.
    """

    def __init__(self, template: PlanTemplate, values: Sequence[int], roots: Sequence[Signature]) -> None:
        self.template = template
        self.device = template.device
        self.executor = template.executor
        self._values = values
        self._actions = template.actions(values)
        self._empty_slots: list[Any] = [None] * len(template.slots)
        self._roots = [(r, slot, _leaf_signature(roots[r])) for r, slot in template.roots]

    @cached_property
    def scheduled(self) -> Scheduled:
        """The steps at these sizes, and the items that they are for."""
        return self.template.scheduled(self._values)

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
                        observe(self.scheduled.steps[action[3]], Work(action[1], values, self))
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
        for r, slot, signature in self._roots:
            _materialize(nodes[r], slots[slot], signature)
        self._materialize_overwritten(nodes, len(self.template.steps))

    def _materialize_overwritten(self, nodes: Sequence[Node], end: int) -> None:
        """Turn the values that the steps before `end` wrote into the memory of leaves into leaves themselves.

        Their inputs are overwritten, so they cannot be computed again. A thread that holds such a node and has not yet
        recorded its use sees the present content of the memory: its own writes, and later writes of other threads.
        """
        for step_number, position, base in self.template.overwritten:
            if step_number < end and nodes[position].data is None:
                node = nodes[position]
                _materialize(node, nodes[base].data, _leaf_signature(node.signature))

    def _materialize_complete(self, failed_action: int, slots: list[Any], nodes: Sequence[Node]) -> None:
        """Turn the values that are complete into leaves, after the action number `failed_action` has raised.

        An update that was done in place must not be done again: the elements that it was computed from are overwritten.
        """
        self._materialize_overwritten(nodes, failed_action)
        steps, slot_of = self.template.steps, self.template.slots
        last_writer = _last_writers(steps)
        for step in reversed(steps[:failed_action]):
            if isinstance(step, Adopt) and last_writer.get(step.target, -1) >= failed_action:
                buffer, slots[slot_of[step.target]] = slots[slot_of[step.target]], None
                if step.base.kind == "new":  # the memory still holds the old value
                    slots[slot_of[step.base]] = buffer
        for source, slot in slot_of.items():
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
    shape = pending.shape
    return leaf_signature(shape, layout.c_strides(shape), 0, True, pending.dtype, pending.queue)
