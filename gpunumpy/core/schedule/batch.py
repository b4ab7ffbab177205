"""The pass that makes one call of equal small ones: to call a library takes longer than what it is to compute.

A call over n sets of arguments has n outputs, each in memory of its own, as it would have alone. What is put together
is decided by shapes, dtypes and options, so a program has the same calls every time. Which calls are small, their
records say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from ..graph.library_calls.record import Batch
from ..graph.library_calls.registry import record_of
from ..graph.primitives import LibraryCall, Scatter, Update, View
from ..graph.signature import outputs, signature
from .analysis import topological
from .lower import Item
from .traits import Traits

MIN_BATCH, MAX_BATCH = 4, 64
_HELD_BYTES = 1 << 26  # of the outputs of one call, which there would not all have been at once


def batch_calls(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> Sequence[Item]:
    """Make one call of each group of equal small calls, whose outputs stand where they stood.

    Calls are of a group if as many of those considered come before each of them, on the longest way from a leaf: then
    none needs another, whatever other groups become one. New items go to the end, so that positions stay.
    """
    calls = [item.signature.primitive for item in items if isinstance(item.signature.primitive, LibraryCall)]
    names = Counter(call.name for call in calls)
    if not any(count >= MIN_BATCH and record_of(name).is_small for name, count in names.items()):
        return items
    groups: dict[Any, list[int]] = {}
    depths: dict[int, int] = {}
    written = _written(items)
    for p in topological(items, roots):
        item = items[p]
        f, args = item.signature, [items[a].signature for a in item.args]
        depth = max((depths[a] for a in item.args), default=0)
        is_small = None
        if isinstance(f.primitive, LibraryCall) and not f.primitive.results:
            is_small = record_of(f.primitive.name).is_small
        if is_small is not None and is_small(f, args) and not any(_is_of(items, a, written) for a in item.args):
            depth += 1
            groups.setdefault((depth, f.primitive, f.shape, f.dtype, *((a.shape, a.dtype) for a in args)), []).append(p)
        depths[p] = depth
    result = list(items)
    for alike in groups.values():
        f = items[alike[0]].signature
        most = max(MIN_BATCH, min(MAX_BATCH, _HELD_BYTES // (prod(f.shape) * f.dtype.itemsize or 1)))
        for start in range(0, len(alike), most):
            group = alike[start : start + most]
            if len(group) >= MIN_BATCH:
                _join(result, group)
    return result


def _written(items: Sequence[Item]) -> set[tuple[str, int]]:
    """The values that updates replace parts of, and the buffers of those that are in memory.

    Who reads one is done with it before it is written over: to wait for others would cost a copy of all of it.
    """
    bases = [item.args[0] for item in items if isinstance(item.signature.primitive, (Update, Scatter))]
    buffers = {("buffer", items[p].buffer) for p in bases if items[p].buffer >= 0}
    return buffers.union(("value", p) for p in bases)


def _is_of(items: Sequence[Item], p: int, written: set[tuple[str, int]]) -> bool:
    """Whether a value is one of those, or a part of one."""
    item = items[p]
    if ("value", p) in written or ("buffer", item.buffer) in written:
        return True
    return isinstance(item.signature.primitive, View) and _is_of(items, item.args[0], written)


def _join(items: list[Item], group: Sequence[int]) -> None:
    """Make one call of equal ones, in place."""
    f = items[group[0]].signature
    assert isinstance(f.primitive, LibraryCall)
    args = tuple(a for p in group for a in items[p].args)
    primitive = LibraryCall(
        f.primitive.name, Batch(len(group), f.primitive.options), ((f.shape, f.dtype),) * len(group)
    )
    call = signature(primitive, tuple(items[a].signature for a in args), (), f.dtype, f.queue)
    for p, output in zip(group, outputs(call), strict=True):
        items[p] = replace(items[p], signature=output, args=(len(items),))
    items.append(Item(call, args))
