"""The tiers of a kernel on a GPU: interpreted at once, compiled beside the program, and then launched as compiled.

Both tiers give the same bits, so nothing but the time tells which one ran. A kernel that is found compiled, in memory,
on disk or in the package, is never interpreted; one that the interpreter cannot run waits for the compiler.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

from ...core import _native
from ...core.disk_cache import cache_folder, open_cache, package_digest
from ...core.errors import DeviceError, allowed
from ...core.graph.bounded_table import BoundedTable, count
from ...core.runtime.device import Device
from ...core.runtime.executors import implementation
from ...core.runtime.kept_plans import KeptPlans, kept_plans
from ...core.runtime.plain_data import NotPlain, read, written
from ...core.runtime.plan import Runner
from ...core.schedule.kernel import Kernel
from ...core.schedule.sizes import Integer, NumbersOf, Trace, value_of
from ...core.schedule.substitute import in_kernel, taken_out
from ...core.schedule.variants import Kept, Variants
from ...core.source_location import warn
from ..codegen.program import Program, Source
from ..codegen.sized_program import SizedInterpretation, SizedProgram, interpretation_of_kept, kept_interpretation
from .backlog import Backlog
from .beside import Task
from .compile import (
    compile_beside,
    compile_program,
    contraction,
    find_program,
    is_finished,
    is_loaded,
    load_program,
)
from .kernel import KernelLauncher, kinds_of
from .module import Function
from .scratch import SIZED_LAUNCHERS
from .source import kept_on_disk, read_from_disk, source_of

# The code generators are imported when a kernel is new, or before, while there is time: that takes longer than most
# plans. A process that finds its plans on disk needs none.
PROGRAM = "kernels.codegen.sized:sized_program"
_INTERPRETATION = "kernels.codegen.sized:sized_interpretation"
_INTERPRETER = "kernels.codegen.interpreter:text"
OPCODES = "kernels.codegen.interpreter:opcodes"

TIERS = ("auto", "compiled", "interpreted")
# "compiled" waits for the compiler, "interpreted" does not compile what can be interpreted.
TIER = os.environ.get("GPUNUMPY_TIER", "auto")
if TIER not in TIERS:
    raise ValueError(f"GPUNUMPY_TIER={TIER!r}; {allowed(TIERS)}")

# A program is compiled once its kernels have run so often, or have applied so many instructions to points, which takes
# a large GPU less time than the compiler takes a processor.
_RUNS = 32
_INSTRUCTIONS = 1 << 30
# To generate its text and to look for it compiled takes longer than to interpret so many instructions.
_INSTRUCTIONS_WITHOUT_TEXT = 1 << 26
# A process that meets so many kernels which nobody compiled has the interpreter compiled, if it is not there either.
_KERNELS_BEFORE_INTERPRETER = 8
_SIZES_KEPT = 16  # of a structure
_KEPT_ENTRIES = 100  # that a kernel of another process counts as, with its words and its text
_RUNNER_ENTRIES = 16  # of a `BoundedTable`, that what runs a kernel counts as: about 5 kB


# A program of the interpreter, without its text, and how many instructions it applies to points.
_Interpretation: TypeAlias = tuple[Program, int]
# What runs such a program, and the latter.
_Interpreted: TypeAlias = tuple[Runner, int]


@cache
def interpreter_text() -> str:
    """Return the CUDA C++ of the interpreter; it is kept on disk, as to write it takes longer than to read it."""
    disk = open_cache(cache_folder())
    if disk is None:
        return str(implementation(_INTERPRETER)())
    key = sha256(f"interpreter {package_digest()}".encode()).digest()
    found = disk.find(key)
    if found is None:
        found = str(implementation(_INTERPRETER)()).encode()
        disk.keep(key, found)
    return found.decode()


def with_interpreter(program: Program) -> Program:
    """Return a program of the interpreter with its text."""
    return program._replace(text=interpreter_text())


class _Structure:
    """The kernels of one structure: programs that serve many sizes each, and what runs those of the last sizes.

    `kernel` returns the structure, which another process may have kept: most programs on disk are used without a look
    at it. `key` is that of the programs on disk. `comes_again` tells whether a kernel of it has run, or kernels of
    other sizes are to be expected, and `compilations` has those of programs whose kernels are interpreted, by their
    texts. `kept_interpretations` are those on disk, until they are read: most kernels are compiled there.
    """

    __slots__ = (
        *("comes_again", "compilations", "device", "expects_others", "interpretations", "kept_interpretations"),
        *("kernel", "key", "launcher", "programs", "runners"),
    )

    def __init__(self, kernel: Callable[[], Kernel], kinds: str, device: Device) -> None:
        self.device, self.kernel = device, kernel
        self.key: bytes | None = None
        self.expects_others = False
        self.compilations: dict[Source, Compilation] = {}
        multiprocessors = device.attributes.multiprocessors
        self.launcher = KernelLauncher(device, kinds)

        def program(trace: Trace, sizes: Sequence[Integer]) -> SizedProgram:
            made: SizedProgram = implementation(PROGRAM)(kernel(), multiprocessors, trace, sizes)
            return made

        def interpretation(trace: Trace, sizes: Sequence[Integer]) -> SizedInterpretation | None:
            made: SizedInterpretation | None = implementation(_INTERPRETATION)(kernel(), multiprocessors, trace, sizes)
            return made

        self.programs, self.interpretations = Variants(program), Variants(interpretation)
        self.kept_interpretations: Kept[SizedInterpretation | None] | None = None
        self.runners: dict[tuple[object, ...], Runner] = {}
        self.comes_again = False

    def at(self, sizes: Sequence[int]) -> Runner | None:
        """Return what runs a kernel of whose program another kernel has run, in one launch; else None."""
        known = None if contraction() else self.programs.known(sizes)
        if known is None:
            return None
        sized, values = known
        if sized.runner is None and source_of(sized.text) in self.compilations:
            return self._interpreted_at(sized, values, sizes)
        runner: Runner | None = sized.runner_at(values)
        return runner

    def _interpreted_at(self, sized: SizedProgram, values: Sequence[int], sizes: Sequence[int]) -> Runner | None:
        """Return the same for a program of which another kernel was interpreted, unless it is compiled by now."""
        is_compiled = is_loaded(sized.text, self.device) or not _may_interpret(self.device)
        known = None if is_compiled else self.interpretations.known(sizes)
        if known is None:
            return None
        words, values_of_words = known
        run = None if words is None else words.runner_at(values_of_words)
        if words is None or run is None:
            return None
        launched = partial(self.launched, sized, values)
        compilation = self.compilations[source_of(sized.text)]
        return InterpretedFirst(run, compilation, sized.entries, launched, words.work(values_of_words))

    def program(self, sizes: Sequence[int]) -> tuple[SizedProgram, tuple[int, ...]]:
        """Return the program of a kernel, compiled or with its text, and the values of its symbols.

        One that other processes have kept is made anew where its text is gone.
        """
        while True:
            sized, values = self.programs.find(sizes)
            source = sized.text
            if isinstance(source, str) or source.text is not None:
                return sized, values
            if TIER != "interpreted" and find_program(source, self.device):
                return sized, values
            with_text = read_from_disk(source)
            if with_text is None:
                self.programs.drop(sized)
            else:
                sized.text = with_text

    def interpretation(self, sizes: Sequence[int]) -> _Interpretation | None:
        """Return how the interpreter runs a kernel; None if it cannot."""
        found, values = self._find_interpretation(sizes)
        return None if found is None else (found.at(values), found.work(values))

    def interpreted(self, sizes: Sequence[int]) -> _Interpreted | None:
        """Return what has the interpreter run a kernel; None if it cannot."""
        sized, values = self._find_interpretation(sizes)
        if sized is None:
            return None
        runner: Runner | None = sized.runner_at(values)
        if runner is None:
            runner = self.launcher(with_interpreter(sized.at(values)))
            if isinstance(runner, SIZED_LAUNCHERS):
                sized.runner = runner
        return runner, sized.work(values)

    def _find_interpretation(self, sizes: Sequence[int]) -> tuple[SizedInterpretation | None, tuple[int, ...]]:
        if self.kept_interpretations is not None:
            kept, self.kept_interpretations = self.kept_interpretations, None
            self.interpretations.keep_in(kept)
        return self.interpretations.find(sizes)

    def launched(self, sized: SizedProgram, values: Sequence[int], functions: Mapping[str, Function]) -> Runner:
        """Return what launches a program by its functions. If one launch does, it is kept for other sizes."""
        runner = self.launcher(sized.at(values), functions)
        if isinstance(runner, SIZED_LAUNCHERS) and not contraction():
            sized.runner = runner
        return runner


def kept_program(sized: SizedProgram) -> tuple[Source, Program, tuple[int, ...] | NumbersOf]:
    """Return the plain data that `program_of_kept` makes a program like this from; its text is on disk by itself."""
    program, numbers = sized.kept()
    return kept_on_disk(sized.text), program._replace(text=""), numbers


def program_of_kept(kept: tuple[Source, Program, tuple[int, ...] | NumbersOf], places: tuple[int, ...]) -> SizedProgram:
    """Return a program from what `kept_program` has returned, in this process or another one; see `Kept`."""
    source, program, numbers = kept
    made = SizedProgram.of_kept((program, numbers), places)
    made.text = source
    return made


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


class KeptKernel(NamedTuple):
    """What another process runs a kernel from, as plain data.

    Attributes
    ----------
    kinds
        Those of its arguments; see `kinds_of`.
    source
        What is compiled; its text is on disk by itself, as most processes find it compiled.
    program
        The rest of the program.
    interpretation
        How it is interpreted; None if it is not.
    """

    kinds: str
    source: Source
    program: Program
    interpretation: _Interpretation | None

    def __hash__(self) -> int:
        """Return the hash of what most differ by: it is asked several times, and an interpretation is long."""
        return hash((self.source.digest, self.program.params))


class KeptStructure(NamedTuple):
    """What another process finds the programs of a structure by, as plain data.

    Attributes
    ----------
    key
        That of the programs on disk.
    kinds
        Those of its arguments; see `kinds_of`.
    kernel
        The structure, as `written` returns it.
    """

    key: bytes
    kinds: str
    kernel: bytes


class KeptKernelAt(NamedTuple):
    """A kernel that another process has prepared.

    Attributes
    ----------
    functions
        Those of its program, by their names; None if it was not found compiled.
    """

    kernels: CudaKernels
    kernel: KeptKernel
    functions: tuple[tuple[str, Function], ...] | None

    def __call__(self) -> Runner:
        """Return what runs the kernel over its bound arguments; its program may still have to be loaded."""
        return self.known() or self.kernels.kept_runner(self.kernel, self.functions)

    def known(self) -> Runner | None:
        """Return what runs the kernel if another plan has it."""
        return self.kernels.kept_runners.find(self.kernel)

    def keep(self, runner: Runner) -> None:
        """Keep what runs the kernel for others, once it is ready."""
        self.kernels.kept_runners.keep(self.kernel, runner, _KEPT_ENTRIES)


class CudaKernels:
    """The kernels of one GPU.

    Attributes
    ----------
    kept_runners : BoundedTable
        What runs kernels that other processes have prepared.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._interpreter = Interpreter(device)
        self._backlog = Backlog(device)
        self._structures: BoundedTable[Kernel, _Structure] = BoundedTable()
        self._kept_structures: BoundedTable[bytes, _Structure] = BoundedTable()  # which may be unread, by their keys
        self._compilations: BoundedTable[Source, Compilation] = BoundedTable()
        self.kept_runners: BoundedTable[KeptKernel, Runner] = BoundedTable()

    def prepare(self, kernel: Kernel, has_other_sizes: bool) -> Callable[[Sequence[int]], Runner | KernelAt]:
        """Return what takes the sizes of a kernel of this structure, and prepares its launch, or begins to."""
        structure = self._structure(kernel)
        if has_other_sizes:
            self._expect_others(structure)
        return self._prepare(structure)

    def _prepare(self, structure: _Structure) -> Callable[[Sequence[int]], Runner | KernelAt]:
        def prepare_at(sizes: Sequence[int]) -> Runner | KernelAt:
            return structure.at(sizes) or KernelAt(self, structure, tuple(sizes), contraction())

        return _native.sized_launch(structure.programs, prepare_at)

    def kept_plans(self) -> KeptPlans | None:
        """Return the plans on disk with kernels of such texts and tiers; None where multiplications are contracted."""
        attributes = self._device.attributes
        identity = f"{attributes.arch} {attributes.multiprocessors} {TIER}"
        return None if contraction() else kept_plans(identity, str(self._device))

    def _structure(self, kernel: Kernel) -> _Structure:
        found = self._structures.find(kernel)
        if found is None:
            for kept in self._kept_structures.values():
                self._structures.keep(kept.kernel(), kept)
            self._kept_structures.clear()
            found = self._structures.find(kernel)
        return found or self._structures.keep(kernel, _Structure(lambda: kernel, kinds_of(kernel), self._device))

    def _kept_structure(self, kept: KeptStructure) -> _Structure:
        """Return a structure that another process has kept; it is read when a program has to be made."""
        found = self._kept_structures.find(kept.key)
        if found is None:
            found = next((made for made in self._structures.values() if made.key == kept.key), None)
        if found is None:
            made = _Structure(cache(partial(read, kept.kernel)), kept.kinds, self._device)
            made.key = kept.key
            found = self._kept_structures.keep(kept.key, made)
        return found

    def _expect_others(self, structure: _Structure) -> None:
        """Have the programs of a structure made with symbols, and kept for other processes."""
        if structure.expects_others:
            return
        structure.expects_others = structure.comes_again = True
        structure.programs.expect_others()
        structure.interpretations.expect_others()
        disk = self.kept_plans()
        if disk is None:
            return
        key = structure.key = structure.key or disk.key_of(structure.kernel())
        if key is None:
            return
        structure.programs.keep_in(disk.variants(key, kept_program, program_of_kept))
        key_of_words = sha256(key + b"interpreted").digest()
        structure.kept_interpretations = disk.variants(key_of_words, kept_interpretation, interpretation_of_kept)

    def kept(self, kernel: Kernel, sizes: Sequence[int] | None) -> KeptKernel | KeptStructure:
        """Return from what another process runs a kernel that this one has prepared, or finds it for all sizes."""
        structure = self._structure(kernel)
        if sizes is None:
            if structure.key is None:
                raise NotPlain
            return KeptStructure(structure.key, structure.launcher.kinds, written(kernel))
        sized, values = structure.programs.find(sizes)
        program = sized.at(values)
        interpretation = None if is_loaded(sized.text, self._device) else structure.interpretation(sizes)
        source = kept_on_disk(sized.text)
        return KeptKernel(structure.launcher.kinds, source, program._replace(text=""), interpretation)

    def tier(self, kernel: Kernel) -> str:
        """Return how a kernel would run now."""
        structure, taken = taken_out(kernel, in_kernel)
        made, sizes = self._structure(structure), [value_of(size) for size in taken]
        is_compiled = is_finished(made.programs.find(sizes)[0].text, self._device)
        is_wanted = _may_interpret(self._device) and (TIER == "interpreted" or not is_compiled)
        if is_wanted and self._interpreter.is_at_hand() and made.interpretation(sizes) is not None:
            return "interpreted" if TIER == "interpreted" else "interpreted until it is compiled"
        return "compiled" if is_compiled else "waits for the compiler"

    def prepare_kept(self, kept: KeptKernel | KeptStructure) -> Callable[[Sequence[int]], Any] | None:
        """Return what takes the sizes of a kernel of another process; None if neither its text nor its code is there.

        What runs a kernel at the sizes that it was kept for begins to be prepared.
        """
        if isinstance(kept, KeptStructure):
            structure = self._kept_structure(kept)
            self._expect_others(structure)
            return self._prepare(structure)
        begun = self._begun(kept)
        return begun and partial(_known, begun)

    def prepare_ahead(self, kept: KeptKernel | KeptStructure, sizes: Sequence[int]) -> None:
        """Load the programs of a kernel of another process that are compiled, and make a launcher for these sizes."""
        if TIER == "interpreted" or contraction():
            return
        if isinstance(kept, KeptKernel):
            functions = self._loaded(kept.source, [launch.entry for launch in kept.program.launches])
            if functions is not None and self.kept_runners.find(kept) is None:
                self.kept_runners.keep(kept, self.kept_runner(kept, tuple(functions.items())), _KEPT_ENTRIES)
            return
        structure = self._kept_structure(kept)
        self._expect_others(structure)
        known, values = structure.programs.known(sizes) or (None, ())
        for sized in structure.programs.all_made():
            functions = self._loaded(sized.text, sized.entries)
            if sized is known and functions is not None and sized.runner is None:
                structure.launched(sized, values, functions)

    def _loaded(self, text: str | Source, entries: Sequence[str]) -> dict[str, Function] | None:
        """Return the functions of a program, loaded; None if it is not compiled."""
        return load_program(text, entries, self._device, None) if find_program(text, self._device) else None

    def _begun(self, kept: KeptKernel) -> KeptKernelAt | None:
        if TIER != "interpreted":
            functions = self._loaded(kept.source, [launch.entry for launch in kept.program.launches])
            if functions is not None:
                return KeptKernelAt(self, kept, tuple(functions.items()))
        source = read_from_disk(kept.source)
        return source and KeptKernelAt(self, kept._replace(source=source), None)

    def runner(self, structure: _Structure, sizes: Sequence[int]) -> Runner:
        """Return what runs a kernel of a structure, interpreted or compiled, over its bound arguments."""
        if not structure.comes_again:
            structure.comes_again = True
            for_one_run = self._for_one_run(structure, sizes)
            if for_one_run is not None:
                return for_one_run
        sized, values = structure.program(sizes)
        launched = partial(structure.launched, sized, values)
        runner = self._runner(source_of(sized.text), sized.entries, partial(structure.interpreted, sizes), launched)
        if isinstance(runner, InterpretedFirst):
            structure.compilations[source_of(sized.text)] = runner.compilation
        return runner

    def _for_one_run(self, structure: _Structure, sizes: Sequence[int]) -> Runner | None:
        """Return what has the interpreter run a kernel once, for which no text is generated; None to have more made."""
        if not _may_interpret(self._device) or not self._interpreter.is_ready():
            return None
        self._device.activate()
        interpretation = structure.interpreted(sizes)
        if interpretation is None or interpretation[1] > _INSTRUCTIONS_WITHOUT_TEXT:
            return None
        return InterpretedOnce(interpretation[0])

    def kept_runner(self, kept: KeptKernel, functions: Sequence[tuple[str, Function]] | None) -> Runner:
        """Return the same for a kernel of another process; its functions are given if it is compiled."""
        kinds, source, program, interpretation = kept
        launcher = KernelLauncher(self._device, kinds)
        if functions is not None:
            return launcher(program, dict(functions))

        def interpreted() -> _Interpreted | None:
            return interpretation and (launcher(with_interpreter(interpretation[0])), interpretation[1])

        entries = [launch.entry for launch in program.launches]
        return self._runner(source, entries, interpreted, partial(launcher, program))

    def _runner(
        self,
        source: Source,
        entries: Sequence[str],
        interpreted: Callable[[], _Interpreted | None],
        launched: Callable[[Mapping[str, Function]], Runner],
    ) -> Runner:
        """Return what runs a program: what `interpreted` returns, or `launched` returns for its functions."""
        self._device.activate()
        interpretation = None
        compilation = self._compilations.find(source)
        # One that is interpreted already was not on disk when it was looked for.
        find = find_program if compilation is None else is_loaded
        is_missing = _may_interpret(self._device) and TIER != "interpreted" and not find(source, self._device)
        is_wanted = is_missing or (_may_interpret(self._device) and TIER == "interpreted")
        if is_wanted and self._interpreter.is_ready():
            interpretation = interpreted()
        elif is_wanted:
            self._interpreter.note_waiting_kernel()
        if interpretation is None:
            return launched(compile_program(source, entries, self._device, was_looked_for=is_missing))
        if compilation is None:
            compilation = self._compilations.keep(source, Compilation(self._device, source, self._backlog))
        interpret, work = interpretation
        if work >= _INSTRUCTIONS:
            compilation.begin()
        return InterpretedFirst(interpret, compilation, entries, launched, work)


