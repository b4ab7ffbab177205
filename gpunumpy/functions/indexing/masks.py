"""Boolean masks: how many elements they pick, which, and at which positions.

The number of picked elements is the shape of a result, so the host reads it. One library call counts them, in all and
before each tile; two others write the picked elements, or their positions, each tile at its own place.
"""

from __future__ import annotations

import weakref
from math import prod

import numpy

from ...core.dtypes import BOOL, INT64
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.graph.primitives import Leaf
from ...core.recording import record
from ...core.recording.array import ndarray, to_host, wrap

TILE_ELEMENTS = 4096


def contiguous_vector(node: Node) -> Node:
    """Return the value in one dimension as library calls take it: dense, in C order."""
    if len(node.signature.shape) != 1:
        node = record.reshaped(node, (prod(node.signature.shape),))
    primitive = node.signature.primitive
    return (
        graph.as_new_node(node)
        if isinstance(primitive, Leaf) and not layout.is_c_contiguous(node.signature.shape, primitive.strides)
        else node
    )


# The mask that was counted last, by a weak reference, its value then, and the selection. Programs pick elements of
# several arrays by one mask, and the host waits for its count once.
_last: tuple[weakref.ref[ndarray], Node, MaskSelection] | None = None


def selection_of(mask: ndarray) -> MaskSelection:
    """Return the elements that a mask picks, as they were counted if that was the mask counted last."""
    global _last
    found, value = _last, mask.value()
    if found is not None and found[0]() is mask and found[1] is value:
        return found[2]
    selection = MaskSelection(mask)
    if value.data is not None and not value.data.exported:  # nobody else writes to the memory
        _last = weakref.ref(mask, _forget), value, selection
    return selection


def _forget(mask: weakref.ref[ndarray]) -> None:
    """Let go of the value of a mask that has died."""
    global _last
    found = _last
    if found is not None and found[0] is mask:
        _last = None


class MaskSelection:
    """The elements that a mask picks. Creating it waits for the mask's value.

    Attributes
    ----------
    count
        The number of picked elements.
    """

    def __init__(self, mask: ndarray) -> None:
        """Count the elements that `mask` picks."""
        self._shape = mask.shape
        self._mask = contiguous_vector(mask.value())
        offsets, count = graph.library_call_outputs("mask_offsets", (TILE_ELEMENTS,), (self._mask,))
        self._offsets = wrap(offsets)
        self.count = int(to_host(wrap(count)))

    def _call(self, name: str, args: tuple[Node, ...], dtype: numpy.dtype) -> Node:
        """Return a library call over `args`, the mask and its offsets, with one output element for each picked one."""
        inputs = (*args, self._mask, self._offsets.value())
        return graph.library_call(name, (TILE_ELEMENTS,), inputs, ((self.count,), dtype))

    def positions(self) -> Node:
        """Return the positions of the picked elements, in C order over the mask."""
        return self._call("mask_positions", (), INT64)

    def elements(self, values: Node) -> Node:
        """Return the picked elements of an array of the mask's shape."""
        return self._call("mask_elements", (contiguous_vector(values),), values.signature.dtype)

    def indices(self) -> tuple[Node, ...]:
        """Return an index array for each dimension of the mask."""
        positions = self.positions()
        if len(self._shape) == 1:
            return (positions,)
        return unravelled(positions, self._shape)


def unravelled(position: Node, shape: tuple[int, ...]) -> tuple[Node, ...]:
    """Return the index along each dimension of the elements at int64 positions in C order."""
    division, remainder = (INT64,) * 3, (INT64,) * 3
    indices: list[Node] = []
    for size in reversed(shape[1:]):
        step = graph.scalar(max(1, size))
        indices.append(graph.map_node("remainder", remainder, (position, step)))
        position = graph.map_node("floor_divide", division, (position, step))
    return (position, *reversed(indices))


def picked_before(mask: Node) -> Node:
    """Return for every element of a one-dimensional mask the number of picked elements before it."""
    ones = graph.cast(mask, INT64)
    return graph.map_node("subtract", (INT64,) * 3, (graph.scan("add", (INT64, INT64), 0, ones), ones))


def mask_on_device(mask: object, like: ndarray) -> ndarray:
    """Return a boolean array as an `ndarray`; a NumPy array goes to the device of `like`."""
    array = mask if isinstance(mask, ndarray) else record.as_array(mask, like.device)
    assert array.dtype == BOOL
    return array
