"""The sections of a plan that overwrite what the graph cannot compute again: all of a section runs, or nothing of it.

Between sections, every value that is not computed yet can be computed by another plan: from leaves, and from the values
that are complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from math import prod
from typing import NamedTuple

from ..graph.library_calls.registry import record_of
from ..schedule.lower import Item, Source
from ..schedule.size_functions import Opcode
from ..schedule.sizes import Integer, Trace, is_known_not_negative
from ..schedule.steps import Adopt, Allocate, RunKernel, RunLibraryCall, Step


class Writes(NamedTuple):
    """The numbers of the first and of the last step that writes a source, and of the last one that reads it."""

    first: int
    last: int
    last_read: int


class Rows(NamedTuple):
    """A part of memory in rows: where the first begins, the length of each, how far apart they are, and the number.

    Rows may overlap: then they are as one, from the first to the last.
    """

    start: Integer
    length: Integer
    pitch: Integer
    number: Integer

    def times(self, itemsize: int) -> Rows:
        """Return the rows in bytes, if they are in elements of this size."""
        return Rows(self.start * itemsize, self.length * itemsize, self.pitch * itemsize, self.number)


def targets(step: Step) -> list[Source]:
    """Return the sources that a step writes."""
    if isinstance(step, RunKernel):
        return [source for source, arg in zip(step.args, step.kernel.args, strict=True) if arg.kind == "out"]
    return list(step.targets) if isinstance(step, RunLibraryCall) else []


def _reads(step: Step) -> Sequence[Source]:
    if isinstance(step, RunKernel):
        return step.args
    return [source for source, _ in step.args] if isinstance(step, RunLibraryCall) else []


def writes_of(steps: Sequence[Step]) -> dict[Source, Writes]:
    """Return when each source that steps write is written and read."""
    found: dict[Source, Writes] = {}
    for number, step in enumerate(steps):
        for source in _reads(step):
            if source in found:
                found[source] = found[source]._replace(last_read=number)
        for target in targets(step):
            first = found[target].first if target in found else number
            found[target] = Writes(first, number, number)
    return found


def bases_of(steps: Sequence[Step]) -> dict[Source, Source]:
    """Return the sources whose buffers are adopted, by the sources that adopt them."""
    return {step.target: step.base for step in steps if isinstance(step, Adopt)}


def bases_below(source: Source, bases: Mapping[Source, Source]) -> list[Source]:
    """Return the sources that have had the buffer of a source before it, the latest first."""
    found = []
    while source in bases:
        source = bases[source]
        found.append(source)
    return found


def owner_of(source: Source, bases: Mapping[Source, Source]) -> Source:
    """Return the leaf whose buffer a source has adopted, or the source for which the buffer was allocated."""
    return (source, *bases_below(source, bases))[-1]


def last_write(source: Source, writes: Mapping[Source, Writes], bases: Mapping[Source, Source]) -> int:
    """Return the number of the step that completes a source; -1 if none does.

    An update of no elements is written by no step: it is complete when the value is whose buffer it has adopted.
    """
    written = (s for s in (source, *bases_below(source, bases)) if s in writes)
    return next((writes[s].last for s in written), -1)


def sections_of(writes: Mapping[Source, Writes], bases: Mapping[Source, Source], count: int) -> list[range]:
    """Return the sections of the steps for a graph of `count` nodes, in order.

    A section begins with the first step that writes a value into the memory of another one, and ends behind the last
    one. At its end no value may be written in part, or be in a buffer that belongs to no node of the graph, if a later
    step needs it. As long as nothing has been written into a leaf, all other values may be lost, so they need none.
    """
    into_leaves = [writes[s].first for s in bases if s in writes and owner_of(s, bases).kind == "leaf"]
    if not into_leaves:
        return []
    begin = min(into_leaves)
    merged: list[range] = []
    for source in sorted((s for s in bases if s in writes), key=lambda s: writes[s].first):
        first, end = writes[source].first, writes[source].last + 1
        if end <= begin:
            continue
        if merged and first < merged[-1].stop:
            first, end = merged[-1].start, max(end, merged.pop().stop)
        end = _closed_end(end, writes, count)
        merged.append(range(first, end))
    return merged


def _closed_end(end: int, writes: Mapping[Source, Writes], count: int) -> int:
    """Return the first number from `end` on at which no value is written in part or held by a buffer of no node."""
    while True:
        later = end
        for source, (first, last, last_read) in writes.items():
            needed = last if source.kind == "new" and source.position < count else max(last, last_read)
            if first < end <= needed:
                later = max(later, needed + 1)
        if later == end:
            return end
        end = later


def only_written(steps: Sequence[Step], roots: Sequence[int]) -> frozenset[int]:
    """Return the roots that one kernel writes, or a call that `writes_once`, and nothing in the plan reads."""
    uses: Counter[Source] = Counter()
    written_once: set[Source] = set()
    for step in steps:
        if isinstance(step, RunKernel):
            uses.update(step.args)
            written_once.update(step.args)
        elif isinstance(step, RunLibraryCall):
            uses.update((*step.targets, *(source for source, _ in step.args)))
            if record_of(step.name).writes_once:
                written_once.update(step.targets)
        elif isinstance(step, Adopt):
            uses.update((step.target, step.base))
    sources = {r: Source("new", r) for r in roots}
    return frozenset(r for r, source in sources.items() if source in written_once and uses[source] == 1)


def regions(
    steps: Sequence[Step], bases: Mapping[Source, Source], items: Sequence[Item], section: range, trace: Trace
) -> list[tuple[Source, Rows]]:
    """Return what a section writes into buffers that exist before it begins: whose buffer, and the bytes of it."""
    made_inside = {step.target for step in steps[section.start : section.stop] if isinstance(step, Allocate)}
    found = []
    for step in steps[section.start : section.stop]:
        for target in targets(step):
            owner = owner_of(target, bases)
            if target in bases and owner not in made_inside:
                signature = items[target.position].signature
                written = Rows(0, prod(signature.shape), 0, 1)
                if isinstance(step, RunKernel):
                    written = _written(step, target, trace)
                found.append((owner, written.times(signature.dtype.itemsize)))
    return found


def _written(step: RunKernel, target: Source, trace: Trace) -> Rows:
    """Return the elements of a buffer that a kernel writes, in rows along its first loop if it has only one store."""
    kernel = step.kernel
    bodies = [kernel.body] if kernel.outside is None else [kernel.body, kernel.outside]
    stores = list(dict.fromkeys(s.at for body in bodies for s in body.stores if step.args[s.arg] == target))
    if len(stores) == 1 and kernel.shape:
        ((offset, coef),) = stores
        pitch: Integer = coef[0]
        first, _ = _ends(offset, coef[:1], kernel.shape[:1], trace)
        low, high = _ends(first, coef[1:], kernel.shape[1:], trace)
        if not is_known_not_negative(pitch):
            pitch = trace.operation(Opcode.GREATEST, pitch, -pitch)
        return Rows(low, high - low, pitch, kernel.shape[0])
    lows, highs = zip(*(_ends(*at, kernel.shape, trace) for at in stores), strict=True)
    low = reduce(partial(trace.operation, Opcode.LEAST), lows)
    return Rows(low, reduce(partial(trace.operation, Opcode.GREATEST), highs) - low, 0, 1)


def _ends(offset: Integer, coefs: Sequence[Integer], shape: Sequence[Integer], trace: Trace) -> tuple[Integer, Integer]:
    """Return the first of the elements that loops go over, and the one behind the last."""
    low = high = offset
    for coef, n in zip(coefs, shape, strict=True):
        reach = coef * trace.operation(Opcode.GREATEST, 0, n - 1)
        if not is_known_not_negative(coef):
            low += trace.operation(Opcode.LEAST, 0, reach)
            reach = trace.operation(Opcode.GREATEST, 0, reach)
        high += reach
    return low, high + 1
