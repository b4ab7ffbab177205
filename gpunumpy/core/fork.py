"""Locks across `os.fork`: a child has the forking thread alone, so there nobody releases the locks of other threads.

A lock that is held while arrays change is taken by the thread that forks, so that the child finds arrays whole. Any
other lock is renewed in the child: what it guards is published by one assignment, or concerns other threads alone.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any


class _Taken(threading.local):
    """The locks that this thread has taken for the fork that it makes."""

    def __init__(self) -> None:
        self.locks: list[Any] = []


def take_before_fork(locks: Callable[[], Iterable[Any]]) -> None:
    """Have a thread take locks before it forks, and release them in parent and child.

    `locks` returns reentrant locks, in the order in which a thread takes several of them. A thread that holds one of
    them already, because a signal handler forks, does not wait for those before it: their holders may wait for this
    thread. If an exception (Ctrl-C) ends the wait for a lock, the fork goes on. The child renews what was not taken.
    What a later call names is taken first.
    """
    taken = _Taken()

    def take() -> None:
        ordered = list(locks())
        for number, lock in enumerate(ordered):
            if lock.acquire(blocking=not any(later._is_owned() for later in ordered[number + 1 :])):
                taken.locks.append(lock)

    def release() -> None:
        while taken.locks:
            taken.locks.pop().release()

    def release_or_renew() -> None:
        for lock in locks():
            if not any(lock is other for other in taken.locks):
                lock._at_fork_reinit()
        release()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=take, after_in_parent=release, after_in_child=release_or_renew)


def renew_in_child(locks: Callable[[], Iterable[Any]]) -> None:
    """Have locks be free in a forked child if other threads of the parent hold them."""

    def renew() -> None:
        for lock in locks():
            if not (hasattr(lock, "_is_owned") and lock._is_owned()):
                lock._at_fork_reinit()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)


class _Forks:
    """How many times this process and those that it comes from have forked."""

    count = 0


def fork_count() -> int:
    """Return how many forks there have been: a child of one that is new may share memory that a driver has made."""
    return _Forks.count


def _count_fork() -> None:
    _Forks.count += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_count_fork)
