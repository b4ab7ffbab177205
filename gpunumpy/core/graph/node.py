"""The nodes of the expression graph, with one constructor function for each of the twelve primitives.

A constructor finds the signature of its node by the signatures of the arguments: one look-up replaces broadcasting and
interning when an equal node is made again.
"""

from __future__ import annotations

import weakref
from bisect import bisect_right
from collections.abc import Sequence
from math import prod
from typing import Any, Literal

import numpy

from .._native import compiled, tried_first
from ..dtypes import DType
from . import layout
from .bounded_table import BoundedTable
from .layout import Layout, Shape
from .library_calls.record import Results
from .library_calls.registry import results_of
from .primitives import Const, Gather, Iota, Leaf, LibraryCall, Map, Output, Reduce, Scan, Scatter, Update, View
from .queue import Queue
from .signature import Signature, intern_signature, objects_of_core, outputs

# Signatures of nodes by what the nodes are made from: the class of the primitive, then signatures, tuples and dtypes.
# Such a key is hashed in less time than it takes to make a primitive.
_signatures: BoundedTable[tuple[Any, ...], Signature] = BoundedTable()


@compiled
class Node:
    """A value of the graph.

    `data` is the buffer (a computed value), the scalar (a Const) or None (pending). Computing a pending node turns the
    same object into a leaf, so every holder sees it computed. `owner` refers to the array that owns the node, if any.

    Set for some nodes only: `offset`, the position of a leaf's lowest element in its buffer, in elements;
    `source_location`, the user's line that recorded an operation that can fail on its data.
    """

    __slots__ = ("args", "data", "offset", "owner", "signature", "source_location")

    signature: Signature
    args: tuple[Node, ...]
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
    """Return a window of a buffer as a node; `where` counts elements of `dtype`."""
    shape, strides, offset = where
    low = offset if not strides or min(strides) >= 0 else where.low()
    aligned = (buffer.phase + low * dtype.itemsize) % queue.alignment == 0
    return leaf_node(leaf_signature(shape, strides, offset - low, aligned, dtype, queue), buffer, low)


def leaf_signature(
    shape: Shape, strides: tuple[int, ...], origin: int, aligned: bool, dtype: DType, queue: Queue | None
) -> Signature:
    """Return the signature of a leaf; see `Leaf` for what its primitive is made of."""
    key = Leaf, shape, strides, origin, aligned, dtype, queue
    signature = _signatures.find(key)
    if signature is None:
        layout.check_size(shape, dtype.itemsize)
        signature = _signatures.keep(key, Signature(Leaf(strides, origin, aligned), (), shape, dtype, queue))
    return signature


@tried_first
def computed_signature(pending: Signature) -> Signature:
    """Return the signature of the leaf that a pending value becomes: in C order, at the beginning of a buffer."""
    shape = pending.shape
    return leaf_signature(shape, layout.c_strides(shape), 0, True, pending.dtype, pending.queue)


def leaf_layout(node: Node) -> Layout:
    """Return the layout of a leaf in its buffer."""
    primitive = node.signature.primitive
    assert isinstance(primitive, Leaf)
    return Layout(node.signature.shape, primitive.strides, node.offset + primitive.origin)


# --- scalars ----------------------------------------------------------------------------------------------------------

_WEAK_DTYPE = {"bool": numpy.bool_, "float": numpy.float64, "complex": numpy.complex128}


def _weak_scalar(weak: str, dtype: Any) -> Signature:
    return intern_signature(Const(weak), (), (), numpy.dtype(dtype), None)


_BOOL, _FLOAT, _COMPLEX = (_weak_scalar(name, dtype) for name, dtype in _WEAK_DTYPE.items())
# Python integers have a signature for each range between these edges: the range decides which dtypes can hold the
# integer, and so which operations NumPy refuses.
_INT_EDGES = (-(2**63), -(2**31), -(2**15), -(2**7), 0, 2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**63, 2**64)
_INTS = (
    *[_weak_scalar(f"int:below {edge}", numpy.int64) for edge in _INT_EDGES[:-1]],
    _weak_scalar("int:uint64", numpy.uint64),
    _weak_scalar("int:beyond", numpy.int64),
)
_INT_BELOW_128 = _INTS[5]


