"""Simplification of a kernel's loops, before any text is made.

Loops of one turn are dropped. Loops that walk memory as one loop would are merged. Loops whose order is free are put
in the order of the memory they walk, so that the innermost loop is contiguous in memory. An outer loop is never merged
with a reduced loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...core.schedule.kernel import (
    Affine,
    Body,
    Kernel,
    Load,
    LoadIndexed,
    LoopIndex,
    ReduceLoops,
    ScanLoop,
    are_row_level,
    map_affines,
)
from . import op_code


def collapse(kernel: Kernel) -> Kernel:
    """Return an equal kernel with as few loops as possible. Reduced loops keep their order where it shows."""
    kernel = _drop_region(kernel)
    kernel = _permute(kernel, _memory_order(kernel, _is_order_visible(kernel)))
    kernel = _drop_single(kernel)
    d = 0
    while d + 1 < len(kernel.shape):
        kernel, merged = _merge(kernel, d)
        d += not merged
    return kernel


def affines(kernel: Kernel) -> list[Affine]:
    """Return every affine map of the kernel."""
    out: list[Affine] = []
    for body in bodies(kernel):
        out += [instr.at for instr in body.instructions if isinstance(instr, (Load, LoadIndexed, LoopIndex))]
        out += [store.at for store in body.stores]
    return out


def bodies(kernel: Kernel) -> list[Body]:
    """Return the bodies of the kernel: one, or two if it has a region."""
    return [kernel.body] if kernel.outside is None else [kernel.body, kernel.outside]


def _drop_region(kernel: Kernel) -> Kernel:
    """Drop a region that is empty or the whole loop space."""
    if kernel.region is None or kernel.outside is None:
        return kernel
    if any(low >= high for low, high in kernel.region):
        return replace(kernel, body=kernel.outside, region=None, outside=None)
    if all(low <= 0 and high >= size for (low, high), size in zip(kernel.region, kernel.shape, strict=True)):
        return replace(kernel, region=None, outside=None)
    return kernel


def _memory_order(kernel: Kernel, ordered: bool) -> list[int]:
    """Return the loops by falling stride: of the loads if the kernel has reduced loops, else of the stores."""
    outer = len(kernel.shape) - kernel.reduced
    if kernel.reduced:
        level = are_row_level(kernel, kernel.body)
        walked = [
            i.at for i, row in zip(kernel.body.instructions, level, strict=True) if isinstance(i, Load) and not row
        ]
    else:
        walked = [store.at for store in kernel.body.stores]

    def stride(d: int) -> int:
        return -max((abs(at.coef[d]) for at in walked), default=0)

    order = sorted(range(outer), key=stride)
    inner = range(outer, len(kernel.shape))
    return order + (list(inner) if ordered else sorted(inner, key=stride))


def _permute(kernel: Kernel, order: list[int]) -> Kernel:
    """Put the loops in this order."""
    if order == list(range(len(order))):
        return kernel
    region = kernel.region and tuple(kernel.region[d] for d in order)
    changed = _rewrite(kernel, lambda at: Affine(at.offset, tuple(at.coef[d] for d in order)))
    return replace(changed, shape=tuple(kernel.shape[d] for d in order), region=region)


def _drop_single(kernel: Kernel) -> Kernel:
    """Drop the loops of one turn, but keep one reduced loop where there are any."""
    outer = len(kernel.shape) - kernel.reduced
    kept = [d for d, size in enumerate(kernel.shape) if size != 1]
    if kernel.reduced and not any(d >= outer for d in kept):
        kept.append(len(kernel.shape) - 1)
    if len(kept) == len(kernel.shape):
        return kernel
    region = kernel.region and tuple(kernel.region[d] for d in kept)
    changed = _rewrite(kernel, lambda at: Affine(at.offset, tuple(at.coef[d] for d in kept)))
    shape = tuple(kernel.shape[d] for d in kept)
    return replace(changed, shape=shape, region=region, reduced=sum(d >= outer for d in kept))


def _merge(kernel: Kernel, d: int) -> tuple[Kernel, bool]:
    """Merge loops `d` and `d + 1` if every affine map allows it; return the kernel and whether they were merged."""
    size = kernel.shape[d + 1]
    if d + 1 == len(kernel.shape) - kernel.reduced:
        return kernel, False
    if any(at.coef[d] != at.coef[d + 1] * size for at in affines(kernel)):
        return kernel, False
    region = kernel.region
    if region is not None:
        if region[d + 1] != (0, size):
            return kernel, False
        region = (*region[:d], (region[d][0] * size, region[d][1] * size), *region[d + 2 :])
    changed = _rewrite(kernel, lambda at: Affine(at.offset, (*at.coef[:d], *at.coef[d + 1 :])))
    shape = (*kernel.shape[:d], kernel.shape[d] * size, *kernel.shape[d + 2 :])
    reduced = kernel.reduced - (d >= len(kernel.shape) - kernel.reduced)
    return replace(changed, shape=shape, region=region, reduced=reduced), True


def _rewrite(kernel: Kernel, change: Callable[[Affine], Affine]) -> Kernel:
    """Apply `change` to every affine map of the kernel."""
    outside = kernel.outside and map_affines(kernel.outside, change)
    return replace(kernel, body=map_affines(kernel.body, change), outside=outside)


def _is_order_visible(kernel: Kernel) -> bool:
    """Return whether the order of the reduced loops shows in the result: of a scan, or the index of an extremum."""
    for instr in kernel.body.instructions:
        if isinstance(instr, ScanLoop):
            return True
        if isinstance(instr, ReduceLoops):
            code = op_code.reduction(instr.op, instr.loop)
            if "INDEX" in code.map(["x"] * len(instr.args), "INDEX"):
                return True
    return False
