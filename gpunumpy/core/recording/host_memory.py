"""What an array on the host has in the place of a value on a device."""

from __future__ import annotations

from ..dtypes import DType
from ..graph.bounded_table import BoundedTable
from ..graph.layout import Shape
from ..graph.node import Node
from ..graph.primitives import Leaf
from ..graph.queue import Queue
from ..graph.signature import Signature

_NOT_IN_A_GRAPH = Leaf((), 0, False)
_placeholders: BoundedTable[tuple[Shape, DType, Queue], Node] = BoundedTable()


def placeholder(shape: Shape, dtype: DType, queue: Queue) -> Node:
    """Return a node that has shape, dtype and queue of arrays on the host, and no value: it is in no graph."""
    key = shape, dtype, queue
    node = _placeholders.find(key)
    if node is None or dtype.metadata:  # which equal dtypes need not share
        node = Node(Signature(_NOT_IN_A_GRAPH, (), shape, dtype, queue), ())
        if not dtype.metadata:
            node = _placeholders.keep(key, node)
    return node
