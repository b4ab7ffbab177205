"""Locks of `with` statements, which an exception of a signal handler leaves as they were."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

import pytest

from gpunumpy.core import _native, locks

INTERRUPTS = 300


class Interrupt(Exception):
    pass


def interrupt(number: int, frame: FrameType | None) -> None:
    raise Interrupt


def hold_until_interrupted(manager: Callable[[], Any], seconds: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, seconds)
    while True:
        with manager():
            pass


def _of_the_package() -> tuple[Any, Callable[[], Any]]:
    lock = locks._SafeLock()
    return lock, lambda: lock


def _of_another_library() -> tuple[Any, Callable[[], Any]]:
    lock = threading.RLock()
    return lock, lambda: locks._Held(lock)


@pytest.mark.parametrize("make", [_of_the_package, _of_another_library])
@pytest.mark.parametrize("depth", [0, 1])
def test_an_interrupt_leaves_a_lock_as_it_was(make: Callable[[], tuple[Any, Callable[[], Any]]], depth: int) -> None:
    if not hasattr(threading.RLock(), "_recursion_count"):
        pytest.skip("only locks of newer versions of Python tell how often they are held")
    lock, manager = make()
    for _ in range(depth):
        lock.acquire()
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for k in range(INTERRUPTS):
            with pytest.raises(Interrupt):
                hold_until_interrupted(manager, 1e-5 * (1 + k % 7))
            assert lock._recursion_count() == depth
    finally:
        signal.signal(signal.SIGALRM, before)


# Python's own is the specification of the core's.
of_both = pytest.mark.parametrize("make", [threading.RLock, lambda: locks.ReentrantLock()])


def in_thread(work: Callable[[], Any]) -> Any:
    """What some work returns in a thread of its own, or the exception that it raises."""
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(work)
        return future.exception() or future.result()


@of_both
def test_a_lock_that_is_taken_by_nobody_is_free_for_other_threads(make: Callable[[], Any]) -> None:
    lock = make()
    assert not lock._is_owned()
    with lock, lock:
        assert lock._is_owned()
        assert in_thread(lambda: (lock.acquire(blocking=False), lock._is_owned())) == (False, False)
    assert not lock._is_owned()
    assert in_thread(lambda: (lock.acquire(False), lock._is_owned(), lock.release())) == (True, True, None)
    assert lock.acquire(timeout=0)
    assert lock.acquire(True, 1.5)
    assert lock.acquire(timeout=-1)


@of_both
def test_only_the_thread_that_has_a_lock_gives_it_back(make: Callable[[], Any]) -> None:
    lock = make()
    with pytest.raises(RuntimeError, match="cannot release un-acquired lock"):
        lock.release()
    with lock:
        assert isinstance(in_thread(lock.release), RuntimeError)
        assert lock._is_owned()


@of_both
@pytest.mark.parametrize(
    ("given", "error"), [((False, 1), ValueError), ((True, -2), ValueError), ((True, 1e300), OverflowError)]
)
def test_times_that_no_lock_waits_for(make: Callable[[], Any], given: tuple[Any, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        make().acquire(*given)


@of_both
def test_a_thread_waits_for_a_lock_as_long_as_it_says(make: Callable[[], Any]) -> None:
    lock = make()
    with lock:
        assert in_thread(lambda: lock.acquire(timeout=0.01)) is False
    entered = threading.Event()

    def hold() -> bool:
        with lock:
            entered.set()
            return bool(lock.acquire(timeout=0.01)) and lock.release() is None

    with ThreadPoolExecutor(2) as threads:
        lock.acquire()
        futures = [threads.submit(hold) for _ in range(2)]
        assert not entered.wait(0.05)
        lock.release()
        assert [future.result(timeout=60) for future in futures] == [True, True]


@of_both
def test_one_thread_at_a_time_is_behind_a_lock(make: Callable[[], Any]) -> None:
    lock, numbers = make(), [0]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def count() -> int:
        timeouts = 0
        for k in range(3000):
            if k % 3 == 2:
                while not lock.acquire(timeout=1e-6):
                    timeouts += 1
            else:
                lock.acquire()
            (number,) = numbers
            numbers[0] = number + 1
            lock.release()
        return timeouts

    try:
        with ThreadPoolExecutor(4) as threads:
            for future in [threads.submit(count) for _ in range(4)]:
                future.result(timeout=120)
    finally:
        sys.setswitchinterval(before)
    assert numbers == [12_000]


@of_both
def test_a_handler_runs_in_the_midst_of_a_wait_and_may_end_it(make: Callable[[], Any]) -> None:
    lock, taken, done, calls = make(), threading.Event(), threading.Event(), list[int]()

    def hold() -> None:
        with lock:
            taken.set()
            done.wait()

    def handle(number: int, frame: FrameType | None) -> None:
        calls.append(number)
        if len(calls) > 1:
            raise Interrupt

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        with pytest.raises(Interrupt):
            lock.acquire()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        done.set()
        thread.join()
    assert len(calls) >= 2
    assert lock.acquire(timeout=60)


@of_both
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_a_lock_that_other_threads_wait_for_is_renewed_in_a_child(make: Callable[[], Any]) -> None:
    lock = make()
    lock.acquire()
    threads = [threading.Thread(target=lambda: lock.acquire() and lock.release()) for _ in range(2)]
    for thread in threads:
        thread.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads
        child = os.fork()
    if not child:
        lock._at_fork_reinit()
        os._exit(int(lock._is_owned() or not in_thread(lock.acquire) or lock.acquire(False)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    lock.release()
    for thread in threads:
        thread.join()


def test_locks_are_safe_where_python_looks_at_signals_within_a_statement() -> None:
    if sys.version_info >= (3, 14):
        assert locks.ReentrantLock is locks._SafeLock
    elif _native.IS_COMPILED:
        assert locks.ReentrantLock.__module__ == "gpunumpy.core._native._core"
    else:
        assert locks.ReentrantLock is threading.RLock
