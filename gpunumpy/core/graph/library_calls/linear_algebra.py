"""Records of the library calls of linear algebra.

A call that can fail has an int32 output `info` with a number for each matrix of a stack: 0 for success, as in LAPACK.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ...dtypes import DType
from ..signature import Signature
from .record import CutAxes, FloatingErrors, Implementation, Record, Results

_INT32 = numpy.dtype(numpy.int32)


def _real(dtype: DType) -> DType:
    """Return the real dtype of the same precision."""
    return dtype.type(0).real.dtype


def _wide(dtype: DType) -> DType:
    """Return the complex dtype of the same precision."""
    return numpy.result_type(dtype, numpy.complex64)


# --- results --------------------------------------------------------------------------------------------------------


def _matrices(options: Any, args: Sequence[Signature]) -> Results:
    """Return matrices like those given, and `info`."""
    (a,) = args
    return (a.shape, a.dtype), (a.shape[:-2], _INT32)


def _solve(options: Any, args: Sequence[Signature]) -> Results:
    """Return the solutions, transposed if there are several right-hand sides (one per row), and `info`."""
    a, b = args
    shape = b.shape if len(b.shape) < len(a.shape) else (*b.shape[:-2], b.shape[-1], b.shape[-2])
    return (shape, a.dtype), (a.shape[:-2], _INT32)


def _lstsq(options: Any, args: Sequence[Signature]) -> Results:
    """Return solutions, the squares of what is left of each right side, the rank, and singular values."""
    (m, n), (_, sides), dtype = args[0].shape, args[1].shape, args[0].dtype
    return ((n, sides), dtype), ((sides,), _real(dtype)), ((), _INT32), ((min(m, n),), _real(dtype))


def _slogdet(options: Any, args: Sequence[Signature]) -> Results:
    """Return the sign, and the logarithm of the absolute value, of each determinant."""
    (a,) = args
    return (a.shape[:-2], a.dtype), (a.shape[:-2], _real(a.dtype))


def _det(options: Any, args: Sequence[Signature]) -> Results:
    (a,) = args
    return ((a.shape[:-2], a.dtype),)


def _qr(options: tuple[str], args: Sequence[Signature]) -> Results:
    """Return the transposed factors for the mode of `numpy.linalg.qr`; the argument is transposed m x n matrices."""
    (mode,), (a,) = options, args
    *stack, n, m = a.shape
    shorter = min(m, n)
    if mode == "raw":
        return ((*stack, n, m), a.dtype), ((*stack, shorter), a.dtype)
    columns_of_q = m if mode == "complete" else shorter
    r, q = ((*stack, n, columns_of_q), a.dtype), ((*stack, columns_of_q, m), a.dtype)
    return (r,) if mode == "r" else (r, q)


def _svd(options: tuple[bool, bool], args: Sequence[Signature]) -> Results:
    """Return singular values, `info` and, with `vectors`, both sets of vectors, for matrices at least as wide as high.

    `full`: as many vectors of the longer side as that side is long.
    """
    (vectors, full), (a,) = options, args
    *stack, short, long = a.shape
    values = (((*stack, short), _real(a.dtype)), (tuple(stack), _INT32))
    sides = ((*stack, short, short), a.dtype), ((*stack, long if full else short, long), a.dtype)
    return (*values, *sides) if vectors else values


def _eigh(options: tuple[str, bool], args: Sequence[Signature]) -> Results:
    """Return eigenvalues, `info` and eigenvectors; options: the triangle to read, and whether vectors are wanted."""
    (_, vectors), (a,) = options, args
    values = (a.shape[:-1], _real(a.dtype)), (a.shape[:-2], _INT32)
    return (*values, (a.shape, a.dtype)) if vectors else values


def _eig(options: tuple[bool], args: Sequence[Signature]) -> Results:
    """Return complex eigenvalues, `info` and eigenvectors; the option: whether vectors are wanted."""
    (vectors,), (a,) = options, args
    wide = _wide(a.dtype)
    values = (a.shape[:-1], wide), (a.shape[:-2], _INT32)
    return (*values, (a.shape, wide)) if vectors else values


# --- slabs ----------------------------------------------------------------------------------------------------------


def _stacks(options: Any, args: Sequence[Signature]) -> list[CutAxes | None]:
    return [(axis,) for axis in range(len(args[0].shape) - 2)]


def _stacks_and_right_sides(options: Any, args: Sequence[Signature]) -> list[CutAxes | None]:
    """Return the axes of stacks, and that of several right-hand sides, which is transposed in the solutions."""
    a, b = (len(arg.shape) for arg in args)
    return [*[(axis, axis) for axis in range(a - 2)], *([(None, b - 1)] if a == b else [])]


# --- records --------------------------------------------------------------------------------------------------------


def _functions(host: str, cuda: str) -> dict[str, Implementation]:
    """Return the implementations by "module:function", without the prefix that the modules share."""
    return {
        "host": Implementation(f"kernels.linalg.host_{host}"),
        "cuda": Implementation(f"kernels.linalg.cuda_{cuda}"),
    }


RECORDS = (
    Record("cholesky", _functions("solvers:cholesky", "solvers:cholesky"), _matrices, slabs=_stacks),
    Record("inv", _functions("solvers:inv", "solvers:inv"), _matrices, slabs=_stacks),
    Record("solve", _functions("solvers:solve", "solvers:solve"), _solve, slabs=_stacks_and_right_sides),
    # CPU only, see `runtime.numpy_calls`.
    Record("lstsq", {"host": Implementation("kernels.linalg.host_solvers:lstsq")}, _lstsq, reads_strides=True),
    Record("slogdet", _functions("solvers:slogdet", "solvers:slogdet"), _slogdet, slabs=_stacks),
    Record(
        "det",
        _functions("solvers:det", "solvers:slogdet"),
        _det,
        floating_errors=lambda options, dtype: FloatingErrors("det"),
        slabs=_stacks,
    ),
    Record("qr", _functions("decompositions:qr", "decompositions:qr"), _qr, slabs=_stacks),
    Record("svd", _functions("decompositions:svd", "decompositions:svd"), _svd, slabs=_stacks),
    Record("eigh", _functions("decompositions:eigh", "decompositions:eigh"), _eigh, slabs=_stacks),
    Record("eig", _functions("decompositions:eig", "decompositions:eig"), _eig, slabs=_stacks),
)
