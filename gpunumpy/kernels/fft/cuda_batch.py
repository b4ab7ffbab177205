"""Batches of equal small transforms: the call of each alone costs more than its work.

A kernel gathers the sources into one array, cuFFT transforms them at once, and a kernel scatters the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import prod
from typing import Any

from ...core.graph.layout import Layout, c_layout, is_c_contiguous
from ...core.graph.library_calls.record import Batch
from ...core.graph.library_calls.transforms import Transform
from ...core.runtime import memory
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ...core.schedule.batch import MAX_BATCH
from ...nvlib import cufft
from ..codegen.program import Program
from ..cuda.pointers import picked
from ..cuda.program import prepare_program, scratch_offsets
from ..cuda.program_builder import THREADS, ProgramBuilder, select_parameters

_WORD_BYTES = 16  # that a thread copies at once where alignment allows
_COPY_TYPES = {2: "unsigned short", 4: "unsigned", 8: "unsigned long long", 16: "ulonglong2"}


def fft_batch(device: Device, options: Batch, layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare equal transforms as one transform of a batch.

    The size of the batch is rounded up to a power of two, so that few plans serve all counts. The transforms beyond the
    last one read uninitialised memory, and their results are not used.
    """
    count, transform = options.calls, options.options
    assert isinstance(transform, Transform)
    out_dtype, dtype = dtypes[0], dtypes[count]
    rows = 1 << (count - 1).bit_length()
    source, target = (c_layout((rows, *layouts[k].shape)) for k in (count, 0))
    sizes = (rows * layout.strides[0] * item.itemsize for layout, item in ((source, dtype), (target, out_dtype)))
    (_, target_start), total = scratch_offsets(*sizes)
    transform = transform._replace(axes=tuple(axis + 1 for axis in transform.axes))
    execute = cufft.fft(device, transform, (target, source), (out_dtype, dtype))
    order = sorted(range(count), key=lambda k: layouts[count + k].strides)
    gathers, start = [], 0
    for _, calls in groupby(order, lambda k: layouts[count + k].strides):
        positions = [count + k for k in calls]
        program = copying([layouts[p] for p in positions], dtype.itemsize, into=True)
        operands = picked([(p, layouts[p].offset * dtype.itemsize) for p in positions])
        gathers.append(
            (prepare_program(device, program, MAX_BATCH + 1), operands, start * source.strides[0] * dtype.itemsize)
        )
        start += len(positions)
    results = picked([(k, 0) for k in order])
    scatter = prepare_program(
        device, copying([layouts[k] for k in order], out_dtype.itemsize, into=False), MAX_BATCH + 1
    )

    def run(pointers: Sequence[int]) -> None:
        block = memory.allocate_fixed(device, total)
        for gather, operands, offset in gathers:
            gather((*operands(pointers), block.ptr + offset))
        execute((block.ptr + target_start, block.ptr))
        scatter((*results(pointers), block.ptr + target_start))

    return run


def copying(values: Sequence[Layout], itemsize: int, *, into: bool) -> Program:
    """Return the program that copies values of one shape and equal strides into one packed array, or out of it.

    Its arguments are the pointers of `MAX_BATCH` values, and the pointer of the packed array.
    """
    count, layout = len(values), values[0]._replace(offset=0)
    nbytes = prod(layout.shape) * itemsize
    if is_c_contiguous(layout.shape, layout.strides):
        by_words = nbytes % _WORD_BYTES == 0 and all(value.offset * itemsize % _WORD_BYTES == 0 for value in values)
        itemsize = _WORD_BYTES if by_words else itemsize
        layout = c_layout((nbytes // itemsize,))
    builder, copy_type = ProgramBuilder(), _COPY_TYPES[itemsize]
    tiles = -(-prod(layout.shape) // THREADS)
    step, size = builder.param(tiles), builder.param(prod(layout.shape))
    body = (
        f"  const int number = blockIdx.x / (int){step};\n"
        f"  const long long e = (long long)(blockIdx.x % (int){step}) * {THREADS} + threadIdx.x;\n"
        f"  if (e >= {size}) return;\n"
        f"  {select_parameters('number', {'x': f'{copy_type}*'}, MAX_BATCH)}\n"
        f"  {builder.unravel('e', layout.shape)}\n"
    )
    element, packed = f"x[{builder.offset(layout, layout.shape)}]", f"packed[number * {size} + e]"
    body += f"  {packed} = {element};" if into else f"  {element} = {packed};"
    builder.add_entry("gather" if into else "scatter", body, tiles * count)
    return builder.build([*(f"{copy_type}* x_{k}" for k in range(MAX_BATCH)), f"{copy_type}* packed"])
