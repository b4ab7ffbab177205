"""Equal small transforms as one of a batch: for a call of its own each would wait longer than it takes.

One kernel brings together what they read, and one brings what they make to where it goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import prod
from typing import Any

from ...core.graph.layout import Layout, c_layout, is_c
from ...core.graph.library_calls.record import Batch
from ...core.graph.library_calls.transforms import Transform
from ...core.runtime import memory
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ...core.schedule.batch import MAX_BATCH
from ...nvlib import cufft
from ..codegen.program import Program
from ..cuda.pointers import picked
from ..cuda.program import pieces, prepared
from ..cuda.routine import THREADS, Routine, chosen

_WORD = 16  # bytes that a thread copies where it can
_MOVED = {2: "unsigned short", 4: "unsigned", 8: "unsigned long long", 16: "ulonglong2"}


def fft_batch(device: Device, options: Batch, layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare equal transforms as one of a batch.

    Its size is rounded up to a power of two, so that few plans serve all counts. What is beyond the last is transformed
    as memory holds it.
    """
    count, transform = options.calls, options.options
    assert isinstance(transform, Transform)
    made, dtype = dtypes[0], dtypes[count]
    rows = 1 << (count - 1).bit_length()
    source, target = (c_layout((rows, *layouts[k].shape)) for k in (count, 0))
    sizes = (rows * where.strides[0] * unit.itemsize for where, unit in ((source, dtype), (target, made)))
    (_, begin), total = pieces(*sizes)
    transform = transform._replace(axes=tuple(axis + 1 for axis in transform.axes))
    execute = cufft.fft(device, transform, (target, source), (made, dtype))
    order = sorted(range(count), key=lambda k: layouts[count + k].strides)
    gathers, start = [], 0
    for _, alike in groupby(order, lambda k: layouts[count + k].strides):
        places = [count + k for k in alike]
        program = moving([layouts[p] for p in places], dtype.itemsize, into=True)
        operands = picked([(p, layouts[p].offset * dtype.itemsize) for p in places])
        gathers.append((prepared(device, program, MAX_BATCH + 1), operands, start * source.strides[0] * dtype.itemsize))
        start += len(places)
    results = picked([(k, 0) for k in order])
    scatter = prepared(device, moving([layouts[k] for k in order], made.itemsize, into=False), MAX_BATCH + 1)

    def run(pointers: Sequence[int]) -> None:
        held = memory.allocate(device, total)
        for gather, operands, place in gathers:
            gather((*operands(pointers), held.ptr + place))
        execute((held.ptr + begin, held.ptr))
        scatter((*results(pointers), held.ptr + begin))

    return run


def moving(values: Sequence[Layout], itemsize: int, *, into: bool) -> Program:
    """The program that copies values of one shape and of equal strides to where they follow each other, or from there.

    It takes the pointer of each, as many as there can be at most, and that of the first one there.
    """
    count, one = len(values), values[0]._replace(offset=0)
    nbytes = prod(one.shape) * itemsize
    if is_c(one.shape, one.strides):
        whole = nbytes % _WORD == 0 and all(where.offset * itemsize % _WORD == 0 for where in values)
        itemsize = _WORD if whole else itemsize
        one = c_layout((nbytes // itemsize,))
    routine, moved = Routine(), _MOVED[itemsize]
    tiles = -(-prod(one.shape) // THREADS)
    step, size = routine.param(tiles), routine.param(prod(one.shape))
    body = (
        f"  const int which = blockIdx.x / (int){step};\n"
        f"  const long long e = (long long)(blockIdx.x % (int){step}) * {THREADS} + threadIdx.x;\n"
        f"  if (e >= {size}) return;\n"
        f"  {chosen('which', {'x': f'{moved}*'}, MAX_BATCH)}\n"
        f"  {routine.split('e', one.shape)}\n"
    )
    here, there = f"x[{routine.offset(one, one.shape)}]", f"together[which * {size} + e]"
    body += f"  {there} = {here};" if into else f"  {here} = {there};"
    routine.entry("gather" if into else "scatter", body, tiles * count)
    return routine.program([*(f"{moved}* x_{k}" for k in range(MAX_BATCH)), f"{moved}* together"])
