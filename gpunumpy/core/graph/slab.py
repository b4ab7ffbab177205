"""Slabs: a part of a value, from one index to another along an axis, as an expression over parts of its operands.

What is cut is the graph: a slab of a sum is the sum of slabs. So a value that a device has no room for can be computed
piece by piece, each of which reads what it needs and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from math import inf, prod
from typing import Any, NamedTuple, TypeAlias

import numpy

from . import layout
from .layout import Layout, Shape
from .library_calls.record import CutAxes
from .library_calls.registry import record_of, results_of
from .node import (
    Node,
    fill,
    gather,
    iota,
    library_call,
    library_call_outputs,
    map_node,
    output,
    reduce,
    scan,
    typed_scalar,
    uninitialized,
    update,
    view,
)
from .primitives import Const, Gather, Iota, LibraryCall, Map, Output, Reduce, Scan, Update, View

_INT64 = numpy.dtype(numpy.int64)


class Slab(NamedTuple):
    """The indices from `start` to before `stop` along an axis of a value."""

    node: Node
    axis: int
    start: int
    stop: int

    @property
    def shape(self) -> Shape:
        """The shape of the slab."""
        return _with_extent(self.node.signature.shape, self.axis, self.stop - self.start)


# Asks for slabs of operands, is sent their nodes, and returns the node of a slab.
_Maker: TypeAlias = Generator[Slab, Node, Node]


class Cut:
    """Slabs of pending values, with what they have in common made once.

    Attributes
    ----------
    whole
        Pending reductions and calls that slabs need as they are: with these computed first, slabs read leaves alone.
    window_bytes
        What slabs read of those of which they read windows.

    Parameters
    ----------
    most_bytes
        Of which elements at indices are taken by slabs; those of larger values are taken before, all of them. A value
        of which a slab would need a longer stretch for a window of it is computed before too.
    """

    def __init__(self, most_bytes: float = inf) -> None:
        self._most_bytes = most_bytes
        self.whole: dict[Node, None] = {}
        self.window_bytes: dict[Node, int] = {}
        self._seen: set[Node] = set()
        self._made: dict[Slab, Node] = {}

    def slab(self, wanted: Slab) -> Node:
        """Return the node of a slab."""
        made = self._made
        # A list of makers, as a graph may be deeper than Python's stack.
        makers = [(wanted, self._maker(wanted))]
        answer: Any = None
        while makers:
            slab, maker = makers[-1]
            try:
                asked = maker.send(answer)
            except StopIteration as end:
                answer = made[slab] = end.value
                makers.pop()
                continue
            answer = made.get(asked)
            if answer is None:
                makers.append((asked, self._maker(asked)))
        return made[wanted]

    def _maker(self, slab: Slab) -> _Maker:
        node = slab.node
        if slab.shape == node.signature.shape:
            return self._all_of(node)
        if node.data is not None:
            return self._window(node, slab)
        return _MAKERS.get(type(node.signature.primitive), Cut._window_of_whole)(self, slab)

    def as_it_is(self, node: Node) -> Node:
        """Return a node of which slabs need everything, and note what of it is no elementwise work over leaves."""
        stack = [node]
        while stack:
            inner = stack.pop()
            if inner.data is None and inner not in self._seen:
                self._seen.add(inner)
                if isinstance(inner.signature.primitive, (Map, View, Update)):
                    stack += inner.args
                elif not inner.signature.generator:
                    self.whole[inner] = None
        return node

    def in_memory(self, node: Node) -> Node:
        """Return a node that a call takes as it is: what it is made of is in memory, also if it is elementwise work."""
        inner = node
        while inner.data is None and isinstance(inner.signature.primitive, View):
            (inner,) = inner.args
        if inner.data is None and isinstance(inner.signature.primitive, (Map, Update)):
            self.whole[inner] = None
        return self.as_it_is(node)

    def _all_of(self, node: Node) -> _Maker:
        return self.as_it_is(node)
        yield

    def _window(self, node: Node, slab: Slab) -> _Maker:
        strides = layout.c_strides(node.signature.shape)
        return view(node, Layout(slab.shape, strides, slab.start * strides[slab.axis]))
        yield

    def _window_of_whole(self, slab: Slab) -> _Maker:
        node = self.as_it_is(slab.node)
        if node in self.whole:
            self._computed_before(node, slab.shape)
        return self._window(node, slab)

    def _is_long(self, slab: Slab) -> bool:
        """Return whether the slab of a pending value is too large to be computed for a window of it."""
        nbytes = prod(slab.shape) * slab.node.signature.dtype.itemsize
        return slab.node.data is None and nbytes > self._most_bytes

    def _computed_before(self, node: Node, window: Shape) -> Node:
        """Return a node that is computed before, all of it, and of which the slab reads a window of some shape."""
        self.whole[node] = None
        nbytes = prod(window) * node.signature.dtype.itemsize
        self.window_bytes[node] = self.window_bytes.get(node, 0) + nbytes
        return node

    def _broadcast(self, slab: Slab, args: Sequence[Node], ndim: int) -> Generator[Slab, Node, list[Node]]:
        """Return the parts of operands, broadcast to `ndim` dimensions, that the slab needs."""
        parts = []
        for arg in args:
            axis = slab.axis - ndim + len(arg.signature.shape)
            if axis < 0 or arg.signature.shape[axis] == 1:
                parts.append(self.as_it_is(arg))
            else:
                parts.append((yield Slab(arg, axis, slab.start, slab.stop)))
        return parts

    def _map(self, slab: Slab) -> _Maker:
        primitive = slab.node.signature.primitive
        assert isinstance(primitive, Map)
        parts = yield from self._broadcast(slab, slab.node.args, len(slab.node.signature.shape))
        return map_node(primitive.op, primitive.loop, parts)

    def _view(self, slab: Slab) -> _Maker:
        signature, (arg,) = slab.node.signature, slab.node.args
        primitive, source = signature.primitive, arg.signature
        assert isinstance(primitive, View)
        offset = primitive.offset + slab.start * primitive.strides[slab.axis]
        where = Layout(slab.shape, primitive.strides, offset)
        if type(source.primitive) is Const:
            assert signature.queue is not None
            return fill(arg, slab.shape, signature.queue)
        if not source.shape or 0 in slab.shape:
            return view(self.as_it_is(arg), where)
        if signature.index_map is None:
            # Elements in C order: those between the lowest and the highest position are rows of the argument.
            row = prod(source.shape[1:])
            start, stop = where.low() // row, where.high() // row + 1
            if self._is_long(Slab(arg, 0, start, stop)):
                return view(self._computed_before(arg, slab.shape), where)
            part = yield Slab(arg, 0, start, stop)
            return view(part, Layout(where.shape, where.strides, offset - start * row))
        spans = []  # of indices of each dimension of the argument
        for first, steps in signature.index_map:
            ends = [s * (n - 1) for s, n in zip(steps, slab.shape, strict=True)]
            first += slab.start * steps[slab.axis]
            spans.append((first + sum(e for e in ends if e < 0), first + sum(e for e in ends if e > 0) + 1, first))
        axis = next((k for k, (_, steps) in enumerate(signature.index_map) if steps[slab.axis]), None)
        if axis is None:
            return view(self.as_it_is(arg), where)
        start, stop, _ = spans[axis]
        if self._is_long(Slab(arg, axis, start, stop)):
            return view(self._computed_before(arg, slab.shape), where)
        part = yield Slab(arg, axis, start, stop)
        inner = layout.c_strides(part.signature.shape)
        steps_of = [steps for _, steps in signature.index_map]
        strides = [sum(s[d] * i for s, i in zip(steps_of, inner, strict=True)) for d in range(len(slab.shape))]
        low = sum((first - (start if k == axis else 0)) * inner[k] for k, (_, _, first) in enumerate(spans))
        return view(part, Layout(slab.shape, tuple(strides), low))

    def _reduce(self, slab: Slab) -> _Maker:
        primitive, args = slab.node.signature.primitive, slab.node.args
        assert isinstance(primitive, Reduce)
        part = yield Slab(args[0], kept_axes(args[0].signature.shape, primitive.axes)[slab.axis], slab.start, slab.stop)
        return reduce(primitive.op, primitive.loop, primitive.axes, [part, *args[1:]])

    def _scan(self, slab: Slab) -> _Maker:
        primitive, (arg,) = slab.node.signature.primitive, slab.node.args
        assert isinstance(primitive, Scan)
        if slab.axis == primitive.axis:
            return (yield from self._window_of_whole(slab))
        part = yield Slab(arg, slab.axis, slab.start, slab.stop)
        return scan(primitive.op, primitive.loop, primitive.axis, part)

    def _iota(self, slab: Slab) -> _Maker:
        signature = slab.node.signature
        assert isinstance(signature.primitive, Iota)
        assert signature.queue is not None
        indices = iota(slab.shape, signature.primitive.axis, signature.queue)
        if slab.axis != signature.primitive.axis or not slab.start:
            return indices
        return map_node("add", (_INT64, _INT64, _INT64), (indices, typed_scalar(slab.start, _INT64)))
        yield

    def _gather(self, slab: Slab) -> _Maker:
        primitive, (base, *indices) = slab.node.signature.primitive, slab.node.args
        assert isinstance(primitive, Gather)
        ndim = len(slab.node.signature.shape) - len(base.signature.shape) + primitive.count  # of the indices, broadcast
        shifts = [_shift_along(index, slab, ndim) for index in indices]
        along = next((k for k, shift in enumerate(shifts) if shift is not None), None)
        if slab.axis < ndim:
            if along is None or base.signature.shape[along] != slab.node.signature.shape[slab.axis]:
                if prod(base.signature.shape) * base.signature.dtype.itemsize > self._most_bytes:
                    return (yield from self._window_of_whole(slab))
                indices = yield from self._broadcast(slab, indices, ndim)
                self.as_it_is(base)
            else:
                return (yield from self._gather_of_rows(slab, along, shifts[along] or 0, ndim))
        else:
            base = yield Slab(base, slab.axis - ndim + primitive.count, slab.start, slab.stop)
            for index in indices:
                self.as_it_is(index)
        return gather(base, indices, slab.node.source_location)

    def _gather_of_rows(self, slab: Slab, along: int, shift: int, ndim: int) -> _Maker:
        """Return a slab of what index `along` takes rows of the base for, as in ``x[:, indices]`` and in rolls.

        Row k is row ``k - shift`` of the base, which counts from the end where it is negative: two stretches of rows
        may be needed for a slab.
        """
        node, (base, *indices) = slab.node, slab.node.args
        extent, parts = base.signature.shape[along], []
        for start, stop in ((slab.start, min(slab.stop, shift)), (max(slab.start, shift), slab.stop)):
            if start < stop:
                first = (start - shift) % extent
                part = yield Slab(base, along, first, first + stop - start)
                rows = slab._replace(start=start, stop=stop)
                counted = indices[along].signature.shape
                if len(indices) > 1 or len(counted) > 1:
                    others = yield from self._broadcast(rows, indices[:along] + indices[along + 1 :], ndim)
                    axis = slab.axis - ndim + len(counted)
                    assert node.signature.queue is not None
                    count = iota(_with_extent(counted, axis, stop - start), axis, node.signature.queue)
                    part = gather(part, [*others[:along], count, *others[along:]], node.source_location)
                parts.append((start - slab.start, part))
        if len(parts) == 1:
            return parts[0][1]
        assert node.signature.queue is not None
        together = uninitialized(slab.shape, node.signature.dtype, node.signature.queue)
        strides = layout.c_strides(slab.shape)
        for place, part in parts:
            where = Layout(part.signature.shape, strides, place * strides[slab.axis])
            together = update(together, where, part)
        return together

    def _update(self, slab: Slab) -> _Maker:
        primitive, (base, value) = slab.node.signature.primitive, slab.node.args
        assert isinstance(primitive, Update)
        region, shape = primitive.region, slab.node.signature.shape
        index_map = None if 0 in region.shape else layout.decompose(shape, region.strides, region.offset, region.shape)
        if index_map is None:
            return (yield from self._window_of_whole(slab))
        firsts, coefs = index_map
        along = [d for d, steps in enumerate(coefs) if steps[slab.axis]]
        if len(along) > 1 or any(coefs[d][slab.axis] < 0 for d in along):
            return (yield from self._window_of_whole(slab))
        part = yield Slab(base, slab.axis, slab.start, slab.stop)
        first, extent = list(firsts), region.shape  # the index of the first element of the region, and how many it has
        if along:
            (axis,) = along
            step = coefs[axis][slab.axis]
            ends = [-((first[slab.axis] - n) // step) for n in (slab.start, slab.stop)]
            start, stop = (min(max(end, 0), extent[axis]) for end in ends)
            if start == stop:
                return part
            value = yield Slab(value, axis, start, stop)
            extent = _with_extent(extent, axis, stop - start)
            first = [n + start * c for n, c in zip(first, coefs[axis], strict=True)]
        elif not slab.start <= first[slab.axis] < slab.stop:
            return part
        else:
            self.as_it_is(value)
        first[slab.axis] -= slab.start
        inner = layout.c_strides(part.signature.shape)
        strides = [sum(c * i for c, i in zip(steps, inner, strict=True)) for steps in coefs]
        offset = sum(n * i for n, i in zip(first, inner, strict=True))
        return update(part, Layout(extent, tuple(strides), offset), value)

    def _library_call(self, slab: Slab) -> _Maker:
        signature, args = slab.node.signature, slab.node.args
        primitive = signature.primitive
        assert isinstance(primitive, LibraryCall)
        assert signature.queue is not None
        if primitive.name == "empty":
            return uninitialized(slab.shape, signature.dtype, signature.queue)
        axes = axes_of_slabs(slab.node)
        along = axes[slab.axis] if slab.axis < len(axes) else None
        if along is None:
            return (yield from self._window_of_whole(slab))
        parts = []
        for arg, axis in zip(args, along, strict=True):
            part = self.in_memory(arg) if axis is None else (yield Slab(arg, axis, slab.start, slab.stop))
            parts.append(part)
        if primitive.results:
            return library_call_outputs(primitive.name, primitive.options, parts)[0].args[0]
        return library_call(primitive.name, primitive.options, parts)

    def _output(self, slab: Slab) -> _Maker:
        primitive, (call,) = slab.node.signature.primitive, slab.node.args
        assert isinstance(primitive, Output)
        axes = axes_of_slabs(call)
        if slab.axis >= len(axes) or axes[slab.axis] is None:
            return (yield from self._window_of_whole(slab))
        part = yield Slab(call, slab.axis, slab.start, slab.stop)
        return output(part, primitive.number)


_MAKERS: dict[type, Callable[[Cut, Slab], _Maker]] = {
    Map: Cut._map,
    View: Cut._view,
    Reduce: Cut._reduce,
    Scan: Cut._scan,
    Iota: Cut._iota,
    Gather: Cut._gather,
    Update: Cut._update,
    LibraryCall: Cut._library_call,
    Output: Cut._output,
}


def axes_of_slabs(call: Node) -> Sequence[CutAxes | None]:
    """Return for each axis of a library call's first output which axes of its arguments are cut with it."""
    primitive, signatures = call.signature.primitive, [arg.signature for arg in call.args]
    assert isinstance(primitive, LibraryCall)
    results = primitive.results or ((call.signature.shape, call.signature.dtype),)
    if results != results_of(primitive, signatures):  # a caller may give others
        return ()
    return record_of(primitive.name).slabs(primitive.options, signatures)


