"""Kernels while they grow, and what is known of a plan meanwhile: which kernel or call computes each anchor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..dtypes import DType
from ..graph import layout
from ..graph.layout import Layout
from ..graph.primitives import Const, Leaf, Output, View
from . import kernel as ir
from .analysis import Graph, analyse
from .lower import Builder, IndexMap, Item, Refused, Source
from .steps import RunLibraryCall

# A kernel that already does this much takes no further anchor: registers and argument space are finite.
_MAX_INSTRS = 240
_MAX_ARGS = 60
_MAX_STORES = 12


@dataclass(slots=True)
class Group:
    """A kernel being built: outer loops first, then the reduced ones.

    Attributes
    ----------
    anchors
        For every anchor that it computes, the number of its value and the map that it stands at.
    domain, places
        The shape of full-level nodes, and the loop that each of its dimensions runs along.
    closed
        Whether no other anchor may join.
    trailing
        Whether the reduced dimensions are the last ones of the domain.
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
    places: tuple[int, ...] = ()
    closed: bool = False
    trailing: bool = True
    region: tuple[tuple[int, int], ...] | None = None
    outside: Builder | None = None

    def is_full(self) -> bool:
        """Whether it does so much that it takes no further anchor."""
        return (
            len(self.builder.instrs) > _MAX_INSTRS or len(self.arg_list) > _MAX_ARGS or len(self.anchors) > _MAX_STORES
        )


class Placement:
    """Where anchors are computed, as far as they have been placed.

    Attributes
    ----------
    groups
        The kernels and library calls, in the order in which they will run.
    home
        The index of the group that computes an anchor.
    loaded
        Anchors that another group reads from memory.
    adopted
        The buffers that updates go on with, written into in place.
    readers
        How many anchors that are not placed yet read a value.
    sharing
        The values that are in one buffer.
    outputs
        Where the outputs of each library call with several are, by number.
    """

    def __init__(self, items: Sequence[Item], roots: Sequence[int], overwrite: bool) -> None:
        self.items = items
        self.roots = frozenset(roots)
        self.overwrite = overwrite
        self.graph: Graph = analyse(items, roots)
        self.groups: list[Group | RunLibraryCall] = []
        self.home: dict[int, int] = {}
        self.loaded: set[int] = set()
        self.adopted: dict[int, Source] = {}
        self.readers = Counter(p for a in self.graph.anchors for p in self.graph.reads[a])
        self.sharing: dict[int, list[int]] = {}
        self.outputs: dict[int, dict[int, int]] = {}
        for p, item in enumerate(items):
            self.sharing.setdefault(item.buffer, []).append(p)
            if isinstance(item.signature.primitive, Output):
                self.outputs.setdefault(item.args[0], {})[item.signature.primitive.number] = p

    def new(self, loops: tuple[int, ...], reduced: int, reason: str) -> Group:
        """Start a kernel; `reason` says why it is none with a kernel before it."""
        group = Group(loops, reduced, len(self.groups), reason)
        group.builder = self.builder(group, loops)
        self.groups.append(group)
        return group

    def builder(self, group: Group, loops: tuple[int, ...]) -> Builder:
        """A body of a kernel, over the arguments of the group."""
        return Builder(self.items, loops, lambda p, imap: self._reach(group, p, imap), group.args, group.arg_list)

    def windows(self, args: Sequence[int]) -> tuple[tuple[tuple[Source, Layout], ...], tuple[DType, ...]]:
        """The windows of memory in which a library call finds its arguments, and their dtypes."""
        found, dtypes = [], []
        for p in args:
            f = self.items[p].signature
            if isinstance(f.primitive, Leaf):
                found.append((Source("leaf", p), Layout(f.shape, f.primitive.strides, f.primitive.origin)))
            elif isinstance(f.primitive, Const):
                found.append((Source("const", p), Layout((), (), 0)))
            elif isinstance(f.primitive, View) and p not in self.graph.anchor_set:  # a part of what is in memory
                whole = self.items[p].args[0]
                self.loaded.add(whole)
                found.append((Source("new", whole), Layout(f.shape, f.primitive.strides, f.primitive.offset)))
            else:
                self.loaded.add(p)
                found.append((Source("new", p), Layout(f.shape, layout.c_strides(f.shape), 0)))
            dtypes.append(f.dtype)
        return tuple(found), tuple(dtypes)

    def _reach(self, group: Group, position: int, imap: IndexMap) -> int | Source | None:
        if position not in self.graph.anchor_set:
            return None
        here = group.anchors.get(position)
        if here is not None:
            value, at = here
            shape = self.items[position].signature.shape
            if len(imap) == len(shape) and all(n == 1 or x == y for n, x, y in zip(shape, imap, at, strict=True)):
                return value
            raise Refused("it reads, at another index, what that kernel computes")
        home = self.home.get(position)
        if home is None:
            return None  # the anchor being placed
        if home >= group.number:
            raise Refused("it reads what is computed later")
        self.loaded.add(position)
        return Source("new", position)
