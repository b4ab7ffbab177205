"""Methods of binary ufuncs: `reduce`, `accumulate`, `reduceat` and `at`.

A ufunc with a `Reduction` in the table records a `Reduce` or a `Scan`. The others (subtract, divide, power, ...) are
left folds, in which every step needs the one before: library calls, parallel over all other axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from functools import reduce as folded
from math import copysign, prod
from typing import Any

import numpy

from ...core.dtypes import BOOL, INT64, KIND, DType, check
from ...core.floating_errors import silent_unless_asked
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape
from ...core.graph.node import Node
from ...core.graph.primitives import Const
from ...core.graph.queue import Queue
from ...core.numpy_ufuncs import UFUNCS
from ...core.ops import table
from ...core.recording.array import from_host, ndarray, one_step, to_host, wrap, wrap_ordered
from ...core.recording.memo import MemoizedOperation
from ...core.recording.record import (
    as_array,
    as_dtype,
    as_node,
    cast_with_warning,
    check_class,
    leave_to_class,
    reshaped,
    transposed,
    weak_types,
)
from ...core.runtime.numpy_calls import calls_numpy
from ...core.source_location import source_location
from ..indexing.getitem import getitem
from .output import Output, checked_output, is_true_anywhere, is_writable_array, mask_node, select, write_to_output

Loop = tuple[DType, ...]

NO_VALUE: Any = numpy._NoValue  # None is a value of `initial`

# Ufuncs without an identity that may still be reduced over several axes at once, in any order.
_REORDERABLE = frozenset(("maximum", "minimum", "fmax", "fmin"))


def numpy_ufunc(op: str) -> Any:
    """Return NumPy's ufunc of a name."""
    return UFUNCS[op]


def check_reducible(op: str, method: str) -> None:
    """Raise NumPy's `ValueError` unless the ufunc has two arguments and one result."""
    ufunc = numpy_ufunc(op)
    if ufunc.nin != 2:
        raise ValueError(f"{method} only supported for binary functions")
    if ufunc.nout != 1:
        raise ValueError(f"{method} only supported for functions returning a single value")


@cache
def reduction_loop(op: str, argument: DType, dtype: DType | None, out: DType | None) -> Loop:
    """Return the loop of a reduction: the dtypes of the state, the argument and the result."""
    fixed = {} if dtype is None else {"signature": (dtype, None, None)}
    found = numpy_ufunc(op).resolve_dtypes((out, argument, None), casting="unsafe", reduction=True, **fixed)
    return tuple(check(d) for d in found)


def _operands(x: Any, out: Any) -> tuple[ndarray, Any]:
    """Return the array and the output of a method."""
    into = checked_output(out)
    return as_array(x, into.device if into is not None else None), into


def _loop(op: str, argument: DType, dtype: Any, into: Output | None) -> Loop:
    """Return the loop of a reduction of an argument of some dtype, by the arguments `dtype` and `out` of the method."""
    wanted = None if dtype is None else check(dtype)
    return reduction_loop(op, argument, wanted, None if into is None else into.dtype)


def check_integer_powers(operands: Sequence[Node], loop: Loop, mask: Node | None = None) -> None:
    """Raise `ValueError` for integers to negative integer powers, counting elements that the mask selects.

    Exponents and a mask in arrays are computed to find out.
    """
    base, exponent = operands
    dtype = exponent.signature.dtype
    if loop[1].kind != "i" or dtype.kind != "i" or 0 in base.signature.shape:
        return
    conditions = [] if mask is None else [mask]
    if exponent.signature.queue is not None:
        conditions.append(graph.map_node("less", (dtype, dtype, BOOL), (exponent, graph.typed_scalar(0, dtype))))
    elif exponent.data >= 0:
        return
    if not conditions or is_true_anywhere(
        folded(lambda a, b: graph.map_node("logical_and", (BOOL, BOOL, BOOL), (a, b)), conditions)
    ):
        raise ValueError("Integers to negative integer powers are not allowed.")


