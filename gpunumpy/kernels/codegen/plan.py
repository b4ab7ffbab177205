"""How blocks and teams of threads share the loops of a kernel with reduced loops, and the C lines that state it."""

from __future__ import annotations

from ...core.late_dataclasses import dataclass
from ...core.schedule.kernel import Load
from .emit import Tile
from .shape import ceil_div, unravel
from .team import Team
from .unit import Text, Unit


@dataclass(frozen=True, slots=True)
class Plan:
    """A division of the loops: `rows` vectors of outer points, each reduced in `steps` steps by `splits` blocks.

    Attributes
    ----------
    team
        The threads that share a row.
    reduced_is_contiguous
        Whether lanes lie along the innermost reduced loop; else along the innermost outer loop.
    lane
        The loop along which the lanes of a vector lie.
    width
        Lanes of a vector.
    count
        Steps that a thread has in flight, a vector each.
    rows
        Vectors of outer points (points, where lanes lie along the reduced loop).
    steps
        Vectors of a row (points, where lanes lie along the outer loop).
    splits
        Blocks that share a row.
    """

    team: Team
    reduced_is_contiguous: bool
    lane: int | None
    width: int
    count: int
    rows: int
    steps: int
    splits: int = 1

    @property
    def tiles(self) -> int:
        """The number of groups of rows; a block works on one group."""
        return ceil_div(self.rows, self.team.rows)

    @property
    def stride(self) -> int:
        """The number of steps that a team makes at once."""
        return self.team.size * self.count


def outer_loops(unit: Unit) -> int:
    """Return the number of loops that are not reduced."""
    return len(unit.kernel.shape) - unit.kernel.reduced


def index_names(unit: Unit) -> tuple[str, ...]:
    """Return the C names of the loop indices."""
    return tuple(f"i{d}" for d in range(len(unit.kernel.shape)))


def is_reduced_contiguous(unit: Unit) -> bool:
    """Return whether neighbours in memory lie along the innermost reduced loop, instead of the innermost outer loop.

    Each load votes with the bytes of its element. A load that is the same all along the innermost outer loop, as a
    weight of every row is, has few elements and no vote.
    """
    outer = outer_loops(unit)
    return outer == 0 or lies_along_reduced(unit, outer - 1)


def lies_along_reduced(unit: Unit, loop: int) -> bool:
    """Return whether neighbours in memory lie along the innermost reduced loop, instead of along an outer loop."""
    votes = 0
    for instr, row in zip(unit.kernel.body.instructions, unit.is_row_level, strict=True):
        if isinstance(instr, Load) and not row:
            across, along = abs(instr.at.coef[loop]), abs(instr.at.coef[-1])
            if across:
                votes += unit.kernel.args[instr.arg].dtype.itemsize * (1 if 0 < along <= across else -1)
    return votes >= 0


def define_block(unit: Unit, text: Text, plan: Plan, backwards: bool = False) -> None:
    """Define ``member``, ``team``, ``block`` (the group of rows), ``split``, and the split's ``begin`` and ``end``.

    `backwards` numbers the blocks from the last: the cache still holds what an earlier launch read last.
    """
    for line in plan.team.index_lines():
        text.line(line)
    steps = unit.param(plan.steps, "steps")
    if plan.splits == 1:
        text.line("const Int block = Int(blockIdx.x);")
        text.line(f"const Int begin = 0, end = {steps};")
        return
    splits, share = unit.param(plan.splits, "splits"), unit.param(ceil_div(plan.steps, plan.splits), "split steps")
    number = "Int(gridDim.x) - 1 - Int(blockIdx.x)" if backwards else "Int(blockIdx.x)"
    text.line(f"const Int number = {number};")
    text.line(f"const Int block = number / {splits};")
    text.line(f"const Int split = number - block * {splits};")
    text.line(f"const Int begin = split * {share};")
    text.line(f"const Int end = begin + {share} < {steps} ? begin + {share} : {steps};")


def define_row(unit: Unit, text: Text, plan: Plan) -> None:
    """Define ``row``, whether it is ``live``, and its outer indices. A team without a row repeats the last row."""
    outer = outer_loops(unit)
    names = index_names(unit)
    if plan.team.rows > 1:
        rows = unit.param(plan.rows, "rows")
        text.line(f"const Int team_row = block * {plan.team.rows} + team;")
        text.line(f"const bool live = team_row < {rows};")
        text.line(f"const Int row = live ? team_row : {rows} - 1;")
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
    """Return the tile of `plan.count` steps of each thread, from step ``base`` on."""
    outer = outer_loops(unit)
    names = index_names(unit)
    reduced = range(outer, len(names))
    lines = [f"const Int q = base + u * {plan.team.size} + member;"]
    if plan.lane is not None and plan.lane >= outer and plan.width > 1:
        lines += unravel(unit, "q", reduced, [*names[outer:-1], "c"], ceil_div(unit.kernel.shape[-1], plan.width))
        lines.append(f"const Int i{plan.lane} = c * {plan.width};")
    else:
        lines += unravel(unit, "q", reduced, names[outer:])
    left = "1" if plan.lane is None or plan.width == 1 else f"{unit.size(plan.lane)} - i{plan.lane}"
    lines.append(f"const Int left = live && q < end ? {left} : 0;")
    leap, leaps_always = (plan.team.size - 1) * plan.width + 1, plan.reduced_is_contiguous and unit.kernel.reduced == 1
    return Tile(names, plan.lane, plan.width, plan.count, tuple(lines), "whole", leap=leap, leaps_always=leaps_always)


def whole_condition(unit: Unit, plan: Plan) -> str:
    """Return the C condition that every lane of the thread's tile exists."""
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
