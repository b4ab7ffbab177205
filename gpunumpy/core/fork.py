"""Locks across `os.fork`: a child has the forking thread alone, so there nobody releases the locks of other threads.

A lock that is held while arrays change is taken by the thread that forks, so that the child finds arrays whole. Any
other lock is renewed in the child: what it guards is published by one assignment, or concerns other threads alone.

Python runs signal handlers in the functions that are called around a fork too, and prints what they raise: Ctrl-C ends
such a function, and the fork goes on. So what has to be done behind a fork is called twice, a lock is taken and noted
in one call of a function in C, and so are locks given back.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from operator import methodcaller
from typing import Any


class _Taken(threading.local):
    """The locks that this thread has taken for the fork that it makes, and the child that has renewed the others."""

    def __init__(self) -> None:
        self.locks: list[Any] = []
        self.child = 0


def after_fork(in_parent: Callable[[], None] | None, in_child: Callable[[], None]) -> None:
    """Have functions be called in parent and child, again where an exception may have ended the first call."""
    if hasattr(os, "register_at_fork"):
        for _ in range(2):
            if in_parent is not None:
                os.register_at_fork(after_in_parent=in_parent)
            os.register_at_fork(after_in_child=in_child)


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
            acquire = methodcaller("acquire", not any(later._is_owned() for later in ordered[number + 1 :]))
            taken.locks.extend(filter(acquire, [lock]))

    def release() -> None:
        with suppress(IndexError):  # when none is left
            deque(map(methodcaller("release"), iter(taken.locks.pop, None)), maxlen=0)

    def release_or_renew() -> None:
        if taken.child != os.getpid():
            for lock in locks():
                if not any(lock is other for other in taken.locks):
                    lock._at_fork_reinit()
            taken.child = os.getpid()
        release()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=take)
        after_fork(release, release_or_renew)


def renew_in_child(locks: Callable[[], Iterable[Any]]) -> None:
    """Have locks be free in a forked child if other threads of the parent hold them."""

    def renew() -> None:
        for lock in locks():
            if not (hasattr(lock, "_is_owned") and lock._is_owned()):
                lock._at_fork_reinit()

    after_fork(None, renew)


_forks: list[int] = []  # an entry for each fork of this process and of those that it comes from


def fork_count() -> int:
    """Return how many forks there have been: a child of one that is new may share memory that a driver has made."""
    return len(_forks)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=partial(_forks.append, 0))
