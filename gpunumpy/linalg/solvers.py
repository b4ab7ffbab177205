"""Linear systems, inverses, determinants and Cholesky factors.

Each function records one library call over a stack of matrices. Its output `info` has a number for each matrix, 0 on
success. Where NumPy raises for a failed matrix, the function computes `info` at once and raises the same error.
"""

from __future__ import annotations

import operator
from math import prod
from typing import Any, NamedTuple

from numpy.linalg import LinAlgError

from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Layout, Shape
from ..core.graph.node import Node
from ..core.recording.array import make_view, ndarray, wrap
from ..core.recording.record import as_array, reshaped, transposed
from ..core.runtime import evaluate
from ..functions.creation.ranges import eye
from ..functions.manipulation.shape import broadcast_to, transpose
from ..functions.products.operands import as_two_arrays
from ..functions.products.stacked import matmul
from .checks import check_square, common_dtype, failure_word_is_clear, raise_on_failure, real_dtype

__all__ = ["cholesky", "det", "inv", "matrix_power", "slogdet", "solve", "tensorinv", "tensorsolve"]

_SINGULAR = "Singular matrix"
_NOT_DEFINITE = "Matrix is not positive definite"
# Most rows of a lower Cholesky factor in C order; larger ones are in Fortran order, as cuSOLVER writes them.
_MAX_C_ORDER_ROWS = 64


class SlogdetResult(NamedTuple):
    """Result of `slogdet`."""

    sign: ndarray
    logabsdet: ndarray


def cholesky(a: Any, /, *, upper: bool = False) -> ndarray:
    """Return the Cholesky factors of Hermitian positive-definite matrices. See `numpy.linalg.cholesky`.

    The factors are computed at once, because a matrix that is not positive definite raises. The lower factor of a
    matrix of more than 64 rows is in Fortran order.
    """
    x = as_array(a)
    check_square(x)
    shape, by_columns = x.shape, not upper and x.shape[-1] > _MAX_C_ORDER_ROWS
    result_layout = Layout(shape, (*layout.c_strides(shape)[:-2], 1, shape[-1]), 0) if by_columns else None
    options = (bool(upper), by_columns)
    return _compute_checked("cholesky", options, (x.value(),), common_dtype(x), _NOT_DEFINITE, result_layout)


def inv(a: Any) -> ndarray:
    """Return the inverses of square matrices. See `numpy.linalg.inv`.

    The inverses are computed at once, because a singular matrix raises.
    """
    x = as_array(a)
    check_square(x)
    return _compute_checked("inv", (), (x.value(),), common_dtype(x), _SINGULAR)


def _compute_checked(
    name: str,
    options: tuple[Any, ...],
    args: tuple[Node, ...],
    dtype: Any,
    message: str,
    result_layout: Layout | None = None,
) -> ndarray:
    """Compute a library call with the outputs `result` and `info`; raise `LinAlgError(message)` if a matrix failed.

    The arguments are cast to the dtype. Returns the result, seen through `result_layout` if that is given.
    """
    result, info = graph.library_call_outputs(name, options, tuple([graph.cast(x, dtype) for x in args]))
    if 0 in result.signature.shape:
        array = wrap(_full(0, dtype, result.signature.shape, args[0]))
        return array if result_layout is None else make_view(array, result_layout)
    array = wrap(result)
    word_was_clear = failure_word_is_clear(array.queue)
    evaluate.compute(result if word_was_clear else info)
    if result_layout is not None:  # while the device is at work
        array = make_view(array, result_layout)
    raise_on_failure(info, message, word_was_clear)
    return array


def _full(value: int, dtype: Any, shape: Shape, like: Node) -> Node:
    """Record an array filled with a value, on the queue of another node."""
    assert like.signature.queue is not None
    return graph.fill(graph.typed_scalar(dtype.type(value), dtype), shape, like.signature.queue)


# --- systems --------------------------------------------------------------------------------------------------------


def solve(a: Any, b: Any) -> ndarray:
    """Solve linear systems with square matrices. See `numpy.linalg.solve`.

    The solutions are computed at once, because a singular matrix raises. For a matrix of right-hand sides the solutions
    lie in memory one after the other: the matrix of solutions is in Fortran order.
    """
    x, y = as_two_arrays(a, b)
    check_square(x)
    dtype = common_dtype(x, y)
    _check_right_sides(x, y)
    left, right, stack, n = x.value(), y.value(), x.shape[:-2], x.shape[-1]
    if y.ndim == 1:
        right = graph.broadcast(right, (*stack, n))
        return _compute_checked("solve", (), (left, right), dtype, _SINGULAR)
    columns = y.shape[-1]
    if not columns:  # NumPy raises for a singular matrix even without right-hand sides
        solve(x, wrap(_full(0, dtype, (n,), right)))
    batch = layout.broadcast_shapes(stack, y.shape[:-2])
    right = graph.broadcast(right, (*batch, n, columns))
    batch_columns = (*batch, columns)
    if prod(stack) == 1 and len(batch):
        # One matrix for the whole batch: all right-hand sides become the columns of one system.
        left, sides = reshaped(left, (n, n)), prod(batch_columns)
        right = transposed(reshaped(transposed(right, _transposed_axes(len(batch_columns))), (sides, n)), (1, 0))
    else:
        left = graph.broadcast(left, (*batch, n, n))
    result_layout = Layout((*batch, n, columns), (*layout.c_strides((*batch_columns, n))[:-2], 1, n), 0)
    return _compute_checked("solve", (), (left, right), dtype, _SINGULAR, result_layout)


