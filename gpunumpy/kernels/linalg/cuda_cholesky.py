"""Cholesky factors of stacked matrices on a GPU, by blocks of columns: panels by our own kernels, products by cuBLAS.

cuSOLVER factors large matrices one after the other, and is slow with a batch of them.
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

_BLOCK = 128  # columns whose products with the ones after them are made together
_THREADS, _CORNER = 128, 1024  # of a block for rows, and for what is at the diagonal
_HELD = 256  # bytes of a row that a thread holds
_MOST = 32  # columns of a panel


class Panel(NamedTuple):
    """Factor `width` columns from `first` on, which hold what is left of the matrix."""

    first: int
    width: int


class Product(NamedTuple):
    """Subtract the product of `inner` columns from `at` on with their adjoint, from the row and column `start` on."""

    at: int
    inner: int
    start: int
    rows: int
    columns: int

    def words(self, n: int, dtype: Any) -> tuple[int, ...]:
        """What `subtract_products` takes for it."""
        place = self.at * n + self.start
        places = (place, place, self.start * n + self.start)
        return (self.rows, self.columns, self.inner, *(dtype.itemsize * place for place in places))


def width_of(dtype: Any) -> int:
    """The most columns of a panel."""
    return min(_MOST, _HELD // int(dtype.itemsize))


def steps(n: int, dtype: Any) -> list[Panel | Product]:
    """What is to be done, in order."""
    made: list[Panel | Product] = []
    for begin in range(0, n, _BLOCK):
        end = min(begin + _BLOCK, n)
        for first in range(begin, end, width_of(dtype)):
            after = min(first + width_of(dtype), end)
            made.append(Panel(first, after - first))
            if after < end:
                made.append(Product(first, after - first, after, n - after, end - after))
        if end < n:
            made.append(Product(begin, end - begin, end, n - end, n - end))
    return made


def text(dtype: Any) -> str:
    """The kernels of a panel."""
    kind, types = C_TYPE[dtype], f"{C_TYPE[dtype]}, {width_of(dtype)}"
    head = 'extern "C" __global__ void __launch_bounds__'
    last = "long long n, long long first, long long width"
    return (
        f"{helpers()}\n{source('linalg/common', 'linalg/cholesky')}\n"
        f"{head}({_CORNER}) definite({kind}* a, int* info, {last}) {{\n"
        f"  const bool failed = la::definite<{types}, {_CORNER}>(a + blockIdx.x * n * n, n, first, width);\n"
        "  if (threadIdx.x == 0 && (failed || first == 0)) info[blockIdx.x] = failed;\n}\n"
        f"{head}({_THREADS}) below({kind}* a, {last}) {{\n"
        f"  la::below<{types}, {_THREADS}>(a + blockIdx.x * n * n, n, first, width, blockIdx.y);\n}}\n"
    )


def prepare(device: Device, n: int, count: int, dtype: Any) -> Callable[[int, int], None]:
    """Lower factors of matrices where they are, by columns: ``run(matrices, infos)``."""
    # The matrices are the grid's first dimension, which alone may be more than 65535.
    functions = compile_program(text(dtype), ("definite", "below"), device)
    corner = Launcher(device, functions["definite"], (count, 1, 1), (_CORNER, 1, 1), 0, "QQqqq")
    rest = Launcher(device, functions["below"], (count, -(-n // _THREADS), 1), (_THREADS, 1, 1), 0, "Qqqq")
    product = subtract_products(device, n, n * n, count, dtype, adjoint=True)
    calls: list[tuple[bool, tuple[int, ...]]] = [
        (True, (n, *s)) if isinstance(s, Panel) else (False, s.words(n, dtype)) for s in steps(n, dtype)
    ]

    def run(matrices: int, infos: int) -> None:
        for panel, values in calls:
            if panel:
                corner((matrices, infos, *values))
                rest((matrices, *values))
            else:
                product(matrices, *values)

    return run
