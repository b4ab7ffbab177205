"""Blocks of work over the threads of the CPU executor."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy


@cache
def workers() -> int:
    """How many threads to use: the processors that this process may run on."""
    if hasattr(os, "process_cpu_count"):  # since Python 3.13
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, workers() - 1), thread_name_prefix="gpunumpy")


# A forked child has the pool but not its threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def run_all(tasks: Iterable[Callable[[], object]], parallel: bool) -> None:
    """Run `tasks`, in any order if `parallel`; return when all are done, or raise what one of them raised.

    The calling thread works too, so a pool that is busy elsewhere delays nobody for ever.
    """
    todo = deque(tasks)

    def work() -> None:
        # Floating-point error handling is per thread, so each worker sets its own.
        with numpy.errstate(all="ignore"):
            while True:
                try:
                    task = todo.popleft()
                except IndexError:
                    return
                task()

    helpers = min(workers(), len(todo)) - 1 if parallel else 0
    futures = [_pool().submit(work) for _ in range(helpers)]
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