def _known(begun: KeptKernelAt, sizes: Sequence[int]) -> KeptKernelAt:
    """Return a preparation that has begun, whatever the sizes."""
    return begun


def _may_interpret(device: Device) -> bool:
    """Return whether kernels may be interpreted; those of a CUDA graph, which stay in it, are not."""
    return TIER != "compiled" and not contraction() and (TIER == "interpreted" or device.capture is None)


class Interpreter:
    """The interpreter of one GPU, which a package holds compiled and a checkout compiles once."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._waiting = 0
        self._was_found: bool | None = None  # None if it was not looked for
        self._task: Task | None = None

    def is_at_hand(self) -> bool:
        """Return whether `is_ready` would return True."""
        is_done = self._task is not None and self._task.is_done
        return TIER == "interpreted" or is_done or is_finished(interpreter_text(), self._device)

    def is_ready(self) -> bool:
        """Return whether `compile_program` returns the interpreter without the compiler."""
        if TIER == "interpreted":
            return True  # after the compiler has run once
        if self._was_found is not False:
            self._was_found = find_program(interpreter_text(), self._device)
            if self._was_found:
                return True
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

    def note_waiting_kernel(self) -> None:
        """Count a kernel that waits for the compiler as the interpreter is not ready; see to it that it will be."""
        self._waiting += 1
        if self._waiting == _KERNELS_BEFORE_INTERPRETER:
            self._task = compile_beside(interpreter_text(), self._device)


class Compilation:
    """A program of kernels that are interpreted, and the compiler's work on it beside them."""

    def __init__(self, device: Device, source: Source, backlog: Backlog) -> None:
        self.device = device
        self.source = source
        self._backlog = backlog
        self._left = 1.0  # of what is interpreted before it is compiled
        self._task: Task | None = None

    def begin(self) -> None:
        """Have the program compiled, if it is not yet."""
        if self._task is None and TIER != "interpreted":
            self._task = compile_beside(self.source, self.device)

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
        if self.device.capture is not None:
            return compile_program(self.source, entries, self.device)  # a graph has one kernel for good
        task = self._task
        if task is None:
            self._left -= max(1 / _RUNS, work / _INSTRUCTIONS)
            if self._left >= 0:
                return None
            found = load_program(self.source, entries, self.device, None)
            if found is None:
                self.begin()
            return found
        if not task.is_done:
            self._backlog.add(work)
        if not task.is_done or self._task is not task:  # a signal handler, or another thread, may have taken it
            return None
        self._task, self._left = None, 1.0
        with suppress(MemoryError):  # it is loaded later
            functions = load_program(self.source, entries, self.device, task.image())
            self._left = 0.0  # kernels of other sizes find it
            return functions
        return None


