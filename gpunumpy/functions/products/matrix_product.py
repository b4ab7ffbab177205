"""The two ways to multiply values: a reduction for vectors, which fuses with others, and the library call "matmul"."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...core._native import tried_first
from ...core.dtypes import BYTE_FLOATS, FLOAT32, KIND
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape
from ...core.graph.library_calls.products import Product
from ...core.graph.node import Node
from ...core.graph.primitives import Leaf, Map, View
from ...core.graph.signature import Signature
from ...core.recording.record import as_dtype, reshaped
from ...core.runtime.evaluate import traits_of
from .einsum_plan import are_tiny
from .precision import precision


def vector_product(a: Node, b: Node) -> Node:
    """Return the products of vectors along the last axis; low-precision floats are multiplied as float32."""
    product = vector_product_by_numpy(a, b)
    if product is not None:
        return product
    dtype = a.signature.dtype
    product_dtype = FLOAT32 if KIND[dtype] == "e" else dtype
    products = graph.map_node("multiply", (product_dtype,) * 3, [as_dtype(x, product_dtype) for x in (a, b)])
    shape = products.signature.shape
    if 0 in shape:
        return _zeros(shape[:-1], a)
    return graph.reduce("add", (product_dtype, dtype), (len(shape) - 1,), (products,))


# NumPy takes as long to begin a vector as to multiply so many elements.
_MIN_NUMPY_ELEMENTS = 16


def vector_product_by_numpy(a: Node, b: Node) -> Node | None:
    """Return the products of vectors along the last axis as NumPy's, or None where a reduction is as good.

    That is where kernels run on a GPU, and where a vector is still to be computed: a reduction does both at once.
    """
    (shape, dtype), sources = (a.signature.shape, a.signature.dtype), a.args[:1]
    is_conjugated = bool(sources) and _is_conjugation(a.signature)
    vectors = (sources[0] if is_conjugated else a, b)
    if dtype.kind not in "fc" or KIND[dtype] == "e" or shape != b.signature.shape or shape[-1] < _MIN_NUMPY_ELEMENTS:
        return None
    if 0 in shape or not all(map(_is_in_rows, vectors)):
        return None
    if len(shape) > 1 and dtype.kind == "c" and not is_conjugated:
        return None  # NumPy's product of rows conjugates the first
    queue = a.signature.queue
    assert queue is not None
    if not traits_of(queue.device).calls_numpy:
        return None
    return graph.library_call("vecdot", (is_conjugated,), vectors, (shape[:-1], dtype))


def _is_in_rows(node: Node) -> bool:
    """Return whether a value is in memory, with the elements along its last axis side by side."""
    primitive = node.signature.primitive
    return isinstance(primitive, Leaf) and primitive.strides[-1] == 1


# From these sizes on a reduction may be faster than BLAS.
_LONG_ROW_ELEMENTS, _LARGE_MATRIX_ELEMENTS = 4096, 1 << 26


def _is_faster_as_reduction(matrix: Node) -> bool:
    """Return True if a reduction multiplies a matrix and a vector faster: BLAS may read long float32 rows slowly."""
    signature = matrix.signature
    if (
        signature.dtype != FLOAT32
        or signature.shape[-1] < _LONG_ROW_ELEMENTS
        or prod(signature.shape) < _LARGE_MATRIX_ELEMENTS
        or not isinstance(signature.primitive, Leaf)
    ):
        return False
    assert signature.queue is not None
    return signature.primitive.strides[-1] == 1 and traits_of(signature.queue.device).sums_long_rows_faster_than_blas


@tried_first
def are_multiplied_by_library(signatures: Sequence[Signature]) -> bool:
    """Return True for two vectors or matrices that `matrix_product` is sure to record as one library call."""
    left, right = signatures
    ndims = len(left.shape), len(right.shape)
    if ndims not in ((2, 1), (1, 2), (2, 2)) or left.shape[-1] != right.shape[0] or left.dtype != right.dtype:
        return False
    if left.dtype in BYTE_FLOATS:
        return False
    if left.dtype == FLOAT32 and left.shape[-1] >= _LONG_ROW_ELEMENTS and isinstance(left.primitive, Leaf):
        return False
    return all(map(_is_read_as_it_is, signatures))


def _is_read_as_it_is(signature: Signature) -> bool:
    """Return True for an operand that BLAS can read, and that is not seen as a conjugation."""
    primitive = signature.primitive
    if not isinstance(primitive, (Leaf, View)):  # it is computed in C order, which BLAS can read
        return not _is_conjugation(signature)
    if isinstance(primitive, View) and _is_conjugation(signature.args[0]):
        return False
    return layout.is_blas_readable(signature.shape, primitive.strides)


def matrix_product(a: Node, b: Node, shape: Shape | None = None) -> Node:
    """Return the matrix product of two values of one dtype, of which at most one is a vector.

    The result is in C order, in the given `shape` if there is one.
    """
    left_shape, right_shape = a.signature.shape, b.signature.shape
    if shape is None:
        batch = layout.broadcast_shapes(left_shape[:-2], right_shape[:-2])
        shape = (*batch, *left_shape[-2:-1], *(right_shape[-1:] if len(right_shape) > 1 else ()))
    if 0 in shape or not left_shape[-1]:
        return _zeros(shape, a)
    dtype = a.signature.dtype
    if dtype in BYTE_FLOATS:  # libraries multiply no two of them into a third without scales
        return graph.cast(matrix_product(graph.cast(a, FLOAT32), graph.cast(b, FLOAT32), shape), dtype)
    if len(right_shape) == 1 and _is_faster_as_reduction(a):
        return reshaped(vector_product(a, b), shape)
    if are_tiny(
        min(prod(left_shape[:-2]), prod(right_shape[:-2])), (*left_shape[-2:], right_shape[-1]), dtype.itemsize
    ):
        return _tiny_product(a, b, shape)
    (left_source, conjugate_left), (right_source, conjugate_right) = _without_conjugation(a), _without_conjugation(b)
    options = Product(precision(dtype), (conjugate_left, conjugate_right))
    return graph.library_call(
        "matmul", options, (_addressable(left_source), _addressable(right_source)), (shape, dtype)
    )


def _tiny_product(a: Node, b: Node, shape: Shape) -> Node:
    """Return the product of stacked matrices as one kernel, in which each thread sums one element."""
    dtype = a.signature.dtype
    product_dtype = FLOAT32 if KIND[dtype] == "e" else dtype
    rows = reshaped(as_dtype(a, product_dtype), (*a.signature.shape, 1))
    columns = reshaped(as_dtype(b, product_dtype), (*b.signature.shape[:-2], 1, *b.signature.shape[-2:]))
    products = graph.map_node("multiply", (product_dtype,) * 3, (rows, columns))
    return reshaped(
        graph.reduce("add", (product_dtype, dtype), (len(products.signature.shape) - 2,), (products,)), shape
    )


def _without_conjugation(node: Node) -> tuple[Node, bool]:
    """Return the value, and whether BLAS has to conjugate it as it reads.

    A pending conjugation is left out if the dtype is real, or if BLAS can make it in the operand's memory order.
    """
    signature, conjugated = node.signature, node.args[:1]
    view = signature.primitive if isinstance(signature.primitive, View) else None
    if view is not None and conjugated:
        conjugated = conjugated[0].args[:1] if _is_conjugation(conjugated[0].signature) else ()
    elif not _is_conjugation(signature):
        return node, False
    if not conjugated:
        return node, False
    (source,) = conjugated
    if view is not None:
        source = graph.view(source, Layout(signature.shape, view.strides, view.offset))
    if KIND[signature.dtype] != "c":
        return source, False
    shape, primitive = signature.shape, source.signature.primitive
    # A pending value is computed in C order. A view of one is read in place or copied: the scheduler chooses.
    possible = [primitive.strides] if isinstance(primitive, (Leaf, View)) else []
    if not isinstance(primitive, Leaf):
        possible.append(layout.c_strides(shape))
    return (source, True) if all(_lies_by_columns(shape, strides) for strides in possible) else (node, False)


def _lies_by_columns(shape: Shape, strides: Sequence[int]) -> bool:
    """Return True if BLAS can read a vector, or matrices, of such strides as columns, which it can conjugate."""
    if len(shape) == 1:
        return strides[0] == 1 or shape[0] == 1
    (rows, columns), (down, across) = shape[-2:], strides[-2:]
    return min(strides) >= 0 and (down == 1 or rows == 1) and (across >= rows or columns == 1)


def _is_conjugation(signature: Signature) -> bool:
    """Return True if the signature is that of a conjugation."""
    return isinstance(signature.primitive, Map) and signature.primitive.op == "conjugate"


def _zeros(shape: Shape, like: Node) -> Node:
    """Return zeros of a shape, with the dtype and queue of a value."""
    assert like.signature.queue is not None
    return graph.fill(graph.typed_scalar(False, like.signature.dtype), shape, like.signature.queue)


def _addressable(node: Node) -> Node:
    """Return the value if BLAS can read it, with rows or columns contiguous in memory, and else a copy."""
    signature = node.signature
    if not isinstance(signature.primitive, (Leaf, View)):
        return node
    return node if layout.is_blas_readable(signature.shape, signature.primitive.strides) else graph.as_new_node(node)


def conjugate(node: Node) -> Node:
    """Return the complex conjugate; a real value as it is."""
    dtype = node.signature.dtype
    return graph.map_node("conjugate", (dtype, dtype), (node,)) if KIND[dtype] == "c" else node
