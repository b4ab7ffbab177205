"""A program for all sizes of a class: one text, and formulas for what its launches take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.schedule.sizes import Integer, NumbersOf, Size, Trace
from .program import Program, Scratch, Source


class SizedProgram:
    """A program whose grids, scratch memory and parameters are formulas of symbolic sizes.

    Attributes
    ----------
    text : str or Source
        What is compiled, for all sizes.
    entries : list of str
        The names of what is launched, in order.
    numbers : tuple of int or callable
        The grids of all launches, the bytes of scratch memory, and the parameters. If they are not the same for all
        values of the trace's symbols, ``numbers(values)`` computes them.
    runner : object, optional
        What has run the program at some sizes, where the executor can have it run at others.
    """

    def __init__(self, program: Program, trace: Trace) -> None:
        grids = [n for launch in program.launches for n in launch.grid]
        numbers = (*grids, *(s.nbytes for s in program.scratch), *program.params)
        # An interpreted kernel has hundreds of numbers.
        is_for_one = not trace.symbols or not any(isinstance(n, Size) for n in numbers)
        self._set(program, numbers if is_for_one else trace.formulas(numbers))

    def _set(self, program: Program, numbers: tuple[int, ...] | NumbersOf) -> None:
        self.text: str | Source = program.text
        self.entries = [launch.entry for launch in program.launches]
        self.runner: Any = None
        self._program = program
        self._params = 3 * len(program.launches) + len(program.scratch)  # where they are among the numbers
        self.numbers = numbers

    def kept(self) -> tuple[Program, tuple[int, ...] | NumbersOf]:
        """Return the plain data that `of_kept` makes a program like this from."""
        if isinstance(self.numbers, tuple):
            return self._program, self.numbers
        launches = tuple([launch._replace(grid=(0, 0, 0)) for launch in self._program.launches])
        scratch = tuple([Scratch(0, s.zeroed) for s in self._program.scratch])
        return self._program._replace(launches=launches, scratch=scratch, params=()), self.numbers

    @classmethod
    def of_kept(cls, kept: tuple[Program, tuple[int, ...] | NumbersOf], places: tuple[int, ...]) -> SizedProgram:
        """Return a program from what `kept` has returned, in this process or another one."""
        made = cls.__new__(cls)
        made._set(*kept)
        return made

    def at(self, values: Sequence[int]) -> Program:
        """Return the program for values of the trace's symbols."""
        if isinstance(self.numbers, tuple):
            return self._program
        numbers, program = self.numbers(values), self._program
        grids = zip(*[iter(numbers)] * 3)
        launches = [launch._replace(grid=grid) for launch, grid in zip(program.launches, grids)]
        sizes = numbers[3 * len(launches) : self._params]
        scratch = [Scratch(nbytes, s.zeroed) for nbytes, s in zip(sizes, program.scratch, strict=True)]
        return program._replace(launches=tuple(launches), scratch=tuple(scratch), params=numbers[self._params :])

    def runner_at(self, values: Sequence[int]) -> Any:
        """Return what runs the program for values of the trace's symbols, by `runner`; None where that cannot."""
        if self.runner is None:
            return None
        numbers = self.numbers if isinstance(self.numbers, tuple) else self.numbers(values)
        return self.runner.at(numbers[:3], numbers[3:])


class SizedInterpretation(SizedProgram):
    """How the interpreter runs kernels of symbolic sizes.

    `work` is how many instructions it applies to points.
    """

    def __init__(self, program: Program, work: Integer, trace: Trace) -> None:
        super().__init__(program, trace)
        self._work = trace.formulas([work])

    def work(self, values: Sequence[int]) -> int:
        """Return how many instructions it applies to points, for values of the trace's symbols."""
        return self._work(values)[0]


def kept_interpretation(sized: SizedInterpretation | None) -> Any:
    """Return the plain data that `interpretation_of_kept` makes an interpretation like this from; None stays None."""
    return sized and (*sized.kept(), sized._work)


def interpretation_of_kept(kept: Any, places: tuple[int, ...]) -> SizedInterpretation | None:
    """Return an interpretation from what `kept_interpretation` has returned, in this process or another one."""
    if kept is None:
        return None
    made = SizedInterpretation.__new__(SizedInterpretation)
    program, numbers, made._work = kept
    made._set(program, numbers)
    return made
