"""A plan: the steps for graphs of one structure, bound to an executor and ready to run.

How far a plan has come is in a `Run`, of which `core/runtime/run.py` decides what an exception leaves.
"""

from __future__ import annotations

import threading
from _thread import get_ident
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from .. import _native
from ..collector import without_collector
from ..graph import layout
from ..graph.layout import Layout
from ..graph.node import Node, computed_signature
from ..graph.queue import Queue
from ..graph.signature import Signature
from ..helpers import Job, no_finalizers
from ..schedule.kernel import Kernel
from ..schedule.lift import sizes_in, with_sizes
from ..schedule.lower import Item, Source
from ..schedule.passes import Scheduled, Target
from ..schedule.sizes import Integer, Trace
from ..schedule.steps import Adopt, Allocate, RunKernel, RunLibraryCall, Step
from ..schedule.substitute import in_kernel, in_options, in_step, looked_up, put_in, taken_out
from . import memory
from .device import CPU, Device
from .host_copies import VisibleBuffer
from .memory import Buffer
from .run import Results, Run, Section, overwritten_rows, publish, view_of_rows
from .sections import bases_below, bases_of, last_write, only_written, owner_of, regions, sections_of, writes_of
from .spill import note_uses

if TYPE_CHECKING:
    from .kept_plans import KeptPlans

# Runs one kernel or library call over its bound arguments: pointers and numbers on a GPU, arrays on the host.
Runner: TypeAlias = Callable[[Sequence[Any]], None]


def nothing(values: Sequence[Any]) -> None:
    """Leave the results of a call as they are. The compiled core does not call it."""


# Takes the sizes of a library call, which may be symbolic, and returns its options, and the layouts of its bound
# results and then of its arguments.
CallAt: TypeAlias = Callable[[Sequence[Any]], tuple[Any, Sequence[Layout]]]

# Number of the step, code, operands. What depends on sizes is the place of a number, or the number of a runner.
Action: TypeAlias = tuple[int, int, Any, Any, Any]

# A section of the CPU device that overwrites at most so many bytes is undone if an exception ends it: to save these
# takes less time than to hand the section to another thread.
UNDO_BYTES = 1 << 20
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

    @property
    def was_interpreted(self) -> bool:
        """Whether the interpreter has run the work, as its kernel was not compiled (kernels/cuda/tiers.py)."""
        return getattr(self._run, "is_interpreted", False)

    def __call__(self) -> None:
        """Run the work."""
        self._run(self._values)


Observer: TypeAlias = Callable[[Step, Work], None]


class GraphMaker(Protocol):
    """The protocol of what makes CUDA graphs, for the compiled core.

    Attributes
    ----------
    dropped : deque
        Takes handles of the driver that are to be destroyed: each as the name of what destroys it, and the handle.
    """

    dropped: deque[tuple[str, Any]]

    def workspace(self, nbytes: int) -> Buffer | None:
        """Return memory for the values that die inside of a plan; None if the plan is to have no graph."""

    def make(self, graph: Any) -> bool:
        """Have the driver make a graph, the core's object, of its launches; return whether it has."""


