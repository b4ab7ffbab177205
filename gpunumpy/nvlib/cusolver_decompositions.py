"""cuSOLVER's decompositions, prepared once per size: QR, singular values and eigenvalues.

Matrices are in Fortran order. Each `run` overwrites its matrix, with a result where the docstring says so. Its
parameter `host_work` is never passed: the default keeps the workspace in host memory alive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..core.runtime.device import Device, check, driver
from .cusolver import DATA_TYPES, Factoring, solver
from .handles import bindings

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_REAL = {"complex64": "float32", "complex128": "float64"}
_COMPLEX = {"float32": "complex64", "float64": "complex128"}


def _routine(
    module: Any, dtype: Any, real_name: str, complex_name: str = ""
) -> tuple[Callable[..., None], Callable[..., Any]]:
    """Return the cuSOLVER function for a dtype, and the function that returns the size of its workspace.

    `complex_name` is its name for complex dtypes, if it differs.
    """
    name = _LETTERS[dtype.name] + (complex_name if complex_name and dtype.kind == "c" else real_name)
    return getattr(module, name), getattr(module, f"{name}_buffer_size")


def copy_bytes(device: Device, to: int, start: int, nbytes: int) -> None:
    """Copy `nbytes` bytes of a GPU's memory from `start` to `to`, on its stream."""
    check(driver().cuMemcpyDtoDAsync(to, start, nbytes, device.stream))


def qr(device: Device, rows: int, columns: int, q_columns: int, dtype: Any) -> Factoring:
    """Prepare QR of a matrix, in place, and `q_columns` columns of Q: ``run(matrix, tau, q, info, work)``."""
    module, library, _ = solver(device)
    reflectors = min(rows, columns)
    factor, size = _routine(module, dtype, "geqrf")
    lengths = [size(library, rows, columns, 0, rows)]
    if q_columns:
        form_q, size = _routine(module, dtype, "orgqr", "ungqr")
        lengths.append(size(library, rows, q_columns, reflectors, 0, rows, 0))

    def run(matrix: int, tau: int, q: int, info: int, work: int) -> None:
        factor(library, rows, columns, matrix, rows, tau, work, lengths[0], info)
        if q_columns:
            copy_bytes(device, q, matrix, rows * reflectors * dtype.itemsize)
            form_q(library, rows, q_columns, reflectors, q, rows, tau, work, lengths[1], info)

    return Factoring(run, max(lengths) * dtype.itemsize)


def eigh(device: Device, n: int, dtype: Any, vectors: bool, fill: int) -> Factoring:
    """Prepare the eigenvalues of a Hermitian matrix: ``run(matrix, values, info, work)``.

    The vectors, if asked for, overwrite the matrix. `fill` says which triangle is read.
    """
    module, library, params = solver(device)
    code, real = DATA_TYPES[dtype.name], DATA_TYPES[_REAL.get(dtype.name, dtype.name)]
    head = (library, params, int(vectors), fill, n, code)
    on_device, on_host = module.xsyevd_buffer_size(*head, 0, n, real, 0, code)
    host_work = numpy.empty(max(on_host, 1), numpy.uint8)
    host_address, call = host_work.ctypes.data, module.xsyevd

    def run(matrix: int, values: int, info: int, work: int, host_work: Any = host_work) -> None:
        call(*head, matrix, n, real, values, code, work, on_device, host_address, on_host, info)

    return Factoring(run, on_device)


def eigh_stack(device: Device, n: int, count: int, dtype: Any, vectors: bool, fill: int) -> Factoring:
    """Prepare `eigh` of `count` matrices, which are contiguous in memory, as are their values."""
    module, library, params = solver(device)
    code, real = DATA_TYPES[dtype.name], DATA_TYPES[_REAL.get(dtype.name, dtype.name)]
    head = (library, params, int(vectors), fill, n, code)
    on_device, on_host = module.xsyev_batched_buffer_size(*head, 0, n, real, 0, code, count)
    host_work = numpy.empty(max(on_host, 1), numpy.uint8)
    host_address, call = host_work.ctypes.data, module.xsyev_batched

    def run(matrix: int, values: int, info: int, work: int, host_work: Any = host_work) -> None:
        call(*head, matrix, n, real, values, code, work, on_device, host_address, on_host, info, count)

    return Factoring(run, on_device)


