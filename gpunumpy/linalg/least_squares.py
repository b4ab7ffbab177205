"""Least squares, pseudo-inverses and ranks, from singular values.

NumPy computes least squares and pseudo-inverses in double precision, whatever the dtype of the arguments, and its
default tolerances count on that.
"""

from __future__ import annotations

from typing import Any

import numpy
from numpy.linalg import LinAlgError

from ..core.dtypes import KIND, DType
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.recording.array import from_host, ndarray, to_host, wrap
from ..core.recording.record import as_array, as_dtype, elementwise
from ..core.runtime.numpy_calls import calls_numpy
from ..functions.creation.arrays import empty, zeros
from ..functions.indexing.getitem import getitem
from ..functions.manipulation.shape import astype, swapaxes
from ..functions.products.operands import as_two_arrays
from ..functions.products.stacked import matmul
from ..functions.reductions import reductions
from ..functions.ufuncs.elementwise import real_parts, where
from ..functions.ufuncs.errstate import ignoring
from ..functions.ufuncs.output import check_shape
from .checks import check_matrices, common_dtype, real_dtype
from .decompositions import svd, svd_in_dtype

__all__ = ["lstsq", "matrix_rank", "pinv"]

_NO_VALUE = object()
_DOUBLE_PRECISION = {"f": numpy.dtype(numpy.float64), "c": numpy.dtype(numpy.complex128)}


def _in_double_precision(dtype: DType) -> DType:
    """Return float64 for a real dtype, complex128 for a complex one."""
    return _DOUBLE_PRECISION[KIND[dtype]]


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """Count the singular values greater than a tolerance. See `numpy.linalg.matrix_rank`."""
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    x = as_array(A)
    if x.ndim < 2:
        return int(to_host(reductions.any(x)))
    s = svd(x, compute_uv=False, hermitian=hermitian)
    if tol is not None:
        cutoff = _per_matrix(tol, s)
    else:
        cutoff_ratio = max(x.shape[-2:]) * float(numpy.finfo(s.dtype).eps) if rtol is None else _per_matrix(rtol, s)
        cutoff = elementwise("multiply", (reductions.max(s, -1, keepdims=True, initial=0), cutoff_ratio))
    return reductions.count_nonzero(elementwise("greater", (s, cutoff)), -1)


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _NO_VALUE) -> ndarray:
    """Return the pseudo-inverses of matrices. See `numpy.linalg.pinv`."""
    x = as_array(a)
    if rcond is not None:
        if rtol is not _NO_VALUE:
            raise ValueError("`rtol` and `rcond` can't be both set.")
        cutoff_ratio = rcond
    elif rtol is _NO_VALUE:
        cutoff_ratio = 1e-15
    elif rtol is None:
        cutoff_ratio = max(x.shape[-2:]) * numpy.finfo(x.dtype).eps
    else:
        cutoff_ratio = rtol
    if x.ndim > 1 and not x.size and 0 in x.shape[-2:]:
        return empty((*x.shape[:-2], *x.shape[:-3:-1]), x.dtype, device=x.device)
    check_matrices(x)
    dtype = common_dtype(x)
    double = _in_double_precision(dtype)
    u, s, vh = svd(astype(x, double, copy=False), False, hermitian=hermitian) if hermitian else _thin_svd(x, double)
    cutoff = elementwise("multiply", (_per_matrix(cutoff_ratio, s), reductions.max(s, -1, keepdims=True, initial=0)))
    # As in NumPy, several tolerances do not broadcast one matrix to a stack.
    check_shape(s, layout.broadcast_shapes(s.shape, cutoff.shape))
    inverses = _inverses_above(s, cutoff)
    scaled = elementwise("multiply", (getitem(inverses, (..., None)), _adjoint(u)))
    return astype(matmul(_adjoint(vh), scaled), dtype, copy=False)


