"""Kernels that index their arrays by themselves, on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...core.dtypes import DType
from ...core.graph.layout import Layout
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ..codegen.program import Launch, Program
from ..cuda.launch import Launcher
from ..cuda.module import Function
from ..cuda.user_program import UserProgram, load
from .loop_text import MadeLoop, layouts_of, numbers_of, shape_of, texts

THREADS = 256
_MAX_BLOCKS = 1 << 16
_MAIN = "run_loop"
# As other operations: the compiler contracts no multiplications and additions, unless the user asks for it.
_CONTRACTION = "--fmad"


def loop_program(options: tuple[MadeLoop, int, int], layouts: Sequence[Layout], dtypes: Sequence[DType]) -> Program:
    """Return the program of a loop that `is_plain`. The second option is the size of a loop without shaped arrays."""
    made, size, _ = options
    arrays = layouts_of(made.loop, layouts)
    shape = shape_of(made.loop, arrays, size)
    count = prod(shape)
    text = program_text(made, tuple([len(x.shape) for x in arrays]), len(shape))
    launch = Launch(_MAIN, (_blocks(count), 1, 1), (THREADS, 1, 1))
    return Program(text, (launch,), (), False, (*numbers_of(arrays, shape), count))


def program_text(made: MadeLoop, ndims: tuple[int, ...], dimensions: int) -> str:
    """Return C++ of an entry for a loop.

    It takes the addresses of the outputs that differ, of inputs, and `numbers_of`; then the number of elements.
    """
    text, function, declarations = texts(made, ndims, dimensions)
    loop = made.loop
    each = declarations.split(", ")
    count, arrays = len(loop.parameters), loop.arrays
    names = [declaration.split()[-1] for declaration in each]
    names[:count] = [names[arrays.index(number)] for number in arrays]  # one address of an array given twice
    inputs = len(loop.inputs)
    outputs = [x for k, x in enumerate(each[:count]) if k >= inputs and arrays.index(arrays[k]) == k]
    ordered = ", ".join([*outputs, *each[:inputs], *each[count:], "i64 n"])
    where = "(i64)blockIdx.x * blockDim.x + threadIdx.x, (i64)gridDim.x * blockDim.x"
    return (
        f'{text}\nextern "C" __global__ void __launch_bounds__({THREADS}) {_MAIN}({ordered}) {{\n'
        f"  {function}({', '.join(names)}, {where}, n);\n}}"
    )


def program_of(made: MadeLoop, ndims: tuple[int, ...], dimensions: int) -> UserProgram:
    """Return the program of a loop with the user's options."""
    options = made.loop.options
    contracts = any(option.lstrip("-").startswith(("fmad", "use_fast_math")) for option in options)
    return UserProgram(
        program_text(made, ndims, dimensions), options if contracts else (*options, f"{_CONTRACTION}=false")
    )


def run_loop(
    device: Device, options: tuple[MadeLoop, int, int], layouts: Sequence[Layout], dtypes: Sequence[DType]
) -> Runner:
    """Prepare a loop with options, or files to include. The results are in C order."""
    made, size, _ = options
    arrays = layouts_of(made.loop, layouts)
    shape = shape_of(made.loop, arrays, size)
    count = prod(shape)
    function = Function()
    function.load(load(program_of(made, tuple([len(x.shape) for x in arrays]), len(shape)), device).module, _MAIN)
    launch = Launch(_MAIN, (_blocks(count), 1, 1), (THREADS, 1, 1))
    return Launcher(device, function, launch, "Q" * len(layouts), [*numbers_of(arrays, shape), count])


def _blocks(count: int) -> int:
    return max(1, min(_MAX_BLOCKS, -(-count // THREADS)))
