"""Python's garbage collector at rest, while very many objects are made that all stay, or after that."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakSet

T = TypeVar("T")

# The collector of a Python without the GIL looks at all objects each time, and walks all to freeze them.
_HAS_GENERATIONS = "t" not in getattr(sys, "abiflags", "")
# Python 3.12 freezes some of its own objects, and freezes them again.
_FROZEN_BY_PYTHON = 2000
# So many objects take the collector half a millisecond, if all stay.
_MANY_OBJECTS = 5000
# How often young objects are taken for old at most. Some are a program's own, in cycles that are garbage: only a look
# at all objects finds them then, and the collector does not count these objects among the reasons for one.
_MOST_TIMES = 500


class _Pause:
    """A pause that is under way, until it is ended: or dropped, by an exception as its end begins."""

    __slots__ = ("__weakref__",)


# With the collector's thresholds without them, and whether it is at rest for one.
_pauses: WeakSet[_Pause] = WeakSet()
_thresholds = gc.get_threshold()
_is_at_rest = False
_times = 0


def without_collector(function: Callable[..., T], *args: Any) -> T:
    """Call a function while the collector is at rest, which would look at new objects again and again.

    That takes a fifth of the time in which a plan is made. If there are very many, it is not to look at them later
    either. An exception of a signal handler does not leave the collector at rest: Python lets none in between the
    beginning of a block and its first call, and after one as the block's end begins the next pause ends this one too.
    """
    pause = _Pause()
    if _is_turned_off():
        return function(*args)
    try:
        _begin(pause)
        return function(*args)
    finally:
        _end(pause)


@contextmanager
def imports_without_collector() -> Iterator[None]:
    """Have the collector at rest while a block imports modules: it would take a seventh of that time."""
    pause = _Pause()
    if _is_turned_off():
        yield
        return
    try:
        _begin(pause)
        yield
    finally:
        _end(pause)


def _is_turned_off() -> bool:
    """Return whether the program has turned the collector off."""
    return not gc.get_threshold()[0] and not _is_at_rest


def _begin(pause: _Pause) -> None:
    global _is_at_rest, _thresholds
    thresholds = gc.get_threshold()
    _pauses.add(pause)
    if thresholds[0]:
        _thresholds = thresholds
    _is_at_rest = True
    gc.set_threshold(0)


def _end(pause: _Pause) -> None:
    global _is_at_rest
    try:
        _pauses.discard(pause)
    finally:
        if not _pauses:
            if gc.get_count()[0] >= _MANY_OBJECTS:
                take_for_old()
            gc.set_threshold(*_thresholds)
            _is_at_rest = False


def take_for_old() -> None:
    """Have the collector take all objects for old, without a look at them, so that it looks at them least often.

    Imports make some 80,000. To look at all of these takes it 15 ms, mostly in the middle of what the program does
    first. Plans make some 1,000 each.
    """
    global _times
    if _times >= _MOST_TIMES or not _HAS_GENERATIONS:
        return
    if gc.get_freeze_count() < _FROZEN_BY_PYTHON:
        _times += 1
        gc.freeze()
        gc.unfreeze()
    else:  # what the program has frozen stays so, and is counted once: a million objects take a tenth of a second
        _times = _MOST_TIMES
