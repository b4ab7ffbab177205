"""Simplification of a kernel's loops, before any text is made.

Loops of one turn are dropped. Loops that walk memory as one loop would are merged. Loops whose order is free are put
in the order of the memory they walk, so that the innermost loop is contiguous in memory. An outer loop is never merged
with a reduced loop.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    outer = len(kernel.shape) - kernel.reduced
    order = _memory_order(kernel, _is_order_visible(kernel))
    kept = [d for d in order if kernel.shape[d] != 1]
    if kernel.reduced and not any(d >= outer for d in kept):  # one reduced loop stays
        kept.append(order[-1])
    sizes = list(kernel.shape)
    region = None if kernel.region is None else list(kernel.region)
    coefs = [at.coef for at in affines(kernel)]
    k = 0
    while k + 1 < len(kept):
        d, inner = kept[k], kept[k + 1]
        size = sizes[inner]
        if (
            (d < outer <= inner)
            or any(coef[d] != coef[inner] * size for coef in coefs)
            or (region is not None and region[inner] != (0, size))
        ):
            k += 1
            continue
        # The merged loop walks memory as the inner loop does.
        del kept[k]
        sizes[inner] = sizes[d] * size
        if region is not None:
            region[inner] = (region[d][0] * size, region[d][1] * size)
    return kernel if kept == list(range(len(sizes))) else _with_loops(kernel, kept, sizes, region)


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
    """Return the loops by falling stride: of the loads if the kernel has reduced loops, else of the stores.

    Where it reduces, loads that are made once a row count for loops along which all others are the same.
    """
    outer = len(kernel.shape) - kernel.reduced
    if kernel.reduced:
        level = are_row_level(kernel, kernel.body)
        loads = [(i.at, row) for i, row in zip(kernel.body.instructions, level, strict=True) if isinstance(i, Load)]
        walked, of_rows = [at for at, row in loads if not row], [at for at, row in loads if row]
    else:
        walked, of_rows = [store.at for store in kernel.body.stores], []

    def stride(d: int) -> int:
        return -(_longest(walked, d) or _longest(of_rows, d))

    order = sorted(range(outer), key=stride)
    inner = range(outer, len(kernel.shape))
    return order + (list(inner) if ordered else sorted(inner, key=stride))


def _longest(maps: Sequence[Affine], loop: int) -> int:
    return max((abs(at.coef[loop]) for at in maps), default=0)


def _with_loops(
    kernel: Kernel, kept: Sequence[int], sizes: Sequence[int], region: Sequence[tuple[int, int]] | None
) -> Kernel:
    """Return the kernel with some of its loops, in this order, of other sizes."""

    def change(at: Affine) -> Affine:
        return Affine(at.offset, tuple([at.coef[d] for d in kept]))

    shape = tuple([sizes[d] for d in kept])
    reduced = sum([d >= len(sizes) - kernel.reduced for d in kept])
    of_loops = None if region is None else tuple([region[d] for d in kept])
    outside = kernel.outside and map_affines(kernel.outside, change)
    return Kernel(shape, reduced, kernel.args, map_affines(kernel.body, change), of_loops, outside, kernel.name)


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
