"""Preparation of a program of kernels: compiled for a GPU, with its scratch memory, ready to run."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import Any

from ...core.graph.bounded_table import BoundedTable
from ...core.runtime import memory
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ..codegen.program import Program
from .compile import compile_program, contraction
from .launch import Launcher
from .scratch import ScratchLauncher, ScratchMemory

_ALIGNMENT = 256  # of pieces of scratch memory, in bytes


# By all that the launchers of a program have in common at different sizes.
_launchers: BoundedTable[Hashable, Launcher] = BoundedTable()


def launcher(device: Device, program: Program, argument_format: str) -> Runner:
    """Return the launcher of a program of one launch, made from that of other sizes if there is one."""
    (x,) = program.launches
    argument_format += "Q" * len(program.scratch)
    flag = (memory.index_error_word(device),) if program.flag else ()
    key = device, contraction(), program.text, argument_format, x._replace(grid=(1, 1, 1)), flag
    known = _launchers.find(key)
    made = None if known is None else known.at(x.grid, program.params)
    if made is None:
        function = compile_program(program.text, (x.entry,), device)[x.entry]
        made = Launcher(device, function, x, argument_format, program.params, flag)
        _launchers.keep(key, made)
    if not program.scratch:
        return made
    scratch = ScratchMemory(device, program.scratch)
    if isinstance(made, Launcher):
        return ScratchLauncher(made, scratch)
    with_scratch: Runner = made.with_scratch(scratch.parts, scratch.counters())  # type: ignore[attr-defined]
    return with_scratch


def prepare_program(device: Device, program: Program, count: int) -> Runner:
    """Return a function that runs the program over `count` arguments.

    Scratch memory of several launches is not zeroed.
    """
    if len(program.launches) == 1:
        return launcher(device, program, program.arguments or "Q" * count)
    entries = tuple(launch.entry for launch in program.launches)
    functions = compile_program(program.text, entries, device) if entries else {}
    flag = (memory.index_error_word(device),) if program.flag else ()
    argument_format = (program.arguments or "Q" * count) + "Q" * (len(program.scratch) + len(flag))
    launchers = [
        Launcher(device, functions[launch.entry], launch, argument_format, program.params)
        for launch in program.launches
    ]
    starts, total = scratch_offsets(*(scratch.nbytes for scratch in program.scratch))

    def run(values: Sequence[Any]) -> None:
        block = memory.allocate_fixed(device, total) if starts else None
        words = (*values, *(block.ptr + start for start in starts), *flag) if block else (*values, *flag)
        for launch in launchers:
            launch(words)

    return run


def scratch_offsets(*sizes: int) -> tuple[list[int], int]:
    """Return the offsets of pieces of scratch memory in one block, and the bytes of the block."""
    starts = [0, *itertools.accumulate(-(-size // _ALIGNMENT) * _ALIGNMENT for size in sizes)]
    total = starts.pop()
    return starts, total
