"""The nodes of the expression graph, and how each of the twelve primitives is made into one.

A node's signature is found by the signatures of its arguments: one look-up replaces broadcasting and interning when the
same is made a second time.
"""

from __future__ import annotations

import weakref
from bisect import bisect_right
from collections.abc import Sequence
from math import prod
from typing import Any, Literal, NamedTuple

import numpy

from ..dtypes import DType
from . import layout
from .bounded_table import BoundedTable
from .layout import Layout, Shape
from .library_calls.record import Results
from .library_calls.registry import results_of
from .primitives import Const, Gather, Iota, Leaf, LibraryCall, Map, Output, Reduce, Scan, Scatter, Update, View
from .queue import Queue
from .signature import Signature, outputs, signature

# Signatures by what they are made from: the class of the primitive, then signatures, tuples and dtypes, which are
# quicker to hash than a primitive is to make.
_made: BoundedTable[tuple[Any, ...], Signature] = BoundedTable()


class Node:
    """A value of the graph.

    `data` is the buffer (a computed value), the scalar (a Const) or None (pending). Computing a pending node turns it
    into a leaf in place, for all who hold it. `offset` is the lowest element of a leaf in its buffer. `site` tells
    where an operation that can fail on its data was recorded. `bound` is what kernels take for a leaf, once one has.
    """

    __slots__ = ("args", "bound", "data", "offset", "owner", "signature", "source_location")

    signature: Signature
    args: tuple[Node, ...]
    bound: Any
    data: Any
    offset: int
    owner: weakref.ref[Any] | None
    source_location: str

    def __init__(self, signature: Signature, args: tuple[Node, ...], data: Any = None) -> None:
        self.signature = signature
        self.args = args
        self.data = data
        self.owner = None


def leaf(buffer: Any, dtype: DType, where: Layout, queue: Queue) -> Node:
    """A window of a buffer as a value; `where` in elements of `dtype`."""
    shape, strides, offset = where
    low = offset if not strides or min(strides) >= 0 else where.low()
    aligned = (buffer.ptr + low * dtype.itemsize) % 16 == 0
    key = Leaf, shape, strides, offset - low, aligned, dtype, queue
    made = _made.find(key)
    if made is None:
        made = _made.keep(key, signature(Leaf(strides, offset - low, aligned), (), shape, dtype, queue))
    return leaf_node(made, buffer, low)


def leaf_layout(node: Node) -> Layout:
    """The layout of a computed node in its buffer."""
    primitive = node.signature.primitive
    assert isinstance(primitive, Leaf)
    return Layout(node.signature.shape, primitive.strides, node.offset + primitive.origin)


# scalars

_WEAK_DTYPE = {"bool": numpy.bool_, "float": numpy.float64, "complex": numpy.complex128}


def _weak(weak: str, dtype: Any) -> Signature:
    return signature(Const(weak), (), (), numpy.dtype(dtype), None)


_BOOL, _FLOAT, _COMPLEX = (_weak(name, dtype) for name, dtype in _WEAK_DTYPE.items())
# Python integers are told apart by sign and size, which decide what dtypes hold one, and so what NumPy refuses.
_INT_EDGES = (-(2**63), -(2**31), -(2**15), -(2**7), 0, 2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**63, 2**64)
_INTS = (
    *[_weak(f"int:below {edge}", numpy.int64) for edge in _INT_EDGES[:-1]],
    _weak("int:uint64", numpy.uint64),
    _weak("int:beyond", numpy.int64),
)
_INT_SMALL = _INTS[5]


def scalar(value: bool | int | float | complex) -> Node:
    """A Python scalar as a value (weak in type promotion)."""
    kind = type(value)
    if kind is float:
        return Node(_FLOAT, (), value)
    if kind is int:
        if 0 <= value <= 127:  # type: ignore[operator]
            return Node(_INT_SMALL, (), value)
        return Node(_INTS[bisect_right(_INT_EDGES, value)], (), value)  # type: ignore[type-var]
    if kind is bool:
        return Node(_BOOL, (), value)
    return Node(_COMPLEX, (), value)


