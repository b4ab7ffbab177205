"""From a `Kernel` to its program."""

from __future__ import annotations

from ...core.schedule.kernel import Kernel, ReduceLoops, ScanLoop
from .collapse import collapse
from .map import emit_map
from .program import Program
from .reduce import emit_reduce
from .rowwise import emit_rowwise, is_rowwise
from .scan import emit_scan
from .unit import Unit


def generate(kernel: Kernel, processors: int) -> Program:
    """Return the CUDA program of a kernel.

    The text depends on the kernel's structure alone. The order in which values are accumulated depends on its sizes
    and `processors` alone, so that the same program gives the same bits on every run.

    Parameters
    ----------
    kernel : Kernel
        The kernel. No output may be empty.
    processors : int
        The number of multiprocessors of the device, among which work is split.

    Raises
    ------
    ValueError
        If the kernel has both a region and reduced loops, or both scans and reductions, or a row-wise pattern over rows
        too long for the registers of a block.
    """
    kinds = set(map(type, kernel.body.instructions))
    if kernel.reduced and kernel.region is not None:
        raise ValueError("a kernel with a region must have no reduced loops")
    if ScanLoop in kinds and ReduceLoops in kinds:
        raise ValueError("a kernel must not have both scans and reductions")
    unit = Unit(collapse(kernel), processors)
    if not kernel.reduced:
        emit_map(unit)
    elif ScanLoop in kinds:
        emit_scan(unit, processors)
    elif is_rowwise(unit) and 0 not in kernel.shape:  # an empty row needs no registers
        emit_rowwise(unit)
    else:
        emit_reduce(unit, processors)
    return unit.program()
