"""A run of a plan: how far it has come, and what is sound of it when an exception or another flush comes in between.

Python raises exceptions of signal handlers, and calls handlers, finalizers and callbacks of the garbage collector,
between any two bytecodes. A run is finished by `settle` after an exception; `values` tells what another flush can
compute from while the run waits for it. Both may themselves be interrupted, and begun again by whoever comes next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy

from .._native import compiled
from ..graph.node import Node, leaf_node
from ..graph.queue import Queue
from ..graph.signature import Signature
from ..helpers import Job
from . import memory
from .memory import Buffer

# Nodes that are computed, their buffers, and their signatures as leaves.
Results: TypeAlias = list[tuple[Node, Buffer, Signature]]


def publish(queue: Queue, results: Results) -> None:
    """Turn pending nodes into leaves.

    Python runs no signal handler inside of the statement that turns a node into a leaf. Other threads read `data`
    first: it is set once offset and signature are right. A value that another flush has computed meanwhile stays as it
    is: code outside of the package may have seen its memory.
    """
    queue.publications += 1
    for node, buffer, signature in results:
        if node.data is None:
            node.offset, node.signature, node.data, node.args = 0, signature, buffer, ()


class Section(NamedTuple):
    """Steps of a plan that overwrite what cannot be computed again.

    Attributes
    ----------
    start, end
        The numbers of the first step, and of the one behind the last.
    program
        The actions.
    """

    start: int
    end: int
    program: Sequence[Any]


# Rows of bytes in a buffer: where the first begins, the length of each, how far apart they are, and the number.
OverwrittenRows: TypeAlias = tuple[int, int, int, int]
# A section that has begun; what it overwrites, by buffer and rows, if it can be undone; its job, if a helper runs it;
# and the list that its launch of a kernel makes an entry in.
Entered: TypeAlias = tuple[Section, Sequence[tuple[Buffer, OverwrittenRows, Any]], Job | None, list[Any] | None]


def overwritten_rows(start: int, length: int, pitch: int, number: int) -> OverwrittenRows:
    """Return rows that do not overlap: one in place of those that do, or that touch each other."""
    return (start, length, pitch, number) if length < pitch else (start, length + pitch * (number - 1), 0, 1)


# The dtypes of numbers, by their bytes.
_NUMBERS_OF_BYTES = {dtype.itemsize: dtype for dtype in map(numpy.dtype, ("u1", "u2", "u4", "u8", "c16"))}


def view_of_rows(buffer: Buffer, rows: OverwrittenRows) -> Any:
    """Return the bytes of rows of a buffer, a row each: short ones as numbers, which NumPy copies as fast as bytes."""
    start, length, pitch, number = rows
    dtype = _NUMBERS_OF_BYTES.get(length, _NUMBERS_OF_BYTES[1])
    unit = dtype.itemsize
    return numpy.ndarray((number, length // unit), dtype, buffer.host, start, (pitch, unit))


class RunningPlan(Protocol):
    """What a run knows of its plan."""

    @property
    def queue(self) -> Queue:
        """The queue of the results."""

    def overwritten_leaves(self, nodes: Sequence[Node]) -> list[Buffer]:
        """Return the buffers of the leaves that the plan overwrites."""

    def drop_copies(self, nodes: Sequence[Node]) -> None:
        """Drop what the host has of the memory of leaves that is overwritten."""

    def note_uses(self, nodes: Sequence[Node], slots: Sequence[Any]) -> None:
        """Note what a run has used, once values of the device were moved to the host."""

    def buffers_ahead(self, run: Run) -> Iterator[tuple[int, Buffer]]:
        """Yield the buffers that a run uses in the step at hand and in later ones, each with the number of the step."""

    def begins_section(self, step: int) -> bool:
        """Return whether a section begins with this step."""

    def results_at(self, nodes: Sequence[Node], slots: Sequence[Any], step: int, begun: int) -> Results:
        """Return the values that are complete after so many steps, if so many have begun to write."""


@compiled
class Run:
    """What a flush is at.

    Attributes
    ----------
    plan, nodes, slots
        The plan that runs, the graph that it runs for, and the buffers of its slots; `plan` is None before.
    step : int
        All steps before this one are complete.
    entered
        The last section that has begun.
    is_in_core : bool
        Whether the compiled core is running it.
    """

    __slots__ = ("entered", "is_in_core", "nodes", "plan", "slots", "step")

    plan: RunningPlan | None
    entered: Entered | None
    nodes: Sequence[Node]
    slots: list[Any]

    def __init__(self) -> None:
        self.plan = None
        self.step = 0
        self.entered = None
        self.is_in_core = False


def settle(run: Run) -> None:
    """After an exception, undo the section that it ended, or wait for it, and publish what is complete."""
    plan = run.plan
    if plan is None:
        return
    step, begun = _progress(run)
    for buffer, rows, content in _undone(run):
        view_of_rows(buffer, rows)[...] = content
    plan.drop_copies(run.nodes)
    plan.note_uses(run.nodes, run.slots)
    publish(plan.queue, plan.results_at(run.nodes, run.slots, step, begun))


def renew(run: Run) -> None:
    """Make a run that is complete fit for another plan, at every moment fit for `settle` and `values_of`."""
    run.entered = None
    run.plan = None
    run.step = 0


def values_of(run: Run) -> tuple[dict[Node, Node], dict[int, Buffer]]:
    """Return what to compute from while the run waits.

    Returns
    -------
    dict, dict
        Leaves that stand for nodes that are pending. And buffers that stand for others, by the identities of these:
        as these were before the section began in which the run waits.
    """
    plan = run.plan
    if plan is None or run.entered is None:
        return {}, {}  # no leaf has been overwritten
    step, begun = _progress(run)
    buffers: dict[int, Buffer] = {}
    for buffer, rows, content in _undone(run):
        assert buffer.host is not None
        before = buffers.get(id(buffer))
        if before is None:
            before = buffers[id(buffer)] = memory.allocate(buffer.device, buffer.nbytes)
            assert before.host is not None
            before.host[: buffer.nbytes] = buffer.host[: buffer.nbytes]
        view_of_rows(before, rows)[...] = content
    results = plan.results_at(run.nodes, run.slots, step, begun)
    values = {node: leaf_node(signature, buffers.get(id(buffer), buffer), 0) for node, buffer, signature in results}
    return values, buffers


def _at_hand(run: Run) -> Entered | None:
    """Return the section in which the run stands, if it stands in one."""
    entered = run.entered
    return entered if entered is not None and entered[0].start <= run.step < entered[0].end else None


def _progress(run: Run) -> tuple[int, int]:
    """Return how many steps are complete, and how many have begun to write, where a section is done or undone."""
    entered = _at_hand(run)
    if entered is None:  # the section that begins with the step may have been prepared: nothing is written before
        assert run.plan is not None
        return run.step, run.step + (not run.plan.begins_section(run.step))
    section, saved, job, launched = entered
    has_begun = job is None or job.cancel_or_wait()
    if launched or (job is not None and run.step == section.end):
        return section.end, section.end
    is_undone = saved or launched is not None or not has_begun
    return section.start, section.start if is_undone else section.end


def _undone(run: Run) -> Sequence[tuple[Buffer, OverwrittenRows, Any]]:
    """Return what the section in which the run stands has overwritten, the last write first."""
    entered = _at_hand(run)
    return entered[1][::-1] if entered is not None else ()
