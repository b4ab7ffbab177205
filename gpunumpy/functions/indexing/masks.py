"""Boolean masks: how many elements they pick, which, and where.

The number of elements picked is the shape of a result, so it is looked at. One routine counts in tiles and adds up the
counts; two others write the picked elements, or their positions, every tile from its own offset on.
"""

from __future__ import annotations

from math import prod

import numpy

from ...core.dtypes import BOOL, INT64
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.node import Node
from ...core.graph.primitives import Leaf
from ...core.recording import record
from ...core.recording.array import make_view, ndarray, to_host, wrap

TILE = 4096


def flat(node: Node) -> Node:
    """The value in one dimension, as a routine takes it: dense, in C order."""
    f = node.signature
    node = record.reshaped(node, (prod(f.shape),))
    primitive = node.signature.primitive
    return (
        graph.fresh(node)
        if isinstance(primitive, Leaf) and not layout.is_c(node.signature.shape, primitive.strides)
        else node
    )


class Picked:
    """What a mask picks. Made by looking at the mask.

    Attributes
    ----------
    count
        How many elements.
    """

    def __init__(self, mask: ndarray) -> None:
        self._shape = mask.shape
        self._mask = flat(mask.value())
        self._offsets = wrap(graph.library_call("mask_offsets", (TILE,), (self._mask,)))
        last = self._offsets.size - 1
        whole = self._offsets if last < 2 else make_view(self._offsets, Layout((1,), (1,), last))
        self.count = int(to_host(whole)[-1])

    def _call(self, name: str, args: tuple[Node, ...], dtype: numpy.dtype) -> Node:
        inputs = (*args, self._mask, self._offsets.value())
        return graph.library_call(name, (TILE,), inputs, ((self.count,), dtype))

    def positions(self) -> Node:
        """Where the picked elements are, in C order over the mask."""
        return self._call("mask_positions", (), INT64)

    def elements(self, values: Node) -> Node:
        """The picked elements of an array of the mask's shape."""
        return self._call("mask_elements", (flat(values),), values.signature.dtype)

    def indices(self) -> tuple[Node, ...]:
        """An index array for each dimension of the mask."""
        rest = self.positions()
        if len(self._shape) == 1:
            return (rest,)
        return unravelled(rest, self._shape)


def unravelled(position: Node, shape: tuple[int, ...]) -> tuple[Node, ...]:
    """The index along each dimension of the elements at int64 positions in C order."""
    divided, remainder = (INT64,) * 3, (INT64,) * 3
    found: list[Node] = []
    for size in reversed(shape[1:]):
        step = graph.scalar(max(1, size))
        found.append(graph.map_node("remainder", remainder, (position, step)))
        position = graph.map_node("floor_divide", divided, (position, step))
    return (position, *reversed(found))


def ranks(mask: Node) -> Node:
    """For every element of a one-dimensional mask, how many elements before it are picked."""
    ones = graph.cast(mask, INT64)
    return graph.map_node("subtract", (INT64,) * 3, (graph.scan("add", (INT64, INT64), 0, ones), ones))


def as_mask(mask: object, like: ndarray) -> ndarray:
    """A mask of ours of any boolean array, on the device of `like`."""
    made = mask if isinstance(mask, ndarray) else record.as_array(mask, like.device)
    assert made.dtype == BOOL
    return made
