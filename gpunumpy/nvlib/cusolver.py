"""cuSOLVER: factors of matrices and solutions of systems, prepared once per size. Matrices are in Fortran order.

The parameter `host_work` of a `run` is never passed: its default keeps the workspace in host memory alive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ..core.runtime.device import Device
from .handles import handle

# dtype -> its cudaDataType, also of the computation; and dtype -> the letter in the names of LAPACK's routines.
DATA_TYPES = {"float32": 0, "float64": 1, "complex64": 4, "complex128": 5}
LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
# Codes of cuBLAS: cublasFillMode_t, cublasOperation_t, cublasSideMode_t and cublasDiagType_t.
LOWER, UPPER = 0, 1
NO_TRANSPOSE, TRANSPOSE, CONJUGATE_TRANSPOSE = 0, 1, 2
_LEFT, _NON_UNIT = 0, 0
# One in host memory, from which cuBLAS reads it during the call.
_ONE = {name: numpy.ones(1, name) for name in DATA_TYPES}

_params: dict[Device, int] = {}


def solver(device: Device) -> tuple[Any, int, int]:
    """Return the module `nvmath.bindings.cusolverDn`, the handle for a GPU, and default parameters for its routines."""
    module, library = handle(device, "cusolverDn")
    found = _params.get(device)
    if found is None:
        new = module.create_params()
        found = _params.setdefault(device, new)  # another thread may have been first
        if found is not new:
            module.destroy_params(new)
    return module, library, found


class Factoring(NamedTuple):
    """A prepared call: `run` takes pointers, the last of them to a workspace of `nbytes` bytes in device memory."""

    run: Callable[..., None]
    nbytes: int


def cholesky(device: Device, n: int, dtype: Any) -> Factoring:
    """Prepare the Cholesky factor of a Hermitian matrix, in place: ``run(matrix, info, work)``.

    The lower triangle is read and written; the upper one takes cuSOLVER two or three times as long.
    """
    module, library, params = solver(device)
    code = DATA_TYPES[dtype.name]
    on_device, on_host = module.xpotrf_buffer_size(library, params, LOWER, n, code, 0, n, code)
    host_work = numpy.empty(max(on_host, 1), numpy.uint8)
    host_address, call = host_work.ctypes.data, module.xpotrf

    def run(matrix: int, info: int, work: int, host_work: Any = host_work) -> None:
        call(library, params, LOWER, n, code, matrix, n, code, work, on_device, host_address, on_host, info)

    return Factoring(run, on_device)


def lu(device: Device, n: int, dtype: Any) -> Factoring:
    """Prepare the LU factors of a matrix, in place: ``run(matrix, pivots, info, work)``; pivots are int32, from 1."""
    module, library, _ = solver(device)
    letter = LETTERS[dtype.name]
    elements = getattr(module, f"{letter}getrf_buffer_size")(library, n, n, 0, n)
    call = getattr(module, f"{letter}getrf")

    def run(matrix: int, pivots: int, info: int, work: int) -> None:
        call(library, n, n, matrix, n, work, pivots, info)

    return Factoring(run, elements * dtype.itemsize)


def lu_solve(device: Device, n: int, columns: int, dtype: Any) -> Callable[..., None]:
    """Prepare the solution of a system by its LU factors, in place of its right-hand sides.

    The returned function is ``run(factors, pivots, sides, info)``.
    """
    module, library, _ = solver(device)
    call = getattr(module, f"{LETTERS[dtype.name]}getrs")

    def run(factors: int, pivots: int, sides: int, info: int) -> None:
        call(library, NO_TRANSPOSE, n, columns, factors, n, pivots, sides, n, info)

    return run


def upper_solve(device: Device, n: int, columns: int, dtype: Any) -> Callable[[int, int], None]:
    """Prepare the solution of an upper triangular system in place of its right-hand sides: ``run(matrix, sides)``."""
    blas, products = handle(device, "cublas")
    call, one = getattr(blas, f"{LETTERS[dtype.name]}trsm"), _ONE[dtype.name].ctypes.data

    def run(matrix: int, sides: int) -> None:
        call(products, _LEFT, UPPER, NO_TRANSPOSE, _NON_UNIT, n, columns, one, matrix, n, sides, n)

    return run
