"""Row-wise kernels: what is reduced over a row is used along it again (softmax, normalisation).

A team of threads holds a row in registers: it is loaded once, reduced, and worked on phase by phase.
"""

from __future__ import annotations

from ...core.schedule.kernel import Body, Load, ReduceLoops, Store, row_level
from .emit import Emitter, Tile, operands
from .plan import Plan, index_names, outer_loops, place_block, place_row, reduced_is_near, step_tile, whole
from .shape import ceil_div, pack_width, product
from .states import States
from .team import Team
from .unit import Unit

# Items of a row that a thread holds before the team is made larger, and the bytes that it loads for them. What threads
# do together is the price of a row, so they are few.
_HELD = 32
_HELD_LOADS = 128

# Items beyond which no row can be meant to be held: at one byte each they would still fill the registers.
_MOST_HELD = 128

# Threads that a processor should have, which bounds their registers to 42 each: enough for so many bytes of a row.
_RESIDENT = 1536
_FEW_BYTES = 64


def phases(body: Body) -> list[int]:
    """For every value, how many reductions one after the other it waits for."""
    out: list[int] = []
    for n, instr in enumerate(body.instrs):
        before = max((out[arg] for arg in operands(body, n, {})), default=0)
        out.append(before + isinstance(instr, ReduceLoops))
    return out


def is_rowwise(unit: Unit) -> bool:
    """Whether a full-level value or store, or a reduction, depends on a reduction."""
    body = unit.kernel.body
    level, phase = row_level(unit.kernel, body), phases(body)
    if any(phase[store.value] and any(store.at.coef[outer_loops(unit) :]) for store in body.stores):
        return True
    return any(
        waits > isinstance(instr, ReduceLoops) and (isinstance(instr, ReduceLoops) or not row)
        for instr, row, waits in zip(body.instrs, level, phase, strict=True)
    )


def emit_rowwise(unit: Unit) -> None:
    """Emit a kernel that holds its rows in registers."""
    kernel, body = unit.kernel, unit.kernel.body
    plan = _plan(unit)
    level, phase = row_level(kernel, body), phases(body)
    outer = outer_loops(unit)
    reduces = [n for n, instr in enumerate(body.instrs) if isinstance(instr, ReduceLoops)]
    full = [store for store in body.stores if not level[store.value] or any(store.at.coef[outer:])]

    text = unit.entry(plan.tiles, plan.team.threads, _resident(unit, plan))
    place_block(unit, text, plan)
    place_row(unit, text, plan)
    plan.team.room(text, [unit.reducer(body.instrs[n].op, body.instrs[n].loop)[0] for n in reduces])  # type: ignore[union-attr]
    text.line("const Int base = 0;")
    text.line(f"const bool whole = {whole(unit, plan)};")
    emitter = Emitter(unit, text, body, step_tile(unit, plan))
    for now in range(max(phase) + 1):
        states = States(unit, text, [n for n in reduces if phase[n] == now + 1])
        stores = [store for store in full if phase[store.value] == now]
        mapped = [arg for n in states.values for arg in states.mapped(n)]
        needed = [*mapped, *(store.value for store in stores)]
        keep = _kept(body, level, phase, now, full)
        emitter.once(n for n in emitter.closure([*needed, *keep]) if level[n])
        states.declare()
        states.accumulate(emitter, keep=keep, stores=stores)
        states.combine(plan)
        emitter.states |= states.names

    rows = [store for store in body.stores if store not in full]
    final = Emitter(unit, text, body, Tile(index_names(unit), place=("const int left = 1;",)), "f")
    final.known = {n: name for n, name in emitter.known.items() if level[n] and name.startswith("r")}
    final.states = emitter.states
    if rows:
        with text.block("if (member == 0 && live)"):
            final.run([], stores=rows)


def _kept(body: Body, level: list[bool], phase: list[int], now: int, stores: list[Store]) -> list[int]:
    """The full-level values of phase `now`, loads aside, that a later phase uses."""
    used: set[int] = set()
    for n, instr in enumerate(body.instrs):
        wait = phase[n] - isinstance(instr, ReduceLoops)
        used.update(arg for arg in operands(body, n, {}) if phase[arg] == now < wait)
    return sorted(n for n in used if not level[n] and not isinstance(body.instrs[n], Load))


def _resident(unit: Unit, plan: Plan) -> int:
    """How many blocks must fit a processor at once: one waits for memory while another computes."""
    held = plan.count * plan.width * _point_bytes(unit)
    return max(1, _RESIDENT // plan.team.threads) if held <= _FEW_BYTES else 1


def _point_bytes(unit: Unit) -> int:
    """The bytes that are loaded for every point of a row."""
    kernel = unit.kernel
    level = row_level(kernel, kernel.body)
    loads = [i for i, row in zip(kernel.body.instrs, level, strict=True) if isinstance(i, Load) and not row]
    return sum(kernel.args[load.arg].dtype.itemsize for load in loads)


def _plan(unit: Unit) -> Plan:
    kernel = unit.kernel
    outer = outer_loops(unit)
    near = reduced_is_near(unit)
    rows = product(kernel.shape[:outer])
    lane = len(kernel.shape) - 1
    width = pack_width(unit, lane) if near else 1
    steps = product(kernel.shape[outer:-1]) * ceil_div(kernel.shape[-1], width)
    held = max(1, min(_HELD, _HELD_LOADS // max(1, _point_bytes(unit))) // width)
    if near:
        size = next((size for size in (8, 32, 128, 256, 512) if steps <= size * held), 1024)
        team = Team(size, max(1, 256 // size), True)
    else:
        size = next((size for size in (1, 8, 16) if steps <= size * held), 32)
        team = Team(size, 256 if size == 1 else 32, False)
    count = 1
    while count * team.size < steps:
        count *= 2
    if count * width > _MOST_HELD:
        raise ValueError(f"a row of {product(kernel.shape[outer:])} points does not fit a block: see core/limits.py")
    return Plan(team, near, lane, width, count, rows, steps)
