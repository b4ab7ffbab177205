"""Destinations of ufunc results: `out` arguments, `where` masks, and casts that warn."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy

from ...core import dtypes
from ...core.dtypes import BOOL
from ...core.errors import OverlapError
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Shape
from ...core.graph.node import Node
from ...core.graph.queue import Queue
from ...core.recording.array import is_scalar, mark_as_array, ndarray, one_step, to_host, wrap, wrap_ordered
from ...core.recording.overlap import overlaps
from ...core.recording.record import (
    array_of_protocol,
    as_node,
    cast_with_warning,
    check_class,
    leave_function_to_class,
    leave_to_class,
    transposed,
)
from ...core.runtime import evaluate
from ...core.source_location import call_for_user


class HostOutput:
    """NumPy array as an `out` argument, with the attributes of a gpunumpy array that results are written through."""

    __slots__ = ("array", "dtype", "shape")

    # No device: results for a host array are computed on the device of the operands.
    device = None

    def __init__(self, array: Any) -> None:
        check_class(array)
        if not array.flags.writeable:
            raise ValueError("output array is read-only")
        self.array = array
        self.dtype = dtypes.of_data(array.dtype)
        self.shape: Shape = array.shape

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements are contiguous, in C order."""
        return bool(self.array.flags.c_contiguous)

    def assign(self, value: Node) -> None:
        """Compute the value and copy it into the array; one that is too large for its device is written in parts."""
        value, array = graph.broadcast(value, self.shape), self.array
        is_alike = array.flags.c_contiguous and array.dtype is value.signature.dtype
        if not is_alike or not evaluate.compute_into(array.reshape(-1).view(numpy.ndarray).view(numpy.uint8), value):
            numpy.copyto(array, to_host(wrap(value)))


Output = ndarray | HostOutput


def checked_outputs(out: Any, count: int) -> tuple[Any, ...]:
    """Return the `out` argument of a ufunc as one `Output` or None for each of its `count` results."""
    if out is None:
        return (None,) * count
    if not isinstance(out, tuple):
        if count > 1:
            raise TypeError("'out' must be a tuple of arrays")
        out = (out,)
    if len(out) != count:
        raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
    return tuple(map(_checked_item, out))


def _checked_item(array: Any) -> Output | None:
    """Return one item of an `out` argument; raise `TypeError` unless it is an array or None."""
    if array is None or isinstance(array, HostOutput):
        return array
    if is_writable_array(array):
        if not array.writeable:
            raise ValueError("output array is read-only")
        if overlaps(array):  # before an output that comes first is written to
            raise OverlapError("an output whose elements overlap is written on the host")
        return array
    if isinstance(array, numpy.ndarray):
        return HostOutput(array)
    if array is Ellipsis:
        raise TypeError("out=... is only allowed as a keyword argument of ufuncs, and for all of their outputs.")
    check_class(array)
    leave_to_class(array)
    raise TypeError(f"return arrays must be of ArrayType, which {type(array).__name__!r} is not")


def made_arrays(results: Any) -> Any:
    """Return the results of a ufunc as ``out=...`` asks for them: arrays, where they would be NumPy scalars."""
    if isinstance(results, tuple):
        return tuple(map(made_arrays, results))
    return mark_as_array(results) if isinstance(results, ndarray) else results


def checked_output(out: Any) -> Any:
    """Return the `out` argument of a function with one result, or None."""
    return _checked_item(out)


def only_output(out: Any) -> Any:
    """Return the `out` argument of a ufunc with one result, which may be a tuple of one array, without the tuple."""
    if not isinstance(out, tuple):
        return out
    if len(out) != 1:
        raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
    return out[0]


