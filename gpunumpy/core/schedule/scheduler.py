"""The scheduler: a graph of nodes to an ordered list of kernels and library calls. Pure; no CUDA in it.

An *anchor* is a node that a kernel is built around: what must be in memory (results, arguments of library calls, bases
of gathers and updates) and every reduction and scan. Anchors are taken in topological order, updates as late as
possible; each joins an earlier kernel over the same loops where everything that it reads is at hand there, and else
starts a kernel of its own. What is not an anchor is recomputed where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

from ..graph.primitives import LibraryCall, Output, Reduce, Scan, Scatter, Update
from .emission import emit
from .groups import Placement
from .joining import are_trailing, convert, join, loop_places
from .lower import Item, Source, identity
from .steps import RunLibraryCall, Step
from .updates import place_scatter, place_update


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
    placement = Placement(items, roots, overwrite)
    for a in _ordered(placement):
        for p in placement.graph.reads[a]:
            placement.readers[p] -= 1
        _place(placement, a)
    return emit(placement)


def _ordered(placement: Placement) -> Iterator[int]:
    """The anchors, what each needs before it, and what overwrites late, when the others have read the old value."""
    graph, items = placement.graph, placement.items
    waiting = {a: len(graph.needs[a]) for a in graph.anchors}
    needed: dict[int, list[int]] = {}
    for a in graph.anchors:
        for p in graph.needs[a]:
            needed.setdefault(p, []).append(a)
    order = {a: k for k, a in enumerate(graph.anchors)}

    def rank(a: int) -> tuple[bool, int, int]:
        return isinstance(items[a].signature.primitive, (Update, Scatter)), order[a], a

    ready = [rank(a) for a in graph.anchors if not waiting[a]]
    heapify(ready)
    for _ in graph.anchors:
        assert ready, "the graph has a circle"
        chosen = heappop(ready)[-1]
        yield chosen
        for a in needed.get(chosen, ()):
            waiting[a] -= 1
            if not waiting[a]:
                heappush(ready, rank(a))


def _place(placement: Placement, a: int) -> None:
    item = placement.items[a]
    primitive = item.signature.primitive
    if isinstance(primitive, LibraryCall):
        _place_call(placement, a, primitive)
    elif isinstance(primitive, Output):
        placement.home[a] = placement.home[item.args[0]]
    elif isinstance(primitive, Scatter):
        place_scatter(placement, a, primitive)
    elif isinstance(primitive, Update):
        place_update(placement, a, primitive)
    elif isinstance(primitive, Reduce):
        _place_reduce(placement, a, primitive)
    elif isinstance(primitive, Scan):
        _place_scan(placement, a, primitive)
    else:
        _place_map(placement, a)


def _place_map(placement: Placement, a: int) -> None:
    f = placement.items[a].signature
    reason = join(placement, a)
    if not reason:
        return
    group = placement.new(f.shape, 0, reason)
    group.domain, group.places = f.shape, tuple(range(len(f.shape)))
    at = identity(len(f.shape), group.places)
    group.anchors[a] = (group.builder.value(a, at), at)
    placement.home[a] = group.number


def _place_reduce(placement: Placement, a: int, primitive: Reduce) -> None:
    reason = join(placement, a, reduced=True)
    if not reason or convert(placement, a, primitive):
        return
    domain = placement.items[placement.items[a].args[0]].signature.shape
    outer = tuple(d for d in range(len(domain)) if d not in primitive.axes)
    loops = tuple(domain[d] for d in outer + primitive.axes)
    group = placement.new(loops, len(primitive.axes), reason)
    group.domain, group.places = domain, loop_places(len(domain), primitive.axes)
    group.trailing = are_trailing(primitive.axes, len(domain))
    at = identity(len(loops), range(len(outer)))
    group.anchors[a] = (group.builder.reduction(a, group.places), at)
    placement.home[a] = group.number


def _place_scan(placement: Placement, a: int, primitive: Scan) -> None:
    shape = placement.items[a].signature.shape
    outer = tuple(d for d in range(len(shape)) if d != primitive.axis)
    group = placement.new(tuple(shape[d] for d in (*outer, primitive.axis)), 1, "a scan is a kernel of its own")
    group.closed = True
    group.domain, group.places = shape, loop_places(len(shape), (primitive.axis,))
    at = identity(len(shape), group.places)
    group.anchors[a] = (group.builder.reduction(a, group.places), at)
    placement.home[a] = group.number


def _place_call(placement: Placement, a: int, primitive: LibraryCall) -> None:
    windows, dtypes = placement.windows(placement.items[a].args)
    outputs = tuple(Source("new", placement.outputs[a][k]) for k in range(len(primitive.results)))
    reason = f"{primitive.name} is a library call of its own"
    placement.home[a] = len(placement.groups)
    placement.groups.append(RunLibraryCall(primitive.name, primitive.options, windows, dtypes, a, reason, outputs))