def scalar(value: bool | int | float | complex) -> Node:
    """Return a Python scalar, weak in type promotion, as a node."""
    kind = type(value)
    if kind is float:
        return Node(_FLOAT, (), value)
    if kind is int:
        if 0 <= value <= 127:  # type: ignore[operator]
            return Node(_INT_BELOW_128, (), value)
        return Node(_INTS[bisect_right(_INT_EDGES, value)], (), value)  # type: ignore[type-var]
    if kind is bool:
        return Node(_BOOL, (), value)
    return Node(_COMPLEX, (), value)


def typed_scalar(value: Any, dtype: DType) -> Node:
    """Return a NumPy scalar, or a Python scalar with a fixed dtype, as a node."""
    key = Const, dtype
    signature = _signatures.find(key) or _signatures.keep(key, intern_signature(Const(""), (), (), dtype, None))
    return Node(signature, (), value.item() if hasattr(value, "item") else value)


# --- operations and views ---------------------------------------------------------------------------------------------


def common_queue(signatures: Sequence[Signature]) -> Queue | None:
    """Return the queue of all arguments, or None for scalars alone. Raise ValueError if they are on two devices."""
    queue: Queue | None = None
    for signature in signatures:
        if signature.queue is not None and signature.queue is not queue:
            if queue is not None:
                raise two_devices(queue, signature.queue)
            queue = signature.queue
    return queue


def two_devices(queue: Queue, other: Queue) -> ValueError:
    """Return the error for operands of two queues."""
    return ValueError(f"operands are on two devices, {queue.device} and {other.device}; move one with to_device()")


def map_node(op: str, loop: tuple[DType, ...], args: Sequence[Node]) -> Node:
    """Return an elementwise operation over the arguments, broadcast. `loop` must be a loop of the op."""
    args = tuple(args)
    signatures = tuple([a.signature for a in args])
    key = Map, op, loop, signatures
    signature = _signatures.find(key)
    if signature is None:
        shape = layout.broadcast_shapes(*(s.shape for s in signatures))
        result = intern_signature(Map(op, loop), signatures, shape, loop[-1], common_queue(signatures))
        signature = _signatures.keep(key, result)
    return Node(signature, args)


def cast(node: Node, dtype: DType) -> Node:
    """Return the value in another dtype: the node itself if it has that dtype and is not a weak scalar."""
    source = node.signature
    primitive = source.primitive
    if source.dtype == dtype and not (type(primitive) is Const and primitive.weak):
        return node
    key = Map, source, dtype
    signature = _signatures.find(key)
    if signature is None:
        result = intern_signature(Map("cast", (source.dtype, dtype)), (source,), source.shape, dtype, source.queue)
        signature = _signatures.keep(key, result)
    return Node(signature, (node,))


def iota(shape: Shape, axis: int, queue: Queue) -> Node:
    """Return the int64 index of every element of a shape along an axis."""
    return Node(intern_signature(Iota(axis), (), shape, numpy.dtype(numpy.int64), queue), ())


class _LeafWindow:
    """How `view` shows a leaf of some signature: a leaf that begins `step` elements after it, laid out as `inner`."""

    __slots__ = ("_inner", "_leaves", "_source", "step")

    def __init__(self, inner: Layout, source: Signature) -> None:
        self._leaves: list[Signature | None] = [None, None]  # with lowest elements that are not aligned, and that are
        self._inner, self._source = inner, source
        self.step = inner.low()

    def leaf(self, aligned: bool) -> Signature:
        """Return the signature of the view of a leaf."""
        signature = self._leaves[aligned]
        if signature is None:
            (shape, strides, offset), source = self._inner, self._source
            signature = leaf_signature(shape, strides, offset - self.step, aligned, source.dtype, source.queue)
            self._leaves[aligned] = signature
        return signature


