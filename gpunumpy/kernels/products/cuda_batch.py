"""Equal small calls that run as one: for a call of its own each would wait longer than it takes.

Transforms become a batch: one kernel brings together what they read, and one brings what they make to where it goes. A
product has a kernel that takes the operands of all, or is one of a batch of cuBLAS's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby
from math import prod
from operator import itemgetter
from typing import Any

import numpy

from ...core.graph.layout import Layout, c_layout, is_c
from ...core.runtime import memory
from ...core.runtime.device import Device
from ...core.schedule.batch import MAX_BATCH, Batch
from ...core.schedule.epilogues import Product
from ...core.schedule.transforms import Transform
from ...nvlib import cublas, cufft
from ..codegen.program import Program
from ..cuda.compile import compile_program
from ..cuda.launch import Launcher
from ..cuda.program import Prepared, pieces, prepared
from ..cuda.routine import THREADS, Routine, chosen
from .cuda import by_addresses, matmul
from .cuda_small import is_small, small_matmul

_WORD = 16  # bytes that a thread copies where it can
_MOVED = {2: "unsigned short", 4: "unsigned", 8: "unsigned long long", 16: "ulonglong2"}

# Takes the pointers that one of the calls is given from all of them.
_Pick = Callable[[Sequence[int]], Sequence[int]]


def fft_together(device: Device, options: Batch, layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Prepared:
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
        picked = _picked([(p, layouts[p].offset * dtype.itemsize) for p in places])
        gathers.append((prepared(device, program, MAX_BATCH + 1), picked, start * source.strides[0] * dtype.itemsize))
        start += len(places)
    results = _picked([(k, 0) for k in order])
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


def _picked(words: Sequence[tuple[int, int]], each: int = 1) -> _Pick:
    """The pointers at these places, each so many bytes on; the first call's again where there are fewer than the most.

    A call has `each` of them.
    """
    words = [*words, *list(words[:each]) * (MAX_BATCH - len(words) // each)]
    if not any(start for _, start in words):
        return itemgetter(*[place for place, _ in words])
    return lambda pointers: [pointers[place] + start for place, start in words]


def matmul_together(device: Device, options: Batch, layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Prepared:
    """Prepare equal products, by one launch or call for all whose operands lie alike."""
    count, product = options.calls, Product(*options.options)
    each = len(layouts) // count - 1
    operands = [range(count + k * each, count + (k + 1) * each) for k in range(count)]

    def ways(k: int) -> list[tuple[int, ...]]:
        return [layouts[p].strides for p in operands[k]]

    launches: list[tuple[Prepared, _Pick]] = []
    for _, group in groupby(sorted(range(count), key=ways), ways):
        alike = list(group)
        sets = [(k, *operands[k]) for k in alike]
        matrices = [layouts[p]._replace(offset=0) for p in sets[0][:3]]
        kinds = [dtypes[p] for p in sets[0]]
        places = [(p, layouts[p].offset * dtypes[p].itemsize) for one in sets for p in one]
        if is_small(matrices, kinds[1]):
            program, wires = small_matmul(matrices, kinds, product.after, len(alike))
            function = compile_program(program.text, ("small_matmul",), device)["small_matmul"]
            (launch,) = program.launches
            run_all: Prepared = Launcher(device, function, launch.grid, launch.block, 0, wires, program.params)
            launches.append((run_all, _picked(places, len(sets[0]))))
        else:
            launches.append((_batch(device, product, matrices, kinds, len(alike)), _picked(places)))

    def run(pointers: Sequence[int]) -> None:
        for launch, operands in launches:
            launch(operands(pointers))

    return run


def _batch(device: Device, product: Product, matrices: Sequence[Layout], dtypes: Sequence[Any], count: int) -> Prepared:
    """So many products that are one call of a library, over the pointers of each, one product after the other."""
    out, dtype = dtypes[:2]
    result, left, right = matrices
    plan = cublas.gemms(result, left, right, product.conjugate)
    multiply = by_addresses(device, plan, dtype, out, product, count)

    @cache
    def one() -> Prepared:
        return matmul(device, product, matrices, dtypes)

    def run(pointers: Sequence[int]) -> None:
        words = numpy.array(pointers[: 3 * count]).reshape(count, 3)
        if not multiply(words.T):
            for each in words.tolist():
                one()(each)

    return run
