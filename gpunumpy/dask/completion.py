"""What a task of Dask returns is computed as the task ends, in one flush for all its arrays.

Else pending graphs would grow from task to task, and the memory that a result takes would not be known. Values between,
which a task does not return, are fused. Dask's own schedulers tell a callback the graph that they are about to run: its
tasks are wrapped. A worker of `distributed` asks `sizeof` for the bytes of each result as the task ends, in its thread,
and then waits for the work of the task before too. Else its scheduler would take all tasks for done in no time. The
GPU works on while the next task begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakSet, ref

from dask._task_spec import Task
from dask.callbacks import Callback

from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.nesting import leaves
from ..core.recording.array import memory_on_host, ndarray, owner_of
from ..core.runtime import evaluate
from ..core.runtime.device import Device
from ..core.runtime.marks import Mark
from ..core.runtime.memory import Buffer
from ..core.runtime.moves import mark_on


def compute_result(result: Any) -> Any:
    """Compute the arrays in a result of a task, and return the result.

    Only these: what other threads have recorded is in the middle of their tasks.
    """
    pending: dict[Queue, list[Node]] = {}
    for array in leaves(result):
        if isinstance(array, ndarray) and memory_on_host(array) is None:
            node = owner_of(array)._node
            if node.data is None:
                pending.setdefault(array.queue, []).append(node)
    for queue, nodes in pending.items():
        evaluate.compute_only(queue, nodes)
    return result


_written: WeakSet[Buffer] = WeakSet()  # what nothing that is queued writes
# For each GPU the end of the work of the last task, and what it made.
_last: dict[Device, tuple[Mark, ref[Buffer]]] = {}


def finish(x: ndarray) -> None:
    """Compute an array at the end of a task, and wait for the work of the task before on its GPU."""
    compute_result(x)
    if not x.device.has_stream or memory_on_host(x) is not None or work_before(x) is not None:
        return
    before = _last.get(x.device)
    _last[x.device] = mark_on(x.device, x.device.stream), ref(owner_of(x)._node.data)
    if before is not None:
        mark, made = before
        mark.wait()
        if (data := made()) is not None:
            _written.add(data)


def work_before(x: ndarray) -> Sequence[Mark] | None:
    """Return what work computes an array that a task has returned; None if that is not known."""
    data, last = owner_of(x)._node.data, _last.get(x.device)
    if data in _written:
        return ()
    return (last[0],) if last is not None and data is not None and last[1]() is data else None


class _Completion(Callback):
    """Wraps the tasks of every graph that a scheduler of Dask's own runs in this process."""

    def _start(self, graph: dict[Any, Any]) -> None:
        """Wrap the tasks of a graph, which the scheduler has made for this run."""
        for key, task in graph.items():
            if isinstance(task, Task):
                graph[key] = Task(key, compute_result, task, _data_producer=task.data_producer)


def compute_at_end_of_tasks() -> None:
    """Have Dask's own schedulers compute results as tasks end, from now on."""
    _Completion().register()
