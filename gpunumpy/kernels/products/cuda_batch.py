"""Batches of equal small matrix products: the call of each alone costs more than its work.

One kernel takes the operands of all products, or cuBLAS computes them as a batch.
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
from ..cuda.compile import compiled_side_by_side
from ..cuda.pointers import Pick, picked
from ..cuda.program import launcher
from .cuda import by_addresses, matmul
from .cuda_small import is_small, small_matmul


def matmul_batch(device: Device, options: Batch, layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare equal products, by one launch or library call for all products whose operands have equal strides."""
    count, product = options.calls, Product(*options.options)
    per_call = len(layouts) // count - 1
    operands = [range(count + k * per_call, count + (k + 1) * per_call) for k in range(count)]

    def strides_of(k: int) -> list[tuple[int, ...]]:
        return [layouts[p].strides for p in operands[k]]

    launches: list[tuple[Runner, Pick]] = []
    for _, group in groupby(sorted(range(count), key=strides_of), strides_of):
        calls = [(k, *operands[k]) for k in group]  # the positions of the pointers of each call
        matrices = [layouts[p]._replace(offset=0) for p in calls[0][:3]]
        call_dtypes = [dtypes[p] for p in calls[0]]
        words = [(p, layouts[p].offset * dtypes[p].itemsize) for call in calls for p in call]
        if is_small(matrices, call_dtypes[1]):
            run_all = launcher(device, *small_matmul(matrices, call_dtypes, product.epilogues, len(calls)))
            launches.append((run_all, picked(words, len(calls[0]))))
        else:
            run_batch = _prepare_library_batch(device, product, matrices, call_dtypes, len(calls))
            launches.append((run_batch, picked(words)))

    def run(pointers: Sequence[int]) -> None:
        for launch, pick in launches:
            launch(pick(pointers))

    return run


def _prepare_library_batch(
    device: Device, product: Product, matrices: Sequence[Layout], dtypes: Sequence[Any], count: int
) -> Runner:
    """Prepare `count` products as one call of cuBLAS, over the pointers of each product in turn.

    Where they are not aligned for that, the products run one by one.
    """
    out, dtype = dtypes[:2]
    result, left, right = matrices
    plan = cublas.gemms(result, left, right, product.conjugate)
    multiply = by_addresses(device, plan, dtype, out, product, count)

    @cache
    def run_one() -> Runner:
        with compiled_side_by_side():
            return matmul(device, product, matrices, dtypes)

    def run(pointers: Sequence[int]) -> None:
        words = numpy.array(pointers[: 3 * count]).reshape(count, 3)
        if not multiply(words.T):
            for call in words.tolist():
                run_one()(call)

    return run
