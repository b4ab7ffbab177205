"""The passes from a recorded graph to a plan, in the order in which they run.

Graph passes rewrite the items, the scheduler turns the items into steps, and plan passes rewrite the steps. On request
the output of each pass is verified by itself, so that a defect is found in the pass that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from ..graph.primitives import LibraryCall
from .batch import batch_calls
from .callbacks import FusePredicate, fuse_into_library_calls
from .epilogues import fold_epilogues
from .lower import Item
from .rewrites import add_outputs, merge_windows, push_views
from .scheduler import schedule
from .steps import Step
from .traits import Traits
from .vector_products import reduce_vector_products
from .verify import verify_rewrite
from .verify_plan import verify_plan


class Target(Protocol):
    """The executor that will run the plan, as far as the passes know it."""

    @property
    def traits(self) -> Traits:
        """The properties by which the passes choose."""

    def fuse_predicate(self, call: str) -> FusePredicate | None:
        """Return the predicate over fused library calls of this name; None if no kernel is ever fused into them."""


class Scheduled(NamedTuple):
    """The plan of a graph: the steps, and the items that the steps refer to, those of the graph first."""

    steps: tuple[Step, ...]
    items: Sequence[Item]


GraphPass: TypeAlias = Callable[[Sequence[Item], Sequence[int], Traits], Sequence[Item]]
PlanPass: TypeAlias = Callable[
    [Sequence[Step], Sequence[Item], Sequence[int], Callable[[str], FusePredicate | None]], tuple[Step, ...]
]

GRAPH_PASSES: tuple[GraphPass, ...] = (
    add_outputs,
    merge_windows,
    reduce_vector_products,  # before the epilogues: what follows is fused into a kernel
    fold_epilogues,
    batch_calls,  # after the epilogues: each belongs to a single call
    push_views,
)
# The scheduler runs between the graph passes and the plan passes.
PLAN_PASSES: tuple[PlanPass, ...] = (fuse_into_library_calls,)
# These leave a graph without library calls as it is: they are not asked to look at each of its items.
_PASSES_OF_CALLS = frozenset[object](
    (add_outputs, reduce_vector_products, fold_epilogues, batch_calls, fuse_into_library_calls)
)


def run_passes(
    items: Sequence[Item], roots: Sequence[int], target: Target, *, overwrite: bool = True, check: bool = False
) -> Scheduled:
    """Return the plan of a graph.

    Parameters
    ----------
    items, roots
        The graph, and the positions in it of the nodes to compute.
    target
        The executor that will run the plan.
    overwrite
        Whether an update may write into the memory of a leaf.
    check
        Whether to verify the output of each pass.

    Raises
    ------
    InvalidPlan
        If a pass has a defect. For a graph pass, the text begins with its name.
    """
    has_calls = LibraryCall in {type(item.signature.primitive) for item in items}
    for graph_pass in GRAPH_PASSES:
        if graph_pass in _PASSES_OF_CALLS and not has_calls:
            continue
        before, items = items, graph_pass(items, roots, target.traits)
        if check:
            verify_rewrite(graph_pass.__name__, before, items, roots)
    steps = schedule(items, roots, target.traits, overwrite)
    if check:
        verify_plan(steps, items, roots)
    for plan_pass in PLAN_PASSES:
        if plan_pass in _PASSES_OF_CALLS and not has_calls:
            continue
        previous, steps = steps, plan_pass(steps, items, roots, target.fuse_predicate)
        if check and steps != previous:
            verify_plan(steps, items, roots)
    return Scheduled(steps, items)
