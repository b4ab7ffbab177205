"""The tiers of a kernel on a GPU: interpreted at once, compiled beside the program, and then launched as compiled.

Both tiers give the same bits, so nothing but the time tells which one ran. A kernel that is found compiled, in memory,
on disk or in the package, is never interpreted; one that the interpreter cannot run waits for the compiler.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ...core.errors import DeviceError, allowed
from ...core.graph.bounded_table import BoundedTable, count
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ...core.schedule.kernel import Kernel
from ...core.source_location import warn
from ..codegen.interpreter import text as interpreter_text
from ..codegen.program import Program
from ..codegen.sized import SizedProgram, sized_interpretations, sized_programs
from .beside import Task
from .compile import compile_beside, contraction, find_program, load_program
from .kernel import KernelLauncher
from .launch import Launcher
from .module import Function

TIERS = ("auto", "compiled", "interpreted")
# "compiled" waits for the compiler, "interpreted" does not compile what can be interpreted.
TIER = os.environ.get("GPUNUMPY_TIER", "auto")
if TIER not in TIERS:
    raise ValueError(f"GPUNUMPY_TIER={TIER!r}; {allowed(TIERS)}")

# A program is compiled once its kernels have run so often, or have applied so many instructions to points: some
# milliseconds of a large GPU, where the compiler takes a processor some 100 ms.
_RUNS = 32
_INSTRUCTIONS = 1 << 30
# While it is, its kernels are interpreted until they have applied so many instructions more: 0.03 to 0.2 s of the GPU.
# Then the host waits for the compiler, and not the GPU for what the host has queued meanwhile.
_INSTRUCTIONS_AHEAD = 1 << 36
# A process that meets so many kernels which nobody compiled has the interpreter compiled, if it is not there either.
_KERNELS_BEFORE_INTERPRETER = 8
_SIZES_KEPT = 16  # of a structure
_RUNNER_ENTRIES = 16  # of a `BoundedTable`, that what runs a kernel counts as: about 5 kB


class _Structure:
    """The kernels of one structure: programs that serve many sizes each, and what runs those of the last sizes."""

    __slots__ = ("interpretations", "launcher", "programs", "runners")

    def __init__(self, kernel: Kernel, device: Device) -> None:
        multiprocessors = device.attributes.multiprocessors
        self.launcher = KernelLauncher(device, kernel)
        self.programs = sized_programs(kernel, multiprocessors)
        self.interpretations = sized_interpretations(kernel, multiprocessors)
        self.runners: dict[tuple[object, ...], Runner] = {}

    def at(self, sizes: Sequence[int]) -> Launcher | None:
        """Return what launches a kernel whose program has been launched at other sizes, in one launch; else None."""
        if contraction():
            return None
        sized, values = self.programs.find(sizes)
        launcher: Launcher | None = sized.runner
        if launcher is None:
            return None
        numbers = sized.numbers(values)
        return launcher.at(numbers[:3], numbers[3:])

    def launched(
        self, sized: SizedProgram, program: Program, functions: Mapping[str, Function] | None = None
    ) -> Runner:
        """Return what launches a program that is compiled. If one launch does, it is kept for other sizes."""
        runner = self.launcher(program, functions)
        if type(runner) is Launcher and not contraction():
            sized.runner = runner
        return runner


class KernelAt(NamedTuple):
    """A kernel of a structure at some sizes, whose preparation has begun. Equal ones share what runs them."""

    kernels: CudaKernels
    structure: _Structure
    sizes: tuple[int, ...]
    contracts: bool

    def __call__(self) -> Runner:
        """Return what runs the kernel over its bound arguments; its program may still have to be loaded."""
        return self.known() or self.kernels.runner(self.structure, self.sizes)

    def known(self) -> Runner | None:
        """Return what runs the kernel if another plan has it."""
        return self.structure.runners.get((self.sizes, self.contracts))

    def keep(self, runner: Runner) -> None:
        """Keep what runs the kernel for others, once it is ready."""
        runners = self.structure.runners
        key = self.sizes, self.contracts
        if key not in runners:
            count(_RUNNER_ENTRIES)
            if len(runners) >= _SIZES_KEPT:
                runners.clear()
        runners[key] = runner


class CudaKernels:
    """The kernels of one GPU."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._interpreter = Interpreter(device)
        self._structures: BoundedTable[Kernel, _Structure] = BoundedTable()
        self._compilations: BoundedTable[str, Compilation] = BoundedTable()

    def prepare(self, kernel: Kernel) -> Callable[[Sequence[int]], Launcher | KernelAt]:
        """Return what takes the sizes of a kernel of this structure, and prepares its launch, or begins to."""
        structure = self._structures.find(kernel)
        if structure is None:
            made = _Structure(kernel, self._device)
            structure = self._structures.keep(kernel, made)

        def prepare_at(sizes: Sequence[int]) -> Launcher | KernelAt:
            return structure.at(sizes) or KernelAt(self, structure, tuple(sizes), contraction())

        return prepare_at

    def runner(self, structure: _Structure, sizes: Sequence[int]) -> Runner:
        """Return what runs a kernel of a structure, interpreted or compiled, over its bound arguments."""
        device = self._device
        device.activate()
        sized, values = structure.programs.find(sizes)
        program, interpretation = sized.at(values), None
        if not self._waits_for_compiler(program) and self._interpreter.is_ready():
            interpretation, values = structure.interpretations.find(sizes)
        if interpretation is None:
            return structure.launched(sized, program)
        work = interpretation.work(values)
        interpret = structure.launcher(interpretation.at(values))
        compilation = self._compilations.find(program.text)
        if compilation is None:
            compilation = self._compilations.keep(program.text, Compilation(device, program.text))
        return InterpretedFirst(structure, sized, program, interpret, compilation, work)

    def _waits_for_compiler(self, program: Program) -> bool:
        """Return whether a kernel is not to be interpreted: it cannot be, it must not be, or there is no need."""
        if TIER == "compiled" or contraction():
            return True
        return TIER == "auto" and find_program(program.text, self._device)


