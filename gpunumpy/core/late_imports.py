"""Imports at first use, of modules that many programs never need.

Python locks a module while a thread imports it, and in a forked child that lock of another thread would never be free.
So a late import holds a lock of this package, which a fork takes. Such a module must not compute as it is imported.
"""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any

from .fork import take_before_fork

_lock = threading.RLock()
take_before_fork(lambda: [_lock])


def import_late(name: str, package: str | None = None) -> Any:
    """Import a module and return it; see `importlib.import_module`."""
    with _lock:
        return import_module(name, package)
