"""The scheduler: a graph of nodes to an ordered list of kernels and library calls. Pure; no CUDA in it.

An *anchor* is a node that a kernel is built around: what must be in memory (results, arguments of library calls, bases
of gathers and updates) and every reduction and scan. Anchors are taken in topological order, updates as late as
possible; each joins an earlier kernel over the same loops where everything that it reads is at hand there, and else
starts a kernel of its own. What is not an anchor is recomputed where it is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from math import prod
from typing import TypeAlias

from ..dtypes import DType
from ..graph import layout
from ..graph.layout import Layout
from ..graph.primitives import Const, Leaf, LibraryCall, Output, Reduce, Scan, Scatter, Update, View
from . import kernel as ir
from .analysis import Graph, analyse, one_window, push_views
from .batch import SUFFIX, batch_calls
from .epilogues import fold_epilogues
from .limits import fits_row
from .lower import INT64, Builder, IndexMap, Item, Refused, Source, compose, identity

# A kernel that already does this much takes no further anchor: registers and argument space are finite.
_MAX_INSTRS = 240
_MAX_ARGS = 60
_MAX_STORES = 12


@dataclass(frozen=True, slots=True)
class Allocate:
    """A fresh buffer."""

    target: Source
    nbytes: int


@dataclass(frozen=True, slots=True)
class Adopt:
    """The buffer `base` goes on as `target`, which is written into it in place."""

    target: Source
    base: Source


@dataclass(frozen=True, slots=True)
class RunKernel:
    """A kernel with what its arguments are bound to; `reason` says why it is not one with the kernel before it."""

    kernel: ir.Kernel
    args: tuple[Source, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class RunLibraryCall:
    """A library routine: reads `args` (windows of buffers), writes the buffer of the node at `position`.

    If it has several results, it writes the buffers `parts` instead.
    """

    name: str
    options: tuple[object, ...]
    args: tuple[tuple[Source, Layout], ...]
    dtypes: tuple[DType, ...]
    position: int
    reason: str
    parts: tuple[Source, ...] = ()

    @property
    def targets(self) -> tuple[Source, ...]:
        """What it writes."""
        return self.parts or (Source("new", self.position),)


@dataclass(frozen=True, slots=True)
class Free:
    """The buffer is not needed any more."""

    target: Source


Step: TypeAlias = Allocate | Adopt | RunKernel | RunLibraryCall | Free


@dataclass(slots=True)
class _Group:
    """A kernel being built: outer loops first, then the reduced ones."""

    loops: tuple[int, ...]
    reduced: int
    number: int
    reason: str
    builder: Builder = field(init=False)
    args: dict[object, int] = field(default_factory=dict)
    arg_list: list[tuple[Source, ir.Arg]] = field(default_factory=list)
    # anchor position -> (value number, the map that it stands at)
    anchors: dict[int, tuple[int, IndexMap]] = field(default_factory=dict)
    domain: tuple[int, ...] = ()  # the shape of full-level nodes, and the loop that each of its dimensions runs along
    places: tuple[int, ...] = ()
    closed: bool = False
    trailing: bool = True
    region: tuple[tuple[int, int], ...] | None = None
    outside: Builder | None = None


class _Scheduler:
    def __init__(self, items: Sequence[Item], roots: Sequence[int], overwrite: bool) -> None:
        self.graph: Graph = analyse(items, roots)
        self.items = items
        self.overwrite = overwrite
        self.roots = frozenset(roots)
        self.groups: list[_Group | RunLibraryCall] = []
        self.home: dict[int, int] = {}  # anchor -> index of the group that computes it
        self.loaded: set[int] = set()  # anchors read from memory by another group
        self.adopted: dict[int, Source] = {}
        # How many anchors that are not placed yet read a value, and the values that are in one buffer.
        self.readers = Counter(p for a in self.graph.anchors for p in self.graph.reads[a])
        self.sharing: dict[int, list[int]] = {}
        self.parts: dict[int, dict[int, int]] = {}  # of every routine with several results, where those are
        for p, item in enumerate(items):
            self.sharing.setdefault(item.buffer, []).append(p)
            if isinstance(item.signature.primitive, Output):
                self.parts.setdefault(item.args[0], {})[item.signature.primitive.number] = p

    # driving

    def run(self) -> tuple[Step, ...]:
        graph = self.graph
        waiting = {a: len(graph.needs[a]) for a in graph.anchors}
        needed: dict[int, list[int]] = {}
        for a in graph.anchors:
            for p in graph.needs[a]:
                needed.setdefault(p, []).append(a)
        order = {a: k for k, a in enumerate(graph.anchors)}

        def rank(a: int) -> tuple[bool, int, int]:
            # What overwrites comes late, when the others have read the old value.
            return isinstance(self.items[a].signature.primitive, (Update, Scatter)), order[a], a

        ready = [rank(a) for a in graph.anchors if not waiting[a]]
        heapify(ready)
        for _ in graph.anchors:
            assert ready, "the graph has a circle"
            chosen = heappop(ready)[-1]
            for p in graph.reads[chosen]:
                self.readers[p] -= 1
            self._place(chosen)
            for a in needed.get(chosen, ()):
                waiting[a] -= 1
                if not waiting[a]:
                    heappush(ready, rank(a))
        return self._emit()

    def _place(self, a: int) -> None:
        primitive = self.items[a].signature.primitive
        if isinstance(primitive, LibraryCall):
            self._place_call(a, primitive)
        elif isinstance(primitive, Output):
            self.home[a] = self.home[self.items[a].args[0]]
        elif isinstance(primitive, Scatter):
            self._place_scatter(a, primitive)
        elif isinstance(primitive, Update):
            self._place_update(a, primitive)
        elif isinstance(primitive, Reduce):
            self._place_reduce(a, primitive)
        elif isinstance(primitive, Scan):
            self._place_scan(a, primitive)
        else:
            self._place_map(a)

    # groups

    def _new(self, loops: tuple[int, ...], reduced: int, reason: str) -> _Group:
        group = _Group(loops, reduced, len(self.groups), reason)
        group.builder = self._builder(group, loops)
        self.groups.append(group)
        return group

    def _builder(self, group: _Group, loops: tuple[int, ...]) -> Builder:
        return Builder(self.items, loops, lambda p, imap: self._reach(group, p, imap), group.args, group.arg_list)

    def _reach(self, group: _Group, position: int, imap: IndexMap) -> int | Source | None:
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

    def _small_enough(self, group: _Group) -> bool:
        return (
            len(group.builder.instrs) <= _MAX_INSTRS
            and len(group.arg_list) <= _MAX_ARGS
            and len(group.anchors) <= _MAX_STORES
        )

    def _join(self, a: int, place: str) -> str:
        """Put an anchor into an existing group; the empty string, or the reason why none takes it."""
        item = self.items[a]
        domain = (self.items[item.args[0]] if place == "reduce" else item).signature.shape
        first = max((self.home[p] for p in self.graph.reads[a] if p in self.home), default=0)
        reason = "its loops are those of no kernel before it"
        for group in reversed(self.groups):
            if not isinstance(group, _Group) or group.closed:
                continue
            if group.number < first:
                if group.domain == domain:
                    return "it reads what is computed later"
                continue
            refusal = self._try(group, a, place)
            if not refusal:
                return ""
            if refusal != "loops":
                reason = refusal
        return reason

    def _try(self, group: _Group, a: int, place: str) -> str:
        item = self.items[a]
        f = item.signature
        if place == "reduce":
            assert isinstance(f.primitive, Reduce)
            domain = self.items[item.args[0]].signature.shape
            same = group.reduced == len(f.primitive.axes) and group.places == _places(len(domain), f.primitive.axes)
            if group.domain != domain or not same or not group.reduced:
                return "loops"
            outer = len(group.loops) - group.reduced
            at = identity(len(group.loops), range(outer))
        else:
            found = _stand(group, f.shape)
            if found is None:
                return "loops"
            at = found
        if not self._small_enough(group):
            return "the kernel before it is large enough"
        loaded = set(self.loaded)
        mark = group.builder.mark()
        try:
            value = group.builder.reduction(a, group.places) if place == "reduce" else group.builder.value(a, at)
            if group.reduced and self._is_rowwise(group) and not self._row_fits(group):
                raise Refused("a row does not fit into a block")
        except Refused as refusal:
            group.builder.rollback(mark)
            self.loaded = loaded
            return str(refusal)
        group.anchors[a] = (value, at)
        self.home[a] = group.number
        return ""

    def _is_rowwise(self, group: _Group) -> bool:
        """Whether some full-level value depends on a reduction."""
        kernel = ir.Kernel(group.loops, group.reduced, tuple(x for _, x in group.arg_list), group.builder.body())
        level = ir.row_level(kernel, kernel.body)
        tainted: list[bool] = []
        for number, instr in enumerate(kernel.body.instrs):
            args = (
                instr.args
                if isinstance(instr, (ir.Apply, ir.ReduceLoops, ir.ScanLoop))
                else getattr(instr, "index", ())
            )
            after = any(tainted[i] for i in args)
            if isinstance(instr, ir.ReduceLoops):
                if after:
                    return True
                after = True
            elif after and not level[number]:
                return True
            tainted.append(after)
        return False

    def _row_fits(self, group: _Group) -> bool:
        if not group.trailing:
            return False
        itemsize = max((arg.dtype.itemsize for _, arg in group.arg_list if arg.kind != "scalar"), default=8)
        return fits_row(itemsize, prod(group.loops[len(group.loops) - group.reduced :]))

    # kinds of anchors

    def _place_map(self, a: int) -> None:
        f = self.items[a].signature
        reason = self._join(a, "map")
        if not reason:
            return
        group = self._new(f.shape, 0, reason)
        group.domain, group.places = f.shape, tuple(range(len(f.shape)))
        at = identity(len(f.shape), group.places)
        group.anchors[a] = (group.builder.value(a, at), at)
        self.home[a] = group.number

    def _place_reduce(self, a: int, primitive: Reduce) -> None:
        reason = self._join(a, "reduce")
        if not reason or self._convert(a, primitive):
            return
        self._new_reduce(a, primitive, reason)

    def _new_reduce(self, a: int, primitive: Reduce, reason: str) -> _Group:
        domain = self.items[self.items[a].args[0]].signature.shape
        outer = tuple(d for d in range(len(domain)) if d not in primitive.axes)
        loops = tuple(domain[d] for d in outer + primitive.axes)
        group = self._new(loops, len(primitive.axes), reason)
        group.domain, group.places = domain, _places(len(domain), primitive.axes)
        group.trailing = primitive.axes == tuple(range(len(domain) - len(primitive.axes), len(domain)))
        at = identity(len(loops), range(len(outer)))
        group.anchors[a] = (group.builder.reduction(a, group.places), at)
        self.home[a] = group.number
        return group

    def _convert(self, a: int, primitive: Reduce) -> bool:
        """Make an elementwise kernel over the reduction's domain one with the reduction, so that it is read once."""
        domain = self.items[self.items[a].args[0]].signature.shape
        for index, old in enumerate(self.groups):
            if not isinstance(old, _Group) or old.closed or old.reduced or old.domain != domain or not domain:
                continue
            if not self._small_enough(old) or not self._shares(a, old):
                continue
            loaded, home = set(self.loaded), dict(self.home)
            outer = tuple(d for d in range(len(domain)) if d not in primitive.axes)
            group = _Group(tuple(domain[d] for d in outer + primitive.axes), len(primitive.axes), index, old.reason)
            group.builder = self._builder(group, group.loops)
            group.domain, group.places = domain, _places(len(domain), primitive.axes)
            group.trailing = primitive.axes == tuple(range(len(domain) - len(primitive.axes), len(domain)))
            for anchor in old.anchors:
                del self.home[anchor]
            try:
                full = identity(len(group.loops), group.places)
                for anchor in old.anchors:
                    group.anchors[anchor] = (group.builder.value(anchor, full), full)
                    self.home[anchor] = index
                at = identity(len(group.loops), range(len(outer)))
                group.anchors[a] = (group.builder.reduction(a, group.places), at)
            except Refused:
                self.loaded, self.home = loaded, home
                continue
            self.home[a] = index
            self.groups[index] = group
            return True
        return False

    def _shares(self, a: int, group: _Group) -> bool:
        """Whether an anchor reads an anchor or a leaf that the group has at hand."""
        at_hand = {source.position for source, _ in group.arg_list if source.kind == "leaf"} | group.anchors.keys()
        return not at_hand.isdisjoint(self.graph.reads[a])

    def _place_scan(self, a: int, primitive: Scan) -> None:
        shape = self.items[a].signature.shape
        outer = tuple(d for d in range(len(shape)) if d != primitive.axis)
        group = self._new(tuple(shape[d] for d in (*outer, primitive.axis)), 1, "a scan is a kernel of its own")
        group.closed = True
        group.domain, group.places = shape, _places(len(shape), (primitive.axis,))
        at = identity(len(shape), group.places)
        group.anchors[a] = (group.builder.reduction(a, group.places), at)
        self.home[a] = group.number

    def _place_call(self, a: int, primitive: LibraryCall) -> None:
        item = self.items[a]
        args, dtypes = [], []
        for p in item.args:
            f = self.items[p].signature
            if isinstance(f.primitive, Leaf):
                args.append((Source("leaf", p), Layout(f.shape, f.primitive.strides, f.primitive.origin)))
            elif isinstance(f.primitive, Const):
                args.append((Source("const", p), Layout((), (), 0)))
            elif isinstance(f.primitive, View) and p not in self.graph.anchor_set:  # a part of what is in memory
                whole = self.items[p].args[0]
                self.loaded.add(whole)
                args.append((Source("new", whole), Layout(f.shape, f.primitive.strides, f.primitive.offset)))
            else:
                self.loaded.add(p)
                args.append((Source("new", p), Layout(f.shape, layout.c_strides(f.shape), 0)))
            dtypes.append(f.dtype)
        self.home[a] = len(self.groups)
        parts = tuple(Source("new", self.parts[a][k]) for k in range(len(primitive.results)))
        reason = f"{primitive.name.removesuffix(SUFFIX)} is a routine of its own"
        self.groups.append(
            RunLibraryCall(primitive.name, primitive.options, tuple(args), tuple(dtypes), a, reason, parts)
        )

    # updates

    def _base(self, position: int) -> Source | None:
        """Where the base of an update is stored, or None if it is an expression."""
        if isinstance(self.items[position].signature.primitive, Leaf):
            return Source("leaf", position)
        if position not in self.graph.anchor_set:
            return None
        self.loaded.add(position)
        return Source("new", position)

    def _may_overwrite(self, base: int) -> bool:
        """Whether nothing else needs the old value any more."""
        item = self.items[base]
        f = item.signature
        if isinstance(f.primitive, Leaf):
            if not self.overwrite or f.primitive.origin or not layout.is_c(f.shape, f.primitive.strides):
                return False
            same = self.sharing[item.buffer]
        else:
            if base in self.roots:
                return False
            same = [base]
        return not any(self.readers[p] for p in same)

    def _place_update(self, a: int, primitive: Update) -> None:
        base, value = self.items[a].args
        where = primitive.region
        source = self._base(base)
        box = _unit_box(self.items[a].signature.shape, where)
        if source is not None and self._may_overwrite(base):
            clash = self._clash(a, base, where)
            if not clash:
                self._write_in_place(a, where, source, value)
                return
            large = 2 * prod(where.shape) >= prod(self.items[a].signature.shape)
            if not (box is not None and large):
                # The right side reads what is overwritten: compute it aside first.
                self._write_in_place(a, where, source, value, self._store_aside(value))
                return
        if box is None:
            copy = self._new(self.items[a].signature.shape, 0, "an update with steps copies its base first")
            at = identity(len(copy.loops), range(len(copy.loops)))
            copy.closed = True
            copy.anchors[a] = (copy.builder.value(base, at), at)
            self.home[a] = copy.number
            self._write_in_place(a, where, Source("new", a), value)
            return
        self._write_fresh(a, where, box, base, value)

    def _clash(self, a: int, base: int, where: Layout) -> bool:
        """Whether the new value reads the base's buffer at any element but the one that it replaces."""
        probe = _Group(where.shape, 0, len(self.groups), "")
        probe.builder = self._builder(probe, where.shape)
        loaded = set(self.loaded)
        imap = identity(len(where.shape), range(len(where.shape)))
        f = self.items[base].signature
        probe.builder.operand(self.items[a].args[1], where.shape, imap, f.dtype)
        self.loaded = loaded
        storage = self.items[base]
        for source, at in probe.builder.reads:
            other = self.items[source.position]
            if source.position == base or (storage.buffer >= 0 and other.buffer == storage.buffer):
                shift = other.offset - storage.offset if source.kind == "leaf" else 0
                target = ir.Affine(where.offset - shift, _still(where))
                if at != target or other.signature.dtype != f.dtype:
                    return True
        return False

    def _store_aside(self, value: int) -> Source:
        """The value of an expression in a fresh buffer of its own."""
        f = self.items[value].signature
        group = self._new(f.shape, 0, "the right side reads what the left side overwrites")
        group.closed = True
        at = identity(len(f.shape), range(len(f.shape)))
        number = group.builder.value(value, at)
        source = Source("copy", value)
        group.builder.store(source, number, f.dtype, compose(layout.c_strides(f.shape), 0, at, len(f.shape)))
        return source

    def _write_in_place(self, a: int, where: Layout, source: Source, value: int, aside: Source | None = None) -> None:
        group = self._new(where.shape, 0, "it writes a part of an array in place")
        group.closed = True
        f = self.items[a].signature
        imap = identity(len(where.shape), range(len(where.shape)))
        if aside is None:
            number = group.builder.operand(value, where.shape, imap, f.dtype)
        else:
            number = group.builder.window(aside, value, where.shape, imap)
        at = ir.Affine(where.offset, _still(where))
        alias = next((n for n, (s, arg) in enumerate(group.arg_list) if arg.kind == "in" and self._same(s, source)), -1)
        group.builder.store(Source("new", a), number, f.dtype, at, alias)
        if source != Source("new", a):
            self.adopted[a] = source
        self.home[a] = group.number

    def _same(self, one: Source, other: Source) -> bool:
        """Whether two arguments are the same memory."""
        a, b = self.items[one.position].buffer, self.items[other.position].buffer
        return one == other or (one.kind == other.kind == "leaf" and a == b >= 0)

    def _write_fresh(
        self, a: int, where: Layout, box: tuple[tuple[tuple[int, int], ...], tuple[int, ...]], base: int, value: int
    ) -> None:
        """One kernel over the whole array that writes a fresh buffer: new values in the box, old ones outside."""
        f = self.items[a].signature
        bounds, places = box
        group = self._new(f.shape, 0, "an update that leaves the old array as it is")
        group.closed = True
        loops = len(f.shape)
        inside = tuple(
            ir.Affine(-bounds[p][0], tuple(1 if k == p else 0 for k in range(loops)))
            if p >= 0
            else ir.Affine(0, (0,) * loops)
            for p in places
        )
        full = identity(loops, range(loops))
        at = compose(layout.c_strides(f.shape), 0, full, loops)
        number = group.builder.operand(value, where.shape, inside, f.dtype)
        group.builder.store(Source("new", a), number, f.dtype, at)
        group.outside = self._builder(group, f.shape)
        old = group.outside.operand(base, f.shape, full, f.dtype)
        group.outside.store(Source("new", a), old, f.dtype, at)
        group.region = bounds
        self.home[a] = group.number

    def _place_scatter(self, a: int, primitive: Scatter) -> None:
        item = self.items[a]
        f = item.signature
        base = item.args[0]
        source = self._base(base)
        if source is not None and self._may_overwrite(base):
            self.adopted[a] = source
        else:
            group = self._new(f.shape, 0, "an indexed write that leaves the old array as it is")
            group.closed = True
            at = identity(len(f.shape), range(len(f.shape)))
            group.anchors[a] = (group.builder.operand(base, f.shape, at, f.dtype), at)
            self.home[a] = group.number
        step = RunLibraryCall(
            "scatter", (primitive.count, primitive.op), (), (), a, "an indexed write is a routine of its own"
        )
        args, dtypes = [], []
        for p in item.args[1:]:
            g = self.items[p].signature
            if isinstance(g.primitive, Leaf):
                args.append((Source("leaf", p), Layout(g.shape, g.primitive.strides, g.primitive.origin)))
            else:
                self.loaded.add(p)
                args.append((Source("new", p), Layout(g.shape, layout.c_strides(g.shape), 0)))
            dtypes.append(g.dtype)
        # The last argument is the number by which an index out of bounds is reported.
        args.append((Source("location", a), Layout((), (), 0)))
        dtypes.append(INT64)
        self.groups.append(
            RunLibraryCall(step.name, (*step.options, f.shape), tuple(args), tuple(dtypes), a, step.reason)
        )
        self.home[a] = len(self.groups) - 1

    # the plan

    def _emit(self) -> tuple[Step, ...]:
        runs: list[tuple[RunKernel | RunLibraryCall, list[Source], tuple[Source, ...]]] = []
        for group in self.groups:
            if isinstance(group, RunLibraryCall):
                runs.append((group, list(group.targets), (*group.targets, *(s for s, _ in group.args))))
                continue
            for a, (value, at) in group.anchors.items():
                if a in self.roots or a in self.loaded or a in self.graph.must_store:
                    f = self.items[a].signature
                    place = compose(layout.c_strides(f.shape), 0, at, len(group.loops))
                    group.builder.store(Source("new", a), value, f.dtype, place)
            if not group.builder.stores:
                continue
            made = [source for source, arg in group.arg_list if arg.kind == "out"]
            bound = tuple(source for source, _ in group.arg_list)
            kernel = ir.Kernel(
                group.loops,
                group.reduced,
                tuple(arg for _, arg in group.arg_list),
                group.builder.body(),
                group.region,
                group.outside.body() if group.outside is not None else None,
                name=_name(group),
            )
            runs.append((RunKernel(kernel, bound, group.reason), made, bound))
        return self._with_memory(runs)

    def _with_memory(
        self, runs: list[tuple[RunKernel | RunLibraryCall, list[Source], tuple[Source, ...]]]
    ) -> tuple[Step, ...]:
        """The steps with allocation before the first use of a buffer and its release after the last."""
        held = {Source("new", a): base for a, base in self.adopted.items() if base.kind != "leaf"}

        owners: dict[Source, Source] = {}

        def owner(source: Source) -> Source:
            path = []
            while source not in owners and source in held:
                path.append(source)
                source = held[source]
            found = owners.get(source, source)
            owners.update(dict.fromkeys(path, found))
            return found

        last = {owner(s): k for k, (_, _, bound) in enumerate(runs) for s in bound if s.kind in ("new", "copy")}
        keep = {owner(Source("new", r)) for r in self.roots}
        ends: dict[int, list[Source]] = {}
        for mine, index in last.items():
            if mine not in keep:
                ends.setdefault(index, []).append(mine)
        alive: dict[Source, Source] = {}  # owner -> the name that its buffer goes by now
        steps: list[Step] = []
        for index, (step, made, bound) in enumerate(runs):
            for target in made:
                mine = owner(target)
                if alive.get(mine) == target:
                    continue
                if target.position in self.adopted and target.kind == "new":
                    steps.append(Adopt(target, self.adopted[target.position]))
                else:
                    f = self.items[target.position].signature
                    steps.append(Allocate(target, prod(f.shape) * f.dtype.itemsize))
                alive[mine] = target
            # A buffer that was adopted is read by the name that it goes by now.
            names = {s: alive.get(owner(s), s) for s in bound}
            if isinstance(step, RunLibraryCall):
                steps.append(replace(step, args=tuple((names[s], where) for s, where in step.args)))
            elif not _idle(step.kernel):
                steps.append(replace(step, args=tuple(names[s] for s in step.args)))
            steps += [Free(alive.pop(mine)) for mine in ends.get(index, ()) if mine in alive]
        return tuple(steps)