class Executor(Target, Protocol):
    """The protocol of executors, which run the steps of plans on one device.

    Attributes
    ----------
    graphs : GraphMaker or None
        What makes CUDA graphs of the launches of plans.
    """

    graphs: GraphMaker | None

    def bind(self, buffer: Buffer, dtype: Any, offset: int) -> Any:
        """Return what a kernel takes as a pointer argument: the buffer from element `offset` on."""

    def prepare(self, structure: Kernel, has_other_sizes: bool) -> Callable[[Sequence[int]], Any]:
        """Return what takes the sizes of a kernel of this structure, and begins to prepare what runs it.

        `has_other_sizes` tells whether more than one list of sizes is to be expected.
        """

    def library_call(
        self, name: str, options: Any, dtypes: Sequence[Any], at: CallAt
    ) -> Callable[[Sequence[int]], Any]:
        """Return what takes the sizes of a library call, and begins to prepare what runs the call.

        `dtypes` are in the order of the layouts, and `options` are without sizes.
        """

    def finish(self, begun: Sequence[Any]) -> Sequence[Runner]:
        """Return the functions that run the kernels and calls of a plan, whose preparations have begun."""

    def kept_plans(self) -> KeptPlans | None:
        """Return the plans on disk; None if they are not to be kept for other processes."""

    def kept(self, structure: Kernel, sizes: Sequence[int] | None) -> Any:
        """Return the plain data from which another process prepares a kernel that this one has prepared.

        It is for one list of sizes, or for all if that is None. What is no plain data raises `NotPlain`.
        """

    def prepare_kept(self, kept: Any) -> Callable[[Sequence[int]], Any] | None:
        """Return what `prepare` does, from what `kept` returned; None if what that refers to is gone."""

    def prepare_ahead(self, kept: Any, sizes: Sequence[int]) -> None:
        """Have all at hand by which a kernel will be prepared from what `kept` returned, if it is compiled."""

    def tier(self, kernel: Kernel) -> str:
        """Return how a kernel would run now, if there are several ways; nothing is prepared for it."""

    def take_error(self) -> str:
        """Return the message of the first failure that data caused since the last call, or an empty string."""

    def source_location(self, text: str) -> int:
        """Return the number of a source location, by which kernels report it to `take_error`."""


class CallShape(NamedTuple):
    """A library call without sizes.

    Attributes
    ----------
    name, options
        Those of its step.
    dtypes
        Of its results, then of its arguments.
    result_ndims, ndims
        The numbers of dimensions of its results, and of its arguments.
    size_count
        How many sizes it has, before those of its results.
    """

    name: str
    options: Any
    dtypes: tuple[Any, ...]
    result_ndims: tuple[int, ...]
    ndims: tuple[int, ...]
    size_count: int


class KeptPlan(NamedTuple):
    """What another process makes a template from, as plain data.

    Attributes
    ----------
    plain
        Attributes of the template, by their names.
    sizes
        The numbers that follow from sizes, or what computes them from values of symbols.
    work
        The steps that run something, with where their sizes are among the numbers: library calls, and what the executor
        keeps of kernels.
    values
        The values of the symbols for which it was scheduled.
    """

    plain: dict[str, Any]
    sizes: Any
    work: list[tuple[int, Any, slice]]
    values: tuple[int, ...]


