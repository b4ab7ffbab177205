"""The pass that gives library calls the elementwise operations behind them.

An operation on the result of a call, if nothing else needs that, becomes a part of the call where this saves the kernel
that would otherwise read the result again. Which operations a call can do, its record says.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graph.library_calls.record import Epilogue
from ..graph.library_calls.registry import record_of
from ..graph.primitives import Leaf, LibraryCall, Map, Output
from ..graph.signature import signature
from .analysis import topological
from .lower import Item
from .traits import Traits


def fold_epilogues(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> list[Item]:
    """Give calls what follows them, where the result has to be in memory and nothing else needs theirs."""
    result = list(items)
    if not traits.takes_epilogues or not any(map(_takes_epilogues, items)):
        return result
    order = topological(items, roots)
    readers: dict[int, list[int]] = {}
    for p in order:
        for a in items[p].args:
            readers.setdefault(a, []).append(p)
    kept = frozenset(roots)
    for p in order:
        if not _takes_epilogues(items[p]):
            continue
        # As far as operations can be taken in; the last place where that spares a kernel is where it ends.
        item, best = result[p], None
        while p not in kept and len(readers[p]) == 1:
            (q,) = readers[p]
            taken = _with_operation(result, item, p, q, kept)
            if taken is None:
                break
            p, item = q, taken
            if p in kept or any(isinstance(items[r].signature.primitive, LibraryCall) for r in readers[p]):
                best = p, item
        if best is not None:
            result[best[0]] = best[1]
    return result


def _takes_epilogues(item: Item) -> bool:
    primitive = item.signature.primitive
    return isinstance(primitive, LibraryCall) and record_of(primitive.name).with_epilogue is not None


def _with_operation(items: Sequence[Item], call: Item, p: int, q: int, kept: frozenset[int]) -> Item | None:
    """The call that computes item `q` from what `call`, the item at `p`, is computed from; None where there is none."""
    f, args = items[q].signature, items[q].args
    primitive = call.signature.primitive
    assert isinstance(primitive, LibraryCall)
    take = record_of(primitive.name).with_epilogue
    if take is None or not isinstance(f.primitive, Map) or f.shape != call.signature.shape or len(args) > 2:
        return None
    epilogue, others = Epilogue(f, args.index(p)), tuple(a for a in args if a != p)
    if others:
        other = items[others[0]].signature
        in_memory = isinstance(other.primitive, (Leaf, LibraryCall, Output)) or others[0] in kept
        epilogue = epilogue._replace(other=other, in_memory=in_memory)
    options = take(call.signature, epilogue)
    if options is None:
        return None
    args = (*call.args, *others)
    signatures = tuple(items[a].signature for a in args)
    return Item(signature(LibraryCall(primitive.name, options), signatures, f.shape, f.dtype, f.queue), args)
