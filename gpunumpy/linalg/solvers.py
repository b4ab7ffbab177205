"""Linear systems, inverses, determinants and Cholesky factors.

Each is one routine over a stack of matrices. Its result `info` tells of every matrix whether it failed; where NumPy
raises for that, it is looked at.
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
from ..functions.products.operands import pair
from ..functions.products.stacked import matmul
from .checks import check_square, common_dtype, look, real_dtype, tells

__all__ = ["cholesky", "det", "inv", "matrix_power", "slogdet", "solve", "tensorinv", "tensorsolve"]

_SINGULAR = "Singular matrix"
_NOT_DEFINITE = "Matrix is not positive definite"
# Up to so many rows a factor is written as it is; cuSOLVER's come by columns.
_SMALL = 64


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: ndarray
    logabsdet: ndarray


def cholesky(a: Any, /, *, upper: bool = False) -> ndarray:
    """The Cholesky factor of Hermitian positive-definite matrices. See `numpy.linalg.cholesky`.

    The values are looked at, as a matrix that has no such factor raises. The lower factor of a large matrix is in
    Fortran order.
    """
    x = as_array(a)
    check_square(x)
    shape, by_columns = x.shape, not upper and x.shape[-1] > _SMALL
    where = Layout(shape, (*layout.c_strides(shape)[:-2], 1, shape[-1]), 0) if by_columns else None
    options = (bool(upper), by_columns)
    return _computed("cholesky", options, (x.value(),), common_dtype(x), _NOT_DEFINITE, where)


def inv(a: Any) -> ndarray:
    """The inverses of square matrices. See `numpy.linalg.inv`.

    The values are looked at, as a singular matrix raises.
    """
    x = as_array(a)
    check_square(x)
    return _computed("inv", (), (x.value(),), common_dtype(x), _SINGULAR)


def _computed(
    name: str,
    options: tuple[Any, ...],
    args: tuple[Node, ...],
    dtype: Any,
    message: str,
    where: Layout | None = None,
) -> ndarray:
    """The result of a library call whose other output says which matrices of the stack are not what it takes.

    It is seen through a layout, if one is given.
    """
    result, info = graph.library_call_outputs(name, options, tuple([graph.cast(x, dtype) for x in args]))
    if 0 in result.signature.shape:
        made = wrap(_filled(0, dtype, result.signature.shape, args[0]))
        return made if where is None else make_view(made, where)
    made = wrap(result)
    told = tells(made.queue)
    evaluate.compute(result if told else info)
    if where is not None:  # while the device is at work
        made = make_view(made, where)
    look(info, message, told)
    return made


def _filled(value: int, dtype: Any, shape: Shape, like: Node) -> Node:
    assert like.signature.queue is not None
    return graph.fill(graph.typed_scalar(dtype.type(value), dtype), shape, like.signature.queue)


# --- systems --------------------------------------------------------------------------------------------------------


def solve(a: Any, b: Any) -> ndarray:
    """The solutions of linear systems with square matrices. See `numpy.linalg.solve`.

    The values are looked at, as a singular matrix raises. The solutions for several right-hand sides lie in memory one
    after the other: as matrices they are in Fortran order.
    """
    x, y = pair(a, b)
    check_square(x)
    dtype = common_dtype(x, y)
    _check_sides(x, y)
    left, right, stack, n = x.value(), y.value(), x.shape[:-2], x.shape[-1]
    if y.ndim == 1:
        right = graph.broadcast(right, (*stack, n))
        return _computed("solve", (), (left, right), dtype, _SINGULAR)
    columns = y.shape[-1]
    if not columns:  # which does not save a singular matrix
        solve(x, wrap(_filled(0, dtype, (n,), right)))
    batch = layout.broadcast_shapes(stack, y.shape[:-2])
    right = graph.broadcast(right, (*batch, n, columns))
    ahead = (*batch, columns)
    if prod(stack) == 1 and len(batch):
        # One matrix for all: their right-hand sides stand side by side.
        left, count = reshaped(left, (n, n)), prod(ahead)
        right = transposed(reshaped(transposed(right, _swapped(len(ahead))), (count, n)), (1, 0))
    else:
        left = graph.broadcast(left, (*batch, n, n))
    where = Layout((*batch, n, columns), (*layout.c_strides((*ahead, n))[:-2], 1, n), 0)
    return _computed("solve", (), (left, right), dtype, _SINGULAR, where)


def _swapped(last: int) -> tuple[int, ...]:
    """The order of axes up to `last` that exchanges the last two."""
    return (*range(last - 1), last, last - 1)


def _check_sides(x: ndarray, y: ndarray) -> None:
    """Refuse right-hand sides of another length than the matrices."""
    name, rows = ("solve1", -1) if y.ndim == 1 else ("solve", -2)
    signature = f"(m,m),(m{'' if y.ndim == 1 else ',n'})->(m{'' if y.ndim == 1 else ',n'})"
    if not y.ndim:
        raise ValueError(
            f"{name}: Input operand 1 does not have enough dimensions (has 0, gufunc core with signature {signature} "
            "requires 2)"
        )
    if y.shape[rows] != x.shape[-1]:
        raise ValueError(
            f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {signature} (size "
            f"{y.shape[rows]} is different from {x.shape[-1]})"
        )


def tensorsolve(a: Any, b: Any, axes: Any = None) -> ndarray:
    """The solution `x` of the equation ``tensordot(a, x, x.ndim) == b``. See `numpy.linalg.tensorsolve`."""
    x, y = pair(a, b)
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
    """The inverse of an array in the sense of `tensordot`. See `numpy.linalg.tensorinv`."""
    x = as_array(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    size = prod(x.shape[ind:])
    if not size:
        raise ValueError(f"cannot reshape array of size {x.size} into shape (0,newaxis)")
    made = inv(wrap(reshaped(x.value(), (size, x.size // size))))
    return make_view(made, layout.c_layout((*x.shape[ind:], *x.shape[:ind])))


def matrix_power(a: Any, n: Any) -> ndarray:
    """Powers of square matrices by integers. See `numpy.linalg.matrix_power`."""
    x = as_array(a)
    check_square(x)
    try:
        left = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if not left:
        return wrap(graph.fresh(broadcast_to(eye(x.shape[-1], dtype=x.dtype, device=x.device), x.shape).value()))
    if left < 0:
        x, left = inv(x), -left
    if left == 1:
        return x
    if left == 3:
        return matmul(matmul(x, x), x)
    result = None
    while True:
        if left & 1:
            result = x if result is None else matmul(result, x)
        left >>= 1
        if not left:
            assert result is not None
            return result
        x = matmul(x, x)


# --- determinants ---------------------------------------------------------------------------------------------------


def slogdet(a: Any) -> SlogdetResult:
    """The signs of determinants and the logarithms of their sizes. See `numpy.linalg.slogdet`."""
    x = as_array(a)
    check_square(x)
    dtype, stack = common_dtype(x), x.shape[:-2]
    real = real_dtype(dtype)
    if not x.size:
        return SlogdetResult(*(wrap(_filled(k, d, stack, x.value())) for k, d in ((1, dtype), (0, real))))
    return SlogdetResult(*map(wrap, graph.library_call_outputs("slogdet", (), (graph.cast(x.value(), dtype),))))


def det(a: Any) -> ndarray:
    """The determinants of square matrices. See `numpy.linalg.det`."""
    x = as_array(a)
    check_square(x)
    dtype, stack = common_dtype(x), x.shape[:-2]
    if not x.size:
        return wrap(_filled(1, dtype, stack, x.value()))
    return wrap(graph.library_call("det", (), (graph.cast(x.value(), dtype),)))
