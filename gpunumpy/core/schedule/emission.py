"""From placed anchors to the steps of a plan: kernels that store what others read, and memory as it comes and goes."""

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

# A piece of work, the buffers that it writes, and all that it touches.
_Run: TypeAlias = tuple[RunKernel | RunLibraryCall, list[Source], tuple[Source, ...]]


def emit(placement: Placement) -> tuple[Step, ...]:
    """The steps that compute the anchors, in the order of the groups."""
    runs: list[_Run] = []
    for group in placement.groups:
        if isinstance(group, RunLibraryCall):
            runs.append((group, list(group.targets), (*group.targets, *(s for s, _ in group.args))))
            continue
        for a, (value, at) in group.anchors.items():
            if a in placement.roots or a in placement.loaded or a in placement.graph.must_store:
                f = placement.items[a].signature
                place = compose(layout.c_strides(f.shape), 0, at, len(group.loops))
                group.builder.store(Source("new", a), value, f.dtype, place)
        if not group.builder.stores:
            continue
        made = [source for source, arg in group.arg_list if arg.kind == "out"]
        bound = tuple(source for source, _ in group.arg_list)
        kernel = ir.Kernel(
            group.loops,
            group.reduced,
            tuple(arg for _, arg in group.arg_list),
            group.builder.body(),
            group.region,
            group.outside.body() if group.outside is not None else None,
            name=_name(group),
        )
        runs.append((RunKernel(kernel, bound, group.reason), made, bound))
    return _with_memory(placement, runs)


def _with_memory(placement: Placement, runs: Sequence[_Run]) -> tuple[Step, ...]:
    """The steps with allocation before the first use of a buffer and its release after the last."""
    held = {Source("new", a): base for a, base in placement.adopted.items() if base.kind != "leaf"}

    owners: dict[Source, Source] = {}

    def owner(source: Source) -> Source:
        path = []
        while source not in owners and source in held:
            path.append(source)
            source = held[source]
        found = owners.get(source, source)
        owners.update(dict.fromkeys(path, found))
        return found

    last = {owner(s): k for k, (_, _, bound) in enumerate(runs) for s in bound if s.kind in ("new", "copy")}
    keep = {owner(Source("new", r)) for r in placement.roots}
    ends: dict[int, list[Source]] = {}
    for mine, index in last.items():
        if mine not in keep:
            ends.setdefault(index, []).append(mine)
    alive: dict[Source, Source] = {}  # owner -> the name that its buffer goes by now
    steps: list[Step] = []
    for index, (step, made, bound) in enumerate(runs):
        for target in made:
            mine = owner(target)
            if alive.get(mine) == target:
                continue
            if target.position in placement.adopted and target.kind == "new":
                steps.append(Adopt(target, placement.adopted[target.position]))
            else:
                f = placement.items[target.position].signature
                steps.append(Allocate(target, prod(f.shape) * f.dtype.itemsize))
            alive[mine] = target
        # A buffer that was adopted is read by the name that it goes by now.
        names = {s: alive.get(owner(s), s) for s in bound}
        if isinstance(step, RunLibraryCall):
            steps.append(replace(step, args=tuple((names[s], where) for s, where in step.args)))
        elif not _idle(step.kernel):
            steps.append(replace(step, args=tuple(names[s] for s in step.args)))
        steps += [Free(alive.pop(mine)) for mine in ends.get(index, ()) if mine in alive]
    return tuple(steps)


def _idle(kernel: ir.Kernel) -> bool:
    """Whether a kernel has no point to compute (an empty array; an empty reduction still has its identity)."""
    return 0 in kernel.shape[: len(kernel.shape) - kernel.reduced] or (
        0 in kernel.shape and not any(isinstance(i, ir.ReduceLoops) for i in kernel.body.instrs)
    )


def _name(group: Group) -> str:
    rows = [
        i.op for i in group.builder.instrs if isinstance(i, (ir.Apply, ir.ReduceLoops, ir.ScanLoop)) and i.op != "cast"
    ]
    if any(isinstance(i, ir.LoadIndexed) for i in group.builder.instrs):
        rows.insert(0, "gather")
    return "_".join(rows[:4]) + (f"_and_{len(rows) - 4}_more" if len(rows) > 4 else "") or "copy"
