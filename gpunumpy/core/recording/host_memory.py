"""`HostMemory`: what an array on the host has in the place of an owner on a device."""

from __future__ import annotations

from typing import Any

import numpy

from ..dtypes import DType
from ..graph.layout import Shape
from ..graph.node import Node
from ..graph.primitives import Leaf
from ..graph.queue import Queue
from ..graph.signature import Signature

_NOT_IN_A_GRAPH = Leaf((), 0, False)


class HostMemory:
    """Memory of the host that one array shows, whatever its dtype.

    Attributes
    ----------
    array
        The memory, as a NumPy array of the shape and dtype of the array.
    owner
        The array of this package that has the memory, if another one; else None.
    """

    __slots__ = ("array", "owner")

    def __init__(self, array: numpy.ndarray, owner: Any) -> None:
        self.array = array
        self.owner = owner


def placeholder(shape: Shape, dtype: DType, queue: Queue) -> Node:
    """Return a node that has shape, dtype and queue of an array on the host, and no value: it is in no graph."""
    return Node(Signature(_NOT_IN_A_GRAPH, (), shape, dtype, queue), ())
