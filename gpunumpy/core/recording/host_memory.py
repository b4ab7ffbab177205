"""What an array on the host has in the place of a value on a device."""

from __future__ import annotations

from typing import Any

import numpy

from ..dtypes import BOOL, KIND, DType
from ..graph.bounded_table import BoundedTable
from ..graph.layout import Shape
from ..graph.node import Node, leaf_layout
from ..graph.primitives import Leaf
from ..graph.queue import Queue
from ..graph.signature import Signature
from ..runtime.memory import address

_NOT_IN_A_GRAPH = Leaf((), 0, False)
_NO_VALUE = object()  # so that nothing takes the node for one that is to be computed
_placeholders: BoundedTable[tuple[Shape, DType, Queue], Node] = BoundedTable()

_NPY_ARRAY_WRITEABLE = 0x400


def is_writeable(memory: Any) -> bool:
    """Return ``memory.flags.writeable``, of which NumPy warns for the results of `broadcast_arrays`."""
    return bool(memory.flags.num & _NPY_ARRAY_WRITEABLE)


def window(leaf: Node) -> Any:
    """Return a NumPy array that shows the memory of a leaf of a device that shares the host's memory."""
    shape, strides, offset = leaf_layout(leaf)
    dtype, itemsize = leaf.signature.dtype, leaf.signature.dtype.itemsize
    return numpy.ndarray(shape, dtype, leaf.data.host, offset * itemsize, tuple(n * itemsize for n in strides))


def shows(memory: Any, leaf: Any) -> bool:
    """Return whether a NumPy array shows the memory of a leaf as `window` does; False for what is no leaf.

    Of booleans it may have made other bytes than 0 and 1, which no value has.
    """
    if type(leaf) is not Node or memory.dtype == BOOL or memory.dtype != leaf.signature.dtype:
        return False
    where = leaf_layout(leaf)
    is_there = memory.shape == where.shape and address(memory) == leaf.data.ptr + where.offset * memory.itemsize
    return is_there and bool(memory.flags.c_contiguous)


def placeholder(shape: Shape, dtype: DType, queue: Queue) -> Node:
    """Return a node that has shape, dtype and queue of arrays on the host, and no value: it is in no graph."""
    if dtype not in KIND or dtype.metadata:  # of these, one dtype may not stand for another that is equal
        return Node(Signature(_NOT_IN_A_GRAPH, (), shape, dtype, queue), (), _NO_VALUE)
    key = shape, dtype, queue
    node = _placeholders.find(key)
    return node or _placeholders.keep(key, Node(Signature(_NOT_IN_A_GRAPH, (), shape, dtype, queue), (), _NO_VALUE))
