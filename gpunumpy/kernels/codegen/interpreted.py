"""Kernels as data: the programs by which the interpreter runs kernels that are not compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...core.late_dataclasses import dataclass
from ...core.schedule.kernel import Body, Kernel, ReduceLoops, phases
from . import op_code
from .collapse import bodies, collapse
from .interpreter import POINTS, THREADS
from .plan import Plan, outer_loops
from .program import Program, Scratch
from .reduce import reduce_plan
from .rowwise import is_rowwise, rowwise_plan
from .shape import ceil_div, product
from .states import MIN_ARRAY_LENGTH
from .unit import Unit
from .words import Accumulated, CannotInterpret, Words, most_needed_first, reduction_of

# A tile has a word of bits that say which of its elements exist.
_MAX_TILE = 64


def interpreted(kernel: Kernel, processors: int) -> Program | None:
    """Return the program by which the interpreter runs a kernel, without the interpreter's text; None if it cannot.

    It takes the arguments of the kernel as the compiled program does, and gives the same bits. It cannot scan, compute
    with low-precision floats, draw random numbers, or run a body that is too long.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with the sizes that it runs with.
    processors : int
        The number of multiprocessors of the device. The order in which values are accumulated follows it, as in
        `generate`.
    """
    if 0 in kernel.shape:
        return None
    kernel = collapse(kernel)
    try:
        return _reducing(kernel, processors) if kernel.reduced else _elementwise(kernel)
    except CannotInterpret:
        return None


@dataclass(frozen=True, slots=True)
class _Rows:
    """How rows are divided among blocks, and among the members of teams; see interpreter.cuh.

    Attributes
    ----------
    count
        The rows.
    team, teams
        The members that share a row, and the rows of a block.
    is_adjacent
        Whether the members of a team are neighbours in memory.
    width
        The elements of the last loop that a member takes in a step.
    steps
        The steps of a row.
    splits, share
        The blocks that share a row, and the steps of each of them.
    tile
        The elements that a member accumulates as one array.
    """

    count: int
    team: int
    teams: int
    is_adjacent: bool
    width: int
    steps: int
    splits: int
    share: int
    tile: int = 1

    @property
    def groups(self) -> int:
        """The number of blocks, if one took whole rows."""
        return ceil_div(self.count, self.teams)


class _Section(NamedTuple):
    """The numbers of instructions, the first and the one behind the last, and likewise of reductions."""

    instructions: tuple[int, int]
    reductions: tuple[int, int] = (0, 0)


def _elementwise(kernel: Kernel) -> Program:
    """Return the program of an elementwise kernel: one row of all points, which the blocks share."""
    try:
        return _elementwise_in_order(kernel, lambda body: None)
    except CannotInterpret:  # there is no room for what is alive at once in the order of the body
        return _elementwise_in_order(kernel, most_needed_first)


def _elementwise_in_order(kernel: Kernel, order: Callable[[Body], Sequence[int] | None]) -> Program:
    words = Words(kernel)
    region = 0 if kernel.region is None else words.add(*(n for bounds in kernel.region for n in bounds))
    ends = [words.encode(body, body.stores, order=order(body)) for body in bodies(kernel)]
    points, share = product(kernel.shape), THREADS * POINTS
    rows = _Rows(1, THREADS, 1, True, 1, points, ceil_div(points, share), share)
    return _program(words, kernel, rows, [], 0, [_Section(ends[0])], (0, 0), (region, ends[-1]))


def _reducing(kernel: Kernel, processors: int) -> Program:
    """Return the program of a kernel with reduced loops: passes over the rows, and what comes once a row."""
    unit = Unit(kernel)
    body, outer, level, phase = kernel.body, outer_loops(unit), unit.is_row_level, phases(kernel.body)
    reduces = [n for n, instr in enumerate(body.instructions) if isinstance(instr, ReduceLoops)]
    if not reduces:
        raise CannotInterpret
    reduces.sort(key=phase.__getitem__)
    full = [store for store in body.stores if not level[store.value] or any(store.at.coef[outer:])]
    passes = max([phase[n] for n in reduces] + [1 + phase[store.value] for store in full])
    if any(kernel.args[store.arg].alias >= 0 and phase[store.value] < passes - 1 for store in full):
        raise CannotInterpret  # a later pass would load what was overwritten

    reductions = [reduction_of(kernel, n) for n in reduces]
    cells = max(reduction.cells for reduction in reductions)
    plan, length = _plan(unit, processors)
    teams = max(1, THREADS // plan.team.size)
    rows = _Rows(
        count=product(kernel.shape[:outer]),
        team=plan.team.size,
        teams=teams,
        is_adjacent=plan.team.adjacent,
        width=plan.width if plan.reduced_is_contiguous else 1,
        steps=plan.steps,
        splits=plan.splits,
        share=ceil_div(plan.steps, plan.splits),
        tile=length if any(reduction.takes_arrays for reduction in reductions) else 1,
    )
    if rows.tile > _MAX_TILE:
        raise CannotInterpret
    partial = Scratch(len(reduces) * rows.count * rows.splits * cells * 8)
    scratch = [partial, Scratch(4 * rows.groups, zeroed=True)] if rows.splits > 1 else []
    words = Words(kernel, scratch, {n: state for state, n in enumerate(reduces)})
    sections = []
    for number in range(passes):
        states = [state for state, n in enumerate(reduces) if phase[n] == number + 1]
        accumulated = [_accumulated(kernel, reduces[state], length) for state in states]
        stores = [store for store in full if phase[store.value] == number]
        first = states[0] if states else len(reduces)
        sections.append(_Section(words.encode(body, stores, accumulated), (first, first + len(states))))
    last = words.encode(body, [store for store in body.stores if store not in full])
    return _program(words, kernel, rows, [reduction.reducer for reduction in reductions], cells, sections, last)


def _plan(unit: Unit, processors: int) -> tuple[Plan, int]:
    """Return how the generated kernel divides its loops, and how many elements its threads have in an array, or 1."""
    if is_rowwise(unit):
        plan, lanes = rowwise_plan(unit), 1
    else:
        plan = reduce_plan(unit, processors)
        lanes = 1 if plan.reduced_is_contiguous else plan.width
    length = plan.count * plan.width // lanes
    return plan, length if length >= MIN_ARRAY_LENGTH else 1


def _accumulated(kernel: Kernel, value: int, length: int) -> Accumulated:
    instr = kernel.body.instructions[value]
    assert isinstance(instr, ReduceLoops)
    code = op_code.reduction(instr.op, instr.loop)
    return Accumulated(instr.args[0], value, length if code.accumulate_many_template else 1)


def _program(
    words: Words,
    kernel: Kernel,
    rows: _Rows,
    reductions: Sequence[int],
    cells: int,
    sections: Sequence[_Section],
    last: tuple[int, int],
    outside: tuple[int, tuple[int, int]] = (0, (0, 0)),
) -> Program:
    """Return the program of encoded sections, and of what comes once a row.

    Parameters
    ----------
    reductions
        The numbers of the reductions.
    cells
        The cells of each of their states.
    outside
        The word of the region's bounds, and the instructions outside of it.
    """
    sizes, numbers = words.add(*kernel.shape), words.add(*reductions)
    # The instructions come behind all other words, of which those of the sections are the last.
    code = words.first_instruction + 4 * len(sections)

    def place(instructions: tuple[int, int]) -> tuple[int, int]:
        return code + instructions[0], code + instructions[1]

    passes = words.add(*(n for s in sections for n in (*place(s.instructions), *(numbers + r for r in s.reductions))))
    head = [
        *(len(kernel.shape), len(kernel.shape) - kernel.reduced if kernel.reduced else 0, sizes),
        *(rows.count, rows.team, rows.teams, int(rows.is_adjacent)),
        *(rows.width.bit_length() - 1, ceil_div(kernel.shape[-1], rows.width) if kernel.shape else 1, rows.steps),
        *(rows.splits, rows.share, rows.tile),
        *(passes, passes + 4 * len(sections), *place(last)),
        *(outside[0], *place(outside[1])),
        *(words.first_state, words.first_scratch, words.first_scratch + 1, cells),
    ]
    return words.program(rows.groups * rows.splits, len(reductions) * rows.team * rows.teams * cells, head)
