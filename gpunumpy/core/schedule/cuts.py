"""Cuts of elementwise expressions that are too long for one kernel, at places where few bytes are alive.

What lies between two cuts is a segment. All that is alive at a cut is stored, and a segment is computed by one kernel.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence
from itertools import accumulate
from typing import TypeAlias

from ..graph.primitives import Const, Gather, LibraryCall, Map, Output, Primitive, Reduce, Scan, Scatter, Update, View
from .lower import Item

# The number of an expression, and that of a segment in it.
Segment: TypeAlias = tuple[int, int]

# An expression of more operations and scalars together, or of more scalars, than this is cut: so many fill a kernel
# (`groups.py`).
_MIN_INSTRUCTIONS, _MIN_SCALARS = 240, 60

# What a segment has at most, and at least half of it before a cut. It is more than fills a kernel, so that a cut leaves
# no more kernels than there would be without it. The interpreter takes a word for each instruction and one more for
# each scalar; what is left of its 512 is for values of other shapes, which are not counted here.
_MAX_INSTRUCTIONS, _MAX_WORDS = 300, 390

# As many of a value's readers as this, the last ones, come as early as they can.
_MAX_EARLY_READERS = 2

# What so few operations compute of other values that are alive at a cut is computed again rather than stored.
_MAX_RECOMPUTED_OPS = 8

# Primitives that end an expression: they have loops of their own, or need memory.
_ENDS = frozenset((Update, Scatter, Gather, LibraryCall, Output, Scan, Reduce))


def cut_expressions(
    items: Sequence[Item], order: Sequence[int], kinds: Sequence[type[Primitive]], stored: Container[int]
) -> tuple[set[int], dict[int, Segment]]:
    """Cut the long elementwise expressions of a graph.

    Parameters
    ----------
    items, order, kinds
        The graph, the positions of what is to be computed, arguments first, and the kinds of primitives by position.
    stored
        The positions of what is stored in any case.

    Returns
    -------
    set of int, dict of int to Segment
        The positions of what is alive at a cut and to be stored, and the segment of each operation that has one.
    """
    alive_at_cuts: set[int] = set()
    segments: dict[int, Segment] = {}
    for number, expression in enumerate(_long_expressions(items, order, kinds)):
        shape = items[expression[-1]].signature.shape
        sequence = _with_early_reads(items, [p for p in expression if items[p].signature.shape == shape])
        last_reads = _last_reads(items, order, sequence)
        bytes_alive = _bytes_alive(items, sequence, last_reads, stored)
        scalar_counts = [[kinds[a] for a in items[p].args].count(Const) for p in sequence]
        start = 0
        for k, end in enumerate(_ends(bytes_alive, scalar_counts)):
            segments.update(dict.fromkeys(sequence[start:end], (number, k)))
            start = end
            if end < len(sequence):
                alive = {p for p in sequence[:end] if last_reads[p] >= end}
                alive_at_cuts.update(p for p in alive if not _is_at_hand(items, p, alive, last_reads))
    return alive_at_cuts, segments


def _long_expressions(
    items: Sequence[Item], order: Sequence[int], kinds: Sequence[type[Primitive]]
) -> Iterator[list[int]]:
    """Yield the operations of each expression that is too long for a kernel, in their order."""
    if len(order) <= _MIN_SCALARS:
        return
    operations: list[int] = []
    scalars = 0
    for p in (*order, -1):
        kind = kinds[p] if p >= 0 else Output
        if kind is Map:
            operations.append(p)
        elif kind is Const:
            scalars += 1
        elif kind in _ENDS or (kind is View and kinds[items[p].args[0]] is Map and not items[p].signature.generator):
            if operations and (len(operations) + scalars > _MIN_INSTRUCTIONS or scalars > _MIN_SCALARS):
                yield operations
            operations, scalars = [], 0


def _with_early_reads(items: Sequence[Item], operations: Sequence[int]) -> list[int]:
    """Return operations in an order in which what reads a value last comes early: few values are alive at once.

    Of several results of a loop over steps, each depends on all steps. To compute one result after the other would have
    the values of all steps alive.
    """
    unread = dict.fromkeys(operations, 0)
    args_of = [[a for a in items[p].args if a in unread] for p in operations]
    for args in args_of:
        for a in args:
            unread[a] += 1
    moment: dict[int, int] = {}  # when an operation is computed
    latest: dict[int, int] = {}  # when a value was read or, without a reader so far, computed
    for k, (p, args) in enumerate(zip(operations, args_of, strict=True)):
        now = k
        for a in args:
            if unread[a] <= _MAX_EARLY_READERS:
                now = max([latest[a] for a in args])
                break
        moment[p] = latest[p] = now
        for a in args:
            unread[a] -= 1
            if latest[a] < now:
                latest[a] = now
    return sorted(operations, key=moment.__getitem__)


def _last_reads(items: Sequence[Item], order: Sequence[int], sequence: Sequence[int]) -> dict[int, int]:
    """Return the place in a sequence where each of its values is read last; its length for one that is read outside."""
    last_reads = {p: k for k, p in enumerate(sequence)}
    places, outside = dict(last_reads), len(sequence)
    for p in order:
        place = places.get(p, outside)
        for a in items[p].args:
            if a in last_reads and last_reads[a] < place:
                last_reads[a] = place
    return last_reads


def _bytes_alive(
    items: Sequence[Item], sequence: Sequence[int], last_reads: dict[int, int], stored: Container[int]
) -> list[int]:
    """Return how many bytes of a point, but for those stored in any case, are alive behind each place of a sequence."""
    changes = [0] * (len(sequence) + 1)
    for k, p in enumerate(sequence):
        if p not in stored:
            itemsize = items[p].signature.dtype.itemsize
            changes[k] += itemsize
            changes[last_reads[p]] -= itemsize
    return list(accumulate(changes[:-1]))


def _ends(bytes_alive: Sequence[int], scalar_counts: Sequence[int]) -> list[int]:
    """Return the place behind the last operation of each segment: where the fewest bytes are alive, and else late."""
    scalars = list(accumulate(scalar_counts, initial=0))
    instructions = [k + count for k, count in enumerate(scalars)]
    words = [k + 2 * count for k, count in enumerate(scalars)]
    count, start, ends = len(scalar_counts), 0, list[int]()

    def last_place(share: int) -> int:
        """Return how far a segment comes from the start, within a share of what it may have."""
        return min(
            bisect_right(instructions, instructions[start] + _MAX_INSTRUCTIONS // share) - 1,
            bisect_right(words, words[start] + _MAX_WORDS // share) - 1,
        )

    while (last := last_place(1)) < count:
        start = min(range(last_place(2) + 1, last + 1), key=lambda end: (bytes_alive[end - 1], -end))
        ends.append(start)
    return [*ends, count]


def _is_at_hand(items: Sequence[Item], position: int, alive: Container[int], inner: Container[int]) -> bool:
    """Return whether few operations compute a value of what else is alive, or is no inner value of the expression."""
    found = [position]
    for p in found:
        found += [a for a in items[p].args if a in inner and a not in alive]
        if len(found) > _MAX_RECOMPUTED_OPS:
            return False
    return True
