"""Rows of the table written by hand for numba-cuda, which has no array namespace of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy


def kernels() -> dict[str, Callable[..., Callable[[], Any]]]:
    """For the name of a row, what makes a call of its device arrays."""
    if not hasattr(numpy, "row_stack"):  # numba-cuda 0.30 looks for it, and NumPy 2.5 has no such name any more
        numpy.row_stack = numpy.vstack  # type: ignore[attr-defined]
    from numba import cuda

    @cuda.jit
    def expression(a: Any, b: Any, out: Any) -> None:
        i = cuda.grid(1)
        if i < out.size:
            x, y = a[i], b[i]
            out[i] = (math.sin(x) * 2 + y - 1) * math.exp(x * a.dtype.type(0.1)) / math.sqrt(y * y + 1) + x / 2

    @cuda.jit
    def total(a: Any, b: Any, out: Any) -> None:
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[i] + b[i]

    @cuda.jit
    def step(u: Any, out: Any) -> None:
        j, i = cuda.grid(2)
        if i < u.shape[0] and j < u.shape[1]:
            if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
                out[i, j] = u.dtype.type(0.25) * (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1])
            else:
                out[i, j] = u[i, j]

    def flat(kernel: Any) -> Callable[..., Callable[[], Any]]:
        def prepare(a: Any, b: Any) -> Callable[[], Any]:
            def call() -> Any:
                out = cuda.device_array(a.size, a.dtype)
                kernel[(a.size + 255) // 256, 256](a, b, out)
                return out

            return call

        return prepare

    def stencil(u: Any) -> Callable[[], Any]:
        out = cuda.device_array_like(u)
        grid = ((u.shape[1] + 63) // 64, (u.shape[0] + 3) // 4)
        return lambda: step[grid, (64, 4)](u, out)

    return {
        "expression float32": flat(expression),
        "expression float64": flat(expression),
        "expression, 1,024 elements": flat(expression),
        "a+b, 1,024 elements": flat(total),
        "Jacobi step, 8192 x 8192": stencil,
    }


def device_array(x: Any) -> Any:
    from numba import cuda

    return cuda.to_device(numpy.ascontiguousarray(x))


def synchronize() -> None:
    from numba import cuda

    cuda.synchronize()
