"""cuBLAS: products that are subtracted from a block of the same matrices that hold the factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..core.runtime.device import Device
from .handles import handle

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
# Minus one and one in host memory, from which cuBLAS reads them during the call.
_SCALARS = {name: numpy.array([-1, 1], name) for name in _LETTERS}
_NO_TRANSPOSE, _ADJOINT = 0, 2


def subtract_products(
    device: Device, n: int, size: int, count: int, dtype: Any, *, adjoint: bool = False
) -> Callable[..., None]:
    """Prepare the update ``result -= left @ right`` of blocks of matrices in Fortran order.

    Parameters
    ----------
    device
        The GPU.
    n, size, count
        Rows of a matrix, elements from one matrix to the next, and number of matrices.
    dtype
        Dtype of the matrices.
    adjoint
        Whether the block `right` holds the conjugate transpose of the second factor.

    Returns
    -------
    Callable
        ``run(matrices, rows, columns, inner, left, right, result)``, where the last three are the offsets of the blocks
        in a matrix, in bytes.
    """
    cublas, library = handle(device, "cublas")
    letter = _LETTERS[dtype.name]
    minus = _SCALARS[dtype.name].ctypes.data
    one = minus + dtype.itemsize
    head = (library, _NO_TRANSPOSE, _ADJOINT if adjoint else _NO_TRANSPOSE)
    if count == 1:
        call = getattr(cublas, f"{letter}gemm")

        def run(a: int, rows: int, columns: int, inner: int, left: int, right: int, result: int) -> None:
            operands = (minus, a + left, n, a + right, n, one, a + result, n)
            call(*head, rows, columns, inner, *operands)

        return run
    batched = getattr(cublas, f"{letter}gemm_strided_batched")

    def run_batched(a: int, rows: int, columns: int, inner: int, left: int, right: int, result: int) -> None:
        operands = (minus, a + left, n, size, a + right, n, size, one, a + result, n, size)
        batched(*head, rows, columns, inner, *operands, count)

    return run_batched
