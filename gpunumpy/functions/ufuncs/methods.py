"""The methods of binary ufuncs: `reduce`, `accumulate`, `reduceat` and `at`.

A ufunc that the table can reduce is a `Reduce` or a `Scan`. The others (subtract, divide, power, ...) are left folds,
in which every step needs the one before: routines of their own, parallel over all other axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

import numpy

from ...core.dtypes import BOOL, INT64, DType, check
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape
from ...core.graph.node import Node
from ...core.graph.queue import Queue
from ...core.ops import table
from ...core.recording.array import from_host, ndarray, to_host, wrap, wrap_ordered
from ...core.recording.memo import MemoizedFunction
from ...core.recording.record import as_array, as_dtype, as_node, reshaped, source_location, transposed, weak_types
from ..indexing.getitem import getitem
from .output import Output, is_array, mask_node, output, select, told_cast, write

Loop = tuple[DType, ...]


class _NoValue:
    """The default of `initial`: the identity of the ufunc, if it has one."""

    def __repr__(self) -> str:
        return "<no value>"


NO_VALUE = _NoValue()

# Ufuncs without an identity that may still be reduced over several axes at once, in any order.
_REORDERABLE = frozenset(("maximum", "minimum", "fmax", "fmin"))


def numpy_ufunc(op: str) -> Any:
    """NumPy's ufunc of a name."""
    return getattr(numpy, op)


def check_reducible(op: str, method: str) -> None:
    """Refuse ufuncs that have no such method, in NumPy's words."""
    ufunc = numpy_ufunc(op)
    if ufunc.nin != 2:
        raise ValueError(f"{method} only supported for binary functions")
    if ufunc.nout != 1:
        raise ValueError(f"{method} only supported for functions returning a single value")


@cache
def reduction_loop(op: str, argument: DType, dtype: DType | None, out: DType | None) -> Loop:
    """The loop of a reduction: the dtypes of the state, the argument and the result."""
    fixed = {} if dtype is None else {"signature": (dtype, None, None)}
    found = numpy_ufunc(op).resolve_dtypes((out, argument, None), casting="unsafe", reduction=True, **fixed)
    return tuple(check(d) for d in found)


def _operands(x: Any, out: Any) -> tuple[ndarray, Any]:
    """The array and the output of a method."""
    into = output(out)
    return as_array(x, into.device if into is not None else None), into


def _loop(op: str, argument: DType, dtype: Any, into: Output | None) -> Loop:
    wanted = None if dtype is None else check(dtype)
    return reduction_loop(op, argument, wanted, None if into is None else into.dtype)


# --- reduce ---------------------------------------------------------------------------------------------------------