# How values are shown, by signature, layout and `merges`: False if unchanged; the signature of a view, over the value
# or, if that is a view, over its argument; or how a leaf is shown.
_windows: BoundedTable[tuple[Signature, Layout, bool], Signature | _LeafWindow | Literal[False]] = BoundedTable()


@tried_first
def view(node: Node, where: Layout) -> Node:
    """Return the elements of a value that a layout selects from its C order."""
    data, source, args = consistent_state(node)
    # The value of an array is not looked into: a flush of another thread or of a signal handler may compute it, and
    # then overwrite what it was computed from, before an array has the new view.
    merges = data is not None or node.owner is None
    key = (source, where, merges)
    window = _windows.find(key)
    if window is None:
        window = _windows.keep(key, _window(source, where, merges))
    if window is False:
        return node
    if type(window) is Signature:
        if data is None or type(source.primitive) is Const:
            return Node(window, (node,) if window.args[0] is source else args)
        # No strides over this leaf give the view. A cast to the same dtype puts the elements in C order first: views
        # are not merged through a Map.
        return view(map_node("cast", (source.dtype, source.dtype), (node,)), where)
    offset = node.offset + window.step
    aligned = (data.phase + offset * source.dtype.itemsize) % source.queue.alignment == 0  # type: ignore[union-attr]
    return leaf_node(window.leaf(aligned), data, offset)


def leaf_node(signature: Signature, buffer: Any, offset: int) -> Node:
    """Return a leaf with this signature whose lowest element is at `offset`, in elements, of a buffer."""
    node = Node(signature, (), buffer)
    node.offset = offset
    return node


def consistent_state(node: Node) -> tuple[Any, Signature, tuple[Node, ...]]:
    """Return the data, the signature and the arguments of a node, consistent with one another.

    A thread that computes a node turns it into a leaf field by field: signature, data, arguments. A reader in between
    can find a leaf without data, or a pending node whose arguments are gone. The computing thread holds the queue's
    lock until all fields are set. A node that is wholly pending or wholly a leaf, as nearly all are, costs no lock.
    """
    data, signature, args = node.data, node.signature, node.args
    if data is None and (node.data is not None or type(signature.primitive) is Leaf):
        with signature.queue.lock:  # type: ignore[union-attr]
            data, signature, args = node.data, node.signature, node.args
    return data, signature, args


def _window(source: Signature, where: Layout, merges: bool) -> Signature | _LeafWindow | Literal[False]:
    """Return how a value with this signature is shown through a layout; see `_windows`.

    If `merges`, the view of a view is one view, of the argument.
    """
    shape = where.shape
    if shape == source.shape and where.offset == 0 and layout.is_c_contiguous(shape, where.strides):
        return False
    if 0 in shape:  # no elements, so any strides are right: zeros never lead outside of the argument
        where = Layout(shape, (0,) * len(shape), 0)
    primitive = source.primitive
    inner: Layout | None = where
    if merges and isinstance(primitive, (Leaf, View)):
        start = primitive.origin if isinstance(primitive, Leaf) else primitive.offset
        if layout.is_c_contiguous(source.shape, primitive.strides):
            inner = Layout(shape, where.strides, where.offset + start) if start else where
        else:
            inner = layout.compose(Layout(source.shape, primitive.strides, start), where)
        if inner is None and prod(shape) == prod(source.shape) and layout.is_c_contiguous(shape, where.strides):
            strides = layout.reshape_strides(source.shape, primitive.strides, shape)
            inner = None if strides is None else Layout(shape, strides, start)
        if inner is not None and isinstance(primitive, Leaf):
            return _LeafWindow(inner, source)
    nested = not merges or inner is None or not isinstance(primitive, View) or not _can_index(source.args[0], inner)
    args = (source,) if nested else source.args
    target = inner or where
    return intern_signature(View(target.strides, target.offset), args, shape, source.dtype, source.queue)


