"""Where the graph of a loop whose sizes change is cut, so that its rounds share plans instead of having one for all."""

from __future__ import annotations

from collections.abc import Sequence

from .._native import tried_first
from ..graph.node import Node
from ..graph.primitives import Const, Iota, Leaf, Scatter, Update

# The kinds of nodes that are computed in the memory of their first argument, and of those that are not computed at all.
_WRITES = frozenset((Update, Scatter))
_AT_HAND = frozenset((Leaf, Const, Iota))


@tried_first
def parts(nodes: Sequence[Node], count: int) -> list[list[int]]:
    """Return how to compute the first `count` nodes of a graph part by part: the positions of the roots of each.

    A part ends with an update that later parts read. All that these need of it are updates, which a plan for the whole
    graph would store too, and roots. What an update may overwrite is read by no later part, and is no root of an
    earlier one.
    """
    order = _arguments_first(nodes[:count])
    last_reads = _last_reads(order)
    written = {node.args[0] for node in order if type(node.signature.primitive) in _WRITES}
    roots = set(nodes[:count])
    found: list[list[Node]] = []
    at_hand: set[Node] = set()  # what is no work to compute again
    part: list[Node] = []
    end = 0  # where the part ends at the earliest
    for place, node in enumerate(order):
        signature, last_read, is_root = node.signature, last_reads[node], node in roots
        kind = type(signature.primitive)
        if kind in _AT_HAND or (signature.generator and at_hand.issuperset(node.args)):
            if kind is not Leaf:
                at_hand.add(node)
            if is_root:
                part.append(node)
            continue
        is_write = kind in _WRITES
        if is_write:
            end = max(end, last_reads[node.args[0]])
        if is_root or is_write:
            part.append(node)
        if (not is_write and not is_root) or (is_root and node in written):
            end = max(end, last_read)
        if is_write and end <= place < last_read:
            found.append([one for one in part if one in roots or last_reads[one] > place])
            part = []
    found.append([node for node in part if node in roots])
    position_of = {node: k for k, node in enumerate(nodes)}
    return [[position_of[node] for node in part] for part in found]


def _arguments_first(roots: Sequence[Node]) -> list[Node]:
    """Return all nodes that the roots need, each after its arguments."""
    order: list[Node] = []
    seen: set[Node] = set()
    stack: list[Node | None] = list(reversed(roots))
    begun: list[Node] = []  # those whose arguments are on the stack, each below a None
    while stack:
        node = stack.pop()
        if node is None:
            order.append(begun.pop())
        elif node not in seen:
            seen.add(node)
            args = node.args
            if args:
                begun.append(node)
                stack.append(None)
                stack += [argument for argument in reversed(args) if argument not in seen]
            else:
                order.append(node)
    return order


def _last_reads(order: Sequence[Node]) -> dict[Node, int]:
    """Return the place in the order where each node is read last; for a leaf, where its memory is."""
    last_reads = dict.fromkeys(order, -1)
    of_buffers: dict[int, int] = {}
    for place, node in enumerate(order):
        for argument in node.args:
            last_reads[argument] = place
            if argument.data is not None:
                of_buffers[id(argument.data)] = place
    for node in order:
        if node.data is not None and node.signature.queue is not None:
            last_reads[node] = of_buffers.get(id(node.data), -1)
    return last_reads
