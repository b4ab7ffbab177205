"""The pass that batches equal small library calls: for these, the overhead of a call exceeds the time of its work.

A batch of n calls has n outputs, each in a buffer of its own, as the calls alone have. Shapes, dtypes and options alone
decide what is batched, so a program makes the same calls in every run. The record of a library call tells which of its
calls are small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any

from .._native import tried_first
from ..graph.library_calls.record import Batch
from ..graph.library_calls.registry import record_of
from ..graph.primitives import LibraryCall, View
from ..graph.signature import Signature, outputs
from .analysis import topological_order
from .groups import overwritten
from .lower import Item
from .traits import Traits

MIN_BATCH, MAX_BATCH = 4, 64
_MAX_OUTPUT_BYTES = 1 << 26  # of the outputs of a batch: all are held at once, which separate calls may avoid


def batch_calls(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> Sequence[Item]:
    """Replace each group of equal small calls by a batch, whose outputs take the positions of the calls.

    The calls of a group have the same depth: the greatest number of candidate calls on a path from a leaf. So no call
    depends on another call of its group, whichever other groups become batches. The batches are appended to the items,
    so that positions stay.
    """
    if not may_have_batches([item.signature for item in items]):
        return items
    groups: dict[Any, list[int]] = {}
    depths: dict[int, int] = {}
    bases = _update_bases(items)
    for p in topological_order(items, roots):
        item = items[p]
        sig, args = item.signature, [items[a].signature for a in item.args]
        depth = max((depths[a] for a in item.args), default=0)
        is_worth_batching = None
        if isinstance(sig.primitive, LibraryCall) and not sig.primitive.results:
            is_worth_batching = record_of(sig.primitive.name).is_worth_batching
        if (
            is_worth_batching is not None
            and is_worth_batching(sig, args)
            and not any(_views_any_of(items, a, bases) for a in item.args)
        ):
            depth += 1
            groups.setdefault(
                (depth, sig.primitive, sig.shape, sig.dtype, *((a.shape, a.dtype) for a in args)), []
            ).append(p)
        depths[p] = depth
    result = list(items)
    for equal_calls in groups.values():
        sig = items[equal_calls[0]].signature
        max_calls = max(MIN_BATCH, min(MAX_BATCH, _MAX_OUTPUT_BYTES // (prod(sig.shape) * sig.dtype.itemsize or 1)))
        for start in range(0, len(equal_calls), max_calls):
            group = equal_calls[start : start + max_calls]
            if len(group) >= MIN_BATCH:
                _replace_by_batch(result, group)
    return result


def may_have_batches(signatures: list[Signature]) -> bool:
    """Return whether the values of a graph are enough calls of one name and shape for a batch."""
    calls = Counter([(f.primitive.name, f.shape) for f in library_calls(signatures)])  # type: ignore[union-attr]
    return any(count >= MIN_BATCH and record_of(name).is_worth_batching for (name, _), count in calls.items())


@tried_first
def library_calls(signatures: list[Signature]) -> list[Signature]:
    """Return those of the signatures of a graph that are library calls."""
    return [f for f in signatures if type(f.primitive) is LibraryCall]


def _update_bases(items: Sequence[Item]) -> set[tuple[str, int]]:
    """Return the bases of what is written in place: their positions, and the buffers of those in memory.

    A call that reads such a base stays alone. In a batch it would wait for other calls, and the update of the base,
    which can overwrite the base once its readers have run, would have to copy it.
    """
    bases = [p for item in items for p in overwritten(item)]
    buffers = {("buffer", items[p].buffer) for p in bases if items[p].buffer >= 0}
    return buffers.union(("value", p) for p in bases)


def _views_any_of(items: Sequence[Item], position: int, bases: set[tuple[str, int]]) -> bool:
    """Return whether a value is one of the bases, shares the buffer of one, or is a view of one."""
    item = items[position]
    if ("value", position) in bases or ("buffer", item.buffer) in bases:
        return True
    return isinstance(item.signature.primitive, View) and _views_any_of(items, item.args[0], bases)


def _replace_by_batch(items: list[Item], group: Sequence[int]) -> None:
    """Replace a group of equal calls by a batch, in place."""
    sig = items[group[0]].signature
    assert isinstance(sig.primitive, LibraryCall)
    args = tuple(a for p in group for a in items[p].args)
    primitive = LibraryCall(
        sig.primitive.name, Batch(len(group), sig.primitive.options), ((sig.shape, sig.dtype),) * len(group)
    )
    call = Signature(primitive, tuple(items[a].signature for a in args), (), sig.dtype, sig.queue)
    for p, output in zip(group, outputs(call), strict=True):
        items[p] = items[p]._replace(signature=output, args=(len(items),))
    items.append(Item(call, args))
