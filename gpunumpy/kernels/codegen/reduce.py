"""Reductions in one pass: no reduction depends on another reduction's result.

Lanes lie along the innermost reduced loop, or along the innermost outer loop where that one is contiguous in memory. A
short one, over the coordinates of points, may be one vector.
Where rows are few they are split among blocks; the last block to finish a row combines the partial states in a fixed
order.
"""

from __future__ import annotations

from ...core.schedule.kernel import Apply, ReduceLoops
from .coordinates import are_points_in_rows, lanes_of_points
from .emit import Emitter, Tile
from .plan import (
    Plan,
    define_block,
    define_row,
    index_names,
    is_reduced_contiguous,
    outer_loops,
    step_tile,
    whole_condition,
)
from .shape import accumulation_width, ceil_div, product, vectors_in_flight
from .states import States
from .team import Team, adjacent_team
from .unit import Text, Unit

# Rows are split until each processor has this many blocks.
_BLOCKS_PER_PROCESSOR = 8

# The same where reductions accumulate arrays of elements, and the length of the arrays: a thread then has more bytes in
# flight, and such states take long to combine, so fewer blocks are better. The key says whether lanes lie along the
# reduced loop; where they do not, a thread has a state for every lane.
_ARRAY_LENGTH = {True: 16, False: 8}
_BLOCKS_PER_PROCESSOR_OF_ARRAYS = {True: 4, False: 2}

# Operations on an element beyond which arrays of elements gain nothing.
_MAX_ARRAY_OPERATIONS = 6

# Threads of a block, and the steps of a row from which on threads share it where rows are neighbours in memory.
_THREADS, _MIN_SHARED_STEPS = 256, 64

# Vectors that each thread must have left when a row is split.
_MIN_VECTORS_PER_THREAD = 8

# Bytes of scratch memory for a state, whose exact size only C knows: the largest, moments of complex values, take 48.
STATE_BYTES = 48


def emit_reduce(unit: Unit, processors: int) -> None:
    """Emit a kernel whose reductions are all computed in one pass."""
    kernel = unit.kernel
    plan = reduce_plan(unit, processors)
    outer = outer_loops(unit)
    level = unit.is_row_level
    text = unit.entry(plan.tiles * plan.splits, plan.team.threads)
    reduces = [n for n, instr in enumerate(kernel.body.instructions) if isinstance(instr, ReduceLoops)]
    states = States(unit, text, reduces, 1 if plan.reduced_is_contiguous else plan.width)
    define_block(unit, text, plan)
    define_row(unit, text, plan)
    plan.team.declare_exchange(text, list(states.reducers.values()))
    states.declare()

    emitter = Emitter(unit, text, kernel.body, step_tile(unit, plan))
    mapped = [arg for n in reduces for arg in states.mapped_args(n)]
    full = [store for store in kernel.body.stores if not level[store.value] or any(store.at.coef[outer:])]
    if plan.steps:
        needed = emitter.closure([*mapped, *(store.value for store in full)])
        emitter.compute_once(n for n in needed if level[n] and not emitter.varies(n))
    emitter.declare_streams(range(len(kernel.body.instructions)), ["const Int base = begin;"])
    if plan.steps:
        with text.rolled("base = begin", "end", plan.stride):
            text.line(f"const bool whole = {whole_condition(unit, plan)};")
            states.accumulate(emitter, stores=full)
        states.combine(plan)
    if plan.splits > 1:
        _combine_splits(unit, text, plan, states)

    # Values and stores that are computed once a row.
    names = index_names(unit)
    if plan.reduced_is_contiguous:
        tile = Tile(names, index_lines=("const int left = 1;",))
    else:
        tile = Tile(names, plan.lane, plan.width, 1, (), f"left >= {plan.width}")
    final = Emitter(unit, text, kernel.body, tile, "f")
    final.states = states.names
    with text.block("if (member == 0 && live)"):
        if not plan.reduced_is_contiguous:
            text.line(f"const Int left = {unit.size(outer - 1)} - i{outer - 1};")
        final.run([], stores=[store for store in kernel.body.stores if store not in full])


