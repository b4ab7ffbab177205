"""Recording: from arrays, scalars and whatever NumPy takes to nodes, and from an operation on nodes to a new array."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy

from .. import dtypes
from ..dtypes import DType
from ..graph import layout
from ..graph import node as graph
from ..graph.layout import Layout, Shape
from ..graph.node import Node
from ..graph.primitives import Const
from ..graph.queue import Queue
from ..graph.signature import Signature, signature
from ..ops import table
from ..runtime import evaluate
from ..runtime.device import Device, default_device
from .array import from_host, is_scalar, ndarray, wrap, wrap_ordered
from .memo import MemoizedFunction

_PYTHON_SCALARS = frozenset((bool, int, float, complex))


def as_array(x: Any, device: Device | None = None) -> ndarray:
    """An array of anything that NumPy makes an array of; an `ndarray` is returned as it is."""
    if type(x) is ndarray or isinstance(x, ndarray):
        return x
    try:
        host = to_numpy(x)
    except ValueError:
        found = given_by(x)
        if found is None:
            raise
        return found
    return from_host(host, device)


def given_by(x: Any) -> ndarray | None:
    """The array of ours that ``x.__array__()`` returns, which NumPy takes for none; None if there is no such."""
    found = x.__array__() if hasattr(type(x), "__array__") else None
    return found if isinstance(found, ndarray) else None


def to_numpy(x: Any) -> Any:
    """A NumPy array of anything but our arrays, of a supported dtype; nested sequences may hold our 0-d arrays."""
    check_class(x)
    made = numpy.asarray(x)
    dtypes.of_data(made.dtype)
    return made


def check_class(x: Any) -> None:
    """Refuse the arrays of NumPy's that mean something else than their elements."""
    if not isinstance(x, numpy.ndarray) or type(x) is numpy.ndarray:
        return
    if isinstance(x, numpy.ma.MaskedArray):
        raise TypeError(
            "a masked array would lose its mask here: the functions of numpy.ma keep it; asarray(x) or x.filled(...) "
            "gives an array without one"
        )
    if isinstance(x, numpy.matrix):
        raise TypeError("a matrix would lose its meaning of * and ** here: asarray(x) makes an array of it")


def as_node(x: Any, queue: Queue | None = None) -> Node:
    """The value of an operand: an array, a scalar, or anything that NumPy makes an array of.

    Host data goes to the device of `queue` (the default device if None).
    """
    if type(x) is ndarray:
        return x.value()
    if type(x) in _PYTHON_SCALARS:
        return graph.scalar(x)
    if isinstance(x, numpy.generic):
        return graph.typed_scalar(x, dtypes.of_data(x.dtype))
    if isinstance(x, ndarray):
        return x.value()
    if isinstance(x, (bool, int, float, complex)):  # subclasses: IntEnum and the like
        kinds: tuple[Any, ...] = (bool, int, float, complex)
        return graph.scalar(next(k for k in kinds if isinstance(x, k))(x))
    return as_array(x, queue.device if queue is not None else None).value()


def as_nodes(args: Sequence[Any]) -> list[Node]:
    """The values of the operands of one operation; host data goes to where the arrays among them are."""
    queue = next((a.queue for a in args if isinstance(a, ndarray)), None)
    return [as_node(a, queue) for a in args]


def weak_types(nodes: Sequence[Node]) -> tuple[Any, ...]:
    """The dtype of every operand, or the type of a Python scalar, as type promotion takes them."""
    return tuple(_promotes_as(n.signature) for n in nodes)


def _promotes_as(signature: Signature) -> Any:
    primitive = signature.primitive
    if isinstance(primitive, Const) and primitive.weak and primitive.weak != "bool":
        return int if primitive.weak.startswith("int") else float if primitive.weak == "float" else complex
    return signature.dtype


