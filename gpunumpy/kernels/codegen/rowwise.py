"""Row-wise kernels: a value reduced over a row is used along the same row again (softmax, normalisation).

A team of threads holds a row in registers: the row is loaded once, and reduced and computed on phase by phase.
"""

from __future__ import annotations

from ...core.schedule.kernel import Body, Load, ReduceLoops, operands, phases
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
from .shape import accumulation_width, ceil_div, most_points, product
from .states import States
from .team import Team
from .unit import Unit

# Points of a row that a thread holds, and bytes that it loads for them, before a larger team is chosen. The exchange
# among its threads is the main cost of a row, so a team is as small as possible.
_POINTS_PER_THREAD = 32
_LOADED_BYTES_PER_THREAD = 128

# Points of a row that a thread can hold at most: even of one byte each they fill its registers.
_MAX_POINTS_PER_THREAD = 128

# Threads that a processor should have where a thread loads few bytes. It bounds their registers to 42 each, enough for
# this many bytes of a row.
_THREADS_PER_PROCESSOR = 1536
_FEW_LOADED_BYTES = 64


def is_rowwise(unit: Unit) -> bool:
    """Return whether a full-level value or store, or a reduction, depends on a reduction."""
    body = unit.kernel.body
    level, phase = unit.is_row_level, phases(body)
    if any(phase[store.value] and any(store.at.coef[outer_loops(unit) :]) for store in body.stores):
        return True
    return any(
        reductions > isinstance(instr, ReduceLoops) and (isinstance(instr, ReduceLoops) or not row)
        for instr, row, reductions in zip(body.instructions, level, phase, strict=True)
    )


def emit_rowwise(unit: Unit) -> None:
    """Emit a kernel that holds its rows in registers."""
    body = unit.kernel.body
    plan = rowwise_plan(unit)
    level, phase = unit.is_row_level, phases(body)
    outer = outer_loops(unit)
    reduces = [n for n, instr in enumerate(body.instructions) if isinstance(instr, ReduceLoops)]
    full = [store for store in body.stores if not level[store.value] or any(store.at.coef[outer:])]

    text = unit.entry(plan.tiles, plan.team.threads, _resident_blocks(unit, plan))
    define_block(unit, text, plan)
    define_row(unit, text, plan)
    reductions = [body.instructions[n] for n in reduces]
    reducers = [unit.reducer(instr.op, instr.loop)[0] for instr in reductions]  # type: ignore[union-attr]
    plan.team.declare_exchange(text, reducers)
    text.line("const Int base = 0;")
    text.line(f"const bool whole = {whole_condition(unit, plan)};")
    emitter = Emitter(unit, text, body, step_tile(unit, plan))
    for current in range(max(phase) + 1):
        states = States(unit, text, [n for n in reduces if phase[n] == current + 1])
        stores = [store for store in full if phase[store.value] == current]
        mapped = [arg for n in states.values for arg in states.mapped_args(n)]
        needed = [*mapped, *(store.value for store in stores)]
        keep = _values_to_keep(body, level, phase, current)
        emitter.compute_once(n for n in emitter.closure([*needed, *keep]) if level[n])
        states.declare()
        states.accumulate(emitter, keep=keep, stores=stores)
        states.combine(plan)
        emitter.states |= states.names

    row_stores = [store for store in body.stores if store not in full]
    final = Emitter(unit, text, body, Tile(index_names(unit), index_lines=("const int left = 1;",)), "f")
    final.known = {n: name for n, name in emitter.known.items() if level[n] and name.startswith("r")}
    final.states = emitter.states
    if row_stores:
        with text.block("if (member == 0 && live)"):
            final.run([], stores=row_stores)


def _values_to_keep(body: Body, level: list[bool], phase: list[int], current: int) -> list[int]:
    """Return the full-level values of phase `current`, except loads, that a later phase uses."""
    used: set[int] = set()
    for n, instr in enumerate(body.instructions):
        computed_in = phase[n] - isinstance(instr, ReduceLoops)
        used.update(arg for arg in operands(instr) if phase[arg] == current < computed_in)
    return sorted(n for n in used if not level[n] and not isinstance(body.instructions[n], Load))


def _resident_blocks(unit: Unit, plan: Plan) -> int:
    """Return how many blocks a processor must hold at once, so that one computes while another waits for memory."""
    nbytes = plan.count * plan.width * _point_bytes(unit)
    return max(1, _THREADS_PER_PROCESSOR // plan.team.threads) if nbytes <= _FEW_LOADED_BYTES else 1


def _point_bytes(unit: Unit) -> int:
    """Return the bytes that are loaded for every point of a row."""
    kernel = unit.kernel
    level = unit.is_row_level
    loads = [i for i, row in zip(kernel.body.instructions, level, strict=True) if isinstance(i, Load) and not row]
    return sum(kernel.args[load.arg].dtype.itemsize for load in loads)


def rowwise_plan(unit: Unit) -> Plan:
    """Choose the smallest team whose registers hold a row."""
    kernel = unit.kernel
    outer = outer_loops(unit)
    contiguous = is_reduced_contiguous(unit)
    rows = product(kernel.shape[:outer])
    lane = len(kernel.shape) - 1
    width = accumulation_width(unit, lane) if contiguous else 1
    steps = product(kernel.shape[outer:-1]) * ceil_div(kernel.shape[-1], width)
    loaded_points = _LOADED_BYTES_PER_THREAD // max(1, _point_bytes(unit))
    per_thread = max(1, min(_POINTS_PER_THREAD, loaded_points, most_points(kernel.body)) // width)
    if contiguous:
        size = next((size for size in (8, 32, 128, 256, 512) if steps <= size * per_thread), 1024)
        team = Team(size, max(1, 256 // size), True)
    else:
        size = next((size for size in (1, 8, 16) if steps <= size * per_thread), 32)
        team = Team(size, 256 if size == 1 else 32, False)
    count = 1
    while count * team.size < steps:
        count *= 2
    if count * width > _MAX_POINTS_PER_THREAD:
        points = product(kernel.shape[outer:])
        raise ValueError(f"a row of {points} points does not fit a block: see core/schedule/limits.py")
    return Plan(team, contiguous, lane, width, count, rows, steps)