class PlanTemplate:
    """A plan for all graphs of one structure whose sizes answer the guards of a trace alike.

    Attributes
    ----------
    end
        The number of steps.
    slots
        The number of the slot of every buffer that the plan allocates or adopts.
    roots
        The positions of the results, and their slots.
    sections
        The ranges of steps that overwrite what cannot be computed again.
    regions
        Of each section, what it overwrites: whether it is in a leaf, the leaf's position or the slot, and the place of
        the four numbers of its `sections.Rows` among the sizes.
    writes, bases
        When sources are written, and which of them adopt the buffers of which others.
    overwritten
        The values written into the memory of leaves: their last step, their position, and that of the leaf.
    visible
        The slots and the sizes of the 0-d results that a kernel can write to memory of the host, by their positions:
        one kernel writes them and nothing in the plan reads them.
    inner_values
        The values that are no results and are written into the memory of leaves: their position, and that of the leaf.
    sizes
        Computes the numbers that follow from sizes, from values of the trace's symbols: those that actions look at,
        and behind them those that runners are made from.
    number_count
        How many numbers actions look at.
    actions
        What runs: the steps made ready, and before each section what protects it.
    """

    # Schedules the graph of a template that another process has kept, for whoever wants to see the steps.
    make_schedule: Callable[[], tuple[Scheduled, Trace]]
    # The values of the symbols for which that process has scheduled it.
    values: tuple[int, ...]
    # Keeps what `kept` returns on disk; None if that is done, or not to be.
    keep: Callable[[Any], None] | None = None
    # What has run the first graph, until another one comes up: some of it may be for one run alone.
    first_runners: tuple[Runner, ...] | None = None
    # What the compiled core runs, at all sizes; None without the core, or before `made_program`.
    program: Any = None
    _PLAIN = (
        *("end", "slots", "roots", "sections", "regions", "writes", "bases", "overwritten", "visible"),
        *("inner_values", "actions", "number_count", "_allocations"),
    )

    def __init__(
        self, scheduled: Scheduled, roots: Sequence[int], count: int, trace: Trace, executor: Executor
    ) -> None:
        self._schedule: Scheduled | None = scheduled
        steps, items = scheduled
        self.end = len(steps)
        self.executor = executor
        self.writes, self.bases = writes_of(steps), bases_of(steps)
        self.sections = sections_of(self.writes, self.bases, count)
        queue = items[roots[0]].signature.queue
        assert queue is not None
        self.queue = queue
        self.device: Device = queue.device
        self.slots: dict[Source, int] = {}
        owners = {target: owner_of(target, self.bases) for target in self.bases}
        self.overwritten = [
            (last_write(target, self.writes, self.bases), target.position, owner.position)
            for target, owner in owners.items()
            if owner.kind == "leaf"
        ]
        self._trace = trace
        self._kernels: dict[int, Kernel] = {}  # without sizes, by the numbers of their steps
        # The steps that run something: what prepares the runner, and where the sizes that it does so from are among
        # those of all work. Most kernels come up again in a plan.
        work: list[tuple[int, Callable[[Sequence[int]], Any], slice]] = []
        sizes_of_work: list[Integer] = []
        prepared: dict[Kernel, tuple[Kernel, Callable[[Sequence[int]], Any], slice]] = {}
        self._allocations: list[int] = []  # where the bytes of buffers are among the numbers
        actions: list[Action] = []
        self._calls: dict[int, CallShape] = {}
        sizes: list[Integer] = []
        for number, step in enumerate(steps):
            actions.append(self._action(number, step, len(work), len(sizes)))
            if isinstance(step, Allocate):
                self._allocations.append(len(sizes))
                sizes.append(step.nbytes)
            elif isinstance(step, RunKernel):
                known = prepared.get(step.kernel)
                if known is None:
                    structure, own = taken_out(step.kernel, in_kernel)
                    prepare = executor.prepare(structure, bool(trace.symbols))
                    known = prepared[step.kernel] = structure, prepare, _appended(sizes_of_work, own)
                self._kernels[number] = known[0]
                work.append((number, *known[1:]))
            elif isinstance(step, RunLibraryCall):
                call, own = _call_shape(step, items)
                self._calls[number] = call
                work.append((number, self._prepare_library_call(call), _appended(sizes_of_work, own)))
        self.regions: list[list[tuple[bool, int, int]]] = []
        for section in self.sections:
            found = []
            for owner, rows in regions(steps, self.bases, items, section, trace):
                is_leaf = owner.kind == "leaf"
                found.append((is_leaf, owner.position if is_leaf else self._slot(owner), len(sizes)))
                sizes += rows
            self.regions.append(found)
        self.number_count = len(sizes)
        behind = len(sizes)
        self._work = [(number, prepare, slice(behind + p.start, behind + p.stop)) for number, prepare, p in work]
        self.sizes = trace.formulas(sizes + sizes_of_work)
        self.actions = self._in_sections(actions)
        self.roots = [(r, self._slot(Source("new", r))) for r in roots]
        self.visible: dict[int, tuple[int, int]] = {}
        if self.device is not CPU:
            written = only_written(steps, roots)
            results = [(r, slot, items[r].signature) for r, slot in self.roots if r in written]
            self.visible = {r: (slot, result.dtype.itemsize) for r, slot, result in results if not result.shape}
        self.inner_values = [(position, base) for _, position, base in self.overwritten if position not in roots]

    def kept(self) -> KeptPlan:
        """Return the plain data that `of_kept` makes a template like this from."""
        values = tuple([symbol.value for symbol in self._trace.symbols])
        sizes = self.sizes if values else self.sizes(())
        kernels: dict[tuple[Kernel, tuple[int, ...] | None], Any] = {}
        work: list[tuple[int, Any, slice]] = []
        for number, _, part in self._work:
            kept: Any = self._calls.get(number)
            if kept is None:
                key = self._kernels[number], None if values else sizes[part]  # type: ignore[index]
                kept = kernels.get(key)
                if kept is None:
                    kept = kernels[key] = self.executor.kept(*key)
            work.append((number, kept, part))
        return KeptPlan({name: getattr(self, name) for name in self._PLAIN}, sizes, work, values)

    @classmethod
    def of_kept(cls, kept: KeptPlan, queue: Queue, executor: Executor) -> PlanTemplate | None:
        """Return a template from what `kept` has returned, in this process or another one; None if kernels are gone.

        Who has the graph sets its `make_schedule`.
        """
        made = cls.__new__(cls)
        made.__dict__.update(kept.plain)
        made.executor, made.queue, made.device = executor, queue, queue.device
        made._schedule, made.values = None, kept.values
        made.sizes = kept.sizes if kept.values else lambda values: kept.sizes
        prepared: dict[int, Callable[[Sequence[int]], Any]] = {}
        for _, what, _ in kept.work:
            if id(what) not in prepared:
                prepare = made._prepare_kept(what)
                if prepare is None:
                    return None
                prepared[id(what)] = prepare
        made._work = [(number, prepared[id(what)], part) for number, what, part in kept.work]
        return made

    @property
    def schedule(self) -> Scheduled:
        """The steps, and the items that they are for, with symbolic sizes."""
        if self._schedule is None:
            self._schedule, self._trace = self.make_schedule()
        return self._schedule

    def _slot(self, source: Source) -> int:
        return self.slots.setdefault(source, len(self.slots))

    def _action(self, number: int, step: Step, runner: int, start: int) -> Action:
        """Return the action of a step: with a runner of this number, or with numbers from the place `start` on."""
        if isinstance(step, RunKernel):
            bound = [(s, arg.dtype) for s, arg in zip(step.args, step.kernel.args, strict=True)]
            return (number, _WORK, runner, self._bindings(bound), None)
        if isinstance(step, RunLibraryCall):
            dtypes = [self.schedule.items[target.position].signature.dtype for target in step.targets]
            sources = (*step.targets, *(source for source, _ in step.args))
            bindings = self._bindings(list(zip(sources, (*dtypes, *step.dtypes), strict=True)))
            return (number, _WORK, runner, bindings, None)
        target = self._slot(step.target)
        if isinstance(step, Allocate):
            return (number, _ALLOCATE, target, start, None)
        if isinstance(step, Adopt):
            is_leaf = step.base.kind == "leaf"
            return (number, _ADOPT, target, is_leaf, step.base.position if is_leaf else self._slot(step.base))
        slots = [target]  # and the slots of all sources that had the buffer before
        source = step.target
        while source in self.bases and self.bases[source].kind != "leaf":
            source = self.bases[source]
            slots.append(self._slot(source))
        return (number, _FREE, slots, None, None)

    def _prepare_kept(self, what: Any) -> Callable[[Sequence[int]], Any] | None:
        """Return what prepares the work of a step that was kept from sizes, if it is there; see `KeptPlan`."""
        if isinstance(what, CallShape):
            return self._prepare_library_call(what)
        return self.executor.prepare_kept(what)

    def _prepare_library_call(self, call: CallShape) -> Callable[[Sequence[int]], Any]:
        """Return what prepares a call from sizes: its own, and those of its results."""
        count = call.size_count
        begin = count - sum([2 * ndim + 1 for ndim in call.ndims])  # what comes before are the sizes in the options

        def at(sizes: Sequence[Any]) -> tuple[Any, Sequence[Layout]]:
            layouts, start = [], count
            for ndim in call.result_ndims:
                shape = tuple(sizes[start : start + ndim])
                layouts.append(Layout(shape, layout.c_strides(shape), 0))
                start += ndim
            start = begin
            for ndim in call.ndims:
                strides, offset = start + ndim, start + 2 * ndim
                layouts.append(Layout(tuple(sizes[start:strides]), tuple(sizes[strides:offset]), sizes[offset]))
                start = offset + 1
            return put_in(call.options, in_options, sizes) if begin else call.options, layouts

        return self.executor.library_call(call.name, call.options, call.dtypes, at)

    def _bindings(self, bound: Sequence[tuple[Source, Any]]) -> list[tuple[int, int, Any]]:
        return [(_KINDS[s.kind], self._slot(s) if _KINDS[s.kind] == _SLOT else s.position, dtype) for s, dtype in bound]

    def _in_sections(self, actions: Sequence[Action]) -> list[Action]:
        """Return the actions with each section in one, and behind it what frees the buffers that it no longer needs.

        These are still there if the section is undone.
        """
        program: list[Action] = []
        done = 0
        for steps, overwritten in zip(self.sections, self.regions, strict=True):
            inside = actions[steps.start : steps.stop]
            work = [action for action in inside if action[1] != _FREE]
            runners = [action[2] for action in work if action[1] == _WORK]
            section = Section(steps.start, steps.stop, work)
            program += actions[done : steps.start]
            program.append((steps.start, _SECTION, section, overwritten, runners[0] if len(runners) == 1 else -1))
            program += [(steps.stop, *action[1:]) for action in inside if action[1] == _FREE]
            done = steps.stop
        return [*program, *actions[done:]]

    def runners(self, numbers: Sequence[int]) -> tuple[Runner, ...]:
        """Return what runs the kernels and calls at some sizes, from the numbers that `sizes` gives."""
        if self.first_runners is not None:
            return self._lasting(self.first_runners, numbers)
        for at in self._allocations:
            # A kernel for more elements than memory can hold takes very long to prepare: let its allocation fail first.
            if numbers[at] >= _PROBE_BYTES:
                memory.allocate(self.device, numbers[at])
        return tuple(self.executor.finish(without_collector(self._begun, numbers)))

    def _lasting(self, first: Sequence[Runner], numbers: Sequence[int]) -> tuple[Runner, ...]:
        """Return the first runners, with others in the places of those that are for one run."""
        places = [place for place, runner in enumerate(first) if is_for_one_run(runner)]
        work = [self._work[place] for place in places]
        made = self.executor.finish(without_collector(lambda: [prepare(numbers[part]) for _, prepare, part in work]))
        lasting = dict(zip(places, made, strict=True))
        return tuple([lasting.get(place, runner) for place, runner in enumerate(first)])

    def _begun(self, numbers: Sequence[int]) -> list[Any]:
        begun: dict[tuple[Any, int], Any] = {}
        for _, prepare, part in self._work:
            if (prepare, part.start) not in begun:
                begun[prepare, part.start] = prepare(numbers[part])
        return [begun[prepare, part.start] for _, prepare, part in self._work]

    @cached_property
    def has_copies(self) -> bool:
        """Whether the host may have copies of the memory of leaves that is overwritten."""
        return bool(self.overwritten)

    def has_more_to_make(self, runners: Sequence[Runner]) -> bool:
        """Return whether more than these runners is to be made, for later runs and for other processes."""
        return self.keep is not None or any(map(is_for_one_run, runners))

    def keep_on_disk(self) -> None:
        """Keep a new template for other processes."""
        if self.keep is not None:
            without_collector(lambda keep: keep(self.kept()), self.keep)
            self.keep = None

    def made_program(self) -> Any:
        """Return what the compiled core runs, at all sizes; None without the core. Until then graphs come to Python."""
        if self.program is None:
            self.program = self._program()
        return self.program

    def _program(self) -> Any:
        return _native.program(
            *(tuple(self.actions), tuple(self.roots), tuple((r, *what) for r, what in self.visible.items())),
            *(tuple(base for _, _, base in self.overwritten) if self.has_copies else (), len(self.slots)),
            *(self.end, self.device, self.executor.bind, self.executor.source_location),
            *(tuple(self.inner_values), UNDO_BYTES if self.device is CPU else -1, self.sizes),
            *(self.number_count, tuple((prepare, part.start, part.stop) for _, prepare, part in self._work)),
            *(tuple(self._allocations), _PROBE_BYTES, self.executor.graphs),
        )

    def scheduled(self, values: Sequence[int]) -> Scheduled:
        """Return the steps for values of the trace's symbols, and the items that they are for."""
        steps, items = self.schedule
        if not self._trace.symbols:
            return self.schedule
        of_steps = [n for step in steps for n in taken_out(step, in_step)[1]]
        symbolic = list(dict.fromkeys((*sizes_in(items), *of_steps)))
        known = dict(zip(symbolic, self._trace.formulas(symbolic)(values), strict=True))
        return Scheduled(tuple([in_step(step, looked_up(known)) for step in steps]), with_sizes(items, known))


