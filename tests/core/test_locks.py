"""Locks of `with` statements, which an exception of a signal handler leaves as they were."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from gpunumpy.core import locks

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


def test_a_lock_that_is_taken_by_nobody_is_free_for_other_threads() -> None:
    lock = locks.ReentrantLock()
    found = []
    with lock, lock:
        thread = threading.Thread(target=lambda: found.append(lock.acquire(blocking=False)))
        thread.start()
        thread.join()
    thread = threading.Thread(target=lambda: found.append(lock.acquire(blocking=False)))
    thread.start()
    thread.join()
    assert found == [False, True]


def test_locks_are_safe_where_python_looks_at_signals_within_a_statement() -> None:
    expected = locks._SafeLock if sys.version_info >= (3, 14) else threading.RLock
    assert locks.ReentrantLock is expected
