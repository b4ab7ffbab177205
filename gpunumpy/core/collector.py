"""Python's garbage collector at rest, while very many objects are made that all stay, or after that."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

# Python 3.12 freezes some of its own objects, and freezes them again.
_FROZEN_BY_PYTHON = 2000

# A token for each call of `without_collector` that is under way, and the collector's thresholds without them.
_pauses: set[object] = set()
_thresholds = gc.get_threshold()


def without_collector(function: Callable[..., T], *args: Any) -> T:
    """Call a function while the collector is at rest, which would look at new objects again and again.

    That takes a fifth of the time in which a plan is made. An exception of a signal handler does not leave the
    collector at rest: Python lets none in between the beginning of a block and its first call.
    """
    global _thresholds
    token, thresholds = object(), gc.get_threshold()
    if not thresholds[0] and not _pauses:  # the program has turned it off
        return function(*args)
    try:
        _pauses.add(token)
        if thresholds[0]:
            _thresholds = thresholds
        gc.set_threshold(0)
        return function(*args)
    finally:
        try:
            _pauses.discard(token)
        finally:
            if not _pauses:
                gc.set_threshold(*_thresholds)


def take_for_old() -> None:
    """Have the collector take all objects for old, without a look at them, so that it looks at them least often.

    Imports make some 80,000. To look at all of these takes it 15 ms, mostly in the middle of what the program does
    first.
    """
    if gc.get_freeze_count() < _FROZEN_BY_PYTHON:  # what the program has frozen stays so
        gc.freeze()
        gc.unfreeze()
