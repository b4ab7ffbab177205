"""Matrix products on a GPU: by cuBLAS, and for integers and booleans by a kernel of our own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.device import Device
from ..core.dtypes import KIND
from ..core.layout import Layout
from ..nvlib import cublas
from . import cuda_matmul
from .compile import compile_program
from .launch import Launcher


def matmul(
    device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]
) -> Callable[[Sequence[Any]], None]:
    """Prepare the product of two values of one dtype, with NumPy's rules for vectors and stacks."""
    matrices = cublas.as_matrices(*layouts)
    if KIND[dtypes[0]] not in "biu":
        return cublas.prepare(device, cublas.gemms(*matrices), dtypes[0])
    program = cuda_matmul.matmul(matrices, dtypes)
    (launch,) = program.launches
    function = compile_program(program.text, (launch.entry,), device)[launch.entry]
    return Launcher(device, function, launch.grid, launch.block, launch.shared, "QQQ", program.params)
