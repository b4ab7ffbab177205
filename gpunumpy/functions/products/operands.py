"""The operands of products in one dtype, and where a product is written to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ...core.dtypes import DType, check
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.recording.array import ndarray, wrap
from ...core.recording.record import as_array, transposed
from ..ufuncs.gufunc import joined
from ..ufuncs.output import told_cast, write


def pair(x1: Any, x2: Any) -> tuple[ndarray, ndarray]:
    """Two operands as arrays; host data goes to where the other one is."""
    device = next((x.device for x in (x1, x2) if isinstance(x, ndarray)), None)
    return as_array(x1, device), as_array(x2, device)


def cast(nodes: Sequence[Node], dtype: DType, casting: Any = "safe", name: str = "matmul") -> list[Node]:
    """The operands in the dtype of the product `name`."""
    for k, node in enumerate(nodes):
        its = node.signature.dtype
        if not numpy.can_cast(its, dtype, casting):
            raise TypeError(
                f"Cannot cast ufunc {name!r} input {k} from {its!r} to {dtype!r} with casting rule {casting!r}"
            )
    return [told_cast(node, dtype) for node in nodes]


def common(a: ndarray, b: ndarray) -> list[Node]:
    """The operands in the dtype of both."""
    return cast((a.value(), b.value()), check(joined((a.dtype, b.dtype))))


def finish(
    node: Node, into: Any, name: str, core: int = 0, casting: Any = "same_kind", order: Sequence[int] | None = None
) -> ndarray:
    """`into` with the product, whose last `core` dimensions it has to have; the others are broadcast.

    With `order`, dimension k of the product is axis ``order[k]`` of `into`.
    """
    if not numpy.can_cast(node.signature.dtype, into.dtype, casting):
        raise TypeError(
            f"Cannot cast ufunc {name!r} output from {node.signature.dtype!r} to {into.dtype!r} with casting rule "
            f"{casting!r}"
        )
    target = tuple(into.shape if order is None else (into.shape[d] for d in order))
    shape = node.signature.shape
    start, end = len(target) - core, len(shape) - core
    for k, (n, m) in enumerate(zip(target[start:], shape[end:]) if start >= 0 else ()):
        if n != m:
            raise ValueError(
                f"{name}: Output operand 0 has a mismatch in its core dimension {k}, with gufunc signature "
                f"{getattr(numpy, name).signature} (size {n} is different from {m})"
            )
    if start < 0 or layout.broadcast_shapes(target[:start], shape[:end]) != target[:start]:
        raise ValueError(f"{name}: Output operand 0 has the shape {target}, and the product {shape}")
    if order is not None:
        node = transposed(graph.broadcast(node, target), numpy.argsort(order).tolist())
    return write(into, node)


def reordered(array: ndarray, order: Sequence[int]) -> ndarray:
    """The value with its dimensions in another order."""
    return wrap(transposed(array.value(), order))
