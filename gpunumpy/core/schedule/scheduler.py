"""The scheduler: from a graph of nodes to an ordered list of kernels and library calls. Pure; no CUDA in it.

An *anchor* is a node that a kernel is built around: a node that must be in memory (a root, an argument of a library
call, the base of a gather), every update, reduction and scan, and every expression too long to compute again. Anchors
are placed in topological order, updates as late as possible. An anchor joins an earlier kernel over the same loops if
all that it reads is available there; otherwise it starts a kernel. Other nodes are computed again where they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

from ..graph.library_calls.registry import begun_outputs
from ..graph.primitives import LibraryCall, Output, Reduce, Scan, Scatter, Update
from .emission import emit
from .groups import Placement, overwritten
from .joining import are_last_axes, convert_and_join, join_group, loops_of_dims
from .lower import Item, Source, map_to_loops
from .steps import RunLibraryCall, Step
from .traits import Traits
from .updates import begin_outputs, place_scatter, place_update


def schedule(items: Sequence[Item], roots: Sequence[int], traits: Traits, overwrite: bool = True) -> tuple[Step, ...]:
    """Return the steps that compute the nodes at the positions `roots`.

    Parameters
    ----------
    items
        The graph: arguments are positions in it, in any order.
    roots
        The positions of the nodes to store.
    traits
        The properties of the executor that will run the steps.
    overwrite
        Whether an update may write into the memory of a leaf, as nothing outside the graph needs its old value.
    """
    placement = Placement(items, roots, traits, overwrite)
    for anchor in _placement_order(placement):
        for p in placement.graph.reads[anchor]:
            placement.unplaced_readers[p] -= 1
        _place(placement, anchor)
    return emit(placement)


def _placement_order(placement: Placement) -> Iterator[int]:
    """Yield the anchors, each after its needs; updates and scatters late, so that readers of old values come before."""
    graph, items = placement.graph, placement.items
    missing_needs = {a: len(graph.needs[a]) for a in graph.anchors}
    dependents: dict[int, list[int]] = {}
    for a in graph.anchors:
        for p in graph.needs[a]:
            dependents.setdefault(p, []).append(a)
    order = {a: k for k, a in enumerate(graph.anchors)}

    def rank(a: int) -> tuple[bool, int, int]:
        return bool(overwritten(items[a])), order[a], a

    ready = [rank(a) for a in graph.anchors if not missing_needs[a]]
    heapify(ready)
    for _ in graph.anchors:
        assert ready, "the graph has a circle"
        chosen = _pop_next(placement, ready)
        yield chosen
        for a in dependents.get(chosen, ()):
            missing_needs[a] -= 1
            if not missing_needs[a]:
                heappush(ready, rank(a))


def _pop_next(placement: Placement, ready: list[tuple[bool, int, int]]) -> int:
    """Take the first anchor from a heap of ranks; updates whose base is still to be read by another one come later."""
    deferred = []
    while ready:
        rank = heappop(ready)
        if not rank[0] or not placement.is_base_read_later(rank[-1]):
            break
        deferred.append(rank)
    else:
        rank = deferred.pop(0)
    for other in deferred:
        heappush(ready, other)
    return rank[-1]


def _place(placement: Placement, anchor: int) -> None:
    item = placement.items[anchor]
    primitive = item.signature.primitive
    if isinstance(primitive, LibraryCall):
        _place_call(placement, anchor, primitive)
    elif isinstance(primitive, Output):
        placement.group_of[anchor] = placement.group_of[item.args[0]]
    elif isinstance(primitive, Scatter):
        place_scatter(placement, anchor, primitive)
    elif isinstance(primitive, Update):
        place_update(placement, anchor, primitive)
    elif isinstance(primitive, Reduce):
        _place_reduce(placement, anchor, primitive)
    elif isinstance(primitive, Scan):
        _place_scan(placement, anchor, primitive)
    else:
        _place_map(placement, anchor)


def _place_map(placement: Placement, anchor: int) -> None:
    signature = placement.items[anchor].signature
    reason = join_group(placement, anchor)
    if not reason:
        return
    group = placement.new_group(signature.shape, 0, reason)
    group.domain, group.loop_of_dim = signature.shape, tuple(range(len(signature.shape)))
    group.segment = placement.graph.segments.get(anchor)
    at = map_to_loops(len(signature.shape), group.loop_of_dim)
    group.anchors[anchor] = (group.builder.value(anchor, at), at)
    placement.group_of[anchor] = group.number


def _place_reduce(placement: Placement, anchor: int, primitive: Reduce) -> None:
    reason = join_group(placement, anchor, reduced=True)
    if not reason or convert_and_join(placement, anchor, primitive):
        return
    domain = placement.items[placement.items[anchor].args[0]].signature.shape
    outer = tuple(d for d in range(len(domain)) if d not in primitive.axes)
    loops = tuple(domain[d] for d in outer + primitive.axes)
    group = placement.new_group(loops, len(primitive.axes), reason)
    group.domain, group.loop_of_dim = domain, loops_of_dims(len(domain), primitive.axes)
    group.reduces_last_axes = are_last_axes(primitive.axes, len(domain))
    at = map_to_loops(len(loops), range(len(outer)))
    group.anchors[anchor] = (group.builder.reduction(anchor, group.loop_of_dim), at)
    placement.group_of[anchor] = group.number


def _place_scan(placement: Placement, anchor: int, primitive: Scan) -> None:
    shape = placement.items[anchor].signature.shape
    outer = tuple(d for d in range(len(shape)) if d != primitive.axis)
    group = placement.new_group(tuple(shape[d] for d in (*outer, primitive.axis)), 1, "a scan is a kernel of its own")
    group.closed = True
    group.domain, group.loop_of_dim = shape, loops_of_dims(len(shape), (primitive.axis,))
    at = map_to_loops(len(shape), group.loop_of_dim)
    group.anchors[anchor] = (group.builder.reduction(anchor, group.loop_of_dim), at)
    placement.group_of[anchor] = group.number


def _place_call(placement: Placement, anchor: int, primitive: LibraryCall) -> None:
    args = placement.items[anchor].args
    count = len(args) - begun_outputs(primitive)
    windows, dtypes = placement.call_arguments(args[:count])
    positions = [placement.outputs[anchor][k] for k in range(len(primitive.results))]
    if args[count:]:
        begin_outputs(placement, positions or [anchor], args[count:], [source for source, _ in windows])
    outputs = tuple([Source("new", p) for p in positions])
    reason = f"{primitive.name} is a library call of its own"
    placement.group_of[anchor] = len(placement.groups)
    placement.groups.append(RunLibraryCall(primitive.name, primitive.options, windows, dtypes, anchor, reason, outputs))
