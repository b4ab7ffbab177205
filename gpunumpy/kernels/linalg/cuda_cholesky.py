"""Cholesky factors of stacks of matrices on a GPU, by blocks of columns: panels by `cholesky.cuh`, products by cuBLAS.

cuSOLVER factors large matrices one after the other, and its batched call is slow. Matrices are stored by columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...core.dtypes import C_TYPE
from ...core.runtime.device import Device
from ...nvlib.cublas_update import subtract_products
from ..codegen.program import Launch
from ..codegen.sources import source
from ..cuda.compile import compile_program
from ..cuda.launch import Launcher
from .cuda_small import arithmetic_helpers

_BLOCK_COLUMNS = 128  # columns that one product subtracts from the columns after them
_ROW_THREADS = 128  # of a block for rows below the diagonal
_CORNER_THREADS = 1024  # of a block for a panel's square on the diagonal
_THREAD_BYTES = 256  # of a row, in a thread's registers
_MAX_PANEL_COLUMNS = 32


class Panel(NamedTuple):
    """Step: factor `width` columns from `first` on."""

    first: int
    width: int


class Product(NamedTuple):
    """Step: subtract the product of `inner` columns, from `first` on, and their adjoint.

    It changes a submatrix of `rows` by `columns` elements on the diagonal that begins at row and column `start`.
    """

    first: int
    inner: int
    start: int
    rows: int
    columns: int

    def arguments(self, n: int, dtype: Any) -> tuple[int, ...]:
        """Return the sizes, and the offsets in bytes, that `subtract_products` takes."""
        offset = self.first * n + self.start
        offsets = (offset, offset, self.start * n + self.start)
        return (self.rows, self.columns, self.inner, *(dtype.itemsize * offset for offset in offsets))


def max_panel_width(dtype: Any) -> int:
    """Return the most columns of a panel."""
    return min(_MAX_PANEL_COLUMNS, _THREAD_BYTES // int(dtype.itemsize))


def steps(n: int, dtype: Any) -> list[Panel | Product]:
    """Return the steps that factor a matrix of n rows, in order."""
    result: list[Panel | Product] = []
    for begin in range(0, n, _BLOCK_COLUMNS):
        end = min(begin + _BLOCK_COLUMNS, n)
        for first in range(begin, end, max_panel_width(dtype)):
            next_column = min(first + max_panel_width(dtype), end)
            result.append(Panel(first, next_column - first))
            if next_column < end:
                result.append(Product(first, next_column - first, next_column, n - next_column, end - next_column))
        if end < n:
            result.append(Product(begin, end - begin, end, n - end, n - end))
    return result


def kernel_text(dtype: Any) -> str:
    """Return the C++ of the kernels for a `Panel` step."""
    ctype, template_args = C_TYPE[dtype], f"{C_TYPE[dtype]}, {max_panel_width(dtype)}"
    prefix = 'extern "C" __global__ void __launch_bounds__'
    parameters = "long long n, long long first, long long width"
    return (
        f"{arithmetic_helpers()}\n{source('linalg/common', 'linalg/cholesky')}\n"
        f"{prefix}({_CORNER_THREADS}) factor_corner({ctype}* a, int* info, {parameters}) {{\n"
        f"  const bool failed =\n"
        f"      la::factor_corner<{template_args}, {_CORNER_THREADS}>(a + blockIdx.x * n * n, n, first, width);\n"
        "  if (threadIdx.x == 0 && (failed || first == 0)) info[blockIdx.x] = failed;\n}\n"
        f"{prefix}({_ROW_THREADS}) solve_below({ctype}* a, {parameters}) {{\n"
        f"  la::solve_below<{template_args}, {_ROW_THREADS}>(\n"
        "      a + blockIdx.x * n * n, n, first, width, blockIdx.y);\n}\n"
    )


def prepare(device: Device, n: int, count: int, dtype: Any) -> Callable[[int, int], None]:
    """Return ``run(matrices, infos)``, which replaces matrices by their lower Cholesky factors."""
    # The matrices are the first dimension of the grid, the only one that may exceed 65535.
    corner = Launch("factor_corner", (count, 1, 1), (_CORNER_THREADS, 1, 1))
    below = Launch("solve_below", (count, -(-n // _ROW_THREADS), 1), (_ROW_THREADS, 1, 1))
    functions = compile_program(kernel_text(dtype), (corner.entry, below.entry), device)
    factor_corner = Launcher(device, functions[corner.entry], corner, "QQqqq")
    solve_below = Launcher(device, functions[below.entry], below, "Qqqq")
    product = subtract_products(device, n, n * n, count, dtype, adjoint=True)
    calls: list[tuple[bool, tuple[int, ...]]] = [
        (True, (n, *step)) if isinstance(step, Panel) else (False, step.arguments(n, dtype)) for step in steps(n, dtype)
    ]

    def run(matrices: int, infos: int) -> None:
        for is_panel, values in calls:
            if is_panel:
                factor_corner((matrices, infos, *values))
                solve_below((matrices, *values))
            else:
                product(matrices, *values)

    return run
