"""The threads of the CPU executor, among which blocks of work are divided."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import Context
from functools import partial
from typing import Any, TypeAlias

import numpy

from ...core._native import keep_memory
from ...core.helpers import Job, wait_for_all, workers
from ...core.runtime.memory import explained

# Unused contexts in which NumPy ignores floating-point errors. To enter one takes a tenth of the time of
# `numpy.errstate`.
_quiet_contexts: list[Context] = []


def quietly(function: Callable[..., Any], *args: Any) -> Any:
    """Call `function` while NumPy ignores floating-point errors; its lack of memory is told with what is free."""
    try:
        context = _quiet_contexts.pop()
    except IndexError:
        context = Context()
        context.run(_prepare_context)
    try:
        result = context.run(function, *args)
    except MemoryError as error:
        raise explained(error) from None
    # A context that an exception has left is used no more: one of a signal handler may have come as NumPy was about to
    # set back what a function of its own had changed, and every later function would raise what that one does.
    _quiet_contexts.append(context)
    return result


def _prepare_context() -> None:
    numpy.seterr(all="ignore")
    keep_memory()


# What a task of `run_all` calls on its blocks of work, to go through them.
Each: TypeAlias = Callable[[Iterable[Any]], Iterable[Any]]


class _Stopped(Exception):
    """The caller of `run_all` has raised an exception, so nobody wants the rest of the work."""


def run_all(tasks: Iterable[Callable[[Each], object]], parallel: bool) -> None:
    """Run `tasks`, in any order if `parallel`. Return when all are done, or raise the exception of one of them.

    The caller runs inside `quietly`. Its thread works too, so the tasks are done even if all helpers are busy. If an
    exception ends the work of the caller (Ctrl-C, say), helpers stop after the block that they are at.
    """
    todo = deque(tasks)
    if not parallel or len(todo) < 2:
        for task in todo:
            task(iter)
        return
    stopped = False

    def each(blocks: Iterable[Any]) -> Iterator[Any]:
        for block in blocks:
            if stopped:
                raise _Stopped
            yield block

    def work() -> None:
        while True:
            try:
                task = todo.popleft()
            except IndexError:
                return
            task(each)

    jobs = [Job(partial(quietly, work)) for _ in range(min(workers(), len(todo)) - 1)]
    try:
        for job in jobs:
            job.start()
        work()
    except BaseException:
        stopped = True
        todo.clear()
        raise
    finally:
        wait_for_all(jobs)
    for job in jobs:
        if job.error is not None:
            raise job.error
