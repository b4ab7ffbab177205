"""Copies of pending graphs in which leaves stand for some of the nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .node import Node, as_new_node, leaf_node


def substituted(roots: Sequence[Node], values: Mapping[Node, Node], buffers: Mapping[int, Any]) -> list[Node]:
    """Return copies of pending roots over a copy of the graph in which leaves stand for some nodes.

    Parameters
    ----------
    values
        The leaves, by the nodes that they stand for.
    buffers
        What leaves are to read instead of their buffers, by the identities of these.
    """
    copies = dict(values)
    stack = list(roots)
    while stack:
        node = stack[-1]
        if node in copies:
            stack.pop()
        elif node.data is not None:
            copies[node] = node
            if id(node.data) in buffers:
                copies[node] = leaf_node(node.signature, buffers[id(node.data)], node.offset)
        elif missing := [argument for argument in node.args if argument not in copies]:
            stack += missing
        else:
            copy = copies[node] = Node(node.signature, tuple([copies[argument] for argument in node.args]))
            if hasattr(node, "source_location"):
                copy.source_location = node.source_location
    # What is computed already gets memory of its own.
    return [copies[root] if copies[root].data is None else as_new_node(copies[root]) for root in roots]