def typed_scalar(value: Any, dtype: DType) -> Node:
    """A scalar of a dtype (a NumPy scalar) as a value."""
    key = Const, dtype
    made = _made.find(key) or _made.keep(key, signature(Const(""), (), (), dtype, None))
    return Node(made, (), value.item() if hasattr(value, "item") else value)


# making nodes


def common_queue(signatures: Sequence[Signature]) -> Queue | None:
    """The queue of all the arguments; ValueError where they live on two devices."""
    found: Queue | None = None
    for f in signatures:
        if f.queue is not None and f.queue is not found:
            if found is not None:
                raise ValueError(
                    f"operands are on two devices, {found.device} and {f.queue.device}; move one with to_device()"
                )
            found = f.queue
    return found


def map_node(op: str, loop: tuple[DType, ...], args: Sequence[Node]) -> Node:
    """The elementwise operation over the arguments, broadcast; `loop` was resolved by the caller."""
    args = tuple(args)
    signatures = tuple([a.signature for a in args])
    key = Map, op, loop, signatures
    made = _made.find(key)
    if made is None:
        shape = layout.broadcast_shapes(*(f.shape for f in signatures))
        made = _made.keep(key, signature(Map(op, loop), signatures, shape, loop[-1], common_queue(signatures)))
    return Node(made, args)


def cast(node: Node, dtype: DType) -> Node:
    """The value in another dtype."""
    f = node.signature
    primitive = f.primitive
    if f.dtype == dtype and not (type(primitive) is Const and primitive.weak):
        return node
    key = Map, f, dtype
    made = _made.find(key)
    if made is None:
        made = _made.keep(key, signature(Map("cast", (f.dtype, dtype)), (f,), f.shape, dtype, f.queue))
    return Node(made, (node,))


def iota(shape: Shape, axis: int, queue: Queue) -> Node:
    """The int64 index along an axis, over a shape."""
    return Node(signature(Iota(axis), (), shape, numpy.dtype(numpy.int64), queue), ())


class _Window(NamedTuple):
    """What `view` makes of a value of some signature through a layout.

    A window of a buffer begins `step` elements after the node's own; its signature depends on whether it is `aligned`.
    Of a pending value it is a node of that signature over the node (`nested`), or over what the node is a view of.
    """

    signature: Signature
    odd: Signature
    step: int
    nested: bool


# Windows by signature and layout; False where the value is seen as it is.
_windows: BoundedTable[tuple[Signature, Layout], _Window | Literal[False]] = BoundedTable()


def view(node: Node, where: Layout) -> Node:
    """Elements of a value by an affine map over its C order."""
    data, f, args = state(node)
    key = (f, where)
    window = _windows.find(key)
    if window is None:
        window = _windows.keep(key, _window(f, where))
    if window is False:
        return node
    if data is None or type(f.primitive) is Const:
        return Node(window.signature, (node,) if window.nested else args)
    if window.nested:
        # No strides over this leaf would do: its elements in C order first, as an expression that views do not look
        # through.
        return view(map_node("cast", (f.dtype, f.dtype), (node,)), where)
    offset = node.offset + window.step
    aligned = (data.ptr + offset * f.dtype.itemsize) % 16 == 0
    return leaf_node(window.signature if aligned else window.odd, data, offset)


def leaf_node(signature: Signature, buffer: Any, offset: int) -> Node:
    """The leaf of a signature whose lowest element is at an offset of a buffer."""
    node = Node(signature, (), buffer)
    node.offset = offset
    node.bound = None
    return node


