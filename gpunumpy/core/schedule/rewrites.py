"""Graph passes of a few lines each. They append new items, so that positions stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..graph import layout
from ..graph.layout import Shape
from ..graph.primitives import Const, Leaf, LibraryCall, Map, View
from ..graph.signature import Signature, outputs
from .lower import Item
from .traits import Traits


def add_outputs(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> list[Item]:
    """Add the outputs of library calls that the graph lacks: the calls write them all the same, so they need memory."""
    result = list(items)
    for p, item in enumerate(items):
        if isinstance(item.signature.primitive, LibraryCall) and item.signature.primitive.results:
            present = {reader.signature for reader in items if p in reader.args}
            result += [Item(output, (p,)) for output in outputs(item.signature) if output not in present]
    return result


def merge_windows(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> Sequence[Item]:
    """Let readers of equal windows of a buffer all read the first of these leaves, so that a kernel loads it once."""
    first_position: dict[tuple[Signature, int, int], int] = {}
    merged: dict[int, int] = {}
    for p, item in enumerate(items):
        if item.buffer >= 0:
            first = first_position.setdefault((item.signature, item.buffer, item.offset), p)
            if first != p:
                merged[p] = first
    if not merged:
        return items
    return [
        item
        if merged.keys().isdisjoint(item.args)
        else item._replace(args=tuple([merged.get(a, a) for a in item.args]))
        for item in items
    ]


def push_views(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> list[Item]:
    """Move views without an index map (reshapes that merge or split dimensions) from an expression to its leaves.

    A reshape of ``a * 2 + b`` becomes the expression over the reshaped `a` and `b`: no copy is
    needed if both are in C order.
    """
    result = list(items)
    use_count = Counter(a for item in items for a in item.args)
    root_set = frozenset(roots)

    def is_movable(p: int, shape: Shape) -> bool:
        sig = result[p].signature
        if isinstance(sig.primitive, Const):
            return True
        if sig.shape != shape:
            return False
        if isinstance(sig.primitive, Leaf):
            return layout.is_c_contiguous(shape, sig.primitive.strides)
        has_one_reader = p not in root_set and use_count[p] == 1
        return has_one_reader and isinstance(sig.primitive, Map) and all(is_movable(a, shape) for a in result[p].args)

    def push_view(p: int, view: Signature) -> int:
        item = result[p]
        if isinstance(item.signature.primitive, Const):
            return p
        if isinstance(item.signature.primitive, Leaf):
            pushed = Item(
                Signature(view.primitive, (item.signature,), view.shape, item.signature.dtype, view.queue), (p,)
            )
        else:
            args = tuple(push_view(a, view) for a in item.args)
            signatures = tuple(result[a].signature for a in args)
            pushed = Item(
                Signature(item.signature.primitive, signatures, view.shape, item.signature.dtype, view.queue), args
            )
        result.append(pushed)
        return len(result) - 1

    for p, item in enumerate(items):
        primitive = item.signature.primitive
        if isinstance(primitive, View):
            base = item.args[0]
            sig = items[base].signature
            if isinstance(sig.primitive, Map) and item.signature.index_map is None and is_movable(base, sig.shape):
                result[p] = result[push_view(base, item.signature)]
    return result
