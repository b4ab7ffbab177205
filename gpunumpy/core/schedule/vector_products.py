"""The pass that has kernels multiply matrices and vectors: they fuse with what is around, and no library is called."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..graph import layout
from ..graph.library_calls.products import Product
from ..graph.primitives import LibraryCall, Map, Reduce, View
from ..graph.signature import Signature
from .lower import Item
from .traits import Traits

# Elements of a matrix up to which a kernel takes no longer than a library, measured on an H200
# (docs/performance/libraries.md). Sums along few columns occupy few threads: those of a library are faster from 2^21
# elements on, and at fewer were not timed.
_MAX_ELEMENTS, _MAX_ELEMENTS_OF_FEW_COLUMNS, _FEW_COLUMNS = 1 << 22, 1 << 20, 64
_DTYPES = frozenset({"float32", "float64"})


def reduce_vector_products(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> Sequence[Item]:
    """Replace products of a small matrix and a vector, in either order, by sums of products of their elements."""
    if not traits.reduces_vector_products:
        return items
    result = list(items)
    for p, item in enumerate(items):
        if _is_small_vector_product(item.signature):
            _replace_by_sum(result, p)
    return result


def _is_small_vector_product(signature: Signature) -> bool:
    primitive = signature.primitive
    if (
        not isinstance(primitive, LibraryCall)
        or primitive.name != "matmul"
        or not isinstance(primitive.options, Product)
    ):
        return False
    left, right = signature.args[:2]
    if {len(left.shape), len(right.shape)} != {1, 2} or not left.dtype == right.dtype == signature.dtype:
        return False
    has_own_shape = signature.shape == (*left.shape[:-1], *right.shape[1:])
    matrix = max(left.shape, right.shape, key=len)
    has_few_columns = len(left.shape) == 1 and matrix[1] < _FEW_COLUMNS
    at_most = _MAX_ELEMENTS_OF_FEW_COLUMNS if has_few_columns else _MAX_ELEMENTS
    return has_own_shape and signature.dtype.name in _DTYPES and prod(matrix) <= at_most


def _replace_by_sum(items: list[Item], position: int) -> None:
    call, args = items[position].signature, items[position].args
    left, right = (items[a].signature for a in args)
    dtype, axis = call.dtype, len(left.shape) - 1
    if axis == 0:  # the vector is a column
        shape = (*left.shape, 1)
        items.append(Item(Signature(View(layout.c_strides(shape), 0), (left,), shape, dtype, left.queue), args[:1]))
        left, args = items[-1].signature, (len(items) - 1, args[1])
    matrix = right.shape if axis == 0 else left.shape
    items.append(Item(Signature(Map("multiply", (dtype,) * 3), (left, right), matrix, dtype, call.queue), args))
    primitive = Reduce("add", (axis,), (dtype, dtype))
    total = Signature(primitive, (items[-1].signature,), call.shape, dtype, call.queue)
    items[position] = items[position]._replace(signature=total, args=(len(items) - 1,))