def reduce_ufunc(
    op: str,
    x: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> ndarray:
    """Reduce an array over one axis, several, or all of them (None), by a binary ufunc; see `numpy.ufunc.reduce`.

    Parameters
    ----------
    op
        The name of the ufunc.
    initial
        What the reduction starts with; None for the first element, and the ufunc's identity if not given.
    """
    if initial is NO_VALUE and where is True and out is dtype is None and not keepdims and type(x) is ndarray:
        simple = axis is None or type(axis) is int or (type(axis) is tuple and all(type(k) is int for k in axis))
        if simple:
            value = x.value()
            signature = _plain_reduction.find((value.signature, op, axis))
            if signature is not None:
                return wrap(Node(signature, (value,)))
            return _plain_reduction((value,), op, axis)
    check_reducible(op, "reduce")
    array, into = _operands(x, out)
    return _delivered(*_reduction(array.value(), op, axis, dtype, into, keepdims, initial, where), into)


@MemoizedFunction
def _plain_reduction(operands: tuple[Node, ...], op: str, axis: Any) -> tuple[Node, tuple[int, ...] | None]:
    """What a reduction without options makes of an array."""
    check_reducible(op, "reduce")
    (value,) = operands
    return _reduction(value, op, axis)


def _reduction(
    value: Node,
    op: str,
    axis: Any,
    dtype: Any = None,
    into: Output | None = None,
    keepdims: bool = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> tuple[Node, tuple[int, ...] | None]:
    """The reduced value, its dimensions in memory order, and that order; arguments as for `reduce_ufunc`."""
    f = value.signature
    assert f.queue is not None
    axes = _axes(axis, len(f.shape))
    loop = _loop(op, f.dtype, dtype, into)
    identity = numpy_ufunc(op).identity
    if len(axes) > 1 and identity is None and op not in _REORDERABLE:
        raise ValueError(f"reduction operation {op!r} is not reorderable, so at most one axis may be specified")
    result = loop[-1]
    given = initial is not NO_VALUE and initial is not None
    start = _start(initial, result, f.queue) if given else None
    neutral = None if identity is None or initial is None else typed(identity, result)
    mask = None
    if where is not True:
        if start is None and neutral is None:
            raise ValueError(
                f"reduction operation {op!r} does not have an identity, so to use a where mask one has to specify "
                "'initial'"
            )
        mask = mask_node(where, f.queue)
        if len(mask.signature.shape) > len(f.shape):
            raise ValueError("input operand has more dimensions than allowed by the axis remapping")
        both = layout.broadcast_shapes(f.shape, mask.signature.shape)
        value, mask = graph.broadcast(value, both), graph.broadcast(mask, both)
    shape = value.signature.shape
    final = tuple(1 if d in axes else n for d, n in enumerate(shape) if keepdims or d not in axes)
    if into is not None and into.shape != final:
        raise _wrong_output("reduction", op, into.shape, final)
    if start is None and neutral is None and prod(shape[d] for d in axes) == 0:
        raise ValueError(f"zero-size array to reduction operation {op} which has no identity")
    return _reduced(op, loop, value, axes, keepdims, start, neutral, mask)


def _wrong_output(method: str, op: str, found: Shape, expected: Shape) -> ValueError:
    return ValueError(f"output parameter for {method} operation {op} has the shape {found}, expected is {expected}")


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if ndim == 0 and axis is not None and not isinstance(axis, tuple) and axis in (0, -1):
        return ()
    return layout.normalize_axes(axis, ndim)


def _start(initial: Any, dtype: DType, queue: Queue) -> Node:
    """The `initial` argument as a 0-d value of the result's dtype."""
    node = as_node(initial, queue)
    if node.signature.shape:
        if prod(node.signature.shape) != 1:
            raise ValueError("setting an array element with a sequence.")
        node = reshaped(node, ())
    return as_dtype(node, dtype)


def typed(value: Any, dtype: DType) -> Node:
    """A Python number as a scalar of a dtype, wrapped into its range."""
    return graph.typed_scalar(numpy.asarray(value).astype(dtype)[()], dtype)


def _reduced(
    op: str,
    loop: Loop,
    value: Node,
    axes: tuple[int, ...],
    keepdims: bool,
    start: Node | None,
    neutral: Node | None,
    mask: Node | None,
) -> tuple[Node, tuple[int, ...] | None]:
    """The reduced value, its dimensions in memory order, and that order."""
    f = value.signature
    result = loop[-1]
    queue = f.queue
    assert queue is not None
    ends = [d for d in range(len(f.shape)) if keepdims or d not in axes]
    final = tuple(1 if d in axes else f.shape[d] for d in ends)
    order = layout.memory_order([(final, [0 if d in axes else f.strides[d] for d in ends])], len(final))
    if order is not None:
        outer = [ends[k] for k in order if ends[k] not in axes]
        value = transposed(value, (*outer, *axes))
        mask = None if mask is None else transposed(mask, (*outer, *axes))
        axes = tuple(range(len(outer), len(outer) + len(axes)))
        final = tuple(final[k] for k in order)
    shape = value.signature.shape
    if prod(shape[d] for d in axes) == 0 or 0 in final:
        told_cast(value, result)  # for what it tells of
        first = start if start is not None else neutral
        return graph.fill(first if first is not None else typed(0, result), final, queue), order
    if not axes:
        value = told_cast(value, result)
        first = start if start is not None else neutral
        if first is not None:
            combined = graph.map_node(op, (result,) * 3, (first, value))
            value = combined if mask is None else select(mask, combined, first)
        return value, order
    if op not in table.REDUCTIONS:
        return reshaped(_fold(op, loop, value, axes[0], start, mask), final), order
    if mask is not None:
        # What is masked out is replaced by what changes nothing: the identity, or a value that takes part anyway.
        rest = neutral if neutral is not None else start
        assert rest is not None
        value = select(mask, told_cast(value, result), rest)
    argument = value.signature.dtype
    if argument != result and not numpy.can_cast(argument, result) and result != BOOL:
        value = told_cast(value, result)
    value = graph.reduce(op, (value.signature.dtype, result), axes, (value,))
    if start is not None:
        value = graph.map_node(op, (result,) * 3, (start, value))
    return reshaped(value, final), order


def _fold(op: str, loop: Loop, value: Node, axis: int, start: Node | None, mask: Node | None) -> Node:
    """The left fold along one axis; a start value becomes the first element."""
    value = told_cast(value, loop[1])
    if start is not None:
        value = _prepended(told_cast(start, loop[1]), value, axis)
        mask = None if mask is None else _prepended(typed(True, BOOL), mask, axis)
    f = value.signature
    shape = f.shape[:axis] + f.shape[axis + 1 :]
    if f.shape[axis] == 1:
        return reshaped(told_cast(value, loop[-1]), shape)
    return graph.library_call("fold", (op, loop, axis), (value,) if mask is None else (value, mask))


def _prepended(first: Node, value: Node, axis: int) -> Node:
    """The value with a scalar before it along an axis."""
    f = value.signature
    assert f.queue is not None
    longer = f.shape[:axis] + (f.shape[axis] + 1,) + f.shape[axis + 1 :]
    strides = layout.c_strides(longer)
    return graph.update(graph.fill(first, longer, f.queue), Layout(f.shape, strides, strides[axis]), value)


# --- accumulate, reduceat -------------------------------------------------------------------------------------------


def accumulate_ufunc(op: str, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> ndarray:
    """All the intermediate results of a reduction along one axis; see `numpy.ufunc.accumulate`."""
    check_reducible(op, "accumulate")
    array, into = _operands(x, out)
    along = _one_axis(axis, array.ndim, "accumulate")
    loop = _loop(op, array.dtype, dtype, into)
    if into is not None and into.shape != array.shape:
        raise _wrong_output("accumulate", op, into.shape, array.shape)
    value = array.value()
    order = layout.memory_order([(array.shape, array.layout.strides)], array.ndim)
    if order is not None:  # the result is laid out as the array is
        value, along = transposed(value, order), order.index(along)
    shape = value.signature.shape
    if array.size == 0 or shape[along] == 1:
        node = told_cast(value, loop[-1])
    elif table.scans(op):
        node = graph.scan(op, (loop[-1], loop[-1]), along, told_cast(value, loop[-1]))
    else:
        node = graph.library_call("accumulate", (op, loop, along), (told_cast(value, loop[1]),))
    return _delivered(node, order, into)


def _delivered(node: Node, order: tuple[int, ...] | None, into: Output | None) -> ndarray:
    """An array of a value whose dimensions come in memory order, or `into` with it."""
    if into is None:
        return wrap_ordered(node, order)
    return write(into, node if order is None else transposed(node, [order.index(k) for k in range(len(order))]))


def reduceat_ufunc(op: str, x: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> ndarray:
    """Reductions of the slices that begin at `indices`; see `numpy.ufunc.reduceat`.

    The indices are looked at on the host, where one out of bounds is refused at once.
    """
    check_reducible(op, "reduceat")
    array, into = _operands(x, out)
    along = _one_axis(axis, array.ndim, "reduceat")
    loop = _loop(op, array.dtype, dtype, into)
    starts = to_host(indices) if isinstance(indices, ndarray) else numpy.asarray(indices)
    if starts.ndim != 1:
        raise ValueError("object of too small depth for desired array" if starts.ndim == 0 else "indices must be 1-d")
    if hasattr(indices, "dtype") and starts.dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from {starts.dtype!r} to dtype('int64') according to the rule 'safe'")
    starts = starts.astype(INT64)
    length = array.shape[along]
    wrong = starts[(starts < 0) | (starts >= length)]
    if wrong.size:
        raise IndexError(f"index {wrong[0]} out-of-bounds in {op}.reduceat [0, {length})")
    shape = array.shape[:along] + (starts.size,) + array.shape[along + 1 :]
    if into is not None and into.shape != shape:
        raise _wrong_output("reduceat", op, into.shape, shape)
    value = told_cast(array.value(), loop[1])
    if 0 in shape:
        node = graph.fill(typed(0, loop[-1]), shape, array.queue)
    else:
        at = from_host(starts, array.device).value()
        node = graph.library_call("reduceat", (op, loop, along), (value, at))
    return _delivered(node, None, into)


def _one_axis(axis: Any, ndim: int, method: str) -> int:
    if ndim == 0:
        raise TypeError(f"cannot {method} on a scalar")
    axes = layout.normalize_axes(axis, ndim)
    if len(axes) != 1:
        raise ValueError(f"{method} does not allow multiple axes")
    return axes[0]


# --- at -------------------------------------------------------------------------------------------------------------


def at_ufunc(op: str, a: Any, indices: Any, operands: Sequence[Any] = ()) -> None:
    """``a[indices] = ufunc(a[indices], b)``, one index after the other where they repeat; see `numpy.ufunc.at`."""
    ufunc = numpy_ufunc(op)
    if ufunc.nout != 1:
        raise ValueError("Only single output ufuncs supported at this time")
    if not is_array(a):
        raise TypeError("first operand must be array")
    if len(operands) != ufunc.nin - 1:
        raise ValueError(_OPERANDS[ufunc.nin])
    if not a.writeable:
        raise ValueError("assignment destination is read-only")
    # Which elements are meant, as positions in C order: indexing an array of positions finds them, and their shape.
    positions = getitem(wrap(reshaped(graph.iota((a.size,), 0, a.queue), a.shape)), indices).value()
    shape = positions.signature.shape
    values = [as_node(b, a.queue) for b in operands]
    for value in values:
        if layout.broadcast_shapes(shape, value.signature.shape) != shape:
            raise ValueError(f"array is not broadcastable to correct shape: {value.signature.shape} to {shape}")
    types = (a.dtype, *weak_types(values))
    loop = ufunc.resolve_dtypes((*types, a.dtype), casting="unsafe")
    operand = as_dtype(values[0], check(loop[1])) if values else typed(0, a.dtype)
    if operand.signature.queue is None:
        operand = graph.fill(operand, (), a.queue)
    flat = reshaped(a.value(), (a.size,))
    a.assign(reshaped(graph.scatter(flat, operand, [positions], op, source_location()), a.shape))


_OPERANDS = {1: "second operand provided when ufunc is unary", 2: "second operand needed for ufunc"}
