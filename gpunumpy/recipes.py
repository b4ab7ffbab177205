"""Recipes: what a function records for operands of certain forms, worked out once and followed for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .core.node import Const, Form, Leaf, Node

# What a step makes: an operand, an argument of a pending one, a window of a computed one, a scalar, or an operation.
_OPERAND, _ARGUMENT, _WINDOW, _SCALAR, _NODE = range(5)


class _Memory(NamedTuple):
    """Stands for the buffer of a computed operand."""

    place: int
    ptr: float


class Recipe:
    """Nodes to make, one after the other; the last one is the result."""

    __slots__ = ("_steps",)

    def __init__(self, record: Callable[[list[Node]], Node], forms: Sequence[Form]) -> None:
        """Of what `record` makes of values of the given forms; it may look at nothing but their forms."""
        nodes = [_stand_in(place, form) for place, form in enumerate(forms)]
        known: dict[int, int] = {}
        steps: list[tuple[Any, ...]] = []
        for place, node in enumerate(nodes):
            known[id(node)] = len(steps)
            steps.append((_OPERAND, place))
        origins = {id(arg): (place, k) for place, node in enumerate(nodes) for k, arg in enumerate(node.args)}

        def place_of(node: Node) -> int:
            if id(node) not in known:
                if id(node) in origins:
                    step: tuple[Any, ...] = (_ARGUMENT, *origins[id(node)])
                elif isinstance(node.data, _Memory):
                    step = (_WINDOW, node.data.place, node.form, node.offset)
                elif isinstance(node.form.op, Const):
                    step = (_SCALAR, node.form, node.data)
                else:
                    step = (_NODE, node.form, tuple(map(place_of, node.args)))
                known[id(node)] = len(steps)
                steps.append(step)
            return known[id(node)]

        last = place_of(record(nodes))
        self._steps = tuple(steps[: last + 1])

    def __call__(self, nodes: Sequence[Node]) -> Node:
        """The result for these operands; IndexError where another thread has just computed one of them."""
        made: list[Node] = []
        for step in self._steps:
            kind = step[0]
            if kind == _NODE:
                node = Node(step[1], tuple([made[k] for k in step[2]]))
            elif kind == _OPERAND:
                node = nodes[step[1]]
            elif kind == _WINDOW:
                whole = nodes[step[1]]
                data = whole.data
                if data is None:
                    with whole.form.queue.lock:  # it is free when all can be seen
                        data = whole.data
                node = Node(step[2], (), data)
                node.offset = whole.offset + step[3]
                node.bound = None
            elif kind == _SCALAR:
                node = Node(step[1], (), step[2])
            else:
                node = nodes[step[1]].args[step[2]]
            made.append(node)
        return made[-1]


def _stand_in(place: int, form: Form) -> Node:
    """A value of a form, whose memory is aligned as the form says, and at no address that is if it does not."""
    op = form.op
    if not isinstance(op, Leaf):
        return Node(form, tuple(Node(f, ()) for f in form.args))
    node = Node(form, (), _Memory(place, 0 if op.aligned else 0.5))
    node.offset = 0
    node.bound = None
    return node