@ignoring(all="ignore")
def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[ndarray, ndarray, Any, ndarray]:
    """Return the least-squares solution of a linear system. See `numpy.linalg.lstsq`."""
    x, y = as_two_arrays(a, b)
    is_vector = y.ndim == 1
    if is_vector:
        y = getitem(y, (slice(None), None))
    for array in (x, y):
        if array.ndim != 2:
            raise LinAlgError(f"{array.ndim}-dimensional array given. Array must be two-dimensional")
    (m, n), (rows, sides) = x.shape, y.shape
    if m != rows:
        raise LinAlgError("Incompatible dimensions")
    dtype = common_dtype(x, y)
    double, real = _in_double_precision(dtype), real_dtype(dtype)
    eps = float(numpy.finfo(double).eps)
    if isinstance(rcond, str):
        raise TypeError(f"rcond must be a number, not {rcond!r}")
    cutoff_ratio = eps * max(m, n) if rcond is None else float(rcond)
    if not 0 < cutoff_ratio < 1:
        # LAPACK then uses its machine precision: half the distance from 1 to the next number.
        cutoff_ratio = eps / 2
    if min(m, n) and sides and calls_numpy(x.device):
        solution, squares, rank_array, s = _solved_by_numpy(x, y, double, cutoff_ratio)
    else:
        solution, squares, rank_array, s = _solved_by_svd(x, y, double, cutoff_ratio)
    solution = astype(getitem(solution, (slice(None), 0)) if is_vector else solution, dtype, copy=False)
    rank = numpy.int32(to_host(rank_array))
    if rank < 0:
        raise LinAlgError(_NO_SOLUTION)
    residuals = astype(squares, real, copy=False) if rank == n and m > n else from_host(numpy.zeros(0, real), x.device)
    return solution, residuals, rank, astype(s, real, copy=False)


_NO_SOLUTION = "SVD did not converge in Linear Least Squares"


def _solved_by_numpy(x: ndarray, y: ndarray, dtype: DType, cutoff_ratio: float) -> list[ndarray]:
    """Return what `_solved_by_svd` does, by NumPy's function, which needs no vectors; if it fails the rank is -1."""
    operands = (as_dtype(x.value(), dtype), as_dtype(y.value(), dtype), graph.scalar(cutoff_ratio))
    return list(map(wrap, graph.library_call_outputs("lstsq", (), operands)))


def _solved_by_svd(x: ndarray, y: ndarray, dtype: DType, cutoff_ratio: float) -> list[ndarray]:
    """Return solutions, the squares of what is left of the right sides, the rank, and singular values, in a dtype."""
    right_sides = wrap(as_dtype(y.value(), dtype))
    u, s, vh = _thin_svd(x, dtype, _NO_SOLUTION)
    cutoff = elementwise("multiply", (reductions.max(s, -1, keepdims=True, initial=0), cutoff_ratio))
    rank = reductions.count_nonzero(elementwise("greater", (s, cutoff)))
    if s.size:
        inverses = getitem(_inverses_above(s, cutoff), (..., None))
        coefficients = elementwise("multiply", (inverses, matmul(_adjoint(u), right_sides)))
        solution = matmul(_adjoint(vh), coefficients)
        residual = elementwise("subtract", (right_sides, matmul(wrap(as_dtype(x.value(), dtype)), solution)))
    else:
        solution, residual = zeros((x.shape[1], y.shape[1]), dtype, device=x.device), right_sides
    squares = reductions.sum(real_parts(elementwise("multiply", (elementwise("conjugate", (residual,)), residual))), 0)
    return [solution, squares, rank, s]


def _thin_svd(x: ndarray, dtype: DType, message: str = "SVD did not converge") -> Any:
    """Return the SVD with as many vectors on each side as there are singular values."""
    return svd_in_dtype(x, dtype, False, True, message)


def _inverses_above(s: ndarray, cutoff: ndarray) -> ndarray:
    """Return the reciprocals of the singular values above a cutoff, and zero for the others."""
    is_large = elementwise("greater", (s, cutoff))
    return where(is_large, elementwise("divide", (1.0, where(is_large, s, 1.0))), 0.0)


def _adjoint(x: ndarray) -> ndarray:
    """Return the conjugate transposes of matrices."""
    return elementwise("conjugate", (swapaxes(x, -1, -2),))


def _per_matrix(tolerance: Any, s: ndarray) -> Any:
    """Return a tolerance, or one for each matrix of a stack, in a shape that broadcasts with the singular values."""
    return getitem(as_array(tolerance, s.device), (..., None))
