"""Code generation: a `Kernel` becomes CUDA C++ text and its launches. Pure: nothing here imports CUDA."""

from __future__ import annotations

from ...core.schedule.kernel import Kernel, ReduceLoops, ScanLoop
from . import op_code
from .collapse import collapse
from .map import emit_map
from .program import Launch, Program, Scratch
from .reduce import emit_reduce
from .rowwise import emit_rowwise, is_rowwise
from .scan import emit_scan
from .unit import Unit

__all__ = ["Launch", "Program", "Scratch", "generate"]


def generate(kernel: Kernel, processors: int) -> Program:
    """Return the CUDA program of a kernel.

    The text depends on the kernel's structure alone; the order in which values are accumulated on its sizes and
    `processors`, and on nothing else, so that the same program gives the same bits on every run.

    Parameters
    ----------
    kernel : Kernel
        What to compute. No output may be empty.
    processors : int
        The number of multiprocessors of the device, by which work is split.

    Raises
    ------
    ValueError
        If the kernel has a region and reduced loops, or scans and reductions, or rows that are too long to be held.
    """
    scans = any(isinstance(instr, ScanLoop) for instr in kernel.body.instrs)
    if kernel.reduced and kernel.region is not None:
        raise ValueError("a kernel with a region must have no reduced loops")
    if scans and any(isinstance(instr, ReduceLoops) for instr in kernel.body.instrs):
        raise ValueError("a kernel must not have both scans and reductions")
    unit = Unit(collapse(kernel, ordered=_ordered(kernel)))
    if not kernel.reduced:
        emit_map(unit)
    elif scans:
        emit_scan(unit, processors)
    elif is_rowwise(unit) and 0 not in kernel.shape:  # over nothing, there is nothing to hold
        emit_rowwise(unit)
    else:
        emit_reduce(unit, processors)
    return unit.program()


def _ordered(kernel: Kernel) -> bool:
    """Whether the order of the reduced loops shows in the result: in a scan, or in the index of an extremum."""
    for instr in kernel.body.instrs:
        if isinstance(instr, ScanLoop):
            return True
        if isinstance(instr, ReduceLoops):
            code = op_code.reduction(instr.op, instr.loop)
            if "INDEX" in code.map(["x"] * len(instr.args), "INDEX"):
                return True
    return False
