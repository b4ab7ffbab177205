"""What a task of Dask returns is computed as the task ends, in one flush for all its arrays.

Else pending graphs would grow from task to task, and the memory that a result takes would not be known. Values between,
which a task does not return, are fused. Dask's own schedulers tell a callback the graph that they are about to run: its
tasks are wrapped. A worker of `distributed` asks `sizeof` for the bytes of each result as the task ends, in its thread.
"""

from __future__ import annotations

from typing import Any

from dask._task_spec import Task
from dask.callbacks import Callback

from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.nesting import leaves
from ..core.recording.array import memory_on_host, ndarray, owner_of
from ..core.runtime import evaluate


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
