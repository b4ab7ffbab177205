"""Blocks of work over the threads of the CPU executor."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from functools import cache
from typing import Any

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


# Contexts in which NumPy ignores floating-point errors. Entering one that is ready takes a tenth of `numpy.errstate`.
_quiet: list[Context] = []


def quietly(function: Callable[..., Any], *args: Any) -> Any:
    """Call `function` with NumPy's floating-point warnings off."""
    try:
        context = _quiet.pop()
    except IndexError:
        context = Context()
        context.run(numpy.seterr, all="ignore")
    try:
        return context.run(function, *args)
    finally:
        _quiet.append(context)


def run_all(tasks: Iterable[Callable[[], object]], parallel: bool) -> None:
    """Run `tasks`, in any order if `parallel`; return when all are done, or raise what one of them raised.

    The caller has turned warnings off. Its thread works too, so a pool that is busy elsewhere delays nobody for ever.
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
