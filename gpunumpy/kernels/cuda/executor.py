"""The executor of a GPU: kernels run as generated CUDA, library calls by CUDA's libraries and hand-written kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...core import _native
from ...core.collector import take_for_old, without_collector
from ...core.disk_cache import cache_folder, open_cache, package_digest
from ...core.errors import DeviceError
from ...core.graph.library_calls.record import Batch
from ...core.graph.library_calls.registry import record_of
from ...core.late_dataclasses import complete_all
from ...core.runtime import memory
from ...core.runtime.device import Device, raise_if_lost
from ...core.runtime.executors import fuse_predicate_of, implementation, load_library_calls
from ...core.runtime.plan import CallAt, Runner, is_for_one_run, nothing
from ...core.schedule.callbacks import FusedCall, FusePredicate
from ...core.schedule.traits import Traits
from ..source_locations import SourceLocations
from .compile import compiled_side_by_side
from .cuda_graphs import CudaGraphs
from .launch import Launcher
from .needed_modules import import_needed_modules
from .nvrtc import compiler_version
from .program import prepare_program
from .scratch import SIZED_LAUNCHERS
from .sized_calls import sized_call
from .tiers import OPCODES, PROGRAM, TIER, CudaKernels, InterpretedFirst, KeptKernelAt, KernelAt, interpreter_text


def load() -> None:
    """Load and find out what work on any GPU needs."""
    package_digest()
    open_cache(cache_folder())
    compiler_version()
    if TIER != "compiled":
        interpreter_text()
    complete_all()
    load_library_calls(CudaExecutor.name)
    implementation(PROGRAM)
    implementation(OPCODES)()  # with the tables of helpers that texts need too
    import_needed_modules()
    complete_all()
    take_for_old()


class CudaExecutor:
    """The executor of one GPU; see `core.runtime.plan.Executor`.

    The implementation of a library call is called as ``run(device, options, layouts, dtypes)``, with the layouts and
    dtypes of the results and then the arguments, and returns a function of their pointers. An implementation that makes
    a program is called as ``program(options, layouts, dtypes)``.
    """

    name = "cuda"
    traits = Traits(
        correlated_taps=4,
        draws_faster_than_numpy=True,
        takes_epilogues=True,
        reduces_vector_products=True,
        recomputes_pairs=True,
        sums_long_rows_faster_than_blas=True,
    )

    def __init__(self, device: Device) -> None:
        self.device = device
        self._locations = SourceLocations()
        self.source_location = self._locations.number
        kernels = CudaKernels(device)
        self.prepare, self.kept_plans, self.tier = kernels.prepare, kernels.kept_plans, kernels.tier
        self.kept, self.prepare_kept, self.prepare_ahead = kernels.kept, kernels.prepare_kept, kernels.prepare_ahead
        self.graphs = CudaGraphs(device)

    def bind(self, buffer: memory.Buffer, dtype: Any, offset: int) -> int:
        """Return the address of element `offset` of the buffer."""
        return buffer.ptr + offset * dtype.itemsize

    def fuse_predicate(self, call: str) -> FusePredicate | None:
        """Return the function that decides which kernels are fused into library call `call`; None if none ever are."""
        return fuse_predicate_of(call, self.name)

    def finish(self, begun: Sequence[Callable[[], Runner] | Runner]) -> Sequence[Runner]:
        """Finish all preparations, equal ones once; their programs are compiled side by side."""
        known = [_at_hand(prepare) for prepare in begun]
        if None not in known:
            return known  # type: ignore[return-value]
        made: dict[Callable[..., Any], Runner] = {}

        def finish_all() -> None:
            for prepare, runner in zip(begun, known, strict=True):
                if prepare not in made:
                    made[prepare] = runner or prepare()  # type: ignore[assignment,call-arg]

        with compiled_side_by_side():
            without_collector(finish_all)
        for prepare, runner in made.items():
            if isinstance(prepare, (KernelAt, KeptKernelAt)) and not is_for_one_run(runner):
                prepare.keep(runner)
        return [made[prepare] for prepare in begun]

    def library_call(
        self, name: str, options: Any, dtypes: Sequence[Any], at: CallAt
    ) -> Callable[[Sequence[int]], Callable[[], Runner] | Runner]:
        """Return what prepares a function of the addresses of a call's results and arguments, and scalars."""
        device, functions = self.device, record_of(name).implementation(self.name)
        run = functions.run
        if isinstance(options, Batch):
            run = functions.batch
        elif isinstance(options, FusedCall):
            run = functions.run_fused
        program = implementation(functions.program) if functions.program else None
        prepare = implementation(run) if run else None

        def prepare_at(sizes: Sequence[int]) -> Callable[[], Runner]:
            if program is not None:
                return partial(prepare_program, device, program(*at(sizes), dtypes), len(dtypes))
            assert prepare is not None
            return partial(_prepared, device, partial(prepare, device, *at(sizes), dtypes))

        if functions.sized_program and run == functions.run:
            return sized_call(device, implementation(functions.sized_program), dtypes, at, prepare_at)
        return prepare_at

    def take_error(self) -> str:
        """Return the message of the first index out of bounds since the last call, or an empty string."""
        number = memory.take_index_error(self.device)
        return f"index out of bounds ({self._locations.text(number)})" if number else ""


def _at_hand(begun: object) -> Runner | None:
    """Return what runs a kernel whose preparation is finished; None for another preparation."""
    if isinstance(begun, (*SIZED_LAUNCHERS, InterpretedFirst, *_native.LAUNCHES)):
        return begun  # type: ignore[return-value]
    return begun.known() if type(begun) in (KernelAt, KeptKernelAt) else None  # type: ignore[attr-defined]


def _prepared(device: Device, prepare: Callable[[], Runner]) -> Runner:
    """Return what a library prepares, with errors in the package's words; if memory is short, free what is unused."""
    try:
        run = _in_own_words(device, prepare)
    except MemoryError:
        memory.free_all_blocks(device)
        run = _in_own_words(device, prepare)
    return run if run is nothing or isinstance(run, Launcher) else partial(_in_own_words, device, run)


# What libraries of CUDA, each by an exception of its own, say to a lack of memory; and what they say to it where they
# load kernels or make handles, which has other causes too.
_SHORTAGE = ("ALLOC_FAILED",)
_SHORTAGE_OF_FULL_GPU = ("NOT_INITIALIZED", "INTERNAL_ERROR", "EXECUTION_FAILED")


def _in_own_words(device: Device, call: Callable[..., Any], *args: Any) -> Any:
    """Call a library; raise the package's exception for one that stands for a lost GPU or for want of memory."""
    device.activate()
    try:
        return call(*args)
    except (DeviceError, MemoryError):
        raise
    except Exception as error:
        raise_if_lost(device)
        words = str(error)
        is_unclear = any(name in words for name in _SHORTAGE_OF_FULL_GPU)
        if any(name in words for name in _SHORTAGE) or (is_unclear and memory.is_full(device)):
            raise memory.shortage(device, f"no room for a library call ({error})") from error
        raise
