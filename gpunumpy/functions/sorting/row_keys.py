"""Rows in lexicographic order: sorted by keys that pack as many of a row's elements as fit in 64 bits.

A row of 200 booleans becomes four keys, and a pair of int32 one key: one sort for every key takes the place of one sort
for every element.
"""

from __future__ import annotations

import numpy

from ...core.dtypes import BOOL, INT64, KIND, DType
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.node import Node
from ...core.recording.array import wrap
from ...core.recording.record import reshaped
from ...core.runtime.evaluate import compute
from ..creation.ranges import apply_op, scalar_node
from ..manipulation.shape import viewed_as_dtype
from .sort import lexsort_rows

_KEY_BITS = 64
_UNSIGNED: dict[int, DType] = {size: numpy.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def order_of_rows(rows: Node) -> Node:
    """Return the positions that sort rows lexicographically: by the first element, equal ones by the second, and so on.

    Equal rows keep their order. NaN comes after all numbers and is equal to NaN; zeros of either sign are equal.
    """
    n, width = rows.signature.shape
    queue = rows.signature.queue
    assert queue is not None
    if not n * width:
        return graph.iota((n,), 0, queue)
    bits = 1 if rows.signature.dtype == BOOL else 8 * rows.signature.dtype.itemsize
    elements_per_key = min(width, _KEY_BITS // bits)
    if elements_per_key < 2 or KIND[rows.signature.dtype] == "c":
        keys = [graph.view(rows, Layout((1, n), (n * width, width), k)) for k in range(width)]
    else:
        unsigned_rows, full_key_count = _as_ordered_unsigned(rows), width // elements_per_key
        keys = _packed_keys(unsigned_rows, 0, full_key_count, elements_per_key, bits)
        if width % elements_per_key:
            keys += _packed_keys(unsigned_rows, full_key_count * elements_per_key, 1, width % elements_per_key, bits)
    return reshaped(compute(lexsort_rows(keys[::-1])), (n,))


def _packed_keys(rows: Node, first_column: int, count: int, elements_per_key: int, bits: int) -> list[Node]:
    """Return `count` keys of neighbouring elements in rows, from a column on; earlier elements are more significant."""
    n, width = rows.signature.shape
    dtype = _UNSIGNED[4 if elements_per_key * bits <= 32 else 8]
    queue = rows.signature.queue
    assert queue is not None
    elements = graph.cast(
        graph.view(rows, Layout((count, n, elements_per_key), (elements_per_key, width, 1), first_column)), dtype
    )
    elements_behind = apply_op(
        "subtract", scalar_node(elements_per_key - 1), graph.iota((1, 1, elements_per_key), 2, queue)
    )
    shift = graph.cast(apply_op("multiply", elements_behind, scalar_node(bits, INT64)), dtype)
    keys = compute(graph.reduce("add", (dtype, dtype), (2,), (apply_op("left_shift", elements, shift),)))
    return [graph.view(keys, Layout((1, n), (n, 1), k * n)) for k in range(count)]


def _as_ordered_unsigned(x: Node) -> Node:
    """Return unsigned integers of the elements' width and in the elements' order."""
    dtype = x.signature.dtype
    if KIND[dtype] in "bu":
        return x
    unsigned = _UNSIGNED[dtype.itemsize]
    sign = scalar_node(1 << 8 * dtype.itemsize - 1, unsigned)
    if KIND[dtype] == "i":
        return apply_op("bitwise_xor", graph.cast(x, unsigned), sign)
    # With one zero and one NaN, equal elements have equal bits.
    one_zero = apply_op("add", x, scalar_node(0, dtype))
    nan = graph.typed_scalar(numpy.nan, dtype)
    canonical = graph.map_node("where", (BOOL, dtype, dtype, dtype), (apply_op("equal", x, x), one_zero, nan))
    bits = viewed_as_dtype(wrap(canonical), unsigned).value()
    negative = apply_op("greater_equal", bits, sign)
    loop = (BOOL, unsigned, unsigned, unsigned)
    positive_bits = apply_op("bitwise_xor", bits, sign)
    return graph.map_node("where", loop, (negative, apply_op("invert", bits), positive_bits))
