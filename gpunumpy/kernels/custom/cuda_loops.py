"""Kernels that index their arrays by themselves, on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.dtypes import C_TYPE, DType
from ...core.graph.layout import Layout
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ..codegen.program import Launch, Program
from ..cuda.launch import Launcher
from ..cuda.module import Function
from ..cuda.user_program import LoadedProgram, UserProgram, load
from .loop_text import MadeLoop, layouts_of, numbers_of, shape_of, texts

THREADS = 256
_MAX_BLOCKS = 1 << 16
_MAIN = "run_loop"
# As other operations: the compiler contracts no multiplications and additions, unless the user asks for it.
_CONTRACTION = "--fmad"


def loop_program(options: tuple[MadeLoop, int], layouts: Sequence[Layout], dtypes: Sequence[DType]) -> Program:
    """Return the program of a loop that `is_plain`. The second option is the size of a loop without shaped arrays."""
    made, size = options
    arrays, _ = layouts_of(made.loop, layouts)
    shape = shape_of(made.loop, arrays, size)
    count = prod(shape)
    text = program_text(made, tuple([len(x.shape) for x in arrays]), len(shape))
    launch = Launch(_MAIN, (_blocks(count), 1, 1), (THREADS, 1, 1))
    return Program(text, (launch,), (), False, (*numbers_of(arrays, shape), count))


def program_text(made: MadeLoop, ndims: tuple[int, ...], dimensions: int) -> str:
    """Return C++ of an entry for a loop, and of one for each output that has a value, which copies it.

    The entry of the loop takes the addresses of outputs, of inputs, and `numbers_of`; then the number of elements.
    """
    text, function, declarations = texts(made, ndims, dimensions)
    loop = made.loop
    each = declarations.split(", ")
    names = ", ".join(declaration.split()[-1] for declaration in each)
    inputs, outputs = len(loop.inputs), len(loop.parameters)
    ordered = ", ".join([*each[inputs:outputs], *each[:inputs], *each[outputs:], "i64 n"])
    where = "(i64)blockIdx.x * blockDim.x + threadIdx.x, (i64)gridDim.x * blockDim.x"
    entries = [
        f'extern "C" __global__ void __launch_bounds__({THREADS}) {_MAIN}({ordered}) {{\n'
        f"  {function}({names}, {where}, n);\n}}"
    ]
    for k, output in enumerate(loop.outputs):
        if output.has_value:
            entries.append(_copy_entry(k, C_TYPE[output.dtype], ndims[inputs + k]))
    return "\n".join([text, *entries])


def program_of(made: MadeLoop, ndims: tuple[int, ...], dimensions: int) -> UserProgram:
    """Return the program of a loop with the user's options."""
    options = made.loop.options
    contracts = any(option.lstrip("-").startswith(("fmad", "use_fast_math")) for option in options)
    return UserProgram(
        program_text(made, ndims, dimensions), options if contracts else (*options, f"{_CONTRACTION}=false")
    )


def _copy_entry(number: int, c_type: str, ndim: int) -> str:
    sizes = "".join(f", i64 z{d}, i64 s{d}" for d in range(ndim))
    steps = "".join(f"    at += rest % z{d} * s{d}; rest /= z{d};\n" for d in reversed(range(ndim)))
    return (
        f'extern "C" __global__ void copy_{number}({c_type}* y, const {c_type}* x, i64 n, i64 offset{sizes}) {{\n'
        "  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (i64)gridDim.x * blockDim.x) {\n"
        f"    i64 rest = i, at = offset;\n{steps}    y[i] = x[at];\n  }}\n}}"
    )


def run_loop(
    device: Device, options: tuple[MadeLoop, int], layouts: Sequence[Layout], dtypes: Sequence[DType]
) -> Runner:
    """Prepare a loop with options, files to include, or outputs that have values. The results are in C order."""
    made, size = options
    loop = made.loop
    arrays, starts = layouts_of(loop, layouts)
    shape = shape_of(loop, arrays, size)
    count = prod(shape)
    loaded = load(program_of(made, tuple([len(x.shape) for x in arrays]), len(shape)), device)
    taken = len(arrays)
    main = _launcher(device, loaded, _MAIN, count, len(arrays), [*numbers_of(arrays, shape), count])
    copies = []
    for k, argument in starts:
        old = layouts[argument]
        elements = prod(old.shape)
        numbers = [n for pair in zip(old.shape, old.strides, strict=True) for n in pair]
        copies.append(
            (k, argument, _launcher(device, loaded, f"copy_{k}", elements, 2, [elements, old.offset, *numbers]))
        )

    def run(values: Sequence[Any]) -> None:
        for k, argument, copy in copies:
            copy([values[k], values[argument]])
        if count:
            main(values[:taken])

    return run


def _launcher(
    device: Device, loaded: LoadedProgram, entry: str, count: int, pointers: int, numbers: Sequence[int]
) -> Launcher:
    """Return the launcher of an entry over so many elements, which takes addresses and then numbers."""
    function = Function()
    function.load(loaded.module, entry)
    launch = Launch(entry, (_blocks(count), 1, 1), (THREADS, 1, 1))
    return Launcher(device, function, launch, "Q" * pointers, numbers)


def _blocks(count: int) -> int:
    return max(1, min(_MAX_BLOCKS, -(-count // THREADS)))
