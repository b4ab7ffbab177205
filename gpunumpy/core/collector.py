"""Python's garbage collector at rest, while very many objects are made that all stay, or after that."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

# Python 3.12 freezes some of its own objects, and freezes them again.
_FROZEN_BY_PYTHON = 2000
# So many objects take the collector half a millisecond, if all stay.
_MANY_OBJECTS = 5000
# How often young objects are taken for old at most. Some are a program's own, in cycles that are garbage: only a look
# at all objects finds them then, and the collector does not count these objects among the reasons for one.
_MOST_TIMES = 500

# A token for each pause that is under way, and the collector's thresholds without them.
_pauses: set[object] = set()
_thresholds = gc.get_threshold()
_times = 0


def without_collector(function: Callable[..., T], *args: Any) -> T:
    """Call a function while the collector is at rest, which would look at new objects again and again.

    That takes a fifth of the time in which a plan is made. If there are very many, it is not to look at them later
    either. An exception of a signal handler does not leave the collector at rest: Python lets none in between the
    beginning of a block and its first call.
    """
    token = object()
    if _is_turned_off():
        return function(*args)
    try:
        _begin(token)
        return function(*args)
    finally:
        _end(token)


@contextmanager
def imports_without_collector() -> Iterator[None]:
    """Have the collector at rest while a block imports modules: it would take a seventh of that time."""
    token = object()
    if _is_turned_off():
        yield
        return
    try:
        _begin(token)
        yield
    finally:
        _end(token)


def _is_turned_off() -> bool:
    """Return whether the program has turned the collector off."""
    return not gc.get_threshold()[0] and not _pauses


def _begin(token: object) -> None:
    global _thresholds
    thresholds = gc.get_threshold()
    _pauses.add(token)
    if thresholds[0]:
        _thresholds = thresholds
    gc.set_threshold(0)


def _end(token: object) -> None:
    try:
        _pauses.discard(token)
    finally:
        if not _pauses:
            if gc.get_count()[0] >= _MANY_OBJECTS:
                take_for_old()
            gc.set_threshold(*_thresholds)


def take_for_old() -> None:
    """Have the collector take all objects for old, without a look at them, so that it looks at them least often.

    Imports make some 80,000. To look at all of these takes it 15 ms, mostly in the middle of what the program does
    first. Plans make some 1,000 each.
    """
    global _times
    if _times < _MOST_TIMES and gc.get_freeze_count() < _FROZEN_BY_PYTHON:  # what the program has frozen stays so
        _times += 1
        gc.freeze()
        gc.unfreeze()
