"""The elementwise kernel that applies the epilogues of a `Product` to the product in place, where a library cannot."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.schedule import kernel as ir

# The epilogues with a scalar; the others have an array. And the op of each epilogue.
SCALARS = ("scale", "divide", "maximum")
_OPS = {
    "scale": "multiply",
    "divide": "divide",
    "bias": "add",
    "residual": "add",
    "subtract": "subtract",
    "subtract_from": "subtract",
    "maximum": "maximum",
}


def epilogue_kernel(shape: Sequence[int], dtype: Any, epilogues: Sequence[str]) -> ir.Kernel:
    """Return the kernel. Its arguments are the product twice, as input and as output, and one for each epilogue.

    Parameters
    ----------
    shape
        Shape of the product, with two dimensions or more.
    dtype
        Dtype of the product.
    epilogues
        As in `gpunumpy.core.graph.library_calls.products.Product`.
    """
    columns = shape[-1]
    loops = (prod(shape[:-1]), columns)
    element, column = ir.Affine(0, (columns, 1)), ir.Affine(0, (0, 1))
    args = [ir.Arg("in", dtype), ir.Arg("out", dtype, alias=0)]
    instructions: list[ir.Instruction] = [ir.Load(0, element)]
    value = 0
    for epilogue in epilogues:
        number = len(args)
        if epilogue in SCALARS:
            args.append(ir.Arg("scalar", dtype))
            instructions.append(ir.Scalar(number))
        else:
            args.append(ir.Arg("in", dtype))
            instructions.append(ir.Load(number, column if epilogue == "bias" else element))
        operands = (value, len(instructions) - 1)
        if epilogue == "subtract_from":
            operands = operands[::-1]
        instructions.append(ir.Apply(_OPS[epilogue], operands, (dtype,) * 3))
        value = len(instructions) - 1
    return ir.Kernel(loops, 0, tuple(args), ir.Body(tuple(instructions), (ir.Store(1, value, element),)))
