"""Code generation: a `Kernel` becomes CUDA C++ text and its launches. Pure: nothing here imports CUDA."""

from __future__ import annotations

from ...core.kernel import Kernel, Reduce, Scan
from .. import table
from .collapse import collapse
from .map import emit_map
from .program import Launch, Program, Scratch
from .reduce import emit_reduce
from .rowwise import emit_rowwise, is_rowwise
from .scan import emit_scan
from .unit import Unit

__all__ = ["Launch", "Program", "Scratch", "generate"]


def generate(kernel: Kernel, processors: int) -> Program:
    unit = Unit(collapse(kernel, ordered=_ordered(kernel)))
    if not kernel.reduced:
        emit_map(unit)
    elif any(isinstance(instr, Scan) for instr in kernel.body.instrs):
        emit_scan(unit, processors)
    elif is_rowwise(unit) and 0 not in kernel.shape:  # over nothing, there is nothing to hold
        emit_rowwise(unit)
    else:
        emit_reduce(unit, processors)
    return unit.program()


def _ordered(kernel: Kernel) -> bool:
    """Whether the order of the reduced loops shows in the result: in a scan, or in the index of an extremum."""
    for instr in kernel.body.instrs:
        if isinstance(instr, Scan):
            return True
        if isinstance(instr, Reduce):
            code = table.reduction(instr.row, instr.loop)
            if "INDEX" in code.map(["x"] * len(instr.args), "INDEX"):
                return True
    return False
