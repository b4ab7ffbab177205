"""Equal small matrix products that run as one: for a call of its own each would wait longer than it takes.

A kernel takes the operands of all, or they are a batch of cuBLAS's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import groupby
from typing import Any

import numpy

from ...core.graph.layout import Layout
from ...core.graph.library_calls.products import Product
from ...core.graph.library_calls.record import Batch
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ...nvlib import cublas
from ..cuda.compile import compile_program
from ..cuda.launch import Launcher
from ..cuda.pointers import Pick, picked
from .cuda import by_addresses, matmul
from .cuda_small import is_small, small_matmul


def matmul_batch(device: Device, options: Batch, layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare equal products, by one launch or call for all whose operands lie alike."""
    count, product = options.calls, Product(*options.options)
    each = len(layouts) // count - 1
    operands = [range(count + k * each, count + (k + 1) * each) for k in range(count)]

    def ways(k: int) -> list[tuple[int, ...]]:
        return [layouts[p].strides for p in operands[k]]

    launches: list[tuple[Runner, Pick]] = []
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
            run_all: Runner = Launcher(device, function, launch.grid, launch.block, 0, wires, program.params)
            launches.append((run_all, picked(places, len(sets[0]))))
        else:
            launches.append((_batch(device, product, matrices, kinds, len(alike)), picked(places)))

    def run(pointers: Sequence[int]) -> None:
        for launch, operands in launches:
            launch(operands(pointers))

    return run


def _batch(device: Device, product: Product, matrices: Sequence[Layout], dtypes: Sequence[Any], count: int) -> Runner:
    """So many products that are one call of a library, over the pointers of each, one product after the other."""
    out, dtype = dtypes[:2]
    result, left, right = matrices
    plan = cublas.gemms(result, left, right, product.conjugate)
    multiply = by_addresses(device, plan, dtype, out, product, count)

    @cache
    def one() -> Runner:
        return matmul(device, product, matrices, dtypes)

    def run(pointers: Sequence[int]) -> None:
        words = numpy.array(pointers[: 3 * count]).reshape(count, 3)
        if not multiply(words.T):
            for each in words.tolist():
                one()(each)

    return run