def _transposed_axes(last_axis: int) -> tuple[int, ...]:
    """Return the permutation of the axes 0 to `last_axis` that exchanges the last two."""
    return (*range(last_axis - 1), last_axis, last_axis - 1)


def _check_right_sides(x: ndarray, y: ndarray) -> None:
    """Raise `ValueError` unless the right-hand sides `y` have as many rows as the matrices `x`."""
    name, rows_axis = ("solve1", -1) if y.ndim == 1 else ("solve", -2)
    signature = f"(m,m),(m{'' if y.ndim == 1 else ',n'})->(m{'' if y.ndim == 1 else ',n'})"
    if not y.ndim:
        raise ValueError(
            f"{name}: Input operand 1 does not have enough dimensions (has 0, gufunc core with signature {signature} "
            "requires 2)"
        )
    if y.shape[rows_axis] != x.shape[-1]:
        raise ValueError(
            f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {signature} (size "
            f"{y.shape[rows_axis]} is different from {x.shape[-1]})"
        )


def tensorsolve(a: Any, b: Any, axes: Any = None) -> ndarray:
    """Solve the equation ``tensordot(a, x, x.ndim) == b`` for `x`. See `numpy.linalg.tensorsolve`."""
    x, y = as_two_arrays(a, b)
    if axes is not None:
        order = list(range(x.ndim))
        for k in axes:
            order.remove(k)
            order.insert(x.ndim, k)
        x = transpose(x, order)
    shape = x.shape[-(x.ndim - y.ndim) :]
    size = prod(shape)
    if x.size != size**2:
        raise LinAlgError("Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])")
    flat = solve(wrap(reshaped(x.value(), (size, size))), wrap(reshaped(y.value(), (y.size,))))
    return make_view(flat, layout.c_layout(shape))


def tensorinv(a: Any, ind: int = 2) -> ndarray:
    """Return the inverse of an array with respect to `tensordot`. See `numpy.linalg.tensorinv`."""
    x = as_array(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    size = prod(x.shape[ind:])
    if not size:
        raise ValueError(f"cannot reshape array of size {x.size} into shape (0,newaxis)")
    inverse = inv(wrap(reshaped(x.value(), (size, x.size // size))))
    return make_view(inverse, layout.c_layout((*x.shape[ind:], *x.shape[:ind])))


def matrix_power(a: Any, n: Any) -> ndarray:
    """Raise square matrices to an integer power. See `numpy.linalg.matrix_power`."""
    x = as_array(a)
    check_square(x)
    try:
        power = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if not power:
        return wrap(graph.as_new_node(broadcast_to(eye(x.shape[-1], dtype=x.dtype, device=x.device), x.shape).value()))
    if power < 0:
        x, power = inv(x), -power
    if power == 1:
        return x
    if power == 3:
        return matmul(matmul(x, x), x)
    result = None
    while True:
        if power & 1:
            result = x if result is None else matmul(result, x)
        power >>= 1
        if not power:
            assert result is not None
            return result
        x = matmul(x, x)


# --- determinants ---------------------------------------------------------------------------------------------------


def slogdet(a: Any) -> SlogdetResult:
    """Return the signs of determinants and the logarithms of their absolute values. See `numpy.linalg.slogdet`."""
    x = as_array(a)
    check_square(x)
    dtype, stack = common_dtype(x), x.shape[:-2]
    real = real_dtype(dtype)
    if not x.size:
        # The product of no factors is 1, and its logarithm 0.
        results = ((1, dtype), (0, real))
        return SlogdetResult(*(wrap(_full(value, kind, stack, x.value())) for value, kind in results))
    return SlogdetResult(*map(wrap, graph.library_call_outputs("slogdet", (), (graph.cast(x.value(), dtype),))))


def det(a: Any) -> ndarray:
    """Return the determinants of square matrices. See `numpy.linalg.det`."""
    x = as_array(a)
    check_square(x)
    dtype, stack = common_dtype(x), x.shape[:-2]
    if not x.size:
        return wrap(_full(1, dtype, stack, x.value()))
    return wrap(graph.library_call("det", (), (graph.cast(x.value(), dtype),)))
