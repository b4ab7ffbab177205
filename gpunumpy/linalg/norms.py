"""Norms of vectors and matrices, and condition numbers, from reductions or singular values."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy
from numpy.linalg import LinAlgError

from ..core.dtypes import FLOAT64, KIND, ML_DTYPES, DType
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.recording.array import ndarray, wrap
from ..core.recording.record import as_array, as_dtype, binary_operator, elementwise, reshaped, unary_operator
from ..functions.indexing.getitem import getitem
from ..functions.manipulation.shape import moveaxis
from ..functions.products.matrix_product import vector_product_by_numpy
from ..functions.reductions import reductions
from ..functions.ufuncs.elementwise import real_parts, where
from .checks import check_square, common_dtype, real_dtype
from .decompositions import svdvals

__all__ = ["cond", "matrix_norm", "norm", "vector_norm"]


# With memos, for loops that normalize a vector in every step.
_product, _square_root = binary_operator("multiply"), unary_operator("sqrt")


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Return the norm of vectors along one axis, or of matrices along two axes. See `numpy.linalg.norm`."""
    array = _to_floating(x)
    keep, ndim = bool(keepdims), array.ndim
    if axis is None:
        if ord is None or (ord in ("f", "fro") and ndim == 2) or (ord == 2 and ndim == 1):
            return _root_sum_of_squares(array, None, keep)
        axes: tuple[Any, ...] = tuple(range(ndim))
    elif isinstance(axis, tuple):
        axes = axis
    else:
        axes = (_integer_axis(axis),)
    if len(axes) == 1:
        return _vector_norm(array, ord, axes[0], keep)
    if len(axes) == 2:
        return _matrix_norm(array, ord, axes, keep)
    raise ValueError("Improper number of dimensions to norm.")


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> ndarray:
    """Return the vector norm along an axis, or over all elements of several axes. See `numpy.linalg.vector_norm`."""
    array = _to_floating(x)
    if axis is not None and not isinstance(axis, tuple):
        axis = _integer_axis(axis)
    return _vector_norm(array, ord, axis, bool(keepdims))


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> ndarray:
    """Return the norm of each matrix of a stack. See `numpy.linalg.matrix_norm`."""
    return norm(x, ord, (-2, -1), keepdims)


def _integer_axis(axis: Any) -> int:
    """Return the axis as an int; raise NumPy's `TypeError` if there is none."""
    try:
        return int(axis)
    except Exception as error:
        raise TypeError("'axis' must be None, an integer or a tuple of integers") from error


def _to_floating(x: Any) -> ndarray:
    """Return the array, with integers, booleans and numbers of ml_dtypes as float64: to NumPy these are no floats."""
    array = as_array(x)
    if KIND[array.dtype] in "biu" or array.dtype in ML_DTYPES:
        return wrap(as_dtype(array.value(), FLOAT64))
    return array


def _vector_norm(x: ndarray, order: Any, axis: Any, keep: bool) -> ndarray:
    """Return the vector norm of an order over an axis, several axes, or all (None)."""
    if isinstance(order, str):
        raise ValueError(f"Invalid norm order '{order}' for vectors")
    if axis is not None:
        axis = layout.normalize_axes(axis, x.ndim)
    if order is None or order == 2:
        return _root_sum_of_squares(x, axis, keep)
    if order == 0:
        is_nonzero = elementwise("not_equal", (x, 0))
        return reductions.sum(wrap(as_dtype(is_nonzero.value(), real_dtype(x.dtype))), axis, keepdims=keep)
    magnitudes = elementwise("absolute", (x,))
    if order == numpy.inf:
        return reductions.max(magnitudes, axis, keepdims=keep, initial=0)
    if order == -numpy.inf:
        return reductions.min(magnitudes, axis, keepdims=keep)
    if order == 1:
        return reductions.sum(magnitudes, axis, keepdims=keep)
    power = float(order)
    total = reductions.sum(elementwise("power", (magnitudes, power)), axis, keepdims=keep)
    return elementwise("power", (total, 1 / power))


