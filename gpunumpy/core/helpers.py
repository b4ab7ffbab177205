"""Helper threads: work beside the calling thread, that a signal handler may ask for in the middle of a request.

Python runs signal handlers, and raises what these raise, in the main thread alone, between any two of its bytecodes. So
work that must not stop half way runs in a helper thread, and nothing here takes a lock that an interrupted thread could
hold already.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterable
from functools import cache
from queue import SimpleQueue

from .fork import after_fork

# How long a thread waits for a job before it looks again whether the job has ended. It only matters for a wait that an
# exception cut off after it took the news of the end, which then never comes again.
_POLL_S = 0.05


@cache
def workers() -> int:
    """Return how many threads to use: the number of processors that this process may run on."""
    if hasattr(os, "process_cpu_count"):  # since Python 3.13
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _NoFinalizers:
    """Context in which the garbage collector does not run, in as many threads as are in it at a time.

    Finalizers and callbacks of the collector may look at values. A helper must not run them, as the thread that would
    compute these values waits for the helper; nor may they run while a step overwrites memory. The main thread does not
    enter this context, as an exception of a signal handler could keep it from leaving.
    """

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._count = 0  # of threads in the context
        self._was_enabled = False

    def renew(self) -> None:
        """Leave the context for all threads, which do not exist any more."""
        if self._count and self._was_enabled:
            gc.enable()
        self.__init__()  # type: ignore[misc]

    def __enter__(self) -> None:
        with self._lock:
            self._count += 1
            if self._count == 1:
                self._was_enabled = gc.isenabled()
                gc.disable()

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._count -= 1
            if not self._count and self._was_enabled:
                gc.enable()


no_finalizers = _NoFinalizers()


class Job:
    """A call in a helper thread.

    Attributes
    ----------
    has_run : bool
        Whether the call is over, and was not cancelled.
    error : BaseException or None
        What the call raised.
    thread : int
        The identity of the thread that runs or has run the call; 0 before.
    """

    __slots__ = ("_ended", "_function", "_is_over", "_process", "_turn", "error", "has_run", "thread")

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function
        self._turn = [None]  # whoever empties the list runs the call, or has cancelled it
        self._is_over = False
        self._process = 0  # that has a thread for this call alone
        self._ended = _thread.allocate_lock()
        self._ended.acquire()
        self.has_run = False
        self.thread = 0
        self.error: BaseException | None = None

    def start(self) -> None:
        """Have a helper run the call."""
        _helpers().run(self)

    def start_alone(self) -> None:
        """Have a thread of its own run the call, which may take long; this one, if none can be started.

        The end of the process waits for it.
        """
        if sys.is_finalizing():
            self.run()
            return
        self._process = os.getpid()
        try:
            threading.Thread(target=self.run).start()
        except RuntimeError:
            self.run()

    def run(self) -> None:
        """Run the call, unless it is cancelled; called by a helper."""
        if not self._take_turn():
            return
        try:
            self.thread = _thread.get_ident()
            with no_finalizers:
                self._function()
        except BaseException as error:
            self.error = error
        finally:
            del self._function  # and what it refers to
            self.has_run = self._is_over = True
            self._ended.release()

    def cancel_or_wait(self) -> bool:
        """Wait for the end of the call, or keep it from beginning. Return whether it has run."""
        if self._take_turn():
            self._is_over = True
            self._ended.release()
            return False
        self.wait()
        return self.has_run

    def wait(self) -> None:
        """Wait for the end of the call. Several threads may wait; an interrupted wait can be begun again."""
        while not self._is_over:
            if self._process not in (0, os.getpid()):
                self._run_again()
                return
            self._ended.acquire(timeout=_POLL_S)

    def _run_again(self) -> None:
        """Run the call in this thread: a signal handler has forked, and the thread that ran it is not in the child."""
        if hasattr(self, "_function"):
            self._turn.append(None)
            self.run()

    def _take_turn(self) -> bool:
        try:
            self._turn.pop()
        except IndexError:
            return False
        return True


def wait_for_all(jobs: Iterable[Job]) -> None:
    """Wait for the calls that have begun, cancel the others, and raise what ends the wait only afterwards."""
    unfinished = list(jobs)
    interruption: BaseException | None = None
    while unfinished:
        try:
            while unfinished:
                unfinished[-1].cancel_or_wait()
                unfinished.pop()
        except BaseException as error:
            interruption = error
    if interruption is not None:
        raise interruption


class _Helpers:
    """The helper threads of this process. They are started as jobs come, and never end."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Job] = SimpleQueue()  # a put into it may interrupt another one
        self._serving: list[None] = []  # an entry for each thread, from the thread itself: none is counted that is lost

    def run(self, job: Job) -> None:
        """Have the next helper that is free run a job."""
        if sys.is_finalizing():  # the helpers stand still
            job.run()
            return
        self._jobs.put(job)
        if len(self._serving) < workers():
            try:
                _thread.start_new_thread(self._serve, ())
            except RuntimeError:  # no thread can be started
                if not self._serving:
                    job.run()

    def _serve(self) -> None:
        self._serving.append(None)
        while True:
            self._jobs.get().run()


@cache
def _helpers() -> _Helpers:
    return _Helpers()


def _renew() -> None:
    """Begin anew in a forked child, which has none of the threads."""
    _helpers.cache_clear()
    no_finalizers.renew()


after_fork(None, _renew)
