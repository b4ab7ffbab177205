"""Programs for all sizes of a class: one text, and formulas for what its launches take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.schedule.kernel import Kernel
from ...core.schedule.sizes import Integer, Trace
from ...core.schedule.substitute import in_kernel, put_in
from ...core.schedule.variants import Variants
from .generate import generate
from .interpreted import interpreted
from .program import Launch, Program, Scratch
from .shape import product


class SizedProgram:
    """A program whose grids, scratch memory and parameters are formulas of symbolic sizes.

    Attributes
    ----------
    text : str
        What is compiled, for all sizes.
    numbers : callable
        ``numbers(values)`` computes the grids of all launches, the bytes of scratch memory, and the parameters, from
        values of the trace's symbols.
    runner : object, optional
        What has run the program at some sizes, where the executor can have it run at others.
    """

    def __init__(self, program: Program, trace: Trace) -> None:
        self.text = program.text
        self.runner: Any = None
        self._program = program
        self._params = 3 * len(program.launches) + len(program.scratch)  # where they are among the numbers
        grids = [n for launch in program.launches for n in launch.grid]
        self.numbers = trace.formulas([*grids, *(s.nbytes for s in program.scratch), *program.params])

    def at(self, values: Sequence[int]) -> Program:
        """Return the program for values of the trace's symbols."""
        numbers, program = self.numbers(values), self._program
        grids = zip(*[iter(numbers)] * 3)
        launches = [Launch(x.entry, grid, x.block, x.shared, x.is_packed) for x, grid in zip(program.launches, grids)]
        sizes = numbers[3 * len(launches) : self._params]
        scratch = [Scratch(nbytes, s.zeroed) for nbytes, s in zip(sizes, program.scratch, strict=True)]
        return Program(self.text, tuple(launches), tuple(scratch), program.flag, numbers[self._params :])


def sized_programs(structure: Kernel, processors: int) -> Variants[SizedProgram]:
    """Return the programs of all kernels of a structure, for a device of so many multiprocessors."""

    def make(trace: Trace, sizes: Sequence[Integer]) -> SizedProgram:
        return SizedProgram(generate(put_in(structure, in_kernel, sizes), processors), trace)

    return Variants(make)


class SizedInterpretation(SizedProgram):
    """How the interpreter runs kernels of symbolic sizes."""

    def __init__(self, program: Program, kernel: Kernel, trace: Trace) -> None:
        super().__init__(program, trace)
        self._work = trace.formulas([product(kernel.shape) * len(kernel.body.instructions)])

    def work(self, values: Sequence[int]) -> int:
        """Return how many instructions it applies to points, for values of the trace's symbols."""
        return self._work(values)[0]


def sized_interpretations(structure: Kernel, processors: int) -> Variants[SizedInterpretation | None]:
    """Return how the interpreter runs all kernels of a structure; None where it cannot."""

    def make(trace: Trace, sizes: Sequence[Integer]) -> SizedInterpretation | None:
        kernel = put_in(structure, in_kernel, sizes)
        program = interpreted(kernel, processors)
        return None if program is None else SizedInterpretation(program, kernel, trace)

    return Variants(make)
