"""The parts of a pending graph whose kernels would read more than a device has room for at once.

A kernel reads all that fuses into it, and sibling reductions of many arrays are one kernel. Where that does not fit,
inner values are computed first, as few as the room demands.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..graph.node import Node
from ..graph.primitives import LibraryCall

# Buffers and inner values that are computed first, by their identities, and their bytes.
_Needs = dict[int, int]


def parts_that_fit(roots: Sequence[Node], budget: int) -> list[list[Node]]:
    """Return lists of pending nodes to compute one after the other, the last ones with the roots.

    Each reads at most `budget` bytes, with those of its results, as far as cutting helps: a node that reads more by its
    own operands is in one part.
    """
    needs: dict[Node, _Needs] = {}
    found: list[list[Node]] = []
    for node in _in_order(roots):
        if node.data is not None:
            needs[node] = {id(node.data): node.data.nbytes} if node.signature.queue is not None else {}
            continue
        if sum(_union(node.args, needs).values()) > budget:
            for argument in node.args:
                if argument.data is None and _is_value(argument) and _bytes(argument) < sum(needs[argument].values()):
                    found.append([argument])
                    needs[argument] = {id(argument): _bytes(argument)}
        needs[node] = _union(node.args, needs)
    part: list[Node] = []
    read: _Needs = {}
    written = 0
    for root in roots:
        together = {**read, **needs[root]}
        if part and sum(together.values()) + written + _bytes(root) > budget:
            found.append(part)
            part, together, written = [], needs[root], 0
        part.append(root)
        read, written = together, written + _bytes(root)
    return [*found, part]


def _in_order(roots: Sequence[Node]) -> list[Node]:
    """Return all nodes that the roots need, each behind its arguments."""
    ordered: dict[Node, None] = {}
    stack = list(reversed(roots))
    while stack:
        node = stack[-1]
        missing = [a for a in node.args if a not in ordered] if node.data is None and node not in ordered else []
        if missing:
            stack += reversed(missing)
        else:
            ordered[stack.pop()] = None
    return list(ordered)


def _union(nodes: Sequence[Node], needs: dict[Node, _Needs]) -> _Needs:
    together: _Needs = {}
    for node in nodes:
        together |= needs[node]
    return together


def _is_value(node: Node) -> bool:
    """Return whether a node is no call with several outputs, which has no value itself."""
    return not (isinstance(node.signature.primitive, LibraryCall) and node.signature.primitive.results)


def _bytes(node: Node) -> int:
    return prod(node.signature.shape) * node.signature.dtype.itemsize