def is_for_one_run(runner: Runner) -> bool:
    """Return whether another runner is to take the place of one that has run once."""
    return getattr(runner, "is_for_one_run", False)


def _appended(sizes: list[Integer], more: Sequence[Integer]) -> slice:
    """Append sizes to a list, and return where they are in it."""
    sizes += more
    return slice(len(sizes) - len(more), len(sizes))


def _call_shape(step: RunLibraryCall, items: Sequence[Item]) -> tuple[CallShape, list[Integer]]:
    """Return a library call without sizes, and its sizes: its own, and those of its results."""
    structure, sizes = taken_out(step, in_step)
    written = [items[target.position].signature for target in step.targets]
    call = CallShape(
        structure.name,
        structure.options,
        (*[result.dtype for result in written], *structure.dtypes),
        tuple([len(result.shape) for result in written]),
        tuple([len(where.shape) for _, where in structure.args]),
        len(sizes),
    )
    return call, [*sizes, *[n for result in written for n in result.shape]]


class Plan:
    """A template at some sizes, ready to run. While it runs, its buffers are in slots.

    Attributes
    ----------
    template : PlanTemplate
        What it has in common with the plans for other sizes.
    values
        The values of the symbols.
    numbers
        What follows from them: the bytes of buffers, and what sections overwrite.
    runners
        What runs the kernels and calls.
    signatures
        Of the results, and of inner values behind them, once they are computed.
    program
        What the compiled core runs, if it has been made.
    graph
        What the compiled core launches all kernels by at once: a CUDA graph. Before there is one, how often the plan
        has run; False if there is to be none.
    """

    __slots__ = ("_scheduled", "graph", "numbers", "program", "runners", "signatures", "template", "values")

    _scheduled: Scheduled

    def __init__(self, template: PlanTemplate, values: tuple[int, ...], pending: Sequence[Signature]) -> None:
        self.template = template
        self.values = values
        numbers = template.sizes(values)
        self.numbers = numbers[: template.number_count]
        self.runners = template.runners(numbers)
        published = [position for position, _ in (*template.roots, *template.inner_values)]
        self.signatures = tuple([computed_signature(pending[position]) for position in published])
        self.program = template.program
        self.graph: Any = 0

    @property
    def device(self) -> Device:
        """The device that it runs on."""
        return self.template.device

    @property
    def is_cuda_graph(self) -> bool:
        """Whether the compiled core launches all kernels as one CUDA graph by now."""
        return getattr(self.graph, "is_made", False) and not self.device.has_spilled

    @property
    def queue(self) -> Queue:
        """The queue of the results."""
        return self.template.queue

    @property
    def scheduled(self) -> Scheduled:
        """The steps at these sizes, and the items that they are for."""
        if not hasattr(self, "_scheduled"):
            self._scheduled = self.template.scheduled(self.values)
        return self._scheduled

    def library_calls(self) -> Iterator[str]:
        """Yield the names of its library calls."""
        return (step.name for step in self.scheduled.steps if isinstance(step, RunLibraryCall))

    def run(self, nodes: Sequence[Node], run: Run, observe: Observer | None = None, looked: int | None = None) -> None:
        """Compute the roots among `nodes`, a graph of the structure of the plan; call `observe` with every work.

        The host is about to read the root at the position `looked`.
        """
        template = self.template
        slots: list[Any] = [None] * len(template.slots)
        if looked is not None and looked in template.visible:
            slot, nbytes = template.visible[looked]
            slots[slot] = VisibleBuffer(self.device, nbytes)
        run.nodes, run.slots = nodes, slots
        run.plan = self  # from now on `run` tells what there is to be finished
        self._execute(template.actions, nodes, slots, run, observe)
        run.step = template.end
        if template.has_copies:
            self.drop_copies(nodes)
        if self.device.has_spilled:
            self.note_uses(nodes, slots)
        self.queue.publications += 1
        for (r, slot), signature in zip(template.roots, self.signatures):  # as in `publish`
            node = nodes[r]
            if node.data is None:
                node.offset, node.signature, node.data, node.args = 0, signature, slots[slot], ()
        if template.inner_values:
            values = [(nodes[position], nodes[base].data) for position, base in template.inner_values]
            signatures = self.signatures[len(template.roots) :]
            publish(self.queue, [(*value, signature) for value, signature in zip(values, signatures, strict=True)])

    def _execute(
        self, actions: Sequence[Action], nodes: Sequence[Node], slots: list[Any], run: Run, observe: Observer | None
    ) -> None:
        """Run a part of the actions, as the compiled core does."""
        executor, numbers = self.template.executor, self.numbers
        bind = executor.bind
        for run.step, code, first, second, third in actions:
            if code == _WORK:
                values = []
                for source_kind, index, dtype in second:
                    if source_kind == _LEAF:
                        node = nodes[index]
                        values.append(bind(node.data, dtype, node.offset))
                    elif source_kind == _CONST:
                        values.append(nodes[index].data)
                    elif source_kind == _SLOT:
                        values.append(bind(slots[index], dtype, 0))
                    else:
                        values.append(executor.source_location(nodes[index].source_location))
                runner = self.runners[first]
                if observe is None:
                    runner(values)
                else:
                    observe(self.scheduled.steps[run.step], Work(runner, values, self))
                # On the CPU the values are views of buffers: while views are alive, a block is not used again.
                values = None  # type: ignore[assignment]
            elif code == _ALLOCATE:
                if slots[first] is None:
                    slots[first] = memory.allocate(self.device, numbers[second])
            elif code == _ADOPT:
                slots[first] = nodes[third].data if second else slots[third]
            elif code == _FREE:
                for slot in first:
                    slots[slot] = None
            else:
                self._run_section(first, second, third, nodes, slots, run, observe)

    def _run_section(
        self,
        section: Section,
        regions: Sequence[tuple[bool, int, int]],
        runner: int,
        nodes: Sequence[Node],
        slots: list[Any],
        run: Run,
        observe: Observer | None,
    ) -> None:
        """Run a section so that it can be undone, or is known to have run, or nothing comes in between.

        Parameters
        ----------
        regions
            What the section overwrites: see `PlanTemplate.regions`.
        runner
            The number of the runner, if there is only one; else -1.
        """
        numbers = self.numbers
        can_undo, written = self.device is CPU, []
        if can_undo:
            written = [overwritten_rows(*numbers[at : at + 4]) for _, _, at in regions]
            can_undo = sum([length * number for _, length, _, number in written]) <= UNDO_BYTES
        if can_undo:
            saved = []
            for (is_leaf, place, _), rows in zip(regions, written, strict=True):
                buffer = nodes[place].data if is_leaf else slots[place]
                saved.append((buffer, rows, view_of_rows(buffer, rows).copy()))
            run.entered = (section, saved, None, None)
        elif runner >= 0 and getattr(self.runners[runner], "is_one_launch", False):
            run.entered = (section, (), None, self.device.note_launches())
        else:
            self._run_whole(section, nodes, slots, run, observe)
            return
        self._execute(section.program, nodes, slots, run, observe)

    def _run_whole(
        self, section: Section, nodes: Sequence[Node], slots: list[Any], run: Run, observe: Observer | None
    ) -> None:
        """Run a section where no exception of a signal handler, and no finalizer, comes in between."""

        def work() -> None:
            self._execute(section.program, nodes, slots, run, observe)
            run.step = section.end

        if get_ident() != threading.main_thread().ident:
            run.entered = (section, (), None, None)
            with no_finalizers:
                work()
            return
        while True:
            job = Job(work)
            run.entered = (section, (), job, None)
            job.start()
            job.wait()
            if job.has_run:  # and no flush beside this one has cancelled it
                break
        if job.error is not None:
            raise job.error

    def overwritten_leaves(self, nodes: Sequence[Node]) -> list[Buffer]:
        """Return the buffers of the leaves that the plan overwrites."""
        return [nodes[base].data for _, _, base in self.template.overwritten]

    def drop_copies(self, nodes: Sequence[Node]) -> None:
        """Drop what the host has of the memory of leaves that the plan overwrites."""
        for buffer in self.overwritten_leaves(nodes):
            buffer.copy = None

    def note_uses(self, nodes: Sequence[Node], slots: Sequence[Any]) -> None:
        """Note what a run has used, once values of the device were moved to the host."""
        if self.device.has_spilled:
            note_uses(self.queue, nodes, slots)

    def buffers_ahead(self, run: Run) -> Iterator[tuple[int, Buffer]]:
        """Yield the buffers that a run uses in the step at hand and in later ones, each with the number of the step."""
        stack = [self.template.actions]
        while stack:
            for number, code, first, second, _ in stack.pop():
                if code == _SECTION:
                    stack.append(first.program)
                elif code == _WORK and number >= run.step:
                    for source_kind, index, _ in second:
                        value = None
                        if source_kind == _LEAF:
                            value = run.nodes[index].data
                        elif source_kind == _SLOT:
                            value = run.slots[index]
                        if isinstance(value, Buffer):
                            yield number, value

    def begins_section(self, step: int) -> bool:
        """Return whether a section begins with this step."""
        return any(section.start == step for section in self.template.sections)

    def results_at(self, nodes: Sequence[Node], slots: Sequence[Any], step: int, begun: int) -> Results:
        """Return the values that are complete after so many steps, if so many have begun to write.

        An update that was done in place must not be done again: the elements that it was computed from are overwritten.
        """
        template = self.template
        writes = template.writes
        # Where the buffer of a value has been adopted, the memory has the old value until the first write.
        begun_targets = [target for target in template.bases if target in writes and writes[target].first < begun]
        gone = {base for target in begun_targets for base in bases_below(target, template.bases)}
        results = self._overwritten(nodes, step)
        for source, slot in template.slots.items():
            if source.kind != "new" or source.position >= len(nodes) or slots[slot] is None or source in gone:
                continue
            node = nodes[source.position]
            if node.data is None and last_write(source, writes, template.bases) < step:
                results.append((node, slots[slot], computed_signature(node.signature)))
        return results

    def _overwritten(self, nodes: Sequence[Node], step: int) -> Results:
        """Return the values that the first steps wrote into the memory of leaves.

        Their inputs are overwritten, so they cannot be computed again. A thread that holds such a node and has not yet
        recorded its use sees the present content of the memory: its own writes, and later writes of other threads.
        """
        return [
            (nodes[position], nodes[base].data, computed_signature(nodes[position].signature))
            for last, position, base in self.template.overwritten
            if last < step and nodes[position].data is None
        ]


# Codes of actions, and the places that arguments come from.
_WORK, _ALLOCATE, _ADOPT, _FREE, _SECTION = range(5)
_LEAF, _CONST, _SLOT, _LOCATION = range(4)
_KINDS = {"leaf": _LEAF, "const": _CONST, "new": _SLOT, "copy": _SLOT, "location": _LOCATION}
