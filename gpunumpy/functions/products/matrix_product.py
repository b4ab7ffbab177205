"""The two ways to multiply values: a reduction for vectors, which fuses with others, and the library call "matmul"."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...core.dtypes import FLOAT32, KIND
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
    """The products of vectors along the last axis; halves are multiplied and summed as float32."""
    dtype = a.signature.dtype
    wide = FLOAT32 if KIND[dtype] == "e" else dtype
    products = graph.map_node("multiply", (wide,) * 3, [as_dtype(x, wide) for x in (a, b)])
    shape = products.signature.shape
    if 0 in shape:
        return _zeros(shape[:-1], a)
    return graph.reduce("add", (wide, dtype), (len(shape) - 1,), (products,))


# From these numbers of elements on, a row is long and a matrix large.
_LONG_ROW, _LARGE = 4096, 1 << 26


def _is_faster_as_sums(matrix: Node) -> bool:
    """Whether a product with a vector is better left to a reduction: BLAS may read long float32 rows slowly."""
    f = matrix.signature
    if f.dtype != FLOAT32 or f.shape[-1] < _LONG_ROW or prod(f.shape) < _LARGE or not isinstance(f.primitive, Leaf):
        return False
    assert f.queue is not None
    return f.primitive.strides[-1] == 1 and traits_of(f.queue.device).sums_long_rows_faster_than_blas


def matrix_product(a: Node, b: Node, shape: Shape | None = None) -> Node:
    """The matrix product of two values of one dtype, of which one at most is a vector; in C order, in any `shape`."""
    left, right = a.signature.shape, b.signature.shape
    if shape is None:
        batch = layout.broadcast_shapes(left[:-2], right[:-2])
        shape = (*batch, *left[-2:-1], *(right[-1:] if len(right) > 1 else ()))
    if 0 in shape or not left[-1]:
        return _zeros(shape, a)
    dtype = a.signature.dtype
    if len(right) == 1 and _is_faster_as_sums(a):
        return reshaped(vector_product(a, b), shape)
    if are_tiny(min(prod(left[:-2]), prod(right[:-2])), (*left[-2:], right[-1]), dtype.itemsize):
        return _tiny_product(a, b, shape)
    (one, turned), (two, turned_too) = _conjugated(a), _conjugated(b)
    options = Product(precision(dtype), (turned, turned_too))
    return graph.library_call("matmul", options, (_addressable(one), _addressable(two)), (shape, dtype))


def _tiny_product(a: Node, b: Node, shape: Shape) -> Node:
    """The product of stacked matrices as one kernel, in which a thread sums an element."""
    dtype = a.signature.dtype
    wide = FLOAT32 if KIND[dtype] == "e" else dtype
    rows = reshaped(as_dtype(a, wide), (*a.signature.shape, 1))
    columns = reshaped(as_dtype(b, wide), (*b.signature.shape[:-2], 1, *b.signature.shape[-2:]))
    products = graph.map_node("multiply", (wide,) * 3, (rows, columns))
    return reshaped(graph.reduce("add", (wide, dtype), (len(products.signature.shape) - 2,), (products,)), shape)


def _conjugated(node: Node) -> tuple[Node, bool]:
    """What a conjugation that is still pending is of, if BLAS can make it as it reads; else the value as it is."""
    f, inner = node.signature, node.args[:1]
    view = f.primitive if isinstance(f.primitive, View) else None
    if view is not None and inner:
        inner = inner[0].args[:1] if _conjugates(inner[0].signature) else ()
    elif not _conjugates(f):
        return node, False
    if not inner:
        return node, False
    (source,) = inner
    if view is not None:
        source = graph.view(source, Layout(f.shape, view.strides, view.offset))
    if KIND[f.dtype] != "c":
        return source, False
    primitive = source.signature.primitive  # what is not computed yet comes in C order
    strides = primitive.strides if isinstance(primitive, Leaf) else layout.c_strides(f.shape)
    return (source, True) if _lies_by_columns(f.shape, strides) else (node, False)


def _lies_by_columns(shape: Shape, strides: Sequence[int]) -> bool:
    """Whether BLAS can read a vector, or matrices, of such strides as columns, which it can conjugate."""
    if len(shape) == 1:
        return strides[0] == 1 or shape[0] == 1
    (rows, columns), (down, across) = shape[-2:], strides[-2:]
    return min(strides) >= 0 and (down == 1 or rows == 1) and (across >= rows or columns == 1)


def _conjugates(f: Signature) -> bool:
    return isinstance(f.primitive, Map) and f.primitive.op == "conjugate"


def _zeros(shape: Shape, like: Node) -> Node:
    assert like.signature.queue is not None
    return graph.fill(graph.typed_scalar(False, like.signature.dtype), shape, like.signature.queue)


def _addressable(node: Node) -> Node:
    """The value as BLAS can read it: rows or columns one after the other; a copy where they are not."""
    f = node.signature
    if not isinstance(f.primitive, (Leaf, View)):
        return node
    return node if layout.lies_by_lines(f.shape, f.primitive.strides) else graph.fresh(node)


def conjugate(node: Node) -> Node:
    dtype = node.signature.dtype
    return graph.map_node("conjugate", (dtype, dtype), (node,)) if KIND[dtype] == "c" else node
