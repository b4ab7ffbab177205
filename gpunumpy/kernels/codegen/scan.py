"""Inclusive scans along the reduced loop, with what precedes and follows them.

A team walks its row in order, a tile at a time, and carries the state of all elements before the tile. Where rows are
few they are split among blocks: one launch finds the total of every split, and a second launch starts each split from
the totals before it. Where neighbours in memory belong to different rows, each thread has a row.
"""

from __future__ import annotations

from ...core.schedule.kernel import ScanLoop
from .emit import Emitter
from .plan import Plan, define_block, define_row, is_reduced_contiguous, outer_loops, step_tile, whole_condition
from .reduce import STATE_BYTES
from .shape import accumulation_width, ceil_div, product, vectors_in_flight
from .states import States
from .team import Team, adjacent_team
from .unit import Text, Unit

# Rows are split until each processor has this many blocks.
_BLOCKS_PER_PROCESSOR = 32

# Steps that each thread must have in a split, so that the cost of a second launch and of the totals is negligible.
_MIN_STEPS_PER_THREAD = 16


def emit_scan(unit: Unit, processors: int) -> None:
    """Emit a kernel with scans."""
    plan = _plan(unit, processors)
    scans = [n for n, instr in enumerate(unit.kernel.body.instructions) if isinstance(instr, ScanLoop)]
    totals = {n: unit.scratch(plan.rows * plan.splits * STATE_BYTES) for n in scans} if plan.splits > 1 else {}
    if totals:
        text, states, emitter = _begin_entry(unit, plan, scans, totals, backwards=False)
        states.declare()
        with text.rolled("base = begin", "end", plan.stride):
            text.line(f"const bool whole = {whole_condition(unit, plan)};")
            states.accumulate(emitter)
        states.combine(plan)
        splits = unit.param(plan.splits, "splits")
        with text.block("if (member == 0 && live)"):
            states.emit_per_lane(lambda n, _: f"total{n}[(long long)row * {splits} + split] = s{n}[v];")
    _emit_scan_entry(unit, plan, scans, totals)


def _begin_entry(
    unit: Unit, plan: Plan, scans: list[int], totals: dict[int, str], backwards: bool
) -> tuple[Text, States, Emitter]:
    """Start an entry: define its blocks and rows, and compute the values that are the same all along a row."""
    body = unit.kernel.body
    text = unit.entry(plan.tiles * plan.splits, plan.team.threads)
    states = States(unit, text, scans)
    define_block(unit, text, plan, backwards)
    define_row(unit, text, plan)
    for n, scratch in totals.items():
        state = f"{states.reducers[n]}::State"
        text.line(f"{state}* const total{n} = reinterpret_cast<{state}*>({scratch});")
    plan.team.declare_exchange(text, list(states.reducers.values()), plan.count)
    emitter = Emitter(unit, text, body, step_tile(unit, plan))
    level = unit.is_row_level
    emitter.compute_once(n for n in emitter.closure(store.value for store in body.stores) if level[n])
    return text, states, emitter


def _emit_scan_entry(unit: Unit, plan: Plan, scans: list[int], totals: dict[int, str]) -> None:
    """Emit the entry that scans and stores. `totals` maps a scan to its splits' totals, if there are several splits."""
    body, team = unit.kernel.body, plan.team
    text, states, emitter = _begin_entry(unit, plan, scans, totals, backwards=bool(totals))
    states.declare()
    if totals:
        splits = unit.param(plan.splits, "splits")
        with text.rolled("i = member", "split", team.size):
            states.emit_per_lane(
                lambda n, reducer: f"s{n}[v] = {reducer}::combine(s{n}[v], total{n}[(long long)row * {splits} + i]);"
            )
        states.combine(plan)
    with text.rolled("base = begin", "end", plan.stride):
        text.line(f"const bool whole = {whole_condition(unit, plan)};")
        for n, reducer in states.reducers.items():
            text.line(f"Pack<{reducer}::State, {plan.width}> c{n}[{plan.count}];")

        def scan_lanes() -> None:
            """Scan the lanes of one vector into ``c<value>``."""
            for n, reducer in states.reducers.items():
                instr = states.instr(n)
                code = unit.reducer(instr.op, instr.loop, scan=True)[1]
                item = code.map([emitter.known[arg] for arg in states.mapped_args(n)], states.position(emitter))
                text.line(f"c{n}[u].v[v] = {reducer}::identity();")
                text.line(f"if (exists) c{n}[u].v[v] = {item};")
                text.line(f"if (v > 0) c{n}[u].v[v] = {reducer}::combine(c{n}[u].v[v > 0 ? v - 1 : 0], c{n}[u].v[v]);")

        emitter.run([arg for n in scans for arg in states.mapped_args(n)], consume=scan_lanes)
        for n, reducer in states.reducers.items():
            text.line(f"{reducer}::State b{n}[{plan.count}];")
            with text.unrolled("u", plan.count):
                text.line(f"b{n}[u] = c{n}[u].v[{plan.width - 1}];")
            exchange = f"reinterpret_cast<{reducer}::State*>(exchange)"
            text.line(f"team_scan<{reducer}, {team.size}, {plan.count}>(b{n}, s{n}[0], {exchange});")
            emitter.states[n] = f"{reducer}::combine(b{n}[u], c{n}[u].v[v])"
        emitter.run([], stores=body.stores)


def _plan(unit: Unit, processors: int) -> Plan:
    """Divide the loops among teams and blocks."""
    kernel = unit.kernel
    rows = product(kernel.shape[: outer_loops(unit)])
    lane = len(kernel.shape) - 1
    contiguous = is_reduced_contiguous(unit)
    width = accumulation_width(unit, lane) if contiguous else 1
    steps = ceil_div(kernel.shape[-1], width)
    team = adjacent_team(steps) if contiguous else Team(1, 256, False)
    count = min(4, 2 * vectors_in_flight(unit, lane, width))  # a tile costs two barriers
    tiles = ceil_div(rows, team.rows)
    splits = max(1, min(steps // (team.size * _MIN_STEPS_PER_THREAD), processors * _BLOCKS_PER_PROCESSOR // tiles))
    return Plan(team, contiguous, lane, width, count, rows, steps, splits)
