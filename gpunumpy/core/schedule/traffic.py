"""The bytes that a step of a plan reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..graph.library_calls.registry import record_of
from ..late_dataclasses import dataclass
from .kernel import Affine, Load, LoadIndexed
from .lower import Item
from .steps import Allocate, RunKernel, RunLibraryCall, Step
from .verify import gathered_range, index_range

Box = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that a step reads and bytes that it writes."""

    read: int
    written: int


def traffic(step: RunKernel | RunLibraryCall, steps: Sequence[Step], items: Sequence[Item]) -> Traffic:
    """Return the bytes that one of the steps of a plan for the graph `items` moves; each element counts once.

    Overlapping windows of one buffer, as in a stencil, count as the stretch of memory that they cover. A gather counts
    the elements that it picks, an indexed write the elements that it is given.
    """
    if isinstance(step, RunLibraryCall):
        arrays = [(x, dtype) for x, dtype in zip(step.args, step.dtypes, strict=True) if x[0].kind in ("leaf", "new")]
        sizes = [prod(window.shape) * dtype.itemsize for (_, window), dtype in arrays]
        if not record_of(step.name).writes:
            return Traffic(sum(sizes), 0)
        allocated = [s.nbytes for s in steps if isinstance(s, Allocate) and s.target in step.targets]
        return Traffic(sum(sizes), sum(allocated) if allocated else sum(sizes[:1]))
    kernel = step.kernel
    all_points = tuple((0, n) for n in kernel.shape)
    inner = kernel.region or all_points
    reads, writes = _TouchedBytes(step, items), _TouchedBytes(step, items)
    bodies = [(kernel.body, inner, 0)] + ([(kernel.outside, all_points, _point_count(inner))] if kernel.outside else [])
    for body, bounds, skipped_points in bodies:
        for instr in body.instructions:
            if isinstance(instr, Load):
                reads.add(
                    instr.arg, index_range(instr.at, bounds), _distinct_elements(instr.at, bounds, skipped_points)
                )
            elif isinstance(instr, LoadIndexed):
                span = gathered_range(index_range(instr.at, bounds), instr.dims, instr.strides)
                reads.add(instr.arg, span, _point_count(bounds) - skipped_points)
        for store in body.stores:
            writes.add(store.arg, index_range(store.at, bounds), _distinct_elements(store.at, bounds, skipped_points))
    return Traffic(reads.total(), writes.total())


class _TouchedBytes:
    """The stretches of memory that a kernel touches, by buffer."""

    def __init__(self, step: RunKernel, items: Sequence[Item]) -> None:
        self.step = step
        self.items = items
        self.stretches: dict[object, list[tuple[int, int, int]]] = {}  # first byte, end, bytes touched between them

    def add(self, arg: int, elements: tuple[int, int] | None, count: int) -> None:
        """Add `count` elements of a kernel argument, all within a range of elements; None stands for no element."""
        if elements is None:
            return
        source = self.step.args[arg]
        item = self.items[source.position]
        is_leaf = source.kind == "leaf"
        start = item.offset if is_leaf else 0
        size = item.signature.dtype.itemsize
        stretch = ((start + elements[0]) * size, (start + elements[1] + 1) * size, count * size)
        self.stretches.setdefault(item.buffer if is_leaf else source, []).append(stretch)

    def total(self) -> int:
        """Return the bytes of all stretches."""
        return sum(_covered_bytes(stretches) for stretches in self.stretches.values())


def _covered_bytes(stretches: list[tuple[int, int, int]]) -> int:
    """Return the bytes of the stretches; bytes that several stretches cover count once."""
    length, end = 0, min(stretches)[0]
    for first, last, _ in sorted(stretches):
        length += max(0, last - max(first, end))
        end = max(end, last)
    return min(length, sum(count for _, _, count in stretches))


def _point_count(bounds: Box) -> int:
    return prod(high - low for low, high in bounds)


def _distinct_elements(at: Affine, bounds: Box, skipped_points: int) -> int:
    """Return how many elements an access touches within the bounds, `skipped_points` points of which do not run."""
    count = prod(high - low for coef, (low, high) in zip(at.coef, bounds, strict=True) if coef)
    return count - skipped_points if count == _point_count(bounds) else count