def _matrix_norm(x: ndarray, order: Any, axes: tuple[Any, ...], keep: bool) -> ndarray:
    """Return the matrix norm of an order; the axes are those of the rows and the columns."""
    row, column = (layout.normalize_axis(axis, x.ndim) for axis in axes)
    if row == column:
        raise ValueError("Duplicate axes given.")
    if order in (None, "fro", "f"):
        return _root_sum_of_squares(x, (row, column), keep)
    if order in (2, -2, "nuc"):
        values = svdvals(moveaxis(x, (row, column), (-2, -1)))
        if order == 2:
            result = reductions.max(values, -1, initial=0)
        else:
            result = reductions.min(values, -1) if order == -2 else reductions.sum(values, -1, initial=0)
    elif order in (1, -1, numpy.inf, -numpy.inf):
        first_axis, second_axis = (row, column) if abs(order) == 1 else (column, row)
        sums = reductions.sum(elementwise("absolute", (x,)), first_axis)
        second_axis -= second_axis > first_axis
        result = reductions.max(sums, second_axis, initial=0) if order > 0 else reductions.min(sums, second_axis)
    else:
        raise ValueError("Invalid norm order for matrices.")
    return _restore_reduced_axes(result, x.shape, (row, column)) if keep else result


# From so many elements on a product of vectors, as NumPy's norm is one, takes less time than a kernel, also as a step.
_MIN_PRODUCT_ELEMENTS = 1 << 15


def _root_sum_of_squares(x: ndarray, axis: Any, keep: bool) -> ndarray:
    """Return the square root of the sum of squared absolute values."""
    if axis is None and x.dtype.kind == "f" and x.size >= _MIN_PRODUCT_ELEMENTS:
        vector = reshaped(x.value(), (x.size,))
        product = vector_product_by_numpy(vector, vector)
        if product is not None:
            return _square_root(wrap(reshaped(product, (1,) * x.ndim) if keep else product))
    if KIND[x.dtype] == "c":
        squares = real_parts(elementwise("multiply", (elementwise("conjugate", (x,)), x)))
    else:
        squares = _product(x, x)
    return _square_root(reductions.sum(squares, axis, keepdims=keep))


def _restore_reduced_axes(reduced: ndarray, shape: tuple[int, ...], axes: tuple[int, ...]) -> ndarray:
    """Return a reduction of an array of `shape` with the reduced axes put back, of length 1."""
    return wrap(reshaped(reduced.value(), tuple(1 if k in axes else n for k, n in enumerate(shape))))


def cond(x: Any, p: Any = None) -> ndarray:
    """Return the condition numbers of matrices. See `numpy.linalg.cond`."""
    array = as_array(x)
    if not array.size and not prod(array.shape[-2:]):
        raise LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = svdvals(array)
        extremes = getitem(s, (..., 0)), getitem(s, (..., -1))
        with numpy.errstate(all="ignore"):  # a singular matrix divides by zero
            result = elementwise("divide", extremes[::-1] if p == -2 else extremes)
    else:
        check_square(array)
        dtype = common_dtype(array)
        with numpy.errstate(all="ignore"):
            inverse = _inverses(array, dtype)
            result = elementwise("multiply", (norm(array, p, (-2, -1)), norm(inverse, p, (-2, -1))))
            result = wrap(as_dtype(result.value(), real_dtype(dtype)))
    if not result.size:
        return result
    has_nan = reductions.any(elementwise("isnan", (array,)), (-2, -1))
    is_new_nan = elementwise("greater", (elementwise("isnan", (result,)), has_nan))
    infinite = wrap(graph.fill(graph.typed_scalar(numpy.inf, result.dtype), result.shape, result.queue))
    return elementwise("where", (is_new_nan, infinite, result))  # unlike `where`, a scalar for one matrix


def _inverses(x: ndarray, dtype: DType) -> ndarray:
    """Return the inverses of matrices, filled with NaN for singular ones."""
    inverses, info = map(wrap, graph.library_call_outputs("inv", (), (as_dtype(x.value(), dtype),)))
    is_regular = elementwise("equal", (getitem(info, (..., None, None)), 0))
    return where(is_regular, inverses, wrap(graph.fill(graph.typed_scalar(numpy.nan, dtype), x.shape, x.queue)))