def state(node: Node) -> tuple[Any, Signature, tuple[Node, ...]]:
    """The data, the signature and the arguments of a node, as they belong together.

    A thread that computes a node turns it into a leaf, field by field: the signature, the data, the arguments. Whoever
    looks meanwhile can find a leaf without data, or arguments already gone of what looked pending; the queue's lock is
    free when all of it is done. A node that is wholly pending or wholly a leaf, as nearly all are, costs no lock.
    """
    data, signature, args = node.data, node.signature, node.args
    if data is None and (node.data is not None or type(signature.primitive) is Leaf):
        with signature.queue.lock:  # type: ignore[union-attr]
            data, signature, args = node.data, node.signature, node.args
    return data, signature, args


def _window(f: Signature, where: Layout) -> _Window | Literal[False]:
    """How a value of a signature is seen through a layout; False where it is the same."""
    shape = where.shape
    if shape == f.shape and where.offset == 0 and layout.is_c(shape, where.strides):
        return False
    if 0 in shape:  # no element: any strides are right, and zeros stay inside whatever is below
        where = Layout(shape, (0,) * len(shape), 0)
    primitive = f.primitive
    inner: Layout | None = where
    if isinstance(primitive, (Leaf, View)):
        start = primitive.origin if isinstance(primitive, Leaf) else primitive.offset
        if layout.is_c(f.shape, primitive.strides):
            inner = Layout(shape, where.strides, where.offset + start)
        else:
            inner = layout.compose(Layout(f.shape, primitive.strides, start), where)
        if inner is None and prod(shape) == prod(f.shape) and layout.is_c(shape, where.strides):
            strides = layout.reshape_strides(f.shape, primitive.strides, shape)
            inner = None if strides is None else Layout(shape, strides, start)
    if isinstance(primitive, Leaf) and inner is not None:
        low = inner.low()
        signatures = [
            signature(Leaf(inner.strides, inner.offset - low, a), (), shape, f.dtype, f.queue) for a in (True, False)
        ]
        return _Window(signatures[0], signatures[1], low, False)
    nested = inner is None or not isinstance(primitive, View) or not _reaches(f.args[0], inner)
    args = (f,) if nested else f.args
    seen = inner or where
    made = signature(View(seen.strides, seen.offset), args, shape, f.dtype, f.queue)
    return _Window(made, made, 0, nested)


def _reaches(f: Signature, where: Layout) -> bool:
    """Whether a layout over the C order of a form can be read from it: a leaf with strides needs an index map."""
    primitive = f.primitive
    if not isinstance(primitive, Leaf) or layout.is_c(f.shape, primitive.strides):
        return True
    return layout.decompose(f.shape, where.strides, where.offset, where.shape) is not None


def broadcast(node: Node, shape: Shape) -> Node:
    """The value repeated over a shape that it broadcasts to."""
    f = node.signature
    if f.shape == shape:
        return node
    return view(node, Layout(shape, layout.broadcast_strides(f.shape, layout.c_strides(f.shape), shape), 0))


def fill(value: Node, shape: Shape, queue: Queue) -> Node:
    """A scalar repeated over a shape, as a value of a device that no array owns."""
    f = value.signature
    key = (View, f, shape, queue)
    made = _made.find(key)
    if made is None:
        made = _made.keep(key, signature(View((0,) * len(shape), 0), (f,), shape, f.dtype, queue))
    return Node(made, (value,))


def fresh(node: Node) -> Node:
    """The value as a node that will have a buffer of its own."""
    f = node.signature
    key = (View, f)
    made = _made.find(key)
    if made is None:
        made = _made.keep(key, signature(View(layout.c_strides(f.shape), 0), (f,), f.shape, f.dtype, f.queue))
    return Node(made, (node,))


def update(base: Node, region: Layout, value: Node) -> Node:
    """The base with a region (over its C order) replaced by `value`, which has the region's shape and base's dtype."""
    key = (Update, base.signature, value.signature, region)
    made = _made.find(key)
    if made is None:
        signatures = key[1:3]
        made = _made.keep(
            key,
            signature(Update(region), signatures, signatures[0].shape, signatures[0].dtype, common_queue(signatures)),
        )
    return Node(made, (base, value))


