"""What `explain` says of memory: slabs, operands that are on the host, and values that would move there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..graph.node import Node
from ..graph.queue import Queue
from ..schedule.lower import Source
from ..schedule.steps import Adopt, Allocate, Free, RunKernel, RunLibraryCall, Step
from . import memory
from .byte_sizes import bytes_text
from .device import Device
from .memory import Buffer
from .memory_pool import size_class
from .slab_reads import leaves
from .slabs import slab_counts
from .spill import values_to_move


def slabs_text(device: Device, roots: Sequence[Node]) -> str:
    """Return a line for each result that is computed in slabs."""
    return "".join(
        f"a result that {device} has no room for with what it is made of: in {count:,} slabs along an axis of "
        f"{extent:,}\n"
        for count, extent in slab_counts(device, roots)
    )


def moved_text(device: Device, roots: Sequence[Node]) -> str:
    """Return a line about what is read and was moved to the host."""
    moved = {id(leaf.data): leaf.data.nbytes for leaf in leaves(roots).values() if leaf.data.is_spilled}
    if not moved:
        return ""
    return f"{bytes_text(sum(moved.values()))} in operands on the host, for lack of room on {device}\n"


def moves_text(queue: Queue, steps: Sequence[Step], nodes: Sequence[Node]) -> str:
    """Return a line about the values that would move to the host as a plan runs; none if there is room for it."""
    pool, (most, read) = memory.pool_of(queue.device), _needs(steps, nodes)
    missing = pool.missing_bytes(most)
    moved = values_to_move(queue, missing, read) if missing > 0 else []
    if not moved:
        return ""
    read_here = {id(buffer) for buffer in read}
    counts = Counter(f"{bytes_text(x.nbytes)}{' read here' if id(x) in read_here else ''}" for x in moved)
    sizes = ", ".join(f"{count:,} of {words}" for words, count in counts.items())
    return f"{bytes_text(sum(x.nbytes for x in moved))} of other values would move to the host to make room: {sizes}\n"


def _needs(steps: Sequence[Step], nodes: Sequence[Node]) -> tuple[int, list[Buffer]]:
    """Return the most bytes that a plan has in blocks of its own at a time, and the buffers that it reads, in order.

    What comes back from the host for it takes blocks too.
    """
    sizes: dict[Source, int] = {}
    read: dict[int, Buffer] = {}
    most = now = 0
    for step in steps:
        if isinstance(step, Allocate):
            sizes[step.target] = size_class(step.nbytes)
            now += sizes[step.target]
        elif isinstance(step, Adopt):
            sizes[step.target] = sizes.pop(step.base, 0)
        elif isinstance(step, Free):
            now -= sizes.pop(step.target, 0)
        else:
            for buffer in _read_by(step, nodes):
                if id(buffer) not in read:
                    read[id(buffer)] = buffer
                    now += size_class(buffer.nbytes) if buffer.is_spilled else 0
        most = max(most, now)
    return most, list(read.values())


def _read_by(step: RunKernel | RunLibraryCall, nodes: Sequence[Node]) -> list[Buffer]:
    sources = step.args if isinstance(step, RunKernel) else [source for source, _ in step.args]
    return [nodes[source.position].data for source in sources if source.kind == "leaf"]