class InterpretedOnce:
    """Has the interpreter run a kernel for which nothing else is made; see `core.runtime.plan.is_for_one_run`."""

    is_one_launch = True
    is_for_one_run = True
    is_interpreted = True
    launch: Any = None

    def __init__(self, interpretation: Runner) -> None:
        self._run = interpretation

    def __call__(self, values: Sequence[Any]) -> None:
        """Run the kernel over its bound arguments."""
        self._run(values)


class InterpretedFirst:
    """Runs a kernel by the interpreter until its program is compiled, which it asks for when that is worth while.

    Attributes
    ----------
    compilation : Compilation
        The compiler's work on the program.
    is_interpreted : bool
        Whether the last run was by the interpreter.
    launch
        What the compiled core launches the compiled kernel with; None while it is interpreted.
    """

    is_one_launch = True
    launch: Any = None

    def __init__(
        self,
        interpretation: Runner,
        compilation: Compilation,
        entries: Sequence[str],
        launched: Callable[[Mapping[str, Function]], Runner],
        work: int,
    ) -> None:
        self.is_interpreted = True
        self._run = interpretation
        self.compilation, self._entries, self._launched, self._work = compilation, entries, launched, work

    def __call__(self, values: Sequence[Any]) -> None:
        """Run the kernel over its bound arguments."""
        if self.is_interpreted:
            functions = self.compilation.advance(self._work, self._entries)
            if functions is not None:
                self._run = self._launched(functions)
                self.is_interpreted = False
                self.launch = getattr(self._run, "launch", None)
        self._run(values)
