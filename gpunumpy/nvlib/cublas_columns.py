"""Products of matrices that lie by columns, as the parts of larger routines."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.device import Device
from .handles import handle

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_PLAIN, _ADJOINT = 0, 2  # cublasOperation_t


class Columns:
    """The products of one dtype on a GPU."""

    def __init__(self, device: Device, dtype: Any) -> None:
        module, self._handle = handle(device, "cublas")
        self._gemm = getattr(module, f"{_LETTERS[dtype.name]}gemm")
        self._scalars = numpy.array([0, 1, -1], dtype)
        self._zero, self._one, self._minus = (self._scalars.ctypes.data + k * dtype.itemsize for k in range(3))

    def product(
        self,
        adjoint: tuple[bool, bool],
        sizes: tuple[int, int, int],
        a: tuple[int, int],
        b: tuple[int, int],
        c: tuple[int, int],
        *,
        subtract: bool = False,
    ) -> None:
        """``c = a @ b``, or ``c -= a @ b``.

        Parameters
        ----------
        adjoint
            Of which operands the adjoint is meant.
        sizes
            The rows and the columns of the product, and the length of its sums.
        a, b, c
            Where a matrix begins, and the elements from a column to the next.
        """
        first, second = (_ADJOINT if yes else _PLAIN for yes in adjoint)
        alpha, beta = (self._minus, self._one) if subtract else (self._one, self._zero)
        self._gemm(self._handle, first, second, *sizes, alpha, *a, *b, beta, *c)
