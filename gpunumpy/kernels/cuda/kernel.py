"""What runs a kernel of the scheduler on a GPU by a program: its launches, with the scratch memory that they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.runtime import memory
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ...core.schedule.kernel import Kernel
from ..codegen.program import Program
from .compile import compile_program
from .launch import ARGUMENT_FORMAT, Launcher, kind_of
from .module import Function
from .scratch import ScratchLauncher, ScratchMemory


def kinds_of(kernel: Kernel) -> str:
    """Return a letter for each argument of a kernel, or of its structure: a key of `ARGUMENT_FORMAT`."""
    return "".join([kind_of(arg) for arg in kernel.args])


class KernelLauncher:
    """Makes what launches programs of a kernel over the kernel's arguments.

    Parameters
    ----------
    device : Device
        The GPU.
    kinds : str
        As `kinds_of` returns them. Programs for all sizes of a kernel take the same arguments.
    """

    def __init__(self, device: Device, kinds: str) -> None:
        self.device, self.kinds = device, kinds
        self._format = "".join(ARGUMENT_FORMAT[k] for k in kinds)
        self._complex_args = [n for n, k in enumerate(kinds) if k == "c"]
        self._bool_args = [n for n, k in enumerate(kinds) if k == "b"]

    def __call__(self, program: Program, functions: Mapping[str, Function] | None = None) -> Runner:
        """Return what launches a program.

        Its functions are those that are given, or the program is compiled and loaded.
        """
        device, complex_args, bool_args = self.device, self._complex_args, self._bool_args
        device.activate()
        flag = (memory.index_error_word(device),) if program.flag else ()
        if functions is None:
            functions = compile_program(program.text, tuple([x.entry for x in program.launches]), device)
        layout = self._format + "Q" * len(program.scratch)
        launchers = [
            Launcher(device, functions[launch.entry], launch, layout, program.params, flag)
            for launch in program.launches
        ]
        if not (complex_args or bool_args or program.scratch) and len(launchers) == 1:
            return launchers[0]
        scratch = ScratchMemory(device, program.scratch)
        if len(launchers) == 1 and not (complex_args or bool_args):
            return ScratchLauncher(launchers[0], scratch)

        def run(values: Sequence[Any]) -> None:
            wire: list[Any] = list(values)
            for n in bool_args:
                wire[n] = bool(wire[n])  # a Python number in a loop of bools stands for its truth value
            for n in reversed(complex_args):
                wire[n : n + 1] = (wire[n].real, wire[n].imag)
            buffers = scratch.allocate()
            wire += scratch.addresses(buffers)
            for launch in launchers:
                launch(wire)

        run.is_one_launch = len(launchers) == 1  # type: ignore[attr-defined]
        return run
