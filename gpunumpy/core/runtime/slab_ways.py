"""The ways to compute a value slab by slab."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph.library_calls.registry import record_of
from ..graph.node import Node
from ..graph.primitives import Gather, LibraryCall, Output, Reduce, Scan, Scatter
from ..graph.slab import axes_of_slabs
from .host_copies import HostCopy
from .slab_results import UFUNCS, Added, Folded, Moments, Position, Reduced, Scanned, Shared, SlabResult, Stretches
from .slab_selections import Counted, Gathered, Scattered, Selected
from .slab_sorts import Sorted

_COMBINED: dict[str, type[Reduced]] = {
    **dict.fromkeys(UFUNCS, Folded),
    "argmax": Position,
    "argmin": Position,
    "moments": Moments,
}


def ways_to_cut(root: Node) -> list[SlabResult]:
    """Return how a value can be computed slab by slab: along its own axes, and along others of what it is made of."""
    signature = root.signature
    primitive = signature.primitive
    if isinstance(primitive, LibraryCall) and primitive.name.startswith("mask_"):
        return [Selected(root)]
    counting = root.args[0].signature.primitive if isinstance(primitive, Output) else None
    if isinstance(counting, LibraryCall) and counting.name == "mask_offsets":
        return [Counted(root)]
    ways: list[SlabResult] = [Stretches(root, axis) for axis, n in enumerate(signature.shape) if n > 1]
    if isinstance(primitive, Reduce) and primitive.op in _COMBINED:
        extents = root.args[0].signature.shape
        axes = primitive.axes[:1] if primitive.op.startswith("arg") else primitive.axes
        ways += [_COMBINED[primitive.op](root, axis) for axis in axes if extents[axis] > 1]
    elif isinstance(primitive, Gather) and _has_indices(root.args[0], root.args[1:]):
        ways.append(Gathered(root))
    elif isinstance(primitive, Scatter) and _has_indices(root.args[0], root.args[2:]):
        ways.append(Scattered(root))
    elif isinstance(primitive, Scan) and primitive.op in UFUNCS and signature.shape[primitive.axis] > 1:
        ways.append(Scanned(root))
    elif isinstance(primitive, Output):
        (call,) = root.args
        axes_of_call = list(enumerate(axes_of_slabs(call)))[len(signature.shape) :]
        ways += [Shared(root, axis) for axis, cut in axes_of_call if cut is not None]
    elif isinstance(primitive, LibraryCall):
        sums = record_of(primitive.name).sums(primitive.options, [arg.signature for arg in root.args])
        if sums is not None:
            ways.append(Added(root, sums))
        if primitive.name in ("sort", "argsort") and primitive.options == (False,) and signature.shape[-1] > 1:
            ways.append(Sorted(root))
    return ways


def _has_indices(base: Node, indices: Sequence[Node]) -> bool:
    """Return whether there are indices along an axis, of what the host can have in memory."""
    owner = base.data.owner if base.data is not None else None
    is_in_memory = not isinstance(owner, HostCopy) or owner.is_in_memory
    return is_in_memory and any(index.signature.shape for index in indices)