def _shift_along(index: Node, slab: Slab, ndim: int) -> int | None:
    """Return by how much an index, broadcast to `ndim` dimensions, is less than the row along the axis of a slab.

    None if that differs from row to row, or if an index would be out of bounds.
    """
    shape = index.signature.shape
    axis, shift = slab.axis - ndim + len(shape), 0
    if isinstance(index.signature.primitive, View):
        if index.signature.index_map != ((0, tuple(int(d == axis) for d in range(len(shape)))),):
            return None
        (index,), axis = index.args, 0
    primitive = index.signature.primitive
    if isinstance(primitive, Map) and primitive.op == "subtract":
        index, number = index.args
        if not isinstance(number.signature.primitive, Const):
            return None
        primitive, shift = index.signature.primitive, number.data
    if not isinstance(primitive, Iota) or primitive.axis != axis or index.data is not None:
        return None
    return shift if 0 <= shift <= index.signature.shape[axis] else None


def kept_axes(shape: Shape, axes: tuple[int, ...]) -> list[int]:
    """Return the axes of a shape that a reduction over `axes` keeps."""
    return [axis for axis in range(len(shape)) if axis not in axes]


def _with_extent(shape: Shape, axis: int, extent: int) -> Shape:
    return (*shape[:axis], extent, *shape[axis + 1 :])