def svd(device: Device, rows: int, columns: int, dtype: Any, vectors: bool, full: bool) -> Factoring:
    """Prepare the singular values of a matrix with at least as many rows as columns, by LAPACK's method.

    The returned function is ``run(matrix, s, left, right, info, work)``; the right vectors are conjugated rows. The
    errors of cuSOLVER's Jacobi method, which is faster, grow with the size of the matrix.
    """
    module, library, _ = solver(device)
    call, size = _routine(module, dtype, "gesvd")
    jobs = (ord("A" if full else "S"), ord("S")) if vectors else (ord("N"), ord("N"))
    length = size(library, rows, columns)

    def run(matrix: int, s: int, left: int, right: int, info: int, work: int) -> None:
        head = (library, *jobs, rows, columns, matrix, rows, s)
        call(*head, left, rows, right, columns, work, length, 0, info)

    return Factoring(run, length * dtype.itemsize)


def svd_polar(device: Device, rows: int, columns: int, dtype: Any, full: bool) -> Factoring:
    """Prepare the singular values of a double-precision matrix by the polar decomposition, far faster than `svd`.

    All vectors are computed; the right vectors are columns. cuSOLVER perturbs nearly singular matrices. `run` waits and
    returns the size of the perturbation: thousands of roundings, or infinity where cuSOLVER fails.
    """
    module, library, params = solver(device)
    errors = bindings("cusolver")
    code, real = DATA_TYPES[dtype.name], DATA_TYPES["float64"]
    head = (library, params, 1, int(not full), rows, columns, code)
    on_device, on_host = module.xgesvdp_buffer_size(*head, 0, rows, real, 0, code, 0, rows, code, 0, columns, code)
    host_work = numpy.empty(max(on_host, 1), numpy.uint8)
    host_address, call = host_work.ctypes.data, module.xgesvdp

    def run(matrix: int, s: int, left: int, right: int, info: int, work: int, host_work: Any = host_work) -> Any:
        kinds = (real, s, code, left, rows, code, right, columns, code)
        try:
            return call(*head, matrix, rows, *kinds, work, on_device, host_address, on_host, info)
        except errors.cuSOLVERError as error:
            if error.status != int(errors.Status.EXECUTION_FAILED):
                raise
            return numpy.inf

    return Factoring(run, on_device)


def eig(device: Device, n: int, dtype: Any, vectors: bool) -> Factoring:
    """Prepare the eigenvalues of a square matrix: ``run(matrix, values, right, info, work)``.

    The values are complex. The vectors of a real matrix are real: for a conjugate pair of values, one vector holds the
    real parts and the next one the imaginary parts of the first value's vector.
    """
    module, library, params = solver(device)
    code = DATA_TYPES[dtype.name]
    wide = DATA_TYPES[_COMPLEX.get(dtype.name, dtype.name)]
    head = (library, params, 0, int(vectors), n, code)
    on_device, on_host = module.xgeev_buffer_size(*head, 0, n, wide, 0, code, 0, n, code, 0, n, code)
    host_work = numpy.empty(max(on_host, 1), numpy.uint8)
    host_address, call = host_work.ctypes.data, module.xgeev

    def run(matrix: int, values: int, right: int, info: int, work: int, host_work: Any = host_work) -> None:
        kinds = (wide, values, code, 0, n, code, right, n, code)
        call(*head, matrix, n, *kinds, work, on_device, host_address, on_host, info)

    return Factoring(run, on_device)
