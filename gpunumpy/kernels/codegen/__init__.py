"""Code generation: a `Kernel` becomes CUDA C++ text and its launches. Pure: nothing here imports CUDA."""

from __future__ import annotations

from ...core.kernel import Kernel
from .collapse import collapse
from .map import emit_map
from .program import Launch, Program, Scratch
from .unit import Unit

__all__ = ["Launch", "Program", "Scratch", "generate"]


def generate(kernel: Kernel, processors: int) -> Program:
    unit = Unit(collapse(kernel, ordered=False))
    emit_map(unit)
    return unit.program()