def in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that writes to its first argument, extended to NumPy arrays.

    For a NumPy array, NumPy's function of the same name runs. Raise `TypeError` for what cannot be written.
    """
    numpy_function = getattr(numpy, function.__name__)
    first_parameter = next(iter(signature(function).parameters))

    @wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        for x in (*args, *options.values()):
            leave_function_to_class(x)
        target = args[0] if args else options.get(first_parameter)
        if isinstance(target, numpy.ndarray):
            host_options = {name: to_numpy_arguments(value) for name, value in options.items()}
            return call_for_user(numpy_function, *to_numpy_arguments(args), **host_options)
        if not is_writable_array(target):
            check_class(target)
            kind = "the 0-d result of an operation" if isinstance(target, ndarray) else type(target).__name__
            raise TypeError(f"argument 1 must be an array, not {kind}")
        return function(*args, **options)

    return run


def to_numpy_arguments(x: Any) -> Any:
    """Return an argument for a function of NumPy: gpunumpy arrays, also in tuples and lists, become NumPy arrays."""
    if type(x) in (tuple, list):
        return type(x)(map(to_numpy_arguments, x))
    array = x if isinstance(x, ndarray) else array_of_protocol(x)
    return to_host(array) if isinstance(array, ndarray) else x


def is_writable_array(x: Any) -> bool:
    """Return whether `x` is a gpunumpy array that can be written: a 0-d result, which acts as a scalar, cannot."""
    return isinstance(x, ndarray) and not is_scalar(x)


def mask_node(where: Any, queue: Queue | None = None) -> Node:
    """Return the `where` argument as a boolean node; host data goes to the device of `queue`."""
    leave_to_class(where)
    leave_function_to_class(where)
    if hasattr(where, "dtype"):
        if where.dtype != BOOL:
            raise TypeError(
                f"Cannot cast array data from {where.dtype!r} to dtype('bool') according to the rule 'safe'"
            )
    else:
        where = numpy.asarray(where, BOOL)
    return as_node(where, queue)


def is_true_anywhere(condition: Node) -> bool:
    """Compute a boolean node and return whether an element is true."""
    if condition.signature.queue is None:
        return bool(condition.data)
    axes = tuple(range(len(condition.signature.shape)))
    return bool(to_host(wrap(graph.reduce("logical_or", (BOOL, BOOL), axes, (condition,)) if axes else condition)))


def select(mask: Node, value: Node, other: Node) -> Node:
    """Record ``where(mask, value, other)`` over values of one dtype."""
    dtype = value.signature.dtype
    return graph.map_node("where", (BOOL, dtype, dtype, dtype), (mask, value, other))


def check_shape(out: Output, shape: Shape) -> None:
    """Raise `ValueError` unless `out` has the broadcast shape."""
    if out.shape != shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {_shape_text(out.shape)} doesn't match the broadcast shape "
            f"{_shape_text(shape)}"
        )


def _shape_text(shape: Shape) -> str:
    """Return a shape as NumPy's messages print it."""
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def write_to_output(out: Output, value: Node, mask: Node | None = None) -> Any:
    """Write the value, cast to the dtype of `out`, into `out` where the mask is true; the caller has checked the cast.

    Returns the array that the user passed, which may be a NumPy array.
    """
    if isinstance(out, ndarray) and not out.writeable:
        raise ValueError("output array is read-only")
    value = cast_with_warning(value, out.dtype)
    with one_step(out):
        if mask is not None:
            old_value = out.value() if isinstance(out, ndarray) else as_node(out.array, value.signature.queue)
            value = select(mask, value, old_value)
        out.assign(value)
    return out if isinstance(out, ndarray) else out.array


def take_value(array: ndarray) -> Node:
    """Return the value of a temporary array that nothing else references, ready to get another owner."""
    node = array.value()
    if node.owner is not None and array._base is None:
        node.owner = None
    return node


def in_order(array: ndarray, order: str) -> ndarray:
    """Return a result in the memory order `order`, "C" or "F"."""
    ndim = array.ndim
    if order == "C":
        return array if array._base is None else wrap(array.value())
    reverse = tuple(range(ndim))[::-1]
    current = array.layout
    if ndim < 2 or layout.is_f_contiguous(current.shape, current.strides):
        return array
    return wrap_ordered(transposed(array.value(), reverse), reverse)
