"""What the scheduler must know of a graph before it builds kernels: its anchors, and what each of them reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ..graph import layout
from ..graph.library_calls.registry import record_of
from ..graph.primitives import Const, Gather, Leaf, LibraryCall, Map, Output, Reduce, Scan, Scatter, Update, View
from .lower import Item

# A subexpression of more operations than this is computed once and kept, rather than again in each place of use.
_RECOMPUTE = 24
# The same where one place of use would compute it for many elements (a broadcast).
_RECOMPUTE_BROADCAST = 8
# More operations than this in one kernel cost more in registers than a trip through memory.
_CONE = 160


@dataclass(slots=True)
class Graph:
    """Anchors in topological order and what they read.

    Attributes
    ----------
    anchors, anchor_set
        The nodes that kernels are built around.
    must_store
        Those that have to be in memory whoever else reads them.
    reads
        For every anchor, the leaves and other anchors that its expression reads.
    needs
        For every anchor, the anchors that come before it.
    """

    anchors: list[int]
    anchor_set: set[int]
    must_store: set[int]
    reads: dict[int, frozenset[int]]
    needs: dict[int, frozenset[int]]


def topological(items: Sequence[Item], roots: Sequence[int]) -> list[int]:
    """Positions of all the items that the roots need, arguments first."""
    order: list[int] = []
    state: dict[int, bool] = {}
    stack = [(r, False) for r in reversed(roots)]
    while stack:
        p, leaving = stack.pop()
        if leaving:
            if not state[p]:
                state[p] = True
                order.append(p)
        elif p not in state:
            state[p] = False
            stack.append((p, True))
            stack.extend((a, False) for a in reversed(items[p].args) if a not in state)
    return order


def analyse(items: Sequence[Item], roots: Sequence[int]) -> Graph:
    """Choose the anchors of a graph; the reasons are with the constants and in `_stored_arguments`."""
    order = topological(items, roots)
    uses = [0] * len(items)
    views = [0] * len(items)
    must: set[int] = set(roots)
    soft: set[int] = set()
    written = {items[p].args[0] for p in order if isinstance(items[p].signature.primitive, Update)}.union(roots)
    for p in order:
        for a in set(items[p].args):
            uses[a] += 1
            views[a] += isinstance(items[p].signature.primitive, View)
        must.update(_stored_arguments(items, p, written))
        primitive = items[p].signature.primitive
        if isinstance(primitive, (Update, Scatter, LibraryCall, Output, Scan)):
            must.add(p)
        elif isinstance(primitive, Reduce):
            soft.add(p)
    must = {p for p in must if not isinstance(items[p].signature.primitive, (Leaf, Const))}

    cone: dict[int, frozenset[int]] = {}  # the operations of an expression down to anchors and leaves
    reads: dict[int, frozenset[int]] = {}
    inside: dict[int, frozenset[int]] = {}
    for p in order:
        item = items[p]
        if isinstance(item.signature.primitive, (Leaf, Const)):
            cone[p] = frozenset()
            inside[p] = frozenset((p,)) if isinstance(item.signature.primitive, Leaf) else frozenset()
            continue
        for a in item.args:
            if a not in must and a not in soft and _keep(items, p, a, len(cone[a]), uses[a], views[a]):
                soft.add(a)
                cone[a], inside[a] = frozenset(), frozenset((a,))
        cone[p] = frozenset((p,)).union(*(cone[a] for a in item.args))
        while len(cone[p]) > _CONE:
            cut = max(item.args, key=lambda a: len(cone[a]))
            if not cone[cut]:
                break
            soft.add(cut)
            cone[cut], inside[cut] = frozenset(), frozenset((cut,))
            cone[p] = frozenset((p,)).union(*(cone[a] for a in item.args))
        reads[p] = frozenset().union(*(inside[a] for a in item.args))
        inside[p] = reads[p]
        if p in must or p in soft:
            cone[p], inside[p] = frozenset(), frozenset((p,))
    anchor_set = must | soft
    anchors = [p for p in order if p in anchor_set]
    return Graph(anchors, anchor_set, must, reads, {a: reads[a] & anchor_set for a in anchors})


def _stored_arguments(items: Sequence[Item], p: int, written: set[int]) -> list[int]:
    """The arguments that an operation can only take from memory; `written` are bases of updates and results."""
    item = items[p]
    primitive = item.signature.primitive
    if isinstance(primitive, LibraryCall) and record_of(primitive.name).reads_strides:
        return [items[a].args[0] if _is_part(items, a, written) else a for a in item.args]
    if isinstance(primitive, (LibraryCall, Scatter)):
        return list(item.args if isinstance(primitive, LibraryCall) else item.args[1:])
    if isinstance(primitive, Gather):
        return [item.args[0]]
    if isinstance(primitive, View):
        child = items[item.args[0]].signature
        if layout.decompose(child.shape, primitive.strides, primitive.offset, item.signature.shape) is None:
            return [item.args[0]]
    return []


def _is_part(items: Sequence[Item], p: int, written: set[int]) -> bool:
    """Whether a value is a part of one that is written to memory whoever reads it."""
    primitive = items[p].signature.primitive
    if not isinstance(primitive, View):
        return False
    whole = items[p].args[0]
    f = items[whole].signature
    if isinstance(f.primitive, (Leaf, Const)):
        return False
    if isinstance(f.primitive, (Update, LibraryCall, Output)) or whole in written:
        return True
    return (
        layout.decompose(f.shape, primitive.strides, primitive.offset, items[p].signature.shape) is None
    )  # see `_stored_arguments`


def _keep(items: Sequence[Item], p: int, a: int, weight: int, uses: int, views: int) -> bool:
    """Whether the argument `a` of `p`, an expression of `weight` operations, is worth computing once."""
    f = items[a].signature
    if weight == 0 or f.generator:
        return False
    if uses > 1 and weight > _RECOMPUTE:
        return True
    primitive = items[p].signature.primitive
    if isinstance(primitive, Update) and a == items[p].args[0] and uses > 1 and weight > _RECOMPUTE_BROADCAST:
        return True
    if isinstance(primitive, View) and views > 1 and weight > 1:
        return True  # a stencil: it would be computed again for every neighbour
    spread = prod(items[p].signature.shape) > prod(f.shape)
    if spread and isinstance(primitive, (View, Map)) and weight > _RECOMPUTE_BROADCAST:
        return True
    return isinstance(primitive, (Map, View)) and isinstance(f.primitive, Gather) and uses > 1
