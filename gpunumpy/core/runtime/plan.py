"""A plan: the steps for one structure of graph, bound to an executor and ready to run.

A plan that fails in the middle leaves a sound graph: what is complete becomes leaves, what was written in place is
known to be, and the rest stays pending.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from ..graph import layout
from ..graph.layout import Layout
from ..graph.node import Node
from ..graph.primitives import Leaf
from ..graph.signature import Signature, signature
from ..schedule.lower import Item, Source
from ..schedule.passes import Target
from ..schedule.steps import Adopt, Allocate, RunKernel, RunLibraryCall, Step
from . import memory
from .device import Device
from .memory import Buffer

# Runs one kernel or library call over its bound arguments: pointers and numbers on a GPU, arrays on the host.
Runner: TypeAlias = Callable[[Sequence[Any]], None]

_MUCH = 1 << 36  # bytes that there may be no memory for


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

    def __init__(self, run: Runner, values: Sequence[Any], plan: Plan) -> None:
        self._run = run
        self._values = values
        self.device = plan.device
        self.plan = plan

    def __call__(self) -> None:
        self._run(self._values)


Observer: TypeAlias = Callable[[Step, Work], None]


class Executor(Target, Protocol):
    """What runs the steps of a plan on one device."""

    def bind(self, buffer: Buffer, dtype: Any, offset: int) -> Any:
        """What a kernel takes for a pointer argument: the buffer from element `offset` on."""

    def prepare(self, kernel: Any) -> Runner:
        """A function that runs the kernel over its bound arguments."""

    def library_call(self, step: RunLibraryCall, results: Sequence[tuple[Layout, Any]]) -> Runner:
        """A function that runs a library call over the bound results, of these layouts and dtypes, and arguments."""

    def take_error(self) -> str:
        """The message of the first failure that data caused since the last call, or an empty string."""

    def source_location(self, text: str) -> int:
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
        queue = items[roots[0]].signature.queue
        assert queue is not None
        self.device: Device = queue.device
        # Kernels for more elements than there can be take for ever to prepare, so their memory is asked for first.
        for step in steps:
            if isinstance(step, Allocate) and step.nbytes >= _MUCH:
                memory.allocate(self.device, step.nbytes)
        self._slots: dict[Source, int] = {}
        self._actions = [self._action(step, items) for step in steps]
        self._roots = [(r, self._slot(Source("new", r)), _leaf_signature(items[r].signature)) for r in roots]
        self._overwritten = _overwritten(steps)
        self._blank: list[Any] = [None] * len(self._slots)

    def _slot(self, source: Source) -> int:
        return self._slots.setdefault(source, len(self._slots))

    def _action(self, step: Step, items: Sequence[Item]) -> tuple[Any, ...]:
        if isinstance(step, RunKernel):
            bound = [(s, arg.dtype) for s, arg in zip(step.args, step.kernel.args, strict=True)]
            return (_WORK, self.executor.prepare(step.kernel), self._bindings(bound), step)
        if isinstance(step, RunLibraryCall):
            signatures = [items[target.position].signature for target in step.targets]
            results = [(Layout(f.shape, layout.c_strides(f.shape), 0), f.dtype) for f in signatures]
            sources = (*step.targets, *(s for s, _ in step.args))
            bound = list(zip(sources, (*(dtype for _, dtype in results), *step.dtypes), strict=True))
            return (_WORK, self.executor.library_call(step, results), self._bindings(bound), step)
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
                            values.append(self.executor.source_location(nodes[k].source_location))
                    if observe is None:
                        action[1](values)
                    else:
                        observe(action[3], Work(action[1], values, self))
                    # The CPU's views of a buffer would keep its block from being used again.
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
            self._keep(next((k for k, one in enumerate(self._actions) if one is action), 0), slots, nodes)
            raise
        for r, slot, leaf_form in self._roots:
            _materialize(nodes[r], slots[slot], leaf_form)
        self._materialize_overwritten(nodes, len(self.steps))

    def _materialize_overwritten(self, nodes: Sequence[Node], end: int) -> None:
        """Make leaves of the values that the steps before `end` wrote into memory of before.

        They can not be computed again. A thread that has just read one of them, and has not recorded yet what for,
        sees what the memory holds now: its own writes, and later ones of other threads.
        """
        for k, position, base in self._overwritten:
            if k < end and nodes[position].data is None:
                node = nodes[position]
                _materialize(node, nodes[base].data, _leaf_signature(node.signature))

    def _keep(self, failed: int, slots: list[Any], nodes: Sequence[Node]) -> None:
        """Make leaves of the values that are complete, after action `failed` has raised.

        What was written in place must not be written again, and its old elements, which others were computed from, are
        not there any more.
        """
        self._materialize_overwritten(nodes, failed)
        written = _written(self.steps)
        for step in reversed(self.steps[:failed]):
            if isinstance(step, Adopt) and written.get(step.target, -1) >= failed:
                buffer, slots[self._slots[step.target]] = slots[self._slots[step.target]], None
                if step.base.kind == "new":  # the memory holds the old value still
                    slots[self._slots[step.base]] = buffer
        for source, slot in self._slots.items():
            complete = source.kind == "new" and written.get(source, -1) < failed and slots[slot] is not None
            if complete and source.position < len(nodes):
                _materialize(nodes[source.position], slots[slot], _leaf_signature(nodes[source.position].signature))


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
    if isinstance(step, RunKernel):
        return [source for source, arg in zip(step.args, step.kernel.args, strict=True) if arg.kind == "out"]
    return list(step.targets) if isinstance(step, RunLibraryCall) else []


def _materialize(node: Node, buffer: Buffer, leaf_form: Signature) -> None:
    """Turn a pending node into a leaf. Other threads look at `data` first, so it comes when the rest is right."""
    node.offset = 0
    node.bound = None
    node.signature = leaf_form
    node.data = buffer
    node.args = ()


_WORK, _ALLOCATE, _ADOPT, _FREE = range(4)
_LEAF, _CONST, _SLOT, _SITE = range(4)
_KINDS = {"leaf": _LEAF, "const": _CONST, "new": _SLOT, "copy": _SLOT, "location": _SITE}


def _leaf_signature(f: Signature) -> Signature:
    return signature(Leaf(layout.c_strides(f.shape), 0, True), (), f.shape, f.dtype, f.queue)
