"""From placed anchors to the steps of a plan: kernels with their stores, library calls, and the life of buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

from ..graph import layout
from . import kernel as ir
from .groups import Group, Placement
from .lower import Source, compose
from .steps import Adopt, Allocate, Free, RunKernel, RunLibraryCall, Step

# A kernel or library call, the buffers that it writes, and all sources that it touches.
_WorkItem: TypeAlias = tuple[RunKernel | RunLibraryCall, list[Source], tuple[Source, ...]]


def emit(placement: Placement) -> tuple[Step, ...]:
    """Return the steps that compute the anchors, in the order of the groups."""
    work_items: list[_WorkItem] = []
    for group in placement.groups:
        if isinstance(group, RunLibraryCall):
            work_items.append((group, list(group.targets), (*group.targets, *(s for s, _ in group.args))))
            continue
        for anchor, (value, at) in group.anchors.items():
            if anchor in placement.roots or anchor in placement.loaded or anchor in placement.graph.must_store:
                signature = placement.items[anchor].signature
                index = compose(layout.c_strides(signature.shape), 0, at, len(group.loops))
                group.builder.store(Source("new", anchor), value, signature.dtype, index)
        if not group.builder.stores:
            continue
        written = [source for source, arg in group.arg_list if arg.kind == "out"]
        touched = tuple(source for source, _ in group.arg_list)
        kernel = ir.Kernel(
            group.loops,
            group.reduced,
            tuple(arg for _, arg in group.arg_list),
            group.builder.body(),
            group.region,
            group.outside.body() if group.outside is not None else None,
            name=_kernel_name(group),
        )
        work_items.append((RunKernel(kernel, touched, group.reason), written, touched))
    return _with_memory(placement, work_items)


def _with_memory(placement: Placement, work_items: Sequence[_WorkItem]) -> tuple[Step, ...]:
    """Return the steps, each buffer allocated (or adopted) before its first use and released after its last."""
    adopted_from = {Source("new", anchor): base for anchor, base in placement.adopted.items() if base.kind != "leaf"}

    owners: dict[Source, Source] = {}

    def owner(source: Source) -> Source:
        """Return the node for which the buffer of a source was allocated, before others adopted the buffer."""
        if source not in adopted_from:
            return source
        path = []
        while source not in owners and source in adopted_from:
            path.append(source)
            source = adopted_from[source]
        found = owners.get(source, source)
        owners.update(dict.fromkeys(path, found))
        return found

    last_use = {
        owner(s): index
        for index, (_, _, touched) in enumerate(work_items)
        for s in touched
        if s.kind in ("new", "copy")
    }
    root_owners = {owner(Source("new", r)) for r in placement.roots}
    released_after: dict[int, list[Source]] = {}
    for owning, index in last_use.items():
        if owning not in root_owners:
            released_after.setdefault(index, []).append(owning)
    current_name: dict[Source, Source] = {}  # by owner: the source that its buffer stands for now
    steps: list[Step] = []
    for index, (step, written, touched) in enumerate(work_items):
        for target in written:
            owning = owner(target)
            if current_name.get(owning) == target:
                continue
            if target.position in placement.adopted and target.kind == "new":
                steps.append(Adopt(target, placement.adopted[target.position]))
            else:
                signature = placement.items[target.position].signature
                steps.append(Allocate(target, prod(signature.shape) * signature.dtype.itemsize))
            current_name[owning] = target
        # An adopted buffer is read as the source that it stands for now.
        current = {s: name for s in touched if (name := current_name.get(owner(s), s)) != s}
        if current and isinstance(step, RunLibraryCall):
            step = replace(step, args=tuple([(current.get(s, s), where) for s, where in step.args]))
        elif current and isinstance(step, RunKernel):
            args = zip(step.args, step.kernel.args, strict=True)
            step = replace(step, args=tuple([s if arg.kind == "out" else current.get(s, s) for s, arg in args]))
        if isinstance(step, RunLibraryCall) or not _has_no_points(step.kernel):
            steps.append(step)
        steps += [Free(current_name.pop(owning)) for owning in released_after.get(index, ()) if owning in current_name]
    return tuple(steps)


def _has_no_points(kernel: ir.Kernel) -> bool:
    """Return whether a kernel has no point to compute; an empty reduction still computes its identity."""
    return 0 in kernel.shape[: len(kernel.shape) - kernel.reduced] or (
        0 in kernel.shape and not any(isinstance(i, ir.ReduceLoops) for i in kernel.body.instructions)
    )


def _kernel_name(group: Group) -> str:
    ops = [
        i.op
        for i in group.builder.instructions
        if isinstance(i, (ir.Apply, ir.ReduceLoops, ir.ScanLoop)) and i.op != "cast"
    ]
    if any(isinstance(i, ir.LoadIndexed) for i in group.builder.instructions):
        ops.insert(0, "gather")
    return "_".join(ops[:4]) + (f"_and_{len(ops) - 4}_more" if len(ops) > 4 else "") or "copy"
