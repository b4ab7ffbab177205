"""Rows in lexicographic order: sorted by keys that hold as many of a row's elements as 64 bits do.

A row of 200 booleans is four keys then, and a pair of int32 is one: a sort for every key takes the place of one for
every element.
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
from ..manipulation.shape import reinterpreted
from .sort import lexsort_rows

_KEY_BITS = 64
_UNSIGNED: dict[int, DType] = {size: numpy.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def order_of_rows(rows: Node) -> Node:
    """The positions that sort rows by their first elements, where those are equal by the second ones, and so on.

    Equal rows keep their order. NaN comes after all numbers and is equal to NaN; zeros are equal.
    """
    n, width = rows.signature.shape
    queue = rows.signature.queue
    assert queue is not None
    if not n * width:
        return graph.iota((n,), 0, queue)
    bits = 1 if rows.signature.dtype == BOOL else 8 * rows.signature.dtype.itemsize
    each = min(width, _KEY_BITS // bits)
    if each < 2 or KIND[rows.signature.dtype] == "c":
        keys = [graph.view(rows, Layout((1, n), (n * width, width), k)) for k in range(width)]
    else:
        numbers, whole = _ordered(rows), width // each
        keys = _packed(numbers, 0, whole, each, bits)
        if width % each:
            keys += _packed(numbers, whole * each, 1, width % each, bits)
    return reshaped(compute(lexsort_rows(keys[::-1])), (n,))


def _packed(rows: Node, first: int, count: int, each: int, bits: int) -> list[Node]:
    """`count` keys of `each` neighbours in rows, from a column on; an earlier neighbour counts more."""
    n, width = rows.signature.shape
    dtype = _UNSIGNED[4 if each * bits <= 32 else 8]
    queue = rows.signature.queue
    assert queue is not None
    parts = graph.cast(graph.view(rows, Layout((count, n, each), (each, width, 1), first)), dtype)
    behind = apply_op("subtract", scalar_node(each - 1), graph.iota((1, 1, each), 2, queue))
    shift = graph.cast(apply_op("multiply", behind, scalar_node(bits, INT64)), dtype)
    keys = compute(graph.reduce("add", (dtype, dtype), (2,), (apply_op("left_shift", parts, shift),)))
    return [graph.view(keys, Layout((1, n), (n, 1), k * n)) for k in range(count)]


def _ordered(x: Node) -> Node:
    """Unsigned integers, as wide as the elements, in the order of the elements."""
    dtype = x.signature.dtype
    if KIND[dtype] in "bu":
        return x
    unsigned = _UNSIGNED[dtype.itemsize]
    sign = scalar_node(1 << 8 * dtype.itemsize - 1, unsigned)
    if KIND[dtype] == "i":
        return apply_op("bitwise_xor", graph.cast(x, unsigned), sign)
    # One zero and one NaN, whose bits are as they compare.
    one = apply_op("add", x, scalar_node(0, dtype))
    nan = graph.typed_scalar(numpy.nan, dtype)
    same = graph.map_node("where", (BOOL, dtype, dtype, dtype), (apply_op("equal", x, x), one, nan))
    bits = reinterpreted(wrap(same), unsigned).value()
    negative = apply_op("greater_equal", bits, sign)
    loop = (BOOL, unsigned, unsigned, unsigned)
    turned = apply_op("bitwise_xor", bits, sign)
    return graph.map_node("where", loop, (negative, apply_op("invert", bits), turned))