def gather(base: Node, indices: Sequence[Node], source_location: str) -> Node:
    """``base[indices]`` over the leading dimensions; the indices are int64 and broadcast together."""
    args = (base, *indices)
    signatures = tuple([a.signature for a in args])
    made = _made.find((Gather, signatures))
    if made is None:
        shape = layout.broadcast_shapes(*(f.shape for f in signatures[1:])) + signatures[0].shape[len(indices) :]
        primitive = Gather(len(indices))
        made = _made.keep(
            (Gather, signatures), signature(primitive, signatures, shape, signatures[0].dtype, common_queue(signatures))
        )
    node = Node(made, args)
    node.source_location = source_location
    return node


def scatter(base: Node, value: Node, indices: Sequence[Node], op: str, source_location: str) -> Node:
    """``base[indices] = value`` (or ``row.at``); value broadcasts to the shape that a gather would have."""
    queue = common_queue([base.signature, value.signature, *(i.signature for i in indices)])
    assert queue is not None
    # A routine takes its arguments from memory, scalars too.
    args = [fill(a, (), queue) if a.signature.queue is None else a for a in (base, value, *indices)]
    signatures = tuple(a.signature for a in args)
    node = Node(
        signature(Scatter(len(indices), op), signatures, base.signature.shape, base.signature.dtype, queue), tuple(args)
    )
    node.source_location = source_location
    return node


def reduce(op: str, loop: tuple[DType, ...], axes: tuple[int, ...], args: Sequence[Node]) -> Node:
    """The reduction of ``args[0]`` over `axes`, which disappear."""
    signatures = tuple(a.signature for a in args)
    shape = tuple(n for axis, n in enumerate(signatures[0].shape) if axis not in axes)
    return Node(signature(Reduce(op, axes, loop), signatures, shape, loop[-1], common_queue(signatures)), tuple(args))


def scan(op: str, loop: tuple[DType, ...], axis: int, arg: Node) -> Node:
    """The inclusive scan of a value along an axis."""
    return Node(
        signature(Scan(op, axis, loop), (arg.signature,), arg.signature.shape, loop[-1], arg.signature.queue), (arg,)
    )


def library_call(
    name: str, options: tuple[Any, ...], args: Sequence[Node], result: tuple[Shape, DType] | None = None
) -> Node:
    """The one output of a library call over computed arguments, in C order.

    Its shape and dtype follow from the record of the call, unless they are given.
    """
    signatures = tuple([a.signature for a in args])
    key = (LibraryCall, name, options, signatures, result)
    made = _made.find(key)
    if made is None:
        primitive = LibraryCall(name, options)
        ((shape, dtype),) = _results(primitive, signatures, None if result is None else (result,))
        made = _made.keep(key, signature(primitive, signatures, shape, dtype, common_queue(signatures)))
    return Node(made, tuple(args))


def library_call_outputs(
    name: str, options: tuple[Any, ...], args: Sequence[Node], results: Results | None = None
) -> list[Node]:
    """The outputs of a library call over computed arguments, all in C order; as for `library_call`."""
    signatures = tuple([a.signature for a in args])
    key = (Output, name, options, signatures, results)
    made = _made.find(key)
    if made is None:
        primitive = LibraryCall(name, options, _results(LibraryCall(name, options), signatures, results))
        made = _made.keep(key, signature(primitive, signatures, (), primitive.results[0][1], common_queue(signatures)))
    node = Node(made, tuple(args))
    return [Node(output, (node,)) for output in outputs(made)]


def _results(call: LibraryCall, args: Sequence[Signature], given: Results | None) -> Results:
    """The shapes and dtypes of the outputs; LookupError for a call that has no record."""
    follow = results_of(call, args)
    results = follow if given is None else given
    if results is None:
        raise TypeError(f"the shapes and dtypes of {call.name!r} do not follow from its arguments")
    return results