def _can_index(source: Signature, where: Layout) -> bool:
    """Return whether a layout over a value's C order can be read from it: a strided leaf needs an index map."""
    primitive = source.primitive
    if not isinstance(primitive, Leaf) or layout.is_c_contiguous(source.shape, primitive.strides):
        return True
    return layout.decompose(source.shape, where.strides, where.offset, where.shape) is not None


def broadcast(node: Node, shape: Shape) -> Node:
    """Return the value repeated over a shape, to which it must broadcast."""
    source = node.signature
    if source.shape == shape:
        return node
    return view(node, Layout(shape, layout.broadcast_strides(source.shape, layout.c_strides(source.shape), shape), 0))


def uninitialized(shape: Shape, dtype: DType, queue: Queue) -> Node:
    """Return a node of memory that is allocated and not written, which updates fill part by part."""
    return Node(intern_signature(LibraryCall("empty"), (), shape, dtype, queue), ())


@tried_first
def fill(value: Node, shape: Shape, queue: Queue) -> Node:
    """Return a scalar repeated over a shape, as a node of the queue's device that no array owns."""
    source = value.signature
    key = (View, source, shape, queue)
    signature = _signatures.find(key)
    if signature is None:
        result = intern_signature(View((0,) * len(shape), 0), (source,), shape, source.dtype, queue)
        signature = _signatures.keep(key, result)
    return Node(signature, (value,))


def may_be_owned(node: Node) -> bool:
    """Return whether a new array can have a node for its value: it is pending, no array's yet, and in C order.

    The memory order of what is made of an array follows from the order of its node's strides, and the array is in C
    order. Strides of a constant that is repeated decide nothing; those of other repeated elements would leave it to
    other operands.
    """
    if node.owner is not None or node.data is not None:
        return False
    signature = node.signature
    if type(signature.primitive) is not View or len(signature.shape) < 2:
        return True
    strides = signature.primitive.strides
    is_repeated = any(n != 1 and not s for n, s in zip(signature.shape, strides, strict=True))
    return not any(strides) or (not is_repeated and layout.is_c_ordered(signature.shape, strides))


def as_new_node(node: Node) -> Node:
    """Return the value as a new pending node, which gets a buffer of its own when it is computed."""
    source = node.signature
    key = (View, source)
    signature = _signatures.find(key)
    if signature is None:
        result = intern_signature(
            View(layout.c_strides(source.shape), 0), (source,), source.shape, source.dtype, source.queue
        )
        signature = _signatures.keep(key, result)
    return Node(signature, (node,))


@tried_first
def update(base: Node, region: Layout, value: Node) -> Node:
    """Return `base` with a region of its C order replaced by `value`, of the region's shape and the base's dtype."""
    key = (Update, base.signature, value.signature, region)
    signature = _signatures.find(key)
    if signature is None:
        target, signatures = base.signature, key[1:3]
        result = intern_signature(Update(region), signatures, target.shape, target.dtype, common_queue(signatures))
        signature = _signatures.keep(key, result)
    return Node(signature, (base, value))


def gather(base: Node, indices: Sequence[Node], source_location: str) -> Node:
    """Return ``base[indices]`` over the leading dimensions; the indices are int64 and broadcast."""
    args = (base, *indices)
    signatures = tuple([a.signature for a in args])
    signature = _signatures.find((Gather, signatures))
    if signature is None:
        shape = layout.broadcast_shapes(*(s.shape for s in signatures[1:])) + signatures[0].shape[len(indices) :]
        result = intern_signature(
            Gather(len(indices)), signatures, shape, signatures[0].dtype, common_queue(signatures)
        )
        signature = _signatures.keep((Gather, signatures), result)
    node = Node(signature, args)
    node.source_location = source_location
    return node


