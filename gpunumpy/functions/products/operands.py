"""Operands of products cast to one dtype, and products written to an output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from numpy._core._exceptions import _UFuncInputCastingError, _UFuncOutputCastingError

from ...core._native import note_product
from ...core.dtypes import DType, check
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.numpy_ufuncs import UFUNCS
from ...core.recording.array import ndarray, wrap
from ...core.recording.record import as_array, cast_with_warning, transposed
from ..ufuncs.gufunc import product_dtype
from ..ufuncs.output import write_to_output


def as_two_arrays(x1: Any, x2: Any) -> tuple[ndarray, ndarray]:
    """Return two operands as arrays; host data goes to the device of the other operand."""
    device = next((x.device for x in (x1, x2) if isinstance(x, ndarray)), None)
    return as_array(x1, device), as_array(x2, device)


def cast_operands(nodes: Sequence[Node], dtype: DType, casting: Any = "safe", name: str = "matmul") -> list[Node]:
    """Return the operands in the dtype of the product `name`."""
    for k, node in enumerate(nodes):
        source = node.signature.dtype
        if not numpy.can_cast(source, dtype, casting):
            raise _UFuncInputCastingError(UFUNCS[name], casting, source, dtype, k)
    return [cast_with_warning(node, dtype) for node in nodes]


def cast_to_common_dtype(a: ndarray, b: ndarray) -> list[Node]:
    """Return two operands as nodes of their common dtype."""
    return cast_operands((a.value(), b.value()), check(product_dtype((a.dtype, b.dtype))))


def noted(product: ndarray, x: ndarray, y: ndarray) -> ndarray:
    """Return a product; where a device shares the host's memory, arrays whose parts were multiplied may move there."""
    if product.queue.shares_memory:
        note_product(product, x, y)
    return product


def write_product(
    node: Node, out: Any, name: str, core_ndim: int = 0, casting: Any = "same_kind", order: Sequence[int] | None = None
) -> ndarray:
    """Write a product to `out`, which must match its last `core_ndim` dimensions; over the others it is broadcast.

    With `order`, dimension k of the product is axis ``order[k]`` of `out`.
    """
    if not numpy.can_cast(node.signature.dtype, out.dtype, casting):
        ufunc = UFUNCS[name]
        raise _UFuncOutputCastingError(ufunc, casting, node.signature.dtype, out.dtype, ufunc.nin)
    out_shape = tuple(out.shape if order is None else (out.shape[d] for d in order))
    shape = node.signature.shape
    out_loop_ndim, loop_ndim = len(out_shape) - core_ndim, len(shape) - core_ndim
    for k, (n, m) in enumerate(zip(out_shape[out_loop_ndim:], shape[loop_ndim:]) if out_loop_ndim >= 0 else ()):
        if n != m:
            raise ValueError(
                f"{name}: Output operand 0 has a mismatch in its core dimension {k}, with gufunc signature "
                f"{UFUNCS[name].signature} (size {n} is different from {m})"
            )
    if (
        out_loop_ndim < 0
        or layout.broadcast_shapes(out_shape[:out_loop_ndim], shape[:loop_ndim]) != out_shape[:out_loop_ndim]
    ):
        raise ValueError(f"{name}: Output operand 0 has the shape {out_shape}, and the product {shape}")
    if order is not None:
        node = transposed(graph.broadcast(node, out_shape), numpy.argsort(order).tolist())
    return write_to_output(out, node)


def reordered(array: ndarray, order: Sequence[int]) -> ndarray:
    """Return the array's value with its dimensions in another order."""
    return wrap(transposed(array.value(), order))
