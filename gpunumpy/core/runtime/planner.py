"""Plans for graphs: found by structure, made once for all sizes that a plan serves."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import cast
from weakref import WeakSet

from ..collector import without_collector
from ..graph.bounded_table import BoundedTable
from ..graph.library_calls.registry import begun_outputs
from ..graph.node import Node
from ..graph.primitives import LibraryCall
from ..graph.queue import Queue
from ..graph.signature import Signature
from ..schedule.batch import batch_calls, may_have_batches
from ..schedule.lift import has_many_sizes, items_in, lifted, lowered
from ..schedule.lower import Item, items_of
from ..schedule.parts import parts
from ..schedule.passes import Scheduled, run_passes
from ..schedule.sizes import Integer, Trace
from ..schedule.variants import Variants, with_symbols
from ..schedule.verify_plan import verify_plan
from .plan import CallShape, Executor, KeptPlan, Plan, PlanTemplate

# Plans at some sizes that are kept; one that is met again is found by a look-up alone. Templates outlive them.
MAX_PLANS = 4096
_PLAN_ENTRIES = 15  # of a `BoundedTable`, that a plan at its sizes counts as: about 5 kB

_NODES_OF_ENTRY = 16  # of a graph by which something is found that count as one entry

# A graph of at least so many nodes and different sizes is computed in parts, until it has come up so often at the same
# sizes: a plan for the whole takes as long as several runs, and saves a part of each later one.
MIN_NODES, MIN_SIZES, PATIENCE = 64, 16, 16


# Templates of graphs that have come up once.
_met_once: WeakSet[PlanTemplate] = WeakSet()


@atexit.register
def keep_on_disk() -> None:
    """Keep the plans of graphs that have come up once for other processes."""
    while _met_once:
        _met_once.pop().keep_on_disk()


class GraphChanged(Exception):
    """Another flush, of a signal handler, has computed nodes of a graph while a plan for it was being made."""


class _Parts:
    """The parts of a graph at its sizes: the roots of each, none for one to plan as a whole; how often it came up."""

    __slots__ = ("roots", "times")

    def __init__(self, roots: list[list[int]]) -> None:
        self.roots, self.times = roots, 0


class Planner:
    """Makes the plans of one executor.

    Attributes
    ----------
    plans : BoundedTable
        The plans of graphs at their sizes, by the keys of `evaluate.walk`.
    """

    __slots__ = ("_executor", "_parts", "_templates", "plans")

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.plans: BoundedTable[Hashable, Plan] = BoundedTable()
        self._templates: BoundedTable[Hashable, Variants[PlanTemplate]] = BoundedTable()
        self._parts: BoundedTable[Hashable, _Parts] = BoundedTable()

    def read_ahead(self, queue: Queue) -> None:
        """Make the templates that the last process of this program needed; hold the lock of flushes meanwhile."""
        disk = self._executor.kept_plans()
        if disk is not None:
            disk.read_ahead(partial(self._made_ahead, queue))

    def _made_ahead(self, queue: Queue, kept: KeptPlan) -> KeptPlan | PlanTemplate:
        """Return the template that another process has kept, its kernels prepared, before there is a graph for it.

        What calls libraries is left as it is: these may take much memory.
        """
        with queue.lock:
            _prepare_ahead(kept, self._executor)
            if any(isinstance(what, CallShape) for _, what, _ in kept.work):
                return kept
            made = without_collector(PlanTemplate.of_kept, kept, queue, self._executor)
            if made is not None and kept.values:
                made.made_program()
            return made or kept

    def plan(
        self,
        key: Hashable,
        nodes: Sequence[Node],
        count: int,
        overwrite: bool,
        check: bool,
        has_changed: Callable[[], bool] = bool,
    ) -> Plan:
        """Make the plan that computes the first `count` nodes of a graph, and keep it by a key; see `run_passes`.

        For a graph that comes up once no more is made than one run takes: what later runs and later processes need is
        made when it comes up again.

        Raises
        ------
        GraphChanged
            If `has_changed` tells so when the nodes have been looked at: they may not be what `key` was made of.
        """
        found = without_collector(self._found, nodes, count, overwrite, check, has_changed)
        template, values, signatures, items, is_new = found
        plan = Plan(template, values, signatures)
        is_first = template.first_runners is None and template.has_more_to_make(plan.runners)
        template.first_runners = plan.runners if is_first else None
        if is_first:
            _met_once.add(template)
        else:
            template.keep_on_disk()
            plan.program = template.made_program()
        if check:
            self.verify(plan, count)
            if is_new:  # each pass is checked with numbers
                run_passes(items, range(count), self._executor, overwrite=overwrite, check=True)
        if is_first:
            return plan
        if len(self.plans) >= MAX_PLANS:
            self.plans.clear()
        return self.plans.keep(key, plan, _PLAN_ENTRIES)

    def _found(
        self, nodes: Sequence[Node], count: int, overwrite: bool, check: bool, has_changed: Callable[[], bool]
    ) -> tuple[PlanTemplate, tuple[int, ...], list[Signature], list[Item], bool]:
        """Return the template for a graph, the values of its symbols, and the signatures of the graph.

        Then the graph, if it is to be checked, and whether the template is new.
        """
        structure, sizes = lowered(nodes)
        template_key = (structure, count, overwrite)
        variants = self._templates.find(template_key)
        signatures = [node.signature for node in nodes]
        if has_changed():
            raise GraphChanged
        if variants is None:
            variants = self._new_templates(structure, sizes, signatures, count, overwrite, check)
            variants = self._templates.keep(template_key, variants)
        made = len(variants) if check else 0
        template, values = variants.find(sizes)
        items = items_in(structure, sizes, signatures) if check else []
        return template, values, signatures, items, check and len(variants) != made

    def _new_templates(
        self,
        structure: tuple[int, ...],
        sizes: Sequence[int],
        signatures: Sequence[Signature],
        count: int,
        overwrite: bool,
        check: bool,
    ) -> Variants[PlanTemplate]:
        """Return the templates for all graphs of a structure, of which one has these sizes and signatures."""
        roots, executor, queue = range(count), self._executor, signatures[0].queue
        assert queue is not None
        disk = None if check else executor.kept_plans()
        key = None if disk is None else disk.key(structure, signatures, count, overwrite)

        def schedule(wanted: Sequence[Integer], has_symbols: bool) -> Scheduled:
            items = items_in(structure, sizes, signatures)
            graph = items if not has_symbols and wanted == sizes else lifted(items, wanted)
            return run_passes(graph, roots, executor, overwrite=overwrite)

        def template_of(kept: KeptPlan | PlanTemplate) -> PlanTemplate | None:
            return kept if isinstance(kept, PlanTemplate) else PlanTemplate.of_kept(kept, queue, executor)

        def make(trace: Trace, wanted: Sequence[Integer]) -> PlanTemplate:
            has_symbols = bool(trace.symbols)
            if disk is None or key is None or has_symbols:
                return PlanTemplate(schedule(wanted, has_symbols), roots, len(signatures), trace, executor)
            key_at = disk.key_at(key, cast("Sequence[int]", wanted))
            disk.note_need(key_at)
            kept = disk.find(key_at)
            found = kept and template_of(kept)
            if found:
                found.make_schedule = lambda: (schedule(wanted, False), trace)
                return found
            made = PlanTemplate(schedule(wanted, False), roots, len(signatures), trace, executor)
            made.keep = partial(disk.keep, key_at)
            return made

        def of_kept(kept: KeptPlan | PlanTemplate, places: tuple[int, ...]) -> PlanTemplate:
            made = template_of(kept)
            assert made is not None  # it has the structures of its kernels
            values = made.values

            def again() -> tuple[Scheduled, Trace]:
                trace, wanted = with_symbols(places, values)
                return schedule(wanted, True), trace

            made.make_schedule = again
            return made

        variants = Variants(make)
        if disk is not None and key is not None:
            disk.note_need(key)
            variants.keep_in(disk.variants(key, PlanTemplate.kept, of_kept))
        return variants

    def parts(
        self, key: Hashable, nodes: Sequence[Node], count: int, has_changed: Callable[[], bool] = bool, times: int = 1
    ) -> list[list[int]]:
        """Return how to compute the first `count` nodes of a graph that has no plan: the roots of its parts, in order.

        Of a graph to plan as a whole it returns no parts. The parameters are those of `plan`; `times` is 0 for who only
        asks.
        """
        if len(nodes) < MIN_NODES:
            return []
        known = self._parts.find(key)
        if known is None:
            made = without_collector(self._new_parts, nodes, count)
            if has_changed():
                raise GraphChanged
            known = self._parts.keep(key, _Parts(made), len(nodes) // _NODES_OF_ENTRY)
        known.times += times
        return known.roots if known.times < PATIENCE + times else []

    def _new_parts(self, nodes: Sequence[Node], count: int) -> list[list[int]]:
        if not has_many_sizes(nodes, MIN_SIZES):
            return []
        found = parts(nodes, count)
        is_whole = (
            len(found) < 2
            or _any_overwrites(nodes)  # what a call overwrites may be read in another part
            or self._has_batches(nodes, count)  # these have library calls of several parts
        )
        return [] if is_whole else found

    def _has_batches(self, nodes: Sequence[Node], count: int) -> bool:
        if not may_have_batches([node.signature for node in nodes]):
            return False
        items = items_of(nodes)
        return len(batch_calls(items, range(count), self._executor.traits)) != len(items)

    def verify(self, plan: Plan, count: int) -> None:
        """Check a new plan for a graph whose first `count` nodes it computes."""
        verify_plan(plan.scheduled.steps, plan.scheduled.items, range(count))

    def structure_count(self) -> int:
        """Return how many structures of graphs have plans."""
        return len(self._templates)

    def counts(self) -> tuple[int, int]:
        """Return how many structures of graphs have plans, and how many plans for all sizes of a class these have."""
        return self.structure_count(), sum(map(len, self._templates.values()))


def _any_overwrites(nodes: Sequence[Node]) -> bool:
    """Return whether any of many nodes is a library call that may write over its arguments; few of them are calls."""
    primitives = [node.signature.primitive for node in nodes]
    return any(begun_outputs(call) > 0 for call in {p for p in primitives if type(p) is LibraryCall})


def _prepare_ahead(kept: KeptPlan, executor: Executor) -> None:
    """Prepare the kernels of a plan that another process has kept."""
    sizes = kept.sizes(kept.values) if kept.values else kept.sizes
    for what, part in {(id(what), part.start): (what, part) for _, what, part in kept.work}.values():
        if not isinstance(what, CallShape):
            executor.prepare_ahead(what, sizes[part])
