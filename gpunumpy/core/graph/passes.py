"""Library calls over several axes as calls over one axis each, which can be cut along the others."""

from __future__ import annotations

from collections.abc import Sequence

from .library_calls.registry import record_of
from .node import Node, library_call
from .primitives import LibraryCall


def in_passes(roots: Sequence[Node]) -> list[Node]:
    """Return values with pending calls over several axes replaced by calls over one; others are the nodes themselves.

    Only calls that take the axes one after the other have such passes: transforms.
    """
    made: dict[Node, Node] = {}
    stack = list(roots)
    while stack:
        node = stack[-1]
        missing = [argument for argument in node.args if argument not in made] if node.data is None else []
        if node in made or not missing:
            stack.pop()
            if node not in made:
                made[node] = _in_passes(node, [made[argument] for argument in node.args] if node.data is None else [])
        else:
            stack += missing
    return [made[root] for root in roots]


def _in_passes(node: Node, args: Sequence[Node]) -> Node:
    primitive = node.signature.primitive
    if node.data is None and isinstance(primitive, LibraryCall) and not primitive.results:
        passes = record_of(primitive.name).passes(primitive.options)
        if len(passes) > 1:
            (value,) = args
            for options in passes:
                value = library_call(primitive.name, options, [value])
            return value
    if all(argument is made for argument, made in zip(node.args, args, strict=False)):
        return node
    copy = Node(node.signature, tuple(args))
    if hasattr(node, "source_location"):
        copy.source_location = node.source_location
    return copy
