"""The tiers of a kernel on a GPU: interpreted at once, compiled beside the program, and then launched as compiled.

Both tiers give the same bits, so nothing but the time tells which one ran. A kernel that is found compiled, in memory,
on disk or in the package, is never interpreted; one that the interpreter cannot run waits for the compiler.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

from ...core.errors import allowed
from ...core.graph.bounded_table import BoundedTable
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ...core.schedule.kernel import Kernel
from ...core.schedule.substitute import in_kernel, put_in
from ...core.schedule.variants import Variants
from ..codegen.interpreter import interpreted
from ..codegen.interpreter import text as interpreter_text
from ..codegen.program import Program
from ..codegen.shape import product
from ..codegen.sized import SizedProgram, sized_programs
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


class CudaKernels:
    """The kernels of one GPU, by structure: a text for all sizes that it serves, and what runs each of them."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._interpreter = Interpreter(device)
        self._programs: BoundedTable[Kernel, Variants[SizedProgram]] = BoundedTable()

    def prepare(self, structure: Kernel) -> Callable[[Sequence[int]], Callable[[], Runner]]:
        """Return what takes the sizes of a kernel of this structure, and returns what prepares its launch."""
        programs = self._programs.find(structure)
        if programs is None:
            made = sized_programs(structure, self._device.attributes.multiprocessors)
            programs = self._programs.keep(structure, made)

        def begin(sizes: Sequence[int]) -> Callable[[], Runner]:
            sized, values = programs.find(sizes)
            return partial(self._runner, structure, sized.at(values), sizes)

        return begin

    def _runner(self, structure: Kernel, program: Program, sizes: Sequence[int]) -> Runner:
        """Return what runs a kernel over its bound arguments; `program` is its own, for these sizes."""
        device = self._device
        device.activate()
        interpretation = None
        if not self._waits_for_compiler(structure, program) and self._interpreter.is_ready():
            kernel = put_in(structure, in_kernel, sizes)
            interpretation = interpreted(kernel)
        if interpretation is None:
            return launcher(device, structure, program)
        work = product(kernel.shape) * len(kernel.body.instructions)
        share = 0.0 if TIER == "interpreted" else max(1 / _RUNS, work / _INSTRUCTIONS)
        return InterpretedFirst(device, structure, program, launcher(device, structure, interpretation), share)

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
            load_program(self._program.text, self._device, self._image.result())
            self._run, self.is_interpreted = launcher(self._device, self._kernel, self._program), False
