"""Inclusive scans of few long rows in one pass: what is read stays in registers until all that is before it is known.

A block takes a tile of a row, publishes what the tile holds, and looks back at what the tiles before it have published
(`lookback.cuh`).
"""

from __future__ import annotations

from pathlib import Path

from ...core.kernel import Scan, row_level
from .emit import Emitter
from .plan import Plan, outer_loops, place_row, reduced_is_near, step_tile, whole
from .shape import LIGHT, ceil_div, flight, operations, pack_width, product
from .states import States
from .team import Team
from .unit import Text, Unit

# Vectors of each thread of a tile, its threads, and the blocks that a processor is to hold at once. With 16 bytes in a
# vector, that is 64 KB on their way to a processor, more than reading takes: a tile also waits for those before it.
VECTORS = 4
THREADS = 256
RESIDENT = 4

# Tiles that a row should have for several blocks to share it, and the rows of a processor that keep it busy anyway.
_TILES = 4
_ROWS = 16

# Tiles of a group, and groups of a span: the lanes of the warp that looks back.
_GROUP = 32

# What is scanned are numbers, of 16 bytes at most; a word of a letter holds 4 of them.
_WORDS = 4

_TEXT = (Path(__file__).parent / "lookback.cuh").read_text(encoding="utf-8").replace("LETTER_WORDS", str(_WORDS))


