"""Where the graph of a loop whose sizes change is cut, so that its rounds share plans instead of having one for all."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph.primitives import Const, Iota, Leaf, Scatter, Update
from .analysis import topological_order
from .lower import Item

# The kinds of nodes that are computed in the memory of their first argument.
_WRITES = (Update, Scatter)


def parts(items: Sequence[Item], roots: Sequence[int]) -> list[list[int]]:
    """Return a graph as parts that can be computed one after the other: the roots of each.

    A part ends with an update that later parts read. All that these need of it are updates, which a plan for the whole
    graph would store too, and roots. What an update may overwrite is read by no later part, and is no root of an
    earlier one.
    """
    order = topological_order(items, roots)
    last_reads = _last_reads(items, order)
    written = {items[p].args[0] for p in order if isinstance(items[p].signature.primitive, _WRITES)}
    root_set = set(roots)
    found: list[list[int]] = []
    at_hand: set[int] = set()  # what is no work to compute again
    part: list[int] = []
    end = 0  # where the part ends at the earliest
    for place, p in enumerate(order):
        signature, last_read = items[p].signature, last_reads[p]
        primitive = signature.primitive
        if isinstance(primitive, (Leaf, Const, Iota)) or (signature.generator and at_hand.issuperset(items[p].args)):
            if not isinstance(primitive, Leaf):
                at_hand.add(p)
            if p in root_set:
                part.append(p)
            continue
        is_write = isinstance(primitive, _WRITES)
        if is_write:
            end = max(end, last_reads[items[p].args[0]])
        if p in root_set or is_write:
            part.append(p)
        if (not is_write and p not in root_set) or (p in root_set and p in written):
            end = max(end, last_read)
        if is_write and end <= place < last_read:
            found.append([q for q in part if q in root_set or last_reads[q] > place])
            part = []
    found.append([q for q in part if q in root_set])
    return found


def _last_reads(items: Sequence[Item], order: Sequence[int]) -> dict[int, int]:
    """Return the place in the order where each item is read last; for a leaf, where its memory is."""
    last_reads = dict.fromkeys(order, -1)
    of_buffers: dict[int, int] = {}
    for place, p in enumerate(order):
        for a in items[p].args:
            last_reads[a] = place
            of_buffers[items[a].buffer] = place
    return {p: last if items[p].buffer < 0 else of_buffers.get(items[p].buffer, -1) for p, last in last_reads.items()}
