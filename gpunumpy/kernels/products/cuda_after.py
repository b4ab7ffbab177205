"""The kernel that does to a matrix product, in place, what a library cannot do while it writes it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.schedule import kernel as ir

SCALARS = ("scale", "divide", "maximum")
_ROWS = {
    "scale": "multiply",
    "divide": "divide",
    "bias": "add",
    "residual": "add",
    "less": "subtract",
    "from": "subtract",
    "maximum": "maximum",
}


def after(shape: Sequence[int], dtype: Any, steps: Sequence[str]) -> ir.Kernel:
    """The kernel over a product (twice: as it is read, and as it is written) and one argument for every step.

    Parameters
    ----------
    shape
        That of the product, with two dimensions or more.
    dtype
        What it is made of.
    steps
        As in `gpunumpy.core.graph.library_calls.products.Product`.
    """
    columns = shape[-1]
    loops = (prod(shape[:-1]), columns)
    every, along = ir.Affine(0, (columns, 1)), ir.Affine(0, (0, 1))
    args = [ir.Arg("in", dtype), ir.Arg("out", dtype, alias=0)]
    instrs: list[ir.Instruction] = [ir.Load(0, every)]
    value = 0
    for step in steps:
        number = len(args)
        if step in SCALARS:
            args.append(ir.Arg("scalar", dtype))
            instrs.append(ir.Scalar(number))
        else:
            args.append(ir.Arg("in", dtype))
            instrs.append(ir.Load(number, along if step == "bias" else every))
        pair = (value, len(instrs) - 1)
        instrs.append(ir.Apply(_ROWS[step], pair[::-1] if step == "from" else pair, (dtype,) * 3))
        value = len(instrs) - 1
    return ir.Kernel(loops, 0, tuple(args), ir.Body(tuple(instrs), (ir.Store(1, value, every),)))