def scatter(base: Node, value: Node, indices: Sequence[Node], op: str, source_location: str) -> Node:
    """Return `base` after ``base[indices] = value``, or after ``ufunc.at`` if `op` names an op.

    `value` must broadcast to the shape that the gather with these indices has.
    """
    args = (base, value, *indices)
    signatures = tuple([a.signature for a in args])
    if None in [s.queue for s in signatures]:
        # A scatter runs as a library call, which takes all arguments from memory, scalars too.
        queue = common_queue(signatures)
        assert queue is not None
        args = tuple([fill(a, (), queue) if a.signature.queue is None else a for a in args])
        signatures = tuple([a.signature for a in args])
    key = Scatter, op, signatures
    signature = _signatures.find(key)
    if signature is None:
        target, primitive = signatures[0], Scatter(len(indices), op)
        result = intern_signature(primitive, signatures, target.shape, target.dtype, common_queue(signatures))
        signature = _signatures.keep(key, result)
    node = Node(signature, args)
    node.source_location = source_location
    return node


def reduce(op: str, loop: tuple[DType, ...], axes: tuple[int, ...], args: Sequence[Node]) -> Node:
    """Return the reduction of ``args[0]`` over `axes`, which the result does not have."""
    signatures = tuple(a.signature for a in args)
    shape = tuple(n for axis, n in enumerate(signatures[0].shape) if axis not in axes)
    return Node(
        intern_signature(Reduce(op, axes, loop), signatures, shape, loop[-1], common_queue(signatures)), tuple(args)
    )


def scan(op: str, loop: tuple[DType, ...], axis: int, arg: Node) -> Node:
    """Return the inclusive scan of a value along an axis."""
    return Node(
        intern_signature(Scan(op, axis, loop), (arg.signature,), arg.signature.shape, loop[-1], arg.signature.queue),
        (arg,),
    )


def library_call(
    name: str, options: tuple[Any, ...], args: Sequence[Node], result: tuple[Shape, DType] | None = None
) -> Node:
    """Return the only output of a library call, in C order.

    Its shape and dtype are `result`, or follow from the record of the call if `result` is None.
    """
    signatures = tuple([a.signature for a in args])
    key = (LibraryCall, name, options, signatures, result)
    signature = _signatures.find(key)
    if signature is None:
        primitive = LibraryCall(name, options)
        ((shape, dtype),) = _results(primitive, signatures, None if result is None else (result,))
        signature = _signatures.keep(
            key, intern_signature(primitive, signatures, shape, dtype, common_queue(signatures))
        )
    return Node(signature, tuple(args))


def library_call_outputs(
    name: str, options: tuple[Any, ...], args: Sequence[Node], results: Results | None = None
) -> list[Node]:
    """Return all outputs of a library call with several, each in C order. `results` is as in `library_call`."""
    signatures = tuple([a.signature for a in args])
    key = (Output, name, options, signatures, results)
    signature = _signatures.find(key)
    if signature is None:
        primitive = LibraryCall(name, options, _results(LibraryCall(name, options), signatures, results))
        call = intern_signature(primitive, signatures, (), primitive.results[0][1], common_queue(signatures))
        signature = _signatures.keep(key, call)
    node = Node(signature, tuple(args))
    return [Node(output, (node,)) for output in outputs(signature)]


def output(call: Node, number: int) -> Node:
    """Return an output of a library call with several."""
    return Node(outputs(call.signature)[number], (call,))


def _results(call: LibraryCall, args: Sequence[Signature], given: Results | None) -> Results:
    """Return the shapes and dtypes of the outputs: those given, or those that follow from the record.

    Raises
    ------
    LookupError
        If the call has no record.
    TypeError
        If they are neither given nor follow from the record.
    """
    derived = results_of(call, args)
    results = derived if given is None else given
    if results is None:
        raise TypeError(f"the shapes and dtypes of {call.name!r} do not follow from its arguments")
    return results


def tables_of_core() -> dict[str, Any]:
    """Return what the compiled core finds nodes with, by the names that it has for them."""
    return {
        **objects_of_core(),
        "windows": _windows.find.__self__,  # type: ignore[attr-defined]
        "signatures": _signatures.find.__self__,  # type: ignore[attr-defined]
        "view": view,
        "update": update,
        "as_new_node": as_new_node,
        "scalar": scalar,
        "typed_scalar": typed_scalar,
        "of_bool": _BOOL,
        "of_float": _FLOAT,
        "of_int_below_128": _INT_BELOW_128,
    }
