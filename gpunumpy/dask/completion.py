"""What a task of Dask returns is computed as the task ends, in one flush for all its arrays.

Else pending graphs would grow from task to task, and the memory that a result takes would not be known. Values between,
which a task does not return, are fused. Dask's own schedulers tell a callback the graph that they are about to run: its
tasks are wrapped. A worker of `distributed` asks `sizeof` for the bytes of each result as the task ends, in its thread,
and then the GPU's work is waited for too: else its scheduler would take tasks for done in no time, have one GPU do the
work of all, and have transfers wait for what is queued.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from dask._task_spec import Task
from dask.callbacks import Callback

from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.nesting import leaves
from ..core.recording.array import memory_on_host, ndarray, owner_of
from ..core.runtime import evaluate
from ..core.runtime.device import synchronize
from ..core.runtime.memory import Buffer


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


_finished: WeakSet[Buffer] = WeakSet()  # what nothing that is queued writes


def finish(x: ndarray) -> None:
    """Compute an array, and wait for the work of its GPU."""
    compute_result(x)
    if x.device.has_stream and memory_on_host(x) is None:
        data = owner_of(x)._node.data
        if data not in _finished:
            synchronize(x.device)
            _finished.add(data)


def is_finished(x: ndarray) -> bool:
    """Return whether `finish` has waited for an array."""
    return owner_of(x)._node.data in _finished


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