def lookback_plan(unit: Unit, processors: int) -> Plan | None:
    """How rows are cut into tiles (`splits` of each), or None where they are short, many, or not along memory."""
    kernel = unit.kernel
    rows = product(kernel.shape[: outer_loops(unit)])
    if not reduced_is_near(unit) or rows > _ROWS * processors:
        return None
    lane = len(kernel.shape) - 1
    width = pack_width(unit, lane)
    steps = ceil_div(kernel.shape[-1], width)
    count = min(VECTORS, VECTORS * flight(unit, lane, width) // 2)
    tiles = ceil_div(steps, THREADS * count)
    return Plan(Team(THREADS, 1, True), True, lane, width, count, rows, steps, tiles) if tiles >= _TILES else None


def emit_lookback(unit: Unit, plan: Plan, processors: int) -> None:
    """Emit the kernel: as many blocks as run at once, each of which takes tile after tile, in order."""
    body = unit.kernel.body
    unit.include(_TEXT)
    groups = ceil_div(plan.splits, _GROUP)
    spans = ceil_div(groups, _GROUP)
    scans = [n for n, instr in enumerate(body.instrs) if isinstance(instr, Scan)]
    letters = {n: unit.scratch(8 * _WORDS * plan.rows * (plan.splits + groups + spans), zeroed=True) for n in scans}
    counters = unit.scratch(4 * (1 + plan.rows * (groups + spans)), zeroed=True)

    total = plan.rows * plan.splits
    text = unit.entry(min(total, processors * RESIDENT), THREADS, RESIDENT if _is_small(unit) else 1)
    states = States(unit, text, scans)
    for line in plan.team.head():
        text.line(line)
    for n, name in letters.items():
        text.line(f"unsigned long long* const letters{n} = reinterpret_cast<unsigned long long*>({name});")
    plan.team.room(text, list(states.reducers.values()), plan.count)
    all_tiles, rows = unit.long(total, "all tiles"), unit.param(plan.rows, "rows")
    counts = [unit.param(n, name) for n, name in ((plan.splits, "tiles"), (groups, "groups"), (spans, "spans"))]
    text.line(f"unsigned* const tickets = reinterpret_cast<unsigned*>({counters});")
    text.line("unsigned ticket = threadIdx.x == 0 ? atomicAdd(tickets, 1u) : 0;")
    text.line(f"const unsigned last = unsigned({all_tiles}) + gridDim.x - 1;")
    text.line("Int number = hand_round(ticket, last, tickets);")
    with text.block(f"while (number < Int({all_tiles}))"):
        # The next ticket is on its way meanwhile. Rows are taken in turn, so that few tiles wait for each other.
        text.line("if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);")
        text.line(f"const Int tile = {unit.quotient('number', plan.rows, 'rows')};")
        text.line(f"const Int block = number - tile * {rows};")
        text.line(f"const Int base = tile * {plan.stride}, end = {unit.param(plan.steps, 'steps')};")
        text.line(f"const Stand at = find_stand(block, tile, {rows}, {', '.join(counts)}, tickets + 1);")
        place_row(unit, text, plan)
        _emit_tile(unit, text, plan, states)
        text.line("number = hand_round(ticket, last, tickets);")


def _is_small(unit: Unit) -> bool:
    """Whether a thread gets by with the registers that the resident blocks leave it."""
    body = unit.kernel.body
    scans = [instr for instr in body.instrs if isinstance(instr, Scan)]
    return operations(body) <= LIGHT and len(scans) == 1 and scans[0].loop[0].kind != "c"


def _emit_tile(unit: Unit, text: Text, plan: Plan, states: States) -> None:
    """Emit what is done about one tile."""
    body = unit.kernel.body
    emitter = Emitter(unit, text, body, step_tile(unit, plan))
    level = row_level(unit.kernel, body)
    emitter.once(n for n in emitter.closure(store.value for store in body.stores) if level[n])
    text.line(f"const bool whole = {whole(unit, plan)};")
    _read(text, plan, states, emitter)
    for n, reducer in states.reducers.items():
        room = f"reinterpret_cast<{reducer}::State*>(room)"
        text.line(f"row_scan<{reducer}, {THREADS}, {plan.count}>(b{n}, {room}, letters{n}, at);")
        if n != states.values[-1]:
            text.line("__syncthreads();")  # the next one uses the room too
    text.line("const unsigned arrived = threadIdx.x == 0 ? arrive(at.of_group) : 0;")
    emitter.states = {n: f"advance<{r}>(b{n}[u], {_item(states, emitter, n)})" for n, r in states.reducers.items()}
    emitter.run([], stores=body.stores)
    _clear(text, states)


def _read(text: Text, plan: Plan, states: States, emitter: Emitter) -> None:
    """Load the tile, and find the total ``b<value>[u]`` of every vector."""
    for n, reducer in states.reducers.items():
        text.line(f"{reducer}::State b{n}[{plan.count}];")

    def along_lanes() -> None:
        for n, reducer in states.reducers.items():
            text.line(f"{reducer}::State e{n} = {reducer}::identity();")
            text.line(f"if (on) e{n} = {_item(states, emitter, n)};")
            text.line(f"b{n}[u] = v > 0 ? {reducer}::combine(b{n}[u], e{n}) : e{n};")

    mapped = [arg for n in states.values for arg in states.mapped(n)]
    emitter.run(mapped, keep=mapped, consume=along_lanes)
    with text.loop("u", plan.count), text.loop("v", plan.width):
        for value in dict.fromkeys(mapped):
            if emitter.varies(value):
                text.line(f"hold({emitter.known[value]});")


def _item(states: States, emitter: Emitter, n: int) -> str:
    """The state of the one element at lane ``v`` of vector ``u``."""
    args = [emitter.known[arg] for arg in states.mapped(n)]
    return states.code(n).map(args, states.position(emitter))


def _clear(text: Text, states: States) -> None:
    """Leave zeros: the last tile of a group to have read clears its letters, and the last of a span the groups'."""
    with text.block("if (threadIdx.x < 32 && is_last(at.of_group, arrived, at.tiles))"):
        for n, reducer in states.reducers.items():
            text.line(f"clear<{reducer}>(letters{n}, at.tile - at.place, at.tiles);")
        text.line("const unsigned groups = threadIdx.x == 0 ? arrive(at.of_span) : 0;")
        with text.block("if (is_last(at.of_span, groups, at.groups))"):
            for n, reducer in states.reducers.items():
                text.line(f"clear<{reducer}>(letters{n}, at.group - at.turn, at.groups);")
                text.line(f"clear<{reducer}>(letters{n}, at.span, 1);")
