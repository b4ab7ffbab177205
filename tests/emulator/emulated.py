"""Whole programs through the emulator: the CPU device with the kernels that a GPU would run."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy

from gpunumpy.core.graph import bounded_table
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.runtime.memory import Buffer, host_view
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.core.schedule.kernel import Kernel
from gpunumpy.core.schedule.substitute import in_kernel, put_in
from gpunumpy.core.schedule.traits import Traits
from gpunumpy.core.schedule.variants import Variants
from gpunumpy.kernels.codegen.program import Program
from gpunumpy.kernels.codegen.sized import sized_interpretations, sized_programs
from gpunumpy.kernels.codegen.sized_program import SizedInterpretation, SizedProgram
from gpunumpy.kernels.cuda.tiers import with_interpreter
from gpunumpy.kernels.host.executor import HostExecutor
from gpunumpy.kernels.host.index_errors import index_errors

from .build import compile_text
from .executor import bind, run_program

# The kernels of one plan compile side by side.
_compilers = ThreadPoolExecutor(os.cpu_count() or 1)


class EmulatorExecutor(HostExecutor):
    """Runs generated CUDA on the emulated machine, and library calls as the CPU device does.

    Parameters
    ----------
    processors : int
        For how many multiprocessors to generate.
    seeds : iterator of int
        What draws the order of blocks and threads of one kernel after the other.
    interprets : bool
        Whether the interpreter runs the kernels that it can run.
    """

    traits = replace(HostExecutor.traits, recomputes_pairs=True)

    def __init__(self, processors: int, seeds: Iterator[int], interprets: bool = False) -> None:
        super().__init__(Device("cpu"))
        self.kernels = self.interpreted_kernels = 0
        self._interprets = interprets
        self._processors, self._seeds = processors, seeds
        self._programs: dict[Kernel, tuple[Variants[SizedProgram], Variants[SizedInterpretation | None]]] = {}

    def bind(self, buffer: Buffer, dtype: Any, offset: int) -> numpy.ndarray:
        """The buffer from element `offset` on; memory outside the buffer is out of a kernel's reach."""
        if not buffer.nbytes:
            return numpy.empty(0, dtype)
        memory = host_view(buffer.ptr, buffer.nbytes)
        return memory[: buffer.nbytes // dtype.itemsize * dtype.itemsize].view(dtype)[offset:]

    def prepare(
        self, structure: Kernel, has_other_sizes: bool
    ) -> Callable[[Sequence[int]], Callable[[Sequence[Any]], None]]:
        """What takes the sizes of a kernel of this structure, and returns what runs it over its bound arguments."""
        if structure not in self._programs:
            processors = self._processors
            made = sized_programs(structure, processors), sized_interpretations(structure, processors)
            self._programs[structure] = made
        programs, interpretations = self._programs[structure]
        if has_other_sizes:
            programs.expect_others()
            interpretations.expect_others()

        def prepared(sizes: Sequence[int]) -> Callable[[Sequence[Any]], None]:
            kernel = put_in(structure, in_kernel, sizes)
            interpretation, values = interpretations.find(sizes) if self._interprets else (None, ())
            if interpretation is not None:
                return self._runner(kernel, with_interpreter(interpretation.at(values)), is_interpreted=True)
            program, values = programs.find(sizes)
            return self._runner(kernel, program.at(values))

        return prepared

    def _runner(
        self, kernel: Kernel, program: Program, is_interpreted: bool = False
    ) -> Callable[[Sequence[Any]], None]:
        compiling = _compilers.submit(compile_text, program.text, tuple(one.entry for one in program.launches))

        def run(values: Sequence[Any]) -> None:
            compiling.result()
            self.kernels += 1
            self.interpreted_kernels += is_interpreted
            if source_location := run_program(program, bind(kernel, values), seed=next(self._seeds)):
                index_errors.append(("an index is out of bounds", source_location))

        return run


@contextmanager
def emulated(*, processors: int = 4, shuffled: bool = True, interprets: bool = False) -> Iterator[EmulatorExecutor]:
    """Run the kernels of the CPU device on the emulated machine.

    Parameters
    ----------
    processors : int, optional
        For how many multiprocessors to generate: few, that small arrays take several rounds too.
    shuffled : bool, optional
        Whether every kernel's blocks and threads start in an order of its own.
    interprets : bool, optional
        Whether the interpreter runs the kernels that it can run.
    """
    state = evaluate.state_of(Device("cpu"))
    evaluate.flush(state.queue)
    before = state.executor, state.planner, state.queue.alignment
    seeds = itertools.count(1) if shuffled else itertools.repeat(0)
    emulator = EmulatorExecutor(processors, seeds, interprets)
    state.executor, state.planner, state.queue.alignment = emulator, Planner(emulator), Traits().alignment
    bounded_table.forget_all()  # what is aligned on the one device may not be so on the other
    try:
        yield emulator
        evaluate.flush(state.queue)
    except BaseException:
        state.queue.pending.clear()  # what a failed test leaves would fail in every flush after it
        raise
    finally:
        state.executor, state.planner, state.queue.alignment = before
        bounded_table.forget_all()
