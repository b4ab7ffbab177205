"""Inclusive scans along the reduced loop, with what precedes and follows them.

A team walks its row in order, a tile at a time, and carries the state of what is behind it. Rows that are few are
split among blocks: one launch finds the total of every split, a second one starts each from the totals before it.
Where neighbours in memory are of different rows, every thread has a row.
"""

from __future__ import annotations

from ...core.schedule.kernel import ScanLoop, row_level
from .emit import Emitter
from .plan import Plan, outer_loops, place_block, place_row, reduced_is_near, step_tile, whole
from .reduce import STATE_BYTES
from .shape import ceil_div, flight, pack_width, product
from .states import States
from .team import Team, near_team
from .unit import Text, Unit

# Blocks that each processor should get before rows are split no further.
_BLOCKS = 32

# Steps that a thread should have at least in a split, so that a second launch and the totals do not count.
_STEPS = 16


def emit_scan(unit: Unit, processors: int) -> None:
    """Emit a kernel with scans in it."""
    plan = _plan(unit, processors)
    scans = [n for n, instr in enumerate(unit.kernel.body.instrs) if isinstance(instr, ScanLoop)]
    totals = {n: unit.scratch(plan.rows * plan.splits * STATE_BYTES) for n in scans} if plan.splits > 1 else {}
    if totals:
        text, states, emitter = _begin(unit, plan, scans, totals, backwards=False)
        states.declare()
        with text.steps("base = begin", "end", plan.stride):
            text.line(f"const bool whole = {whole(unit, plan)};")
            states.accumulate(emitter)
        states.combine(plan)
        splits = unit.param(plan.splits, "splits")
        with text.block("if (member == 0 && live)"):
            states.each_lane(lambda n, _: f"total{n}[(long long)row * {splits} + split] = s{n}[v];")
    _emit_walk(unit, plan, scans, totals)


def _begin(
    unit: Unit, plan: Plan, scans: list[int], totals: dict[int, str], backwards: bool
) -> tuple[Text, States, Emitter]:
    """Start an entry: place its blocks and rows, and compute what is the same all along a row."""
    body = unit.kernel.body
    text = unit.entry(plan.tiles * plan.splits, plan.team.threads)
    states = States(unit, text, scans)
    place_block(unit, text, plan, backwards)
    place_row(unit, text, plan)
    for n, room in totals.items():
        state = f"{states.reducers[n]}::State"
        text.line(f"{state}* const total{n} = reinterpret_cast<{state}*>({room});")
    plan.team.room(text, list(states.reducers.values()), plan.count)
    emitter = Emitter(unit, text, body, step_tile(unit, plan))
    level = row_level(unit.kernel, body)
    emitter.once(n for n in emitter.closure(store.value for store in body.stores) if level[n])
    return text, states, emitter


def _emit_walk(unit: Unit, plan: Plan, scans: list[int], totals: dict[int, str]) -> None:
    """Emit the entry that scans and stores."""
    body, team = unit.kernel.body, plan.team
    text, states, emitter = _begin(unit, plan, scans, totals, backwards=bool(totals))
    states.declare()
    if totals:
        splits = unit.param(plan.splits, "splits")
        with text.steps("i = member", "split", team.size):
            states.each_lane(
                lambda n, reducer: f"s{n}[v] = {reducer}::combine(s{n}[v], total{n}[(long long)row * {splits} + i]);"
            )
        states.combine(plan)
    with text.steps("base = begin", "end", plan.stride):
        text.line(f"const bool whole = {whole(unit, plan)};")
        for n, reducer in states.reducers.items():
            text.line(f"Pack<{reducer}::State, {plan.width}> c{n}[{plan.count}];")

        def along_lanes() -> None:
            for n, reducer in states.reducers.items():
                instr = states.instr(n)
                code = unit.reducer(instr.op, instr.loop, scan=True)[1]
                item = code.map([emitter.known[arg] for arg in states.mapped(n)], states.position(emitter))
                text.line(f"c{n}[u].v[v] = {reducer}::identity();")
                text.line(f"if (on) c{n}[u].v[v] = {item};")
                text.line(f"if (v > 0) c{n}[u].v[v] = {reducer}::combine(c{n}[u].v[v > 0 ? v - 1 : 0], c{n}[u].v[v]);")

        emitter.run([arg for n in scans for arg in states.mapped(n)], consume=along_lanes)
        for n, reducer in states.reducers.items():
            text.line(f"{reducer}::State b{n}[{plan.count}];")
            with text.loop("u", plan.count):
                text.line(f"b{n}[u] = c{n}[u].v[{plan.width - 1}];")
            room = f"reinterpret_cast<{reducer}::State*>(room)"
            text.line(f"team_scan<{reducer}, {team.size}, {plan.count}>(b{n}, s{n}[0], {room});")
            emitter.states[n] = f"{reducer}::combine(b{n}[u], c{n}[u].v[v])"
        emitter.run([], stores=body.stores)


def _plan(unit: Unit, processors: int) -> Plan:
    kernel = unit.kernel
    rows = product(kernel.shape[: outer_loops(unit)])
    lane = len(kernel.shape) - 1
    near = reduced_is_near(unit)
    width = pack_width(unit, lane) if near else 1
    steps = ceil_div(kernel.shape[-1], width)
    team = near_team(steps) if near else Team(1, 256, False)
    count = min(4, 2 * flight(unit, lane, width))  # a tile costs two barriers
    tiles = ceil_div(rows, team.rows)
    splits = max(1, min(steps // (team.size * _STEPS), processors * _BLOCKS // tiles))
    return Plan(team, near, lane, width, count, rows, steps, splits)