# Comparisons take Python integers that the other operand's dtype does not hold.
_COMPARISONS = frozenset(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"))


def _fit_scalars(op: str, nodes: Sequence[Node], loop: tuple[DType, ...]) -> tuple[list[Node], tuple[DType, ...]]:
    """Refuse Python integers that the loop's dtype does not hold, in NumPy's words."""
    fitted = list(nodes)
    for k, (node, dtype) in enumerate(zip(nodes, loop, strict=False)):
        primitive = node.signature.primitive
        if not (isinstance(primitive, Const) and primitive.weak.startswith("int")) or dtype.kind not in "iu":
            continue
        limits = numpy.iinfo(dtype)
        if limits.min <= node.data <= limits.max:
            continue
        if op in _COMPARISONS:
            # Any value of the dtype compares with infinity as it does with a number beyond its range.
            fitted[k] = graph.scalar(float("inf") if node.data > 0 else float("-inf"))
            loop = tuple(dtypes.FLOAT64 for _ in loop[:-1]) + loop[-1:]
        else:
            raise OverflowError(f"Python integer {node.data} out of bounds for {dtype.name}")
    return fitted, loop


def elementwise(op: str, args: Sequence[Any], loop: tuple[DType, ...] | None = None) -> ndarray:
    """Record an elementwise operation over operands, laid out in memory as NumPy's order "K" would.

    Parameters
    ----------
    op
        A name of the table.
    args
        Arrays, scalars, or what NumPy makes arrays of.
    loop
        Argument dtypes and result dtype, if not those that NumPy's promotion gives.
    """
    return wrap_ordered(*elementwise_value(op, as_nodes(args), loop))


def elementwise_value(
    op: str, nodes: Sequence[Node], loop: tuple[DType, ...] | None = None
) -> tuple[Node, tuple[int, ...] | None]:
    """The value of an elementwise operation, its dimensions in memory order, and that order."""
    if loop is None:
        loop = table.resolve(op, weak_types(nodes))
    nodes, loop = _fit_scalars(op, nodes, loop)
    shape = layout.broadcast_shapes(*(n.signature.shape for n in nodes))
    order = None
    if len(shape) > 1:
        operands = [
            (shape, layout.broadcast_strides(n.signature.shape, n.signature.strides, shape))
            for n in nodes
            if n.signature.shape
        ]
        order = layout.memory_order(operands, len(shape))
        if order is not None:
            nodes = [transposed(graph.broadcast(n, shape), order) if n.signature.shape else n for n in nodes]
    node = graph.map_node(op, loop, nodes)
    f = node.signature
    if f.queue is None:
        # Scalars alone: the result lives on the default device.
        queue = evaluate.queue_of(default_device())
        node = Node(signature(f.primitive, f.args, f.shape, f.dtype, queue), node.args)
    return node, order


def transposed(node: Node, order: Sequence[int]) -> Node:
    """The value with axis ``order[k]`` as its dimension k."""
    strides = layout.c_strides(node.signature.shape)
    shape = tuple(node.signature.shape[k] for k in order)
    return graph.view(node, Layout(shape, tuple(strides[k] for k in order), 0))


def reshaped(node: Node, shape: Shape) -> Node:
    """The value in another shape, in C order."""
    return graph.view(node, Layout(shape, layout.c_strides(shape), 0))


def as_dtype(node: Node, dtype: DType) -> Node:
    """The value in another dtype; a Python integer that it does not hold is refused as NumPy refuses it."""
    primitive = node.signature.primitive
    if isinstance(primitive, Const) and primitive.weak:
        if dtype.kind in "iu" and primitive.weak.startswith("int"):
            _fit_scalars("cast", [node], (dtype, dtype))
        with numpy.errstate(all="ignore"):
            return graph.typed_scalar(numpy.asarray(node.data).astype(dtype)[()], dtype)
    return graph.cast(node, dtype)


def unary_operator(op: str) -> Callable[[ndarray], ndarray]:
    """The operator ``-a`` and its like: an elementwise operation over one array, recorded as fast as can be."""
    memo = MemoizedFunction(partial(elementwise_value, op))
    find = memo.find

    def record(x: ndarray) -> ndarray:
        a = x._node if x._base is None else x.value()
        signature = find((a.signature,))
        if signature is not None:
            return wrap(Node(signature, (a,)))
        return memo((a,))

    return record


def binary_operator(op: str, reflected: bool = False) -> Callable[[ndarray, Any], Any]:
    """The operators ``a + b`` and ``b + a`` and their like, over an array and an operand."""
    memo = MemoizedFunction(partial(elementwise_value, op))
    find = memo.find
    repeats = op == "multiply"  # of a scalar and a sequence, the product repeats the sequence, and Python does so

    def record(x: ndarray, y: Any) -> Any:
        a = x._node if x._base is None else x.value()
        kind = type(y)
        if kind is ndarray:
            b = y._node if y._base is None else y.value()
        elif kind in _PYTHON_SCALARS:
            b = graph.scalar(y)
        else:
            if not operand(y) or (repeats and isinstance(y, (list, tuple)) and is_scalar(x)):
                return NotImplemented
            b = as_node(y, x.queue)
        nodes = (b, a) if reflected else (a, b)
        signature = find((nodes[0].signature, nodes[1].signature))
        if signature is not None:
            return wrap(Node(signature, nodes))
        return memo(nodes)

    return record


def operand(y: Any) -> bool:
    """Whether an operator takes `y`, rather than to leave it to the other operand's class."""
    if isinstance(y, (ndarray, numpy.generic, numpy.ndarray, bool, int, float, complex, list, tuple)):
        return True
    return not hasattr(type(y), "__array_ufunc__") and hasattr(type(y), "__array__")


def source_location() -> str:
    """Where the user's program is: the nearest line outside the package, for messages about what only data decides."""
    frame = sys._getframe(1)
    package = __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
