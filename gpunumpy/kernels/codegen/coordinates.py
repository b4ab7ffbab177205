"""Reductions over points, whose coordinates are a short loop that is not reduced: a thread has all of a point."""

from __future__ import annotations

from operator import index

from ...core.schedule.kernel import Apply, Load, LoadIndexed, LoopIndex, ReduceLoops, operands
from ...core.schedule.limits import MAX_COORDINATES
from .plan import lies_along_reduced, outer_loops
from .shape import accumulation_width, code_length
from .unit import Unit

# The code that a thread must share among the coordinates of a point where points are not in rows.
_MIN_SHARED_LENGTH = 4


def lanes_of_points(unit: Unit) -> int:
    """Return the lanes of a vector along the innermost outer loop of a kernel.

    They are the whole loop if it is short, and either whole points are neighbours in memory along the reduced loop, or
    the work of a thread is partly the same for all coordinates: the distances between points, say.
    """
    lane = outer_loops(unit) - 1
    size = unit.kernel.shape[lane]
    if 1 < size <= MAX_COORDINATES and (are_points_in_rows(unit) or _shared_length(unit) >= _MIN_SHARED_LENGTH):
        return index(size)
    return accumulation_width(unit, lane)


def are_points_in_rows(unit: Unit) -> bool:
    """Return whether points are neighbours in memory along the innermost reduced loop, if lanes are coordinates."""
    lane = outer_loops(unit) - 1
    return lane == 0 or lies_along_reduced(unit, lane - 1)


def _shared_length(unit: Unit) -> int:
    """Return the code of the operations whose results are the same for all lanes, but not all along a row."""
    lane = outer_loops(unit) - 1
    length, differs = 0, list[bool]()
    for instr, is_row_level in zip(unit.kernel.body.instructions, unit.is_row_level, strict=True):
        if isinstance(instr, (Load, LoadIndexed, LoopIndex)):
            is_moved = instr.at.coef[lane] != 0
        else:
            is_moved = isinstance(instr, ReduceLoops)
        differs.append(is_moved or any(differs[n] for n in operands(instr)))
        if isinstance(instr, Apply) and not differs[-1] and not is_row_level:
            length += code_length(instr)
    return length
