"""Products of vectors, matrices and stacks of them.

The product of two vectors is a reduction, which fuses with what makes the vectors; all others are one routine
("matmul"), which takes transposed and broadcast operands as they are.
"""

from __future__ import annotations

import operator
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, TypeVar

import numpy

from .core import layout
from .core import node as graph
from .core.array import ndarray, wrap
from .core.dtypes import FLOAT32, KIND, NUMPY_2_5, check
from .core.epilogues import Product
from .core.layout import Layout, Shape
from .core.node import DType, Form, Leaf, Map, Node, View
from .core.record import as_array, as_dtype, elementwise, remember, reshaped, transposed
from .einsum_plan import are_tiny
from .gufunc import NO_KEYWORDS, Keywords, axes_of, dtype_of, keywords, order_of
from .joining import concatenate
from .parts import flat, sliced
from .precision import precision, precision_name
from .recipes import Recipe
from .ufunc_methods import reduce_ufunc
from .ufunc_output import in_order, output, told_cast, write

__all__ = [
    *("matmul", "matvec", "vecmat", "vecdot", "dot", "vdot", "inner", "outer", "tensordot"),
    *("kron", "cross", "trace"),
]

_Stacked = TypeVar("_Stacked", bound=Callable[..., Any])

# The most core dimensions of the operands of each generalised ufunc.
_CORES = {"matmul": (2, 2), "matvec": (2, 1), "vecmat": (1, 2), "vecdot": (1, 1)}


def _described(function: _Stacked) -> _Stacked:
    """The attributes that NumPy's generalised ufunc of that name has."""
    its = getattr(numpy, function.__name__)
    for name in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature"):
        setattr(function, name, getattr(its, name))
    return function


# --- over stacks ----------------------------------------------------------------------------------------------------


