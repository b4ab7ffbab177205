"""Products of vectors, matrices and tensors over chosen axes, and sums along diagonals."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from ...core.dtypes import check
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape
from ...core.graph.node import Node
from ...core.numpy_release import NUMPY_2_5
from ...core.recording.array import mark_as_array, ndarray, to_host, wrap
from ...core.recording.record import as_array, as_dtype, binary_operator, reshaped, transposed, unary_operator
from ...core.source_location import warn
from ..indexing.slices import flat_array, sliced_copy
from ..manipulation.joining import concatenate
from ..ufuncs.errstate import ignoring
from ..ufuncs.methods import reduce_ufunc
from ..ufuncs.output import checked_output, write_to_output
from .matrix_product import conjugate, matrix_product, vector_product
from .operands import as_two_arrays, cast_to_common_dtype, noted, reordered, write_product
from .stacked import matmul

__all__ = ["dot", "vdot", "inner", "outer", "tensordot", "kron", "cross", "trace"]

_multiply, _subtract, _negative = binary_operator("multiply"), binary_operator("subtract"), unary_operator("negative")


def dot(a: Any, b: Any, out: Any = None) -> ndarray:
    """Sum products over the last axis of `a` and the second to last axis of `b`. See `numpy.dot`."""
    one, two = as_two_arrays(a, b)
    out_array = _output_array(out)
    is_matrix_product = 0 < two.ndim <= 2 and one.ndim and one.shape[-1] == two.shape[0]
    if out_array is None and is_matrix_product and not _is_one_product(one, two):
        return matmul(one, two)
    if not one.ndim or not two.ndim:
        result = _multiply(one, two).value()
    elif _is_one_product(one, two):
        result = reshaped(_multiply(one, two).value(), (1,) * (one.ndim + two.ndim - 2))
    else:
        result = _product_along(one, two, max(two.ndim - 2, 0))
    if out_array is None:
        return noted(wrap(result), one, two)
    is_same_type = (out_array.dtype, out_array.shape) == (result.signature.dtype, result.signature.shape)
    if not is_same_type or not out_array.c_contiguous:
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
        )
    return write_to_output(out_array, result)


def _output_array(out: Any) -> Any:
    """Return the `out` argument of a function that is not a ufunc, which takes no tuple."""
    return checked_output(out)


def inner(a: Any, b: Any, /) -> ndarray:
    """Sum products over the last axes of both arrays. See `numpy.inner`."""
    one, two = as_two_arrays(a, b)
    if not one.ndim or not two.ndim:
        return _multiply(one, two)
    if _is_one_product(one, two):
        return wrap(reshaped(_multiply(one, two).value(), (1,) * (one.ndim + two.ndim - 2)))
    return wrap(_product_along(one, two, two.ndim - 1))


def _is_one_product(one: ndarray, two: ndarray) -> bool:
    """Return whether a sum of products has one term, which NumPy adds to no zero: -0.0 stays what it is."""
    return one.size == two.size == 1 and one.ndim <= 2 and two.ndim <= 2


def _product_along(a: ndarray, b: ndarray, axis: int) -> Node:
    """Return the sums of products over the last axis of `a` and one axis of `b`."""
    length = a.shape[-1]
    if length != b.shape[axis]:
        b_dim = max(b.ndim - 2, 0)  # as in NumPy's message
        b_shape = [n for d, n in enumerate(b.shape) if d != axis]
        b_shape.insert(b_dim, b.shape[axis])
        first, second = (",".join(map(str, x)) + ("," if len(x) == 1 else "") for x in (a.shape, b_shape))
        raise ValueError(
            f"shapes ({first}) and ({second}) not aligned: {length} (dim {a.ndim - 1}) != {b.shape[axis]} (dim {b_dim})"
        )
    one, two = cast_to_common_dtype(a, b)
    if a.ndim == b.ndim == 1:
        return vector_product(one, two)
    kept = [d for d in range(b.ndim) if d != axis]
    shape = (*a.shape[:-1], *(b.shape[d] for d in kept))
    layout.check_dimension_count(len(shape))
    if a.ndim > 2:
        one = reshaped(one, (prod(a.shape[:-1]), length))
    if b.ndim > 1:
        two = transposed(two, (axis, *kept))
        if b.ndim > 2:
            two = reshaped(two, (length, prod(two.signature.shape[1:])))
    return matrix_product(one, two, shape)


@ignoring(all="ignore")
def vdot(a: Any, b: Any, /) -> ndarray:
    """Multiply all elements in C order, those of `a` conjugated, and sum. See `numpy.vdot`."""
    one, two = as_two_arrays(a, b)
    if one.size != two.size:
        raise ValueError(f"cannot reshape array of size {two.size} into shape ({one.size},)")
    first, second = cast_to_common_dtype(flat_array(one), flat_array(two))
    return wrap(vector_product(conjugate(first), second))


def outer(a: Any, b: Any, out: Any = None) -> ndarray:
    """Multiply every element of `a` by every element of `b`. See `numpy.outer`."""
    one, two = as_two_arrays(a, b)
    column = wrap(reshaped(one.value(), (one.size, 1)))
    result = _multiply(column, flat_array(two))
    out_array = _output_array(out)
    return result if out_array is None else write_product(result.value(), out_array, "multiply")


def tensordot(a: Any, b: Any, axes: Any = 2) -> ndarray:
    """Sum products over several axes of both arrays. See `numpy.tensordot`."""
    one, two = as_two_arrays(a, b)
    try:
        iter(axes)
    except TypeError:
        first, second = range(-axes, 0), range(axes)
    else:
        first, second = axes
    left, right = _axis_list(first), _axis_list(second)
    if len(set(left)) != len(left) or len(set(right)) != len(right):
        raise ValueError("duplicate axes are not allowed in tensordot")
    if len(left) != len(right) or _lengths_differ(one.shape, left, two.shape, right):
        raise ValueError("shape-mismatch for sum")
    left = [layout.normalize_axis(d, one.ndim) for d in left]
    right = [layout.normalize_axis(d, two.ndim) for d in right]
    if len(set(left)) != len(left) or len(set(right)) != len(right):  # an axis given from the front and from the end
        raise ValueError("axes don't match array")
    kept_left = [d for d in range(one.ndim) if d not in left]
    kept_right = [d for d in range(two.ndim) if d not in right]
    length = prod(one.shape[d] for d in left)
    shape = tuple(one.shape[d] for d in kept_left) + tuple(two.shape[d] for d in kept_right)
    layout.check_dimension_count(len(shape))
    first_node, second_node = cast_to_common_dtype(one, two)
    rows = prod(one.shape[d] for d in kept_left)
    columns = prod(two.shape[d] for d in kept_right)
    first_node = reshaped(transposed(first_node, (*kept_left, *left)), (rows, length))
    second_node = reshaped(transposed(second_node, (*right, *kept_right)), (length, columns))
    if not shape:
        return mark_as_array(wrap(vector_product(reshaped(first_node, (length,)), reshaped(second_node, (length,)))))
    return wrap(matrix_product(first_node, second_node, shape))


def _axis_list(axes: Any) -> list[Any]:
    """Return one half of the argument `axes` as a list."""
    if isinstance(axes, ndarray):
        axes = to_host(axes).tolist()
    try:
        return list(axes)
    except TypeError:
        return [axes]


def _lengths_differ(a: Shape, left: Sequence[int], b: Shape, right: Sequence[int]) -> bool:
    """Return True if axes that are to be summed together have different lengths."""
    return any(a[d] != b[e] for d, e in zip(left, right, strict=True))


def kron(a: Any, b: Any) -> ndarray:
    """Return the Kronecker product. See `numpy.kron`."""
    one, two = as_two_arrays(a, b)
    ndim = max(one.ndim, two.ndim)
    if not one.ndim or not two.ndim:
        return _multiply(one, two)
    layout.check_dimension_count(2 * ndim)  # NumPy has the dimensions of both beside each other
    left_shape = (1,) * (ndim - one.ndim) + one.shape
    right_shape = (1,) * (ndim - two.ndim) + two.shape
    interleaved = [
        wrap(reshaped(one.value(), tuple(m for n in left_shape for m in (n, 1)))),
        wrap(reshaped(two.value(), tuple(m for n in right_shape for m in (1, n)))),
    ]
    node = _multiply(*interleaved).value()
    return wrap(reshaped(node, tuple(n * m for n, m in zip(left_shape, right_shape, strict=True))))


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> ndarray:
    """Return the cross products of vectors along an axis. See `numpy.cross`."""
    if axis is not None:
        axisa = axisb = axisc = axis
    one, two = as_two_arrays(a, b)
    if not one.ndim or not two.ndim:
        raise ValueError("At least one array has zero dimension")
    one = _with_axis_moved(one, layout.normalize_axis(axisa, one.ndim), one.ndim - 1)
    two = _with_axis_moved(two, layout.normalize_axis(axisb, two.ndim), two.ndim - 1)
    if NUMPY_2_5 and (one.shape[-1] != 3 or two.shape[-1] != 3):
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{one.shape[-1]} and {two.shape[-1]} dimensional instead."
        )
    if one.shape[-1] not in (2, 3) or two.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if 2 in (one.shape[-1], two.shape[-1]):
        warn(
            "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead. "
            "(deprecated in NumPy 2.0)",
            DeprecationWarning,
        )
    dtype = check(numpy.promote_types(one.dtype, two.dtype))
    u, v = (
        [wrap(as_dtype(sliced_copy(x, x.ndim - 1, k, k + 1).value(), dtype)) for k in range(x.shape[-1])]
        for x in (one, two)
    )
    if len(u) == len(v) == 2:
        node = _minor(u, v, 0, 1).value()
        return mark_as_array(wrap(reshaped(node, node.signature.shape[:-1])))
    components = [_minor(u, v, 1, 2), _minor(u, v, 2, 0), _minor(u, v, 0, 1)]
    shape = layout.broadcast_shapes(*(p.shape for p in components))
    joined = concatenate([wrap(graph.broadcast(p.value(), shape)) for p in components], len(shape) - 1)
    return _with_axis_moved(joined, len(shape) - 1, layout.normalize_axis(axisc, len(shape)))


def _with_axis_moved(array: ndarray, source: int, target: int) -> ndarray:
    """Return the array's value with one axis at another position."""
    order = [d for d in range(array.ndim) if d != source]
    order.insert(target, source)
    return reordered(array, order)


