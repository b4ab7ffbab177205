"""The elementwise kernel that applies the steps of `Product.after` to a product in place, where a library cannot."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.schedule import kernel as ir

# The steps with a scalar; the others have an array. And the op of each step.
SCALARS = ("scale", "divide", "maximum")
_OPS = {
    "scale": "multiply",
    "divide": "divide",
    "bias": "add",
    "residual": "add",
    "less": "subtract",
    "from": "subtract",
    "maximum": "maximum",
}


def after(shape: Sequence[int], dtype: Any, steps: Sequence[str]) -> ir.Kernel:
    """Return the kernel. Its arguments are the product twice, as input and as output, and one for each step.

    Parameters
    ----------
    shape
        Shape of the product, with two dimensions or more.
    dtype
        Dtype of the product.
    steps
        `after` of `gpunumpy.core.graph.library_calls.products.Product`.
    """
    columns = shape[-1]
    loops = (prod(shape[:-1]), columns)
    element, column = ir.Affine(0, (columns, 1)), ir.Affine(0, (0, 1))
    args = [ir.Arg("in", dtype), ir.Arg("out", dtype, alias=0)]
    instrs: list[ir.Instruction] = [ir.Load(0, element)]
    value = 0
    for step in steps:
        number = len(args)
        if step in SCALARS:
            args.append(ir.Arg("scalar", dtype))
            instrs.append(ir.Scalar(number))
        else:
            args.append(ir.Arg("in", dtype))
            instrs.append(ir.Load(number, column if step == "bias" else element))
        operands = (value, len(instrs) - 1)
        instrs.append(ir.Apply(_OPS[step], operands[::-1] if step == "from" else operands, (dtype,) * 3))
        value = len(instrs) - 1
    return ir.Kernel(loops, 0, tuple(args), ir.Body(tuple(instrs), (ir.Store(1, value, element),)))