class Interpreter:
    """The interpreter of one GPU, which a package holds compiled and a checkout compiles once."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._asked = 0
        self._was_found = False
        self._task: Task | None = None

    def is_ready(self) -> bool:
        """Return whether `compile_program` returns the interpreter without the compiler; see to it that it will."""
        if TIER == "interpreted":
            return True  # after the compiler has run once
        self._asked += 1
        if self._asked == 1 or self._was_found:
            self._was_found = find_program(interpreter_text(), self._device)
            return self._was_found
        if self._asked == _KERNELS_BEFORE_INTERPRETER:
            self._task = compile_beside(interpreter_text(), self._device)
        task = self._task
        if task is None or not task.is_done:
            return False
        try:
            image = task.image()
        except DeviceError as error:
            self._task = None
            reason = str(error).partition("\n")[0]
            warn(f"kernels wait for the compiler, as their interpreter does not compile: {reason}", RuntimeWarning)
            return False
        return load_program(interpreter_text(), (), self._device, image) is not None


class Compilation:
    """A program of kernels that are interpreted, and the compiler's work on it beside them."""

    def __init__(self, device: Device, text: str) -> None:
        self.device = device
        self.text = text
        self._left = 1.0  # of what is interpreted before it is compiled
        self._ahead = 0  # instructions that were applied while it is
        self._task: Task | None = None

    def advance(self, work: int, entries: Sequence[str]) -> dict[str, Function] | None:
        """Return the functions of the program, or None while it is not compiled.

        Parameters
        ----------
        work : int
            How many instructions the kernel that is about to run applies to points.
        entries : sequence of str
            The names of the functions.

        Raises
        ------
        DeviceError
            Once, if the program does not compile. It is interpreted on, and compiled again later.
        """
        if TIER == "interpreted":
            return None
        task = self._task
        if task is None:
            self._left -= max(1 / _RUNS, work / _INSTRUCTIONS)
            if self._left >= 0:
                return None
            found = load_program(self.text, entries, self.device, None)
            if found is None:
                self._ahead = 0
                self._task = compile_beside(self.text, self.device)
            return found
        if not task.is_done:
            self._ahead += work
            if self._ahead > _INSTRUCTIONS_AHEAD:
                self._ahead = 0
                task.wait()
        if not task.is_done or self._task is not task:  # a signal handler, or another thread, may have taken it
            return None
        self._task, self._left = None, 1.0
        with suppress(MemoryError):  # it is loaded later
            functions = load_program(self.text, entries, self.device, task.image())
            self._left = 0.0  # kernels of other sizes find it
            return functions
        return None


class InterpretedFirst:
    """Runs a kernel by the interpreter until its program is compiled, which it asks for when that is worth while.

    Attributes
    ----------
    is_interpreted : bool
        Whether the last run was by the interpreter.
    launch
        What the compiled core launches the compiled kernel with; None while it is interpreted.
    """

    is_one_launch = True

    def __init__(
        self,
        structure: _Structure,
        sized: SizedProgram,
        program: Program,
        interpretation: Runner,
        compilation: Compilation,
        work: int,
    ) -> None:
        self.is_interpreted = True
        self.launch: Any = None
        self._run = interpretation
        self._structure, self._sized, self._program = structure, sized, program
        self._entries = [launch.entry for launch in program.launches]
        self._compilation, self._work = compilation, work

    def __call__(self, values: Sequence[Any]) -> None:
        """Run the kernel over its bound arguments."""
        if self.is_interpreted:
            functions = self._compilation.advance(self._work, self._entries)
            if functions is not None:
                self._run = self._structure.launched(self._sized, self._program, functions)
                self.is_interpreted = False
                self.launch = getattr(self._run, "launch", None)
        self._run(values)
