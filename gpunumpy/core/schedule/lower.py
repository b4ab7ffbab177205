"""Lowering: nodes of the graph to the straight-line body of one kernel.

A node is lowered *at an index map*: for every dimension of the node, an affine function of the loop indices. Views only
change the map, so they cost nothing; a node met again at the same map is the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy

from ..dtypes import DType
from ..graph import layout
from ..graph.layout import Shape
from ..graph.primitives import Const, Gather, Iota, Leaf, Map, Reduce, Scan, View
from ..graph.signature import Signature
from . import kernel as ir

IndexMap: TypeAlias = tuple[ir.Affine, ...]

INT64 = numpy.dtype(numpy.int64)


@dataclass(frozen=True, slots=True)
class Item:
    """A node as the scheduler sees it: its form and the positions of its arguments.

    Leaves in one buffer have the same number `buffer`, and `offset` is where each begins, counted from the first.
    """

    signature: Signature
    args: tuple[int, ...]
    buffer: int = -1
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """What an argument of a kernel is bound to when a plan runs.

    `kind` is "leaf" or "const" (data of the node at `position`), "new" (a buffer that the plan allocates for that
    node), "copy" (one for a copy of its value) or "location" (the place where it was recorded).
    """

    kind: str
    position: int


class Refused(Exception):
    """The node cannot be lowered into this kernel; the scheduler starts another one."""


def identity(count: int, places: Sequence[int]) -> IndexMap:
    """The map that sends dimension d to loop ``places[d]`` (or to 0 where that is -1) among `count` loops."""
    return tuple(ir.Affine(0, tuple(1 if k == p else 0 for k in range(count))) for p in places)


def compose(strides: Sequence[int], offset: int, imap: IndexMap, loops: int) -> ir.Affine:
    """``offset + sum(strides[d] * imap[d])``."""
    coef = [0] * loops
    for s, a in zip(strides, imap, strict=True):
        if s:
            offset += s * a.offset
            for k, c in enumerate(a.coef):
                if c:
                    coef[k] += s * c
    return ir.Affine(offset, tuple(coef))


class Builder:
    """The body of one kernel while it grows.

    `reach` answers what an anchor met during lowering is in this kernel: a value number, or a `Source` to load it from;
    it raises `Refused` where neither can be.
    """

    def __init__(
        self,
        items: Sequence[Item],
        loops: Shape,
        reach: Callable[[int, IndexMap], int | Source | None],
        args: dict[Any, int],
        arg_list: list[tuple[Source, ir.Arg]],
    ) -> None:
        self.items = items
        self.loops = loops
        self.reach = reach
        self.args = args
        self.arg_list = arg_list
        self.instrs: list[ir.Instruction] = []
        self.stores: list[ir.Store] = []
        self._numbers: dict[ir.Instruction, int] = {}
        self._memo: dict[tuple[int, IndexMap], int] = {}
        self.reads: list[tuple[Source, ir.Affine | None]] = []  # where from, and where (None: anywhere)

    def mark(self) -> tuple[Any, ...]:
        """A point to come back to with `rollback`."""
        return (len(self.instrs), len(self.stores), dict(self._memo), len(self.arg_list), len(self.reads))

    def rollback(self, mark: tuple[Any, ...]) -> None:
        instrs, stores, memo, args, reads = mark
        for instr in self.instrs[instrs:]:
            del self._numbers[instr]
        del self.instrs[instrs:], self.stores[stores:], self.arg_list[args:], self.reads[reads:]
        for key in [k for k, v in self.args.items() if v >= args]:
            del self.args[key]
        self._memo = memo

    def body(self) -> ir.Body:
        return ir.Body(tuple(self.instrs), tuple(self.stores))

    # arguments and instructions

    def argument(self, source: Source, kind: str, dtype: DType, aligned: bool = True, alias: int = -1) -> int:
        key = (source, kind, dtype)
        found = self.args.get(key)
        if found is None:
            found = self.args[key] = len(self.arg_list)
            self.arg_list.append((source, ir.Arg(kind, dtype, aligned, alias)))
        return found

    def emit(self, instr: ir.Instruction) -> int:
        found = self._numbers.get(instr)
        if found is None:
            found = self._numbers[instr] = len(self.instrs)
            self.instrs.append(instr)
        return found

    def store(self, source: Source, value: int, dtype: DType, at: ir.Affine, alias: int = -1) -> None:
        arg = self.argument(source, "out", dtype, True, alias)
        self.stores.append(ir.Store(arg, value, at))

    def as_dtype(self, value: int, have: DType, want: DType) -> int:
        return value if have == want else self.emit(ir.Apply("cast", (value,), (have, want)))

    # nodes

    def operand(self, position: int, shape: Shape, imap: IndexMap, dtype: DType) -> int:
        """An argument of an operation over `shape` at `imap`, broadcast and cast to the loop's dtype."""
        item = self.items[position]
        f = item.signature
        if isinstance(f.primitive, Const):
            if f.primitive.weak:  # a Python scalar has no dtype of its own: it arrives in the loop's
                return self.emit(ir.Scalar(self.argument(Source("const", position), "scalar", dtype)))
            value = self.emit(ir.Scalar(self.argument(Source("const", position), "scalar", f.dtype)))
            return self.as_dtype(value, f.dtype, dtype)
        lead = len(shape) - len(f.shape)
        value = self.value(position, imap[lead:])
        return self.as_dtype(value, f.dtype, dtype)

    def value(self, position: int, imap: IndexMap) -> int:
        """The number of the value of a node at an index map."""
        shape = self.items[position].signature.shape
        zero = ir.Affine(0, (0,) * len(self.loops))
        imap = tuple(zero if n == 1 else a for n, a in zip(shape, imap, strict=True))
        key = (position, imap)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._lower(position, imap)
        return found

    def _lower(self, position: int, imap: IndexMap) -> int:
        item = self.items[position]
        f = item.signature
        primitive = f.primitive
        loops = len(self.loops)
        if isinstance(primitive, Leaf):
            at = compose(primitive.strides, primitive.origin, imap, loops)
            return self._load(Source("leaf", position), f.dtype, primitive.aligned, at)
        reached = self.reach(position, imap)
        if isinstance(reached, int):
            return reached
        if reached is not None:
            at = compose(layout.c_strides(f.shape), 0, imap, loops)
            return self._load(reached, f.dtype, True, at)
        if isinstance(primitive, Map):
            args = tuple(
                self.operand(a, f.shape, imap, want) for a, want in zip(item.args, primitive.loop[:-1], strict=True)
            )
            return self.emit(ir.Apply(primitive.op, args, primitive.loop))
        if isinstance(primitive, Iota):
            return self.emit(ir.LoopIndex(imap[primitive.axis]))
        if isinstance(primitive, Const):
            return self.emit(ir.Scalar(self.argument(Source("const", position), "scalar", f.dtype)))
        if isinstance(primitive, View):
            child = self.items[item.args[0]].signature.shape
            parts = layout.decompose(child, primitive.strides, primitive.offset, f.shape)
            if parts is None:
                return self._flat(item, primitive, imap)
            starts, coefs = parts
            inner = tuple(compose([c[k] for c in coefs], start, imap, loops) for k, start in enumerate(starts))
            return self.value(item.args[0], inner)
        if isinstance(primitive, Gather):
            return self._gather(position, item, primitive, imap)
        raise AssertionError(f"{type(primitive).__name__} is lowered by the scheduler alone")

    def _flat(self, item: Item, primitive: View, imap: IndexMap) -> int:
        """A view that has no index map over its argument's dimensions: it counts elements of stored memory."""
        position = item.args[0]
        f = self.items[position].signature
        at = compose(primitive.strides, primitive.offset, imap, len(self.loops))
        if isinstance(f.primitive, Leaf):
            # Such a leaf is in C order: of others, recording makes windows or expressions.
            at = ir.Affine(at.offset + f.primitive.origin, at.coef)
            return self._load(Source("leaf", position), f.dtype, f.primitive.aligned, at)
        reached = self.reach(position, ())
        if not isinstance(reached, Source):
            raise Refused("it reads, in another order, what that kernel computes")
        return self._load(reached, f.dtype, True, at)

    def window(self, source: Source, position: int, shape: Shape, imap: IndexMap) -> int:
        """Load a stored copy of the value of a node, broadcast to `shape`."""
        f = self.items[position].signature
        strides = layout.broadcast_strides(f.shape, layout.c_strides(f.shape), shape)
        return self._load(source, f.dtype, True, compose(strides, 0, imap, len(self.loops)))

    def _load(self, source: Source, dtype: DType, aligned: bool, at: ir.Affine) -> int:
        self.reads.append((source, at))
        return self.emit(ir.Load(self.argument(source, "in", dtype, aligned), at))

    def _gather(self, position: int, item: Item, primitive: Gather, imap: IndexMap) -> int:
        base_position = item.args[0]
        base = self.items[base_position].signature
        picked = len(item.signature.shape) - (len(base.shape) - primitive.count)
        index_shape = item.signature.shape[:picked]
        index = tuple(self.operand(a, index_shape, imap[:picked], INT64) for a in item.args[1:])
        if isinstance(base.primitive, Leaf):
            strides, origin = base.primitive.strides, base.primitive.origin
            source, aligned = Source("leaf", base_position), base.primitive.aligned
        else:
            strides, origin = layout.c_strides(base.shape), 0
            reached = self.reach(base_position, ())
            if not isinstance(reached, Source):
                raise Refused("it picks elements from what that kernel computes")
            source, aligned = reached, True
        self.reads.append((source, None))
        arg = self.argument(source, "in", base.dtype, aligned)
        rest = compose(strides[primitive.count :], origin, imap[picked:], len(self.loops))
        source_location = self.argument(Source("location", position), "scalar", INT64)
        return self.emit(
            ir.LoadIndexed(arg, rest, index, base.shape[: primitive.count], strides[: primitive.count], source_location)
        )

    def reduction(self, position: int, places: Sequence[int]) -> int:
        """A `Reduce` or `Scan` node whose argument's dimension d runs along loop ``places[d]``."""
        item = self.items[position]
        primitive = item.signature.primitive
        assert isinstance(primitive, (Reduce, Scan))
        loops = len(self.loops)
        source = self.items[item.args[0]].signature.shape
        values = [self.operand(item.args[0], source, identity(loops, places), primitive.loop[0])]
        for extra, dtype in zip(item.args[1:], primitive.loop[1:-1], strict=True):
            values.append(self.operand(extra, (), (), dtype))
        kind = ir.ReduceLoops if isinstance(primitive, Reduce) else ir.ScanLoop
        return self.emit(kind(primitive.op, tuple(values), primitive.loop))
