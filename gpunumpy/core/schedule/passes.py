"""The passes from a recorded graph to a plan, in the order in which they run.

Graph passes rewrite the items, the scheduler makes steps of them, and plan passes rewrite the steps. Each is verified
on its own where that is asked for: then a defect is found in the pass that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from .batch import batch_calls
from .callbacks import Fuses, fuse_into_library_calls
from .epilogues import fold_epilogues
from .lower import Item
from .rewrites import add_outputs, merge_windows, push_views
from .scheduler import schedule
from .steps import Step
from .traits import Traits
from .verify import verify_rewrite
from .verify_plan import verify_plan


class Target(Protocol):
    """What the passes ask of the executor that will run the plan."""

    @property
    def traits(self) -> Traits:
        """What it is good at."""

    def fuses(self, call: str) -> Fuses | None:
        """What tells whether library calls of a name take elementwise kernels in; None if they never do."""


class Scheduled(NamedTuple):
    """What the passes make of a graph: the steps, and the items that they are for, those of the graph first."""

    steps: tuple[Step, ...]
    items: Sequence[Item]


GraphPass: TypeAlias = Callable[[Sequence[Item], Sequence[int], Traits], Sequence[Item]]
PlanPass: TypeAlias = Callable[
    [Sequence[Step], Sequence[Item], Sequence[int], Callable[[str], Fuses | None]], tuple[Step, ...]
]

GRAPH_PASSES: tuple[GraphPass, ...] = (
    add_outputs,
    merge_windows,
    fold_epilogues,
    batch_calls,  # after the epilogues, which are of the calls that they are behind
    push_views,
)
# Between them the scheduler itself runs.
PLAN_PASSES: tuple[PlanPass, ...] = (fuse_into_library_calls,)


def run_passes(
    items: Sequence[Item], roots: Sequence[int], target: Target, *, overwrite: bool = True, check: bool = False
) -> Scheduled:
    """Make a plan for a graph.

    Parameters
    ----------
    items, roots
        The graph, and the positions in it of what is to be computed.
    target
        The executor that will run the plan.
    overwrite
        Whether an update may write into the memory of a leaf.
    check
        Whether each pass is verified.

    Raises
    ------
    InvalidPlan
        If a pass has a defect; the text begins with its name.
    """
    for rewrite in GRAPH_PASSES:
        before, items = items, rewrite(items, roots, target.traits)
        if check:
            verify_rewrite(rewrite.__name__, before, items, roots)
    steps = schedule(items, roots, overwrite)
    if check:
        verify_plan(steps, items, roots)
    for change in PLAN_PASSES:
        known, steps = steps, change(steps, items, roots, target.fuses)
        if check and steps != known:
            verify_plan(steps, items, roots)
    return Scheduled(steps, items)
