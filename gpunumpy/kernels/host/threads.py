"""The threads of the CPU executor, among which blocks of work are divided."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from functools import cache
from typing import Any

import numpy

from ...core.runtime.memory import explained


@cache
def workers() -> int:
    """Return how many threads to use: the number of processors that this process may run on."""
    if hasattr(os, "process_cpu_count"):  # since Python 3.13
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the pool of helpers of a calling thread."""
    return ThreadPoolExecutor(max(1, workers() - 1), thread_name_prefix="gpunumpy")


# A forked child inherits the pool object without its threads, so it needs a new pool.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


# Unused contexts in which NumPy ignores floating-point errors. To enter one takes a tenth of the time of
# `numpy.errstate`.
_quiet_contexts: list[Context] = []


def quietly(function: Callable[..., Any], *args: Any) -> Any:
    """Call `function` while NumPy ignores floating-point errors; its lack of memory is told with what is free."""
    try:
        context = _quiet_contexts.pop()
    except IndexError:
        context = Context()
        context.run(numpy.seterr, all="ignore")
    try:
        return context.run(function, *args)
    except MemoryError as error:
        raise explained(error) from None
    finally:
        _quiet_contexts.append(context)


def run_all(tasks: Iterable[Callable[[], object]], parallel: bool) -> None:
    """Run `tasks`, in any order if `parallel`. Return when all are done, or raise the exception of one of them.

    The caller runs inside `quietly`. Its thread works too, so the tasks are done even if the pool is busy elsewhere.
    """
    todo = deque(tasks)

    def work() -> None:
        while True:
            try:
                task = todo.popleft()
            except IndexError:
                return
            task()

    helpers = min(workers(), len(todo)) - 1 if parallel else 0
    futures = [_pool().submit(quietly, work) for _ in range(helpers)]
    try:
        work()
    finally:
        todo.clear()
        for future in futures:
            if not future.cancel():
                future.exception()
    for future in futures:
        if not future.cancelled():
            future.result()
