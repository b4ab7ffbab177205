"""Choice of the anchors of a graph, before kernels are built: the nodes that kernels are built around, and their reads.

An expression between anchors lives in registers, and is computed again in every kernel that reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..dtypes import KIND
from ..graph.library_calls.registry import begun_outputs, record_of
from ..graph.primitives import (
    Const,
    Gather,
    Leaf,
    LibraryCall,
    Map,
    Output,
    Primitive,
    Reduce,
    Scan,
    Scatter,
    Update,
    View,
)
from ..graph.structure import is_dense
from ..late_dataclasses import dataclass
from .cuts import Segment, cut_expressions
from .limits import MAX_COORDINATES
from .lower import Item
from .traits import Traits

# An expression of more operations than this is stored rather than computed again for each of its readers.
_MAX_RECOMPUTED_OPS = 24
# The same limit for a reader that would compute elements many times (a broadcast), and for the base of an update.
_MAX_BROADCAST_OPS = 8
# More operations than this need so many registers that storing an intermediate value is faster.
_MAX_KERNEL_OPS = 160
# As many operations as this a short sum has besides those of one of its terms.
_TERMS_OPS = 8


# Primitives whose values are always stored, and those that find some arguments in memory.
_IS_STORED = frozenset((Update, Scatter, LibraryCall, Output, Scan))
_READS_MEMORY = frozenset((View, Gather, Scatter, LibraryCall))


@dataclass(slots=True)
class Graph:
    """The anchors of a graph and their reads, by position.

    Attributes
    ----------
    anchors, anchor_set
        The nodes that kernels are built around, in topological order and as a set.
    must_store
        The anchors that are stored in memory even if no other kernel reads them.
    reads
        For every node, the leaves and other anchors that its expression reads.
    needs
        For every anchor, the other anchors that its expression reads.
    segments
        For every operation of an expression that is cut, its segment: see `cuts.py`.
    """

    anchors: list[int]
    anchor_set: set[int]
    must_store: set[int]
    reads: dict[int, frozenset[int]]
    needs: dict[int, frozenset[int]]
    segments: dict[int, Segment]


def topological_order(items: Sequence[Item], roots: Sequence[int]) -> list[int]:
    """Return the positions of all items that the roots need, arguments first."""
    order: list[int] = []
    seen: set[int] = set()
    stack = list(reversed(roots))
    while stack:
        p = stack.pop()
        if p < 0:  # all arguments of the item at ~p are in order
            order.append(~p)
        elif p not in seen:
            seen.add(p)
            args = items[p].args
            if args:
                stack.append(~p)
                stack += [a for a in reversed(args) if a not in seen]
            else:
                order.append(p)
    return order


def choose_anchors(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> Graph:
    """Choose the anchors of a graph.

    These are the nodes that must be in memory, every reduction, and the expressions that are not worth computing again.
    """
    order = topological_order(items, roots)
    kinds: list[type[Primitive]] = [type(item.signature.primitive) for item in items]
    uses = [0] * len(items)
    views = [0] * len(items)
    must_store: set[int] = set(roots)
    store_if_read: set[int] = set()
    stored = {items[p].args[0] for p in order if kinds[p] is Update}.union(roots, _seen_as_views(items, order))
    for p in order:
        kind = kinds[p]
        for a in set(items[p].args):
            uses[a] += 1
            views[a] += kind is View
        if kind in _READS_MEMORY:
            must_store.update(_arguments_in_memory(items, p, stored))
        if kind in _IS_STORED:
            must_store.add(p)
        elif kind is Reduce and not (traits.recomputes_pairs and p not in must_store and _is_short_sum(items, p)):
            store_if_read.add(p)
    must_store = {p for p in must_store if kinds[p] is not Leaf and kinds[p] is not Const}
    alive_at_cuts, segments = cut_expressions(items, order, kinds, must_store)
    store_if_read |= alive_at_cuts - must_store

    lanes = _shared_by_lanes(items, order, kinds) if traits.recomputes_pairs else frozenset()
    operations: dict[int, frozenset[int]] = {}  # what a reader computes for a node: none for an anchor or leaf
    reads: dict[int, frozenset[int]] = {}
    operands: dict[int, frozenset[int]] = {}  # what a reader loads for a node: an anchor or leaf itself
    short_sums: set[int] = set()  # those that are no anchors
    is_late = False  # whether a node became an anchor after another reader than the one that made it one had its reads
    for p in order:
        args = items[p].args
        if kinds[p] is Leaf or kinds[p] is Const:
            operations[p] = frozenset()
            operands[p] = frozenset((p,)) if kinds[p] is Leaf else frozenset()
            continue
        for a in args:
            if (
                operations[a]
                and a not in must_store
                and a not in store_if_read
                and _is_worth_storing(items, p, a, len(operations[a]), uses[a], views[a])
                and not (p in lanes and _is_of_pairs(items, a, len(operations[a]), operands[a]))
            ):
                store_if_read.add(a)
                is_late = True
                operations[a], operands[a] = frozenset(), frozenset((a,))
        operations[p] = frozenset((p,)).union(*[operations[a] for a in args])
        while len(operations[p]) + _TERMS_OPS * len(short_sums & operations[p]) > _MAX_KERNEL_OPS:
            largest = max(args, key=lambda a: len(operations[a]))
            if not operations[largest]:
                break
            store_if_read.add(largest)
            is_late = True
            operations[largest], operands[largest] = frozenset(), frozenset((largest,))
            operations[p] = frozenset((p,)).union(*[operations[a] for a in args])
        reads[p] = frozenset().union(*[operands[a] for a in args])
        operands[p] = reads[p]
        is_stored = p in must_store or p in store_if_read
        if kinds[p] is Reduce and not is_stored:  # of a sum that is stored in any case, no size is asked
            sums = sum([kinds[a] is Reduce for a in operations[p]])
            terms = MAX_COORDINATES ** max(1, sums - 1)  # sums of sums of sums would be too many
            if _is_of_pairs(items, p, terms * len(operations[p]), reads[p]):
                short_sums.add(p)
            else:
                store_if_read.add(p)
                is_stored = True
        if is_stored:
            operations[p], operands[p] = frozenset(), frozenset((p,))
    anchor_set = must_store | store_if_read
    for p in order if is_late else ():
        args = items[p].args
        if args:
            reads[p] = frozenset().union(*[operands[a] for a in args])
            operands[p] = frozenset((p,)) if p in anchor_set else reads[p]
    anchors = [p for p in order if p in anchor_set]
    return Graph(anchors, anchor_set, must_store, reads, {a: reads[a] & anchor_set for a in anchors}, segments)


def _arguments_in_memory(items: Sequence[Item], position: int, stored: set[int]) -> list[int]:
    """Return the arguments that an operation of the kinds `_READS_MEMORY` must find in memory.

    `stored` are the roots, and the bases of updates and of large views.
    """
    item = items[position]
    primitive = item.signature.primitive
    if isinstance(primitive, LibraryCall):
        args = item.args[: len(item.args) - begun_outputs(primitive)]
        if record_of(primitive.name).reads_strides:
            return [items[a].args[0] if _is_view_of_stored(items, a, stored) else a for a in args]
        return list(args)
    if isinstance(primitive, Scatter):
        return list(item.args[1:])
    if isinstance(primitive, Gather):
        base = item.args[0]
        return [items[base].args[0] if base not in stored and is_gathered_through(items, base) else base]
    return [item.args[0]] if item.signature.index_map is None else []


def is_gathered_through(items: Sequence[Item], base: int) -> bool:
    """Return whether a gather reads through its base: a view, such as a transpose, of a value with no more elements."""
    signature = items[base].signature
    if not isinstance(signature.primitive, View):
        return False
    argument = items[items[base].args[0]].signature
    return not isinstance(argument.primitive, (Leaf, Const)) and prod(argument.shape) <= prod(signature.shape)


def _seen_as_views(items: Sequence[Item], order: Sequence[int]) -> set[int]:
    """Return the values of which matrix products read views that have, together, at least as many elements.

    To store such a value takes no longer than to copy these. Other calls that read strides may need the copies: they
    are recorded for views of what the plan stores in any case.
    """
    views: dict[int, set[int]] = {}
    for p in order:
        call = items[p].signature.primitive
        if isinstance(call, LibraryCall) and call.name == "matmul":
            for a in items[p].args:
                if isinstance(items[a].signature.primitive, View):
                    views.setdefault(items[a].args[0], set()).add(a)
    return {
        base
        for base, seen in views.items()
        if sum(prod(items[a].signature.shape) for a in seen) >= prod(items[base].signature.shape)
    }


def _is_view_of_stored(items: Sequence[Item], position: int, stored: set[int]) -> bool:
    """Return whether a value is a view of a node that the plan stores in any case."""
    primitive = items[position].signature.primitive
    if not isinstance(primitive, View):
        return False
    base = items[position].args[0]
    base_signature = items[base].signature
    if isinstance(base_signature.primitive, Const):
        return False
    if isinstance(base_signature.primitive, Leaf):  # it was computed after the view had been recorded
        return is_dense(base_signature)
    if isinstance(base_signature.primitive, (Update, LibraryCall, Output)) or base in stored:
        return True
    # A view without an index map reads its base from memory: see `_arguments_in_memory`.
    return items[position].signature.index_map is None


def _shared_by_lanes(items: Sequence[Item], order: Sequence[int], kinds: Sequence[type[Primitive]]) -> frozenset[int]:
    """Return the operations that are summed for all coordinates of a point at once: a thread shares work among them."""
    found: set[int] = set()
    for p in reversed(order):
        item = items[p]
        if kinds[p] is Reduce:
            shape, axes = items[item.args[0]].signature.shape, item.signature.primitive.axes  # type: ignore[union-attr]
            if len(shape) > len(axes) and len(shape) - 1 not in axes and shape[-1] <= MAX_COORDINATES:
                found.add(item.args[0])
        elif p in found and kinds[p] is Map:
            found.update(a for a in item.args if items[a].signature.shape == item.signature.shape)
    return frozenset(found)


def _is_short_sum(items: Sequence[Item], position: int) -> bool:
    """Return whether a reduction is a sum of few terms, which kernels can add up where they read it."""
    primitive, (argument, *_) = items[position].signature.primitive, items[position].args
    assert isinstance(primitive, Reduce)
    if primitive.op != "add" or len(primitive.axes) > 1 or KIND[primitive.loop[-1]] != "f":
        return False
    return 1 < items[argument].signature.shape[primitive.axes[0]] <= MAX_COORDINATES


def _is_of_pairs(items: Sequence[Item], position: int, operations: int, operands: frozenset[int]) -> bool:
    """Return whether an expression has more elements than it is computed from, as the distances of points have.

    So a kernel that computes it again, in so few operations, reads less than one that loads it.
    """
    signatures = [items[p].signature for p in operands]
    read = sum(prod([n for n, s in zip(x.shape, x.strides, strict=True) if s]) for x in signatures)
    return operations <= _MAX_RECOMPUTED_OPS and read < prod(items[position].signature.shape)


def _is_worth_storing(
    items: Sequence[Item], reader: int, argument: int, operations: int, uses: int, views: int
) -> bool:
    """Return whether an argument of `reader`, an expression of so many operations, is worth storing."""
    signature = items[argument].signature
    if signature.generator:
        return False
    if uses > 1 and operations > _MAX_RECOMPUTED_OPS:
        return True
    primitive = items[reader].signature.primitive
    if (
        isinstance(primitive, Update)
        and argument == items[reader].args[0]
        and uses > 1
        and operations > _MAX_BROADCAST_OPS
    ):
        return True
    if isinstance(primitive, View) and views > 1 and operations > 1:
        return True  # a stencil computes the argument again for every neighbour
    if not isinstance(primitive, (View, Map)):
        return False
    if operations > _MAX_BROADCAST_OPS and prod(items[reader].signature.shape) > prod(signature.shape):
        return True  # a broadcast
    return uses > 1 and isinstance(signature.primitive, Gather)
