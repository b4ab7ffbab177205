"""Which kernels and library calls ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpunumpy.core.runtime import evaluate
from gpunumpy.core.schedule.steps import RunKernel, RunLibraryCall

from ...support.arrays import ndarray


def kernels(function: Callable[[], Any]) -> list[RunKernel | RunLibraryCall]:
    """The steps that compute the arrays that `function` returns; what was pending before is not counted."""
    queues = {state.queue for state in evaluate._states.values()}
    for queue in queues:
        evaluate.flush(queue)
    ran: list[RunKernel | RunLibraryCall] = []

    def observe(step: Any, work: Callable[[], None]) -> None:
        ran.append(step)
        work()

    before, evaluate.observer = evaluate.observer, observe
    try:
        results = function()
        for result in results if isinstance(results, (tuple, list)) else (results,):
            assert isinstance(result, ndarray)
            result.computed()
    finally:
        evaluate.observer = before
    return ran
