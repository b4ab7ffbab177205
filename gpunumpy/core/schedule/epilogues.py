"""The pass that fuses elementwise operations on the results of library calls into the calls, as epilogues.

An operation on the result of a call is fused if nothing else reads the result and a kernel is saved by it. The record
of a library call tells which operations the call can apply.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graph.library_calls.record import Epilogue
from ..graph.library_calls.registry import record_of
from ..graph.primitives import Leaf, LibraryCall, Map, Output
from ..graph.signature import Signature
from .analysis import topological_order
from .lower import Item
from .traits import Traits


def fold_epilogues(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> list[Item]:
    """Fuse operations into the calls before them, as far as that saves kernels.

    A kernel is saved where the result of the operation has to be in memory: a root, or an argument of a call.
    """
    result = list(items)
    if not traits.takes_epilogues or not any(map(_takes_epilogues, items)):
        return result
    order = topological_order(items, roots)
    readers: dict[int, list[int]] = {}
    for p in order:
        for a in items[p].args:
            readers.setdefault(a, []).append(p)
    root_set = frozenset(roots)
    for p in order:
        if not _takes_epilogues(items[p]):
            continue
        # Fuse one operation after the other, and keep the last call whose result has to be in memory.
        call, last_saving = result[p], None
        while p not in root_set and len(readers[p]) == 1:
            (reader,) = readers[p]
            fused = _call_with_operation(result, call, p, reader, root_set)
            if fused is None:
                break
            p, call = reader, fused
            if p in root_set or any(isinstance(items[r].signature.primitive, LibraryCall) for r in readers[p]):
                last_saving = p, call
        if last_saving is not None:
            result[last_saving[0]] = last_saving[1]
    return result


def _takes_epilogues(item: Item) -> bool:
    primitive = item.signature.primitive
    return isinstance(primitive, LibraryCall) and record_of(primitive.name).with_epilogue is not None


def _call_with_operation(
    items: Sequence[Item], call: Item, call_position: int, reader: int, root_set: frozenset[int]
) -> Item | None:
    """Return `call`, the item at `call_position`, with the operation of item `reader` fused; None if it takes none."""
    sig, args = items[reader].signature, items[reader].args
    primitive = call.signature.primitive
    assert isinstance(primitive, LibraryCall)
    with_epilogue = record_of(primitive.name).with_epilogue
    if (
        with_epilogue is None
        or not isinstance(sig.primitive, Map)
        or sig.shape != call.signature.shape
        or len(args) > 2
    ):
        return None
    epilogue, others = Epilogue(sig, args.index(call_position)), tuple(a for a in args if a != call_position)
    if others:
        other = items[others[0]].signature
        in_memory = isinstance(other.primitive, (Leaf, LibraryCall, Output)) or others[0] in root_set
        epilogue = epilogue._replace(other=other, in_memory=in_memory)
    options = with_epilogue(call.signature, epilogue)
    if options is None:
        return None
    args = (*call.args, *others)
    signatures = tuple(items[a].signature for a in args)
    return Item(Signature(LibraryCall(primitive.name, options), signatures, sig.shape, sig.dtype, sig.queue), args)
