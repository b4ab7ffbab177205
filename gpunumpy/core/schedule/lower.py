"""Lowering: from nodes of the graph to the straight-line body of one kernel.

A node is lowered *at an index map*: for every dimension of the node, an affine function of the loop indices. A view
only changes the map, so it costs nothing; a node lowered twice at the same map is one value.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import cache
from operator import add, index
from typing import Any, NamedTuple, TypeAlias

from ..dtypes import INT64, DType
from ..graph import layout
from ..graph.layout import Shape
from ..graph.node import Node
from ..graph.primitives import Const, Gather, Iota, Leaf, Map, Reduce, Scan, View
from ..graph.signature import Signature
from ..ops.table import WIDER
from . import kernel as ir

IndexMap: TypeAlias = tuple[ir.Affine, ...]


class Item(NamedTuple):
    """A node of the graph for the scheduler: its signature and the positions of its arguments among the items.

    Leaves in one buffer have the same number `buffer`; `offset` is the lowest element of a leaf, counted from
    that of the first leaf in the buffer. Other items have the number -1.
    """

    signature: Signature
    args: tuple[int, ...]
    buffer: int = -1
    offset: int = 0


def items_of(nodes: Sequence[Node]) -> list[Item]:
    """Return a graph as items for the scheduler."""
    position_of = {node: k for k, node in enumerate(nodes)}.__getitem__
    buffers: dict[int, tuple[int, int]] = {}
    items = []
    new = tuple.__new__  # takes less time than to call `Item`, of which every first plan makes thousands
    for node in nodes:
        signature, data = node.signature, node.data
        if data is None:
            items.append(new(Item, (signature, tuple(map(position_of, node.args)), -1, 0)))
        elif signature.queue is None:
            items.append(new(Item, (signature, (), -1, 0)))
        else:
            number, first_offset = buffers.setdefault(id(data), (len(buffers), node.offset))
            items.append(new(Item, (signature, (), number, node.offset - first_offset)))
    return items


class Source(NamedTuple):
    """The data that an argument of a kernel or a call is bound to when a plan runs.

    `kind` is "leaf" or "const" (the data of the node at `position`), "new" (the buffer of a node that the plan
    computes), "copy" (a buffer for a copy of the value of the node) or "location" (the number of the source location
    that recorded the node).
    """

    kind: str
    position: int


class CannotLower(Exception):
    """Raised where a node cannot be lowered into a kernel: the scheduler then starts another kernel."""


def map_to_loops(loop_count: int, loop_of_dim: Sequence[int]) -> IndexMap:
    """Return the map of dimension d to the index of loop ``loop_of_dim[d]``, or to 0 where that is -1."""
    return tuple([_index_of_loop(loop_count, loop) for loop in loop_of_dim])


@cache
def _index_of_loop(loop_count: int, loop: int) -> ir.Affine:
    return ir.Affine(0, tuple([1 if k == loop else 0 for k in range(loop_count)]))


def compose(strides: Sequence[int], offset: int, imap: IndexMap, loops: int) -> ir.Affine:
    """Return ``offset + sum(strides[d] * imap[d])`` as a function of the loop indices."""
    coef: tuple[int, ...] | None = None
    for s, (start, steps) in zip(strides, imap, strict=True):
        if s:
            offset += s * start
            scaled = steps if type(s) is int and s == 1 else tuple([s * c for c in steps])
            coef = scaled if coef is None else tuple(map(add, coef, scaled))
    return ir.Affine(offset, (0,) * loops if coef is None else coef)


class Builder:
    """The body of one kernel while it grows.

    `resolve_anchor` is called with one of the `anchors` and its index map. It returns the number of its value in this
    kernel, the `Source` to load it from, or None for a node that is lowered here, as all that are no anchors are; it
    raises `CannotLower` if none of these will do.
    """

    def __init__(
        self,
        items: Sequence[Item],
        loops: Shape,
        anchors: Container[int],
        resolve_anchor: Callable[[int, IndexMap], int | Source | None],
        args: dict[Any, int],
        arg_list: list[tuple[Source, ir.Arg]],
    ) -> None:
        self.items = items
        self.loops = loops
        self.anchors = anchors
        self.resolve_anchor = resolve_anchor
        self.args = args
        self.arg_list = arg_list
        self.instructions: list[ir.Instruction] = []
        self.stores: list[ir.Store] = []
        self._numbers: dict[tuple[type[ir.Instruction], tuple[Any, ...]], int] = {}
        self._memo: dict[tuple[int, IndexMap], int] = {}
        self.reads: list[tuple[Source, ir.Affine | None]] = []  # source, and index (None: any)

    def mark(self) -> tuple[int, ...]:
        """Return the present state, for `rollback`."""
        return (len(self.instructions), len(self.stores), len(self._memo), len(self.arg_list), len(self.reads))

    def rollback(self, mark: tuple[int, ...]) -> None:
        """Return to the state of a `mark`."""
        instructions, stores, memo, args, reads = mark
        del self.instructions[instructions:], self.stores[stores:], self.arg_list[args:], self.reads[reads:]
        for table, count in ((self._numbers, instructions), (self._memo, memo), (self.args, args)):
            while len(table) > count:  # what came last goes first
                table.popitem()

    def body(self) -> ir.Body:
        """Return the instructions and stores so far."""
        return ir.Body(tuple(self.instructions), tuple(self.stores))

    # arguments and instructions

    def argument(self, source: Source, kind: str, dtype: DType, aligned: bool = True, alias: int = -1) -> int:
        """Return the number of the kernel argument for a source, adding the argument at its first use."""
        key = (source, kind, dtype)
        count = len(self.arg_list)
        found = self.args.setdefault(key, count)
        if found == count:
            if kind == "in":
                alias = self._first_of_buffer(source)
            self.arg_list.append((source, ir.Arg(kind, dtype, aligned, alias)))
        return found

    def _first_of_buffer(self, source: Source) -> int:
        """Return the number of the first argument that is a leaf in the buffer of a leaf, or -1 if there is none."""
        buffer = self.items[source.position].buffer if source.kind == "leaf" else -1
        if buffer < 0:
            return -1
        leaves = (n for n, (other, arg) in enumerate(self.arg_list) if other.kind == "leaf" and arg.kind == "in")
        return next((n for n in leaves if self.items[self.arg_list[n][0].position].buffer == buffer), -1)

    def emit(self, kind: type[ir.Instruction], *fields: Any) -> int:
        """Return the number of the value of an instruction, adding the instruction if the body lacks it."""
        count = len(self.instructions)
        found = self._numbers.setdefault((kind, fields), count)  # a tuple has its hash in a fraction of the time
        if found == count:
            self.instructions.append(kind(*fields))
        return found

    def store(self, source: Source, value: int, dtype: DType, at: ir.Affine, alias: int = -1) -> None:
        """Store a value to the buffer of a source."""
        arg = self.argument(source, "out", dtype, True, alias)
        self.stores.append(ir.Store(arg, value, at))

    def as_dtype(self, value: int, have: DType, want: DType) -> int:
        """Return the number of a value cast from one dtype to another."""
        return value if have == want else self.emit(ir.Apply, "cast", (value,), (have, want))

    # nodes

    def operand(self, position: int, shape: Shape, imap: IndexMap, dtype: DType) -> int:
        """Return the value of an argument of an operation over `shape` at `imap`, broadcast, and cast to `dtype`."""
        signature = self.items[position].signature
        if type(signature.primitive) is Const:
            if signature.primitive.weak:  # a Python scalar has no dtype of its own: it takes that of the loop
                return self.emit(ir.Scalar, self.argument(Source("const", position), "scalar", dtype))
            value = self.emit(ir.Scalar, self.argument(Source("const", position), "scalar", signature.dtype))
            return self.as_dtype(value, signature.dtype, dtype)
        lead = len(shape) - len(signature.shape)
        value = self.value(position, imap[lead:] if lead else imap)
        return self.as_dtype(value, signature.dtype, dtype)

    def value(self, position: int, imap: IndexMap) -> int:
        """Return the number of the value of a node at an index map."""
        shape = self.items[position].signature.shape
        if 1 in shape:
            zero = ir.Affine(0, (0,) * len(self.loops))
            imap = tuple([zero if n == 1 else a for n, a in zip(shape, imap, strict=True)])
        key = (position, imap)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._lower(position, imap)
        return found

    def _lower(self, position: int, imap: IndexMap) -> int:
        item = self.items[position]
        signature = item.signature
        primitive: Any = signature.primitive
        kind = type(primitive)
        loops = len(self.loops)
        if kind is Leaf:
            at = compose(primitive.strides, primitive.origin, imap, loops)
            return self._load(Source("leaf", position), signature.dtype, primitive.aligned, at)
        reached = self.resolve_anchor(position, imap) if position in self.anchors else None
        if reached is not None:
            if isinstance(reached, int):
                return reached
            at = compose(layout.c_strides(signature.shape), 0, imap, loops)
            return self._load(reached, signature.dtype, True, at)
        if kind is Map:
            shape, loop = signature.shape, primitive.loop
            args = tuple([self.operand(a, shape, imap, wanted) for a, wanted in zip(item.args, loop)])
            return self.emit(ir.Apply, primitive.op, args, loop)
        if kind is Iota:
            return self.emit(ir.LoopIndex, imap[primitive.axis])
        if kind is Const:
            return self.emit(ir.Scalar, self.argument(Source("const", position), "scalar", signature.dtype))
        if kind is View:
            if signature.index_map is None:
                return self._load_flat_view(item, primitive, imap)
            return self.value(
                item.args[0], tuple([compose(steps, start, imap, loops) for start, steps in signature.index_map])
            )
        if kind is Gather:
            return self._gather(position, item, primitive, imap)
        if kind is Reduce:
            return self._short_sum(item, primitive, imap)
        raise AssertionError(f"{kind.__name__} is lowered by the scheduler alone")

    def _load_flat_view(self, item: Item, primitive: View, imap: IndexMap) -> int:
        """Load a view that has no index map over the dimensions of its base, by offsets into the memory of the base."""
        position = item.args[0]
        signature = self.items[position].signature
        at = compose(primitive.strides, primitive.offset, imap, len(self.loops))
        if isinstance(signature.primitive, Leaf):
            # Such a leaf is in C order: for other leaves, recording makes another leaf or an expression instead.
            at = ir.Affine(at.offset + signature.primitive.origin, at.coef)
            return self._load(Source("leaf", position), signature.dtype, signature.primitive.aligned, at)
        reached = self.resolve_anchor(position, ())
        if not isinstance(reached, Source):
            raise CannotLower("it reads, in another order, what that kernel computes")
        return self._load(reached, signature.dtype, True, at)

    def load_copy(self, source: Source, position: int, shape: Shape, imap: IndexMap) -> int:
        """Load the value of a node from the buffer of its copy, broadcast to `shape`."""
        signature = self.items[position].signature
        strides = layout.broadcast_strides(signature.shape, layout.c_strides(signature.shape), shape)
        return self._load(source, signature.dtype, True, compose(strides, 0, imap, len(self.loops)))

    def _load(self, source: Source, dtype: DType, aligned: bool, at: ir.Affine) -> int:
        self.reads.append((source, at))
        return self.emit(ir.Load, self.argument(source, "in", dtype, aligned), at)

    def _gather(self, position: int, item: Item, primitive: Gather, imap: IndexMap) -> int:
        base_position = item.args[0]
        base = self.items[base_position].signature
        index_ndim = len(item.signature.shape) - (len(base.shape) - primitive.count)
        index_shape = item.signature.shape[:index_ndim]
        index = tuple(self.operand(a, index_shape, imap[:index_ndim], INT64) for a in item.args[1:])
        if isinstance(base.primitive, Leaf):
            strides, origin = base.primitive.strides, base.primitive.origin
            source, aligned = Source("leaf", base_position), base.primitive.aligned
        else:
            strides, origin = layout.c_strides(base.shape), 0
            reached = self.resolve_anchor(base_position, ())
            if reached is None and isinstance(base.primitive, View):
                strides, origin = base.primitive.strides, base.primitive.offset
                reached = self.resolve_anchor(self.items[base_position].args[0], ())
            if not isinstance(reached, Source):
                raise CannotLower("it picks elements from what that kernel computes")
            source, aligned = reached, True
        self.reads.append((source, None))
        arg = self.argument(source, "in", base.dtype, aligned)
        at = compose(strides[primitive.count :], origin, imap[index_ndim:], len(self.loops))
        source_location = self.argument(Source("location", position), "scalar", INT64)
        count = primitive.count
        return self.emit(ir.LoadIndexed, arg, at, index, base.shape[:count], strides[:count], source_location)

    def _short_sum(self, item: Item, primitive: Reduce, imap: IndexMap) -> int:
        """Add up the terms of a sum that is no anchor as a kernel that reduces does: from zero on, in a wider dtype."""
        (axis,), given, dtype = primitive.axes, primitive.loop[0], primitive.loop[-1]
        wide, zeros = WIDER.get(dtype, dtype), (0,) * len(self.loops)
        domain = self.items[item.args[0]].signature.shape
        total = self.as_dtype(self.emit(ir.LoopIndex, ir.Affine(0, zeros)), INT64, wide)
        for k in range(index(domain[axis])):
            at = (*imap[:axis], ir.Affine(k, zeros), *imap[axis:])
            term = self.as_dtype(self.operand(item.args[0], domain, at, given), given, wide)
            total = self.emit(ir.Apply, "add", (total, term), (wide,) * 3)
        return self.as_dtype(total, wide, dtype)

    def reduction(self, position: int, loop_of_dim: Sequence[int]) -> int:
        """Return the value of a `Reduce` or `Scan`; dimension d of its argument runs along loop ``loop_of_dim[d]``."""
        item = self.items[position]
        primitive = item.signature.primitive
        assert isinstance(primitive, (Reduce, Scan))
        loops = len(self.loops)
        domain = self.items[item.args[0]].signature.shape
        values = [self.operand(item.args[0], domain, map_to_loops(loops, loop_of_dim), primitive.loop[0])]
        for extra, dtype in zip(item.args[1:], primitive.loop[1:-1], strict=True):
            values.append(self.operand(extra, (), (), dtype))
        kind = ir.ReduceLoops if isinstance(primitive, Reduce) else ir.ScanLoop
        return self.emit(kind, primitive.op, tuple(values), primitive.loop)
