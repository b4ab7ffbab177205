"""What singular values tell of linear systems: least squares, pseudo-inverses and ranks.

NumPy computes these in double precision, whatever the dtype of the arguments, and its default tolerances count on that.
"""

from __future__ import annotations

from typing import Any

import numpy
from numpy.linalg import LinAlgError

from ..core.dtypes import KIND, DType
from ..core.graph import layout
from ..core.recording.array import from_host, ndarray, to_host, wrap
from ..core.recording.record import as_array, as_dtype, elementwise
from ..functions.creation.arrays import empty, zeros
from ..functions.indexing.getitem import getitem
from ..functions.manipulation.shape import astype, swapaxes
from ..functions.products.operands import pair
from ..functions.products.stacked import matmul
from ..functions.reductions import reductions
from ..functions.ufuncs.elementwise import real_of, where
from ..functions.ufuncs.output import check_shape
from .checks import check_matrices, common_dtype, real_dtype
from .decompositions import singular, svd

__all__ = ["lstsq", "matrix_rank", "pinv"]

_NO_VALUE = object()
_WIDE = {"f": numpy.dtype(numpy.float64), "c": numpy.dtype(numpy.complex128)}


def _wide(dtype: DType) -> DType:
    return _WIDE[KIND[dtype]]


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """How many singular values are greater than a tolerance. See `numpy.linalg.matrix_rank`."""
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    x = as_array(A)
    if x.ndim < 2:
        return int(to_host(reductions.any(x)))
    s = svd(x, compute_uv=False, hermitian=hermitian)
    if tol is not None:
        limit = _along(tol, s)
    else:
        share = max(x.shape[-2:]) * float(numpy.finfo(s.dtype).eps) if rtol is None else _along(rtol, s)
        limit = elementwise("multiply", (reductions.max(s, -1, keepdims=True, initial=0), share))
    return reductions.count_nonzero(elementwise("greater", (s, limit)), -1)


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _NO_VALUE) -> ndarray:
    """The pseudo-inverses of matrices. See `numpy.linalg.pinv`."""
    x = as_array(a)
    if rcond is not None:
        if rtol is not _NO_VALUE:
            raise ValueError("`rtol` and `rcond` can't be both set.")
        share = rcond
    elif rtol is _NO_VALUE:
        share = 1e-15
    elif rtol is None:
        share = max(x.shape[-2:]) * numpy.finfo(x.dtype).eps
    else:
        share = rtol
    if not x.size and 0 in x.shape[-2:]:
        return empty((*x.shape[:-2], *x.shape[:-3:-1]), x.dtype, device=x.device)
    check_matrices(x)
    dtype = common_dtype(x)
    wide = _wide(dtype)
    u, s, vh = svd(astype(x, wide, copy=False), False, hermitian=hermitian) if hermitian else _thin(x, wide)
    limit = elementwise("multiply", (_along(share, s), reductions.max(s, -1, keepdims=True, initial=0)))
    check_shape(s, layout.broadcast_shapes(s.shape, limit.shape))  # tolerances make no stack of one matrix
    inverse = _inverses(s, limit)
    scaled = elementwise("multiply", (getitem(inverse, (..., None)), _adjoint(u)))
    return astype(matmul(_adjoint(vh), scaled), dtype, copy=False)


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[ndarray, ndarray, Any, ndarray]:
    """The least-squares solutions of a linear system. See `numpy.linalg.lstsq`."""
    x, y = pair(a, b)
    one = y.ndim == 1
    if one:
        y = getitem(y, (slice(None), None))
    for array in (x, y):
        if array.ndim != 2:
            raise LinAlgError(f"{array.ndim}-dimensional array given. Array must be two-dimensional")
    (m, n), (rows, sides) = x.shape, y.shape
    if m != rows:
        raise LinAlgError("Incompatible dimensions")
    dtype = common_dtype(x, y)
    wide, real = _wide(dtype), real_dtype(dtype)
    eps = float(numpy.finfo(wide).eps)
    share = eps * max(m, n) if rcond is None else float(rcond)
    if not 0 < share < 1:  # LAPACK takes its own precision instead: half of the distance from 1 to the next number
        share = eps / 2
    right = wrap(as_dtype(y.value(), wide))
    _, s, _ = factors = _thin(x, wide, "SVD did not converge in Linear Least Squares")
    limit = elementwise("multiply", (reductions.max(s, -1, keepdims=True, initial=0), share))
    found = reductions.count_nonzero(elementwise("greater", (s, limit)))
    if min(m, n):
        u, _, vh = factors
        parts = elementwise("multiply", (getitem(_inverses(s, limit), (..., None)), matmul(_adjoint(u), right)))
        solution = matmul(_adjoint(vh), parts)
        rest = elementwise("subtract", (right, matmul(wrap(as_dtype(x.value(), wide)), solution)))
    else:
        solution, rest = zeros((n, sides), wide, device=x.device), right
    squares = reductions.sum(real_of(elementwise("multiply", (elementwise("conjugate", (rest,)), rest))), 0)
    solution = astype(getitem(solution, (slice(None), 0)) if one else solution, dtype, copy=False)
    rank = numpy.int32(to_host(found))
    residuals = astype(squares, real, copy=False) if rank == n and m > n else from_host(numpy.zeros(0, real), x.device)
    return solution, residuals, rank, astype(s, real, copy=False)


def _thin(x: ndarray, dtype: DType, message: str = "SVD did not converge") -> Any:
    """The factors with as many vectors as there are values."""
    return singular(x, dtype, False, True, message)


def _inverses(s: ndarray, limit: ndarray) -> ndarray:
    """Of the values above a limit; of the others zero."""
    large = elementwise("greater", (s, limit))
    return where(large, elementwise("divide", (1.0, where(large, s, 1.0))), 0.0)


def _adjoint(x: ndarray) -> ndarray:
    return elementwise("conjugate", (swapaxes(x, -1, -2),))


def _along(given: Any, s: ndarray) -> Any:
    """A tolerance, or one for every matrix of a stack, beside the singular values."""
    return getitem(as_array(given, s.device), (..., None))
