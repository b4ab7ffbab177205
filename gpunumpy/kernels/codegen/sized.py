"""Programs of kernels for all sizes of a class."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...core.schedule.kernel import Kernel
from ...core.schedule.sizes import Integer, Trace
from ...core.schedule.substitute import in_kernel, put_in
from ...core.schedule.variants import Variants
from .generate import generate
from .interpreted import interpreted
from .shape import product
from .sized_program import SizedInterpretation, SizedProgram


def sized_programs(structure: Kernel, processors: int) -> Variants[SizedProgram]:
    """Return the programs of all kernels of a structure, for a device of so many multiprocessors."""
    return Variants(partial(sized_program, structure, processors))


def sized_program(structure: Kernel, processors: int, trace: Trace, sizes: Sequence[Integer]) -> SizedProgram:
    """Return a program of the kernels of a structure that have these sizes."""
    return SizedProgram(generate(put_in(structure, in_kernel, sizes), processors), trace)


def sized_interpretations(structure: Kernel, processors: int) -> Variants[SizedInterpretation | None]:
    """Return how the interpreter runs all kernels of a structure; None where it cannot."""
    return Variants(partial(sized_interpretation, structure, processors))


def sized_interpretation(
    structure: Kernel, processors: int, trace: Trace, sizes: Sequence[Integer]
) -> SizedInterpretation | None:
    """Return how the interpreter runs the kernels of a structure that have these sizes; None if it cannot."""
    kernel = put_in(structure, in_kernel, sizes)
    program = interpreted(kernel, processors)
    work = product(kernel.shape) * len(kernel.body.instructions)
    return None if program is None else SizedInterpretation(program, work, trace)
