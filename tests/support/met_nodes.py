"""Nodes that another thread computes at the worst moment."""

from __future__ import annotations

from typing import Any

from gpunumpy.core.graph.node import Node
from gpunumpy.core.runtime import evaluate


class Met(Node):
    """A node that another thread computes at the very moment at which its signature is read."""

    __slots__ = ()

    @property
    def signature(self) -> Any:  # type: ignore[override]
        found = Node.signature.__get__(self)  # type: ignore[attr-defined]
        self.__class__ = Node  # once
        evaluate.compute(self)
        return found

    @signature.setter
    def signature(self, value: Any) -> None:
        raise AssertionError("a node that is computed is a plain one by then")
