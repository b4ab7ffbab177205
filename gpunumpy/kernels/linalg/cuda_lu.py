"""LU factors on a GPU, by blocks of columns: panels and exchanges of rows by our own kernels, products by cuBLAS.

cuSOLVER takes 1.6 to 2.2 microseconds for a column of a matrix of 512 to 2048 rows, nearly all of it in panels that
wait for one pivot after the other. Here a panel is one block with its rows in registers, and a column takes one
barrier.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...core.dtypes import C_TYPE
from ...core.runtime.device import Device
from ...nvlib.cublas_update import subtract_products
from ..codegen.sources import source
from ..cuda.compile import compile_program
from ..cuda.launch import Launcher
from .cuda_small import helpers

_BLOCK = 64  # columns whose exchanges are made together
_THREADS = 512
_HELD = 256  # bytes of a panel that a thread holds
_WIDEST = 32
_OTHERS = 256  # threads of a block that exchanges rows of other columns
# Of every grid the matrices are the first dimension, which alone may be more than 65535.


class Panel(NamedTuple):
    """Factor `width` columns from `first` on, by a kernel for `most` columns and `rows` rows a thread."""

    first: int
    width: int
    begin: int
    end: int
    most: int
    rows: int


class Others(NamedTuple):
    """Exchange rows in the columns outside, and solve for those that come after."""

    begin: int
    end: int


class Product(NamedTuple):
    """Subtract the product of `inner` columns and rows from `at` on from what is from `row` and `column` on."""

    at: int
    row: int
    column: int
    columns: int
    rows: int
    inner: int

    def words(self, n: int, dtype: Any) -> tuple[int, ...]:
        """What `subtract_products` takes for it."""
        places = (self.at * n + self.row, self.column * n + self.at, self.column * n + self.row)
        return (self.rows, self.columns, self.inner, *(dtype.itemsize * place for place in places))


class Upper(NamedTuple):
    """Solve the system of the upper factor between two rows, for the columns after the matrix."""

    begin: int
    end: int


def fits(n: int, dtype: Any) -> bool:
    """Whether a panel of at least 4 columns fits in the registers of a block."""
    return n <= _THREADS * (_HELD // (4 * dtype.itemsize)) and n <= 4096


def steps(n: int, sides: int, dtype: Any) -> list[Panel | Others | Product]:
    """What is to be done, in order; after the matrix there are so many more columns."""
    made: list[Panel | Others | Product] = []
    for begin in range(0, n, _BLOCK):
        end = min(begin + _BLOCK, n)
        first = begin
        while first < end:
            rows = -(-(n - first) // _THREADS)
            rows = 1 << (rows - 1).bit_length()  # few kernels
            most = min(_WIDEST if rows == 1 else _WIDEST // 2, _HELD // dtype.itemsize // rows)
            width = min(most, end - first)
            made.append(Panel(first, width, begin, end, most, rows))
            first += width
            if first < end:
                made.append(Product(first - width, first, first, end - first, n - first, width))
        if n + sides > end or begin:
            made.append(Others(begin, end))
        if n > end:
            made.append(Product(begin, end, end, n + sides - end, n - end, end - begin))
    return made


def text(n: int, dtype: Any) -> str:
    """The kernels of all steps."""
    kernels = {(s.most, s.rows) for s in steps(n, 0, dtype) if isinstance(s, Panel)}
    kind = C_TYPE[dtype]
    parts = [helpers(), source("linalg/common", "linalg/lu")]
    for most, rows in sorted(kernels):
        parts.append(
            f'extern "C" __global__ void __launch_bounds__({_THREADS}) panel_{most}_{rows}({kind}* a, int* pivots, '
            "int* info, long long n, long long columns, long long first, long long width, long long begin, "
            "long long end) {\n"
            "  extern __shared__ int perm[];\n  const long long m = blockIdx.x;\n"
            f"  la::panel<{kind}, {most}, {rows}, {_THREADS}>(\n"
            "      a + m * n * columns, pivots + m * n, info + m, perm, n, first, width, begin, end);\n}\n"
        )
    parts.append(
        f'extern "C" __global__ void __launch_bounds__({_OTHERS}) others({kind}* a, int* pivots, int* info, '
        "long long n, long long columns, long long begin, long long end) {\n"
        f"  extern __shared__ unsigned long long memory[];\n  {kind}* lower = ({kind}*)memory;\n"
        f"  int* perm = (int*)(lower + {_BLOCK * (_BLOCK + 1)});\n  const long long m = blockIdx.x;\n"
        f"  la::others<{kind}, {_BLOCK // 32}, {_OTHERS}>(\n"
        "      a + m * n * columns, pivots + m * n, perm, lower, n, columns, begin, end, blockIdx.y, gridDim.y);\n}\n"
    )
    return "\n".join(parts)


def upper_text(dtype: Any) -> str:
    """The kernel for a block of an upper factor."""
    kind = C_TYPE[dtype]
    return (
        f"{helpers()}\n{source('linalg/common', 'linalg/lu')}\n"
        f'extern "C" __global__ void __launch_bounds__({_OTHERS}) upper({kind}* a, long long n, long long columns, '
        "long long begin, long long end) {\n"
        "  extern __shared__ unsigned long long memory[];\n"
        f"  la::upper<{kind}, {_BLOCK // 32}, {_OTHERS}>(\n"
        f"      a + blockIdx.x * n * columns, ({kind}*)memory, n, columns, begin, end, blockIdx.y, gridDim.y);\n}}\n"
    )


def others_shared(n: int, dtype: Any) -> int:
    """Bytes of shared memory for the exchanges in other columns."""
    return _BLOCK * (_BLOCK + 1) * dtype.itemsize + 4 * n


def upper_shared(dtype: Any) -> int:
    """Bytes of shared memory for the solution of a block."""
    return _BLOCK * (_BLOCK + 1) * dtype.itemsize


def upper_steps(n: int, sides: int) -> list[Upper | Product]:
    """What solves the system of the upper factor, in order, for so many columns after the matrix."""
    made: list[Upper | Product] = []
    for begin in reversed(range(0, n, _BLOCK)):
        end = min(begin + _BLOCK, n)
        made.append(Upper(begin, end))
        if begin:
            made.append(Product(begin, 0, n, sides, begin, end - begin))
    return made


def prepare_upper(device: Device, n: int, sides: int, count: int, dtype: Any) -> Callable[[int], None]:
    """Solve the systems of the upper factors for the columns after each matrix, where they are."""
    function = compile_program(upper_text(dtype), ("upper",), device)["upper"]
    blocks = max(1, min(device.attributes.multiprocessors, -(-sides // (_OTHERS // 32))))
    solve = Launcher(device, function, (count, blocks, 1), (_OTHERS, 1, 1), upper_shared(dtype), "Qqqqq")
    columns = n + sides
    product = subtract_products(device, n, n * columns, count, dtype)
    calls: list[tuple[bool, tuple[int, ...]]] = [
        (True, (n, columns, *s)) if isinstance(s, Upper) else (False, s.words(n, dtype)) for s in upper_steps(n, sides)
    ]

    def run(matrices: int) -> None:
        for own, values in calls:
            if own:
                solve((matrices, *values))
            else:
                product(matrices, *values)

    return run


def prepare(device: Device, n: int, sides: int, count: int, dtype: Any) -> Callable[[int, int, int], None]:
    """Factor matrices where they are: ``run(matrices, pivots, infos)``; the pivots are int32, counted from 1.

    With `sides`, every matrix is followed by so many columns, for which the system of its lower factor is solved.
    """
    made, columns = steps(n, sides, dtype), n + sides
    entries = sorted({f"panel_{s.most}_{s.rows}" for s in made if isinstance(s, Panel)})
    functions = compile_program(text(n, dtype), (*entries, "others"), device)
    panels = {
        entry: Launcher(device, functions[entry], (count, 1, 1), (_THREADS, 1, 1), 4 * n, "QQQqqqqqq")
        for entry in entries
    }
    blocks = max(1, min(device.attributes.multiprocessors, -(-columns // (_OTHERS // 32))))
    exchange = Launcher(
        device, functions["others"], (count, blocks, 1), (_OTHERS, 1, 1), others_shared(n, dtype), "QQQqqqq"
    )
    product = subtract_products(device, n, n * columns, count, dtype)
    calls: list[tuple[Any, tuple[int, ...]]] = []
    for s in made:
        if isinstance(s, Panel):
            calls.append((panels[f"panel_{s.most}_{s.rows}"], (n, columns, s.first, s.width, s.begin, s.end)))
        elif isinstance(s, Others):
            calls.append((exchange, (n, columns, s.begin, s.end)))
        else:
            calls.append((None, s.words(n, dtype)))

    def run(matrices: int, pivots: int, infos: int) -> None:
        pointers = (matrices, pivots, infos)
        for launch, values in calls:
            if launch is None:
                product(matrices, *values)
            else:
                launch((*pointers, *values))

    return run
