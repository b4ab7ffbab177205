"""A user's text is compiled alone when its types are first known, so that an error is raised where it is called."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.dtypes import DType
from ...core.errors import DeviceError
from ...core.graph.bounded_table import BoundedTable
from ...core.ops.made import MadeOp, MadeReduction
from ...core.runtime.device import Device
from ..codegen.op_code import helpers
from ..cuda.compile import compile_program, compile_target
from ..cuda.nvrtc import CompileError, with_line_numbers
from ..cuda.user_program import UserProgram, compile_for
from . import cuda_loops, host_loops
from .host_compiler import HostCompileError, library
from .host_reductions import reduction_loops_text
from .loop_text import MadeLoop
from .reduction_text import ReductionTexts
from .reduction_text import check_text as reduction_check_text
from .text import Operation, check_text

_checked: BoundedTable[tuple[object, ...], bool] = BoundedTable()


def check_op(op: MadeOp, loop: tuple[DType, ...], device: Device, operation: Operation) -> None:
    """Raise DeviceError if an op does not compile for a device."""
    if _checked.find((op, device)):
        return
    if device.kind == "cpu":
        text, program = host_loops.loop_text(op, loop), None
    else:
        text, program = "", UserProgram(check_text(op, loop, helpers([(op, loop)])))
    _compile(text, program, device, operation.name, [operation.preamble, operation.text])
    _checked.keep((op, device), True)


def check_reduction(op: MadeReduction, loop: tuple[DType, DType], device: Device, texts: ReductionTexts) -> None:
    """Raise DeviceError if a reduction does not compile for a device."""
    if _checked.find((op, device)):
        return
    if device.kind == "cpu":
        text, program = reduction_loops_text(op, loop), None
    else:
        text, program = "", UserProgram(reduction_check_text(op, loop, helpers([(op, loop)])))
    _compile(
        text, program, device, texts.name, [texts.preamble, texts.identity, texts.map, texts.combine, texts.finish]
    )
    _checked.keep((op, device), True)


def check_loop(made: MadeLoop, ndims: tuple[int, ...], dimensions: int, device: Device) -> None:
    """Raise DeviceError if a loop over arrays of so many dimensions does not compile for a device."""
    key = (made, ndims, dimensions, device)
    if _checked.find(key):
        return
    if device.kind == "cpu":
        text, program = host_loops.whole_loop_text(made, ndims, dimensions), None
    else:
        text = cuda_loops.program_text(made, ndims, dimensions) if made.is_plain else ""
        program = None if made.is_plain else cuda_loops.program_of(made, ndims, dimensions)
    loop = made.loop
    _compile(text, program, device, loop.name, [loop.preamble, loop.before, loop.operation, loop.after])
    _checked.keep(key, True)


def _compile(text: str, program: UserProgram | None, device: Device, name: str, parts: Sequence[str]) -> None:
    """Compile a program for a GPU, or a text as those of the package are; an error shows the user's texts alone."""
    try:
        if program is not None:
            compile_for(program, *compile_target(device.attributes.arch))
        elif device.kind == "cpu":
            library(text)
        else:
            compile_program(text, (), device)  # what runs it finds it loaded
    except (CompileError, HostCompileError) as error:
        told = "\n\n".join(with_line_numbers(part) for part in parts if part.strip())
        raise DeviceError(f"{name} does not compile for {device}:\n{error.log}\n{told}") from None
