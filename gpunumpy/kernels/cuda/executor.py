"""The executor of a GPU: kernels by generated CUDA, library calls by CUDA's libraries and hand-written kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import KIND
from ...core.graph.layout import Layout
from ...core.graph.library_calls.record import Batch
from ...core.graph.library_calls.registry import record_of
from ...core.runtime import memory
from ...core.runtime.device import Device
from ...core.runtime.executors import fuses_of, implementation
from ...core.runtime.plan import Runner
from ...core.schedule.callbacks import FusedCall, Fuses
from ...core.schedule.kernel import Kernel
from ...core.schedule.steps import RunLibraryCall
from ...core.schedule.traits import Traits
from ..codegen import generate
from ..source_locations import SourceLocations
from .compile import compile_program
from .launch import WIRE, Launcher
from .program import prepared


class CudaExecutor:
    """Runs plans on a GPU.

    Its functions for library calls are called as ``run(device, options, layouts, dtypes)``, with the layouts and dtypes
    of the results and the arguments, and return what takes their pointers; those that make programs, without a device.
    """

    name = "cuda"
    traits = Traits(draws_random=True, takes_epilogues=True, sums_long_rows_faster_than_blas=True)

    def __init__(self, device: Device) -> None:
        self.device = device
        self._locations = SourceLocations()
        self.source_location = self._locations.number

    def bind(self, buffer: memory.Buffer, dtype: Any, offset: int) -> int:
        return buffer.ptr + offset * dtype.itemsize

    def prepare(self, kernel: Kernel) -> Runner:
        """Generate, compile and load a kernel; the result launches it."""
        device = self.device
        device.activate()
        program = generate(kernel, device.attributes.multiprocessors)
        flag = (memory.error_word(device),) if program.flag else ()
        kinds = ["P" if arg.kind != "scalar" else KIND[arg.dtype] for arg in kernel.args]
        functions = compile_program(program.text, tuple(x.entry for x in program.launches), device)
        layout = "".join(WIRE[k] for k in kinds) + "Q" * (len(program.scratch) + len(flag))
        launchers = [
            Launcher(device, functions[x.entry], x.grid, x.block, x.shared, layout, program.params)
            for x in program.launches
        ]
        pairs = [n for n, k in enumerate(kinds) if k == "c"]
        bools = [n for n, k in enumerate(kinds) if k == "b"]
        fresh = [s.nbytes for s in program.scratch if not s.zeroed]
        scratch, zeros, taken = [], 0, 0
        for s in program.scratch:  # every zeroed one has its own part of the device's counters
            scratch.append((s.zeroed, zeros if s.zeroed else taken))
            if s.zeroed:
                zeros += -(-s.nbytes // 16) * 16
            else:
                taken += 1
        if not (pairs or bools or scratch or flag) and len(launchers) == 1:
            return launchers[0]

        def run(values: Sequence[Any]) -> None:
            wire: list[Any] = list(values)
            for n in bools:
                wire[n] = bool(wire[n])  # a Python number in a loop of bools: what counts is whether it is zero
            for n in reversed(pairs):
                wire[n : n + 1] = (wire[n].real, wire[n].imag)
            held = [memory.allocate(device, nbytes) for nbytes in fresh]
            counters = memory.counters(device, zeros).ptr if zeros else 0
            wire.extend(counters + place if zeroed else held[place].ptr for zeroed, place in scratch)
            wire.extend(flag)
            for launch in launchers:
                launch(wire)

        return run

    def fuses(self, call: str) -> Fuses | None:
        return fuses_of(call, self.name)

    def library_call(self, step: RunLibraryCall, results: Sequence[tuple[Layout, Any]]) -> Runner:
        found = record_of(step.name).implementation(self.name)
        layouts = [*(where for where, _ in results), *(where for _, where in step.args)]
        dtypes = (*(dtype for _, dtype in results), *step.dtypes)
        if found.program:
            return prepared(self.device, implementation(found.program)(step.options, layouts, dtypes), len(layouts))
        name = found.run
        if isinstance(step.options, Batch):
            name = found.batch
        elif isinstance(step.options, FusedCall):
            name = found.fused
        return implementation(name)(self.device, step.options, layouts, dtypes)

    def take_error(self) -> str:
        number = memory.take_error(self.device)
        return f"index out of bounds ({self._locations.text(number)})" if number else ""
