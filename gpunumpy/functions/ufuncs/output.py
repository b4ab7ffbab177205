"""Where the results of ufuncs go: `out` arguments, `where` masks, casts that the user is told of."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy

from ...core import dtypes
from ...core.dtypes import BOOL, DType
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape
from ...core.graph.node import Node
from ...core.graph.queue import Queue
from ...core.recording.array import READ_ONLY, is_scalar, ndarray, to_host, wrap, wrap_ordered
from ...core.recording.record import as_node, check_class, transposed


class HostOutput:
    """A NumPy array that a result goes to, in the place of an array of ours: it has what is asked of an `out`."""

    __slots__ = ("array", "dtype", "shape")

    # Nowhere: what is computed for it stays where its operands are.
    device = None

    def __init__(self, array: Any) -> None:
        check_class(array)
        if not array.flags.writeable:
            raise ValueError("output array is read-only")
        self.array = array
        self.dtype = dtypes.of_data(array.dtype)
        self.shape: Shape = array.shape

    @property
    def layout(self) -> Layout:
        """Shape and strides, in elements."""
        return Layout(self.shape, tuple(s // max(1, self.array.itemsize) for s in self.array.strides), 0)

    def assign(self, value: Node) -> None:
        """Compute the value and copy it into the array."""
        numpy.copyto(self.array, to_host(wrap(graph.broadcast(value, self.shape))))


Output = ndarray | HostOutput


def outputs(out: Any, count: int) -> tuple[Any, ...]:
    """The `out` argument of a ufunc as one array (`Output`) or None for each of its `count` results."""
    if out is None:
        return (None,) * count
    if not isinstance(out, tuple):
        if count > 1 and isinstance(out, (ndarray, numpy.ndarray)):
            raise TypeError("'out' must be a tuple of arrays")
        out = (out,)
    if len(out) != count:
        raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
    return tuple(map(_output, out))


def _output(array: Any) -> Output | None:
    if array is None or is_array(array) or isinstance(array, HostOutput):
        return array
    if isinstance(array, numpy.ndarray):
        return HostOutput(array)
    raise TypeError(f"return arrays must be of ArrayType, which {type(array).__name__!r} is not")


def output(out: Any) -> Any:
    """The `out` argument of a function with one result, or None."""
    return outputs(out, 1)[0]


def in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that writes to its first argument; where that is a NumPy array, it is NumPy's of the same name."""
    theirs = getattr(numpy, function.__name__)
    first = next(iter(signature(function).parameters))

    @wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        target = args[0] if args else options.get(first)
        if isinstance(target, numpy.ndarray):
            return theirs(*hosted(args), **{name: hosted(value) for name, value in options.items()})
        if not is_array(target):
            what = "the 0-d result of an operation" if isinstance(target, ndarray) else type(target).__name__
            raise TypeError(f"argument 1 must be an array, not {what}")
        return function(*args, **options)

    return run


def hosted(x: Any) -> Any:
    """What NumPy's functions take: arrays of ours, and those in tuples and lists, as NumPy arrays."""
    if isinstance(x, ndarray):
        return to_host(x)
    return type(x)(map(hosted, x)) if type(x) in (tuple, list) else x


def is_array(x: Any) -> bool:
    """Whether `x` can be written: one of our arrays, and not a 0-d result, which acts as a scalar."""
    return isinstance(x, ndarray) and not is_scalar(x)


def mask_node(where: Any, queue: Queue | None = None) -> Node:
    """The `where` argument as a value of dtype bool; host data goes to the device of `queue`."""
    if hasattr(where, "dtype"):
        if where.dtype != BOOL:
            raise TypeError(
                f"Cannot cast array data from {where.dtype!r} to dtype('bool') according to the rule 'safe'"
            )
    else:
        where = numpy.asarray(where, BOOL)
    return as_node(where, queue)


def select(mask: Node, value: Node, other: Node) -> Node:
    """``where(mask, value, other)`` over values of one dtype."""
    dtype = value.signature.dtype
    return graph.map_node("where", (BOOL, dtype, dtype, dtype), (mask, value, other))


def check_shape(out: Output, shape: Shape) -> None:
    """Refuse an `out` that has not the broadcast shape."""
    if out.shape != shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {_words(out.shape)} doesn't match the broadcast shape "
            f"{_words(shape)}"
        )


def _words(shape: Shape) -> str:
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def told_cast(node: Node, dtype: DType) -> Node:
    """The value in another dtype; a lost imaginary part is told of."""
    if node.signature.dtype.kind == "c" and dtype.kind not in "cb":
        warnings.warn(
            "Casting complex values to real discards the imaginary part", numpy.exceptions.ComplexWarning, stacklevel=4
        )
    return graph.cast(node, dtype)


def write(out: Output, value: Node, mask: Node | None = None) -> Any:
    """Give `out` the value, in its dtype, where the mask allows; whether it may be cast was checked by the caller.

    The result is the array that the user gave, which may be one of NumPy's.
    """
    if isinstance(out, ndarray) and out._flags & READ_ONLY:
        raise ValueError("output array is read-only")
    value = told_cast(value, out.dtype)
    if mask is not None:
        kept = out.value() if isinstance(out, ndarray) else as_node(out.array, value.signature.queue)
        value = select(mask, value, kept)
    out.assign(value)
    return out if isinstance(out, ndarray) else out.array


def release(array: ndarray) -> Node:
    """The value of a temporary array that nobody else holds, free to be given to another owner."""
    node = array.value()
    if node.owner is not None and array._base is None:
        node.owner = None
    return node


def in_order(array: ndarray, order: str) -> ndarray:
    """A result in memory order "C" or "F"."""
    ndim = array.ndim
    if order == "C":
        return array if array._base is None else wrap(array.value())
    reverse = tuple(range(ndim))[::-1]
    where = array.layout
    if ndim < 2 or layout.is_f(where.shape, where.strides):
        return array
    return wrap_ordered(transposed(array.value(), reverse), reverse)
