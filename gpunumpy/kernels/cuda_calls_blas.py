"""Matrix products on a GPU: by cuBLASLt and cuBLAS, and for integers and booleans by a kernel of our own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import copysign, frexp
from typing import Any

from ..core.device import Device
from ..core.dtypes import KIND
from ..core.epilogues import Product
from ..core.layout import Layout
from ..nvlib import cublas, cublaslt
from . import cuda_matmul
from .codegen import generate
from .codegen.program import Program
from .compile import compile_program
from .cuda_after import after
from .cuda_small_matmul import is_small, small_matmul
from .launch import Launcher

Prepared = Callable[[Sequence[Any]], None]


def matmul(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Prepared:
    """Prepare the product of two values of one dtype, with NumPy's rules for vectors and stacks."""
    product = Product(*options)
    matrices = cublas.as_matrices(*layouts[:3])
    if KIND[dtypes[0]] in "biu":
        return _launcher(device, cuda_matmul.matmul(matrices, dtypes), "QQQ")
    out, dtype = dtypes[:2]
    if is_small(matrices, dtype):
        return _launcher(device, *small_matmul(matrices, dtypes, product.after))
    plan = cublas.gemms(*matrices, product.conjugate)

    @cache
    def apart() -> Prepared:
        return _apart(device, plan, out, dtype, product, matrices[0])

    def otherwise(pointers: Sequence[Any]) -> None:
        apart()(pointers)

    whole = cublaslt.prepare(device, plan, dtype, out, product, otherwise)
    if whole is None or not product.after:
        return whole or apart()

    def run(pointers: Sequence[Any]) -> None:
        (whole if _can_be_one(product.after, pointers) else otherwise)(pointers)

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


def _apart(device: Device, plan: cublas.Gemms, out: Any, dtype: Any, product: Product, where: Layout) -> Prepared:
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