def _check_powers_along(op: str, loop: Loop, value: Node, axis: int, mask: Node | None = None) -> None:
    """Call `check_integer_powers` where all elements but the first along an axis are exponents."""
    if op == "power" and loop[1].kind == "i" and value.signature.shape[axis] > 1:
        rest = (slice(None),) * axis + (slice(1, None),)
        exponents, selected = (node and getitem(wrap(node), rest).value() for node in (value, mask))
        assert exponents is not None
        check_integer_powers((exponents, exponents), loop, selected)


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
    """Reduce an array over one axis, several, or all of them (None), by a binary ufunc. See `numpy.ufunc.reduce`.

    Parameters
    ----------
    op
        The name of the ufunc.
    initial
        The value that the reduction starts with. None starts with the first element; by default the reduction starts
        with the ufunc's identity.
    """
    if initial is NO_VALUE and where is True and out is dtype is None and type(x) is ndarray:
        is_static = axis is None or type(axis) is int or (type(axis) is tuple and all(type(k) is int for k in axis))
        if is_static and op != "power":  # whose exponents the host looks at
            value = x.value()
            record = record_plain_reduction
            signature = record.find((value.signature, op, axis))
            result = record((value,), op, axis) if signature is None else wrap(Node(signature, (value,)))
            if not keepdims:
                return result
            if result._base is None:  # in C order, so with dimensions of size 1 too
                return wrap(reshaped(result._node, _kept_shape(value.signature.shape, axis)))
    check_reducible(op, "reduce")
    array, into = _operands(x, out)
    return _return_result(*_checked_reduction(array.value(), op, axis, dtype, into, keepdims, initial, where), into)


@MemoizedOperation
def record_plain_reduction(operands: tuple[Node, ...], op: str, axis: Any) -> tuple[Node, tuple[int, ...] | None]:
    """Record a reduction without options; return as `_checked_reduction` does."""
    check_reducible(op, "reduce")
    (value,) = operands
    return _checked_reduction(value, op, axis)


@lru_cache(1 << 12)
def _kept_shape(shape: Shape, axis: int | tuple[int, ...] | None) -> Shape:
    """Return the shape that a reduction over valid axes leaves with `keepdims`."""
    axes = _axes(axis, len(shape))
    return tuple(1 if d in axes else n for d, n in enumerate(shape))


