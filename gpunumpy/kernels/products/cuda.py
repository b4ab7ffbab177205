"""Matrix products on a GPU: by cuBLASLt and cuBLAS, and for integers and booleans by a kernel of our own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import copysign, frexp, prod
from typing import Any

import numpy

from ...core.dtypes import KIND
from ...core.graph.layout import Layout
from ...core.graph.library_calls.products import Product, is_batch
from ...core.runtime import memory, memory_copy
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ...core.schedule.batch import MIN_BATCH
from ...nvlib import cublas, cublaslt
from ..codegen import generate
from ..codegen.program import Program
from ..cuda.compile import compile_program
from ..cuda.launch import Launcher
from . import cuda_integers
from .cuda_after import after
from .cuda_small import is_small, small_matmul

_ALIGNED = 16  # bytes, of matrices that are given by their addresses
_MOST_ADDRESSES = 1 << 14


def matmul(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare the product of two values of one dtype, with NumPy's rules for vectors and stacks."""
    product = Product(*options)
    matrices = cublas.as_matrices(*layouts[:3])
    if KIND[dtypes[0]] in "biu":
        return _launcher(device, cuda_integers.matmul(matrices, dtypes), "QQQ")
    out, dtype = dtypes[:2]
    if is_small(matrices, dtype):
        return _launcher(device, *small_matmul(matrices, dtypes, product.after))
    plan = cublas.gemms(*matrices, product.conjugate)

    @cache
    def apart() -> Runner:
        return _apart(device, plan, out, dtype, product, matrices[0])

    def otherwise(pointers: Sequence[Any]) -> None:
        apart()(pointers)

    whole = cublaslt.prepare(device, plan, dtype, out, product, otherwise)
    if whole is None or not product.after:
        simple = whole or apart()
        return _at_once(device, plan, dtype, out, product, simple) or simple

    def run(pointers: Sequence[Any]) -> None:
        (whole if _can_be_one(product.after, pointers) else otherwise)(pointers)

    return run


def by_addresses(
    device: Device, plan: cublas.Gemms, dtype: Any, out: Any, product: Product, count: int
) -> Callable[[Any], bool]:
    """Prepare so many products of matrices that are anywhere, as one call.

    The function takes the addresses of the results, the first and the second operands, the rows of an array. It does
    nothing, and says so, where they are not aligned as the library needs it.
    """
    multiply = cublas.prepare_batch(device, plan, dtype, out, product.conjugate, product.precision, count)
    step = 8 * count

    def run(addresses: Any) -> bool:
        if int(numpy.bitwise_or.reduce(addresses, None)) % _ALIGNED:
            return False
        held = memory.allocate(device, 3 * step)
        memory_copy.copy_from_host(held, 0, addresses)
        multiply(held.ptr, held.ptr + step, held.ptr + 2 * step)
        return True

    return run


def _at_once(
    device: Device, plan: cublas.Gemms, dtype: Any, out: Any, product: Product, otherwise: Runner
) -> Runner | None:
    """Prepare the calls of a plan as one, where there are many that the GPU has done with sooner than the host."""
    count, work = plan.batch * len(plan.offsets), plan.batch * prod(plan.sizes)
    few = len(plan.offsets) < MIN_BATCH or count > _MOST_ADDRESSES
    if few or product.after or not is_batch(work, min(plan.sizes), dtype, product.precision):
        return None
    step = numpy.array([plan.strides[2], plan.strides[1], plan.strides[0]]).reshape(3, 1, 1)
    starts = numpy.array([(c, a, b) for b, a, c in plan.offsets]).T.reshape(3, -1, 1)
    units = numpy.array([out.itemsize, dtype.itemsize, dtype.itemsize]).reshape(3, 1)
    offsets = (starts + step * numpy.arange(plan.batch)).reshape(3, count) * units
    multiply = by_addresses(device, plan, dtype, out, product, count)

    def run(pointers: Sequence[Any]) -> None:
        if not multiply(offsets + numpy.array(pointers)[:, None]):
            otherwise(pointers)

    return run


def _launcher(device: Device, program: Program, wires: str) -> Launcher:
    """What launches a program of one kernel."""
    (launch,) = program.launches
    function = compile_program(program.text, (launch.entry,), device)[launch.entry]
    return Launcher(device, function, launch.grid, launch.block, launch.shared, wires, program.params)


def _can_be_one(steps: Sequence[str], pointers: Sequence[Any]) -> bool:
    """Whether the library does to the bit what these scalars ask for."""
    return all(_EXACT[step](value) for step, value in zip(steps, pointers[3:], strict=True) if step in _EXACT)


def _is_power_of_two(value: complex) -> bool:
    """Whether to divide by a number is to multiply by its reciprocal."""
    return not isinstance(value, complex) and 2.0**-100 < abs(value) < 2.0**100 and frexp(value)[0] in (0.5, -0.5)


# For a scale of 0 the library would read no operand, and miss NaNs; it knows maxima with 0 alone.
_EXACT: dict[str, Callable[[Any], bool]] = {
    "scale": lambda value: value != 0,
    "divide": _is_power_of_two,
    "maximum": lambda value: value == 0 and copysign(1, value) > 0,
}


def _apart(device: Device, plan: cublas.Gemms, out: Any, dtype: Any, product: Product, where: Layout) -> Runner:
    """The product, and one kernel over it for what comes after."""
    simple = cublas.prepare(device, plan, dtype, out, product.conjugate)
    if not product.after:
        return simple
    multiply = cublaslt.prepare(device, plan, dtype, out, product._replace(after=()), simple) or simple
    kernel = after(where.shape, out, product.after)
    wires = [_WIRE[KIND[out] if arg.kind == "scalar" else "pointer"] for arg in kernel.args]
    finish = _launcher(device, generate(kernel, device.attributes.multiprocessors), "".join(wires))

    def run(pointers: Sequence[Any]) -> None:
        multiply(pointers[:3])
        words: list[Any] = [pointers[0], pointers[0]]
        for value, wire in zip(pointers[3:], wires[2:], strict=True):
            words.extend((value.real, value.imag) if wire == "dd" else (value,))
        finish(words)

    return run


_WIRE = {"pointer": "Q", "e": "d", "f": "d", "c": "dd"}
