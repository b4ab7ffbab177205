"""Reductions in one pass: every reduced value depends on loaded ones alone.

Lanes lie along the reduced loop, or, where that is not the one along memory, along an outer loop. Rows that are few
are split among blocks; the last block of a row to finish combines what all found, in a fixed order.
"""

from __future__ import annotations

from ...core.schedule.kernel import Apply, ReduceLoops, row_level
from .emit import Emitter, Tile
from .plan import Plan, index_names, outer_loops, place_block, place_row, reduced_is_near, step_tile, whole
from .shape import ceil_div, flight, pack_width, product
from .states import States
from .team import Team, near_team
from .unit import Text, Unit

# Blocks that each processor should get before rows are split no further.
_BLOCKS = 8

# Elements that each state takes at once where it can, and the blocks then: more is on its way to each thread, and
# states take long to combine. Along the reduced loop, and across it, where a thread has a state for every lane.
_AT_ONCE = {True: 16, False: 8}
_BLOCKS_AT_ONCE = {True: 4, False: 2}

# The operations on an element beyond which nothing is gained by having more of them at once.
_LIGHT = 6

# Vectors that a thread should have at least before a row is split.
_SHARE = 8

# Bytes to set aside for a state, whose size C alone knows: moments of complex values, the largest, take 48.
STATE_BYTES = 48


def emit_reduce(unit: Unit, processors: int) -> None:
    """Emit a kernel whose reductions are all made in one pass."""
    kernel = unit.kernel
    plan = _plan(unit, processors)
    outer = outer_loops(unit)
    level = row_level(kernel, kernel.body)
    text = unit.entry(plan.tiles * plan.splits, plan.team.threads)
    reduces = [n for n, instr in enumerate(kernel.body.instrs) if isinstance(instr, ReduceLoops)]
    states = States(unit, text, reduces, 1 if plan.near else plan.width)
    place_block(unit, text, plan)
    place_row(unit, text, plan)
    plan.team.room(text, list(states.reducers.values()))
    states.declare()

    emitter = Emitter(unit, text, kernel.body, step_tile(unit, plan))
    mapped = [arg for n in reduces for arg in states.mapped(n)]
    full = [store for store in kernel.body.stores if not level[store.value] or any(store.at.coef[outer:])]
    if plan.steps and plan.near:
        emitter.once(n for n in emitter.closure([*mapped, *(store.value for store in full)]) if level[n])
    emitter.walk(range(len(kernel.body.instrs)), ["const Int base = begin;"])
    if plan.steps:
        with text.steps("base = begin", "end", plan.stride):
            text.line(f"const bool whole = {whole(unit, plan)};")
            states.accumulate(emitter, stores=full)
        states.combine(plan)
    if plan.splits > 1:
        _finish(unit, text, plan, states)

    # What is computed once a row.
    names = index_names(unit)
    if plan.near:
        tile = Tile(names, place=("const int left = 1;",))
    else:
        tile = Tile(names, plan.lane, plan.width, 1, (), f"left >= {plan.width}")
    final = Emitter(unit, text, kernel.body, tile, "f")
    final.states = states.names
    with text.block("if (member == 0 && live)"):
        if not plan.near:
            text.line(f"const Int left = {unit.size(outer - 1)} - i{outer - 1};")
        final.run([], stores=[store for store in kernel.body.stores if store not in full])


def _plan(unit: Unit, processors: int) -> Plan:
    kernel = unit.kernel
    outer = outer_loops(unit)
    near = reduced_is_near(unit)
    if near:
        lane = len(kernel.shape) - 1
        width = pack_width(unit, lane)
        rows = product(kernel.shape[:outer])
        steps = product(kernel.shape[outer:-1]) * ceil_div(kernel.shape[-1], width)
        team = near_team(steps)
    else:
        lane = outer - 1
        width = pack_width(unit, lane)
        rows = product(kernel.shape[:lane]) * ceil_div(kernel.shape[lane], width)
        steps = product(kernel.shape[outer:])
        size = 8 if steps >= 64 else 1
        team = Team(size, 256 // size, False)
    useful = ceil_div(steps, team.size * _SHARE)
    several = _takes_several(unit)
    at_once = _AT_ONCE[near] // (width if near else 1)
    count = max(flight(unit, lane, width), at_once if several else 1)
    blocks = processors * (_BLOCKS_AT_ONCE[near] if several else _BLOCKS)
    splits = max(1, min(useful, blocks // ceil_div(rows, team.rows)))
    return Plan(team, near, lane, width, count, rows, steps, splits)


def _takes_several(unit: Unit) -> bool:
    """Whether a thread should have several elements at once, for a reduction that gains by it."""
    body = unit.kernel.body
    level = row_level(unit.kernel, body)
    work = sum(isinstance(instr, Apply) and not row for instr, row in zip(body.instrs, level, strict=True))
    reduces = [instr for instr in body.instrs if isinstance(instr, ReduceLoops)]
    return work <= _LIGHT and any(unit.reducer(instr.op, instr.loop)[1].several_template for instr in reduces)


def _finish(unit: Unit, text: Text, plan: Plan, states: States) -> None:
    """Leave the block's states for the last block of these rows, which combines them all and goes on."""
    counters = unit.scratch(4 * plan.tiles, zeroed=True)
    splits, rows = unit.param(plan.splits, "splits"), unit.param(plan.rows, "rows")

    def part(n: int, split: str) -> str:
        return f"part{n}[((long long){split} * {rows} + row) * {states.lanes} + v]"

    for n, reducer in states.reducers.items():
        room = unit.scratch(plan.rows * plan.splits * states.lanes * STATE_BYTES)
        text.line(f"{reducer}::State* const part{n} = reinterpret_cast<{reducer}::State*>({room});")
    with text.block("if (member == 0 && live)"):
        states.each_lane(lambda n, reducer: f"{part(n, 'split')} = s{n}[v];")
    text.line(f"if (!last_block(reinterpret_cast<unsigned*>({counters}) + block, {splits})) return;")
    states.reset()
    with text.steps("i = member", splits, plan.team.size):
        states.each_lane(lambda n, reducer: f"s{n}[v] = {reducer}::combine(s{n}[v], {part(n, 'i')});")
    states.combine(plan)
