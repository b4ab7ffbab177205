"""How many bytes a step has to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from .kernel import Affine, Load, LoadIndexed
from .lower import Item
from .steps import Allocate, RunKernel, RunLibraryCall, Step
from .verify import reach, spread

Bounds = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Traffic:
    """What must be read and written, in bytes."""

    read: int
    written: int


def traffic(step: RunKernel | RunLibraryCall, steps: Sequence[Step], items: Sequence[Item]) -> Traffic:
    """The bytes that one of the steps of a plan for the graph `items` moves, with every element counted once.

    Windows of one buffer that overlap, as in a stencil, count as the stretch that they cover together. A gather counts
    as many elements as it picks, an indexed write as many as it is given.
    """
    if isinstance(step, RunLibraryCall):
        arrays = [(x, dtype) for x, dtype in zip(step.args, step.dtypes, strict=True) if x[0].kind in ("leaf", "new")]
        sizes = [prod(where.shape) * dtype.itemsize for (_, where), dtype in arrays]
        made = [s.nbytes for s in steps if isinstance(s, Allocate) and s.target in step.targets]
        return Traffic(sum(sizes), sum(made) if made else sum(sizes[:1]))
    kernel = step.kernel
    whole = tuple((0, n) for n in kernel.shape)
    box = kernel.region or whole
    reads, writes = _Touched(step, items), _Touched(step, items)
    bodies = [(kernel.body, box, 0)] + ([(kernel.outside, whole, _points(box))] if kernel.outside else [])
    for body, bounds, left_out in bodies:
        for instr in body.instrs:
            if isinstance(instr, Load):
                reads.add(instr.arg, reach(instr.at, bounds), _distinct(instr.at, bounds, left_out))
            elif isinstance(instr, LoadIndexed):
                span = spread(reach(instr.at, bounds), instr.dims, instr.strides)
                reads.add(instr.arg, span, _points(bounds) - left_out)
        for store in body.stores:
            writes.add(store.arg, reach(store.at, bounds), _distinct(store.at, bounds, left_out))
    return Traffic(reads.total(), writes.total())


class _Touched:
    """Stretches of buffers that a kernel touches."""

    def __init__(self, step: RunKernel, items: Sequence[Item]) -> None:
        self.step = step
        self.items = items
        self.stretches: dict[object, list[tuple[int, int, int]]] = {}  # first byte, end, bytes touched in between

    def add(self, arg: int, span: tuple[int, int] | None, count: int) -> None:
        if span is None:
            return
        source = self.step.args[arg]
        item = self.items[source.position]
        leaf = source.kind == "leaf"
        start = item.offset if leaf else 0
        size = item.signature.dtype.itemsize
        stretch = ((start + span[0]) * size, (start + span[1] + 1) * size, count * size)
        self.stretches.setdefault(item.buffer if leaf else source, []).append(stretch)

    def total(self) -> int:
        return sum(_covered(stretches) for stretches in self.stretches.values())


def _covered(stretches: list[tuple[int, int, int]]) -> int:
    """The bytes of stretches, those that several cover counted once."""
    length, end = 0, min(stretches)[0]
    for first, last, _ in sorted(stretches):
        length += max(0, last - max(first, end))
        end = max(end, last)
    return min(length, sum(count for _, _, count in stretches))


def _points(bounds: Bounds) -> int:
    return prod(high - low for low, high in bounds)


def _distinct(at: Affine, bounds: Bounds, left_out: int) -> int:
    """How many elements an access touches; `left_out` loop points of the bounds are not run."""
    count = prod(high - low for c, (low, high) in zip(at.coef, bounds, strict=True) if c)
    return count - left_out if count == _points(bounds) else count
