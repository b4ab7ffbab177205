"""Norms of vectors and matrices, and condition numbers: reductions, and singular values where those make a norm."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy
from numpy.linalg import LinAlgError

from ..core.dtypes import FLOAT64, KIND, DType, bfloat16
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.recording.array import ndarray, wrap
from ..core.recording.record import as_array, as_dtype, elementwise, reshaped
from ..functions.indexing.getitem import getitem
from ..functions.manipulation.shape import moveaxis
from ..functions.reductions import reductions
from ..functions.ufuncs.elementwise import real_of, where
from .checks import check_square, common_dtype, real_dtype
from .decompositions import svdvals

__all__ = ["cond", "matrix_norm", "norm", "vector_norm"]


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Norm of vectors along an axis, or of matrices along two. See `numpy.linalg.norm`."""
    array = _floating(x)
    keep, ndim = bool(keepdims), array.ndim
    if axis is None:
        if ord is None or (ord in ("f", "fro") and ndim == 2) or (ord == 2 and ndim == 1):
            return _root_of_squares(array, None, keep)
        axes: tuple[Any, ...] = tuple(range(ndim))
    elif isinstance(axis, tuple):
        axes = axis
    else:
        axes = (_one_axis(axis),)
    if len(axes) == 1:
        return _of_vectors(array, ord, axes[0], keep)
    if len(axes) == 2:
        return _of_matrices(array, ord, axes, keep)
    raise ValueError("Improper number of dimensions to norm.")


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> ndarray:
    """Norm of vectors along an axis, or of the elements along several. See `numpy.linalg.vector_norm`."""
    array = _floating(x)
    if axis is not None and not isinstance(axis, tuple):
        axis = _one_axis(axis)
    return _of_vectors(array, ord, axis, bool(keepdims))


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> ndarray:
    """Norm of the matrices of a stack. See `numpy.linalg.matrix_norm`."""
    return norm(x, ord, (-2, -1), keepdims)


def _one_axis(axis: Any) -> int:
    try:
        return int(axis)
    except Exception as error:
        raise TypeError("'axis' must be None, an integer or a tuple of integers") from error


def _floating(x: Any) -> ndarray:
    """The array, integers and booleans as float64; NumPy does not know bfloat16 for floating-point either."""
    array = as_array(x)
    if KIND[array.dtype] in "biu" or array.dtype == bfloat16:
        return wrap(as_dtype(array.value(), FLOAT64))
    return array


def _of_vectors(x: ndarray, order: Any, axis: Any, keep: bool) -> ndarray:
    if isinstance(order, str):
        raise ValueError(f"Invalid norm order '{order}' for vectors")
    if axis is not None:
        axis = layout.normalize_axes(axis, x.ndim)
    if order is None or order == 2:
        return _root_of_squares(x, axis, keep)
    if order == 0:
        there = elementwise("not_equal", (x, 0))
        return reductions.sum(wrap(as_dtype(there.value(), real_dtype(x.dtype))), axis, keepdims=keep)
    sizes = elementwise("absolute", (x,))
    if order == numpy.inf:
        return reductions.max(sizes, axis, keepdims=keep, initial=0)
    if order == -numpy.inf:
        return reductions.min(sizes, axis, keepdims=keep)
    if order == 1:
        return reductions.sum(sizes, axis, keepdims=keep)
    power = float(order)
    total = reductions.sum(elementwise("power", (sizes, power)), axis, keepdims=keep)
    return elementwise("power", (total, 1 / power))


def _of_matrices(x: ndarray, order: Any, axes: tuple[Any, ...], keep: bool) -> ndarray:
    row, column = (layout.normalize_axis(axis, x.ndim) for axis in axes)
    if row == column:
        raise ValueError("Duplicate axes given.")
    if order in (None, "fro", "f"):
        return _root_of_squares(x, (row, column), keep)
    if order in (2, -2, "nuc"):
        values = svdvals(moveaxis(x, (row, column), (-2, -1)))
        if order == 2:
            made = reductions.max(values, -1, initial=0)
        else:
            made = reductions.min(values, -1) if order == -2 else reductions.sum(values, -1, initial=0)
    elif order in (1, -1, numpy.inf, -numpy.inf):
        first, second = (row, column) if abs(order) == 1 else (column, row)
        sums = reductions.sum(elementwise("absolute", (x,)), first)
        second -= second > first
        made = reductions.max(sums, second, initial=0) if order > 0 else reductions.min(sums, second)
    else:
        raise ValueError("Invalid norm order for matrices.")
    return _kept(made, x.shape, (row, column)) if keep else made


def _root_of_squares(x: ndarray, axis: Any, keep: bool) -> ndarray:
    if KIND[x.dtype] == "c":
        squares = real_of(elementwise("multiply", (elementwise("conjugate", (x,)), x)))
    else:
        squares = elementwise("multiply", (x, x))
    return elementwise("sqrt", (reductions.sum(squares, axis, keepdims=keep),))


def _kept(made: ndarray, shape: tuple[int, ...], axes: tuple[int, ...]) -> ndarray:
    """With the axes that were reduced, of length 1."""
    return wrap(reshaped(made.value(), tuple(1 if k in axes else n for k, n in enumerate(shape))))


def cond(x: Any, p: Any = None) -> ndarray:
    """The condition numbers of matrices. See `numpy.linalg.cond`."""
    array = as_array(x)
    if not array.size and not prod(array.shape[-2:]):
        raise LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = svdvals(array)
        ends = getitem(s, (..., 0)), getitem(s, (..., -1))
        with numpy.errstate(all="ignore"):  # of a singular matrix, and of zeros
            made = elementwise("divide", ends[::-1] if p == -2 else ends)
    else:
        check_square(array)
        dtype = common_dtype(array)
        with numpy.errstate(all="ignore"):
            inverse = _inverses(array, dtype)
            made = elementwise("multiply", (norm(array, p, (-2, -1)), norm(inverse, p, (-2, -1))))
            made = wrap(as_dtype(made.value(), real_dtype(dtype)))
    if not made.size:
        return made
    known = reductions.any(elementwise("isnan", (array,)), (-2, -1))
    lost = elementwise("greater", (elementwise("isnan", (made,)), known))
    infinite = wrap(graph.fill(graph.typed_scalar(numpy.inf, made.dtype), made.shape, made.queue))
    return elementwise("where", (lost, infinite, made))  # of one matrix a scalar


def _inverses(x: ndarray, dtype: DType) -> ndarray:
    """The inverses of matrices, NaN where there is none."""
    made, info = map(wrap, graph.library_call_outputs("inv", (), (as_dtype(x.value(), dtype),)))
    regular = elementwise("equal", (getitem(info, (..., None, None)), 0))
    return where(regular, made, wrap(graph.fill(graph.typed_scalar(numpy.nan, dtype), x.shape, x.queue)))
