"""cuSOLVER: factors of matrices and the solution of systems, prepared once per size. Matrices lie by columns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ..core.runtime.device import Device
from .handles import handle

# dtype -> its cudaDataType, which is also that of the computation; and the letter in the names of routines.
DATA_TYPES = {"float32": 0, "float64": 1, "complex64": 4, "complex128": 5}
LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
# cublasFillMode_t, cublasOperation_t, and the other codes of cuBLAS for triangular systems.
LOWER, UPPER = 0, 1
NO_TRANSPOSE, TRANSPOSE, CONJUGATE_TRANSPOSE = 0, 1, 2
_LEFT, _NON_UNIT = 0, 0
# One in host memory, which cuBLAS reads during the call.
_ONE = {name: numpy.ones(1, name) for name in DATA_TYPES}

_params: dict[Device, int] = {}
_lock = threading.Lock()


def solver(device: Device) -> tuple[Any, int, int]:
    """The module `nvmath.bindings.cusolverDn`, the handle of a GPU, and the parameters of its routines, all default."""
    module, library = handle(device, "cusolverDn")
    found = _params.get(device)
    if found is None:
        with _lock:
            found = _params.get(device)
            if found is None:
                found = _params[device] = module.create_params()
    return module, library, found


class Factoring(NamedTuple):
    """A call over pointers, the last of them to device memory of `nbytes` that it works in."""

    run: Callable[..., None]
    nbytes: int


def cholesky(device: Device, n: int, dtype: Any) -> Factoring:
    """Factor a Hermitian matrix where it is: ``run(matrix, info, work)``.

    It is the lower triangle that is read and written, which takes cuSOLVER half or a third of the time.
    """
    module, library, params = solver(device)
    code = DATA_TYPES[dtype.name]
    on_device, on_host = module.xpotrf_buffer_size(library, params, LOWER, n, code, 0, n, code)
    held = numpy.empty(max(on_host, 1), numpy.uint8)
    host, call = held.ctypes.data, module.xpotrf

    def run(matrix: int, info: int, work: int, held: Any = held) -> None:
        call(library, params, LOWER, n, code, matrix, n, code, work, on_device, host, on_host, info)

    return Factoring(run, on_device)


def lu(device: Device, n: int, dtype: Any) -> Factoring:
    """Factor a matrix where it is: ``run(matrix, pivots, info, work)``; the pivots are int32, counted from 1."""
    module, library, _ = solver(device)
    letter = LETTERS[dtype.name]
    elements = getattr(module, f"{letter}getrf_buffer_size")(library, n, n, 0, n)
    call = getattr(module, f"{letter}getrf")

    def run(matrix: int, pivots: int, info: int, work: int) -> None:
        call(library, n, n, matrix, n, work, pivots, info)

    return Factoring(run, elements * dtype.itemsize)


def lu_solve(device: Device, n: int, columns: int, dtype: Any) -> Callable[..., None]:
    """Solve for right-hand sides where they are: ``run(factors, pivots, sides, info)``."""
    module, library, _ = solver(device)
    call = getattr(module, f"{LETTERS[dtype.name]}getrs")

    def run(factors: int, pivots: int, sides: int, info: int) -> None:
        call(library, NO_TRANSPOSE, n, columns, factors, n, pivots, sides, n, info)

    return run


def upper_solve(device: Device, n: int, columns: int, dtype: Any) -> Callable[[int, int], None]:
    """Solve the system of an upper triangular matrix for right-hand sides where they are: ``run(matrix, sides)``."""
    blas, products = handle(device, "cublas")
    call, one = getattr(blas, f"{LETTERS[dtype.name]}trsm"), _ONE[dtype.name].ctypes.data

    def run(matrix: int, sides: int) -> None:
        call(products, _LEFT, UPPER, NO_TRANSPOSE, _NON_UNIT, n, columns, one, matrix, n, sides, n)

    return run
