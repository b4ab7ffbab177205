"""Recipes: what a function records for operands of certain forms, worked out once and followed for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..graph.node import Node
from ..graph.primitives import Const, Leaf
from ..graph.signature import Signature

# What a step makes: what is found at or below an operand, a window of what is computed there, a scalar, an operation.
_FOUND, _WINDOW, _SCALAR, _NODE = range(4)
# Functions look at an operand, and no further down than this.
_DEPTH = 2

Path = tuple[int, ...]


class _Memory(NamedTuple):
    """Stands for the buffer of the computed value at a place."""

    path: Path
    ptr: float


class Recipe:
    """Nodes to make, one after the other; the last one is the result."""

    __slots__ = ("_steps",)

    def __init__(self, record: Callable[[list[Node]], Node], signatures: Sequence[Signature]) -> None:
        """Of what `record` makes of values of the given forms; it may look at nothing but their forms."""
        paths: dict[int, Path] = {}
        nodes = [_stand_in(signature, (place,), paths) for place, signature in enumerate(signatures)]
        known: dict[int, int] = {}
        steps: list[tuple[Any, ...]] = []

        def place_of(node: Node) -> int:
            if id(node) not in known:
                if id(node) in paths:
                    step: tuple[Any, ...] = (_FOUND, paths[id(node)])
                elif isinstance(node.data, _Memory):
                    step = (_WINDOW, node.data.path, node.signature, node.offset)
                elif isinstance(node.signature.primitive, Const):
                    step = (_SCALAR, node.signature, node.data)
                else:
                    step = (_NODE, node.signature, tuple(map(place_of, node.args)))
                known[id(node)] = len(steps)
                steps.append(step)
            return known[id(node)]

        result = record(nodes)
        place_of(result)
        self._steps = tuple(steps)

    def __call__(self, nodes: Sequence[Node]) -> Node:
        """The result for these operands; IndexError where another thread has just computed one of them."""
        made: list[Node] = []
        for step in self._steps:
            kind = step[0]
            if kind == _NODE:
                node = Node(step[1], tuple([made[k] for k in step[2]]))
            elif kind == _SCALAR:
                node = Node(step[1], (), step[2])
            else:
                node = nodes[step[1][0]]
                for k in step[1][1:]:
                    node = node.args[k]
                if kind == _WINDOW:
                    node = _window(node, step[2], step[3])
            made.append(node)
        return made[-1]


def _window(whole: Node, signature: Signature, step: int) -> Node:
    """The window of a computed value that begins `step` elements after it."""
    data = whole.data
    if data is None:
        assert whole.signature.queue is not None
        with whole.signature.queue.lock:  # another thread has just computed it; it is free when all of that can be seen
            data = whole.data
    node = Node(signature, (), data)
    node.offset = whole.offset + step
    node.bound = None
    return node


def _stand_in(signature: Signature, path: Path, paths: dict[int, Path]) -> Node:
    """A value of a form, whose memory is aligned as the form says, and at no address that is if it does not."""
    primitive = signature.primitive
    if isinstance(primitive, Leaf):
        node = Node(signature, (), _Memory(path, 0 if primitive.aligned else 0.5))
        node.offset = 0
        node.bound = None
    else:
        deeper = enumerate(signature.args) if len(path) <= _DEPTH else ()
        node = Node(signature, tuple([_stand_in(f, (*path, k), paths) for k, f in deeper]))
    paths[id(node)] = path
    return node