def _minor(u: list[ndarray], v: list[ndarray], i: int, j: int) -> ndarray:
    """Return ``u[i] * v[j] - u[j] * v[i]``, where a missing third component is zero."""
    first = _multiply(u[i], v[j]) if i < len(u) and j < len(v) else None
    second = _multiply(u[j], v[i]) if j < len(u) and i < len(v) else None
    if first is None:
        assert second is not None
        return _negative(second)
    return first if second is None else _subtract(first, second)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> ndarray:
    """Sum along a diagonal. See `numpy.trace`."""
    array, offset = as_array(a), operator.index(offset)
    if array.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = layout.normalize_axis(axis1, array.ndim), layout.normalize_axis(axis2, array.ndim)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    node = array.value()
    shape, strides = node.signature.shape, layout.c_strides(node.signature.shape)
    start = offset * strides[second] if offset >= 0 else -offset * strides[first]
    length = min(shape[first] + min(offset, 0), shape[second] - max(offset, 0))
    kept = [d for d in range(array.ndim) if d not in (first, second)]
    diagonal = Layout(
        (*(shape[d] for d in kept), max(length, 0)),
        (*(strides[d] for d in kept), strides[first] + strides[second]),
        start if length > 0 else 0,
    )
    return reduce_ufunc("add", wrap(graph.view(node, diagonal)), -1, dtype, _output_array(out))
