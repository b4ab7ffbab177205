"""cuSOLVER's 64-bit interface: factors of matrices and the solution of systems, prepared once per size.

A matrix in C order is to cuSOLVER its transpose, and the callers reckon with that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ..core.device import Device
from .handles import handle

# dtype -> its cudaDataType, which is also that of the computation.
DATA_TYPES = {"float32": 0, "float64": 1, "complex64": 4, "complex128": 5}
# cublasFillMode_t, cublasOperation_t.
LOWER, UPPER = 0, 1
NO_TRANSPOSE, TRANSPOSE, CONJUGATE_TRANSPOSE = 0, 1, 2

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


def cholesky(device: Device, n: int, dtype: Any, fill: int) -> Factoring:
    """Factor a Hermitian matrix where it is: ``run(matrix, info, work)``. `fill` is the triangle that is read."""
    module, library, params = solver(device)
    code = DATA_TYPES[dtype.name]
    on_device, on_host = module.xpotrf_buffer_size(library, params, fill, n, code, 0, n, code)
    held = numpy.empty(max(on_host, 1), numpy.uint8)
    host, call = held.ctypes.data, module.xpotrf

    def run(matrix: int, info: int, work: int, held: Any = held) -> None:
        call(library, params, fill, n, code, matrix, n, code, work, on_device, host, on_host, info)

    return Factoring(run, on_device)


def lu(device: Device, n: int, dtype: Any) -> Factoring:
    """Factor a matrix where it is: ``run(matrix, pivots, info, work)``; the pivots are int64, counted from 1."""
    module, library, params = solver(device)
    code = DATA_TYPES[dtype.name]
    on_device, on_host = module.xgetrf_buffer_size(library, params, n, n, code, 0, n, code)
    held = numpy.empty(max(on_host, 1), numpy.uint8)
    host, call = held.ctypes.data, module.xgetrf

    def run(matrix: int, pivots: int, info: int, work: int, held: Any = held) -> None:
        call(library, params, n, n, code, matrix, n, pivots, code, work, on_device, host, on_host, info)

    return Factoring(run, on_device)


def lu_solve(device: Device, n: int, columns: int, dtype: Any, operation: int) -> Callable[..., None]:
    """Solve for right-hand sides where they are: ``run(factors, pivots, sides, info)``."""
    module, library, params = solver(device)
    code, call = DATA_TYPES[dtype.name], module.xgetrs

    def run(factors: int, pivots: int, sides: int, info: int) -> None:
        call(library, params, operation, n, columns, code, factors, n, pivots, code, sides, n, info)

    return run