def reduce_plan(unit: Unit, processors: int) -> Plan:
    """Divide the loops among teams and blocks."""
    kernel = unit.kernel
    outer = outer_loops(unit)
    contiguous = is_reduced_contiguous(unit)
    if contiguous:
        lane = len(kernel.shape) - 1
        width = accumulation_width(unit, lane)
        rows = product(kernel.shape[:outer])
        steps = product(kernel.shape[outer:-1]) * ceil_div(kernel.shape[-1], width)
        team = adjacent_team(steps)
    else:
        lane = outer - 1
        width = lanes_of_points(unit)
        rows = product(kernel.shape[:lane]) * ceil_div(kernel.shape[lane], width)
        steps = product(kernel.shape[outer:])
        team = _team_of_columns(unit, width, rows, steps)
    useful_splits = ceil_div(steps, team.size * _MIN_VECTORS_PER_THREAD)
    arrays = _accumulates_arrays(unit)
    array_vectors = _ARRAY_LENGTH[contiguous] // (width if contiguous else 1)
    count = max(vectors_in_flight(unit, lane, width), array_vectors if arrays else 1)
    blocks = processors * (_BLOCKS_PER_PROCESSOR_OF_ARRAYS[contiguous] if arrays else _BLOCKS_PER_PROCESSOR)
    splits = max(1, min(useful_splits, blocks // ceil_div(rows, team.rows)))
    return Plan(team, contiguous, lane, width, count, rows, steps, splits)


def _team_of_columns(unit: Unit, width: int, rows: int, steps: int) -> Team:
    """Return the team of threads for rows that are neighbours in memory, or parts of such rows."""
    if width == unit.kernel.shape[outer_loops(unit) - 1] and are_points_in_rows(unit):
        return adjacent_team(steps)
    if steps < _MIN_SHARED_STEPS:
        return Team(1, _THREADS, False)
    size = 8
    while size < 32 and 2 * size * rows <= _THREADS:  # fewer rows than that would leave threads idle
        size *= 2
    return Team(size, _THREADS // size, False)


def _accumulates_arrays(unit: Unit) -> bool:
    """Return whether a reduction should accumulate arrays of elements: it can, and the work on an element is light."""
    body = unit.kernel.body
    level = unit.is_row_level
    work = sum(isinstance(instr, Apply) and not row for instr, row in zip(body.instructions, level, strict=True))
    reduces = [instr for instr in body.instructions if isinstance(instr, ReduceLoops)]
    return work <= _MAX_ARRAY_OPERATIONS and any(
        unit.reducer(instr.op, instr.loop)[1].accumulate_many_template for instr in reduces
    )


def _combine_splits(unit: Unit, text: Text, plan: Plan, states: States) -> None:
    """Write this block's partial states; the last block to finish these rows combines them all and continues."""
    counters = unit.scratch(4 * plan.tiles, zeroed=True)
    splits, rows = unit.param(plan.splits, "splits"), unit.param(plan.rows, "rows")

    def partial(n: int, split: str) -> str:
        return f"partial{n}[((long long){split} * {rows} + row) * {states.lanes} + v]"

    for n, reducer in states.reducers.items():
        scratch = unit.scratch(plan.rows * plan.splits * states.lanes * STATE_BYTES)
        text.line(f"{reducer}::State* const partial{n} = reinterpret_cast<{reducer}::State*>({scratch});")
    with text.block("if (member == 0 && live)"):
        states.emit_per_lane(lambda n, reducer: f"{partial(n, 'split')} = s{n}[v];")
    text.line(f"if (!last_block(reinterpret_cast<unsigned*>({counters}) + block, {splits})) return;")
    states.reset()
    with text.rolled("i = member", splits, plan.team.size):
        states.emit_per_lane(lambda n, reducer: f"s{n}[v] = {reducer}::combine(s{n}[v], {partial(n, 'i')});")
    states.combine(plan)
