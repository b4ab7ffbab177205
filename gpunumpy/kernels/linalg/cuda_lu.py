"""LU factors of stacks of matrices on a GPU, by blocks of columns: panels by `lu.cuh`, products by cuBLAS.

cuSOLVER takes 1.6 to 2.2 microseconds for a column of a matrix of 512 to 2048 rows, nearly all of it in panels that
wait for one pivot after the other. Here one block of threads has a panel's rows in registers, and a column takes one
barrier. Matrices are stored by columns.
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

_BLOCK_COLUMNS = 64  # columns whose row exchanges are applied to the rest of the matrix at once
_PANEL_THREADS = 512
_THREAD_BYTES = 256  # of a panel, in a thread's registers
_MAX_PANEL_COLUMNS = 32
_EXCHANGE_THREADS = 256
# The matrices are the first dimension of every grid, the only one that may exceed 65535.


class Panel(NamedTuple):
    """Step: factor `width` columns from `first` on, and exchange the rows of the columns from `begin` to `end`.

    The kernel is compiled for panels of up to `max_width` columns and `thread_rows` rows in a thread.
    """

    first: int
    width: int
    begin: int
    end: int
    max_width: int
    thread_rows: int


class OtherColumns(NamedTuple):
    """Step: exchange rows outside the columns from `begin` to `end`, and solve the lower system for later columns."""

    begin: int
    end: int


class Product(NamedTuple):
    """Step: subtract a product from the `rows` by `columns` submatrix that begins at (`row`, `column`).

    The factors are `inner` columns of L and rows of U, from the column and row `first` on.
    """

    first: int
    row: int
    column: int
    columns: int
    rows: int
    inner: int

    def arguments(self, n: int, dtype: Any) -> tuple[int, ...]:
        """Return the sizes, and the offsets in bytes, that `subtract_products` takes."""
        offsets = (self.first * n + self.row, self.column * n + self.first, self.column * n + self.row)
        return (self.rows, self.columns, self.inner, *(dtype.itemsize * offset for offset in offsets))


class Upper(NamedTuple):
    """Step: solve the upper system of the rows from `begin` to `end`, for the right-hand sides after the matrix."""

    begin: int
    end: int


def fits_in_registers(n: int, dtype: Any) -> bool:
    """Return True if a panel of at least 4 columns of n rows fits in the registers of a block."""
    return n <= _PANEL_THREADS * (_THREAD_BYTES // (4 * dtype.itemsize)) and n <= 4096


def steps(n: int, sides: int, dtype: Any) -> list[Panel | OtherColumns | Product]:
    """Return the steps that factor a matrix of n rows, followed by `sides` columns of right-hand sides, in order."""
    result: list[Panel | OtherColumns | Product] = []
    for begin in range(0, n, _BLOCK_COLUMNS):
        end = min(begin + _BLOCK_COLUMNS, n)
        first = begin
        while first < end:
            thread_rows = -(-(n - first) // _PANEL_THREADS)
            thread_rows = 1 << (thread_rows - 1).bit_length()  # so that few kernels are compiled
            most = _MAX_PANEL_COLUMNS if thread_rows == 1 else _MAX_PANEL_COLUMNS // 2
            max_width = min(most, _THREAD_BYTES // dtype.itemsize // thread_rows)
            width = min(max_width, end - first)
            result.append(Panel(first, width, begin, end, max_width, thread_rows))
            first += width
            if first < end:
                result.append(Product(first - width, first, first, end - first, n - first, width))
        if n + sides > end or begin:
            result.append(OtherColumns(begin, end))
        if n > end:
            result.append(Product(begin, end, end, n + sides - end, n - end, end - begin))
    return result


def panel_text(max_width: int, thread_rows: int, dtype: Any) -> str:
    """Return the C++ of the kernel for `Panel` steps of these two sizes."""
    ctype = C_TYPE[dtype]
    return (
        f"{arithmetic_helpers()}\n{source('linalg/common', 'linalg/lu')}\n"
        f'extern "C" __global__ void __launch_bounds__({_PANEL_THREADS}) panel(\n'
        f"    {ctype}* a, int* pivots, int* info, long long n, long long columns, long long first, "
        "long long width, long long begin, long long end) {\n"
        "  extern __shared__ int permutation[];\n  const long long m = blockIdx.x;\n"
        f"  la::panel<{ctype}, {max_width}, {thread_rows}, {_PANEL_THREADS}>(\n"
        "      a + m * n * columns, pivots + m * n, info + m, permutation, n, first, width, begin, end);\n}\n"
    )


def exchange_text(dtype: Any) -> str:
    """Return the C++ of the kernel for `OtherColumns` steps."""
    ctype = C_TYPE[dtype]
    return (
        f"{arithmetic_helpers()}\n{source('linalg/common', 'linalg/lu')}\n"
        f'extern "C" __global__ void __launch_bounds__({_EXCHANGE_THREADS}) other_columns(\n'
        f"    {ctype}* a, int* pivots, int* info, "
        "long long n, long long columns, long long begin, long long end) {\n"
        f"  extern __shared__ unsigned long long memory[];\n  {ctype}* lower = ({ctype}*)memory;\n"
        f"  int* permutation = (int*)(lower + {_BLOCK_COLUMNS * (_BLOCK_COLUMNS + 1)});\n"
        "  const long long m = blockIdx.x;\n"
        f"  la::other_columns<{ctype}, {_BLOCK_COLUMNS // 32}, {_EXCHANGE_THREADS}>(\n"
        "      a + m * n * columns, pivots + m * n, permutation, lower, n, columns, begin, end,\n"
        "      blockIdx.y, gridDim.y);\n}\n"
    )


def upper_text(dtype: Any) -> str:
    """Return the C++ of the kernel for an `Upper` step."""
    ctype = C_TYPE[dtype]
    return (
        f"{arithmetic_helpers()}\n{source('linalg/common', 'linalg/lu')}\n"
        f'extern "C" __global__ void __launch_bounds__({_EXCHANGE_THREADS}) upper(\n'
        f"    {ctype}* a, "
        "long long n, long long columns, long long begin, long long end) {\n"
        "  extern __shared__ unsigned long long memory[];\n"
        f"  la::upper<{ctype}, {_BLOCK_COLUMNS // 32}, {_EXCHANGE_THREADS}>(\n"
        f"      a + blockIdx.x * n * columns, ({ctype}*)memory, n, columns, begin, end, blockIdx.y, gridDim.y);\n}}\n"
    )


def other_columns_shared_bytes(n: int, dtype: Any) -> int:
    """Return the shared memory of an `OtherColumns` step, in bytes."""
    return _BLOCK_COLUMNS * (_BLOCK_COLUMNS + 1) * dtype.itemsize + 4 * n


def upper_shared_bytes(dtype: Any) -> int:
    """Return the shared memory of an `Upper` step, in bytes."""
    return _BLOCK_COLUMNS * (_BLOCK_COLUMNS + 1) * dtype.itemsize


def upper_steps(n: int, sides: int) -> list[Upper | Product]:
    """Return the steps that solve the upper system for `sides` columns of right-hand sides, in order."""
    result: list[Upper | Product] = []
    for begin in reversed(range(0, n, _BLOCK_COLUMNS)):
        end = min(begin + _BLOCK_COLUMNS, n)
        result.append(Upper(begin, end))
        if begin:
            result.append(Product(begin, 0, n, sides, begin, end - begin))
    return result


def prepare_upper(device: Device, n: int, sides: int, count: int, dtype: Any) -> Callable[[int], None]:
    """Return ``run(matrices)``, which solves the upper systems in place for the right-hand sides after each matrix."""
    function = compile_program(upper_text(dtype), ("upper",), device)["upper"]
    blocks = max(1, min(device.attributes.multiprocessors, -(-sides // (_EXCHANGE_THREADS // 32))))
    launch = Launch("upper", (count, blocks, 1), (_EXCHANGE_THREADS, 1, 1), upper_shared_bytes(dtype))
    solve = Launcher(device, function, launch, "Qqqqq")
    columns = n + sides
    product = subtract_products(device, n, n * columns, count, dtype)
    calls: list[tuple[bool, tuple[int, ...]]] = [
        (True, (n, columns, *step)) if isinstance(step, Upper) else (False, step.arguments(n, dtype))
        for step in upper_steps(n, sides)
    ]

    def run(matrices: int) -> None:
        for is_upper, values in calls:
            if is_upper:
                solve((matrices, *values))
            else:
                product(matrices, *values)

    return run


def prepare(device: Device, n: int, sides: int, count: int, dtype: Any) -> Callable[[int, int, int], None]:
    """Return ``run(matrices, pivots, infos)``, which factors matrices in place; pivots are int32, counted from 1.

    With `sides`, so many columns of right-hand sides follow every matrix, and the lower system is solved for them.
    """
    factor_steps, columns = steps(n, sides, dtype), n + sides
    variants = {(step.max_width, step.thread_rows) for step in factor_steps if isinstance(step, Panel)}
    panels = {}
    for variant in sorted(variants):
        function = compile_program(panel_text(*variant, dtype), ("panel",), device)["panel"]
        panel = Launch("panel", (count, 1, 1), (_PANEL_THREADS, 1, 1), 4 * n)
        panels[variant] = Launcher(device, function, panel, "QQQqqqqqq")
    function = compile_program(exchange_text(dtype), ("other_columns",), device)["other_columns"]
    blocks = max(1, min(device.attributes.multiprocessors, -(-columns // (_EXCHANGE_THREADS // 32))))
    other = Launch("other_columns", (count, blocks, 1), (_EXCHANGE_THREADS, 1, 1), other_columns_shared_bytes(n, dtype))
    exchange = Launcher(device, function, other, "QQQqqqq")
    product = subtract_products(device, n, n * columns, count, dtype)
    calls: list[tuple[Any, tuple[int, ...]]] = []
    for step in factor_steps:
        if isinstance(step, Panel):
            calls.append(
                (panels[step.max_width, step.thread_rows], (n, columns, step.first, step.width, step.begin, step.end))
            )
        elif isinstance(step, OtherColumns):
            calls.append((exchange, (n, columns, step.begin, step.end)))
        else:
            calls.append((None, step.arguments(n, dtype)))

    def run(matrices: int, pivots: int, infos: int) -> None:
        pointers = (matrices, pivots, infos)
        for launch, values in calls:
            if launch is None:
                product(matrices, *values)
            else:
                launch((*pointers, *values))

    return run
