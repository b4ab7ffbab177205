"""Kernels while they grow, and the state of scheduling: which kernel or library call computes each anchor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from functools import partial

from ..dtypes import DType
from ..graph import layout
from ..graph.layout import Layout
from ..graph.library_calls.registry import begun_outputs
from ..graph.primitives import Const, Leaf, LibraryCall, Output, Scatter, Update, View
from ..late_dataclasses import dataclass
from . import kernel as ir
from .analysis import Graph, choose_anchors
from .cuts import Segment
from .lower import Builder, CannotLower, IndexMap, Item, Source
from .steps import RunLibraryCall
from .traits import Traits

# A kernel beyond any of these takes no further anchor: registers and argument space are finite.
_MAX_INSTRS = 240
_MAX_ARGS = 60
_MAX_STORES = 12


@dataclass(slots=True)
class Group:
    """A kernel being built.

    Attributes
    ----------
    loops, reduced
        The sizes of the loops, outer loops first, and how many of them, the last ones, are reduced.
    number
        The index of the group in `Placement.groups`.
    reason
        Why the kernel is not fused with the kernel before it.
    args, arg_list
        The arguments of the kernel: their numbers, and their sources and declarations.
    anchors
        For every anchor that the kernel computes, the number of its value and its index map.
    domain, loop_of_dim
        The shape of full-level nodes, and the loop that each of its dimensions runs along.
    closed
        Whether no other anchor may join, but for updates in place where there are such already.
    segment
        The segment of an expression that the kernel computes, of which it takes all and no other one's.
    in_place
        The updates that the kernel writes in place, and the source whose buffer each writes into: what the buffer holds
        before the kernel runs.
    reduces_last_axes
        Whether the reduced dimensions are the last dimensions of the domain.
    region, outside
        For an update into a fresh buffer, the box of new values and the body that stores the old values outside.
    """

    loops: tuple[int, ...]
    reduced: int
    number: int
    reason: str
    builder: Builder = field(init=False)
    args: dict[object, int] = field(default_factory=dict)
    arg_list: list[tuple[Source, ir.Arg]] = field(default_factory=list)
    anchors: dict[int, tuple[int, IndexMap]] = field(default_factory=dict)
    domain: tuple[int, ...] = ()
    loop_of_dim: tuple[int, ...] = ()
    closed: bool = False
    segment: Segment | None = None
    in_place: dict[int, Source] = field(default_factory=dict)
    reduces_last_axes: bool = True
    region: tuple[tuple[int, int], ...] | None = None
    outside: Builder | None = None

    def is_full(self, segment: Segment | None = None) -> bool:
        """Return whether the kernel is so large that it takes no further anchor, or none of this segment."""
        if segment and self.segment and segment[0] == self.segment[0]:
            return segment != self.segment
        return (
            len(self.builder.instructions) > _MAX_INSTRS
            or len(self.arg_list) > _MAX_ARGS
            or len(self.anchors) > _MAX_STORES
        )


def overwritten(item: Item) -> tuple[int, ...]:
    """Return the arguments in whose memory a value may be written: its bases."""
    primitive = item.signature.primitive
    if isinstance(primitive, (Update, Scatter)):
        return item.args[:1]
    count = begun_outputs(primitive) if isinstance(primitive, LibraryCall) else 0
    return item.args[len(item.args) - count :]


class Placement:
    """The state of scheduling: which group computes each of the anchors that are placed. Nodes are named by position.

    Attributes
    ----------
    groups
        The kernels and library calls, in the order in which they will run.
    group_of
        For every placed anchor, the index of the group that computes it.
    loaded
        The anchors that another group reads from memory.
    adopted
        For every value that is written in place, the source whose buffer it is written into.
    unplaced_readers
        For every node, the number of anchors that read it and are not placed yet.
    nodes_by_buffer
        For every number of a buffer, the leaves in it.
    outputs
        For every library call with several outputs, the node of each output, by number.
    """

    def __init__(self, items: Sequence[Item], roots: Sequence[int], traits: Traits, overwrite: bool) -> None:
        self.items = items
        self.roots = frozenset(roots)
        self.overwrite = overwrite
        self.rewritten_bytes = traits.rewritten_bytes
        self.graph: Graph = choose_anchors(items, roots, traits)
        self.groups: list[Group | RunLibraryCall] = []
        self.group_of: dict[int, int] = {}
        self.loaded: set[int] = set()
        self.adopted: dict[int, Source] = {}
        self.unplaced_readers = Counter(p for a in self.graph.anchors for p in self.graph.reads[a])
        self.nodes_by_buffer: dict[int, list[int]] = {}
        self.outputs: dict[int, dict[int, int]] = {}
        for p, item in enumerate(items):
            self.nodes_by_buffer.setdefault(item.buffer, []).append(p)
            if isinstance(item.signature.primitive, Output):
                self.outputs.setdefault(item.args[0], {})[item.signature.primitive.number] = p

    def is_base_read_later(self, update: int) -> bool:
        """Return whether another anchor that is not placed reads the buffer of a base of what may overwrite it."""
        items, reads = self.items, self.graph.reads[update]
        for base in overwritten(items[update]):
            in_buffer = self.nodes_by_buffer[items[base].buffer] if items[base].buffer >= 0 else [base]
            if any(self.unplaced_readers[p] > (p in reads) for p in in_buffer):
                return True
        return False

    def new_group(self, loops: tuple[int, ...], reduced: int, reason: str) -> Group:
        """Start a kernel; `reason` says why it is not fused with the kernel before it."""
        group = Group(loops, reduced, len(self.groups), reason)
        group.builder = self.builder(group, loops)
        self.groups.append(group)
        return group

    def builder(self, group: Group, loops: tuple[int, ...]) -> Builder:
        """Return an empty body for the kernel of a group; the bodies of a group share its arguments."""
        resolve = partial(self._resolve_anchor, group)
        return Builder(self.items, loops, self.graph.anchor_set, resolve, group.args, group.arg_list)

    def call_arguments(self, args: Sequence[int]) -> tuple[tuple[tuple[Source, Layout], ...], tuple[DType, ...]]:
        """Return the windows of memory that hold the arguments of a library call, and their dtypes."""
        windows, dtypes = [], []
        for p in args:
            signature = self.items[p].signature
            if isinstance(signature.primitive, Leaf):
                windows.append(
                    (
                        Source("leaf", p),
                        Layout(signature.shape, signature.primitive.strides, signature.primitive.origin),
                    )
                )
            elif isinstance(signature.primitive, Const):
                windows.append((Source("const", p), Layout((), (), 0)))
            elif isinstance(signature.primitive, View) and p not in self.graph.anchor_set:  # a view of a node in memory
                base = self.items[p].args[0]
                is_leaf = isinstance(self.items[base].signature.primitive, Leaf)
                self.loaded.add(base)
                windows.append(
                    (
                        Source("leaf" if is_leaf else "new", base),
                        Layout(signature.shape, signature.primitive.strides, signature.primitive.offset),
                    )
                )
            else:
                self.loaded.add(p)
                windows.append((Source("new", p), Layout(signature.shape, layout.c_strides(signature.shape), 0)))
            dtypes.append(signature.dtype)
        return tuple(windows), tuple(dtypes)

    def _resolve_anchor(self, group: Group, position: int, imap: IndexMap) -> int | Source | None:
        """Resolve an anchor for the builder of a group: see `Builder`."""
        if position not in self.graph.anchor_set:
            return None
        here = group.anchors.get(position)
        if here is not None:
            value, anchor_map = here
            shape = self.items[position].signature.shape
            if len(imap) == len(shape) and all(
                n == 1 or x == y for n, x, y in zip(shape, imap, anchor_map, strict=True)
            ):
                return value
            raise CannotLower("it reads, at another index, what that kernel computes")
        if position in group.in_place:
            return group.in_place[position]  # `join_in_place` sees to it that the kernel does not write what is read
        group_index = self.group_of.get(position)
        if group_index is None:
            return None  # the anchor being placed
        if group_index >= group.number:
            raise CannotLower("it reads what is computed after the kernel that has its loops")
        self.loaded.add(position)
        return Source("new", position)
