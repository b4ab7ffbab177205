"""Preparation of a program of kernels: compiled for a GPU, with its scratch memory, ready to run."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ...core.runtime import memory
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ..codegen.program import Program
from .compile import compile_program
from .launch import Launcher

_ALIGNMENT = 256  # of pieces of scratch memory, in bytes


def prepare_program(device: Device, program: Program, count: int) -> Runner:
    """Return a function that runs the program over `count` pointers."""
    entries = tuple(launch.entry for launch in program.launches)
    functions = compile_program(program.text, entries, device) if entries else {}
    flag = (memory.index_error_word(device),) if program.flag else ()
    argument_format = "Q" * (count + len(program.scratch) + len(flag))
    launchers = [
        Launcher(device, functions[x.entry], x.grid, x.block, x.shared, argument_format, program.params)
        for x in program.launches
    ]
    if len(launchers) == 1 and not program.scratch and not flag:
        return launchers[0]
    starts, total = scratch_offsets(*(scratch.nbytes for scratch in program.scratch))

    def run(values: Sequence[Any]) -> None:
        block = memory.allocate(device, total) if starts else None
        words = (*values, *(block.ptr + start for start in starts), *flag) if block else (*values, *flag)
        for launch in launchers:
            launch(words)

    return run


def scratch_offsets(*sizes: int) -> tuple[list[int], int]:
    """Return the offsets of pieces of scratch memory in one block, and the bytes of the block."""
    starts = [0, *itertools.accumulate(-(-size // _ALIGNMENT) * _ALIGNMENT for size in sizes)]
    total = starts.pop()
    return starts, total