@_described
def matmul(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> ndarray:
    """Matrix product of the last two axes, the others broadcast; see `numpy.matmul`."""
    if type(x1) is ndarray and type(x2) is ndarray and out is None and not options:
        one = x1._node if x1._base is None else x1.value()
        two = x2._node if x2._base is None else x2.value()
        key = one.form, two.form
        cache = _recorded[precision_name()]
        known = cache.get(key)
        if known is not None:
            return wrap(Node(known, (one, two)))
        result = _stacked("matmul", _matmul, x1, x2, None, options)
        remember(cache, key, result)
        return result
    return _stacked("matmul", _matmul, x1, x2, out, options)


# The forms of products by the setting of their precision and the forms of the operands.
_recorded: defaultdict[str, dict[Any, Form]] = defaultdict(dict)


@_described
def matvec(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> ndarray:
    """Products of matrices with vectors, both stacked; see `numpy.matvec`."""
    return _stacked("matvec", _matvec, x1, x2, out, options)


@_described
def vecmat(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> ndarray:
    """Products of conjugated vectors with matrices, both stacked; see `numpy.vecmat`."""
    return _stacked("vecmat", _vecmat, x1, x2, out, options)


@_described
def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axis: Any = -1, **options: Any) -> ndarray:
    """Products of vectors along an axis, the first conjugated; see `numpy.vecdot`."""
    if type(axis) is not int or axis != -1:  # the last one is what it is without a word, and `axes` goes without it
        options["axis"] = axis
    return _stacked("vecdot", _vecdot, x1, x2, out, options)


def _matmul(a: Node, b: Node) -> Node:
    return _dot(a, b) if len(a.form.shape) == len(b.form.shape) == 1 else matrix_product(a, b)


def _matvec(a: Node, b: Node) -> Node:
    left, right = a.form.shape, b.form.shape
    shape = (*layout.broadcast_shapes(left[:-2], right[:-1]), left[-2])
    return matrix_product(a, reshaped(b, (*right, 1)), shape)


def _vecmat(a: Node, b: Node) -> Node:
    left, right = a.form.shape, b.form.shape
    shape = (*layout.broadcast_shapes(left[:-1], right[:-2]), right[-1])
    return matrix_product(reshaped(_conjugate(a), (*left[:-1], 1, left[-1])), b, shape)


def _vecdot(a: Node, b: Node) -> Node:
    return _dot(_conjugate(a), b)


def _stacked(
    name: str, multiply: Callable[[Node, Node], Node], x1: Any, x2: Any, out: Any, options: dict[str, Any]
) -> ndarray:
    """A generalised ufunc, of which `multiply` works on the last axes of operands of one dtype."""
    words = keywords(name, options) if options else NO_KEYWORDS
    into = output(out)
    arrays = _operands(x1, x2, name)
    if words is NO_KEYWORDS and into is None:
        return wrap(multiply(*_matched(name, arrays, words)))
    cores = [min(x.ndim, most) for x, most in zip(arrays, _CORES[name], strict=True)]
    core = 1 if words.keepdims else sum(cores) - 2
    loops = max(x.ndim - n for x, n in zip(arrays, cores, strict=True))
    ndims = [*(x.ndim for x in arrays), loops + core if into is None else len(into.shape)]
    axes = axes_of(name, words, ndims, (*cores, core))
    order = None
    if axes is not None:
        one, two, order = (order_of(n, last) for n, last in zip(ndims, axes, strict=True))
        arrays = (_reordered(arrays[0], one), _reordered(arrays[1], two))
    node = multiply(*_matched(name, arrays, words))
    if words.keepdims:
        node = reshaped(node, (*node.form.shape, 1))
    if into is not None:
        return _finish(node, into, name, core, words.casting, order)
    if order is not None:
        node = transposed(node, numpy.argsort(order).tolist())
    return wrap(node) if words.order == "K" else in_order(wrap(node), _order_like(words.order, arrays))


def _matched(name: str, arrays: tuple[ndarray, ndarray], words: Keywords) -> list[Node]:
    """The operands in the dtype of the product, if the axis that is summed is of one length."""
    a, b = arrays
    _check_core(a.shape[-1], b.shape[-1 if b.ndim < 2 or _CORES[name][1] < 2 else -2], name, 0)
    return _cast(arrays, dtype_of(name, (a.dtype, b.dtype), words), words.casting)


def _reordered(array: ndarray, order: Sequence[int]) -> ndarray:
    """The value with its dimensions in another order."""
    return wrap(transposed(array.value(), order))


def _order_like(order: str, arrays: Sequence[ndarray]) -> str:
    """The memory order "C" or "F"; "A" is that of Fortran if all arrays are."""
    if order != "A":
        return order
    places = [x.layout for x in arrays]
    fortran = all(layout.is_f(w.shape, w.strides) for w in places)
    return "F" if fortran and not all(layout.is_c(w.shape, w.strides) for w in places) else "C"


def _operands(x1: Any, x2: Any, name: str) -> tuple[ndarray, ndarray]:
    arrays = pair(x1, x2)
    # The optional core dimensions of matmul may be missing.
    for k, (array, need) in enumerate(zip(arrays, (1, 1) if name == "matmul" else _CORES[name], strict=True)):
        if array.ndim < need:
            raise ValueError(
                f"{name}: Input operand {k} does not have enough dimensions (has {array.ndim}, gufunc core with "
                f"signature {getattr(numpy, name).signature} requires {need})"
            )
    return arrays


def pair(x1: Any, x2: Any) -> tuple[ndarray, ndarray]:
    """Two operands as arrays; host data goes to where the other one is."""
    device = next((x.device for x in (x1, x2) if isinstance(x, ndarray)), None)
    return as_array(x1, device), as_array(x2, device)


def _check_core(n: int, m: int, name: str, dimension: int) -> None:
    if n != m:
        raise ValueError(
            f"{name}: Input operand 1 has a mismatch in its core dimension {dimension}, with gufunc signature "
            f"{getattr(numpy, name).signature} (size {m} is different from {n})"
        )


def _cast(arrays: Sequence[ndarray], dtype: DType, casting: Any = "safe") -> list[Node]:
    """The operands in the dtype of the product."""
    for k, a in enumerate(arrays):
        if not numpy.can_cast(a.dtype, dtype, casting):
            raise TypeError(
                f"Cannot cast ufunc 'matmul' input {k} from {a.dtype!r} to {dtype!r} with casting rule {casting!r}"
            )
    return [told_cast(a.value(), dtype) for a in arrays]


def _common(a: ndarray, b: ndarray) -> list[Node]:
    """The operands in the dtype of both."""
    return _cast((a, b), check(numpy.result_type(a.dtype, b.dtype)))


def _finish(
    node: Node, into: Any, name: str, core: int = 0, casting: Any = "same_kind", order: Sequence[int] | None = None
) -> ndarray:
    """`into` with the product, whose last `core` dimensions it has to have; the others are broadcast.

    With `order`, dimension k of the product is axis ``order[k]`` of `into`.
    """
    if not numpy.can_cast(node.form.dtype, into.dtype, casting):
        raise TypeError(
            f"Cannot cast ufunc {name!r} output from {node.form.dtype!r} to {into.dtype!r} with casting rule "
            f"{casting!r}"
        )
    target = tuple(into.shape if order is None else (into.shape[d] for d in order))
    shape = node.form.shape
    start, end = len(target) - core, len(shape) - core
    if (
        start < 0
        or target[start:] != shape[end:]
        or layout.broadcast_shapes(target[:start], shape[:end]) != target[:start]
    ):
        raise ValueError(f"{name}: Output operand 0 has the shape {target}, and the product {shape}")
    if order is not None:
        node = transposed(graph.broadcast(node, target), numpy.argsort(order).tolist())
    return write(into, node)


# --- the two ways to multiply ---------------------------------------------------------------------------------------


def _dot(a: Node, b: Node) -> Node:
    """The products of vectors along the last axis; halves are multiplied and summed as float32."""
    dtype = a.form.dtype
    wide = FLOAT32 if KIND[dtype] == "e" else dtype
    products = graph.map_node("multiply", (wide,) * 3, [as_dtype(x, wide) for x in (a, b)])
    shape = products.form.shape
    if 0 in shape:
        return _zeros(shape[:-1], a)
    return graph.reduce("add", (wide, dtype), (len(shape) - 1,), (products,))


# From these numbers of elements on, a row is long and a matrix large.
_LONG_ROW, _LARGE = 4096, 1 << 26


def _is_faster_as_sums(matrix: Node) -> bool:
    """Whether a product with a vector is better left to a reduction: BLAS on a GPU reads long float32 rows slowly."""
    f = matrix.form
    if f.dtype != FLOAT32 or f.shape[-1] < _LONG_ROW or prod(f.shape) < _LARGE or not isinstance(f.op, Leaf):
        return False
    return f.op.strides[-1] == 1 and f.queue is not None and f.queue.device.kind == "cuda"


def matrix_product(a: Node, b: Node, shape: Shape | None = None) -> Node:
    """The matrix product of two values of one dtype, of which one at most is a vector; in C order, in any `shape`."""
    left, right = a.form.shape, b.form.shape
    if shape is None:
        batch = layout.broadcast_shapes(left[:-2], right[:-2])
        shape = (*batch, *left[-2:-1], *(right[-1:] if len(right) > 1 else ()))
    if 0 in shape or not left[-1]:
        return _zeros(shape, a)
    dtype = a.form.dtype
    if len(right) == 1 and _is_faster_as_sums(a):
        return reshaped(_dot(a, b), shape)
    if are_tiny(min(prod(left[:-2]), prod(right[:-2])), (*left[-2:], right[-1]), dtype.itemsize):
        return _tiny(a, b, shape)
    (one, conjugate), (two, conjugate_too) = _conjugated(a), _conjugated(b)
    options = Product(precision(dtype), (conjugate, conjugate_too))
    return graph.call("matmul", options, (_addressable(one), _addressable(two)), shape, dtype)


def _tiny(a: Node, b: Node, shape: Shape) -> Node:
    """The product of stacked matrices as one kernel, in which a thread sums an element."""
    try:
        return _tiny_recipe(a.form, b.form, shape)((a, b))
    except IndexError:  # another thread has just computed an operand
        return _tiny_recipe(a.form, b.form, shape)((a, b))


@lru_cache(4096)
def _tiny_recipe(left: Form, right: Form, shape: Shape) -> Recipe:
    def record(nodes: Sequence[Node]) -> Node:
        a, b = nodes
        dtype = a.form.dtype
        wide = FLOAT32 if KIND[dtype] == "e" else dtype
        rows = reshaped(as_dtype(a, wide), (*a.form.shape, 1))
        columns = reshaped(as_dtype(b, wide), (*b.form.shape[:-2], 1, *b.form.shape[-2:]))
        products = graph.map_node("multiply", (wide,) * 3, (rows, columns))
        return reshaped(graph.reduce("add", (wide, dtype), (len(products.form.shape) - 2,), (products,)), shape)

    return Recipe(record, (left, right))


def _conjugated(node: Node) -> tuple[Node, bool]:
    """What a conjugation that is still pending is of, if BLAS can make it as it reads; else the value as it is."""
    f, inner = node.form, node.args[:1]
    view = f.op if isinstance(f.op, View) else None
    if view is not None and inner:
        inner = inner[0].args[:1] if _conjugates(inner[0].form) else ()
    elif not _conjugates(f):
        return node, False
    if not inner:
        return node, False
    (source,) = inner
    if view is not None:
        source = graph.view(source, Layout(f.shape, view.strides, view.offset))
    if KIND[f.dtype] != "c":
        return source, False
    op = source.form.op  # what is not computed yet comes in C order
    strides = op.strides if isinstance(op, Leaf) else layout.c_strides(f.shape)
    return (source, True) if _lies_by_columns(f.shape, strides) else (node, False)


def _lies_by_columns(shape: Shape, strides: Sequence[int]) -> bool:
    """Whether BLAS can read a vector, or matrices, of such strides as columns, which it can conjugate."""
    if len(shape) == 1:
        return strides[0] == 1 or shape[0] == 1
    (rows, columns), (down, across) = shape[-2:], strides[-2:]
    return min(strides) >= 0 and (down == 1 or rows == 1) and (across >= rows or columns == 1)


def _conjugates(f: Form) -> bool:
    return isinstance(f.op, Map) and f.op.row == "conjugate"


def _zeros(shape: Shape, like: Node) -> Node:
    assert like.form.queue is not None
    return graph.fill(graph.typed_scalar(False, like.form.dtype), shape, like.form.queue)


def _addressable(node: Node) -> Node:
    """The value as BLAS can read it: rows or columns one after the other; a copy where they are not."""
    f = node.form
    if not isinstance(f.op, (Leaf, View)):
        return node
    return node if layout.lies_by_lines(f.shape, f.op.strides) else graph.fresh(node)


def _conjugate(node: Node) -> Node:
    dtype = node.form.dtype
    return graph.map_node("conjugate", (dtype, dtype), (node,)) if KIND[dtype] == "c" else node


def _moved(array: ndarray, source: int, target: int) -> ndarray:
    """The value with one axis at another place."""
    order = [d for d in range(array.ndim) if d != source]
    order.insert(target, source)
    return _reordered(array, order)


# --- dot and its like -----------------------------------------------------------------------------------------------


def dot(a: Any, b: Any, out: Any = None) -> ndarray:
    """Product of the last axis of `a` with the second to last of `b`; see `numpy.dot`."""
    one, two = pair(a, b)
    if not one.ndim or not two.ndim:
        result = elementwise("multiply", (one, two)).value()
    else:
        result = _contracted(one, two, max(two.ndim - 2, 0))
    into = _one_output(out)
    if into is None:
        return wrap(result)
    where = into.layout
    same = (into.dtype, into.shape) == (result.form.dtype, result.form.shape)
    if not same or not layout.is_c(where.shape, where.strides):
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
        )
    return write(into, result)


def _one_output(out: Any) -> Any:
    """The `out` argument of a function that is no ufunc, which takes no tuples."""
    if isinstance(out, tuple):
        raise TypeError("'out' must be an array")
    return output(out)


def inner(a: Any, b: Any, /) -> ndarray:
    """Products over the last axes of both; see `numpy.inner`."""
    one, two = pair(a, b)
    if not one.ndim or not two.ndim:
        return elementwise("multiply", (one, two))
    return wrap(_contracted(one, two, two.ndim - 1))


def _contracted(a: ndarray, b: ndarray, axis: int) -> Node:
    """The sum of products over the last axis of `a` and one axis of `b`."""
    length = a.shape[-1]
    if length != b.shape[axis]:
        first, second = (",".join(map(str, x.shape)) + ("," if x.ndim == 1 else "") for x in (a, b))
        raise ValueError(
            f"shapes ({first}) and ({second}) not aligned: {length} (dim {a.ndim - 1}) != {b.shape[axis]} (dim {axis})"
        )
    one, two = _common(a, b)
    if a.ndim == b.ndim == 1:
        return _dot(one, two)
    rest = [d for d in range(b.ndim) if d != axis]
    shape = (*a.shape[:-1], *(b.shape[d] for d in rest))
    if a.ndim > 2:
        one = reshaped(one, (prod(a.shape[:-1]), length))
    if b.ndim > 1:
        two = transposed(two, (axis, *rest))
        if b.ndim > 2:
            two = reshaped(two, (length, prod(two.form.shape[1:])))
    return matrix_product(one, two, shape)


def vdot(a: Any, b: Any, /) -> ndarray:
    """Product of all elements in C order, those of `a` conjugated; see `numpy.vdot`."""
    one, two = pair(a, b)
    if one.size != two.size:
        raise ValueError(f"cannot reshape array of size {two.size} into shape ({one.size},)")
    first, second = _common(flat(one), flat(two))
    return wrap(_dot(_conjugate(first), second))


def outer(a: Any, b: Any, out: Any = None) -> ndarray:
    """Every element of `a` times every element of `b`; see `numpy.outer`."""
    one, two = pair(a, b)
    column = wrap(reshaped(one.value(), (one.size, 1)))
    result = elementwise("multiply", (column, flat(two)))
    into = _one_output(out)
    return result if into is None else _finish(result.value(), into, "multiply")


def tensordot(a: Any, b: Any, axes: Any = 2) -> ndarray:
    """Sum of products over several axes of both; see `numpy.tensordot`."""
    one, two = pair(a, b)
    if numpy.ndim(axes) == 0 and not isinstance(axes, (tuple, list)):
        chosen: tuple[Any, Any] = (range(-axes, 0), range(axes))
    else:
        first, second = axes
        chosen = (first, second)
    left, right = (list(c) if numpy.ndim(c) else [c] for c in chosen)
    if len(set(left)) != len(left) or len(set(right)) != len(right):
        raise ValueError("duplicate axes are not allowed in tensordot")
    if len(left) != len(right) or any_differs(one.shape, left, two.shape, right):
        raise ValueError("shape-mismatch for sum")
    left = [layout.normalize_axis(d, one.ndim) for d in left]
    right = [layout.normalize_axis(d, two.ndim) for d in right]
    kept_left = [d for d in range(one.ndim) if d not in left]
    kept_right = [d for d in range(two.ndim) if d not in right]
    length = prod(one.shape[d] for d in left)
    shape = tuple(one.shape[d] for d in kept_left) + tuple(two.shape[d] for d in kept_right)
    first_node, second_node = _common(one, two)
    rows = prod(one.shape[d] for d in kept_left)
    columns = prod(two.shape[d] for d in kept_right)
    first_node = reshaped(transposed(first_node, (*kept_left, *left)), (rows, length))
    second_node = reshaped(transposed(second_node, (*right, *kept_right)), (length, columns))
    if not shape:
        return wrap(_dot(reshaped(first_node, (length,)), reshaped(second_node, (length,))))
    return wrap(matrix_product(first_node, second_node, shape))


def any_differs(a: Shape, left: Sequence[int], b: Shape, right: Sequence[int]) -> bool:
    """Whether two axes that are to be summed together have different lengths."""
    return any(a[d] != b[e] for d, e in zip(left, right, strict=True))


def kron(a: Any, b: Any) -> ndarray:
    """Kronecker product; see `numpy.kron`."""
    one, two = pair(a, b)
    ndim = max(one.ndim, two.ndim)
    if not one.ndim or not two.ndim:
        return elementwise("multiply", (one, two))
    left = (1,) * (ndim - one.ndim) + one.shape
    right = (1,) * (ndim - two.ndim) + two.shape
    spread = [
        wrap(reshaped(one.value(), tuple(m for n in left for m in (n, 1)))),
        wrap(reshaped(two.value(), tuple(m for n in right for m in (1, n)))),
    ]
    node = elementwise("multiply", spread).value()
    return wrap(reshaped(node, tuple(n * m for n, m in zip(left, right, strict=True))))


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> ndarray:
    """Cross product of vectors along an axis; see `numpy.cross`."""
    if axis is not None:
        axisa = axisb = axisc = axis
    one, two = pair(a, b)
    if not one.ndim or not two.ndim:
        raise ValueError("At least one array has zero dimension")
    one = _moved(one, layout.normalize_axis(axisa, one.ndim), one.ndim - 1)
    two = _moved(two, layout.normalize_axis(axisb, two.ndim), two.ndim - 1)
    if NUMPY_2_5 and (one.shape[-1] != 3 or two.shape[-1] != 3):
        raise ValueError(
            f"cross() takes vectors of 3 elements; these have {one.shape[-1]} and {two.shape[-1]} (see numpy.cross)"
        )
    if one.shape[-1] not in (2, 3) or two.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if 2 in (one.shape[-1], two.shape[-1]):
        warnings.warn(
            "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead. "
            "(deprecated in NumPy 2.0)",
            DeprecationWarning,
            stacklevel=2,
        )
    dtype = check(numpy.promote_types(one.dtype, two.dtype))
    u, v = (
        [wrap(as_dtype(sliced(x, x.ndim - 1, k, k + 1).value(), dtype)) for k in range(x.shape[-1])] for x in (one, two)
    )
    if len(u) == len(v) == 2:
        node = _minor(u, v, 0, 1).value()
        return wrap(reshaped(node, node.form.shape[:-1]))
    parts = [_minor(u, v, 1, 2), _minor(u, v, 2, 0), _minor(u, v, 0, 1)]
    shape = layout.broadcast_shapes(*(p.shape for p in parts))
    whole = concatenate([wrap(graph.broadcast(p.value(), shape)) for p in parts], len(shape) - 1)
    return _moved(whole, len(shape) - 1, layout.normalize_axis(axisc, len(shape)))


def _minor(u: list[ndarray], v: list[ndarray], i: int, j: int) -> ndarray:
    """``u[i] * v[j] - u[j] * v[i]``, where a missing third component is zero."""
    first = elementwise("multiply", (u[i], v[j])) if i < len(u) and j < len(v) else None
    second = elementwise("multiply", (u[j], v[i])) if j < len(u) and i < len(v) else None
    if first is None:
        assert second is not None
        return elementwise("negative", (second,))
    return first if second is None else elementwise("subtract", (first, second))


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> ndarray:
    """Sum along a diagonal; see `numpy.trace`."""
    array, offset = as_array(a), operator.index(offset)
    if array.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = layout.normalize_axis(axis1, array.ndim), layout.normalize_axis(axis2, array.ndim)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    node = array.value()
    shape, strides = node.form.shape, layout.c_strides(node.form.shape)
    start = offset * strides[second] if offset >= 0 else -offset * strides[first]
    length = min(shape[first] + min(offset, 0), shape[second] - max(offset, 0))
    rest = [d for d in range(array.ndim) if d not in (first, second)]
    where = Layout(
        (*(shape[d] for d in rest), max(length, 0)),
        (*(strides[d] for d in rest), strides[first] + strides[second]),
        start if length > 0 else 0,
    )
    return reduce_ufunc("add", wrap(graph.view(node, where)), -1, dtype, _one_output(out))
