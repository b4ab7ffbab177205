"""What a task of Dask returns is computed as the task ends, in one flush for all its arrays.

Else pending graphs would grow from task to task, and the memory that a result takes would not be known. Values between,
which a task does not return, are fused. Dask's own schedulers tell a callback the graph that they are about to run: its
tasks are wrapped. A worker of `distributed` asks `sizeof` for the bytes of each result as the task ends, in its thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dask._task_spec import Task
from dask.callbacks import Callback

from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.recording.array import memory_on_host, ndarray, owner_of
from ..core.runtime import evaluate


def _arrays_in(result: Any) -> Iterator[ndarray]:
    """Find the arrays in a result: itself, or in lists, tuples and the values of dictionaries."""
    if isinstance(result, ndarray):
        yield result
    elif isinstance(result, list | tuple):
        for part in result:
            yield from _arrays_in(part)
    elif isinstance(result, dict):
        yield from _arrays_in(list(result.values()))


def compute_result(result: Any) -> Any:
    """Compute the arrays in a result of a task, and return the result.

    Only these: what other threads have recorded is in the middle of their tasks.
    """
    pending: dict[Queue, list[Node]] = {}
    for array in _arrays_in(result):
        if memory_on_host(array) is None:
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
