"""Kernels that index their arrays by themselves, on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.dtypes import C_TYPE, DType
from ...core.graph.layout import Layout
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ..cuda.launch import Launcher
from ..cuda.module import Function
from ..cuda.user_program import LoadedProgram, UserProgram, load
from .loop_text import Loop, layouts_of, numbers_of, shape_of, texts

THREADS = 256
_MAX_BLOCKS = 1 << 16
# As other operations: the compiler contracts no multiplications and additions, unless the user asks for it.
_CONTRACTION = "--fmad"


def program_of(loop: Loop, ndims: tuple[int, ...], dimensions: int) -> UserProgram:
    """Return the program of a loop: ``main`` is the loop, and ``copy_<k>`` copies the value that an output has."""
    text, function, declarations = texts(loop._replace(size=0), ndims, dimensions)
    names = ", ".join(declaration.split()[-1] for declaration in declarations.split(", "))
    where = "(i64)blockIdx.x * blockDim.x + threadIdx.x, (i64)gridDim.x * blockDim.x"
    entries = [
        f'extern "C" __global__ void __launch_bounds__({THREADS}) main_({declarations}, i64 n) {{\n'
        f"  {function}({names}, {where}, n);\n}}"
    ]
    for k, output in enumerate(loop.outputs):
        if output.has_value:
            entries.append(_copy_entry(k, C_TYPE[output.dtype], ndims[len(loop.inputs) + k]))
    contracts = any(option.lstrip("-").startswith(("fmad", "use_fast_math")) for option in loop.options)
    options = loop.options if contracts else (*loop.options, f"{_CONTRACTION}=false")
    return UserProgram("\n".join([text, *entries]), options)


def _copy_entry(number: int, c_type: str, ndim: int) -> str:
    sizes = "".join(f", i64 z{d}, i64 s{d}" for d in range(ndim))
    steps = "".join(f"    at += rest % z{d} * s{d}; rest /= z{d};\n" for d in reversed(range(ndim)))
    return (
        f'extern "C" __global__ void copy_{number}({c_type}* y, const {c_type}* x, i64 n, i64 offset{sizes}) {{\n'
        "  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (i64)gridDim.x * blockDim.x) {\n"
        f"    i64 rest = i, at = offset;\n{steps}    y[i] = x[at];\n  }}\n}}"
    )


def run_loop(device: Device, options: tuple[Loop], layouts: Sequence[Layout], dtypes: Sequence[DType]) -> Runner:
    """Prepare a loop; the results are in C order."""
    (loop,) = options
    arrays, starts = layouts_of(loop, layouts)
    shape = shape_of(loop, arrays)
    count = prod(shape)
    loaded = load(program_of(loop, tuple([len(x.shape) for x in arrays]), len(shape)), device)
    results, inputs = len(loop.outputs), len(loop.inputs)
    main = _launcher(device, loaded, "main_", count, len(arrays), [*numbers_of(loop, arrays), count])
    copies = []
    for k, argument in starts:
        old = layouts[argument]
        size = prod(old.shape)
        numbers = [n for pair in zip(old.shape, old.strides, strict=True) for n in pair]
        copies.append((k, argument, _launcher(device, loaded, f"copy_{k}", size, 2, [size, old.offset, *numbers])))

    def run(values: Sequence[Any]) -> None:
        for k, argument, copy in copies:
            copy([values[k], values[argument]])
        if count:
            main([*values[results : results + inputs], *values[:results]])

    return run


def _launcher(
    device: Device, loaded: LoadedProgram, entry: str, count: int, pointers: int, numbers: Sequence[int]
) -> Launcher:
    """Return the launcher of an entry over so many elements, which takes addresses and then numbers."""
    function = Function()
    function.load(loaded.module, entry)
    blocks = max(1, min(_MAX_BLOCKS, -(-count // THREADS)))
    return Launcher(device, function, (blocks,), (THREADS,), 0, "Q" * pointers, numbers)