def _idle(kernel: ir.Kernel) -> bool:
    """Whether a kernel has no point to compute (an empty array; an empty reduction still has its identity)."""
    return 0 in kernel.shape[: len(kernel.shape) - kernel.reduced] or (
        0 in kernel.shape and not any(isinstance(i, ir.ReduceLoops) for i in kernel.body.instrs)
    )


def _places(ndim: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    """For every dimension of a reduced domain, the loop that it runs along: outer loops first, then the reduced."""
    order = [d for d in range(ndim) if d not in axes] + list(axes)
    return tuple(order.index(d) for d in range(ndim))


def _still(where: Layout) -> tuple[int, ...]:
    return tuple(0 if n == 1 else s for n, s in zip(where.shape, where.strides, strict=True))


def _stand(group: _Group, shape: tuple[int, ...]) -> IndexMap | None:
    """The map at which an elementwise result of `shape` stands in a group, or None where it has no place there."""
    loops = len(group.loops)
    if shape == group.domain:
        return identity(loops, group.places)
    if not group.reduced:
        return None
    outer = loops - group.reduced
    places = []
    k = 0
    for n in shape:  # sizes of 1 do not count: a reduction with keepdims has the outer shape too
        while k < outer and group.loops[k] == 1 and n != 1:
            k += 1
        if n == 1:
            places.append(-1)
        elif k < outer and group.loops[k] == n:
            places.append(k)
            k += 1
        else:
            return None
    if any(group.loops[j] != 1 for j in range(k, outer)):
        return None
    return identity(loops, places)


def _unit_box(shape: tuple[int, ...], where: Layout) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]] | None:
    """A region as a box of the array's index space.

    Returns the bounds of every dimension and, for every dimension of the region, the one of the array that it runs
    along (-1 where its size is 1); None for a region with steps.
    """
    parts = layout.decompose(shape, where.strides, where.offset, where.shape)
    if parts is None:
        return None
    starts, coefs = parts
    bounds = [(s, s + 1) for s in starts]
    places = []
    taken: set[int] = set()
    for n, coef in zip(where.shape, coefs, strict=True):
        if n == 1:
            places.append(-1)
            continue
        along = [k for k, c in enumerate(coef) if c]
        if len(along) != 1 or coef[along[0]] != 1 or along[0] in taken:
            return None
        taken.add(along[0])
        bounds[along[0]] = (starts[along[0]], starts[along[0]] + n)
        places.append(along[0])
    return tuple(bounds), tuple(places)


def _name(group: _Group) -> str:
    rows = [
        i.op for i in group.builder.instrs if isinstance(i, (ir.Apply, ir.ReduceLoops, ir.ScanLoop)) and i.op != "cast"
    ]
    if any(isinstance(i, ir.LoadIndexed) for i in group.builder.instrs):
        rows.insert(0, "gather")
    return "_".join(rows[:4]) + (f"_and_{len(rows) - 4}_more" if len(rows) > 4 else "") or "copy"


def schedule(items: Sequence[Item], roots: Sequence[int], overwrite: bool = True) -> tuple[Step, ...]:
    """The steps that compute the nodes at the positions `roots`.

    Parameters
    ----------
    items
        The graph, arguments by position, in any order.
    roots
        Positions of pending nodes to be stored.
    overwrite
        Whether an update may write into the memory of a leaf, since nothing outside the graph needs its old value.
    """
    joined = batch_calls(fold_epilogues(one_window(items), roots), roots)
    return _Scheduler(push_views(joined, roots), roots, overwrite).run()