def _checked_reduction(
    value: Node,
    op: str,
    axis: Any,
    dtype: Any = None,
    into: Output | None = None,
    keepdims: bool = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> tuple[Node, tuple[int, ...] | None]:
    """Record a reduction; return the value with its dimensions in memory order, and that order. See `reduce_ufunc`."""
    signature = value.signature
    assert signature.queue is not None
    where = True if where is NO_VALUE else where
    axes = _axes(axis, len(signature.shape))
    loop = _loop(op, signature.dtype, dtype, into)
    identity = numpy_ufunc(op).identity
    if len(axes) > 1 and identity is None and op not in _REORDERABLE:
        raise ValueError(f"reduction operation {op!r} is not reorderable, so at most one axis may be specified")
    result_dtype = loop[-1]
    has_initial = initial is not NO_VALUE and initial is not None
    start = _start(initial, result_dtype, signature.queue) if has_initial else None
    neutral = None if identity is None or initial is None else wrapped_scalar(identity, result_dtype)
    mask = None
    if where is not True:
        mask = mask_node(where, signature.queue)
        if start is None and neutral is None:
            raise ValueError(
                f"reduction operation {op!r} does not have an identity, so to use a where mask one has to specify "
                "'initial'"
            )
        if len(mask.signature.shape) > len(signature.shape):
            raise ValueError("input operand has more dimensions than allowed by the axis remapping")
        common_shape = layout.broadcast_shapes(signature.shape, mask.signature.shape)
        if common_shape != signature.shape:
            raise ValueError(
                f"non-broadcastable operand with shape {signature.shape} doesn't match the broadcast shape "
                f"{common_shape}"
            )
        if mask.signature.queue is None and signature.queue is not None:
            mask = graph.fill(mask, common_shape, signature.queue)
        else:
            mask = graph.broadcast(mask, common_shape)
    shape = value.signature.shape
    final_shape = tuple(1 if d in axes else n for d, n in enumerate(shape) if keepdims or d not in axes)
    if into is not None and into.shape != final_shape:
        raise _wrong_output("reduction", op, into.shape, final_shape)
    if start is None and neutral is None and prod(shape[d] for d in axes) == 0:
        raise ValueError(f"zero-size array to reduction operation {op} which has no identity")
    return _record_reduction(op, loop, value, axes, keepdims, start, neutral, mask)


def _wrong_output(method: str, op: str, found: Shape, expected: Shape) -> ValueError:
    """Return NumPy's error for an output of another shape."""
    return ValueError(f"output parameter for {method} operation {op} has the shape {found}, expected is {expected}")


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the `axis` argument as axes counted from the front; a 0-d array accepts axis 0 and -1 too, as in NumPy."""
    if ndim == 0 and axis is not None and not isinstance(axis, tuple) and axis in (0, -1):
        return ()
    return layout.checked_axes(axis, ndim)


def _start(initial: Any, dtype: DType, queue: Queue) -> Node:
    """Return the `initial` argument as a 0-d value of the result's dtype."""
    if not isinstance(initial, ndarray):
        cell = numpy.empty(1, dtype)
        with silent_unless_asked():
            cell[0] = initial  # NumPy converts the value, or refuses it
        return graph.typed_scalar(cell[0], dtype)
    node = as_node(initial, queue)
    if node.signature.shape:
        if prod(node.signature.shape) != 1:
            raise ValueError("setting an array element with a sequence.")
        node = reshaped(node, ())
    return as_dtype(node, dtype)


def wrapped_scalar(value: Any, dtype: DType) -> Node:
    """Return a Python number as a scalar of a dtype, wrapped around into its range."""
    return graph.typed_scalar(numpy.asarray(value).astype(dtype)[()], dtype)


def _record_reduction(
    op: str,
    loop: Loop,
    value: Node,
    axes: tuple[int, ...],
    keepdims: bool,
    start: Node | None,
    neutral: Node | None,
    mask: Node | None,
) -> tuple[Node, tuple[int, ...] | None]:
    """Record a reduction over axes counted from the front; return as `_checked_reduction` does.

    Parameters
    ----------
    start
        The `initial` argument, if there is one.
    neutral
        The identity of the ufunc, where the reduction may start with it.
    mask
        The elements that count; of the shape of `value`.
    """
    signature = value.signature
    result_dtype = loop[-1]
    queue = signature.queue
    assert queue is not None
    kept_axes = [d for d in range(len(signature.shape)) if keepdims or d not in axes]
    final_shape = tuple(1 if d in axes else signature.shape[d] for d in kept_axes)
    order = layout.memory_order(
        [(final_shape, [0 if d in axes else signature.strides[d] for d in kept_axes])], len(final_shape)
    )
    if order is not None:
        outer = [kept_axes[k] for k in order if kept_axes[k] not in axes]
        value = transposed(value, (*outer, *axes))
        mask = None if mask is None else transposed(mask, (*outer, *axes))
        axes = tuple(range(len(outer), len(outer) + len(axes)))
        final_shape = tuple(final_shape[k] for k in order)
    shape = value.signature.shape
    if prod(shape[d] for d in axes) == 0 or 0 in final_shape:
        cast_with_warning(value, result_dtype)  # only for the warning
        first = start if start is not None else neutral
        return graph.fill(first if first is not None else wrapped_scalar(0, result_dtype), final_shape, queue), order
    if not axes:
        value = cast_with_warning(value, result_dtype)
        first = start if start is not None else neutral
        if first is not None:
            combined = graph.map_node(op, (result_dtype,) * 3, (first, value))
            value = combined if mask is None else select(mask, combined, first)
        return value, order
    if op not in table.REDUCTIONS:
        return reshaped(_fold(op, loop, value, axes[0], start, mask), final_shape), order
    # A sum starts with 0, which loses the sign of negative zeros; NumPy starts with `initial` or an element instead.
    keeps_negative_zeros = (
        op == "add"
        and KIND[result_dtype] in "efc"
        and (neutral is None if start is None else _may_be_negative_zero(start))
    )
    if keeps_negative_zeros:
        value = cast_with_warning(value, result_dtype)
        neutral = wrapped_scalar(-numpy.zeros((), result_dtype), result_dtype)
    if mask is not None:
        # Masked elements become the identity, or else `initial`: the ufuncs without an identity are maxima and minima,
        # which one more `initial` does not change.
        replacement = neutral if neutral is not None else start
        assert replacement is not None
        value = select(mask, cast_with_warning(value, result_dtype), replacement)
    value_dtype = value.signature.dtype
    if value_dtype != result_dtype and not numpy.can_cast(value_dtype, result_dtype) and result_dtype != BOOL:
        value = cast_with_warning(value, result_dtype)
    elements, value = value, graph.reduce(op, (value.signature.dtype, result_dtype), axes, (value,))
    if keeps_negative_zeros:
        value = _with_negative_zeros(value, elements, axes)
    if start is not None:
        value = graph.map_node(op, (result_dtype,) * 3, (start, value))
    return reshaped(value, final_shape), order


def _may_be_negative_zero(start: Node) -> bool:
    """Return False for a number that is known here, is not -0.0, and has no such part."""
    if not isinstance(start.signature.primitive, Const):
        return True
    number = complex(start.data)
    return any(part == 0 and copysign(1, part) < 0 for part in (number.real, number.imag))


def _with_negative_zeros(total: Node, elements: Node, axes: tuple[int, ...]) -> Node:
    """Return sums that began with 0, with -0.0 where all elements are -0.0, of complex numbers in each part."""
    dtype = total.signature.dtype
    if KIND[dtype] == "c":
        part_dtype = check(dtype.type(0).real.dtype)
        parts = []
        for part in ("real", "imag"):
            part_total, part_elements = (graph.map_node(part, (dtype, part_dtype), (x,)) for x in (total, elements))
            parts.append(_with_negative_zeros(part_total, part_elements, axes))
        return graph.map_node("complex", (part_dtype, part_dtype, dtype), parts)
    has_sign, is_zero = (graph.map_node(test, (dtype, BOOL), (elements,)) for test in ("signbit", "logical_not"))
    is_negative_zero = graph.map_node("logical_and", (BOOL, BOOL, BOOL), (has_sign, is_zero))
    all_negative_zeros = graph.reduce("logical_and", (BOOL, BOOL), axes, (is_negative_zero,))
    return select(all_negative_zeros, wrapped_scalar(-0.0, dtype), total)


def _fold(op: str, loop: Loop, value: Node, axis: int, start: Node | None, mask: Node | None) -> Node:
    """Record the left fold along one axis; a start value becomes the first element."""
    value = cast_with_warning(value, loop[1])
    if start is not None:
        value = _prepended(cast_with_warning(start, loop[1]), value, axis)
        mask = None if mask is None else _prepended(wrapped_scalar(True, BOOL), mask, axis)
    _check_powers_along(op, loop, value, axis, mask)
    signature = value.signature
    shape = signature.shape[:axis] + signature.shape[axis + 1 :]
    if signature.shape[axis] == 1:
        return reshaped(cast_with_warning(value, loop[-1]), shape)
    return graph.library_call("fold", (op, loop, axis), (value,) if mask is None else (value, mask))


def _prepended(first: Node, value: Node, axis: int) -> Node:
    """Return the value with a scalar before it along an axis."""
    signature = value.signature
    assert signature.queue is not None
    longer_shape = signature.shape[:axis] + (signature.shape[axis] + 1,) + signature.shape[axis + 1 :]
    strides = layout.c_strides(longer_shape)
    return graph.update(
        graph.fill(first, longer_shape, signature.queue), Layout(signature.shape, strides, strides[axis]), value
    )


# --- accumulate, reduceat -------------------------------------------------------------------------------------------


def accumulate_ufunc(op: str, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> ndarray:
    """Return every intermediate result of a reduction along one axis. See `numpy.ufunc.accumulate`."""
    check_reducible(op, "accumulate")
    array, into = _operands(x, out)
    position = _single_axis(axis, array.ndim, "accumulate")
    loop = _loop_of_one_dtype(op, "accumulate", array, dtype, into)
    if into is not None and into.shape != array.shape:
        raise _wrong_output("accumulate", op, into.shape, array.shape)
    with one_step(into):
        return _return_result(*_accumulated(op, array, position, loop), into)


def _loop_of_one_dtype(op: str, method: str, array: ndarray, dtype: Any, into: Output | None) -> Loop:
    """Return the loop of a method that applies it to its own results; raise if both operands have another dtype."""
    loop = _loop(op, array.dtype, dtype, into)
    if len(set(loop)) > 1:
        raise TypeError(f"the resolved dtypes are not compatible with {op}.{method}. Resolved {loop}")
    return loop


def _accumulated(op: str, array: ndarray, position: int, loop: Loop) -> tuple[Node, tuple[int, ...] | None]:
    """Record every intermediate result of a reduction; return as `_checked_reduction` does."""
    value = array.value()
    order = layout.memory_order([(array.shape, array.layout.strides)], array.ndim)
    if order is not None:  # the result has the memory order of the array
        value, position = transposed(value, order), order.index(position)
    shape = value.signature.shape
    if array.size == 0 or shape[position] == 1:
        node = cast_with_warning(value, loop[-1])
    elif table.scans(op):
        node = graph.scan(op, (loop[-1], loop[-1]), position, cast_with_warning(value, loop[-1]))
    else:
        value = cast_with_warning(value, loop[1])
        _check_powers_along(op, loop, value, position)
        node = graph.library_call("accumulate", (op, loop, position), (value,))
    return node, order


def _return_result(node: Node, order: tuple[int, ...] | None, into: Output | None) -> ndarray:
    """Return a new array of a value whose dimensions come in memory order, or `into` with the value in it."""
    if into is None:
        return wrap_ordered(node, order)
    return write_to_output(
        into, node if order is None else transposed(node, [order.index(k) for k in range(len(order))])
    )


def reduceat_ufunc(op: str, x: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> ndarray:
    """Reduce the slices that begin at `indices`. See `numpy.ufunc.reduceat`.

    The indices are read on the host, so that an index out of bounds raises `IndexError` at once.
    """
    check_reducible(op, "reduceat")
    array, into = _operands(x, out)
    position = _single_axis(axis, array.ndim, "reduceat")
    starts = to_host(indices) if isinstance(indices, ndarray) else numpy.asarray(indices)
    if starts.ndim != 1:
        raise ValueError("object of too small depth for desired array" if starts.ndim == 0 else "indices must be 1-d")
    if hasattr(indices, "dtype") and starts.dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from {starts.dtype!r} to dtype('int64') according to the rule 'safe'")
    starts = starts.astype(INT64)
    length = array.shape[position]
    out_of_bounds = starts[(starts < 0) | (starts >= length)]
    if out_of_bounds.size:
        raise IndexError(f"index {out_of_bounds[0]} out-of-bounds in {op}.reduceat [0, {length})")
    loop = _loop_of_one_dtype(op, "reduceat", array, dtype, into)
    shape = array.shape[:position] + (starts.size,) + array.shape[position + 1 :]
    if into is not None and into.shape != shape:
        raise _wrong_output("reduceat", op, into.shape, shape)
    value = cast_with_warning(array.value(), loop[1])
    if 0 in shape:
        node = graph.fill(wrapped_scalar(0, loop[-1]), shape, array.queue)
    else:
        start_node = from_host(starts, array.device).value()
        if op == "power":
            _check_powers_along(op, loop, value, position, _mask_of_exponents(starts, value, position))
        node = graph.library_call("reduceat", (op, loop, position), (value, start_node))
    return _return_result(node, None, into)


def _mask_of_exponents(starts: Any, value: Node, axis: int) -> Node:
    """Return a mask of the elements that come in a slice of `reduceat` after its first."""
    length = value.signature.shape[axis]
    stops = numpy.append(starts[1:], length)
    steps = numpy.zeros(length + 1, INT64)
    numpy.add.at(steps, numpy.minimum(starts + 1, length), stops > starts)
    numpy.subtract.at(steps, numpy.maximum(stops, 0), stops > starts)
    along = [length if d == axis else 1 for d in range(len(value.signature.shape))]
    assert value.signature.queue is not None
    mask = from_host((numpy.cumsum(steps[:length]) > 0).reshape(along), value.signature.queue.device).value()
    return graph.broadcast(mask, value.signature.shape)


def _single_axis(axis: Any, ndim: int, method: str) -> int:
    """Return the `axis` argument as one axis counted from the front; raise unless it is one axis of an array."""
    if ndim == 0:
        for one in () if axis is None else axis if isinstance(axis, tuple) else (axis,):
            if one not in (0, -1):  # which NumPy takes here
                raise numpy.exceptions.AxisError(one, 0)
        raise TypeError(f"cannot {method} on a scalar")
    axes = layout.checked_axes(axis, ndim)
    if len(axes) != 1:
        raise ValueError(f"{method} does not allow multiple axes")
    return axes[0]


# --- at -------------------------------------------------------------------------------------------------------------


def at_ufunc(op: str, a: Any, indices: Any, operands: Sequence[Any] = ()) -> None:
    """Perform ``a[indices] = ufunc(a[indices], b)`` once per index, repeated ones included. See `numpy.ufunc.at`."""
    ufunc = numpy_ufunc(op)
    if ufunc.nout != 1:
        raise ValueError("Only single output ufuncs supported at this time")
    if not is_writable_array(a):
        check_class(a)
        leave_to_class(a)
        raise TypeError("first operand must be array")
    if len(operands) != ufunc.nin - 1:
        raise ValueError(_OPERAND_COUNT_ERRORS[ufunc.nin])
    if not a.writeable:
        raise ValueError("assignment destination is read-only")
    positions = _positions(a, indices)
    shape = positions.signature.shape
    values = [as_node(_as_numpy_scalar(b), a.queue) for b in operands]
    for value in values:
        if layout.broadcast_shapes(shape, value.signature.shape) != shape:
            raise ValueError(f"array is not broadcastable to correct shape: {value.signature.shape} to {shape}")
    types = (a.dtype, *weak_types(values))
    loop = ufunc.resolve_dtypes((*types, a.dtype), casting="unsafe")
    operand = as_dtype(values[0], check(loop[1])) if values else wrapped_scalar(0, a.dtype)
    if op == "power":
        check_integer_powers((positions, values[0]), loop)
    if operand.signature.queue is None:
        operand = graph.fill(operand, (), a.queue)
    with one_step(a):
        flat = reshaped(a.value(), (a.size,))
        a.assign(reshaped(graph.scatter(flat, operand, [positions], op, source_location()), a.shape))


def _positions(a: ndarray, indices: Any) -> Node:
    """Return the positions of the indexed elements in C order, in the shape of what is indexed."""
    is_index_of_elements = type(indices) is ndarray and indices.shape and len(a.shape) == 1 and a.size
    if is_index_of_elements and indices.dtype.kind in "iu" and calls_numpy(a.device):
        # They are the indices, which NumPy checks as it writes. On a GPU a kernel checks them as it reads positions.
        return graph.cast(indices.value(), INT64)
    return getitem(wrap(reshaped(graph.iota((a.size,), 0, a.queue), a.shape)), indices).value()


def _as_numpy_scalar(x: Any) -> Any:
    """Return a Python number as NumPy's array of it, which is not weak, and anything else as it is."""
    if not isinstance(x, (int, float, complex)):
        return x
    data = numpy.asarray(x)
    check(data.dtype)  # integers beyond uint64 are objects
    return data[()]


_OPERAND_COUNT_ERRORS = {1: "second operand provided when ufunc is unary", 2: "second operand needed for ufunc"}
