"""Values of views, from those of the arrays that own their storage."""

from __future__ import annotations

import numpy

from ..dtypes import BOOL, DType
from ..graph import node as graph
from ..graph.layout import Layout, is_c_contiguous
from ..graph.node import Node
from ..graph.queue import Queue
from ..runtime import evaluate
from ..runtime.memory_copy import copy_to_host

_BYTE = numpy.dtype(numpy.uint8)


def component_layout(where: Layout, component: str) -> Layout:
    """Return the layout of the real or imaginary parts of complex elements, counted in real numbers."""
    return Layout(where.shape, tuple(2 * s for s in where.strides), 2 * where.offset + (component == "imag"))


def derived(owner: Node, where: Layout, component: str, dtype: DType) -> Node:
    """Return the value of a view from its owner's current value."""
    if component == "":
        return graph.view(owner, where)
    if component == "view":
        owner = evaluate.compute(owner)
        if dtype == BOOL:
            return graph.cast(reinterpreted(owner, where, _BYTE), BOOL)
        return reinterpreted(owner, where, dtype)
    if owner.data is not None:
        return reinterpreted(owner, component_layout(where, component), dtype)
    # The view is of the parts, not they of the view: its strides decide the memory order of what is made of it.
    return graph.view(graph.map_node(component, (owner.signature.dtype, dtype), (owner,)), where)


def reinterpreted(owner: Node, where: Layout, dtype: DType) -> Node:
    """Return a window of the memory of a leaf as elements of another dtype, in which `where` counts."""
    assert owner.signature.queue is not None
    start = owner.offset * owner.signature.dtype.itemsize // dtype.itemsize
    window = Layout(where.shape, where.strides, where.offset + start)
    return graph.leaf(owner.data, dtype, window, owner.signature.queue)


def truth_bytes(value: Node, queue: Queue) -> Node:
    """Compute a value that is to be written to booleans, as a view shows them in another dtype, and return it.

    Raise `ValueError` unless its bytes are 0 or 1: kernels of a GPU rely on that where they read booleans.
    """
    value = graph.as_new_node(value)
    evaluate.compute_only(queue, [value])
    most = copy_to_host(value.data, 0, value.data.nbytes).max(initial=0)
    if most > 1:
        raise ValueError(
            f"booleans on {queue.device} have the bytes 0 and 1: {most} cannot be written to them through a view of "
            "another dtype"
        )
    return value


def in_c_order(node: Node) -> tuple[Node, Layout]:
    """Return a computed value whose elements lie in C order with nothing between, and its layout: a copy if need be."""
    where = graph.leaf_layout(node)
    if is_c_contiguous(where.shape, where.strides):
        return node, where
    node = evaluate.compute(graph.as_new_node(node))
    return node, graph.leaf_layout(node)
