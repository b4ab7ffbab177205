"""Locks that are given back whenever a signal handler raises.

Python 3.14 looks at signals between the call of a lock's `__enter__` and the body of the `with` statement. An exception
that a handler raises there leaves the lock taken for ever: other threads that want it wait for nobody.
"""

from __future__ import annotations

import _thread
import sys
import threading
from typing import Any

__all__ = ["ReentrantLock", "held"]


def _take(lock: Any) -> bool:
    """Acquire a lock, and give it back if an exception comes after that.

    Python looks at no signal as it returns from a function of Python's.
    """
    count = lock._recursion_count()
    try:
        return bool(lock.acquire())
    except BaseException:
        if lock._recursion_count() > count:
            lock.release()
        raise


class _SafeLock(_thread.RLock):  # type: ignore[misc]
    """A reentrant lock for `with` statements, which leaves its `__exit__` to the lock of Python's."""

    def __enter__(self) -> bool:  # type: ignore[override]
        return _take(self)


class _Held:
    """A lock of somebody else's for one `with` statement."""

    __slots__ = ("_lock",)

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def __enter__(self) -> bool:
        return _take(self._lock)

    @property
    def __exit__(self) -> Any:
        """The lock's own: a function of Python's could be interrupted before it releases the lock."""
        return self._lock.__exit__


# A program may have replaced the locks of `threading`, as gevent does.
_IS_NEEDED = sys.version_info >= (3, 14) and type(threading.RLock()) is _thread.RLock

ReentrantLock: Any = _SafeLock if _IS_NEEDED else threading.RLock


def held(lock: Any) -> Any:
    """Return what holds a reentrant lock of another library in a `with` statement."""
    return _Held(lock) if _IS_NEEDED else lock
