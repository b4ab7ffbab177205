"""The tiers of a kernel on a GPU: interpreted at once, compiled beside the program, and then launched as compiled.

Both tiers give the same bits, so nothing but the time tells which one ran. A kernel that is found compiled, in memory,
on disk or in the package, is never interpreted; one that the interpreter cannot run waits for the compiler.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...core.errors import allowed
from ...core.graph.bounded_table import BoundedTable
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ...core.schedule.kernel import Kernel
from ...core.schedule.substitute import in_kernel, put_in
from ..codegen.interpreter import interpreted
from ..codegen.interpreter import text as interpreter_text
from ..codegen.program import Program
from ..codegen.shape import product
from ..codegen.sized import sized_programs
from .compile import compile_beside, contraction, find_program, load_program
from .kernel import launcher

TIERS = ("auto", "compiled", "interpreted")
# "compiled" waits for the compiler, "interpreted" does not compile what can be interpreted.
TIER = os.environ.get("GPUNUMPY_TIER", "auto")
if TIER not in TIERS:
    raise ValueError(f"GPUNUMPY_TIER={TIER!r}; {allowed(TIERS)}")

# A kernel is compiled once it has run so often, or has applied so many instructions to points: on an H200 that many
# take the interpreter 1 to 2 ms, and the compiler takes some 100 ms of a processor for a kernel.
_RUNS = 32
_INSTRUCTIONS = 1 << 30
# A process that meets so many kernels which nobody compiled has the interpreter compiled, if it is not there either.
_KERNELS_BEFORE_INTERPRETER = 8
_SIZES_KEPT = 16  # of a structure


class _Structure:
    """The kernels of one structure: programs that serve many sizes each, and what runs those of the last sizes."""

    __slots__ = ("kernel", "programs", "runners")

    def __init__(self, kernel: Kernel, multiprocessors: int) -> None:
        self.kernel = kernel
        self.programs = sized_programs(kernel, multiprocessors)
        self.runners: dict[tuple[int, ...], Runner] = {}


@dataclass(frozen=True, slots=True)
class KernelAt:
    """A kernel of a structure at some sizes, whose preparation has begun. Equal ones share what runs them."""

    kernels: CudaKernels
    structure: _Structure
    sizes: tuple[int, ...]

    def __call__(self) -> Runner:
        """Return what runs the kernel over its bound arguments; its program may still have to be loaded."""
        return self.structure.runners.get(self.sizes) or self.kernels.runner(self.structure, self.sizes)

    def keep(self, runner: Runner) -> None:
        """Keep what runs the kernel for others, once it is ready."""
        runners = self.structure.runners
        if len(runners) >= _SIZES_KEPT and self.sizes not in runners:
            runners.clear()
        runners[self.sizes] = runner


class CudaKernels:
    """The kernels of one GPU."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._interpreter = Interpreter(device)
        self._structures: BoundedTable[Kernel, _Structure] = BoundedTable()

    def prepare(self, kernel: Kernel) -> Callable[[Sequence[int]], KernelAt]:
        """Return what takes the sizes of a kernel of this structure, and begins to prepare its launch."""
        structure = self._structures.find(kernel)
        if structure is None:
            made = _Structure(kernel, self._device.attributes.multiprocessors)
            structure = self._structures.keep(kernel, made)
        return lambda sizes: KernelAt(self, structure, tuple(sizes))

    def runner(self, structure: _Structure, sizes: Sequence[int]) -> Runner:
        """Return what runs a kernel of a structure, interpreted or compiled, over its bound arguments."""
        device = self._device
        device.activate()
        sized, values = structure.programs.find(sizes)
        program, interpretation = sized.at(values), None
        if not self._waits_for_compiler(structure.kernel, program) and self._interpreter.is_ready():
            kernel = put_in(structure.kernel, in_kernel, sizes)
            interpretation = interpreted(kernel)
        if interpretation is None:
            return launcher(device, structure.kernel, program)
        work = product(kernel.shape) * len(kernel.body.instructions)
        share = 0.0 if TIER == "interpreted" else max(1 / _RUNS, work / _INSTRUCTIONS)
        interpret = launcher(device, structure.kernel, interpretation)
        return InterpretedFirst(device, structure.kernel, program, interpret, share)

    def _waits_for_compiler(self, structure: Kernel, program: Program) -> bool:
        """Return whether a kernel is not to be interpreted: it cannot be, it must not be, or there is no need."""
        if TIER == "compiled" or structure.reduced or contraction():
            return True
        return TIER == "auto" and find_program(program.text, self._device)


class Interpreter:
    """The interpreter of one GPU, which a package holds compiled and a checkout compiles once."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._is_ready = False
        self._image: Future[bytes] | None = None
        self._asked = 0

    def is_ready(self) -> bool:
        """Return whether `compile_program` returns the interpreter without the compiler; see to it that it will."""
        if TIER == "interpreted":
            return True  # after the compiler has run once
        if not self._is_ready:
            self._asked += 1
            if self._asked == 1:
                self._is_ready = find_program(interpreter_text(), self._device)
            elif self._asked == _KERNELS_BEFORE_INTERPRETER:
                self._image = compile_beside(interpreter_text(), self._device)
            elif self._image is not None and self._image.done():
                load_program(interpreter_text(), self._device, self._image.result())
                self._is_ready = True
        return self._is_ready


class InterpretedFirst:
    """Runs a kernel by the interpreter until the kernel is compiled, which it asks for when that is worth while.

    Attributes
    ----------
    is_interpreted : bool
        Whether the last run was by the interpreter.
    """

    is_one_launch = True

    def __init__(self, device: Device, kernel: Kernel, program: Program, interpretation: Runner, share: float) -> None:
        self.is_interpreted = True
        self._run = interpretation
        self._share = share  # of one run in what is interpreted before the kernel is compiled
        self._left = 1.0
        self._image: Future[bytes] | None = None
        self._device, self._kernel, self._program = device, kernel, program

    def __call__(self, values: Sequence[Any]) -> None:
        """Run the kernel over its bound arguments."""
        if self.is_interpreted:
            self._advance()
        self._run(values)

    def _advance(self) -> None:
        """Ask for the kernel to be compiled, or take what has been compiled."""
        if self._image is None:
            self._left -= self._share
            if self._left < 0:
                self._image = compile_beside(self._program.text, self._device)
        elif self._image.done():
            with suppress(MemoryError):  # it may be loaded by a later run
                load_program(self._program.text, self._device, self._image.result())
                self._run, self.is_interpreted = launcher(self._device, self._kernel, self._program), False
