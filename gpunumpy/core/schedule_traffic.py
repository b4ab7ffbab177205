"""How many bytes a step has to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from . import kernel as ir
from .lower import Source
from .schedule import Allocate, CallStep, Run, Step

Bounds = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Traffic:
    """What must be read and written, in bytes."""

    read: int
    written: int


def traffic(step: Run | CallStep, steps: Sequence[Step]) -> Traffic:
    """The bytes that one of the steps of a plan moves, with every element of an argument counted once.

    A gather counts as many elements as it picks, an indexed write as many as it is given.
    """
    if isinstance(step, CallStep):
        arguments = zip(step.args, step.dtypes, strict=True)
        sizes = [prod(where.shape) * dtype.itemsize for (source, where), dtype in arguments if source.kind != "site"]
        target = Source("new", step.position)
        written = next((s.nbytes for s in steps if isinstance(s, Allocate) and s.target == target), sum(sizes[:1]))
        return Traffic(sum(sizes), written)
    kernel = step.kernel
    whole = tuple((0, n) for n in kernel.shape)
    box = kernel.region or whole
    counts = _counts(kernel.body, box, 0)
    if kernel.outside is not None:
        for arg, count in _counts(kernel.outside, whole, _points(box)).items():
            counts[arg] = counts.get(arg, 0) + count
    sizes = [counts.get(n, 0) * arg.dtype.itemsize for n, arg in enumerate(kernel.args)]
    return Traffic(
        sum(size for size, arg in zip(sizes, kernel.args, strict=True) if arg.kind == "in"),
        sum(size for size, arg in zip(sizes, kernel.args, strict=True) if arg.kind == "out"),
    )


def _points(bounds: Bounds) -> int:
    return prod(high - low for low, high in bounds)


def _counts(body: ir.Body, bounds: Bounds, left_out: int) -> dict[int, int]:
    """For every argument, how many of its elements a body touches; `left_out` loop points of the bounds are not run."""
    counts: dict[int, int] = {}
    for access in (*body.instrs, *body.stores):
        if isinstance(access, (ir.Load, ir.Gather, ir.Store)):
            coefs = (1,) * len(bounds) if isinstance(access, ir.Gather) else access.at.coef
            count = prod(high - low for c, (low, high) in zip(coefs, bounds, strict=True) if c)
            if count == _points(bounds):
                count -= left_out
            counts[access.arg] = max(counts.get(access.arg, 0), count)
    return counts
