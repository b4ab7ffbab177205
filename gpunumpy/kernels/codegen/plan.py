"""How the loops of a kernel with reduced ones are dealt out to blocks and teams, and the lines that say so."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.schedule.kernel import Load, row_level
from .emit import Tile
from .shape import ceil_div, unravel
from .team import Team
from .unit import Text, Unit


@dataclass(frozen=True, slots=True)
class Plan:
    """Outer points in `rows` vectors, each reduced in `steps` by `splits` blocks.

    Lanes are along loop `lane`: the innermost reduced one (`near`), or the innermost outer one. A thread has `count`
    steps in flight.
    """

    team: Team
    near: bool
    lane: int | None
    width: int
    count: int
    rows: int
    steps: int
    splits: int = 1

    @property
    def tiles(self) -> int:
        """Groups of rows that a block works on."""
        return ceil_div(self.rows, self.team.rows)

    @property
    def stride(self) -> int:
        """Steps that a team makes at once."""
        return self.team.size * self.count


def outer_loops(unit: Unit) -> int:
    """The number of loops that are not reduced."""
    return len(unit.kernel.shape) - unit.kernel.reduced


def index_names(unit: Unit) -> tuple[str, ...]:
    """The names of the loop indices."""
    return tuple(f"i{d}" for d in range(len(unit.kernel.shape)))


def reduced_is_near(unit: Unit) -> bool:
    """Whether neighbours in memory lie along the innermost reduced loop instead of the innermost outer one.

    What is the same all along the innermost outer one, as a weight of every row is, has few elements and no say.
    """
    kernel = unit.kernel
    outer = outer_loops(unit)
    if outer == 0:
        return True
    votes = 0
    for instr, row in zip(kernel.body.instrs, row_level(kernel, kernel.body), strict=True):
        if isinstance(instr, Load) and not row:
            across, along = abs(instr.at.coef[outer - 1]), abs(instr.at.coef[-1])
            if across:
                votes += kernel.args[instr.arg].dtype.itemsize * (1 if 0 < along <= across else -1)
    return votes >= 0


def place_block(unit: Unit, text: Text, plan: Plan, backwards: bool = False) -> None:
    """Define ``member``, ``seat``, ``block`` (the group of rows) and ``split``, and the ``begin`` and ``end`` of it.

    Splits may be taken `backwards`, to find in the cache what an earlier launch read last.
    """
    for line in plan.team.head():
        text.line(line)
    steps = unit.param(plan.steps, "steps")
    if plan.splits == 1:
        text.line("const Int block = Int(blockIdx.x);")
        text.line(f"const Int begin = 0, end = {steps};")
        return
    splits, share = unit.param(plan.splits, "splits"), unit.param(ceil_div(plan.steps, plan.splits), "share")
    number = "Int(gridDim.x) - 1 - Int(blockIdx.x)" if backwards else "Int(blockIdx.x)"
    text.line(f"const Int number = {number};")
    text.line(f"const Int block = number / {splits};")
    text.line(f"const Int split = number - block * {splits};")
    text.line(f"const Int begin = split * {share};")
    text.line(f"const Int end = begin + {share} < {steps} ? begin + {share} : {steps};")


def place_row(unit: Unit, text: Text, plan: Plan) -> None:
    """Define ``row``, whether it is ``live``, and its outer indices. Teams without a row stand in at the last one."""
    outer = outer_loops(unit)
    names = index_names(unit)
    if plan.team.rows > 1:
        rows = unit.param(plan.rows, "rows")
        text.line(f"const Int wanted = block * {plan.team.rows} + seat;")
        text.line(f"const bool live = wanted < {rows};")
        text.line(f"const Int row = live ? wanted : {rows} - 1;")
    else:
        text.line("const bool live = true;")
        text.line("const Int row = block;")
    if plan.lane is None or plan.lane >= outer:
        lines = unravel(unit, "row", range(outer), names[:outer])
    else:
        vectors = ceil_div(unit.kernel.shape[plan.lane], plan.width)
        lines = unravel(unit, "row", range(outer), [*names[: outer - 1], "c"], vectors)
        lines.append(f"const Int i{plan.lane} = c * {plan.width};")
    for line in lines:
        text.line(line)


def step_tile(unit: Unit, plan: Plan) -> Tile:
    """The tile of `count` steps of each thread from step ``base`` on."""
    outer = outer_loops(unit)
    names = index_names(unit)
    reduced = range(outer, len(names))
    place = [f"const Int q = base + u * {plan.team.size} + member;"]
    if plan.lane is not None and plan.lane >= outer and plan.width > 1:
        place += unravel(unit, "q", reduced, [*names[outer:-1], "c"], ceil_div(unit.kernel.shape[-1], plan.width))
        place.append(f"const Int i{plan.lane} = c * {plan.width};")
    else:
        place += unravel(unit, "q", reduced, names[outer:])
    left = "1" if plan.lane is None or plan.width == 1 else f"{unit.size(plan.lane)} - i{plan.lane}"
    place.append(f"const Int left = live && q < end ? {left} : 0;")
    leap, regular = (plan.team.size - 1) * plan.width + 1, plan.near and unit.kernel.reduced == 1
    return Tile(names, plan.lane, plan.width, plan.count, tuple(place), "whole", leap=leap, regular=regular)


def whole(unit: Unit, plan: Plan) -> str:
    """The condition that every lane of the thread's tile exists."""
    terms = ["live"] if plan.team.rows > 1 else []
    terms.append(f"base + {plan.stride} <= end")
    if plan.width > 1:
        assert plan.lane is not None
        size = unit.size(plan.lane)
        if plan.lane < outer_loops(unit):
            terms.append(f"i{plan.lane} + {plan.width} <= {size}")
        elif unit.kernel.reduced > 1:
            terms.append(f"{size} % {plan.width} == 0")
        else:
            terms.append(f"(base + {plan.stride}) * {plan.width} <= {size}")
    return " && ".join(terms)
