"""Passes over the graph that are a few lines each. New items go to the end, so that positions stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ..graph import layout
from ..graph.layout import Shape
from ..graph.primitives import Const, Leaf, LibraryCall, Map, View
from ..graph.signature import Signature, outputs, signature
from .lower import Item
from .traits import Traits


def add_outputs(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> list[Item]:
    """Add the outputs of library calls that nobody asks for, which need memory all the same."""
    result = list(items)
    for p, item in enumerate(items):
        if isinstance(item.signature.primitive, LibraryCall) and item.signature.primitive.results:
            kept = {reader.signature for reader in items if p in reader.args}
            result += [Item(output, (p,)) for output in outputs(item.signature) if output not in kept]
    return result


def merge_windows(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> list[Item]:
    """Name one leaf for all that see the same elements of a buffer, so that a kernel reads them once."""
    first: dict[tuple[Signature, int, int], int] = {}
    same = [
        p if item.buffer < 0 else first.setdefault((item.signature, item.buffer, item.offset), p)
        for p, item in enumerate(items)
    ]
    return [replace(item, args=tuple(same[a] for a in item.args)) if item.args else item for item in items]


def push_views(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> list[Item]:
    """Move views that have no index map (reshapes that merge or split dimensions) down to the memory that they read.

    A reshape of ``a * 2 + b`` is the expression over the reshaped `a` and `b`, which needs no copy where they are in C
    order. New items go to the end, so that positions stay.
    """
    result = list(items)
    used = Counter(a for item in items for a in item.args)
    kept = frozenset(roots)

    def movable(p: int, shape: Shape) -> bool:
        f = result[p].signature
        if isinstance(f.primitive, Const):
            return True
        if f.shape != shape:
            return False
        if isinstance(f.primitive, Leaf):
            return layout.is_c(shape, f.primitive.strides)
        alone = p not in kept and used[p] == 1
        return alone and isinstance(f.primitive, Map) and all(movable(a, shape) for a in result[p].args)

    def moved(p: int, view: Signature) -> int:
        item = result[p]
        if isinstance(item.signature.primitive, Const):
            return p
        if isinstance(item.signature.primitive, Leaf):
            made = Item(
                signature(view.primitive, (item.signature,), view.shape, item.signature.dtype, view.queue), (p,)
            )
        else:
            args = tuple(moved(a, view) for a in item.args)
            signatures = tuple(result[a].signature for a in args)
            made = Item(
                signature(item.signature.primitive, signatures, view.shape, item.signature.dtype, view.queue), args
            )
        result.append(made)
        return len(result) - 1

    for p, item in enumerate(items):
        primitive = item.signature.primitive
        if isinstance(primitive, View):
            child = item.args[0]
            f = items[child].signature
            mapped = layout.decompose(f.shape, primitive.strides, primitive.offset, item.signature.shape) is not None
            if isinstance(f.primitive, Map) and not mapped and movable(child, f.shape):
                result[p] = result[moved(child, item.signature)]
    return result
