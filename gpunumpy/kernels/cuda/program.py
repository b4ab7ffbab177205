"""A program of kernels with its scratch memory, compiled for a GPU and ready to run."""

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

_ALIGNED = 256  # bytes, where a piece of scratch memory begins


def prepared(device: Device, program: Program, count: int) -> Runner:
    """A function that runs the program over `count` pointers."""
    entries = tuple(launch.entry for launch in program.launches)
    functions = compile_program(program.text, entries, device) if entries else {}
    flag = (memory.error_word(device),) if program.flag else ()
    wire = "Q" * (count + len(program.scratch) + len(flag))
    launchers = [
        Launcher(device, functions[x.entry], x.grid, x.block, x.shared, wire, program.params) for x in program.launches
    ]
    if len(launchers) == 1 and not program.scratch and not flag:
        return launchers[0]
    starts, total = pieces(*(scratch.nbytes for scratch in program.scratch))

    def run(values: Sequence[Any]) -> None:
        held = memory.allocate(device, total) if starts else None
        words = (*values, *(held.ptr + start for start in starts), *flag) if held else (*values, *flag)
        for launch in launchers:
            launch(words)

    return run


def pieces(*sizes: int) -> tuple[list[int], int]:
    """Where pieces of scratch memory begin in one block of it, one after the other; and the bytes of the block."""
    starts = [0, *itertools.accumulate(-(-size // _ALIGNED) * _ALIGNED for size in sizes)]
    total = starts.pop()
    return starts, total
