"""Matrix products on a GPU: by cuBLASLt and cuBLAS, and by hand-written kernels for integers and small matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import copysign, frexp, prod
from typing import Any

import numpy

from ...core.dtypes import KIND
from ...core.graph.bounded_table import BoundedTable
from ...core.graph.layout import Layout
from ...core.graph.library_calls.products import Product, is_batch
from ...core.runtime import memory, memory_copy
from ...core.runtime.device import Device
from ...core.runtime.executors import implementation
from ...core.runtime.plan import Runner
from ...core.schedule.batch import MIN_BATCH
from ...core.schedule.kernel import Kernel
from ...core.schedule.sizes import value_of
from ...core.schedule.substitute import in_kernel, taken_out
from ...core.schedule.variants import Variants
from ...nvlib import cublas, cublaslt
from ..codegen.program import Program
from ..codegen.sized_program import SizedProgram
from ..cuda.compile import compiled_side_by_side
from ..cuda.kernel import KernelLauncher, kinds_of
from . import cuda_integers
from .cuda_epilogues import epilogue_kernel
from .cuda_small import is_small, small_matmul

_ALIGNMENT = 16  # of the matrices of a batch by addresses, in bytes
_MAX_ADDRESSES = 1 << 14  # products of a batch by addresses


def product_program(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program | None:
    """Return the program of the product of two values, if it is no library's; see `matmul`."""
    matrices = cublas.as_matrices(*layouts[:3])
    if KIND[dtypes[0]] in "biu":
        return cuda_integers.matmul(matrices, dtypes)
    if not is_small(matrices, dtypes[1]):
        return None
    program, arguments = small_matmul(matrices, dtypes, Product(*options).epilogues)
    return program._replace(arguments=arguments)


def matmul(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare the product of two values of one floating-point dtype, with NumPy's rules for vectors and stacks.

    The returned function takes the pointers of the result and the operands, and a pointer or scalar for each epilogue.
    """
    product = Product(*options)
    matrices = cublas.as_matrices(*layouts[:3])
    out, dtype = dtypes[:2]
    plan = cublas.gemms(*matrices, product.conjugate)

    # With epilogues the numbers that the product comes with decide which of the two is needed.
    @cache
    def unfused() -> Runner:
        with compiled_side_by_side():  # it may be needed first while the plan runs
            return _prepare_unfused(device, plan, out, dtype, product, matrices[0])

    def run_unfused(pointers: Sequence[Any]) -> None:
        unfused()(pointers)

    @cache
    def fused() -> Runner | None:
        return cublaslt.prepare(device, plan, dtype, out, product, run_unfused)

    if not product.epilogues:
        simple = fused() or unfused()
        return _prepare_as_batch(device, plan, dtype, out, product, simple) or simple

    def run(pointers: Sequence[Any]) -> None:
        in_library = fused() if _is_exact_in_library(product.epilogues, pointers) else None
        (in_library or unfused())(pointers)

    return run


def by_addresses(
    device: Device, plan: cublas.Gemms, dtype: Any, out: Any, product: Product, count: int
) -> Callable[[Any], bool]:
    """Prepare `count` equal products of matrices at any addresses, as one call.

    The returned function takes an array with three rows: the addresses of the results, the first operands and the
    second operands. It returns False, and does nothing, unless all are aligned as the library requires.
    """
    multiply = cublas.prepare_batch(device, plan, dtype, out, product.conjugate, product.precision, count)
    step = 8 * count

    def run(addresses: Any) -> bool:
        if int(numpy.bitwise_or.reduce(addresses, None)) % _ALIGNMENT:
            return False
        block = memory.allocate_fixed(device, 3 * step)
        memory_copy.copy_from_host(block, 0, addresses)
        multiply(block.ptr, block.ptr + step, block.ptr + 2 * step)
        return True

    return run


def _prepare_as_batch(
    device: Device, plan: cublas.Gemms, dtype: Any, out: Any, product: Product, fallback: Runner
) -> Runner | None:
    """Prepare the calls of a plan as one call, if they are many and the GPU computes each faster than the host calls.

    `fallback` runs instead where matrices are not aligned. Return None if a batch is no faster.
    """
    count, work = plan.batch * len(plan.offsets), plan.batch * prod(plan.sizes)
    unsuitable = len(plan.offsets) < MIN_BATCH or count > _MAX_ADDRESSES
    if unsuitable or product.epilogues or not is_batch(work, min(plan.sizes), dtype, product.precision):
        return None
    strides = numpy.array([plan.strides[2], plan.strides[1], plan.strides[0]]).reshape(3, 1, 1)
    starts = numpy.array([(c, a, b) for b, a, c in plan.offsets]).T.reshape(3, -1, 1)
    itemsizes = numpy.array([out.itemsize, dtype.itemsize, dtype.itemsize]).reshape(3, 1)
    offsets = (starts + strides * numpy.arange(plan.batch)).reshape(3, count) * itemsizes
    multiply = by_addresses(device, plan, dtype, out, product, count)

    def run(pointers: Sequence[Any]) -> None:
        if not multiply(offsets + numpy.array(pointers)[:, None]):
            fallback(pointers)

    return run


def _is_exact_in_library(epilogues: Sequence[str], pointers: Sequence[Any]) -> bool:
    """Return whether the library applies these scalars with the same bits as separate operations."""
    return all(_IS_EXACT[name](value) for name, value in zip(epilogues, pointers[3:], strict=True) if name in _IS_EXACT)


def _is_power_of_two(value: complex) -> bool:
    """Return whether division by a number equals multiplication by its reciprocal, to the bit."""
    return not isinstance(value, complex) and 2.0**-100 < abs(value) < 2.0**100 and frexp(value)[0] in (0.5, -0.5)


# The scalars for which the library is exact. With a scale of 0 it reads no operand, and misses NaNs; the only maximum
# that it computes is with 0.
_IS_EXACT: dict[str, Callable[[Any], bool]] = {
    "scale": lambda value: value != 0,
    "divide": _is_power_of_two,
    "maximum": lambda value: value == 0 and copysign(1, value) > 0,
}


def _prepare_unfused(
    device: Device, plan: cublas.Gemms, out: Any, dtype: Any, product: Product, layout: Layout
) -> Runner:
    """Prepare the product, followed by one kernel for its epilogues. `layout` is of the result."""
    simple = cublas.prepare(device, plan, dtype, out, product.conjugate)
    if not product.epilogues:
        return simple
    multiply = cublaslt.prepare(device, plan, dtype, out, product._replace(epilogues=()), simple) or simple
    kernel = epilogue_kernel(layout.shape, out, product.epilogues)
    finish = KernelLauncher(device, kinds_of(kernel))(_epilogue_program(kernel, device.attributes.multiprocessors))

    def run(pointers: Sequence[Any]) -> None:
        multiply(pointers[:3])
        finish((pointers[0], pointers[0], *pointers[3:]))

    return run


# By the structure of a kernel and the number of multiprocessors.
_epilogue_programs: BoundedTable[tuple[Kernel, int], Variants[SizedProgram]] = BoundedTable()


def _epilogue_program(kernel: Kernel, processors: int) -> Program:
    """Return the program of a kernel, of which those of other sizes have the same text."""
    structure, sizes = taken_out(kernel, in_kernel)
    key = structure, processors
    programs = _epilogue_programs.find(key)
    if programs is None:
        sized_programs = implementation("kernels.codegen.sized:sized_programs")  # imported when a kernel is new
        programs = _epilogue_programs.keep(key, sized_programs(structure, processors))
    sized, values = programs.find([value_of(n) for n in sizes])
    return sized.at(values)
